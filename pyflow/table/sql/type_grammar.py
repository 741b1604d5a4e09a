"""Data types, intervals and units of time as Calcite, the parser of Flink, reads them."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from pyflow.table.sql import tree
from pyflow.table.sql.grammar import Grammar

__all__ = ["TypeGrammar"]

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


class TypeGrammar(Grammar):
    """Data types, and what else has units of time."""

    def units(self, has_range: bool) -> tree.UnitRange:
        """Take the unit of an interval, or the first and the last one."""
        unit, to = self.unit(), None
        self._precision()
        if has_range and self.take("TO"):
            to = self.unit()
            self._precision()
        return tree.UnitRange(this=unit, to=to)

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
