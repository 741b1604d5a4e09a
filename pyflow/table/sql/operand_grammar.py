"""Operands of expressions: literals, columns, calls, windows, and what is in parentheses."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from pyflow.table.sql import tree
from pyflow.table.sql.call_grammar import SPECIAL, CallGrammar
from pyflow.table.sql.grammar import RESERVED
from pyflow.util.exceptions import TableException

__all__ = ["SUM", "OperandGrammar"]

# Of the reserved words, a function may have the name.
_FUNCTION_WORDS = frozenset({"GROUPING", "LEFT", "RIGHT"})

_QUERY_WORDS = ("SELECT", "WITH", "VALUES")

_NO_PARENTHESES = frozenset(
    [
        "CURRENT_DATE",
        "CURRENT_TIME",
        "CURRENT_TIMESTAMP",
        "LOCALTIME",
        "LOCALTIMESTAMP",
        "CURRENT_ROW_TIMESTAMP",
        "CURRENT_USER",
        "CURRENT_CATALOG",
        "CURRENT_DATABASE",
    ]
)

_TIME_LITERALS = frozenset({"DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ"})

#: The precedence of sums, which may be a bound of a window.
SUM = 40


class OperandGrammar(CallGrammar):
    """Operands, from which ExpressionGrammar makes expressions."""

    @abstractmethod
    def query(self) -> exp.Expr:
        """Take a query (of QueryGrammar)."""

    def query_ahead(self) -> bool:
        """Return whether a query comes next."""
        return any(self.ahead(word) for word in _QUERY_WORDS)

    def primary(self) -> exp.Expr:
        """Take a literal, column, call or whatever is in parentheses."""
        token = self._curr
        literal = self._literal()
        if literal is not None:
            return literal
        if token.token_type == TokenType.L_PAREN:
            return self._parenthesis()
        if token.token_type == TokenType.IDENTIFIER:
            return self._column_or_call()
        if token.token_type != TokenType.VAR:
            self.expected("an expression")
        word = token.text.upper()
        special = SPECIAL.get(word)
        if special is not None and self._next.token_type == TokenType.L_PAREN:
            self._advance(2)
            call = special(self, word)
            self.closing("',' or ')'" if isinstance(call, exp.Anonymous) else "')'")
            return self._call_suffix(tree.at(call, token))
        opener = _OPENERS.get(word)
        if opener is not None:
            result = opener(self)
            if result is not None:
                return tree.at(result, token)
        if word in _NO_PARENTHESES and self._next.token_type != TokenType.L_PAREN:
            self._advance()
            return tree.at(exp.Anonymous(this=word, expressions=[]), token)
        if word in RESERVED and not (
            word in _FUNCTION_WORDS and self._next.token_type == TokenType.L_PAREN
        ):
            self.expected("an expression")
        return self._column_or_call()

    def _literal(self) -> exp.Expr | None:
        token = self._curr
        string = self.string_ahead()
        if string is not None:
            return string
        if token.token_type == TokenType.NUMBER:
            self._advance()
            return tree.at(exp.Literal.number(token.text), token)
        if token.token_type == TokenType.DOT and self._next.token_type == TokenType.NUMBER:
            self._advance(2)
            return tree.at(exp.Literal.number("." + self._prev.text), token)
        if token.token_type == TokenType.HEX_STRING:
            self._advance()
            if len(token.text) % 2:
                raise tree.error_at(
                    self.sql, token.start, "an even number of hexadecimal digits expected"
                )
            return tree.at(exp.HexString(this=token.text), token)
        return None

    def _parenthesis(self) -> exp.Expr:
        opening = self.opening()
        if self.query_ahead() or self._curr.token_type == TokenType.L_PAREN:
            start = self._index
            query = self._nested_query()
            if query is not None:
                return tree.at(exp.Subquery(this=query), opening)
            self._retreat(start)
        values = self.listed(self.condition)
        self.closing("',' or ')'")
        if len(values) > 1:
            return tree.at(exp.Tuple(expressions=values), opening)
        return tree.at(exp.Paren(this=values[0]), opening)

    def _nested_query(self) -> exp.Expr | None:
        # '((' begins a query if a query's word follows the last of the parentheses, and if what
        # follows the inner parenthesis does not make it an operand: ((SELECT 1) + 2).
        first = index = self._index
        while self._tokens[index].token_type == TokenType.L_PAREN and index + 1 < len(self._tokens):
            index += 1
        if self._tokens[index].text.upper() not in _QUERY_WORDS:
            return None
        try:
            query = self.query()
            self.closing()
        except TableException:
            if index == first:
                raise
            return None
        return query

    def _column_or_call(self) -> exp.Expr:
        first = self._curr
        self._advance()
        parts = [tree.at(exp.Identifier(this=first.text, quoted=False), first)]
        while self._curr.token_type == TokenType.DOT and self._next.token_type in (
            TokenType.VAR,
            TokenType.IDENTIFIER,
        ):
            self._advance()
            parts.append(self.name())
        if self._curr.token_type == TokenType.L_PAREN:
            return self.call(parts, first)
        node: exp.Expr = tree.at(exp.Column(this=parts[0]), first)
        for part in parts[1:]:
            node = exp.Dot(this=node, expression=part)
        return tree.at(node, first, self._prev)

    def call(self, parts: list[exp.Identifier], first: Token) -> exp.Expr:
        """Take the arguments of a function and what may follow them."""
        self.opening()
        arguments: list[exp.Expr] = []
        distinct = False
        if self.sign(TokenType.STAR):
            arguments.append(tree.at(exp.Star(), self._prev))
        elif self._curr.token_type != TokenType.R_PAREN:
            distinct = self.take("DISTINCT")
            if not distinct:
                self.take("ALL")
            arguments = self.listed(self.argument)
        if distinct:
            arguments = [tree.at(exp.Distinct(expressions=arguments), self._prev)]
        self.closing("',' or ')'")
        name = ".".join(part.name for part in parts)
        call = exp.Anonymous(this=name, expressions=arguments)
        return self._call_suffix(tree.at(call, first, self._prev))

    def argument(self) -> exp.Expr:
        """Take an argument, with or without a name."""
        if self.name_ahead() and self._next.token_type == TokenType.FARROW:
            name = self.name()
            self._advance()
            return exp.Kwarg(this=name, expression=self.argument())
        if self.query_ahead():
            return self.query()
        return self.condition()

    def _call_suffix(self, call: exp.Expr) -> exp.Expr:
        if self.take("WITHIN", "GROUP"):
            order = self.in_parentheses_order()
            call = exp.WithinGroup(this=call, expression=order)
        for word, kind in (("RESPECT", exp.RespectNulls), ("IGNORE", exp.IgnoreNulls)):
            if self.take(word, "NULLS"):
                call = kind(this=call)
        if self.take("FILTER"):
            self.opening()
            self.require("WHERE")
            call = exp.Filter(this=call, expression=exp.Where(this=self.condition()))
            self.closing()
        if self.take("OVER"):
            if self._curr.token_type == TokenType.L_PAREN:
                window = self.window_specification()
                window.set("this", call)
                return window
            name = self.name("'(' or the name of a window")
            return exp.Window(this=call, alias=name, over="OVER")
        return call

    def in_parentheses_order(self) -> exp.Order:
        """Take ORDER BY in parentheses."""
        self.opening()
        order = self.order()
        if order is None:
            self.expected("'ORDER BY'")
        self.closing()
        return order

    def order(self) -> exp.Order | None:
        """Take ORDER BY if it comes next."""
        first = self._curr
        if not self.take("ORDER"):
            return None
        self.require("BY")
        return tree.at(exp.Order(expressions=self.listed(self.ordered)), first)

    def ordered(self) -> exp.Ordered:
        """Take an expression and its direction."""
        this = self.condition()
        descending = self.take("DESC")
        if not descending:
            self.take("ASC")
        nulls: bool | None = None
        if self.take("NULLS"):
            nulls = self.one_of(("FIRST", "LAST")) == "FIRST"
        return exp.Ordered(this=this, desc=descending, nulls_first=nulls)

    def window_specification(self) -> exp.Window:
        """Take what a window is, in parentheses."""
        opening = self.opening()
        base = None
        if self.name_ahead() and not self.ahead("RANGE"):
            base = self.name()
        partitions = None
        if self.take("PARTITION"):
            self.require("BY")
            partitions = self.listed(self.condition)
        order = self.order()
        frame = None
        if self.ahead("ROWS") or self.ahead("RANGE"):
            frame = self._frame()
        self.closing("PARTITION BY, ORDER BY, ROWS, RANGE or ')'")
        window = exp.Window(
            this=exp.Null(),
            partition_by=partitions,
            order=order,
            spec=frame,
            alias=base,
            over="OVER",
        )
        return tree.at(window, opening, self._prev)

    def _frame(self) -> exp.WindowSpec:
        self._advance()
        kind = self._prev
        end: str | exp.Expr = "CURRENT ROW"
        end_side = None
        between = self.take("BETWEEN")
        start, start_side = self._bound()
        if between:
            self.require("AND")
            end, end_side = self._bound()
        return tree.at(
            exp.WindowSpec(
                kind=kind.text.upper(),
                start=start,
                start_side=start_side,
                end=end,
                end_side=end_side,
            ),
            kind,
        )

    def _bound(self) -> tuple[str | exp.Expr, str | None]:
        if self.take("CURRENT", "ROW"):
            return "CURRENT ROW", None
        value = "UNBOUNDED" if self.take("UNBOUNDED") else self.operation(SUM)
        return value, self.one_of(("PRECEDING", "FOLLOWING"))

    def temporal(self) -> exp.Expr | None:
        """Take a literal like DATE '2020-01-01'; the word alone is a name."""
        kind = self._curr.text.upper()
        if self._next.token_type != TokenType.STRING:
            return None
        self._advance()
        return tree.Temporal(this=self.string(), kind=exp.var(kind))

    def case(self) -> exp.Expr:
        """Take CASE ... END."""
        self.require("CASE")
        operand = None if self.ahead("WHEN") else self.condition()
        branches = []
        while self.take("WHEN"):
            values = [self.condition()]
            if operand is not None:
                while self.sign(TokenType.COMMA):
                    values.append(self.condition())
            self.require("THEN")
            result = self.condition()
            branches += [exp.If(this=value, true=result) for value in values]
        if not branches:
            self.expected("'WHEN'")
        default = self.condition() if self.take("ELSE") else None
        if not self.take("END"):
            self.expected("WHEN, ELSE or END" if default is None else "'END'")
        return exp.Case(this=operand, ifs=branches, default=default)

    def constructor(self) -> exp.Expr | None:
        """Take ARRAY[...] or MAP[...]; the words alone are names."""
        word = self._curr.text.upper()
        if self._next.token_type == TokenType.L_PAREN and word == "ARRAY":
            self._advance(2)
            query = self.query()
            self.closing()
            return (
                tree.at(tree.NotSupported(this="ARRAY of a query"), self._prev) if query else None
            )
        if self._next.token_type != TokenType.L_BRACKET:
            return None
        self._advance(2)
        values: list[exp.Expr] = []
        if self._curr.token_type != TokenType.R_BRACKET:
            values = self.listed(self.condition)
        if not self.sign(TokenType.R_BRACKET):
            self.expected("',' or ']'")
        if word == "MULTISET":
            return tree.NotSupported(this="MULTISET[...]")
        return (
            exp.Array(expressions=values) if word == "ARRAY" else tree.MapValue(expressions=values)
        )

    def interval(self) -> exp.Expr:
        """Take an interval: of a string, a whole number, a column, or what is in parentheses."""
        self.require("INTERVAL")
        is_negative = self.sign(TokenType.DASH)
        if not is_negative:
            self.sign(TokenType.PLUS)
        token = self._curr
        text = self.string_ahead()
        if text is None and token.token_type == TokenType.NUMBER:
            number = self.number()
            text = tree.at(exp.Literal.string(number.name), token)
            units = self.units(has_range=False)
        elif text is None:
            value = self._interval_value()
            one = exp.Interval(this=exp.Literal.string("1"), unit=self.units(has_range=False))
            return exp.Mul(this=exp.Neg(this=value) if is_negative else value, expression=one)
        else:
            units = self.units(has_range=True)
        if is_negative:
            text = exp.Literal.string(f"-{text.name}")
        return exp.Interval(this=text, unit=units)

    def _interval_value(self) -> exp.Expr:
        if self._curr.token_type == TokenType.L_PAREN:
            return self._parenthesis()
        if not self.name_ahead():
            self.expected("the interval's value: a string, a whole number, a column or '('")
        return self._column_or_call()

    def row(self) -> exp.Expr:
        """Take ROW(...)."""
        self.require("ROW")
        return exp.Tuple(expressions=self.in_parentheses(self.condition))

    def exists(self) -> exp.Expr:
        """Take EXISTS (query)."""
        self.require("EXISTS")
        self.opening()
        query = self.query()
        self.closing()
        return exp.Exists(this=query)


def _boolean(value: bool) -> Callable[[OperandGrammar], exp.Expr]:
    def take(grammar: OperandGrammar) -> exp.Expr:
        grammar._advance()
        return exp.Boolean(this=value)

    return take


def _null(grammar: OperandGrammar) -> exp.Expr:
    grammar._advance()
    return exp.Null()


_OPENERS: dict[str, Callable[[OperandGrammar], exp.Expr | None]] = {
    "TRUE": _boolean(True),
    "FALSE": _boolean(False),
    "NULL": _null,
    "UNKNOWN": _null,
    "INTERVAL": OperandGrammar.interval,
    "CASE": OperandGrammar.case,
    "EXISTS": OperandGrammar.exists,
    "ROW": OperandGrammar.row,
    "ARRAY": OperandGrammar.constructor,
    "MAP": OperandGrammar.constructor,
    "MULTISET": OperandGrammar.constructor,
    **dict.fromkeys(_TIME_LITERALS, OperandGrammar.temporal),
}
