"""Unbounded tables whose rows belong to windows: Top-N and joins within a window, and sessions.

A relation knows which of its columns are the bounds of windows. What an operator makes of the rows
of a window comes when the watermark has passed the end of the window, once, and does not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from pyflow.table.logical_types import LocalZonedTimestampType
from pyflow.table.planner.changelog import numbered
from pyflow.table.planner.interval_joins import conjuncts
from pyflow.table.planner.nodes import Call, Field, Node
from pyflow.table.planner.operators import Columns, applied, timely
from pyflow.table.planner.ranked_rows import RankedRows
from pyflow.table.planner.relation import (
    Relation,
    SortKey,
    WindowColumns,
    column,
    with_times,
)
from pyflow.table.planner.time_values import local_of_micros, micros_of_local
from pyflow.table.planner.windows import micros_of, refuse_changing_clock
from pyflow.table.runtime.streams.windows import SessionRows, WindowRanks
from pyflow.table.types import DataTypes
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.table.table_environment import TableEnvironment

__all__ = [
    "are_joined",
    "end_instant",
    "first_rows",
    "has_partitions",
    "last_moment_of",
    "sessions",
]

_MOMENT = "moment"


def has_partitions(relation: Relation, partitions: Sequence[Node]) -> bool:
    """Return whether rows are divided by their window, and perhaps by more."""
    names = {node.name for node in partitions if isinstance(node, Field)}
    window = relation.window
    return window is not None and {window.start, window.end} <= names


def last_moment_of(relation: Relation, environment: TableEnvironment) -> Column:
    """Return the last moment of a row's window, in the microseconds that the watermark counts."""
    window = _window_of(relation)
    if window.zoned:
        end = F.unix_micros(end_instant(window, environment))
    else:
        end = micros_of_local(column(window.end))
    return end - 1000


def end_instant(window: WindowColumns, environment: TableEnvironment) -> Column:
    """Return the instant at which a window ends whose columns show the wall clock of instants."""
    refuse_changing_clock(environment._time_zone())
    return column(window.end).cast("timestamp_ltz")


def _window_of(relation: Relation) -> WindowColumns:
    if relation.updating or relation.window is None:
        raise TableException("rows of windows that change are not carried")
    if relation.window.by_clock:
        raise TableException(
            "windows by processing time can be grouped; Top-N and joins in them are not carried"
        )
    return relation.window


def first_rows(
    relation: Relation,
    partitions: Sequence[Node],
    order: Sequence[SortKey],
    places: tuple[int, int],
    rank: str | None,
    environment: TableEnvironment,
) -> Relation:
    """Return the rows at some places of each key's order in each window; see `stream_ranks`."""
    for each in order:
        name = each.node.name if isinstance(each.node, Field) else ""
        time = relation.time_attributes.get(name)
        if time is not None and time.kind == "proctime":
            raise TableException(
                f"the first rows of a window in the order of the processing time {name!r} are not "
                "carried: order them by a column"
            )
    others = {_MOMENT: last_moment_of(relation, environment)}
    rows = RankedRows.of(numbered(relation), partitions, order, others, environment)
    emitted = rows.emitted(rank)
    processor = WindowRanks(
        rows.order, *places, rows.bounds, rank is not None, rows.width, emitted.names
    )
    made = applied(
        timely(rows.frame, _MOMENT),
        rows.by.names,
        processor,
        emitted.schema,
        "EventTime",
        environment,
    )
    names = [*relation.names, *([] if rank is None else [rank])]
    ranked = [] if rank is None else [(rank, DataTypes.BIGINT().not_null())]
    return Relation(
        with_times(made.select(*emitted.restored(names)), relation.time_attributes),
        (*relation.fields, *ranked),
        time_attributes=relation.time_attributes,
        window=relation.window,
    )


def are_joined(left: Relation, right: Relation, conditions: Sequence[Node]) -> bool:
    """Return whether conditions ask for rows of the same window."""
    one, other = left.window, right.window
    if one is None or other is None or left.updating or right.updating:
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
    environment: TableEnvironment,
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
    by = Columns("k", tuple(types[key] for key in keys) or (DataTypes.BOOLEAN(),))
    own = Columns("c", tuple(relation.types))
    moment = micros_of(time, types[time])
    frame = rows.frame.filter(column(time).isNotNull()).select(
        *by.carried([column(key) for key in keys] or [F.lit(True)]),
        *own.carried(rows.columns),
        moment.alias(_MOMENT),
        *rows.changes,
    )
    first, end = len(by.names), len(by.names) + len(own.names)
    emitted = Columns("c", (*own.types, DataTypes.BIGINT(), DataTypes.BIGINT()))
    processor = SessionRows(gap * 1000, (first, end), end, emitted.names)
    # The session of a row by itself ends so long after it.
    late = timely(frame, _MOMENT, (gap - 1) * 1000)
    made = applied(late, by.names, processor, emitted.schema, "EventTime", environment)
    restored = made.select(*emitted.restored([*relation.names, *bounds]))
    zoned = isinstance(types[time], LocalZonedTimestampType)
    of_micros = F.timestamp_micros if zoned else local_of_micros
    return restored.withColumns({name: of_micros(column(name)) for name in bounds})
