"""What all parts of the grammar of Flink's SQL use: words, names, lists, errors.

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

__all__ = ["RESERVED", "Grammar"]

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


class Grammar(parser.Parser):
    """What all parts of the grammar use: words, names, lists, errors."""

    def expected(self, what: str) -> NoReturn:
        """Raise an error that names what was expected and what is there instead."""
        found = f"'{self._curr.text}'" if self._curr else "the end of the statement"
        start = self._curr.start if self._curr else len(self.sql.rstrip())
        raise tree.error_at(self.sql, start, f"{what} expected, found {found}")

    def ahead(self, *words: str) -> bool:
        """Return whether the next tokens are these words."""
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
        """Return whether a name comes next."""
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
