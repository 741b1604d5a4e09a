"""What an expression means where it stands: its column in Spark, and its type."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from pyflow.table.columns import nodes
from pyflow.table.columns.conversion import convert
from pyflow.table.columns.literals import literal
from pyflow.table.columns.nodes import Node
from pyflow.table.columns.type_rules import takes
from pyflow.table.functions.builtins.definition import Aggregated, Arguments, checked
from pyflow.table.functions.java import JavaFunction
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import DataType, RowType
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, WindowSpec

_AGGREGATES = ("aggregate", "table_aggregate")


@dataclass(frozen=True)
class Resolved:
    """What an expression is.

    Parameters
    ----------
    column
        Its column, for the scope's frame.
    data_type
        Its type.
    """

    column: Column
    data_type: DataType


@dataclass(frozen=True)
class Scope:
    """What names mean where an expression stands.

    Parameters
    ----------
    frame
        The data frame whose columns the fields are.
    fields
        The names of the columns, with their types.
    context
        What the table environment has: functions by name, and settings. None where there is none.
    window
        The group window, where rows are grouped by one.
    properties
        What the properties of windows are.
    over
        The rows that each aggregate is taken over; the rows of a group where it is None.
    windows
        The OVER windows, by their names.
    columns
        What fields are that are no columns of the frame.
    """

    frame: DataFrame | None
    fields: Mapping[str, DataType]
    context: Any = None
    window: Any = None
    properties: Mapping[nodes.WindowProperty, Resolved] = field(default_factory=dict)
    over: WindowSpec | None = None
    windows: Mapping[str, WindowSpec] = field(default_factory=dict)
    columns: Mapping[str, Column] = field(default_factory=dict)

    def resolve(self, node: Node) -> Resolved:
        """Return the column and the type of an expression.

        Raises
        ------
        TableException
            If a name is unknown, or a function is called with wrong arguments.
        """
        resolve = _RESOLVERS.get(type(node))
        if resolve is None:
            raise TableException(f"{node} cannot be used as a value")
        return resolve(self, node)

    def resolve_all(self, found: Sequence[Node]) -> list[Resolved]:
        """Return the columns and types of expressions."""
        return [self.resolve(node) for node in found]

    def arguments_of(self, node: nodes.Call, distinct: bool = False) -> Arguments:
        """Return the call of a built-in function with its arguments as columns, checked."""
        columns: list[Column] = []
        types: list[DataType] = []
        expanded = tuple(self.expand(node.arguments))
        for argument in expanded:
            if isinstance(argument, nodes.Symbol):
                columns.append(F.lit(None))
                types.append(DataTypes.NULL())
            else:
                value = self.resolve(argument)
                columns.append(value.column)
                types.append(value.data_type)
        return checked(
            Arguments(node.function, expanded, tuple(columns), tuple(types), self, distinct)
        )

    def arguments_of_function(
        self, wrapper: Any, found: Sequence[Node]
    ) -> list[tuple[Column, DataType]]:
        """Return the arguments of a function of the program, of the types it is declared for."""
        columns, types = _as_declared(wrapper, self.resolve_all(self.expand(found)))
        return list(zip(columns, types))

    def names_of(self, found: Sequence[Node]) -> list[str | None]:
        """Return the names of arguments that are columns, and None for others."""
        return [node.name if isinstance(node, nodes.Field) else None for node in self.expand(found)]

    def aggregated(self, distinct: bool) -> Aggregated:
        """Return which values an aggregate is computed from."""
        return Aggregated(distinct, self.over)

    def expand(self, found: Sequence[Node]) -> list[Node]:
        """Return expressions with the columns and fields that ``*`` and the like stand for."""
        return [expanded for node in found for expanded in self._expanded(node)]

    def _expanded(self, node: Node) -> list[Node]:
        if isinstance(node, nodes.AllColumns):
            return [nodes.Field(name) for name in self.fields]
        if isinstance(node, nodes.Columns):
            return [nodes.Field(name) for name in self._named(node)]
        if isinstance(node, nodes.Flatten):
            return self._flattened(node)
        if isinstance(node, nodes.Alias) and isinstance(node.child, nodes.Flatten):
            fields = self._flattened(node.child)
            if len(fields) != len(node.names):
                raise TableException(f"{node}: it has {len(fields)} fields")
            return [nodes.Alias(each, (name,)) for each, name in zip(fields, node.names)]
        if isinstance(node, (nodes.Call, nodes.FunctionCall)):
            arguments = tuple(self.expand(node.arguments))
            return [type(node)(node.function, arguments)]
        return [node]

    def _named(self, node: nodes.Columns) -> list[str]:
        names = list(self.fields)
        chosen: list[str] = []
        for part in node.parts:
            if isinstance(part, nodes.AllColumns):
                chosen.extend(names)
            elif isinstance(part, nodes.Range):
                first, last = self._position(part.start), self._position(part.end)
                if first > last:
                    raise TableException(f"{part}: the range has its end before its start")
                chosen.extend(names[first : last + 1])
            elif isinstance(part, nodes.Columns):
                chosen.extend(self._named(part))
            elif isinstance(part, nodes.Literal) and isinstance(part.value, int):
                chosen.append(names[self._position(part.value)])
            elif isinstance(part, nodes.Field):
                chosen.append(names[self._position(part.name)])
            elif isinstance(part, nodes.Literal) and isinstance(part.value, str):
                chosen.append(names[self._position(part.value)])
            else:
                raise TableException(f"{node}: {part} names no columns")
        if node.without:
            return [name for name in names if name not in chosen]
        return chosen

    def _position(self, key: str | int) -> int:
        names = list(self.fields)
        if isinstance(key, int):
            if not 1 <= key <= len(names):
                raise TableException(f"there is no column {key}: columns are numbered from 1 to "
                                     f"{len(names)}")  # fmt: skip
            return key - 1
        self._require(key)
        return names.index(key)

    def _flattened(self, node: nodes.Flatten) -> list[Node]:
        from pyflow.table.functions.builtins import built_in

        data_type = self.resolve(node.child).data_type
        if not isinstance(data_type, RowType):
            return [node.child]
        return [
            nodes.Alias(
                nodes.Call(
                    built_in("get"),
                    (node.child, nodes.Literal(each.name, DataTypes.STRING().not_null())),
                ),
                (f"{self.name_of(node.child, 0)}${each.name}",),
            )
            for each in data_type.fields
        ]

    def _require(self, name: str) -> DataType:
        data_type = self.fields.get(name)
        if data_type is None:
            known = ", ".join(self.fields)
            raise TableException(f"Cannot resolve field [{name}], input field list:[{known}].")
        return data_type

    def aggregates_of(self, node: Node) -> list[Node]:
        """Return the outermost calls of aggregates inside an expression, from left to right."""
        if isinstance(node, nodes.Over):
            return []
        if isinstance(node, nodes.Distinct) or self._is_aggregate(node):
            return [node]
        return [found for child in node.children for found in self.aggregates_of(child)]

    def has_aggregates(self, node: Node) -> bool:
        """Return whether an expression has a call of an aggregate inside."""
        return bool(self.aggregates_of(node))

    def _is_aggregate(self, node: Node) -> bool:
        if isinstance(node, nodes.Call):
            return bool(node.function.aggregate)
        if isinstance(node, nodes.FunctionCall):
            return bool(node.function.kind in _AGGREGATES)
        return False

    def name_of(self, node: Node, position: int) -> str:
        """Return the name that an expression has as a column.

        Parameters
        ----------
        node
            The expression.
        position
            Its position among the columns, from 0.
        """
        found = self._own_name(node)
        return f"_c{position}" if found is None else found

    def _own_name(self, node: Node) -> str | None:
        if isinstance(node, nodes.Field):
            return node.name
        if isinstance(node, nodes.Alias):
            return node.names[0]
        if isinstance(node, nodes.Cast) and isinstance(node.child, nodes.Field):
            return None if node.try_cast else f"{node.child.name}-{node.data_type.sql}"
        if isinstance(node, nodes.Call) and node.function.name == "get":
            inner = self._own_name(node.arguments[0])
            field_name = node.arguments[1]
            assert isinstance(field_name, nodes.Literal)
            return None if inner is None else f"{inner}${field_name.value}"
        return None


# --- One function per kind of node ------------------------------------------------------------


def _field(scope: Scope, node: nodes.Field) -> Resolved:
    data_type = scope._require(node.name)
    if node.name in scope.columns:
        return Resolved(scope.columns[node.name], data_type)
    return Resolved(F.col("`" + node.name.replace("`", "``") + "`"), data_type)


def _literal(scope: Scope, node: nodes.Literal) -> Resolved:
    return Resolved(literal(node.value, node.data_type), node.data_type)


def _call(scope: Scope, node: nodes.Call, distinct: bool = False) -> Resolved:
    arguments = scope.arguments_of(node, distinct)
    data_type = arguments.result
    return Resolved(node.function.build(arguments), data_type)


def _function_call(scope: Scope, node: nodes.FunctionCall, distinct: bool = False) -> Resolved:
    wrapper = node.function
    arguments = scope.arguments_of_function(wrapper, node.arguments)
    columns, types = [value for value, _ in arguments], [each for _, each in arguments]
    if isinstance(wrapper, JavaFunction):
        return Resolved(*wrapper.call(columns, types))
    settings, names = scope.context.function_settings(), scope.names_of(node.arguments)
    if wrapper.kind in ("scalar", "async"):
        constants = _constants(scope.expand(node.arguments))
        column = wrapper.column(columns, types, settings, names, constants)
        return Resolved(column, wrapper.result_type)
    if wrapper.kind == "aggregate":
        column = wrapper.aggregate(columns, types, settings, names, distinct, scope.over)
        return Resolved(column, wrapper.result_type)
    raise TableException(
        f"{node}: a {wrapper.kind.replace('_', ' ')} function gives rows, not a value; use it in "
        + ("join_lateral or flat_map" if wrapper.kind == "table" else "flat_aggregate")
    )


def _constants(arguments: Sequence[Node]) -> frozenset[int]:
    """Return the positions of arguments that are the same in all rows: constants of the program."""
    return frozenset(place for place, node in enumerate(arguments) if _is_constant(node))


def _is_constant(node: Node) -> bool:
    if isinstance(node, nodes.Cast) or (
        isinstance(node, nodes.Call) and node.function.name == "minusPrefix"
    ):
        return all(map(_is_constant, node.children))
    return isinstance(node, nodes.Literal)


def _as_declared(
    wrapper: Any, arguments: Sequence[Resolved]
) -> tuple[list[Column], list[DataType]]:
    """Return the arguments of a function as values of the types that it is declared for."""
    declared = None if wrapper.takes_row else wrapper.input_types
    if declared is None:
        return [each.column for each in arguments], [each.data_type for each in arguments]
    wrapper.check_arguments(len(arguments))
    columns = []
    for position, (given, target) in enumerate(zip(arguments, declared)):
        if not takes(target, given.data_type):
            raise TableException(
                f"argument {position + 1} of function {wrapper.name} is {given.data_type.sql}, but "
                f"the function is declared for {target.sql}; cast it"
            )
        columns.append(convert(given.column, given.data_type, target))
    return columns, list(declared)


def _alias(scope: Scope, node: nodes.Alias) -> Resolved:
    return scope.resolve(node.child)


def _cast(scope: Scope, node: nodes.Cast) -> Resolved:
    child = scope.resolve(node.child)
    target = node.data_type
    column = convert(child.column, child.data_type, target, tolerant=node.try_cast)
    nullable = node.try_cast or child.data_type._nullable
    return Resolved(column, target.nullable() if nullable else target.not_null())


def _distinct(scope: Scope, node: nodes.Distinct) -> Resolved:
    child = node.child
    if isinstance(child, nodes.Call) and child.function.aggregate:
        return _call(scope, child, distinct=True)
    if isinstance(child, nodes.FunctionCall):
        return _function_call(scope, child, distinct=True)
    raise TableException(f"{node}: only an aggregate can be distinct")


def _over(scope: Scope, node: nodes.Over) -> Resolved:
    from dataclasses import replace

    window = scope.windows.get(node.alias)
    if window is None:
        raise TableException(
            f"{node}: there is no OVER window named {node.alias!r}; over_window() defines it"
        )
    return replace(scope, over=window, windows={}).resolve(node.aggregate)


def _window_property(scope: Scope, node: nodes.WindowProperty) -> Resolved:
    found = scope.properties.get(node)
    if found is None:
        raise TableException(f"{node}: there is no window {node.alias!r} by which rows are grouped")
    return found


def _ordering(scope: Scope, node: nodes.Ordering) -> Resolved:
    raise TableException(f"{node} can only be used in order_by")


def _sql(scope: Scope, node: nodes.Sql) -> Resolved:
    return scope.resolve(scope.context.sql.expression(scope.context, node.text, list(scope.fields)))


def _named_argument(scope: Scope, node: nodes.NamedArgument) -> Resolved:
    raise TableException(f"{node}: functions here have no named arguments; give them by position")


def _descriptor(scope: Scope, node: nodes.Descriptor) -> Resolved:
    raise TableException(f"{node} can only be an argument of to_changelog and from_changelog")


def _symbol(scope: Scope, node: nodes.Symbol) -> Resolved:
    raise TableException(f"{node} is no value: a function of the program cannot take it")


_RESOLVERS: dict[type[Node], Callable[[Scope, Any], Resolved]] = {
    nodes.Field: _field,
    nodes.Literal: _literal,
    nodes.Call: _call,
    nodes.FunctionCall: _function_call,
    nodes.Alias: _alias,
    nodes.Cast: _cast,
    nodes.Distinct: _distinct,
    nodes.Over: _over,
    nodes.WindowProperty: _window_property,
    nodes.Ordering: _ordering,
    nodes.Sql: _sql,
    nodes.NamedArgument: _named_argument,
    nodes.Descriptor: _descriptor,
    nodes.Symbol: _symbol,
}


def interval_ms(node: Node) -> int:
    """Return the milliseconds of an interval that is a literal, such as ``lit(10).minutes``.

    Raises
    ------
    TableException
        If it is not such a literal, or an interval of months.
    """
    if isinstance(node, nodes.Alias):
        node = node.child
    if isinstance(node, nodes.Literal) and isinstance(node.value, datetime.timedelta):
        return node.value // datetime.timedelta(milliseconds=1)
    raise TableException(
        f"{node} is no interval of a fixed length; write it as lit(10).minutes or the like"
    )
