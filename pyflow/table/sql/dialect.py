"""Flink's SQL as a dialect of sqlglot: names, strings and signs as in Calcite.

Names stand between backticks and keep their case, strings between single quotes. Words have no
tokens of their own: the grammar gives them their meaning where they stand.
"""

from __future__ import annotations

import re
from typing import ClassVar

from sqlglot import exp, tokens
from sqlglot.dialects.dialect import Dialect, NormalizationStrategy
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from pyflow.table.sql import tree
from pyflow.table.sql.statement_grammar import StatementGrammar


class Flink(Dialect):
    """The dialect: ``sqlglot.parse_one(text, read=Flink)``."""

    NORMALIZATION_STRATEGY = NormalizationStrategy.CASE_SENSITIVE

    class Tokenizer(tokens.Tokenizer):
        """Signs, names, strings and numbers."""

        QUOTES: ClassVar[list[tuple[str, str] | str]] = ["'"]
        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ["`"]
        STRING_ESCAPES: ClassVar[list[str]] = ["'"]
        UNICODE_STRINGS: ClassVar[list[str | tuple[str, str]]] = [("U&'", "'"), ("u&'", "'")]
        HEX_STRINGS: ClassVar[list[str | tuple[str, str]]] = [("X'", "'"), ("x'", "'")]
        NESTED_COMMENTS = False
        # A hint is made of tokens here; sqlglot keeps it as the text of a comment.
        HINT_START = ""
        COMMANDS: ClassVar[set[TokenType]] = set()
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            "<=": TokenType.LTE,
            ">=": TokenType.GTE,
            "<>": TokenType.NEQ,
            "!=": TokenType.NEQ,
            "||": TokenType.DPIPE,
            "=>": TokenType.FARROW,
            "/*+": TokenType.HINT,
            "*/": TokenType.BLOCK_END,
        }

    class Parser(StatementGrammar):
        """The grammar."""

        def parse(self, raw_tokens: list[Token], sql: str) -> list[exp.Expr | None]:
            """Return the one statement of the tokens."""
            self.reset()
            self.sql = sql
            self._tokens = raw_tokens
            self._tokens_size = len(raw_tokens)
            self._advance(0)
            return [self.statement()]


def parse(text: str) -> exp.Expr:
    """Return the tree of a statement.

    Raises
    ------
    TableException
        With line and column of the mistake and what was expected there.
    """
    try:
        found = Flink().tokenize(text)
    except TokenError:
        raise tree.error_at(text, *_not_closed(text)) from None
    statement = Flink().parser().parse(found, text)[0]
    assert statement is not None
    return statement


_OPENINGS = re.compile(r"'|`|--[^\n]*|/\*")
_CLOSINGS = {"'": re.compile(r"(?:[^']|'')*'"), "`": re.compile(r"(?:[^`]|``)*`")}


def _not_closed(text: str) -> tuple[int | None, str]:
    """Return the position of a quote or comment that is not closed; sqlglot does not tell it."""
    place = 0
    while opening := _OPENINGS.search(text, place):
        sign = opening[0]
        if sign.startswith("--"):
            place = opening.end()
            continue
        end = text.find("*/", opening.end()) + 2 if sign == "/*" else 1
        closing = _CLOSINGS[sign].match(text, opening.end()) if sign in _CLOSINGS else None
        if closing is None and (sign in _CLOSINGS or end == 1):
            return opening.start(), f"{sign} is not closed"
        place = end if closing is None else closing.end()
    return None, "the text cannot be read"
