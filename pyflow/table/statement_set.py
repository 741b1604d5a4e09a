"""Insertions that run together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflow.table import sql
from pyflow.table.relations.attached import AttachedInsertions
from pyflow.table.relations.tables import insertion_into
from pyflow.table.table_result import TableResult, executed, explained
from pyflow.util.exceptions import TableException
from pyflow.util.unsupported import unsupported

if TYPE_CHECKING:
    from pyflow.datastream.stream_execution_environment import StreamExecutionEnvironment
    from pyflow.table.context import TableContext
    from pyflow.table.relations.tables import Insertion
    from pyflow.table.table import Table
    from pyflow.table.table_descriptor import TableDescriptor
    from pyflow.table.table_pipeline import TablePipeline

__all__ = ["StatementSet"]


class StatementSet:
    """Insertions that are started by one call.

    Bounded rows are written one table after the other. Unbounded rows are written by one query,
    which goes on from its checkpoint as a whole.
    """

    def __init__(
        self, context: TableContext, streams: StreamExecutionEnvironment | None = None
    ) -> None:
        self._context = context
        self._streams = streams
        self._insertions: list[Insertion] = []

    def add(self, table_pipeline: TablePipeline) -> StatementSet:
        """Add what :meth:`Table.insert_into` returned.

        Parameters
        ----------
        table_pipeline : TablePipeline
            An insertion that has not been executed.
        """
        self._insertions.append(table_pipeline._insertion)
        return self

    def add_insert_sql(self, stmt: str) -> StatementSet:
        """Add an INSERT statement in Flink's SQL.

        Parameters
        ----------
        stmt : str
            The statement.
        """
        self._insertions.append(sql.insertion(self._context, stmt))
        return self

    def attach_as_datastream(self) -> None:
        """Add the insertions to the stream execution environment, and forget them.

        They are a part of the job that its next ``execute()`` or ``execute_async()`` starts, with
        the streams that lead to sinks: the job fails if one of them does, and ends them where it is
        cancelled.

        Raises
        ------
        TableException
            If the table environment was not made with a stream execution environment.
        """
        if self._streams is None:
            raise TableException(
                "attach_as_datastream() adds insertions to the stream execution environment that "
                "the table environment was made with, and this one was made without: call "
                "StreamTableEnvironment.create(env), or execute() of the statement set"
            )
        insertions, self._insertions = self._insertions, []
        if insertions:
            self._streams._attach(AttachedInsertions(insertions, self._context))

    def add_insert(
        self,
        target_path_or_descriptor: str | TableDescriptor,
        table: Table,
        overwrite: bool = False,
    ) -> StatementSet:
        """Add the insertion of a table into another.

        Parameters
        ----------
        target_path_or_descriptor : str or TableDescriptor
            A table that was created under this name, or what describes one.
        table : Table
            The rows.
        overwrite : bool
            Whether rows that are there are replaced.
        """
        relation = table._rows
        insertion = insertion_into(target_path_or_descriptor, relation, overwrite, self._context)
        self._insertions.append(insertion)
        return self

    def explain(self, *extra_details: int) -> str:
        """Return how the rows of all insertions are computed, in Spark's words."""
        return explained(self._insertions, extra_details)

    def print_explain(self, *extra_details: int) -> None:
        """Print what :meth:`explain` returns."""
        print(self.explain(*extra_details))

    def execute(self) -> TableResult:
        """Start the insertions, and forget them.

        Returns
        -------
        TableResult
            ``wait()`` on it until all is written.

        Raises
        ------
        TableException
            If there are none.
        """
        if not self._insertions:
            raise TableException("No statements or tables have been added to the statement set.")
        insertions, self._insertions = self._insertions, []
        return executed(insertions, self._context)

    @unsupported("Spark plans a query when it runs; there are no plans to keep")
    def compile_plan(self) -> Any:
        """Return the plan of all insertions."""
