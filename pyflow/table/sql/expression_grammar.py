"""Expressions and data types as Calcite, the parser of Flink, reads them.

The grammar is ours, not sqlglot's, which accepts what any of some thirty dialects has and leaves
out missing operands. Here a word means something only where Flink's grammar gives it a meaning, and
what was expected is known where the text goes another way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NoReturn, TypeVar

from sqlglot import exp, parser
from sqlglot.tokenizer_core import Token, TokenType

from pyflow.table.sql import tree
from pyflow.util.exceptions import TableException

Result = TypeVar("Result")

# Words that end an expression or an alias. They are names only between backticks. Flink reserves
# more; it does no harm to take those as names.
RESERVED = frozenset(
    [
        "ALL",
        "ALTER",
        "AND",
        "ANY",
        "ARRAY",
        "AS",
        "BETWEEN",
        "BY",
        "CASE",
        "CAST",
        "CONSTRAINT",
        "CREATE",
        "CROSS",
        "CUBE",
        "DEFINE",
        "DESCRIBE",
        "DISTINCT",
        "DROP",
        "ELSE",
        "END",
        "ESCAPE",
        "EXCEPT",
        "EXISTS",
        "EXPLAIN",
        "EXTRACT",
        "FALSE",
        "FETCH",
        "FILTER",
        "FOR",
        "FROM",
        "FULL",
        "GROUP",
        "GROUPING",
        "HAVING",
        "IN",
        "INNER",
        "INSERT",
        "INTERSECT",
        "INTERVAL",
        "INTO",
        "IS",
        "JOIN",
        "LATERAL",
        "LEFT",
        "LIKE",
        "LIMIT",
        "MATCH_RECOGNIZE",
        "MERGE",
        "MINUS",
        "NATURAL",
        "NOT",
        "NULL",
        "OFFSET",
        "ON",
        "OR",
        "ORDER",
        "OUTER",
        "OVER",
        "PARTITION",
        "PRIMARY",
        "QUALIFY",
        "RIGHT",
        "ROLLUP",
        "ROW",
        "ROWS",
        "SELECT",
        "SIMILAR",
        "SOME",
        "TABLE",
        "TABLESAMPLE",
        "THEN",
        "TO",
        "TRUE",
        "UNION",
        "UNIQUE",
        "UNKNOWN",
        "UNNEST",
        "UPDATE",
        "USING",
        "VALUES",
        "WHEN",
        "WHERE",
        "WINDOW",
        "WITH",
        "WITHIN",
    ]
)

# Of these, a function may have the name.
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

_UNITS = {
    unit + plural: unit
    for unit in [
        "MILLENNIUM",
        "CENTURY",
        "DECADE",
        "YEAR",
        "QUARTER",
        "MONTH",
        "WEEK",
        "DAY",
        "HOUR",
        "MINUTE",
        "SECOND",
        "MILLISECOND",
        "MICROSECOND",
        "NANOSECOND",
        "EPOCH",
        "DOW",
        "ISODOW",
        "DOY",
        "ISOYEAR",
    ]
    for plural in ("", "S")
}
_UNITS.update({f"SQL_TSI_{unit}": unit for unit in set(_UNITS.values())})
_TIME_LITERALS = frozenset({"DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ"})

_OR, _AND, _NOT, _POSTFIX, _COMPARISON, _RANGE, _SUM, _PRODUCT = 22, 24, 26, 28, 30, 32, 40, 60

_BINARY: dict[TokenType, tuple[int, type[exp.Expr]]] = {
    TokenType.EQ: (_COMPARISON, exp.EQ),
    TokenType.NEQ: (_COMPARISON, exp.NEQ),
    TokenType.LT: (_COMPARISON, exp.LT),
    TokenType.LTE: (_COMPARISON, exp.LTE),
    TokenType.GT: (_COMPARISON, exp.GT),
    TokenType.GTE: (_COMPARISON, exp.GTE),
    TokenType.PLUS: (_SUM, exp.Add),
    TokenType.DASH: (_SUM, exp.Sub),
    TokenType.STAR: (_PRODUCT, exp.Mul),
    TokenType.SLASH: (_PRODUCT, exp.Div),
    TokenType.MOD: (_PRODUCT, exp.Mod),
    TokenType.DPIPE: (_PRODUCT, exp.DPipe),
}


class Grammar(parser.Parser):
    """What all parts of the grammar use: words, names, lists, errors."""

    def expected(self, what: str) -> NoReturn:
        """Raise an error that names what was expected and what is there instead."""
        found = f"'{self._curr.text}'" if self._curr else "the end of the statement"
        start = self._curr.start if self._curr else len(self.sql.rstrip())
        raise tree.error_at(self.sql, start, f"{what} expected, found {found}")

    def ahead(self, *words: str) -> bool:
        """Whether the next tokens are these words."""
        return bool(self._match_text_seq(*words, advance=False))

    def take(self, *words: str) -> bool:
        """Take these words if they come next."""
        return bool(self._match_text_seq(*words))

    def require(self, *words: str) -> None:
        """Take these words, or raise what was expected."""
        for word in words:
            if not self.take(word):
                self.expected(f"'{word}'")

    def one_of(self, words: Iterable[str], what: str = "") -> str:
        """Take one of the words."""
        if self._curr.token_type == TokenType.VAR and self._curr.text.upper() in words:
            self._advance()
            return self._prev.text.upper()
        return self.expected(what or " or ".join(f"'{word}'" for word in words))

    def sign(self, token: TokenType) -> bool:
        """Take a sign if it comes next."""
        return bool(self._match(token))

    def opening(self) -> Token:
        """Take an opening parenthesis."""
        if not self._match(TokenType.L_PAREN):
            self.expected("'('")
        return self._prev

    def closing(self, what: str = "')'") -> Token:
        """Take a closing parenthesis."""
        if not self._match(TokenType.R_PAREN):
            self.expected(what)
        return self._prev

    def listed(self, parse: Callable[[], Result]) -> list[Result]:
        """One or more, separated by commas."""
        found = [parse()]
        while self._match(TokenType.COMMA):
            found.append(parse())
        return found

    def in_parentheses(self, parse: Callable[[], Result]) -> list[Result]:
        """One or more in parentheses, separated by commas."""
        self.opening()
        found = self.listed(parse)
        self.closing("',' or ')'")
        return found

    def name_ahead(self) -> bool:
        """Whether a name comes next."""
        token = self._curr
        return token.token_type == TokenType.IDENTIFIER or (
            token.token_type == TokenType.VAR and token.text.upper() not in RESERVED
        )

    def name(self, what: str = "a name") -> exp.Identifier:
        """Take a name."""
        if not self.name_ahead():
            self.expected(what)
        self._advance()
        return tree.at(exp.Identifier(this=self._prev.text, quoted=False), self._prev)

    def word(self, what: str) -> str:
        """Take a word that is not between backticks."""
        if self._curr.token_type != TokenType.VAR:
            self.expected(what)
        self._advance()
        return self._prev.text

    def path(self, what: str) -> exp.Table:
        """Take a name of up to three parts."""
        first = self._curr
        parts = [self.name(what)]
        while self._match(TokenType.DOT):
            parts.append(self.name())
        if len(parts) > 3:
            raise tree.error_at(
                self.sql, first.start, "a name has at most three parts: catalog.database.name"
            )
        keys = ("this", "db", "catalog")
        return tree.at(exp.Table(**dict(zip(keys, reversed(parts)))), first, self._prev)

    def string(self, what: str = "a string in single quotes") -> exp.Literal:
        """Take a string."""
        literal = self.string_ahead()
        return literal if literal is not None else self.expected(what)

    def string_ahead(self) -> exp.Literal | None:
        """Take a string if one comes next, in any of its forms."""
        token = self._curr
        if token.token_type in (TokenType.STRING, TokenType.NATIONAL_STRING):
            self._advance()
            return tree.at(exp.Literal.string(token.text), token)
        if token.token_type == TokenType.UNICODE_STRING:
            self._advance()
            escape = self.string().name if self.take("UESCAPE") else "\\"
            return tree.at(exp.Literal.string(self._unescape(token, escape)), token)
        if (
            token.token_type == TokenType.VAR
            and token.text.startswith("_")
            and self._next.token_type == TokenType.STRING
            and self._next.start == token.end + 1
        ):
            self._advance(2)
            return tree.at(exp.Literal.string(self._prev.text), token, self._prev)
        return None

    def _unescape(self, token: Token, escape: str) -> str:
        result, rest = "", token.text
        while escape in rest:
            before, _, rest = rest.partition(escape)
            result += before
            if rest.startswith(escape):
                result, rest = result + escape, rest[1:]
                continue
            try:
                result, rest = result + chr(int(rest[:4].ljust(4, "?"), 16)), rest[4:]
            except ValueError:
                raise tree.error_at(
                    self.sql, token.start, f"four hexadecimal digits expected after '{escape}'"
                ) from None
        return result + rest

    def number(self) -> exp.Literal:
        """Take a whole number."""
        if self._curr.token_type != TokenType.NUMBER or not self._curr.text.isdigit():
            self.expected("a whole number")
        self._advance()
        return tree.at(exp.Literal(this=self._prev.text, is_string=False), self._prev)

    def between_parentheses(self) -> None:
        """Skip what is in parentheses, whatever it is."""
        self.opening()
        depth = 1
        while depth:
            if not self._curr:
                self.expected("')'")
            self._advance()
            depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(self._prev.token_type, 0)


class ExpressionGrammar(Grammar):
    """Expressions by the precedence of their operators, highest last: OR, AND, NOT, ..."""

    def query(self) -> exp.Expr:
        """Take a query (of QueryGrammar)."""
        raise NotImplementedError

    def query_ahead(self) -> bool:
        """Whether a query comes next."""
        return any(self.ahead(word) for word in _QUERY_WORDS)

    # Operators

    def condition(self) -> exp.Expr:
        """Take an expression of any kind."""
        return self.operation(0)

    def operation(self, least: int) -> exp.Expr:
        """Take operands as long as their operators bind at least this tight."""
        first = self._curr
        if self.take("NOT"):
            left: exp.Expr = tree.at(exp.Not(this=self.operation(_NOT)), first)
        else:
            left = self.unary()
        while True:
            further = self._further(left, least)
            if further is None:
                return left
            left = further

    def _further(self, left: exp.Expr, least: int) -> exp.Expr | None:
        binary = _BINARY.get(self._curr.token_type)
        if binary is not None:
            precedence, kind = binary
            if precedence < least:
                return None
            operator = self._curr
            self._advance()
            right = self.operation(precedence + 1)
            return tree.at(kind(this=left, expression=right), operator)
        for word, precedence, kind in (("OR", _OR, exp.Or), ("AND", _AND, exp.And)):
            if precedence >= least and self.take(word):
                operator = self._prev
                return tree.at(kind(this=left, expression=self.operation(precedence + 1)), operator)
        if least <= _POSTFIX and self.ahead("IS"):
            return self._is(left)
        if least <= _COMPARISON and (
            self.ahead("IS", "DISTINCT") or self.ahead("IS", "NOT", "DISTINCT")
        ):
            return self._is(left)
        return self._range(left) if least <= _RANGE else None

    def _is(self, left: exp.Expr) -> exp.Expr:
        operator = self._curr
        self.require("IS")
        negated = self.take("NOT")
        result: exp.Expr
        if self.take("DISTINCT"):
            self.require("FROM")
            kind = exp.NullSafeEQ if negated else exp.NullSafeNEQ
            return tree.at(kind(this=left, expression=self.operation(_COMPARISON + 1)), operator)
        if self.take("JSON"):
            what = "VALUE"
            if any(self.ahead(word) for word in ("VALUE", "SCALAR", "ARRAY", "OBJECT")):
                self._advance()
                what = self._prev.text.upper()
            result = tree.IsJson(this=left, kind=exp.var(what))
        else:
            word = self.one_of(
                ("NULL", "TRUE", "FALSE", "UNKNOWN"),
                "NULL, TRUE, FALSE, UNKNOWN, JSON or DISTINCT FROM",
            )
            result = exp.Is(this=left, expression=exp.var(word))
        return tree.at(exp.Not(this=tree.at(result, operator)) if negated else result, operator)

    def _range(self, left: exp.Expr) -> exp.Expr | None:
        operator = self._curr
        result: exp.Expr
        words = ("BETWEEN", "IN", "LIKE", "SIMILAR")
        negated = any(self.ahead("NOT", word) for word in words) and self.take("NOT")
        if self.take("BETWEEN"):
            symmetric = self.take("SYMMETRIC")
            if not symmetric:
                self.take("ASYMMETRIC")
            low = self.operation(_RANGE + 1)
            self.require("AND")
            high = self.operation(_RANGE + 1)
            result = exp.Between(this=left, low=low, high=high, symmetric=symmetric or None)
        elif self.take("IN"):
            result = self._in(left)
        elif self.take("LIKE"):
            result = self._escape(exp.Like(this=left, expression=self.operation(_RANGE + 1)))
        elif self.take("SIMILAR"):
            self.require("TO")
            result = self._escape(exp.SimilarTo(this=left, expression=self.operation(_RANGE + 1)))
        else:
            return None
        return tree.at(exp.Not(this=tree.at(result, operator)) if negated else result, operator)

    def _in(self, left: exp.Expr) -> exp.In:
        opening = self.opening()
        if self.query_ahead():
            query = self.query()
            self.closing()
            return exp.In(this=left, query=tree.at(exp.Subquery(this=query), opening))
        values = self.listed(self.condition)
        self.closing("',' or ')'")
        return exp.In(this=left, expressions=values)

    def _escape(self, like: exp.Expr) -> exp.Expr:
        if self.take("ESCAPE"):
            return exp.Escape(this=like, expression=self.operation(_RANGE + 1))
        return like

    def unary(self) -> exp.Expr:
        """Take an operand with its signs."""
        token = self._curr
        if self.sign(TokenType.DASH):
            return tree.at(exp.Neg(this=self.unary()), token)
        if self.sign(TokenType.PLUS):
            return self.unary()
        return self.postfix(self.primary())

    def postfix(self, operand: exp.Expr) -> exp.Expr:
        """Take the fields and elements asked of an operand."""
        while True:
            token = self._curr
            if self.sign(TokenType.DOT):
                if self.sign(TokenType.STAR):
                    star = tree.at(exp.Star(), self._prev)
                    return tree.at(exp.Dot(this=operand, expression=star), token, self._prev)
                operand = tree.at(exp.Dot(this=operand, expression=self.name()), token, self._prev)
            elif self.sign(TokenType.L_BRACKET):
                index = self.condition()
                if not self.sign(TokenType.R_BRACKET):
                    self.expected("']'")
                operand = tree.at(exp.Bracket(this=operand, expressions=[index]), token)
            else:
                return operand

    # Operands

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
        special = _SPECIAL.get(word)
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
        value = "UNBOUNDED" if self.take("UNBOUNDED") else self.operation(_SUM)
        return value, self.one_of(("PRECEDING", "FOLLOWING"))

    # Literals and functions with a grammar of their own

    def interval(self) -> exp.Expr:
        """Take an interval."""
        self.require("INTERVAL")
        sign = "-" if self.sign(TokenType.DASH) else ""
        if not sign:
            self.sign(TokenType.PLUS)
        text = self.string("the interval's value in single quotes")
        if sign:
            text = exp.Literal.string(sign + text.name)
        unit = self.unit()
        self._precision()
        to = None
        if self.take("TO"):
            to = self.unit()
            self._precision()
        return exp.Interval(this=text, unit=tree.UnitRange(this=unit, to=to))

    def _precision(self) -> None:
        if self._curr.token_type == TokenType.L_PAREN:
            self.in_parentheses(self.number)

    def unit(self) -> exp.Var:
        """Take a unit of time."""
        word = self._curr.text.upper()
        if word not in _UNITS:
            self.expected("a unit of time like DAY, HOUR or SECOND")
        self._advance()
        return tree.at(exp.var(_UNITS[word]), self._prev)

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
            return tree.at(tree.NotCarried(this="ARRAY of a query"), self._prev) if query else None
        if self._next.token_type != TokenType.L_BRACKET:
            return None
        self._advance(2)
        values: list[exp.Expr] = []
        if self._curr.token_type != TokenType.R_BRACKET:
            values = self.listed(self.condition)
        if not self.sign(TokenType.R_BRACKET):
            self.expected("',' or ']'")
        if word == "MULTISET":
            return tree.NotCarried(this="MULTISET[...]")
        return (
            exp.Array(expressions=values) if word == "ARRAY" else tree.MapValue(expressions=values)
        )

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

    def _cast(self, word: str) -> exp.Expr:
        value = self.condition()
        self.require("AS")
        kind = exp.TryCast if word == "TRY_CAST" else exp.Cast
        return kind(this=value, to=self.type_name())

    def _extract(self, word: str) -> exp.Expr:
        unit = self.unit()
        self.require("FROM")
        return exp.Anonymous(this=word, expressions=[unit, self.condition()])

    def _position(self, word: str) -> exp.Expr:
        part = self.operation(_RANGE + 1)
        self.require("IN")
        return exp.Anonymous(this=word, expressions=[part, self.condition()])

    def _substring(self, word: str) -> exp.Expr:
        arguments = [self.condition()]
        if self.take("FROM"):
            arguments.append(self.condition())
            if self.take("FOR"):
                arguments.append(self.condition())
        else:
            while self.sign(TokenType.COMMA):
                arguments.append(self.condition())
        return exp.Anonymous(this=word, expressions=arguments)

    def _trim(self, word: str) -> exp.Expr:
        side = "BOTH"
        if any(self.ahead(each) for each in ("BOTH", "LEADING", "TRAILING")):
            self._advance()
            side = self._prev.text.upper()
        characters: exp.Expr = exp.Literal.string(" ")
        if not self.take("FROM"):
            value = self.condition()
            if not self.take("FROM"):
                return exp.Anonymous(this=word, expressions=[exp.var(side), characters, value])
            characters = value
        return exp.Anonymous(this=word, expressions=[exp.var(side), characters, self.condition()])

    def _overlay(self, word: str) -> exp.Expr:
        arguments = [self.condition()]
        for clause in ("PLACING", "FROM", "FOR"):
            if clause == "FOR" and not self.ahead("FOR"):
                break
            self.require(clause)
            arguments.append(self.condition())
        return exp.Anonymous(this=word, expressions=arguments)

    def _rounding(self, word: str) -> exp.Expr:
        arguments = [self.condition()]
        if self.take("TO"):
            arguments.append(self.unit())
        return exp.Anonymous(this=word, expressions=arguments)

    def _timestamp_function(self, word: str) -> exp.Expr:
        arguments: list[exp.Expr] = [self.unit()]
        for _ in range(2):
            if not self.sign(TokenType.COMMA):
                self.expected("','")
            arguments.append(self.condition())
        return exp.Anonymous(this=word, expressions=arguments)

    def _json_value(self, word: str) -> exp.Expr:
        value, path = self._json_path()
        returning = self.type_name() if self.take("RETURNING") else exp.Null()
        arguments = [value, path, returning]
        empty, error = self._on("EMPTY", "ERROR", values=("NULL", "ERROR", "DEFAULT"))
        return exp.Anonymous(this=word, expressions=[*arguments, *empty, *error])

    def _json_query(self, word: str) -> exp.Expr:
        value, path = self._json_path()
        returning = self.type_name() if self.take("RETURNING") else exp.Null()
        wrapper = "WITHOUT_ARRAY"
        if self.take("WITHOUT"):
            self.take("ARRAY")
            self.require("WRAPPER")
        elif self.take("WITH"):
            wrapper = "UNCONDITIONAL_ARRAY"
            if self.take("CONDITIONAL"):
                wrapper = "CONDITIONAL_ARRAY"
            else:
                self.take("UNCONDITIONAL")
            self.take("ARRAY")
            self.require("WRAPPER")
        empty, error = self._on("EMPTY", "ERROR", values=("NULL", "ERROR", "EMPTY"))
        return exp.Anonymous(
            this=word, expressions=[value, path, returning, exp.var(wrapper), empty[0], error[0]]
        )

    def _json_exists(self, word: str) -> exp.Expr:
        value, path = self._json_path()
        _, error = self._on(
            "ERROR", values=("TRUE", "FALSE", "UNKNOWN", "ERROR"), otherwise="FALSE"
        )
        return exp.Anonymous(this=word, expressions=[value, path, error[0]])

    def _json_path(self) -> tuple[exp.Expr, exp.Expr]:
        value = self.condition()
        if not self.sign(TokenType.COMMA):
            self.expected("','")
        return value, self.condition()

    def _on(
        self, *events: str, values: tuple[str, ...], otherwise: str = "NULL"
    ) -> tuple[list[exp.Expr], list[exp.Expr]]:
        # What is done on an empty result and on an error: (behaviour, default) of each.
        found: dict[str, list[exp.Expr]] = {}
        while self._curr.text.upper() in values and self._curr.token_type == TokenType.VAR:
            self._advance()
            behaviour = self._prev.text.upper()
            default: exp.Expr = exp.Null()
            if behaviour == "DEFAULT":
                default = self.condition()
            elif behaviour == "EMPTY":
                behaviour += "_" + self.one_of(("ARRAY", "OBJECT"))
            self.require("ON")
            found[self.one_of(events)] = [exp.var(behaviour), default]
        nothing: list[exp.Expr] = [exp.var(otherwise), exp.Null()]
        return found.get("EMPTY", nothing), found.get("ERROR", nothing)

    def _json_object(self, word: str) -> exp.Expr:
        arguments: list[exp.Expr] = []
        ends = self._curr.token_type == TokenType.R_PAREN or self._on_null_ahead()
        if not ends:
            for pair in self.listed(self._key_and_value):
                arguments += pair
        return exp.Anonymous(this=word, expressions=[self._on_null("NULL"), *arguments])

    def _json_array(self, word: str) -> exp.Expr:
        arguments: list[exp.Expr] = []
        if self._curr.token_type != TokenType.R_PAREN and not self._on_null_ahead():
            arguments = self.listed(self.condition)
        return exp.Anonymous(this=word, expressions=[self._on_null("ABSENT"), *arguments])

    def _key_and_value(self) -> list[exp.Expr]:
        if self.ahead("KEY") and self._next.text.upper() != "VALUE":
            self._advance()
        key = self.condition()
        if not self.sign(TokenType.COLON):
            self.require("VALUE")
        return [key, self.condition()]

    def _on_null_ahead(self) -> bool:
        return self.ahead("NULL", "ON", "NULL") or self.ahead("ABSENT", "ON", "NULL")

    def _on_null(self, otherwise: str) -> exp.Expr:
        for word in ("NULL", "ABSENT"):
            if self.take(word, "ON", "NULL"):
                return exp.var(word)
        return exp.var(otherwise)

    # Data types

    def type_name(self) -> tree.TypeName:
        """Take a data type; its text is read by ``types.parse``."""
        first = self._curr
        self._type()
        return tree.at(
            tree.TypeName(this=self.sql[first.start : self._prev.end + 1]), first, self._prev
        )

    def _type(self) -> None:
        word = self.word("a data type").upper()
        if word == "INTERVAL":
            self.unit()
            self._precision()
            if self.take("TO"):
                self.unit()
                self._precision()
        elif word == "DOUBLE":
            self.take("PRECISION")
        elif word in ("CHAR", "CHARACTER", "BINARY"):
            self.take("VARYING")
        if word == "RAW":
            self.between_parentheses()
        elif word == "ROW" and self.sign(TokenType.L_PAREN):
            if not self.sign(TokenType.R_PAREN):
                self.listed(self._field)
                self.closing("',' or ')'")
        elif self._curr.token_type == TokenType.L_PAREN:
            self.in_parentheses(self.number)
        if self.sign(TokenType.NEQ):
            pass  # ROW<>: the tokens of an empty list are one.
        elif self.sign(TokenType.LT):
            self.listed(self._field if word in ("ROW", "STRUCTURED") else self._type)
            if not self.sign(TokenType.GT):
                self.expected("',' or '>'")
        for zone in (("WITH", "LOCAL", "TIME", "ZONE"), ("WITHOUT", "TIME", "ZONE")):
            if word.startswith("TIME") and self.take(*zone):
                break
        else:
            if word.startswith("TIME") and self.ahead("WITH", "TIME"):
                self.expected("'WITH LOCAL TIME ZONE'")
        self._nullability()
        while self.take("ARRAY") or self.take("MULTISET"):
            self._nullability()

    def _nullability(self) -> None:
        # NULL ON EMPTY after RETURNING is no part of the type.
        if not self.take("NOT", "NULL") and not self.ahead("NULL", "ON"):
            self.take("NULL")

    def _field(self) -> None:
        self.name("the name of a field")
        self._type()
        self.string_ahead()


_SPECIAL: dict[str, Callable[[ExpressionGrammar, str], exp.Expr]] = {
    "CAST": ExpressionGrammar._cast,
    "TRY_CAST": ExpressionGrammar._cast,
    "EXTRACT": ExpressionGrammar._extract,
    "POSITION": ExpressionGrammar._position,
    "SUBSTRING": ExpressionGrammar._substring,
    "TRIM": ExpressionGrammar._trim,
    "OVERLAY": ExpressionGrammar._overlay,
    "FLOOR": ExpressionGrammar._rounding,
    "CEIL": ExpressionGrammar._rounding,
    "CEILING": ExpressionGrammar._rounding,
    "TIMESTAMPADD": ExpressionGrammar._timestamp_function,
    "TIMESTAMPDIFF": ExpressionGrammar._timestamp_function,
    "JSON_VALUE": ExpressionGrammar._json_value,
    "JSON_QUERY": ExpressionGrammar._json_query,
    "JSON_EXISTS": ExpressionGrammar._json_exists,
    "JSON_OBJECT": ExpressionGrammar._json_object,
    "JSON_OBJECTAGG": ExpressionGrammar._json_object,
    "JSON_ARRAY": ExpressionGrammar._json_array,
    "JSON_ARRAYAGG": ExpressionGrammar._json_array,
}


def _boolean(value: bool) -> Callable[[ExpressionGrammar], exp.Expr]:
    def take(grammar: ExpressionGrammar) -> exp.Expr:
        grammar._advance()
        return exp.Boolean(this=value)

    return take


def _null(grammar: ExpressionGrammar) -> exp.Expr:
    grammar._advance()
    return exp.Null()


_OPENERS: dict[str, Callable[[ExpressionGrammar], exp.Expr | None]] = {
    "TRUE": _boolean(True),
    "FALSE": _boolean(False),
    "NULL": _null,
    "UNKNOWN": _null,
    "INTERVAL": ExpressionGrammar.interval,
    "CASE": ExpressionGrammar.case,
    "EXISTS": ExpressionGrammar.exists,
    "ROW": ExpressionGrammar.row,
    "ARRAY": ExpressionGrammar.constructor,
    "MAP": ExpressionGrammar.constructor,
    "MULTISET": ExpressionGrammar.constructor,
    **dict.fromkeys(_TIME_LITERALS, ExpressionGrammar.temporal),
}
