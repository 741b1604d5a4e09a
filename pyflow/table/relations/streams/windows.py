"""Unbounded tables whose rows belong to windows: Top-N and joins within a window, and sessions.

A relation knows which of its columns are the bounds of windows. What an operator makes of the rows
of a window comes when the window has ended, once, and does not change: by event time when the
watermark has passed the end of the window, by processing time when a clock has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from pyflow.table.changes.changelog import numbered
from pyflow.table.changes.relation import (
    Relation,
    SortKey,
    TimeAttribute,
    WindowColumns,
    column,
    with_times,
)
from pyflow.table.columns.nodes import Call, Field, Node
from pyflow.table.columns.time_values import local_of_micros, micros_of_local
from pyflow.table.relations.operators import (
    Columns,
    KeyColumns,
    applied,
    closed_by_clock,
    timely,
)
from pyflow.table.relations.predicates import conjuncts
from pyflow.table.relations.streams.ranked_rows import RankedRows
from pyflow.table.relations.windows import micros_of, refuse_changing_clock
from pyflow.table.runtime.streams.windows import SessionRows, WindowRanks
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import LocalZonedTimestampType
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.table.context import TableContext

__all__ = [
    "MOMENT",
    "are_joined",
    "at_end",
    "end_instant",
    "first_rows",
    "has_partitions",
    "kept_times",
    "last_moment_of",
    "moment_of",
    "sessions",
]

#: The column that tells when a row's window has ended.
MOMENT = "moment"


def has_partitions(relation: Relation, partitions: Sequence[Node]) -> bool:
    """Return whether rows are divided by their window, and perhaps by more."""
    names = {node.name for node in partitions if isinstance(node, Field)}
    window = relation.window
    return window is not None and {window.start, window.end} <= names


def last_moment_of(relation: Relation, context: TableContext) -> Column:
    """Return the last moment of a row's window, in the microseconds that the watermark counts."""
    return _end_of(_window_of(relation), context) - 1000


def moment_of(relation: Relation, context: TableContext) -> Column:
    """Return when the watermark, or the clock, has ended a row's window, in microseconds."""
    window = _window_of(relation)
    if window.by_clock:
        return _end_of(window, context)
    return last_moment_of(relation, context)


def _end_of(window: WindowColumns, context: TableContext) -> Column:
    if window.zoned:
        return F.unix_micros(end_instant(window, context))
    return micros_of_local(column(window.end))


def end_instant(window: WindowColumns, context: TableContext) -> Column:
    """Return the instant at which a window ends whose columns show the wall clock of instants."""
    refuse_changing_clock(context.time_zone())
    return column(window.end).cast("timestamp_ltz")


def _window_of(relation: Relation) -> WindowColumns:
    if relation.updating or relation.window is None:
        raise TableException("rows of windows that change are not supported")
    return relation.window


def at_end(
    frame: DataFrame,
    keys: Sequence[str],
    processor: Any,
    emitted: Columns,
    by_clock: bool,
    context: TableContext,
) -> DataFrame:
    """Return what an operator emits of each window when it has ended.

    Parameters
    ----------
    frame
        With MOMENT and, at its end, KIND and SEQUENCE.
    by_clock
        Whether windows end by the processing time.
    """
    schema = emitted.schema
    if by_clock:
        return closed_by_clock(frame, keys, processor, schema, context)
    return applied(timely(frame, MOMENT), keys, processor, schema, "EventTime", context)


def kept_times(times: Mapping[str, TimeAttribute], by_clock: bool) -> dict[str, TimeAttribute]:
    """Return which time attributes rows have behind an operator.

    Behind timers of a clock Spark knows of no watermark.
    """
    return {n: time for n, time in times.items() if time.kind == "proctime" or not by_clock}


def first_rows(
    relation: Relation,
    partitions: Sequence[Node],
    order: Sequence[SortKey],
    places: tuple[int, int],
    rank: str | None,
    context: TableContext,
) -> Relation:
    """Return the rows with some row numbers, by key and window; see `ranks.first_rows`."""
    for each in order:
        name = each.node.name if isinstance(each.node, Field) else ""
        time = relation.time_attributes.get(name)
        # Rows of a batch have the same time, and stand in the order of their arrival.
        if time is not None and time.kind == "proctime" and not each.ascending:
            raise TableException(
                f"the last rows of a window in the order of the processing time {name!r} are not "
                "supported: order them by a column"
            )
    by_clock = _window_of(relation).by_clock
    others = {MOMENT: moment_of(relation, context)}
    rows = RankedRows.of(numbered(relation), partitions, order, others, context)
    emitted = rows.emitted(rank)
    processor = WindowRanks(
        rows.order, *places, rows.bounds, rank is not None, rows.width, by_clock, emitted.names
    )
    made = at_end(rows.frame, rows.by.names, processor, emitted, by_clock, context)
    times = kept_times(relation.time_attributes, by_clock)
    names = [*relation.names, *([] if rank is None else [rank])]
    ranked = [] if rank is None else [(rank, DataTypes.BIGINT().not_null())]
    return Relation(
        with_times(made.select(*emitted.decoded(names)), times),
        (*relation.fields, *ranked),
        time_attributes=times,
        window=relation.window,
    )


def are_joined(left: Relation, right: Relation, conditions: Sequence[Node]) -> bool:
    """Return whether conditions ask for rows of the same window."""
    one, other = left.window, right.window
    if one is None or other is None or left.updating or right.updating:
        return False
    if one.by_clock != other.by_clock:
        return False
    found = set()
    for condition in conditions:
        for part in conjuncts(condition):
            if isinstance(part, Call) and part.function.name == "equals":
                sides = [each.name for each in part.arguments if isinstance(each, Field)]
                found.add(frozenset(sides))
    return {frozenset((one.start, other.start)), frozenset((one.end, other.end))} <= found


def sessions(
    relation: Relation,
    keys: Sequence[str],
    time: str,
    gap: int,
    bounds: tuple[str, str],
    context: TableContext,
) -> DataFrame:
    """Return the rows with the bounds of their sessions, when these have ended.

    Parameters
    ----------
    keys
        Sessions are those of each key.
    time
        The time attribute.
    gap
        In milliseconds.
    bounds
        The names of the columns for the bounds, of the type of the time attribute.
    """
    rows = numbered(relation)
    types = dict(relation.fields)
    by = KeyColumns.of(types[key] for key in keys)
    own = Columns("c", tuple(relation.types))
    moment = micros_of(time, types[time])
    frame = rows.frame.filter(column(time).isNotNull()).select(
        *by.encoded([column(key) for key in keys]),
        *own.encoded(rows.columns),
        moment.alias(MOMENT),
        *rows.changes,
    )
    first, end = len(by.names), len(by.names) + len(own.names)
    emitted = Columns("c", (*own.types, DataTypes.BIGINT(), DataTypes.BIGINT()))
    processor = SessionRows(gap * 1000, (first, end), end, emitted.names)
    # The session of a row by itself ends so long after it.
    late = timely(frame, MOMENT, (gap - 1) * 1000)
    made = applied(late, by.names, processor, emitted.schema, "EventTime", context)
    decoded = made.select(*emitted.decoded([*relation.names, *bounds]))
    zoned = isinstance(types[time], LocalZonedTimestampType)
    of_micros = F.timestamp_micros if zoned else local_of_micros
    return decoded.withColumns({name: of_micros(column(name)) for name in bounds})
