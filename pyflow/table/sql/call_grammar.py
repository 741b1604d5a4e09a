"""Calls of the functions that have a grammar of their own, such as CAST and JSON_VALUE."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from pyflow.table.sql.type_grammar import TypeGrammar

__all__ = ["ABOVE_RANGES", "SPECIAL", "CallGrammar"]

#: The precedence of what may stand beside BETWEEN, IN and LIKE.
ABOVE_RANGES = 33


class CallGrammar(TypeGrammar):
    """What is in the parentheses of such functions."""

    @abstractmethod
    def condition(self) -> exp.Expr:
        """Take an expression of any kind (of ExpressionGrammar)."""

    @abstractmethod
    def operation(self, least: int) -> exp.Expr:
        """Take operands as long as their operators bind tight enough (of ExpressionGrammar)."""

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
        part = self.operation(ABOVE_RANGES)
        self.require("IN")
        arguments = [part, self.condition()]
        if self.take("FROM"):
            arguments.append(self.condition())
        return exp.Anonymous(this=word, expressions=arguments)

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


#: By the name of the function.
SPECIAL: dict[str, Callable[[CallGrammar, str], exp.Expr]] = {
    "CAST": CallGrammar._cast,
    "TRY_CAST": CallGrammar._cast,
    "EXTRACT": CallGrammar._extract,
    "POSITION": CallGrammar._position,
    "SUBSTRING": CallGrammar._substring,
    "TRIM": CallGrammar._trim,
    "OVERLAY": CallGrammar._overlay,
    "FLOOR": CallGrammar._rounding,
    "CEIL": CallGrammar._rounding,
    "CEILING": CallGrammar._rounding,
    "TIMESTAMPADD": CallGrammar._timestamp_function,
    "TIMESTAMPDIFF": CallGrammar._timestamp_function,
    "JSON_VALUE": CallGrammar._json_value,
    "JSON_QUERY": CallGrammar._json_query,
    "JSON_EXISTS": CallGrammar._json_exists,
    "JSON_OBJECT": CallGrammar._json_object,
    "JSON_OBJECTAGG": CallGrammar._json_object,
    "JSON_ARRAY": CallGrammar._json_array,
    "JSON_ARRAYAGG": CallGrammar._json_array,
}
