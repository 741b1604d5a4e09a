"""Windows by the processing time of unbounded tables.

A batch is of one time, and the windows of its rows are those of that time. They end by timers of a
clock, in a batch that may have no rows. Sessions have no bounds before they have ended: their
operators find them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from pyflow.streaming.runtime.processor import StreamOperator
from pyflow.table.changes.changelog import numbered
from pyflow.table.changes.relation import Relation, column
from pyflow.table.columns.nodes import Node
from pyflow.table.relations.operators import (
    Columns,
    KeyColumns,
    applied,
    closed_by_clock,
)
from pyflow.table.relations.projection import scope_of
from pyflow.table.relations.streams.groups import planned_in_window
from pyflow.table.runtime.streams.clock_sessions import ClockSessionGroups, ClockSessionRows
from pyflow.table.runtime.streams.window_groups import (
    NumberGroups,
    SlidingNumberGroups,
    WindowGroups,
)
from pyflow.types.data_types import DataTypes

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.table.context import TableContext
    from pyflow.types.logical_types import DataType

__all__ = ["aggregate", "aggregate_numbers", "aggregate_sessions", "sessions"]

_ALL = "$all"
_ENDS = "$ends"
_BOUND = DataTypes.TIMESTAMP_LTZ(3)


def aggregate(
    relation: Relation,
    keys: Sequence[str],
    aggregates: dict[str, Node],
    end: Column,
    context: TableContext,
) -> Relation:
    """Return keys and aggregates of each window, when it has ended.

    Parameters
    ----------
    keys
        The bounds of windows among them.
    end
        The instant at which a row's window ends.
    """
    frame = relation.frame.withColumn(_ENDS, end)
    rows = replace(relation, frame=frame, fields=(*relation.fields, (_ENDS, _BOUND)))
    groups = _Groups.of(rows, keys, aggregates, [F.unix_micros(column(_ENDS))], context)
    names = [*groups.by.names, *groups.values.names]
    processor = WindowGroups(groups.functions, groups.width, names)
    return groups.closed(processor, groups.by, _named(relation, keys), context)


def aggregate_sessions(
    relation: Relation,
    keys: Sequence[str],
    gap: int,
    bounds: tuple[str, str],
    aggregates: dict[str, Node],
    context: TableContext,
) -> Relation:
    """Return keys, bounds and aggregates of the sessions of each key, when they have ended.

    Parameters
    ----------
    gap
        In milliseconds.
    bounds
        The names of the columns for the bounds, which are instants.
    """
    groups = _Groups.of(relation, keys, aggregates, [], context)
    by = Columns("k", (*groups.by.types, _BOUND, _BOUND))
    processor = ClockSessionGroups(groups.functions, gap, [*by.names, *groups.values.names])
    found = [*_named(relation, keys), *((name, _BOUND) for name in bounds)]
    return groups.closed(processor, by, found, context)


def aggregate_numbers(
    relation: Relation,
    keys: Sequence[str],
    size: int,
    slide: int,
    aggregates: dict[str, Node],
    context: TableContext,
) -> Relation:
    """Return keys and aggregates of row-count windows, in the order in which rows arrive.

    Parameters
    ----------
    slide
        How many rows after one window the next begins.
    """
    groups = _Groups.of(relation, keys, aggregates, [], context)
    names = [*groups.by.names, *groups.values.names]
    processor: StreamOperator = (
        NumberGroups(groups.functions, size, names)
        if slide == size
        else SlidingNumberGroups(groups.functions, size, slide, len(groups.by.names), names)
    )
    return groups.closed(processor, groups.by, _named(relation, keys), context, by_clock=False)


def sessions(
    relation: Relation,
    keys: Sequence[str],
    gap: int,
    bounds: tuple[str, str],
    context: TableContext,
) -> DataFrame:
    """Return the rows with the bounds of their sessions, when these have ended.

    Parameters
    ----------
    keys
        Sessions are those of each key.
    gap, bounds
        As :func:`aggregate_sessions` takes them.
    """
    rows = numbered(relation)
    types = dict(relation.fields)
    by = KeyColumns.of(types[key] for key in keys)
    own = Columns("c", tuple(relation.types))
    frame = rows.frame.select(
        *by.encoded([column(key) for key in keys]),
        *own.encoded(rows.columns),
        *rows.changes,
    )
    first = len(by.names)
    emitted = Columns("c", (*own.types, _BOUND, _BOUND))
    processor = ClockSessionRows((first, first + len(own.names)), gap, emitted.names)
    closed = closed_by_clock(frame, by.names, processor, emitted.schema, context)
    return closed.select(*emitted.decoded([*relation.names, *bounds]))


@dataclass(frozen=True)
class _Groups:
    """Rows as operators take them that aggregate them per key.

    Parameters
    ----------
    frame
        Keys, arguments of aggregates, other columns, and KIND and SEQUENCE.
    by
        The columns of keys.
    functions
        The aggregates, each with what it takes.
    width
        How many columns keys and arguments have.
    values
        The columns of results.
    names
        Under which they are asked for.
    """

    frame: DataFrame
    by: KeyColumns
    functions: tuple[tuple[Any, Any], ...]
    width: int
    values: Columns
    names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        relation: Relation,
        keys: Sequence[str],
        aggregates: dict[str, Node],
        others: Sequence[Column],
        context: TableContext,
    ) -> _Groups:
        """Return the rows of a relation, with other columns; without keys all are of one."""
        rows = numbered(relation)
        scope = scope_of(rows, context)
        found = [planned_in_window(node, scope) for node in aggregates.values()]
        types = dict(relation.fields)
        by = KeyColumns.of(types[key] for key in keys)
        taken = [pair for each in found for pair in each.arguments]
        arguments = Columns("a", tuple(data_type for _, data_type in taken))
        frame = rows.frame.select(
            *by.encoded([column(key) for key in keys]),
            *arguments.encoded([value for value, _ in taken]),
            *others,
            *rows.changes,
        )
        functions, place = [], len(by.names)
        for each in found:
            functions.append((each.function, each.places(place)))
            place += len(each.arguments)
        values = Columns("v", tuple(each.result for each in found))
        return cls(frame, by, tuple(functions), place, values, tuple(aggregates))

    def closed(
        self,
        processor: Any,
        by: Columns,
        fields: Sequence[tuple[str, DataType]],
        context: TableContext,
        by_clock: bool = True,
    ) -> Relation:
        """Return what an operator emits.

        Parameters
        ----------
        by
            The columns that it emits before the results.
        fields
            What these are; _ALL is no column of the result.
        by_clock
            Whether windows end by the processing time, rather than with a row.
        """
        emitted = [*by.schema, *self.values.schema]
        if by_clock:
            frame = closed_by_clock(self.frame, self.by.names, processor, emitted, context)
        else:
            frame = applied(self.frame, self.by.names, processor, emitted, "None", context)
        decoded = frame.select(
            *by.decoded([name for name, _ in fields]), *self.values.decoded(self.names)
        )
        kept = tuple(entry for entry in fields if entry[0] != _ALL)
        return Relation(decoded.drop(_ALL), (*kept, *zip(self.names, self.values.types)))


def _named(relation: Relation, keys: Sequence[str]) -> list[tuple[str, DataType]]:
    """Return the columns of keys, _ALL where there are none: then all rows are of one."""
    types = dict(relation.fields)
    return [(key, types[key]) for key in keys] or [(_ALL, DataTypes.BOOLEAN())]
