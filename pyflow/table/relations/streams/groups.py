"""Aggregates per key, as their rows come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from pyflow.table.changes.changelog import numbered
from pyflow.table.changes.relation import KIND, SEQUENCE, Relation, column
from pyflow.table.columns.nodes import Call, Distinct, FunctionCall, Node
from pyflow.table.columns.nodes import Literal as LiteralNode
from pyflow.table.data_view import ListView, MapView
from pyflow.table.functions.builtins.json import element_of_array, member_of_object, on_null
from pyflow.table.relations.encoding import encoded_type
from pyflow.table.relations.operators import (
    Columns,
    KeyColumns,
    NotIncremental,
    changes_of,
    lifetime_of,
    per_record,
)
from pyflow.table.relations.projection import scope_of
from pyflow.table.runtime.streams import aggregates as built_in
from pyflow.table.runtime.streams.aggregate import Aggregate
from pyflow.table.runtime.streams.frames import PandasAggregate
from pyflow.table.runtime.streams.functions import DeclaredViews, PythonAggregate
from pyflow.table.runtime.streams.groups import GroupAggregate, TableAggregate
from pyflow.table.runtime.streams.numeric_aggregates import Number
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import (
    ArrayType,
    BitmapType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    ListViewType,
    MapType,
    MapViewType,
    MultisetType,
    RowField,
    RowType,
)
from pyflow.types.shapes import shape_of
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column

    from pyflow.table.context import TableContext
    from pyflow.table.functions.builtins.definition import Arguments
    from pyflow.table.functions.resolution import Scope

__all__ = [
    "PlannedAggregate",
    "aggregate",
    "built_in_aggregate",
    "called",
    "flat_aggregate",
    "of_program",
    "pandas_aggregate",
    "planned_in_window",
]

_NOT_SUPPORTED = ("PERCENTILE", "lag", "lead")
_SPREADS = ("stddevPop", "stddevSamp", "varPop", "varSamp")
# What an accumulator has where its type declares one of these.
_VIEWS: dict[type, type] = {ListViewType: ListView, MapViewType: MapView}


@dataclass(frozen=True)
class PlannedAggregate:
    """An aggregate, what it takes of each row, and the type of its result.

    Parameters
    ----------
    together
        Whether it takes its arguments as a tuple, whatever their number.
    """

    function: Any
    arguments: tuple[tuple[Column, DataType], ...]
    result: DataType
    together: bool = False

    def places(self, first: int) -> Any:
        """Return the positions of its arguments in a row, given that of the first."""
        if self.together:
            return tuple(range(first, first + len(self.arguments)))
        return first if self.arguments else None


def aggregate(
    relation: Relation,
    keys: Sequence[str],
    aggregates: dict[str, Node],
    context: TableContext,
) -> Relation:
    """Return the changes of each key's aggregates as the rows come.

    Without aggregates, each key once. With a function of the program among them, once per key and
    micro-batch, as PyFlink does per bundle.
    """
    scope = scope_of(relation, context)
    found = [_planned(node, scope, relation.updating) for node in aggregates.values()]
    each_record = per_record(context) and not any(each.together for each in found)
    lifetime = lifetime_of(relation.frame, context)

    def operator(places: list[Any], names: list[str]) -> GroupAggregate:
        return GroupAggregate(
            [(each.function, place) for each, place in zip(found, places)],
            names,
            changes=relation.updating,
            per_record=each_record,
            repeats=lifetime.seconds > 0 and (each_record or any(each.together for each in found)),
            lifetime=lifetime,
        )

    results = [(name, each.result) for name, each in zip(aggregates, found)]
    only_new = not aggregates and not relation.updating
    return _grouped(relation, keys, found, results, operator, only_new, context)


def flat_aggregate(
    relation: Relation, keys: Sequence[str], call: FunctionCall, context: TableContext
) -> Relation:
    """Return keys and the rows that a table aggregate function of the program emits for each."""
    wrapper = context.function_of(call, "table_aggregate")
    scope = scope_of(relation, context)
    arguments = scope.arguments_of_function(wrapper, call.arguments)
    found = of_program(wrapper, arguments, False, relation.updating, context)
    lifetime = lifetime_of(relation.frame, context)

    def operator(places: list[Any], names: list[str]) -> GroupAggregate:
        return TableAggregate(
            [(found.function, places[0])],
            names,
            changes=relation.updating,
            per_record=False,
            repeats=False,
            lifetime=lifetime,
        )

    results = [(part.name, part.data_type) for part in wrapper.result_type.fields]
    return _grouped(relation, keys, [found], results, operator, False, context)


def _grouped(
    relation: Relation,
    keys: Sequence[str],
    found: Sequence[PlannedAggregate],
    results: Sequence[tuple[str, DataType]],
    operator: Callable[[list[Any], list[str]], GroupAggregate],
    only_new: bool,
    context: TableContext,
) -> Relation:
    """Return what an operator emits for each key.

    Parameters
    ----------
    results
        The columns behind the keys.
    operator
        Makes it from the positions of arguments, and the names of what it emits.
    only_new
        Whether it emits insertions only.
    """
    rows = numbered(relation)
    types = dict(relation.fields)
    by = KeyColumns.of(types[key] for key in keys)
    taken = [pair for each in found for pair in each.arguments]
    arguments = Columns("a", tuple(data_type for _, data_type in taken))
    values = Columns("v", tuple(data_type for _, data_type in results))
    frame = rows.frame.select(
        *by.encoded([column(key) for key in keys]),
        *arguments.encoded([value for value, _ in taken]),
        *rows.changes,
    )
    places, place = [], len(by.names)
    for each in found:
        places.append(each.places(place))
        place += len(each.arguments)
    processor = operator(places, [*by.names, *values.names, KIND, SEQUENCE])
    emitted = [*by.schema, *values.schema]
    changes = changes_of(frame, by.names, processor, emitted, context)
    decoded = changes.select(
        *by.decoded(keys),
        *values.decoded([name for name, _ in results]),
        *([] if only_new else [column(KIND), column(SEQUENCE)]),
    )
    fields = (*((key, types[key]) for key in keys), *results)
    return Relation(decoded, fields, key=tuple(keys), updating=not only_new)


def _planned(node: Node, scope: Scope, changes: bool) -> PlannedAggregate:
    distinct = isinstance(node, Distinct)
    wrapper, call = called(node, scope)
    if wrapper is not None:
        arguments = scope.arguments_of_function(wrapper, call.arguments)
        return of_program(wrapper, arguments, distinct, changes, scope.context)
    assert isinstance(call, Call)
    return built_in_aggregate(call, scope, distinct, changes)


def planned_in_window(node: Node, scope: Scope) -> PlannedAggregate:
    """Return an aggregate of all rows of a window, which may be one over pandas series."""
    wrapper, call = called(node, scope)
    if wrapper is None or wrapper.func_type != "pandas":
        return _planned(node, scope, False)
    arguments = scope.arguments_of_function(wrapper, call.arguments)
    names = scope.names_of(call.arguments)
    return pandas_aggregate(wrapper, arguments, names, isinstance(node, Distinct), scope.context)


def pandas_aggregate(
    wrapper: Any,
    arguments: Sequence[tuple[Column, DataType]],
    names: Sequence[str | None],
    distinct: bool,
    context: TableContext,
) -> PlannedAggregate:
    """Return an aggregate of the program over pandas series, of all rows at once."""
    if distinct or not arguments:
        what = "DISTINCT" if distinct else "without arguments"
        raise TableException(
            f"pandas aggregate function {wrapper.name} is not supported {what} over unbounded rows"
        )
    settings = context.function_settings()
    function = PandasAggregate(
        wrapper.function,
        wrapper.name,
        [shape_of(data_type, settings.time_zone) for _, data_type in arguments],
        list(names),
        shape_of(wrapper.result_type, settings.time_zone),
        settings.for_tasks(),
    )
    return PlannedAggregate(function, tuple(arguments), wrapper.result_type, together=True)


def called(node: Node, scope: Scope) -> tuple[Any, Call | FunctionCall]:
    """Return the function of the program that a call is of, None for a built-in, and the call."""
    call = node.child if isinstance(node, Distinct) else node
    if isinstance(call, FunctionCall):
        return call.function, call
    assert isinstance(call, Call)
    return None, call


def of_program(
    wrapper: Any,
    arguments: Sequence[tuple[Column, DataType]],
    distinct: bool,
    changes: bool,
    context: TableContext,
) -> PlannedAggregate:
    """Return an aggregate of the program; `changes` tells whether rows are retracted."""
    if wrapper.func_type == "pandas":
        raise TableException(
            f"Pandas UDAFs are not supported in streaming mode currently: {wrapper.name}. Use it "
            "in a window, or write it with func_type='general'."
        )
    if changes and not wrapper.retracts:
        raise TableException(
            f"aggregate function {wrapper.name} has no method retract(), which retracts a row: "
            "its input changes"
        )
    settings = context.function_settings()
    emits_rows = wrapper.kind == "table_aggregate"
    result = ArrayType(wrapper.result_type) if emits_rows else wrapper.result_type
    function: Aggregate = PythonAggregate(
        wrapper.function,
        wrapper.name,
        [shape_of(data_type, settings.time_zone) for _, data_type in arguments],
        shape_of(result, settings.time_zone),
        _views_of(wrapper.accumulator_type),
        settings.for_tasks(),
        emits_rows,
    )
    if not distinct:
        return PlannedAggregate(function, tuple(arguments), wrapper.result_type, together=True)
    value, row_type = _row_of(arguments)
    function = built_in.Distinct(function, encoded_type(row_type).simpleString(), with_nulls=True)
    return PlannedAggregate(function, ((value, row_type),), wrapper.result_type, together=True)


def _views_of(accumulator_type: DataType) -> DeclaredViews:
    """Return the views that an accumulator type declares."""
    types = [accumulator_type]
    if isinstance(accumulator_type, RowType):
        types = [field.data_type for field in accumulator_type.fields]
    views = {
        place: _VIEWS[type(data_type)]
        for place, data_type in enumerate(types)
        if type(data_type) in _VIEWS
    }
    return DeclaredViews(views, whole=type(accumulator_type) in _VIEWS)


def _row_of(arguments: Sequence[tuple[Column, DataType]]) -> tuple[Column, RowType]:
    """Return values as one."""
    row_type = RowType([RowField(f"f{place}", t) for place, (_, t) in enumerate(arguments)])
    parts = [value.alias(f"f{place}") for place, (value, _) in enumerate(arguments)]
    return F.struct(*parts), row_type


def built_in_aggregate(call: Call, scope: Scope, distinct: bool, changes: bool) -> PlannedAggregate:
    """Return a built-in aggregate; `changes` tells whether rows are retracted."""
    arguments = scope.arguments_of(call, distinct)
    kind = call.function.name
    if kind in _NOT_SUPPORTED or (distinct and kind in _SPREADS):
        reason = "it is not supported over unbounded rows without a window"
        raise arguments.fail(reason, NotIncremental)
    taken = _argument(kind, arguments)
    data_type = taken[0][1] if taken else DataTypes.BOOLEAN()
    if _has_keys_without_order(data_type) and (distinct or kind == "collect"):
        reason = "a stream cannot tell arrays, bitmaps and maps apart in its state"
        raise arguments.fail(reason, NotIncremental)
    about = _about(kind, arguments)
    schema = encoded_type(data_type).simpleString()
    # Of distinct values each is added and retracted once, by the same aggregate.
    function = built_in.make(kind, changes, _number(arguments.result), schema, *about)
    if distinct and kind not in ("min", "max"):
        function = built_in.Distinct(function, schema, with_nulls=kind == "ARRAY_AGG")
    return PlannedAggregate(function, taken, arguments.result)


def _about(kind: str, arguments: Arguments) -> list[Any]:
    """Return what an aggregate has to know beside what it takes of each row."""
    if kind == "listAgg":
        return [arguments.constant(1) if len(arguments) > 1 else ","]
    return [on_null(arguments)] if kind.startswith("JSON_OBJECTAGG") else []


def _argument(kind: str, arguments: Arguments) -> tuple[tuple[Column, DataType], ...]:
    """Return the one value that an aggregate takes of a row; nothing where each row counts."""
    columns, types, nodes = arguments.columns, arguments.types, arguments.nodes
    if kind == "count":
        if not columns or (len(nodes) == 1 and _is_there(nodes[0]) and not arguments.distinct):
            return ()
        if len(columns) > 1:
            value, row_type = _row_of(list(zip(columns, types)))
            for each in columns:
                value = F.when(each.isNotNull(), value)
            return ((value, row_type),)
    if kind in _SPREADS:
        return ((columns[0].cast("double"), DoubleType()),)
    if kind.startswith("JSON_ARRAYAGG"):
        return ((element_of_array(arguments), DataTypes.STRING()),)
    if kind.startswith("JSON_OBJECTAGG"):
        return (_row_of([(each, DataTypes.STRING()) for each in member_of_object(arguments)]),)
    return ((columns[0], types[0]),)


def _is_there(node: Node) -> bool:
    return isinstance(node, LiteralNode) and node.value is not None


def _has_keys_without_order(data_type: DataType) -> bool:
    if isinstance(data_type, RowType):
        return any(_has_keys_without_order(each.data_type) for each in data_type.fields)
    return isinstance(data_type, (ArrayType, BitmapType, MapType, MultisetType))


def _number(data_type: DataType) -> Number:
    """Return how the operator is told of the type of a number."""
    if isinstance(data_type, DecimalType):
        return "DECIMAL", data_type.precision, data_type.scale
    if isinstance(data_type, IntegralType):
        bits = {8: "TINYINT", 16: "SMALLINT", 32: "INT", 64: "BIGINT"}
        return (bits[data_type.BITS],)
    if isinstance(data_type, FloatType):
        return ("FLOAT",)
    return ("DOUBLE",) if isinstance(data_type, DoubleType) else ("ANY",)
