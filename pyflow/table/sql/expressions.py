"""Expressions of SQL as nodes of the Table API, so that both mean the same."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum, auto
from functools import reduce
from typing import TYPE_CHECKING, Any, NoReturn

from sqlglot import exp

from pyflow.table import types
from pyflow.table.columns.nodes import (
    Call,
    Cast,
    Distinct,
    Field,
    FunctionCall,
    Literal,
    NamedArgument,
    Node,
    Symbol,
    WindowProperty,
)
from pyflow.table.columns.type_rules import INTERVALS
from pyflow.table.expression import (
    JsonExistsOnError,
    JsonOnNull,
    JsonQueryOnEmptyOrError,
    JsonQueryWrapper,
    JsonType,
    JsonValueOnEmptyOrError,
    TimeIntervalUnit,
    TimePointUnit,
)
from pyflow.table.functions.builtins import built_in
from pyflow.table.relations.filtered_functions import FilteredFunction
from pyflow.table.relations.projection import scope_of
from pyflow.table.sql import builtin_functions, tree
from pyflow.table.sql.names import Rows
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import DataType, RowType
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyflow.table.context import TableContext

# Group window functions of GROUP BY, and what of their window the others tell.
GROUP_WINDOWS = {"TUMBLE": "tumble", "HOP": "slide", "SESSION": "session"}
_WINDOW_PROPERTIES = {
    f"{window}_{suffix}": (window, kind)
    for window in GROUP_WINDOWS
    for suffix, kind in (
        ("START", "start"),
        ("END", "end"),
        ("ROWTIME", "rowtime"),
        ("PROCTIME", "proctime"),
    )
}

# Aggregates that leave out nulls, so that FILTER can put nulls in place of what it filters.
_WITHOUT_NULLS = frozenset(
    [
        "COUNT",
        "SUM",
        "SUM0",
        "AVG",
        "MIN",
        "MAX",
        "STDDEV_POP",
        "STDDEV_SAMP",
        "STDDEV",
        "VAR_POP",
        "VAR_SAMP",
        "VARIANCE",
        "LISTAGG",
        "COLLECT",
        "FIRST_VALUE",
        "LAST_VALUE",
        "APPROX_COUNT_DISTINCT",
    ]
)

_MONTHS = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
_MICROSECONDS = {
    "WEEK": 7 * 86_400_000_000,
    "DAY": 86_400_000_000,
    "HOUR": 3_600_000_000,
    "MINUTE": 60_000_000,
    "SECOND": 1_000_000,
    "MILLISECOND": 1_000,
    "MICROSECOND": 1,
}


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


class NameNotFound(tree.SqlError):
    """A name that means nothing where it stands."""


@dataclass
class Translator:
    """Turns the expressions of one SELECT into nodes.

    Parameters
    ----------
    text
        The statement, for positions in errors.
    group_windows
        The group windows of GROUP BY: their calls, and the names that they have.
    subqueries
        What queries and OVER windows in the expressions are, by the identities of their trees.
    """

    context: TableContext
    text: str
    rows: Rows
    group_windows: Sequence[tuple[exp.Anonymous, str]] = ()
    subqueries: Mapping[int, Node] = field(default_factory=dict)

    def refuse(self, node: exp.Expr, reason: str) -> NoReturn:
        """Raise an error at the place of a node."""
        tree.refuse(self.text, node, reason)

    @contextmanager
    def at(self, node: exp.Expr) -> Iterator[None]:
        """Give errors of the planner the place of a node."""
        try:
            yield
        except tree.SqlError:
            raise
        except TableException as error:
            raise tree.error_at(self.text, tree.start_of(node), str(error)) from error

    def node(self, expression: exp.Expr) -> Node:
        """Return the node of an expression."""
        method = getattr(self, "_" + type(expression).__name__.lower(), None)
        if method is not None:
            with self.at(expression):
                result: Node = method(expression)
                return result
        operator = builtin_functions.OPERATORS.get(type(expression).__name__)
        if operator is None:
            self.refuse(expression, f"{_name_of(expression)} is not supported here")
        parts = [expression.args.get("this"), expression.args.get("expression")]
        operands = [part for part in parts if isinstance(part, exp.Expr)] or expression.expressions
        return self._call(operator, *map(self.node, operands))

    def _call(self, name: str, *arguments: Node) -> Node:
        return Call(builtin_functions.OF_SQL.get(name) or built_in(name), tuple(arguments))

    # Names

    def _column(self, expression: exp.Column) -> Node:
        return self._path(expression)

    def _dot(self, expression: exp.Dot) -> Node:
        return self._path(expression)

    def _path(self, expression: exp.Expr) -> Node:
        parts = path_of(expression)
        if parts is None:
            if expression.expression.is_star:
                self.refuse(expression, "'.*' is not supported here")
            inner = self.node(expression.this)
            return self._call("get", inner, _literal(expression.expression.name))
        found, used = self.rows.resolve(parts)
        if not found:
            error = tree.error_at(self.text, tree.start_of(expression), self.rows.missing(parts))
            raise NameNotFound(str(error))
        if len(found) > 1:
            self.refuse(expression, f"Column '{'.'.join(parts[:used])}' is ambiguous")
        node: Node = Field(found[0])
        for part in parts[used:]:
            node = self._call("get", node, _literal(part))
        return node

    def fields_of(self, expression: exp.Dot) -> list[tuple[str, Node]]:
        """Return the fields that ``.*`` of a row stands for, with their names."""
        parts = path_of(expression.this) or []
        if not parts or not self.rows.find(parts)[0]:
            self.refuse(expression, f"no table is called '{'.'.join(parts)}' here")
        row = self.node(expression.this)
        data_type = scope_of(self.rows.relation, self.context).resolve(row).data_type
        if not isinstance(data_type, RowType):
            self.refuse(expression, f"'.*' takes a row, but this is {data_type.sql}")
        names = [each.name for each in data_type.fields]
        return [(name, self._call("get", row, _literal(name))) for name in names]

    def _bracket(self, expression: exp.Bracket) -> Node:
        return self._call("at", self.node(expression.this), self.node(expression.expressions[0]))

    def _paren(self, expression: exp.Paren) -> Node:
        return self.node(expression.this)

    # Literals

    def _literal(self, expression: exp.Literal) -> Node:
        return _string(expression.name) if expression.is_string else _number(expression.name)

    def _neg(self, expression: exp.Neg) -> Node:
        operand = expression.this
        if isinstance(operand, exp.Literal) and not operand.is_string:
            return _number("-" + operand.name)
        return self._call("minusPrefix", self.node(operand))

    def _hexstring(self, expression: exp.HexString) -> Node:
        return _literal(bytes.fromhex(expression.name))

    def _null(self, expression: exp.Null) -> Node:
        return Literal(None, DataTypes.NULL())

    def _boolean(self, expression: exp.Boolean) -> Node:
        return _literal(expression.this)

    def _temporal(self, expression: tree.Temporal) -> Node:
        kind, text = expression.args["kind"].name, expression.this.name
        try:
            value, data_type = _temporal(kind, text.strip())
        except ValueError:
            self.refuse(expression, f"'{text}' is no {kind}")
        return Literal(value, data_type.not_null())

    def _interval(self, expression: exp.Interval) -> Node:
        units = expression.args["unit"]
        first = units.this.name
        last = units.args["to"].name if units.args.get("to") else first
        try:
            value = _interval_value(expression.this.name, first, last)
        except ValueError:
            span = first if first == last else f"{first} TO {last}"
            self.refuse(expression, f"'{expression.this.name}' is no interval of {span}")
        if isinstance(value, int):
            return Literal(value, DataTypes.INTERVAL(DataTypes.MONTH()).not_null())
        return Literal(value, DataTypes.INTERVAL(DataTypes.SECOND(3)).not_null())

    def _notsupported(self, expression: tree.NotSupported) -> Node:
        self.refuse(expression, f"{expression.this} is not supported")

    # Operators with more than operands

    def _is(self, expression: exp.Is) -> Node:
        return self._call(
            builtin_functions.IS[expression.expression.name], self.node(expression.this)
        )

    def _not(self, expression: exp.Not) -> Node:
        inner = expression.this
        if isinstance(inner, exp.Is):
            name = {"TRUE": "isNotTrue", "FALSE": "isNotFalse"}.get(
                inner.expression.name, "isNotNull"
            )
            return self._call(name, self.node(inner.this))
        if isinstance(inner, exp.Between) and not inner.args.get("symmetric"):
            return self._call("notBetween", *self._bounds(inner))
        return self._call("not", self.node(inner))

    def _eq(self, expression: exp.EQ) -> Node:
        return self._equal(expression.this, expression.expression)

    def _equal(self, left: exp.Expr, right: exp.Expr) -> Node:
        """Return whether values are equal, of rows each: a null in one leaves it open.

        Rows in rows are equal or not, as in Flink.
        """
        rows = _are_rows(left, right)
        pairs = zip(left.expressions, right.expressions) if rows else [(left, right)]
        conditions = [
            self._call("equals", self.node(one), self.node(other)) for one, other in pairs
        ]
        return self._tied("and", conditions)

    def _tied(self, operator: str, conditions: Sequence[Node]) -> Node:
        return reduce(lambda one, other: self._call(operator, one, other), conditions)

    def _nullsafeeq(self, expression: exp.NullSafeEQ) -> Node:
        return self._call("not", self._differs(expression))

    def _nullsafeneq(self, expression: exp.NullSafeNEQ) -> Node:
        return self._differs(expression)

    def _differs(self, expression: exp.Expr) -> Node:
        operands = (self.node(expression.this), self.node(expression.expression))
        return Call(builtin_functions.IS_DISTINCT_FROM, operands)

    def _bounds(self, expression: exp.Between) -> list[Node]:
        return [self.node(expression.args[key]) for key in ("this", "low", "high")]

    def _between(self, expression: exp.Between) -> Node:
        value, low, high = self._bounds(expression)
        between = self._call("between", value, low, high)
        if expression.args.get("symmetric"):
            return self._call("or", between, self._call("between", value, high, low))
        return between

    def _escape(self, expression: exp.Escape) -> Node:
        like = expression.this
        name = "LIKE" if isinstance(like, exp.Like) else "similar"
        return self._call(
            name, self.node(like.this), self.node(like.expression), self.node(expression.expression)
        )

    def _in(self, expression: exp.In) -> Node:
        if expression.args.get("query") is not None:
            return self._subquery(expression)
        value, others = expression.this, expression.expressions
        if all(_are_rows(value, other) for other in others):
            return self._tied("or", [self._equal(value, other) for other in others])
        return self._call("in", self.node(value), *map(self.node, others))

    def _exists(self, expression: exp.Exists) -> Node:
        return self._subquery(expression)

    def _quantified(self, expression: tree.Quantified) -> Node:
        return self._subquery(expression)

    def _subquery(self, expression: exp.Expr) -> Node:
        known = self.subqueries.get(id(expression))
        if known is None:
            self.refuse(expression, "a query is not supported as a value here")
        return known

    def _isjson(self, expression: tree.IsJson) -> Node:
        kind = Symbol(JsonType[expression.args["kind"].name])
        return self._call("IS_JSON", self.node(expression.this), kind)

    def _case(self, expression: exp.Case) -> Node:
        operand, default = expression.this, expression.args.get("default")
        arguments: list[Node] = []
        for branch in expression.args["ifs"]:
            condition = self.node(branch.this)
            if operand is not None:
                condition = self._call("equals", self.node(operand), condition)
            arguments += [condition, self.node(branch.args["true"])]
        arguments.append(Literal(None, DataTypes.NULL()) if default is None else self.node(default))
        return Call(builtin_functions.CASE, tuple(arguments))

    def _cast(self, expression: exp.Cast) -> Node:
        target = self.type_of(expression.args["to"])
        if isinstance(target, INTERVALS):
            return Call(builtin_functions.AS_INTERVAL, (self.node(expression.this), Symbol(target)))
        return Cast(self.node(expression.this), target, False)

    def _trycast(self, expression: exp.TryCast) -> Node:
        return Cast(self.node(expression.this), self.type_of(expression.args["to"]), True)

    def type_of(self, name: exp.Expr) -> DataType:
        """Return the data type of a name."""
        with self.at(name):
            return types.parse(name.this, in_sql=True)

    # Functions

    def _anonymous(self, expression: exp.Anonymous) -> Node:
        name = expression.name
        prepared = _SPECIAL.get(name.upper())
        window = self._group_window(expression)
        if window is not None:
            return window
        wrapper = self.context.function(name)
        if wrapper is not None:
            return self._user_function(expression, wrapper)
        if prepared is not None:
            result: Node = prepared(self, expression)
            return result
        function = builtin_functions.find(name)
        if function is None:
            self.refuse(expression, f"No match found for function '{name}'")
        arguments, distinct = self._arguments(expression)
        call = Call(function, tuple(arguments))
        return Distinct(call) if distinct else call

    def _user_function(self, expression: exp.Anonymous, wrapper: Any) -> Node:
        arguments, distinct = self._arguments(expression)
        call = FunctionCall(wrapper, tuple(arguments))
        return Distinct(call) if distinct else call

    def _arguments(self, expression: exp.Anonymous) -> tuple[list[Node], bool]:
        given = expression.expressions
        distinct = bool(given) and isinstance(given[0], exp.Distinct)
        if distinct:
            given = given[0].expressions
        arguments: list[Node] = []
        for argument in given:
            if isinstance(argument, exp.Kwarg):
                arguments.append(NamedArgument(argument.this.name, self.node(argument.expression)))
            else:
                arguments.append(self.node(argument))
        return arguments, distinct

    def _var(self, expression: exp.Var) -> Node:
        return Symbol(expression.name)

    def _star(self, expression: exp.Star) -> Node:
        # COUNT(*)
        return _literal(1)

    def _typename(self, expression: tree.TypeName) -> Node:
        return Symbol(self.type_of(expression))

    def _filter(self, expression: exp.Filter) -> Node:
        call = expression.this
        if not isinstance(call, exp.Anonymous):
            self.refuse(expression, "FILTER is not supported for this function")
        aggregate = self.node(call)
        inner = aggregate.child if isinstance(aggregate, Distinct) else aggregate
        condition = self.node(expression.expression.this)
        filtered: Node
        if isinstance(inner, FunctionCall) and inner.function.kind == "aggregate":
            filtered = FunctionCall(FilteredFunction(inner.function), (condition, *inner.arguments))
        elif isinstance(inner, Call) and call.name.upper() in _WITHOUT_NULLS:
            nothing = Literal(None, DataTypes.NULL())
            first, *rest = inner.arguments or (_literal(1),)
            kept = self._call("ifThenElse", condition, first, nothing)
            filtered = Call(inner.function, (kept, *rest))
        else:
            self.refuse(expression, "FILTER is not supported for this function")
        return Distinct(filtered) if isinstance(aggregate, Distinct) else filtered

    def _withingroup(self, expression: exp.WithinGroup) -> Node:
        self.refuse(expression, "WITHIN GROUP is not supported")

    def _ignorenulls(self, expression: exp.IgnoreNulls) -> Node:
        call = expression.this
        if isinstance(call, exp.Anonymous) and call.name.upper() in ("FIRST_VALUE", "LAST_VALUE"):
            return self.node(call)
        return self.refuse(
            expression, "IGNORE NULLS is supported for FIRST_VALUE and LAST_VALUE only"
        )

    def _respectnulls(self, expression: exp.RespectNulls) -> Node:
        self.refuse(expression, "RESPECT NULLS is not supported")

    def _window(self, expression: exp.Window) -> Node:
        known = self.subqueries.get(id(expression))
        if known is None:
            self.refuse(expression, "OVER is not allowed here")
        return known

    def _group_window(self, expression: exp.Anonymous) -> Node | None:
        name = expression.name.upper()
        if name in GROUP_WINDOWS:
            for call, alias in self.group_windows:
                if call == expression:
                    return Field(alias)
            self.refuse(
                expression, f"{name} is supported in GROUP BY and in TABLE({name}(...)) only"
            )
        if name not in _WINDOW_PROPERTIES:
            return None
        window, kind = _WINDOW_PROPERTIES[name]
        for call, alias in self.group_windows:
            if call.name.upper() == window and call.expressions == expression.expressions:
                return WindowProperty(kind, alias)
        return self.refuse(
            expression,
            f"Call to auxiliary group function '{name}' must have matching "
            f"call to group function '{window}' in GROUP BY clause",
        )

    def _trim(self, expression: exp.Anonymous) -> Node:
        side, characters, value = expression.expressions
        leading, trailing = (_literal(side.name != other) for other in ("TRAILING", "LEADING"))
        return self._call("trim", leading, trailing, self.node(characters), self.node(value))

    def _temporal_unit(self, expression: exp.Var, kind: str) -> Node:
        try:
            if kind == "point":
                return Symbol(TimePointUnit[expression.name])
            return _unit(expression.name)
        except KeyError:
            self.refuse(expression, f"the unit {expression.name} is not supported here")

    def _extract(self, expression: exp.Anonymous) -> Node:
        unit, value = expression.expressions
        return self._call("extract", self._temporal_unit(unit, "interval"), self.node(value))

    def _grouping(self, expression: exp.Anonymous) -> Node:
        name = expression.name.upper()
        if (name == "GROUP_ID") == bool(expression.expressions):
            takes = "no arguments" if name == "GROUP_ID" else "keys of GROUP BY"
            self.refuse(expression, f"{name} takes {takes}")
        return Grouping(tuple(map(self.node, expression.expressions)))

    def _part_of_time(self, expression: exp.Anonymous) -> Node:
        if len(expression.expressions) != 1:
            self.refuse(expression, f"{expression.name.upper()} takes one argument")
        unit = _unit(_PARTS[expression.name.upper()])
        return self._call("extract", unit, self.node(expression.expressions[0]))

    def _rounding(self, expression: exp.Anonymous) -> Node:
        name = "floor" if expression.name.upper() == "FLOOR" else "ceil"
        value, *unit = expression.expressions
        units = [self._temporal_unit(unit[0], "interval")] if unit else []
        return self._call(name, self.node(value), *units)

    def _timestamp_difference(self, expression: exp.Anonymous) -> Node:
        unit, first, second = expression.expressions
        return self._call(
            "timestampDiff",
            self._temporal_unit(unit, "point"),
            self.node(first),
            self.node(second),
        )

    def _timestamp_sum(self, expression: exp.Anonymous) -> Node:
        unit, count, time = expression.expressions
        one = _interval_value("1", unit.name, unit.name)
        month = isinstance(one, int)
        data_type = DataTypes.INTERVAL(DataTypes.MONTH() if month else DataTypes.SECOND(3))
        span = self._call("times", self.node(count), Literal(one, data_type.not_null()))
        moved = Call(builtin_functions.MOVED, (self.node(time), Symbol(unit)))
        return self._call("plus", moved, span)

    def _json_value(self, expression: exp.Anonymous) -> Node:
        value, path, returning, on_empty, empty, on_error, error = expression.expressions
        data_type: DataType = DataTypes.STRING()
        if isinstance(returning, tree.TypeName):
            data_type = self.type_of(returning)
        return self._call(
            "JSON_VALUE",
            self.node(value),
            self.node(path),
            Symbol(data_type),
            Symbol(JsonValueOnEmptyOrError[on_empty.name]),
            self.node(empty),
            Symbol(JsonValueOnEmptyOrError[on_error.name]),
            self.node(error),
        )

    def _json_query(self, expression: exp.Anonymous) -> Node:
        value, path, returning, wrapper, on_empty, on_error = expression.expressions
        if isinstance(returning, tree.TypeName):
            data_type = self.type_of(returning)
            if data_type.nullable() != DataTypes.STRING():
                self.refuse(returning, f"JSON_QUERY returns STRING here, not {data_type.sql}")
        return self._call(
            "JSON_QUERY",
            self.node(value),
            self.node(path),
            Symbol(DataTypes.STRING()),
            Symbol(JsonQueryWrapper[wrapper.name]),
            Symbol(JsonQueryOnEmptyOrError[on_empty.name]),
            Symbol(JsonQueryOnEmptyOrError[on_error.name]),
        )

    def _json_exists(self, expression: exp.Anonymous) -> Node:
        value, path, on_error = expression.expressions
        behaviour = Symbol(JsonExistsOnError[on_error.name])
        return self._call("JSON_EXISTS", self.node(value), self.node(path), behaviour)

    def _json_made(self, expression: exp.Anonymous) -> Node:
        on_null, *arguments = expression.expressions
        behaviour = Symbol(JsonOnNull[on_null.name])
        return self._call(expression.name.upper(), behaviour, *map(self.node, arguments))

    def _json_aggregated(self, expression: exp.Anonymous) -> Node:
        on_null, *arguments = expression.expressions
        name = f"{expression.name.upper()}_{on_null.name}_ON_NULL"
        return self._call(name, *map(self.node, arguments))

    def _conditional(self, expression: exp.Anonymous) -> Node:
        if len(expression.expressions) != 3:
            self.refuse(expression, "IF takes a condition and two values")
        return self._call("ifThenElse", *map(self.node, expression.expressions))

    def _nullif(self, expression: exp.Anonymous) -> Node:
        if len(expression.expressions) != 2:
            self.refuse(expression, "NULLIF takes two values")
        one, other = map(self.node, expression.expressions)
        nothing = Literal(None, DataTypes.NULL())
        return self._call("ifThenElse", self._call("equals", one, other), nothing, one)


_PARTS = {
    **{part: part for part in ("YEAR", "QUARTER", "MONTH", "WEEK", "HOUR", "MINUTE", "SECOND")},
    "DAYOFMONTH": "DAY",
    "DAYOFYEAR": "DOY",
    "DAYOFWEEK": "DOW",
}

_SPECIAL: dict[str, Any] = {
    "GROUPING": Translator._grouping,
    "GROUPING_ID": Translator._grouping,
    "GROUP_ID": Translator._grouping,
    **dict.fromkeys(_PARTS, Translator._part_of_time),
    "TRIM": Translator._trim,
    "EXTRACT": Translator._extract,
    "FLOOR": Translator._rounding,
    "CEIL": Translator._rounding,
    "CEILING": Translator._rounding,
    "TIMESTAMPDIFF": Translator._timestamp_difference,
    "TIMESTAMPADD": Translator._timestamp_sum,
    "IF": Translator._conditional,
    "NULLIF": Translator._nullif,
    "JSON_VALUE": Translator._json_value,
    "JSON_QUERY": Translator._json_query,
    "JSON_EXISTS": Translator._json_exists,
    "JSON_OBJECT": Translator._json_made,
    "JSON_ARRAY": Translator._json_made,
    "JSON_OBJECTAGG": Translator._json_aggregated,
    "JSON_ARRAYAGG": Translator._json_aggregated,
}


def _unit(name: str) -> Symbol:
    """Return the unit of a part of a time; KeyError if there is none."""
    return Symbol(TimeIntervalUnit.__members__.get(name) or _Unit[name])


def path_of(expression: exp.Expr) -> list[str] | None:
    """Return the names of a path of identifiers; None of any other expression."""
    names: list[str] = []
    while isinstance(expression, exp.Dot):
        if not isinstance(expression.expression, exp.Identifier):
            return None
        names.append(expression.expression.name)
        expression = expression.this
    if not isinstance(expression, exp.Column):
        return None
    return [expression.name, *reversed(names)]


def _are_rows(left: exp.Expr, right: exp.Expr) -> bool:
    """Return whether both are written as rows, of as many values."""
    rows = isinstance(left, exp.Tuple) and isinstance(right, exp.Tuple)
    return rows and len(left.expressions) == len(right.expressions) > 0


def _name_of(expression: exp.Expr) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(expression).__name__).upper()


def _literal(value: Any) -> Literal:
    return Literal(value, types.infer(value))


def _string(text: str) -> Literal:
    return _literal(text)


def _number(text: str) -> Literal:
    digits = text.removeprefix("-")
    if "e" in text.lower():
        return _literal(float(text))
    if digits.isdigit() and -(1 << 63) <= int(text) < 1 << 63:
        return _literal(int(text))
    # All digits count that are written, as in Calcite: 0.5 is a DECIMAL(2, 1).
    scale = len(digits.partition(".")[2])
    precision = len(digits.replace(".", ""))
    return Literal(Decimal(text), DataTypes.DECIMAL(precision, scale).not_null())


_DAY_FORM = r"\d{4}-\d{1,2}-\d{1,2}"
_CLOCK_FORM = r"\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?"
_FORMS = {
    "DATE": _DAY_FORM,
    "TIME": _CLOCK_FORM,
    "TIMESTAMP": f"{_DAY_FORM}(?:[ T]{_CLOCK_FORM})?",
}


def _temporal(kind: str, text: str) -> tuple[Any, DataType]:
    # Python's own forms have weeks and parts of times, too.
    if not re.fullmatch(_FORMS.get(kind, ""), text, re.ASCII):
        raise ValueError(text)
    text = re.sub(r"(?<![\d.])(\d)(?!\d)", r"0\1", text)
    if kind == "TIMESTAMP" and ":" not in text:
        text += " 00:00:00"
    if kind == "DATE":
        return datetime.date.fromisoformat(text), DataTypes.DATE()
    fraction = text.partition(".")[2]
    if len(fraction) > 6:
        if fraction[6:].strip("0"):
            raise ValueError(text)
        text, precision = text[: len(text) - len(fraction) + 6], 6
    else:
        precision = len(fraction)
        text += ("" if fraction else ".") + "0" * (6 - len(fraction))
    if kind == "TIME":
        return datetime.time.fromisoformat(text), DataTypes.TIME(precision)
    return datetime.datetime.fromisoformat(text.replace("T", " ")), DataTypes.TIMESTAMP(precision)


def _interval_value(text: str, first: str, last: str) -> int | datetime.timedelta:
    """Return months, or a time, of an interval's text and its units."""
    match = re.fullmatch(r"\s*([+-]?)\s*(.*?)\s*", text)
    assert match is not None
    sign = -1 if match[1] == "-" else 1
    if first in _MONTHS:
        numbers = [int(part) for part in match[2].split("-")]
        if len(numbers) != (1 if first == last else 2):
            raise ValueError(text)
        if len(numbers) == 2 and numbers[1] >= _LIMITS.get(last, 0):
            raise ValueError(text)
        return sign * sum(number * _MONTHS[unit] for number, unit in zip(numbers, (first, last)))
    if first not in _MICROSECONDS:
        raise ValueError(text)
    units = list(_MICROSECONDS)[1:5]
    if first == last:
        return sign * _microseconds(match[2], first)
    span = units[units.index(first) : units.index(last) + 1]
    parts = re.split(r"[ :]+", match[2])
    if len(parts) != len(span):
        raise ValueError(text)
    whole = datetime.timedelta()
    for number, unit in zip(parts, span):
        value = _microseconds(number, unit)
        if unit != first and value >= _LIMITS[unit] * _microseconds("1", unit):
            raise ValueError(text)
        whole += value
    return sign * whole


# What parts of an interval behind the first one are less than.
_LIMITS = {"MONTH": 12, "HOUR": 24, "MINUTE": 60, "SECOND": 60}


def _microseconds(number: str, unit: str) -> datetime.timedelta:
    pattern = r"\d+(\.\d+)?" if unit == "SECOND" else r"\d+"
    if not re.fullmatch(pattern, number):
        raise ValueError(number)
    if unit == "SECOND":
        # Intervals have milliseconds, as in Flink.
        return datetime.timedelta(milliseconds=int(Decimal(number) * 1000))
    return datetime.timedelta(microseconds=int(number) * _MICROSECONDS[unit])
