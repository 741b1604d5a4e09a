"""Insertions as a part of the job of a program of data streams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyflow.datastream.graph.attached import Attached
from pyflow.table.relations.queries import close_functions_of, start_insertions

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from pyflow.table.context import TableContext
    from pyflow.table.relations.tables import Insertion

__all__ = ["AttachedInsertions"]


class AttachedInsertions(Attached):
    """The insertions of a statement set.

    Parameters
    ----------
    insertions : sequence of Insertion
    context : TableContext
        Of the tables.
    """

    def __init__(self, insertions: Sequence[Insertion], context: TableContext) -> None:
        self._unbounded = [each for each in insertions if each.rows.unbounded]
        super().__init__([insertion.name for insertion in insertions], bool(self._unbounded))
        self._bounded = [each for each in insertions if not each.rows.unbounded]
        self._context = context
        self._queries: list[StreamingQuery] = []

    def start(self) -> Sequence[StreamingQuery]:
        """Start the insertions of unbounded rows, as one query where they can be."""
        if self._unbounded:
            self._queries = start_insertions(self._unbounded, self._context)
        return self._queries

    def run(self) -> None:
        """Write the bounded rows, one table after the other."""
        for insertion in self._bounded:
            insertion.run(self._context)

    def close(self) -> None:
        """Close the functions of data streams that tables were made from."""
        if self._queries:
            close_functions_of(self._queries, self._context)
