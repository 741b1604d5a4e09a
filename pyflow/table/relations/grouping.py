"""Grouped tables: aggregates per key, per key and window, and functions that return many rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from pyflow.table.changes.changelog import (
    changes_of_values,
    first_of_each,
    inserted_once,
    numbered,
    settled,
)
from pyflow.table.changes.relation import (
    SEQUENCE,
    Relation,
    TimeAttribute,
    column,
    unused,
    with_watermark,
)
from pyflow.table.columns.nodes import (
    Alias,
    Call,
    Cast,
    Distinct,
    Field,
    FunctionCall,
    Node,
    WindowProperty,
    transformed,
)
from pyflow.table.relations.operators import NotIncremental, per_record
from pyflow.table.relations.projection import project, scope_of
from pyflow.table.relations.streams import clock_windows
from pyflow.table.relations.streams import groups as stream_groups
from pyflow.table.window import GroupWindow
from pyflow.types.logical_types import ArrayType, DataType, MapType, RowField, RowType
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column

    from pyflow.table.context import TableContext
    from pyflow.table.functions.resolution import Scope

ROW = "$row"


@dataclass(frozen=True)
class Split:
    """A selection from groups, taken apart.

    Parameters
    ----------
    aggregates, properties
        The calls of aggregates and the properties of windows in it, by the names that they get.
    projections
        The selection with these names in their place.
    """

    aggregates: dict[str, Node]
    properties: dict[str, Node]
    projections: list[Node]


def split(nodes: Sequence[Node], scope: Scope) -> Split:
    """Take aggregates and window properties out of a selection, each of them once."""
    found: list[tuple[str, Node]] = []
    for node in nodes:
        for part in _parts(node, scope):
            if not any(known == part for _, known in found):
                found.append((f"EXPR${len(found)}", part))
    projections = [transformed(node, lambda inner: _reference(found, inner)) for node in nodes]
    properties: dict[str, Node] = {n: node for n, node in found if isinstance(node, WindowProperty)}
    aggregates = {n: node for n, node in found if n not in properties}
    return Split(aggregates, properties, projections)


def _parts(node: Node, scope: Scope) -> list[Node]:
    """Return the outermost aggregates and window properties in a node, from left to right."""
    if isinstance(node, WindowProperty) or _is_aggregate(node, scope):
        return [node]
    return [part for child in node.children for part in _parts(child, scope)]


def _is_aggregate(node: Node, scope: Scope) -> bool:
    """Return whether a node is the call of an aggregate itself."""
    return scope.aggregates_of(node) == [node]


def _reference(found: Sequence[tuple[str, Node]], node: Node) -> Node | None:
    return next((Field(name) for name, known in found if known == node), None)


def select_grouped(
    relation: Relation,
    groupings: Sequence[Node],
    selection: Sequence[Node],
    context: TableContext,
) -> Relation:
    """Return the selection from the groups of a table."""
    scope = scope_of(relation, context)
    parts = split(scope.expand(selection), scope)
    if parts.properties:
        raise TableException("Window properties can only be used on windowed tables.")
    grouped = aggregate(relation, groupings, parts.aggregates, context)
    return project(grouped, parts.projections, context)


def aggregate(
    relation: Relation,
    groupings: Sequence[Node],
    aggregates: dict[str, Node],
    context: TableContext,
    empty: bool = True,
) -> Relation:
    """Return one row per key: the keys and the aggregates by their names.

    Parameters
    ----------
    empty
        Whether, in batch mode, a table without rows gives one row, where there are no keys.
    """
    prepared, keys = with_keys(relation, groupings, context)
    has_maps = any(isinstance(dict(prepared.fields)[key], MapType) for key in keys)
    if has_maps and (context.is_streaming or not aggregates):
        # In Spark maps are keys of groups, but neither of DISTINCT nor of state.
        return _aggregate_by_entries(prepared, keys, aggregates, context, empty)
    if not context.is_streaming:
        # Functions of Python are not called without rows, as in Flink.
        is_python = all(map(_is_python, aggregates.values()))
        return aggregate_once(prepared, keys, aggregates, context, empty and not is_python)
    if _has_single_rows(prepared, keys, aggregates):
        return _values_of_rows(prepared, keys, aggregates, context)
    if prepared.unbounded:
        return stream_groups.aggregate(prepared, keys, aggregates, context)
    if not (aggregates or prepared.updating):
        return first_of_each(_only(prepared, keys))
    if per_record(context) and not any(_is_python(node) for node in aggregates.values()):
        if not prepared.updating:
            return _rolling(prepared, keys, aggregates, context)
        with suppress(NotIncremental):
            return stream_groups.aggregate(prepared, keys, aggregates, context)
    # Without keys and without rows there is no group to tell of.
    final = aggregate_once(settled(prepared), keys, aggregates, context, empty=bool(keys))
    return inserted_once(final)


def _has_single_rows(
    relation: Relation, keys: Sequence[str], aggregates: Mapping[str, Node]
) -> bool:
    """Return whether each group of changes has one row, whose value the aggregates are.

    Flink removes such aggregates. An update of a row then is one, and no deletion and insertion.
    """
    return (
        relation.updating
        and bool(keys)
        and relation.key is not None
        and {*relation.key} <= {*keys}
        and bool(aggregates)
        and all(_value_of_row(node) is not None for node in aggregates.values())
    )


def _value_of_row(aggregate: Node) -> Node | None:
    """Return the value that an aggregate has for a group of one row; None where it is not known."""
    call = aggregate.child if isinstance(aggregate, Distinct) else aggregate
    if isinstance(call, Call) and call.function.name in ("sum", "min", "max"):
        return call.arguments[0]
    return None


def _values_of_rows(
    relation: Relation,
    keys: Sequence[str],
    aggregates: Mapping[str, Node],
    context: TableContext,
) -> Relation:
    """Return rows as the groups that each of them is."""
    scope = scope_of(relation, context)
    types = dict(relation.fields)
    columns, fields = [column(key) for key in keys], [(key, types[key]) for key in keys]
    for name, node in aggregates.items():
        value, data_type = _value_of_row(node), scope.resolve(node).data_type
        assert value is not None
        columns.append(scope.resolve(Cast(value, data_type, False)).column.alias(name))
        fields.append((name, data_type))
    frame = relation.frame.select(*columns, *relation.changes)
    return Relation(frame, tuple(fields), key=tuple(keys), updating=True)


def _aggregate_by_entries(
    relation: Relation,
    keys: Sequence[str],
    aggregates: dict[str, Node],
    context: TableContext,
    empty: bool,
) -> Relation:
    """Return the groups of keys with maps among them, which have no order in Spark, as arrays."""
    types = dict(relation.fields)
    maps = {
        key: (f"$entries {key}", data_type)
        for key in keys
        if isinstance(data_type := types[key], MapType)
    }
    frame = relation.frame.withColumns(
        {name: F.array_sort(F.map_entries(column(key))) for key, (name, _) in maps.items()}
    )
    fields = tuple((name, _entries(data_type)) for name, data_type in maps.values())
    rows = replace(relation, frame=frame, fields=(*relation.fields, *fields))
    arrays = {key: name for key, (name, _) in maps.items()}
    by: list[Node] = [Field(arrays.get(key, key)) for key in keys]
    grouped = aggregate(rows, by, aggregates, context, empty)
    columns = [
        F.map_from_entries(column(arrays[key])).alias(key) if key in arrays else column(key)
        for key in keys
    ]
    others = [entry for entry in grouped.fields if entry[0] in aggregates]
    chosen = grouped.frame.select(*columns, *(column(name) for name, _ in others), *grouped.changes)
    return replace(
        grouped,
        frame=chosen,
        fields=(*((key, types[key]) for key in keys), *others),
        key=tuple(keys),
    )


def _entries(data_type: MapType) -> DataType:
    fields = [RowField("key", data_type.key_type), RowField("value", data_type.value_type)]
    return ArrayType(RowType(fields))


def _only(relation: Relation, names: Sequence[str]) -> Relation:
    """Return the relation with some of its columns."""
    chosen = tuple((name, data_type) for name, data_type in relation.fields if name in names)
    ordered = tuple(sorted(chosen, key=lambda entry: list(names).index(entry[0])))
    columns = [column(name) for name, _ in ordered]
    return Relation(relation.frame.select(*columns), ordered)


def with_keys(
    relation: Relation, groupings: Sequence[Node], context: TableContext
) -> tuple[Relation, list[str]]:
    """Return the relation with the grouping expressions among its columns, and their names."""
    scope = scope_of(relation, context)
    names: list[str] = []
    frame, found = relation.frame, list(relation.fields)
    for node in scope.expand(groupings):
        if isinstance(node, Field):
            scope.resolve(node)
            names.append(node.name)
            continue
        used = [name for name, _ in found]
        name = node.names[0] if isinstance(node, Alias) else unused(f"TMP_{len(names)}", used)
        resolved = scope.resolve(node)
        if name in used:
            frame, found = frame.drop(name), [entry for entry in found if entry[0] != name]
        frame = frame.withColumn(name, resolved.column)
        found.append((name, resolved.data_type))
        names.append(name)
    return replace(relation, frame=frame, fields=tuple(found), order=None), names


def aggregate_once(
    relation: Relation,
    keys: Sequence[str],
    aggregates: dict[str, Node],
    context: TableContext,
    empty: bool = True,
) -> Relation:
    """Return one row per key over all rows.

    Parameters
    ----------
    empty
        Whether a table without rows gives one row, where there are no keys.
    """
    scope = scope_of(relation, context)
    resolved = {name: scope.resolve(node) for name, node in aggregates.items()}
    columns = [value.column.alias(name) for name, value in resolved.items()]
    if not columns:
        frame = relation.frame.select(*map(column, keys)).distinct()
    elif keys:
        frame = relation.frame.groupBy(*map(column, keys)).agg(*columns)
    elif empty:
        frame = relation.frame.agg(*columns)
    else:
        frame = relation.frame.groupBy(F.lit(True).alias(ROW)).agg(*columns).drop(ROW)
    types = dict(relation.fields)
    found = [(key, types[key]) for key in keys]
    found += [(name, value.data_type) for name, value in resolved.items()]
    return Relation(frame, tuple(found), key=tuple(keys))


def _is_python(aggregate: Node) -> bool:
    call = aggregate.child if isinstance(aggregate, Distinct) else aggregate
    return isinstance(call, FunctionCall)


def _rolling(
    relation: Relation,
    keys: Sequence[str],
    aggregates: dict[str, Node],
    context: TableContext,
) -> Relation:
    """Return the changes of each key's aggregates as the rows come."""
    rows = numbered(relation)
    so_far = (
        Window.partitionBy(*map(column, keys))
        .orderBy(column(SEQUENCE))
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    rows, nodes = _with_distinct_arguments(rows, keys, aggregates, context)
    scope = replace(scope_of(rows, context), over=so_far)
    values = {name: scope.resolve(node) for name, node in nodes.items()}
    computed = rows.frame.select(
        *map(column, keys),
        column(SEQUENCE),
        *(value.column.alias(name) for name, value in values.items()),
    )
    typed = [(name, value.data_type) for name, value in values.items()]
    types = dict(relation.fields)
    return Relation(
        frame=changes_of_values(computed, keys, typed),
        fields=(*((key, types[key]) for key in keys), *typed),
        key=tuple(keys),
        updating=True,
    )


def _with_distinct_arguments(
    relation: Relation,
    keys: Sequence[str],
    aggregates: dict[str, Node],
    context: TableContext,
) -> tuple[Relation, dict[str, Node]]:
    """Replace DISTINCT, which Spark has no window function for.

    The argument of such an aggregate becomes a column that holds a value where it comes first
    under its key, and null elsewhere: aggregates leave out nulls. ARRAY_AGG, which does not, makes
    the values of its array distinct.
    """
    frame, found = relation.frame, list(relation.fields)
    nodes: dict[str, Node] = {}
    for name, node in aggregates.items():
        call = node.child if isinstance(node, Distinct) else node
        if call is node or (isinstance(call, Call) and call.function.name == "ARRAY_AGG"):
            nodes[name] = node
            continue
        argument, *others = call.children
        scope = scope_of(replace(relation, frame=frame), context)
        resolved = scope.resolve(argument)
        once = f"$distinct {name}"
        frame = frame.withColumn(once, resolved.column)
        rest = [scope.resolve(other).column for other in others]
        order = Window.partitionBy(*map(column, [*keys, once]), *rest).orderBy(column(SEQUENCE))
        place = F.row_number().over(order)
        frame = frame.withColumn(once, F.when(place == 1, column(once)))
        found.append((once, resolved.data_type))
        nodes[name] = transformed(call, partial(_replaced, argument, Field(once)))
    return replace(relation, frame=frame, fields=tuple(found)), nodes


def _replaced(old: Node, new: Node, node: Node) -> Node | None:
    return new if node is old else None


def select_windowed(
    relation: Relation,
    groupings: Sequence[Node],
    window: GroupWindow,
    selection: Sequence[Node],
    context: TableContext,
) -> Relation:
    """Return the selection from the groups of a table and a window."""
    scope = scope_of(relation, context)
    parts = split(scope.expand(selection), scope)
    grouped = aggregate_windowed(
        relation, groupings, window, parts.aggregates, parts.properties, context
    )
    return project(grouped, parts.projections, context)


def aggregate_windowed(
    relation: Relation,
    groupings: Sequence[Node],
    window: GroupWindow,
    aggregates: dict[str, Node],
    properties: dict[str, Node],
    context: TableContext,
) -> Relation:
    """Return one row per key and window: keys, aggregates, and properties of the window.

    In streaming mode they come when the watermark passes the end of the window: over bounded
    input at its end, in the order of time.
    """
    from pyflow.table.relations.windows import assigned

    prepared, keys = with_keys(settled(relation), groupings, context)
    rows = assigned(prepared, keys, window, context)
    if rows.gap is not None:
        start, end = rows.keys
        grouped = clock_windows.aggregate_sessions(
            rows.relation, keys, rows.gap, (start, end), aggregates, context
        )
    elif rows.rows is not None:
        grouped = clock_windows.aggregate_numbers(
            rows.relation, keys, *rows.rows, aggregates, context
        )
    elif rows.by_clock and relation.unbounded:
        assert rows.end is not None
        grouped = clock_windows.aggregate(
            rows.relation, [*keys, *rows.keys], aggregates, rows.end, context
        )
    else:
        grouped = aggregate_once(rows.relation, [*keys, *rows.keys], aggregates, context)
    frame = grouped.frame
    if context.is_streaming and rows.end is not None and not relation.unbounded:
        frame = frame.orderBy(rows.end)
    found = [entry for entry in grouped.fields if entry[0] not in rows.keys]
    times: dict[str, TimeAttribute] = {}
    columns = [column(name) for name, _ in found]
    for name, node in properties.items():
        assert isinstance(node, WindowProperty)
        value, data_type, time = rows.property_of(node)
        found.append((name, data_type))
        if time is None:
            columns.append(value.alias(name))
            continue
        times[name] = time
        watched = relation.unbounded and time.kind == "rowtime"
        columns.append(with_watermark(value, name) if watched else value.alias(name))
    return Relation(frame.select(*columns), tuple(found), time_attributes=times)


def aggregate_rows(
    relation: Relation,
    groupings: Sequence[Node],
    call: Node,
    context: TableContext,
    window: GroupWindow | None = None,
    properties: Mapping[str, Node] = MappingProxyType({}),
) -> Relation:
    """Return keys and the fields of what an aggregate function returns: ``aggregate``.

    Properties of the window follow, by their names.
    """
    names: Sequence[str] = call.names if isinstance(call, Alias) else ()
    function = call.child if isinstance(call, Alias) else call
    result = unused("TMP_0", relation.names)
    if window is None:
        grouped = aggregate(relation, groupings, {result: function}, context)
    else:
        grouped = aggregate_windowed(
            relation, groupings, window, {result: function}, dict(properties), context
        )
    data_type = dict(grouped.fields)[result]
    if not names and isinstance(data_type, RowType):
        names = [f"{result}${name}" for name in data_type.field_names()]
    return flattened(grouped, result, names)


def flattened(relation: Relation, name: str, aliases: Sequence[str] = ()) -> Relation:
    """Return the relation with the fields of one of its columns in place of that column."""
    columns: list[Column] = []
    found: list[tuple[str, DataType]] = []
    for field_name, data_type in relation.fields:
        if field_name != name:
            parts = [(field_name, data_type, column(field_name))]
        elif isinstance(data_type, RowType):
            inner = [(part.name, part.data_type) for part in data_type.fields]
            parts = [(n, t, column(name).getField(n)) for n, t in inner]
            parts = _aliased(parts, aliases)
        else:
            parts = _aliased([(name, data_type, column(name))], aliases)
        for part_name, part_type, value in parts:
            columns.append(value.alias(part_name))
            found.append((part_name, part_type))
    return replace(
        relation,
        frame=relation.frame.select(*columns, *relation.changes),
        fields=tuple(found),
    )


def _aliased(
    parts: list[tuple[str, DataType, Column]], aliases: Sequence[str]
) -> list[tuple[str, DataType, Column]]:
    if not aliases:
        return parts
    if len(aliases) != len(parts):
        raise TableException(
            "List of column aliases must have same degree as table; the function returns "
            f"{len(parts)} columns, whereas alias list has {len(aliases)} columns"
        )
    return [(new, data_type, value) for new, (_, data_type, value) in zip(aliases, parts)]
