"""Expressions as Calcite, the parser of Flink, reads them: operands and operators."""

from __future__ import annotations

from functools import reduce

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from pyflow.table.sql import tree
from pyflow.table.sql.call_grammar import ABOVE_RANGES
from pyflow.table.sql.operand_grammar import SUM, OperandGrammar

__all__ = ["ExpressionGrammar"]

# Precedences; ranges bind tighter than comparisons.
_OR, _AND, _NOT, _POSTFIX, _COMPARISON, _RANGE, _PRODUCT = 22, 24, 26, 28, 30, ABOVE_RANGES - 1, 60

_BINARY: dict[TokenType, tuple[int, type[exp.Expr]]] = {
    TokenType.EQ: (_COMPARISON, exp.EQ),
    TokenType.NEQ: (_COMPARISON, exp.NEQ),
    TokenType.LT: (_COMPARISON, exp.LT),
    TokenType.LTE: (_COMPARISON, exp.LTE),
    TokenType.GT: (_COMPARISON, exp.GT),
    TokenType.GTE: (_COMPARISON, exp.GTE),
    TokenType.PLUS: (SUM, exp.Add),
    TokenType.DASH: (SUM, exp.Sub),
    TokenType.STAR: (_PRODUCT, exp.Mul),
    TokenType.SLASH: (_PRODUCT, exp.Div),
    TokenType.MOD: (_PRODUCT, exp.Mod),
    TokenType.DPIPE: (_PRODUCT, exp.DPipe),
}


class ExpressionGrammar(OperandGrammar):
    """Expressions by the precedence of their operators, highest last: OR, AND, NOT, ..."""

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
            if precedence == _COMPARISON:
                quantified = self._quantified(left, kind, operator)
                if quantified is not None:
                    return quantified
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
        if least <= _COMPARISON and self.take("OVERLAPS"):
            operator = self._prev
            right = self.operation(_COMPARISON + 1)
            for period in (left, right):
                if not isinstance(period, exp.Tuple) or len(period.expressions) != 2:
                    tree.refuse(self.sql, period, "(time, time) or (time, interval) expected")
            return tree.at(exp.Overlaps(this=left, expression=right), operator)
        return self._range(left) if least <= _RANGE else None

    def _quantified(self, left: exp.Expr, kind: type[exp.Expr], operator: Token) -> exp.Expr | None:
        """Take ANY, SOME or ALL behind a comparison, with a query or values, if that comes next."""
        word = next((w for w in ("ANY", "SOME", "ALL") if self.ahead(w, "(")), None)
        if word is None:
            return None
        self._advance()
        opening = self.opening()
        if self.query_ahead():
            query = tree.at(exp.Subquery(this=self.query()), opening)
            self.closing()
            every = exp.var("ALL" if word == "ALL" else "ANY")
            name = exp.var(kind.__name__)
            found = tree.Quantified(this=left, operator=name, word=every, query=query)
            return tree.at(found, operator)
        values = self.listed(self.condition)
        self.closing("',' or ')'")
        each = [tree.at(kind(this=left.copy(), expression=value), operator) for value in values]
        tied = exp.And if word == "ALL" else exp.Or
        whole = reduce(lambda one, other: tied(this=one, expression=other), each)
        return tree.at(exp.Paren(this=whole), operator)

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
            low = self.operation(ABOVE_RANGES)
            self.require("AND")
            high = self.operation(ABOVE_RANGES)
            result = exp.Between(this=left, low=low, high=high, symmetric=symmetric or None)
        elif self.take("IN"):
            result = self._in(left)
        elif self.take("LIKE"):
            result = self._escape(exp.Like(this=left, expression=self.operation(ABOVE_RANGES)))
        elif self.take("SIMILAR"):
            self.require("TO")
            result = self._escape(exp.SimilarTo(this=left, expression=self.operation(ABOVE_RANGES)))
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
            return exp.Escape(this=like, expression=self.operation(ABOVE_RANGES))
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
