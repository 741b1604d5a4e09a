"""Insertions that run together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflow.common.unsupported import unsupported
from pyflow.table.jobs import Job
from pyflow.table.streams import job_of, queries_text, start_insertions
from pyflow.table.table_result import TableResult
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyflow.table.planner.described import Insertion
    from pyflow.table.table import Table
    from pyflow.table.table_descriptor import TableDescriptor
    from pyflow.table.table_environment import TableEnvironment
    from pyflow.table.table_pipeline import TablePipeline

__all__ = ["StatementSet"]


class StatementSet:
    """Insertions that are started by one call.

    Bounded rows are written one table after the other. Rows without end are written by one query,
    which goes on from its checkpoint as a whole.
    """

    def __init__(self, t_env: TableEnvironment) -> None:
        self._t_env = t_env
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
        from pyflow.table import sql

        sql.add_insert(self, stmt)
        return self

    @unsupported("the DataStream API is not carried yet; call execute()")
    def attach_as_datastream(self) -> None:
        """Add the insertions to a stream execution environment."""

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
        self._add(target_path_or_descriptor, table, overwrite)
        return self

    def _add(
        self,
        target: str | TableDescriptor,
        table: Table,
        overwrite: bool,
        on_conflict: str | None = None,
    ) -> None:
        insertion = self._t_env._insertion(target, table, overwrite, on_conflict)
        self._insertions.append(insertion)

    def explain(self, *extra_details: int) -> str:
        """Return how the rows of all insertions are computed, in Spark's words."""
        from pyflow.table.planner.explanation import explain

        plans = explain([(each.name, each.rows) for each in self._insertions], extra_details)
        return queries_text(self._insertions) + plans

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
        return executed(insertions, self._t_env)

    @unsupported("Spark plans a query when it runs; there are no plans to keep")
    def compile_plan(self) -> Any:
        """Return the plan of all insertions."""


def executed(insertions: list[Insertion], environment: TableEnvironment) -> TableResult:
    """Start insertions as one job, and return what tells of its end."""
    unbounded = [insertion for insertion in insertions if insertion.rows.unbounded]
    bounded = [insertion for insertion in insertions if insertion not in unbounded]

    def work() -> None:
        for insertion in bounded:
            insertion.run(environment)

    if unbounded:
        queries = start_insertions(unbounded, environment)
        job = job_of(queries, environment._spark, before=work)
    else:
        job = Job(environment._spark, work)
    names = [insertion.name for insertion in insertions]
    return TableResult.of_insertions(names, job, environment)
