"""Operations on two tables, and joins of a table with what a table function returns."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pyspark.sql import functions as F

from pyflow.table.changes.changelog import appended, first_of_each, inserted_once, settled
from pyflow.table.changes.relation import Pushdown, Relation, column, made_again, unused
from pyflow.table.columns.conversion import convert
from pyflow.table.columns.nodes import Alias, Field, FunctionCall, Node, field_names
from pyflow.table.columns.nodes import Literal as LiteralNode
from pyflow.table.columns.type_rules import common, in_sql
from pyflow.table.relations import interval_joins
from pyflow.table.relations.interval_joins import JoinType as JoinType
from pyflow.table.relations.interval_joins import has_equality, padded
from pyflow.table.relations.operators import NotIncremental
from pyflow.table.relations.predicates import all_of
from pyflow.table.relations.projection import filter_rows, scope_of
from pyflow.table.relations.streams import groups as stream_groups
from pyflow.table.relations.streams import joins as stream_sides
from pyflow.table.relations.streams import windows as stream_windows
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import BooleanType, DataType, RowType
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column

    from pyflow.table.context import TableContext

ROW = "$row"


def join(
    left: Relation,
    right: Relation,
    predicate: Node | None,
    kind: JoinType,
    context: TableContext,
    every_condition: bool = False,
) -> Relation:
    """Return the pairs of rows for which the predicate is true.

    The Table API asks for an equality in it; SQL, with ``every_condition``, does not.

    In streaming mode bounded rows that do not change are joined as if all those of the other side
    had come before: outer joins of one side pad only rows that stay without a partner.
    """
    common = [name for name in left.names if name in right.names]
    if common:
        raise TableException(f"join relations with ambiguous names: [{', '.join(common)}]")
    updating = left.updating or right.updating
    both = Relation(left.rows().crossJoin(right.rows()), (*left.fields, *right.fields))
    condition = F.lit(True)
    if predicate is not None:
        resolved = scope_of(both, context).resolve(predicate)
        if not isinstance(resolved.data_type, BooleanType):
            raise TableException(
                "Filter operator requires a boolean expression as input, "
                f"but the join condition is of type {resolved.data_type.sql}"
            )
        free = every_condition or _is_true(predicate)
        if not free and not has_equality(predicate, left, right):
            raise TableException(
                f"Invalid join condition: {predicate}. "
                "At least one equi-join predicate is required."
            )
        condition = resolved.column
    result = _joined(left, right, predicate, condition, kind, context)
    keeps = left.unbounded or right.unbounded or (context.is_streaming and updating)
    if not keeps or kind == "full":
        return result

    def take(conditions: Sequence[Node]) -> tuple[Relation, list[Node]]:
        sides: tuple[list[Node], list[Node]] = [], []
        pairs, others = [] if predicate is None else [predicate], []
        for node in conditions:
            names = set(field_names(node))
            if names <= set(left.names) and kind != "right":
                sides[0].append(node)
            elif names <= set(right.names) and kind != "left":
                sides[1].append(node)
            elif kind == "inner":
                pairs.append(node)
            else:
                others.append(node)
        one, other = (
            each if own is None else filter_rows(each, own, context)
            for each, own in zip((left, right), map(all_of, sides))
        )
        return join(one, other, all_of(pairs), kind, context, every_condition=True), others

    return replace(result, pushdown=Pushdown(result.frame, take))


def _joined(
    left: Relation,
    right: Relation,
    predicate: Node | None,
    condition: Column,
    kind: JoinType,
    context: TableContext,
) -> Relation:
    updating = left.updating or right.updating
    conditions = [] if predicate is None else [predicate]
    by_interval = predicate is not None and interval_joins.is_one(left, right, predicate)
    if left.unbounded or right.unbounded:
        if by_interval and left.unbounded == right.unbounded:
            assert predicate is not None
            return interval_joins.join(left, right, predicate, kind, context)
        return stream_sides.join(left, right, conditions, kind, context)
    by_time = by_interval or stream_windows.are_joined(left, right, conditions)
    only_new = not updating and (kind == "inner" or by_time)
    if context.is_streaming and (updating or (kind == "full" and not by_time)):
        with suppress(NotIncremental):
            return stream_sides.join(left, right, conditions, kind, context)
    one, other = settled(left), settled(right)
    fields = padded(one, other, kind)
    frame = one.rows().join(other.rows(), condition, kind)
    times = {**one.time_attributes, **other.time_attributes} if kind == "inner" else {}
    result = Relation(frame, fields, time_attributes=times, window=one.window)
    return inserted_once(result) if context.is_streaming and not only_new else result


def _is_true(predicate: Node) -> bool:
    return isinstance(predicate, LiteralNode) and predicate.value is True


def join_lateral(
    relation: Relation,
    call: Node,
    predicate: Node | None,
    outer: bool,
    context: TableContext,
) -> Relation:
    """Return each row with the rows that a table function returns for it."""
    if outer and predicate is not None and not _is_true(predicate):
        raise TableException(
            "Predicate for lateral left outer join with table function can only be empty or "
            "literal true."
        )
    result = _with_results(relation, call, outer, context)
    if predicate is None or outer:
        return result
    condition = scope_of(result, context).resolve(predicate)
    return replace(result, frame=result.frame.filter(condition.column))


def flat_map(relation: Relation, call: Node, context: TableContext) -> Relation:
    """Return the rows that a table function returns for the rows of a table."""
    names = call.names if isinstance(call, Alias) else ()
    function = call.child if isinstance(call, Alias) else call
    own = [name for name, _ in results_of(function, context)]
    temporary: list[str] = []
    for name in own:
        temporary.append(unused(name, [*relation.names, *temporary]))
    joined = _with_results(relation, Alias(function, tuple(temporary)), False, context)
    new = joined.fields[len(relation.fields) :]
    result = names or own
    columns = [column(old).alias(name) for (old, _), name in zip(new, result)]
    return Relation(
        frame=joined.frame.select(*columns, *joined.changes),
        fields=tuple((name, data_type) for (_, data_type), name in zip(new, result)),
        updating=joined.updating,
    )


def results_of(call: Node, context: TableContext) -> list[tuple[str, DataType]]:
    """Return names and types of the columns that a table function returns."""
    function = context.function_of(call, "table")
    return [(part.name, part.data_type) for part in function.result_type.fields]


def _with_results(relation: Relation, call: Node, outer: bool, context: TableContext) -> Relation:
    names = call.names if isinstance(call, Alias) else ()
    inner = call.child if isinstance(call, Alias) else call
    if not isinstance(inner, FunctionCall):
        raise TableException(f"Only a table function can be joined laterally, got: {inner}")
    function = context.function_of(inner, "table")
    results = results_of(inner, context)
    if names and len(names) != len(results):
        raise TableException(
            "List of column aliases must have same degree as table; the returned table of "
            f"function '{function.name}' has {len(results)} columns, whereas alias list has "
            f"{len(names)} columns"
        )
    named = [(name, t) for name, (_, t) in zip(names, results)] if names else results
    common = [name for name, _ in named if name in relation.names]
    if common:
        raise TableException(f"join relations with ambiguous names: [{', '.join(common)}]")
    scope = scope_of(relation, context)
    resolved = [scope.resolve(node) for node in scope.expand(inner.arguments)]
    frame = function.lateral(
        relation.frame,
        [value.column for value in resolved],
        [value.data_type for value in resolved],
        [name for name, _ in named],
        outer,
        context.function_settings(),
    )
    nullable = [(name, t.nullable() if outer else t) for name, t in named]
    fields = (*relation.fields, *nullable)
    columns = [column(name) for name, _ in fields]
    result = replace(
        relation,
        frame=frame.select(*columns, *relation.changes),
        fields=fields,
        key=None,
        order=None,
    )
    return made_again(result, relation, lambda rows: _with_results(rows, call, outer, context))


def with_row(
    relation: Relation, without: Sequence[str] = (), flat: bool = False
) -> tuple[Relation, Field]:
    """Return the relation with its rows as one more column, for functions that take whole rows.

    Parameters
    ----------
    without
        Columns that are not part of those rows.
    flat
        Whether columns that are rows are replaced by their fields, as pandas functions have them
        in one data frame.
    """
    parts: list[tuple[str, DataType, Column]] = []
    for name, data_type in relation.fields:
        if name in without:
            continue
        if flat and isinstance(data_type, RowType):
            inner = data_type.fields
            parts += [(f.name, f.data_type, column(name).getField(f.name)) for f in inner]
        else:
            parts.append((name, data_type, column(name)))
    row_type = DataTypes.ROW([DataTypes.FIELD(name, t) for name, t, _ in parts])
    row = F.struct(*(value.alias(name) for name, _, value in parts))
    frame = relation.frame.withColumn(ROW, row)
    return replace(relation, frame=frame, fields=(*relation.fields, (ROW, row_type))), Field(ROW)


def without_row(relation: Relation) -> Relation:
    """Return the relation without the column that :func:`with_row` adds."""
    fields = tuple(entry for entry in relation.fields if entry[0] != ROW)
    return replace(relation, frame=relation.frame.drop(ROW), fields=fields)


SetOperation = Literal["union", "intersect", "minus"]


def combine(
    left: Relation,
    right: Relation,
    operation: SetOperation,
    every: bool,
    context: TableContext,
) -> Relation:
    """Return the union, intersection or difference of two tables, by the position of columns."""
    types = _common_types(left, right, operation)
    one = _as_types(left, left.names, types)
    other = _as_types(right, left.names, types)
    if operation == "union" and every and left.unbounded == right.unbounded:
        return appended(one, other)
    if context.is_streaming:
        return _changes_of_both(one, other, operation, every, context)
    if operation == "union":
        return Relation(appended(one, other).rows().distinct(), one.fields)
    rows, others = one.rows(), other.rows()
    if operation == "intersect":
        frame = rows.intersectAll(others) if every else rows.intersect(others)
    else:
        frame = rows.exceptAll(others) if every else rows.subtract(others)
    return Relation(frame, one.fields)


def _changes_of_both(
    left: Relation,
    right: Relation,
    operation: SetOperation,
    every: bool,
    context: TableContext,
) -> Relation:
    if left.unbounded != right.unbounded:
        raise TableException(
            f"the {operation} of a bounded and an unbounded table is not supported: Spark has none."
            " Read the bounded table as an unbounded one."
        )
    if operation != "union":
        return stream_sides.set_operation(left, right, operation, every, context)
    return distinct(appended(left, right), context)


def distinct(relation: Relation, context: TableContext) -> Relation:
    """Return each different row once."""
    if not context.is_streaming:
        return Relation(relation.rows().distinct(), relation.fields)
    if relation.unbounded or relation.updating:
        return stream_groups.aggregate(relation, relation.names, {}, context)
    return first_of_each(relation)


def _common_types(left: Relation, right: Relation, operation: str) -> list[DataType]:
    if len(left.fields) != len(right.fields):
        raise TableException(
            f"The {operation} operation on two tables of different column sizes: "
            f"{len(left.fields)} and {len(right.fields)} is not supported"
        )
    types = []
    for (name, one), (other_name, other) in zip(left.fields, right.fields):
        # As Flink's planner, which has no date or time of day for a timestamp.
        found = None if in_sql([one, other]) is None else common([one, other])
        if found is None:
            raise TableException(
                f"Incompatible types for {operation} operation: `{name}` is {one.sql} and "
                f"`{other_name}` is {other.sql}. Cast one of them."
            )
        types.append(found)
    return types


def _as_types(relation: Relation, names: Sequence[str], types: Sequence[DataType]) -> Relation:
    """Return the relation with its columns under other names and as values of other types."""
    columns = [
        convert(column(old), source, target).alias(name)
        for (old, source), name, target in zip(relation.fields, names, types)
    ]
    renamed = relation.renamed(names)
    frame = relation.frame.select(*columns, *relation.changes)
    return replace(renamed, frame=frame, fields=tuple(zip(names, types)))
