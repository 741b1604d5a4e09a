"""OVER windows of unbounded tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from pyflow.streaming.runtime.state_ttl import Lifetime
from pyflow.table.changes.changelog import numbered
from pyflow.table.changes.relation import Relation, column, columns_with_times
from pyflow.table.columns.nodes import Call, Distinct, Node
from pyflow.table.relations.operators import (
    Columns,
    KeyColumns,
    TimeMode,
    applied,
    may_have_timers,
    time_to_live,
    timely,
)
from pyflow.table.relations.projection import scope_of
from pyflow.table.relations.streams.groups import (
    PlannedAggregate,
    built_in_aggregate,
    called,
    of_program,
    pandas_aggregate,
)
from pyflow.table.relations.windows import micros_of
from pyflow.table.runtime.streams import aggregates as built_in
from pyflow.table.runtime.streams.frames import Lag, Recomputed
from pyflow.table.runtime.streams.over import Frame, OverRows
from pyflow.types.data_types import DataTypes
from pyflow.types.spark_types import to_spark
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyflow.table.context import TableContext
    from pyflow.table.functions.resolution import Scope

__all__ = ["FOLLOWING", "StreamWindow", "added", "over"]

#: Flink's words for a window that ends behind the current row.
FOLLOWING = "OVER {} FOLLOWING windows are not supported yet."

_MOMENT = "moment"
_NOT_IN_STREAMS = ("RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE", "lead")


@dataclass(frozen=True)
class StreamWindow:
    """An OVER window.

    Parameters
    ----------
    partitions
        What rows of a partition have in common.
    order
        The time attribute that orders them.
    frame
        Which rows belong to a row.
    """

    partitions: tuple[Node, ...]
    order: str
    frame: Frame


def added(found: dict[str, Node], aggregate: Node) -> str:
    """Return the name of an aggregate among those found, to which it is added where it is new."""
    for name, known in found.items():
        if known == aggregate:
            return name
    name = f"$over{len(found)}"
    found[name] = aggregate
    return name


def over(
    relation: Relation,
    window: StreamWindow,
    aggregates: Mapping[str, Node],
    context: TableContext,
) -> Relation:
    """Return the rows with aggregates over their frames, as further columns of these names.

    Rows of an event time come when the watermark has passed them, in the order of time; those of a
    processing time as they come.
    """
    if relation.updating:
        raise TableException(
            "OverAggregate doesn't support consuming update and delete changes: OVER takes a table "
            "to which rows are only added"
        )
    scope = scope_of(relation, context)
    in_event_time = relation.time_attributes[window.order].kind == "rowtime"
    frame = window.frame
    if frame.preceding is None and not in_event_time:
        frame = Frame(True, None)  # Each row comes by itself.
    bounded = frame.preceding is not None
    found = {name: _planned(node, scope, bounded) for name, node in aggregates.items()}
    rows = numbered(relation)
    partitions = scope.resolve_all(window.partitions)
    by = KeyColumns.of(each.data_type for each in partitions)
    own = Columns("c", tuple(relation.types))
    taken = [pair for each in found.values() for pair in each.arguments]
    arguments = Columns("a", tuple(data_type for _, data_type in taken))
    moment = micros_of(window.order, dict(relation.fields)[window.order])
    prepared = rows.frame.filter(column(window.order).isNotNull()).select(
        *by.encoded([each.column for each in partitions]),
        *own.encoded(rows.columns),
        *arguments.encoded([value for value, _ in taken]),
        moment.alias(_MOMENT),
        *rows.changes,
    )
    if in_event_time:
        prepared = timely(prepared, _MOMENT)
    results = Columns("v", tuple(each.result for each in found.values()))
    places, place = [], len(own.names)
    for each in found.values():
        places.append(each.places(place))
        place += len(each.arguments)
    times = relation.time_attributes
    sweeping = (
        not in_event_time
        and all(time.kind == "proctime" for time in times.values())
        and (time_to_live(context) > 0 or not (frame.by_rows or frame.preceding is None))
        and may_have_timers(relation.frame, context)
    )
    processor = OverRows(
        [(each.function, taken) for each, taken in zip(found.values(), places)],
        frame,
        len(by.names),
        len(own.names),
        len(by.names) + place,
        in_event_time,
        [*own.names, *results.names],
        Lifetime(time_to_live(context), sweeping),
    )
    time_mode: TimeMode = "ProcessingTime" if sweeping else "None"
    if in_event_time:
        time_mode = "EventTime"
    emitted = [*own.schema, *results.schema]
    moved = applied(prepared, by.names, processor, emitted, time_mode, context)
    made = [*own.decoded(relation.names), *results.decoded(list(found))]
    named = dict(zip((*relation.names, *found), made))
    return Relation(
        moved.select(*columns_with_times(named, times)),
        (*relation.fields, *((name, each.result) for name, each in found.items())),
        time_attributes=times,
        window=relation.window,
    )


def _planned(node: Node, scope: Scope, bounded: bool) -> PlannedAggregate:
    """Return an aggregate; of a bounded frame rows are retracted."""
    distinct = isinstance(node, Distinct)
    wrapper, call = called(node, scope)
    if wrapper is None:
        assert isinstance(call, Call)
        name = call.function.name
        if name == "lag":
            return _lag(call, scope)
        if name in _NOT_IN_STREAMS:
            raise TableException(f"{name.upper()} Function is not supported in stream mode.")
        if name == "ROW_NUMBER":
            return PlannedAggregate(
                built_in.make("count", False, ("BIGINT",), ""), (), DataTypes.BIGINT().not_null()
            )
        return built_in_aggregate(call, scope, distinct, bounded)
    arguments = scope.arguments_of_function(wrapper, call.arguments)
    if wrapper.func_type == "pandas":
        if not bounded:
            raise TableException(
                f"pandas aggregate function {wrapper.name} needs an OVER window that begins a "
                "number of rows or an interval before the current row: of all rows before it, all "
                "would have to be kept"
            )
        names = scope.names_of(call.arguments)
        return pandas_aggregate(wrapper, arguments, names, distinct, scope.context)
    retracts = wrapper.retracts
    planned = of_program(wrapper, arguments, distinct, bounded and retracts, scope.context)
    if bounded and not retracts:
        return replace(planned, function=Recomputed(planned.function))
    return planned


def _lag(call: Call, scope: Scope) -> PlannedAggregate:
    arguments = scope.arguments_of(call)
    result = arguments.result
    distance = int(arguments.constant(1)) if len(arguments) > 1 else 1
    default = arguments.as_type(2, result) if len(arguments) > 2 else F.lit(None)
    taken = ((arguments[0], result), (default.cast(to_spark(result)), result))
    return PlannedAggregate(Lag(distance), taken, result, together=True)
