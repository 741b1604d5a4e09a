"""Insertions that have not been started yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflow.table.table_result import executed
from pyflow.util.unsupported import unsupported

if TYPE_CHECKING:
    from pyflow.table.catalogs.objects import ObjectIdentifier
    from pyflow.table.context import TableContext
    from pyflow.table.relations.tables import Insertion
    from pyflow.table.table_result import TableResult

__all__ = ["TablePipeline"]


class TablePipeline:
    """Rows and the table that they will be written into."""

    def __init__(self, insertion: Insertion, context: TableContext) -> None:
        self._insertion = insertion
        self._context = context

    def __str__(self) -> str:
        return f"INSERT INTO {self._insertion.name}"

    def execute(self) -> TableResult:
        """Start to write the rows.

        Returns
        -------
        TableResult
            ``wait()`` on it until all is written.
        """
        return executed([self._insertion], self._context)

    def explain(self, *extra_details: int) -> str:
        """Return how the rows are computed, in Spark's words."""
        from pyflow.table.relations.explanation import explain

        return explain([(self._insertion.name, self._insertion.rows)], extra_details)

    def print_explain(self, *extra_details: int) -> None:
        """Print what :meth:`explain` returns."""
        print(self.explain(*extra_details))

    def get_sink_identifier(self) -> ObjectIdentifier | None:
        """Return the table's full name; None for one that only a descriptor describes."""
        return self._insertion.object_identifier

    @unsupported("Spark plans a query when it runs; there are no plans to keep")
    def compile_plan(self) -> Any:
        """Return the plan of the insertion."""
