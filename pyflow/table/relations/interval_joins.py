"""Joins of two streams that an interval of time limits, by Spark's own operator.

Spark forgets rows, and tells of rows without a partner, when the watermarks say that no partner can
come any more. It finds the limits in the condition, if the times are instants: those of a TIMESTAMP
are joined as the instants that they are in UTC.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pyspark.sql import functions as F

from pyflow.table.changes.relation import Relation, column, with_watermark
from pyflow.table.columns.nodes import Call, Field, Node, field_names
from pyflow.table.functions.resolution import interval_ms
from pyflow.table.relations.predicates import conjuncts
from pyflow.table.relations.projection import scope_of
from pyflow.table.relations.windows import as_instant, as_wall_clock
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import DataType, LocalZonedTimestampType
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column

    from pyflow.table.context import TableContext

JoinType = Literal["inner", "left", "right", "full"]

_COMPARISONS: dict[str, Callable[[Column, Column], Column]] = {
    "equals": operator.eq,
    "lessThan": operator.lt,
    "lessThanOrEqual": operator.le,
    "greaterThan": operator.gt,
    "greaterThanOrEqual": operator.ge,
}


def is_one(left: Relation, right: Relation, predicate: Node) -> bool:
    """Return whether the join has an equality and is limited by time, of rows that stay."""
    if left.updating or right.updating:
        return False
    times = {**_times(left), **_times(right)}
    zoned = {isinstance(data_type, LocalZonedTimestampType) for data_type in times.values()}
    if len(zoned) != 1 or not any(_is_equality(part, left, right) for part in conjuncts(predicate)):
        return False
    parts = [(part, set(field_names(part)) & set(times)) for part in conjuncts(predicate)]
    # A time that is compared with another value than a time cannot be taken for an instant.
    if any(names and _limit(part, times) is None for part, names in parts):
        return False
    return any(names & set(_times(left)) and names & set(_times(right)) for _, names in parts)


def join(
    left: Relation,
    right: Relation,
    predicate: Node,
    kind: JoinType,
    context: TableContext,
) -> Relation:
    """Return the pairs of rows, and rows without a partner when none can come any more."""
    one, other = _with_instants(left), _with_instants(right)
    both = Relation(one.frame.crossJoin(other.frame), (*one.fields, *other.fields))
    times = {**_times(left), **_times(right)}
    scope = scope_of(both, context)
    condition = F.lit(True)
    for part in conjuncts(predicate):
        limit = _limit(part, times)
        condition = condition & (scope.resolve(part).column if limit is None else limit)
    joined = one.frame.join(other.frame, condition, kind)
    instants = set(_clocks(left)) | set(_clocks(right))
    columns = [
        with_watermark(as_wall_clock(name), name) if name in instants else column(name)
        for name in both.names
    ]
    return Relation(
        frame=joined.select(*columns),
        fields=padded(left, right, kind),
        time_attributes=(
            {**left.time_attributes, **right.time_attributes} if kind == "inner" else {}
        ),
    )


def _times(relation: Relation) -> dict[str, DataType]:
    types = dict(relation.fields)
    rowtimes = relation.time_attributes.items()
    return {name: types[name] for name, time in rowtimes if time.kind == "rowtime"}


def _clocks(relation: Relation) -> list[str]:
    """Return the time attributes that are no instants."""
    times = _times(relation).items()
    return [name for name, each in times if not isinstance(each, LocalZonedTimestampType)]


def _with_instants(relation: Relation) -> Relation:
    clocks = _clocks(relation)
    columns = [
        with_watermark(as_instant(name), name) if name in clocks else column(name)
        for name in relation.names
    ]
    fields = tuple(
        (name, DataTypes.TIMESTAMP_LTZ(3) if name in clocks else data_type)
        for name, data_type in relation.fields
    )
    return replace(relation, frame=relation.frame.select(*columns), fields=fields)


def _limit(node: Node, times: Mapping[str, DataType]) -> Column | None:
    """Return a comparison of two times in the form that Spark finds limits in, if it is one."""
    if not isinstance(node, Call) or node.function.name not in _COMPARISONS:
        return None
    left, right = (_shifted(side, times) for side in node.arguments)
    if left is None or right is None:
        return None
    (one, one_ms), (other, other_ms) = left, right
    later = other_ms - one_ms
    sign = "-" if later < 0 else ""
    interval = F.expr(f"INTERVAL '{sign}{abs(later) // 1000}.{abs(later) % 1000:03}' SECOND")
    compare = _COMPARISONS[node.function.name]
    return compare(column(one), column(other) + interval)


def _shifted(node: Node, times: Mapping[str, DataType]) -> tuple[str, int] | None:
    """Return the name of a time and the milliseconds that are added to it."""
    if isinstance(node, Field) and node.name in times:
        return node.name, 0
    if not isinstance(node, Call) or node.function.name not in ("plus", "minus"):
        return None
    time = _shifted(node.arguments[0], times)
    try:
        added = interval_ms(node.arguments[1])
    except TableException:
        return None
    if time is None:
        return None
    return time[0], time[1] + (added if node.function.name == "plus" else -added)


def padded(left: Relation, right: Relation, kind: JoinType) -> tuple[tuple[str, DataType], ...]:
    """Return the columns of a join, with null where a row of one side may have no partner."""
    one = _padded(left, kind in ("right", "full"))
    return (*one, *_padded(right, kind in ("left", "full")))


def _padded(relation: Relation, nulls: bool) -> tuple[tuple[str, DataType], ...]:
    if not nulls:
        return relation.fields
    return tuple((name, data_type.nullable()) for name, data_type in relation.fields)


def _is_equality(node: Node, left: Relation, right: Relation) -> bool:
    """Return whether a condition says that a value of one side equals one of the other."""
    if not isinstance(node, Call) or node.function.name != "equals":
        return False
    one, other = (set(field_names(argument)) for argument in node.arguments)
    if not (one and other):
        return False
    return any(
        one <= set(first.names) and other <= set(second.names)
        for first, second in ((left, right), (right, left))
    )


def has_equality(predicate: Node, left: Relation, right: Relation) -> bool:
    """Return whether all pairs must have a column of each side in common."""
    if not isinstance(predicate, Call):
        return False
    name, arguments = predicate.function.name, predicate.arguments
    if name == "and":
        return any(has_equality(argument, left, right) for argument in arguments)
    if name != "equals":
        return False
    one, other = arguments
    if not (isinstance(one, Field) and isinstance(other, Field)):
        return False
    return (one.name in left.names) != (other.name in left.names)
