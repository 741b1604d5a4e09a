"""Functions of SQL whose arguments are written with words: units, sides, behaviours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import NoReturn, Protocol

from sqlglot import exp

from pyflow.table.columns.nodes import Call, Literal, Node, Symbol
from pyflow.table.expression import (
    JsonExistsOnError,
    JsonOnNull,
    JsonQueryOnEmptyOrError,
    JsonQueryWrapper,
    JsonValueOnEmptyOrError,
    TimeIntervalUnit,
    TimePointUnit,
)
from pyflow.table.sql import builtin_functions, literals, tree
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import DataType

__all__ = ["TRANSLATIONS", "Grouping"]

_PARTS = {
    **{part: part for part in ("YEAR", "QUARTER", "MONTH", "WEEK", "HOUR", "MINUTE", "SECOND")},
    "DAYOFMONTH": "DAY",
    "DAYOFYEAR": "DOY",
    "DAYOFWEEK": "DOW",
}


class Translator(Protocol):
    """What makes nodes of the arguments."""

    def node(self, expression: exp.Expr) -> Node:
        """Return the node of an expression."""

    def call(self, name: str, *arguments: Node) -> Node:
        """Return the call of a built-in function."""

    def type_of(self, name: exp.Expr) -> DataType:
        """Return the data type of a name."""

    def refuse(self, node: exp.Expr, reason: str) -> NoReturn:
        """Raise an error at the position of a node."""


_Translation = Callable[[Translator, exp.Anonymous], Node]

#: What makes the node of a call, by the name of the function.
TRANSLATIONS: dict[str, _Translation] = {}


class _Unit(Enum):
    """Units of time that the Table API does not have."""

    MILLENNIUM = auto()
    CENTURY = auto()
    DECADE = auto()
    ISOYEAR = auto()
    DOY = auto()
    DOW = auto()
    ISODOW = auto()
    MILLISECOND = auto()
    MICROSECOND = auto()
    NANOSECOND = auto()
    EPOCH = auto()


@dataclass(frozen=True)
class Grouping(Node):
    """GROUPING or GROUPING_ID: a bit for each key, 1 where the row has no value of it.

    Without keys it is GROUP_ID: how many times the same set of keys was there before.
    """

    keys: tuple[Node, ...]


def _translates(*names: str) -> Callable[[_Translation], _Translation]:
    """Register what makes the nodes of calls of these functions."""

    def register(translation: _Translation) -> _Translation:
        TRANSLATIONS.update(dict.fromkeys(names, translation))
        return translation

    return register


def _unit(name: str) -> Symbol:
    """Return the unit of a part of a time; KeyError if there is none."""
    return Symbol(TimeIntervalUnit.__members__.get(name) or _Unit[name])


@_translates("TRIM")
def _trim(translator: Translator, call: exp.Anonymous) -> Node:
    side, characters, value = call.expressions
    leading, trailing = (literals.literal(side.name != other) for other in ("TRAILING", "LEADING"))
    return translator.call(
        "trim", leading, trailing, translator.node(characters), translator.node(value)
    )


def _temporal_unit(translator: Translator, unit: exp.Var, kind: str) -> Node:
    try:
        if kind == "point":
            return Symbol(TimePointUnit[unit.name])
        return _unit(unit.name)
    except KeyError:
        translator.refuse(unit, f"the unit {unit.name} is not supported here")


@_translates("EXTRACT")
def _extract(translator: Translator, call: exp.Anonymous) -> Node:
    unit, value = call.expressions
    return translator.call(
        "extract", _temporal_unit(translator, unit, "interval"), translator.node(value)
    )


@_translates("GROUPING", "GROUPING_ID", "GROUP_ID")
def _grouping(translator: Translator, call: exp.Anonymous) -> Node:
    name = call.name.upper()
    if (name == "GROUP_ID") == bool(call.expressions):
        takes = "no arguments" if name == "GROUP_ID" else "keys of GROUP BY"
        translator.refuse(call, f"{name} takes {takes}")
    return Grouping(tuple(map(translator.node, call.expressions)))


@_translates(*_PARTS)
def _part_of_time(translator: Translator, call: exp.Anonymous) -> Node:
    if len(call.expressions) != 1:
        translator.refuse(call, f"{call.name.upper()} takes one argument")
    unit = _unit(_PARTS[call.name.upper()])
    return translator.call("extract", unit, translator.node(call.expressions[0]))


@_translates("FLOOR", "CEIL", "CEILING")
def _rounding(translator: Translator, call: exp.Anonymous) -> Node:
    name = "floor" if call.name.upper() == "FLOOR" else "ceil"
    value, *unit = call.expressions
    units = [_temporal_unit(translator, unit[0], "interval")] if unit else []
    return translator.call(name, translator.node(value), *units)


@_translates("TIMESTAMPDIFF")
def _timestamp_difference(translator: Translator, call: exp.Anonymous) -> Node:
    unit, first, second = call.expressions
    return translator.call(
        "timestampDiff",
        _temporal_unit(translator, unit, "point"),
        translator.node(first),
        translator.node(second),
    )


@_translates("TIMESTAMPADD")
def _timestamp_sum(translator: Translator, call: exp.Anonymous) -> Node:
    unit, count, time = call.expressions
    one = literals.interval("1", unit.name, unit.name)
    month = isinstance(one, int)
    data_type = DataTypes.INTERVAL(DataTypes.MONTH() if month else DataTypes.SECOND(3))
    span = translator.call("times", translator.node(count), Literal(one, data_type.not_null()))
    moved = Call(builtin_functions.MOVED, (translator.node(time), Symbol(unit)))
    return translator.call("plus", moved, span)


@_translates("JSON_VALUE")
def _json_value(translator: Translator, call: exp.Anonymous) -> Node:
    value, path, returning, on_empty, empty, on_error, error = call.expressions
    data_type: DataType = DataTypes.STRING()
    if isinstance(returning, tree.TypeName):
        data_type = translator.type_of(returning)
    return translator.call(
        "JSON_VALUE",
        translator.node(value),
        translator.node(path),
        Symbol(data_type),
        Symbol(JsonValueOnEmptyOrError[on_empty.name]),
        translator.node(empty),
        Symbol(JsonValueOnEmptyOrError[on_error.name]),
        translator.node(error),
    )


@_translates("JSON_QUERY")
def _json_query(translator: Translator, call: exp.Anonymous) -> Node:
    value, path, returning, wrapper, on_empty, on_error = call.expressions
    if isinstance(returning, tree.TypeName):
        data_type = translator.type_of(returning)
        if data_type.nullable() != DataTypes.STRING():
            translator.refuse(returning, f"JSON_QUERY returns STRING here, not {data_type.sql}")
    return translator.call(
        "JSON_QUERY",
        translator.node(value),
        translator.node(path),
        Symbol(DataTypes.STRING()),
        Symbol(JsonQueryWrapper[wrapper.name]),
        Symbol(JsonQueryOnEmptyOrError[on_empty.name]),
        Symbol(JsonQueryOnEmptyOrError[on_error.name]),
    )


@_translates("JSON_EXISTS")
def _json_exists(translator: Translator, call: exp.Anonymous) -> Node:
    value, path, on_error = call.expressions
    behaviour = Symbol(JsonExistsOnError[on_error.name])
    return translator.call("JSON_EXISTS", translator.node(value), translator.node(path), behaviour)


@_translates("JSON_OBJECT", "JSON_ARRAY")
def _json_made(translator: Translator, call: exp.Anonymous) -> Node:
    on_null, *arguments = call.expressions
    behaviour = Symbol(JsonOnNull[on_null.name])
    return translator.call(call.name.upper(), behaviour, *map(translator.node, arguments))


@_translates("JSON_OBJECTAGG", "JSON_ARRAYAGG")
def _json_aggregated(translator: Translator, call: exp.Anonymous) -> Node:
    on_null, *arguments = call.expressions
    name = f"{call.name.upper()}_{on_null.name}_ON_NULL"
    return translator.call(name, *map(translator.node, arguments))


@_translates("IF")
def _conditional(translator: Translator, call: exp.Anonymous) -> Node:
    if len(call.expressions) != 3:
        translator.refuse(call, "IF takes a condition and two values")
    return translator.call("ifThenElse", *map(translator.node, call.expressions))


@_translates("NULLIF")
def _nullif(translator: Translator, call: exp.Anonymous) -> Node:
    if len(call.expressions) != 2:
        translator.refuse(call, "NULLIF takes two values")
    one, other = map(translator.node, call.expressions)
    nothing = Literal(None, DataTypes.NULL())
    return translator.call("ifThenElse", translator.call("equals", one, other), nothing, one)
