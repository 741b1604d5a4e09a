"""Rows as operators take them that rank them: keys, the row itself, and what it is ordered by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyflow.table.relations.operators import Columns, KeyColumns
from pyflow.table.relations.projection import scope_of
from pyflow.table.runtime.streams.ranks import SortColumn
from pyflow.types.data_types import DataTypes

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.table.changes.relation import Relation, SortKey
    from pyflow.table.columns.nodes import Node
    from pyflow.table.context import TableContext

__all__ = ["RankedRows"]


@dataclass(frozen=True)
class RankedRows:
    """The input of an operator that ranks rows.

    Parameters
    ----------
    frame
        Keys, rows, what they are ordered by, other columns, and KIND and SEQUENCE.
    by, own
        The columns of keys and of rows.
    order
        By which columns rows are ordered.
    """

    frame: DataFrame
    by: Columns
    own: Columns
    order: tuple[SortColumn, ...]

    @classmethod
    def of(
        cls,
        rows: Relation,
        partitions: Sequence[Node],
        order: Sequence[SortKey],
        others: Mapping[str, Column],
        context: TableContext,
    ) -> RankedRows:
        """Return numbered rows, with other columns; without keys they are in one order."""
        scope = scope_of(rows, context)
        resolved = scope.resolve_all(partitions)
        by = KeyColumns.of(each.data_type for each in resolved)
        own = Columns("c", tuple(rows.types))
        values = scope.resolve_all([each.node for each in order])
        sorted_by = Columns("s", tuple(each.data_type for each in values))
        frame = rows.frame.select(
            *by.encoded([each.column for each in resolved]),
            *own.encoded(rows.columns),
            *sorted_by.encoded([each.column for each in values]),
            *(each.alias(name) for name, each in others.items()),
            *rows.changes,
        )
        first = len(by.names) + len(own.names)
        columns = (SortColumn(first + i, s.ascending, s.nulls_first) for i, s in enumerate(order))
        return cls(frame, by, own, tuple(columns))

    @property
    def bounds(self) -> tuple[int, int]:
        """Return the position of the first column of a row, and the one after its last."""
        first = len(self.by.names)
        return first, first + len(self.own.names)

    @property
    def width(self) -> int:
        """Return how many columns keys, rows and what they are ordered by have."""
        return self.bounds[1] + len(self.order)

    def emitted(self, rank: str | None) -> Columns:
        """Return the columns of a row, and of its row number if that has a name."""
        return self.own if rank is None else Columns("c", (*self.own.types, DataTypes.BIGINT()))
