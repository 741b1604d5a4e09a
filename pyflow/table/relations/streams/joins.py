"""Joins and set operations of two tables, as their rows come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from pyspark.sql import functions as F
from pyspark.sql import types as spark

from pyflow.streaming.plan.clocks import ALL_PAIRS
from pyflow.table.changes.changelog import numbered
from pyflow.table.changes.relation import (
    KIND,
    SEQUENCE,
    Relation,
    TimeAttribute,
    column,
    with_times,
)
from pyflow.table.columns.conversion import convert
from pyflow.table.columns.nodes import Call, Node, field_names
from pyflow.table.columns.nodes import Literal as LiteralNode
from pyflow.table.columns.type_rules import TIMES, comparable
from pyflow.table.relations.encoding import encoded_type
from pyflow.table.relations.interval_joins import padded
from pyflow.table.relations.operators import (
    Columns,
    KeyColumns,
    NotIncremental,
    changes_of,
    lifetime_of,
)
from pyflow.table.relations.predicates import conjuncts
from pyflow.table.relations.projection import scope_of
from pyflow.table.relations.streams import windows as stream_windows
from pyflow.table.runtime.streams.joins import Comparison, Join, JoinKind, SetOperation, Side
from pyflow.table.runtime.streams.windows import WindowJoin
from pyflow.types.logical_types import DataType
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.table.context import TableContext

__all__ = ["join", "set_operation"]

_SIDE = "side"
_OPERATORS = {
    "equals": "==",
    "notEquals": "!=",
    "lessThan": "<",
    "lessThanOrEqual": "<=",
    "greaterThan": ">",
    "greaterThanOrEqual": ">=",
}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def join(
    left: Relation,
    right: Relation,
    conditions: Sequence[Node],
    kind: JoinKind,
    context: TableContext,
) -> Relation:
    """Return the changes of a join as the rows of both sides come.

    Parameters
    ----------
    conditions
        All of which hold for partners.
    kind
        Of a ``semi`` or ``anti`` join the result has the columns of the left side only.
    """
    if left.unbounded != right.unbounded:
        return _with_bounded(left, right, conditions, kind, context)
    parts = _Conditions(left, right, context)
    for condition in conditions:
        parts.take(condition, kind == "inner")
    fields = _fields(left, right, kind)
    in_windows = stream_windows.are_joined(left, right, conditions)
    moments: list[list[Column]] = [[], []]
    if in_windows:
        ends = [stream_windows.moment_of(each, context) for each in (left, right)]
        moments = [[end.alias(stream_windows.MOMENT)] for end in ends]
    one = _Input(numbered(left), tuple(parts.left), tuple(parts.left_filters), moments[0])
    other = _Input(numbered(right), tuple(parts.right), tuple(parts.right_filters), moments[1])
    keys = KeyColumns.of(parts.key_types)
    first = len(keys.names) + 1
    middle = first + len(one.types)
    end = middle + len(other.types)
    by_clock = in_windows and left.window is not None and left.window.by_clock
    types = tuple(data_type for _, data_type in fields)
    without_equality = not in_windows and not parts.key_types
    names = Columns("all_pairs" if without_equality else "o", types)
    sides = (
        Side(first, middle, len(left.fields), one.schema),
        Side(middle, end, len(right.fields), other.schema),
    )
    preserved = {"left": (True, False), "right": (False, True), "full": (True, True)}.get(
        kind, (kind == "anti", False)
    )
    frame = one.frame(keys, parts.left_keys, True, other.types, preserved[0]).union(
        other.frame(keys, parts.right_keys, False, one.types, preserved[1])
    )
    visible = [name for name, _ in fields]
    if in_windows:
        processor = WindowJoin(
            kind, *sides, parts.comparisons, len(keys.names), end, by_clock, names.names
        )
        joined = stream_windows.at_end(frame, keys.names, processor, names, by_clock, context)
        times = stream_windows.kept_times(_times(left, right, kind), by_clock)
        result = Relation(
            with_times(joined.select(*names.decoded(visible)), times),
            fields,
            time_attributes=times,
            window=right.window if kind == "right" else left.window if kind != "full" else None,
        )
        return _filtered(result, parts.residue, context)
    if without_equality:
        frame = frame.withMetadata(SEQUENCE, {ALL_PAIRS: True})
    operator = Join(
        kind,
        *sides,
        parts.comparisons,
        [*names.names, KIND, SEQUENCE],
        len(keys.names),
        lifetime_of(frame, context),
    )
    changes = changes_of(frame, keys.names, operator, names.schema, context)
    updating = kind not in ("inner", "semi") or left.updating or right.updating
    decoded = changes.select(*names.decoded(visible), column(KIND), column(SEQUENCE))
    result = Relation(decoded, fields, updating=True)
    result = _filtered(result, parts.residue, context)
    if not updating:
        return replace(result, frame=result.rows(), updating=False)
    return replace(result, key=_key(left, right, kind))


def _filtered(relation: Relation, conditions: Sequence[Node], context: TableContext) -> Relation:
    """Return the pairs for which conditions are true that operators cannot check."""
    frame = relation.frame
    for node in conditions:
        frame = frame.filter(scope_of(relation, context).resolve(node).column)
    return replace(relation, frame=frame)


def _times(left: Relation, right: Relation, kind: JoinKind) -> dict[str, TimeAttribute]:
    """Return the time attributes of a join that no nulls have come into."""
    own = {} if kind in ("right", "full") else left.time_attributes
    other = right.time_attributes if kind in ("inner", "right") else {}
    return {**own, **other}


def _fields(left: Relation, right: Relation, kind: JoinKind) -> tuple[tuple[str, DataType], ...]:
    if kind == "semi" or kind == "anti":
        return left.fields
    return padded(left, right, kind)


def _key(left: Relation, right: Relation, kind: JoinKind) -> tuple[str, ...] | None:
    if kind in ("semi", "anti"):
        return left.key
    if kind == "inner" and left.key and right.key:
        return (*left.key, *right.key)
    return None


def _with_bounded(
    left: Relation,
    right: Relation,
    conditions: Sequence[Node],
    kind: JoinKind,
    context: TableContext,
) -> Relation:
    """Return the join of changes with rows that all are there: each change is joined by itself."""
    outer = {"left": left, "right": right, "semi": left, "anti": left}.get(kind)
    if kind == "full" or (outer is not None and not outer.unbounded):
        raise TableException(
            f"a {kind} join that keeps rows of a bounded table without a partner in an unbounded "
            "one is not supported: whether there is one is never known. Read the bounded table as "
            "an unbounded one."
        )
    bounded = right if left.unbounded else left
    if bounded.updating:
        raise TableException("a bounded table that changes cannot be joined with an unbounded one")
    stream = left if left.unbounded else right
    both = Relation(left.frame, (*left.fields, *right.fields))
    scope = scope_of(both, context)
    condition = F.lit(True)
    for node in conditions:
        condition = condition & scope.resolve(node).column
    spark_kind = {"semi": "left_semi", "anti": "left_anti"}.get(kind, kind)
    sides = [
        each.frame.select(*each.columns, *each.changes) if each is stream else each.rows()
        for each in (left, right)
    ]
    fields = _fields(left, right, kind)
    joined = sides[0].join(sides[1], condition, spark_kind)
    times = stream.time_attributes if kind in ("inner", "semi", "anti") else {}
    return Relation(
        joined.select(*(column(name) for name, _ in fields), *stream.changes),
        fields,
        time_attributes=times,
        updating=stream.updating,
    )


class _Conditions:
    """Conditions on pairs, taken apart into what an operator can check.

    Equalities of a value of each side are its key. Conditions on one side are part of the key, too:
    where they are not true it is null. Comparisons of a value of each side are checked on pairs.
    """

    def __init__(self, left: Relation, right: Relation, context: TableContext) -> None:
        self._names = (set(left.names), set(right.names))
        self._scopes = (scope_of(left, context), scope_of(right, context))
        self._widths = (len(left.fields), len(right.fields))
        self.left_keys: list[Column] = []
        self.right_keys: list[Column] = []
        self.key_types: list[DataType] = []
        self.left_filters: list[Column] = []
        self.right_filters: list[Column] = []
        self.left: list[tuple[Column, DataType]] = []
        self.right: list[tuple[Column, DataType]] = []
        self.comparisons: list[Comparison] = []
        self.residue: list[Node] = []

    def take(self, condition: Node, later: bool) -> None:
        """Take a condition; one of another kind is left for `later`, if that is possible."""
        for node in conjuncts(condition):
            if isinstance(node, LiteralNode) and node.value is True:
                continue
            side = self._side(node)
            if side is not None:
                filters = self.right_filters if side else self.left_filters
                filters.append(self._scopes[side].resolve(node).column)
            elif self._compare(node):
                continue
            elif later:
                self.residue.append(node)
            else:
                raise NotIncremental(
                    f"the condition {node} of a join of unbounded tables that keeps rows without "
                    "a partner is not supported: write it as comparisons, each of an expression "
                    "over one table with an expression over the other, tied by AND"
                )

    def _side(self, node: Node) -> Literal[0, 1] | None:
        """Return whose columns a node has: 0 for the left side, or for none, 1 for the right."""
        names = set(field_names(node))
        if names <= self._names[0]:
            return 0
        return 1 if names <= self._names[1] else None

    def _compare(self, node: Node) -> bool:
        if not (isinstance(node, Call) and node.function.name in _OPERATORS):
            return False
        one, other = node.arguments
        sides = self._side(one), self._side(other)
        if None in sides or sides[0] == sides[1]:
            return False
        name = _OPERATORS[node.function.name]
        if sides[0] == 1:
            one, other, name = other, one, _TURNED.get(name, name)
        left, right = self._scopes[0].resolve(one), self._scopes[1].resolve(other)
        shared = comparable(left.data_type, right.data_type, name in ("==", "!="))
        if shared is None:
            return False
        # As in equality elsewhere: a string that is not a valid time is null.
        tolerant = name in ("==", "!=") and isinstance(shared, TIMES)
        columns = (
            convert(left.column, left.data_type, shared, tolerant),
            convert(right.column, right.data_type, shared, tolerant),
        )
        if name == "==":
            self.left_keys.append(columns[0])
            self.right_keys.append(columns[1])
            self.key_types.append(shared)
            return True
        places = (self._widths[0] + len(self.left), self._widths[1] + len(self.right))
        self.comparisons.append(Comparison(name, *places))
        self.left.append((columns[0], shared))
        self.right.append((columns[1], shared))
        return True


@dataclass(frozen=True)
class _Input:
    """One side of a join, and what is compared of its rows.

    Parameters
    ----------
    relation
        Its changes.
    compared
        Values that comparisons take, with their types.
    filters
        What must be true of a row that has partners.
    more
        Further columns, after those of the rows.
    """

    relation: Relation
    compared: tuple[tuple[Column, DataType], ...]
    filters: tuple[Column, ...]
    more: Sequence[Column]

    @property
    def types(self) -> tuple[DataType, ...]:
        return (*self.relation.types, *(data_type for _, data_type in self.compared))

    @property
    def schema(self) -> str:
        """Return the type of its rows in the state."""
        return _struct(self.types)

    def frame(
        self,
        keys: Columns,
        values: Sequence[Column],
        is_left: bool,
        others: Sequence[DataType],
        preserved: bool,
    ) -> DataFrame:
        """Return its rows as the operator takes them: nulls in place of the other side's.

        Parameters
        ----------
        keys, values
            What its rows are joined by; without any all are partners.
        preserved
            Whether rows without a partner are in the result.
        """
        relation = self.relation
        found = list(values) or [F.lit(True)]
        if self.filters:
            holds = self.filters[0]
            for each in self.filters[1:]:
                holds = holds & each
            found = [F.when(holds, value) for value in found]
        columns = [*relation.columns, *(each for each, _ in self.compared)]
        own = Columns("l" if is_left else "r", self.types)
        nothing = Columns("r" if is_left else "l", tuple(others))
        absent = [F.lit(None).cast(part.dataType).alias(part.name) for part in nothing.schema]
        encoded = own.encoded(columns)
        frame = relation.frame.select(
            *keys.encoded(found),
            F.lit(is_left).alias(_SIDE),
            *((*encoded, *absent) if is_left else (*absent, *encoded)),
            *self.more,
            *relation.changes,
        )
        if preserved:
            return frame
        for name in keys.names:
            frame = frame.filter(column(name).isNotNull())
        return frame


def _struct(types: Sequence[DataType]) -> str:
    parts = [spark.StructField(f"f{place}", encoded_type(each)) for place, each in enumerate(types)]
    return spark.StructType(parts).simpleString()


def set_operation(
    left: Relation,
    right: Relation,
    operation: Literal["intersect", "minus"],
    every: bool,
    context: TableContext,
) -> Relation:
    """Return the changes of an intersection or a difference of tables with the same columns."""
    keys = Columns("k", tuple(left.types))
    sides = []
    for is_left, relation in ((True, numbered(left)), (False, numbered(right))):
        sides.append(
            relation.frame.select(
                *keys.encoded(relation.columns), F.lit(is_left).alias(_SIDE), *relation.changes
            )
        )
    frame = sides[0].union(sides[1])
    processor = SetOperation(
        operation, every, [*keys.names, KIND, SEQUENCE], lifetime_of(frame, context)
    )
    changes = changes_of(frame, keys.names, processor, keys.schema, context)
    decoded = changes.select(*keys.decoded(left.names), column(KIND), column(SEQUENCE))
    key = None if every else tuple(left.names)
    return Relation(decoded, left.fields, key=key, updating=True)
