"""Expressions of SQL as nodes of the Table API, so that both mean the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

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
from pyflow.table.expression import JsonType
from pyflow.table.functions.builtins import built_in
from pyflow.table.relations.filtered_functions import FilteredFunction
from pyflow.table.relations.projection import scope_of
from pyflow.table.sql import builtin_functions, calls, literals, tree
from pyflow.table.sql.names import Rows
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import DataType, RowType
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyflow.table.context import TableContext

_Method = TypeVar("_Method", bound="Callable[[Translator, Any], Node]")

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


class NameNotFound(tree.SqlError):
    """A name that means nothing where it stands."""


_translations: dict[type[exp.Expr], Callable[[Translator, Any], Node]] = {}


def _translates(*kinds: type[exp.Expr]) -> Callable[[_Method], _Method]:
    """Register the method that makes the nodes of expressions of these kinds."""

    def register(method: _Method) -> _Method:
        _translations.update(dict.fromkeys(kinds, method))
        return method

    return register


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
        """Raise an error at the position of a node."""
        tree.refuse(self.text, node, reason)

    @contextmanager
    def at(self, node: exp.Expr) -> Iterator[None]:
        """Give errors of the planner the position of a node."""
        try:
            yield
        except tree.SqlError:
            raise
        except TableException as error:
            raise tree.error_at(self.text, tree.start_of(node), str(error)) from error

    def node(self, expression: exp.Expr) -> Node:
        """Return the node of an expression."""
        translation = _translations.get(type(expression))
        if translation is not None:
            with self.at(expression):
                return translation(self, expression)
        operator = builtin_functions.OPERATORS.get(type(expression))
        if operator is None:
            self.refuse(expression, f"{_name_of(expression)} is not supported here")
        parts = [expression.args.get("this"), expression.args.get("expression")]
        operands = [part for part in parts if isinstance(part, exp.Expr)] or expression.expressions
        return self.call(operator, *map(self.node, operands))

    def call(self, name: str, *arguments: Node) -> Node:
        """Return the call of a built-in function, by its name in SQL or in the Table API."""
        return Call(builtin_functions.OF_SQL.get(name) or built_in(name), tuple(arguments))

    # Names

    @_translates(exp.Column, exp.Dot)
    def _path(self, expression: exp.Expr) -> Node:
        parts = path_of(expression)
        if parts is None:
            if expression.expression.is_star:
                self.refuse(expression, "'.*' is not supported here")
            inner = self.node(expression.this)
            return self.call("get", inner, literals.literal(expression.expression.name))
        found, used = self.rows.resolve(parts)
        if not found:
            error = tree.error_at(self.text, tree.start_of(expression), self.rows.missing(parts))
            raise NameNotFound(str(error))
        if len(found) > 1:
            self.refuse(expression, f"Column '{'.'.join(parts[:used])}' is ambiguous")
        node: Node = Field(found[0])
        for part in parts[used:]:
            node = self.call("get", node, literals.literal(part))
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
        return [(name, self.call("get", row, literals.literal(name))) for name in names]

    @_translates(exp.Bracket)
    def _bracket(self, expression: exp.Bracket) -> Node:
        return self.call("at", self.node(expression.this), self.node(expression.expressions[0]))

    @_translates(exp.Paren)
    def _paren(self, expression: exp.Paren) -> Node:
        return self.node(expression.this)

    # Literals

    @_translates(exp.Literal)
    def _literal(self, expression: exp.Literal) -> Node:
        made = literals.literal if expression.is_string else literals.number
        return made(expression.name)

    @_translates(exp.Neg)
    def _neg(self, expression: exp.Neg) -> Node:
        operand = expression.this
        if isinstance(operand, exp.Literal) and not operand.is_string:
            return literals.number("-" + operand.name)
        return self.call("minusPrefix", self.node(operand))

    @_translates(exp.HexString)
    def _hexstring(self, expression: exp.HexString) -> Node:
        return literals.literal(bytes.fromhex(expression.name))

    @_translates(exp.Null)
    def _null(self, expression: exp.Null) -> Node:
        return Literal(None, DataTypes.NULL())

    @_translates(exp.Boolean)
    def _boolean(self, expression: exp.Boolean) -> Node:
        return literals.literal(expression.this)

    @_translates(tree.Temporal)
    def _temporal(self, expression: tree.Temporal) -> Node:
        kind, text = expression.args["kind"].name, expression.this.name
        try:
            value, data_type = literals.temporal(kind, text.strip())
        except ValueError:
            self.refuse(expression, f"'{text}' is no {kind}")
        return Literal(value, data_type.not_null())

    @_translates(exp.Overlaps)
    def _overlaps(self, expression: exp.Overlaps) -> Node:
        periods = [*expression.this.expressions, *expression.expression.expressions]
        return self.call("temporalOverlaps", *map(self.node, periods))

    @_translates(exp.Interval)
    def _interval(self, expression: exp.Interval) -> Node:
        units = expression.args["unit"]
        first = units.this.name
        last = units.args["to"].name if units.args.get("to") else first
        try:
            value = literals.interval(expression.this.name, first, last)
        except ValueError:
            span = first if first == last else f"{first} TO {last}"
            self.refuse(expression, f"'{expression.this.name}' is no interval of {span}")
        if isinstance(value, int):
            return Literal(value, DataTypes.INTERVAL(DataTypes.MONTH()).not_null())
        return Literal(value, DataTypes.INTERVAL(DataTypes.SECOND(3)).not_null())

    @_translates(tree.NotSupported)
    def _notsupported(self, expression: tree.NotSupported) -> Node:
        self.refuse(expression, f"{expression.this} is not supported")

    # Operators with more than operands

    @_translates(exp.Is)
    def _is(self, expression: exp.Is) -> Node:
        return self.call(
            builtin_functions.IS[expression.expression.name], self.node(expression.this)
        )

    @_translates(exp.Not)
    def _not(self, expression: exp.Not) -> Node:
        inner = expression.this
        if isinstance(inner, exp.Is):
            name = {"TRUE": "isNotTrue", "FALSE": "isNotFalse"}.get(
                inner.expression.name, "isNotNull"
            )
            return self.call(name, self.node(inner.this))
        if isinstance(inner, exp.Between) and not inner.args.get("symmetric"):
            return self.call("notBetween", *self._bounds(inner))
        return self.call("not", self.node(inner))

    def _equal(self, left: exp.Expr, right: exp.Expr) -> Node:
        """Return whether values are equal, of rows each: a null in one leaves it open.

        Rows in rows are equal or not, as in Flink.
        """
        rows = _are_rows(left, right)
        pairs = zip(left.expressions, right.expressions) if rows else [(left, right)]
        conditions = [self.call("equals", self.node(one), self.node(other)) for one, other in pairs]
        return self._tied("and", conditions)

    def _tied(self, operator: str, conditions: Sequence[Node]) -> Node:
        return reduce(lambda one, other: self.call(operator, one, other), conditions)

    @_translates(exp.NullSafeEQ)
    def _nullsafeeq(self, expression: exp.NullSafeEQ) -> Node:
        return self.call("not", self._differs(expression))

    @_translates(exp.NullSafeNEQ)
    def _nullsafeneq(self, expression: exp.NullSafeNEQ) -> Node:
        return self._differs(expression)

    def _differs(self, expression: exp.Expr) -> Node:
        operands = (self.node(expression.this), self.node(expression.expression))
        return Call(builtin_functions.IS_DISTINCT_FROM, operands)

    def _bounds(self, expression: exp.Between) -> list[Node]:
        return [self.node(expression.args[key]) for key in ("this", "low", "high")]

    @_translates(exp.Between)
    def _between(self, expression: exp.Between) -> Node:
        value, low, high = self._bounds(expression)
        between = self.call("between", value, low, high)
        if expression.args.get("symmetric"):
            return self.call("or", between, self.call("between", value, high, low))
        return between

    @_translates(exp.Escape)
    def _escape(self, expression: exp.Escape) -> Node:
        like = expression.this
        name = "LIKE" if isinstance(like, exp.Like) else "similar"
        return self.call(
            name, self.node(like.this), self.node(like.expression), self.node(expression.expression)
        )

    @_translates(exp.In)
    def _in(self, expression: exp.In) -> Node:
        if expression.args.get("query") is not None:
            return self._subquery(expression)
        value, others = expression.this, expression.expressions
        if all(_are_rows(value, other) for other in others):
            return self._tied("or", [self._equal(value, other) for other in others])
        return self.call("in", self.node(value), *map(self.node, others))

    @_translates(exp.Exists, exp.Subquery, tree.Quantified)
    def _subquery(self, expression: exp.Expr) -> Node:
        known = self.subqueries.get(id(expression))
        if known is None:
            self.refuse(expression, "a query is not supported as a value here")
        return known

    @_translates(tree.IsJson)
    def _isjson(self, expression: tree.IsJson) -> Node:
        kind = Symbol(JsonType[expression.args["kind"].name])
        return self.call("IS_JSON", self.node(expression.this), kind)

    @_translates(exp.Case)
    def _case(self, expression: exp.Case) -> Node:
        operand, default = expression.this, expression.args.get("default")
        arguments: list[Node] = []
        for branch in expression.args["ifs"]:
            condition = self.node(branch.this)
            if operand is not None:
                condition = self.call("equals", self.node(operand), condition)
            arguments += [condition, self.node(branch.args["true"])]
        arguments.append(Literal(None, DataTypes.NULL()) if default is None else self.node(default))
        return Call(builtin_functions.CASE, tuple(arguments))

    @_translates(exp.Cast)
    def _cast(self, expression: exp.Cast) -> Node:
        target = self.type_of(expression.args["to"])
        if isinstance(target, INTERVALS):
            return Call(builtin_functions.AS_INTERVAL, (self.node(expression.this), Symbol(target)))
        return Cast(self.node(expression.this), target, False)

    @_translates(exp.TryCast)
    def _trycast(self, expression: exp.TryCast) -> Node:
        return Cast(self.node(expression.this), self.type_of(expression.args["to"]), True)

    def type_of(self, name: exp.Expr) -> DataType:
        """Return the data type of a name."""
        with self.at(name):
            return types.parse(name.this, in_sql=True)

    # Functions

    @_translates(exp.Anonymous)
    def _anonymous(self, expression: exp.Anonymous) -> Node:
        name = expression.name
        window = self._group_window(expression)
        if window is not None:
            return window
        wrapper = self.context.function(name)
        if wrapper is not None:
            return self._user_function(expression, wrapper)
        translation = calls.TRANSLATIONS.get(name.upper())
        if translation is not None:
            return translation(self, expression)
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

    @_translates(exp.Var)
    def _var(self, expression: exp.Var) -> Node:
        return Symbol(expression.name)

    @_translates(exp.Star)
    def _star(self, expression: exp.Star) -> Node:
        # COUNT(*)
        return literals.literal(1)

    @_translates(tree.TypeName)
    def _typename(self, expression: tree.TypeName) -> Node:
        return Symbol(self.type_of(expression))

    @_translates(exp.Filter)
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
            first, *rest = inner.arguments or (literals.literal(1),)
            kept = self.call("ifThenElse", condition, first, nothing)
            filtered = Call(inner.function, (kept, *rest))
        else:
            self.refuse(expression, "FILTER is not supported for this function")
        return Distinct(filtered) if isinstance(aggregate, Distinct) else filtered

    @_translates(exp.WithinGroup)
    def _withingroup(self, expression: exp.WithinGroup) -> Node:
        self.refuse(expression, "WITHIN GROUP is not supported")

    @_translates(exp.IgnoreNulls)
    def _ignorenulls(self, expression: exp.IgnoreNulls) -> Node:
        call = expression.this
        if isinstance(call, exp.Anonymous) and call.name.upper() in ("FIRST_VALUE", "LAST_VALUE"):
            return self.node(call)
        return self.refuse(
            expression, "IGNORE NULLS is supported for FIRST_VALUE and LAST_VALUE only"
        )

    @_translates(exp.RespectNulls)
    def _respectnulls(self, expression: exp.RespectNulls) -> Node:
        self.refuse(expression, "RESPECT NULLS is not supported")

    @_translates(exp.Window)
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
