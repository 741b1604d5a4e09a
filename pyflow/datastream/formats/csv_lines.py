"""Lines of CSV, taken apart and put together as the library of Flink does it, Jackson."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["CsvLines"]

_QUOTED_FROM = 25
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}


@dataclass(frozen=True)
class CsvLines:
    """How values stand in a line.

    Parameters
    ----------
    delimiter : str
        Between values, one character.
    quote : str or None
        Around values, one character; None for none.
    escape : str or None
        Before a character that has no meaning then, one character; None for none.
    comments : bool
        Whether lines that begin with ``#`` are left out.
    """

    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None
    comments: bool = False

    def values(self, text: str) -> list[str] | None:
        """Return the values of the first line of a text; None if there is none.

        Raises
        ------
        ValueError
            If a quote has no end, or something else than a delimiter follows it.
        """
        if self.comments:
            text = self._without_comments(text)
        if not text:
            return None
        plain = self.quote is None or self.quote not in text
        if plain and (self.escape is None or self.escape not in text):
            return _first_line(text).split(self.delimiter)
        return self._parsed(text)

    def _without_comments(self, text: str) -> str:
        while text.lstrip(" \t").startswith("#"):
            text = text.partition("\n")[2]
        return text

    def _parsed(self, text: str) -> list[str]:
        values = []
        place = 0
        while True:
            if self.quote is not None and text.startswith(self.quote, place):
                value, place = self._quoted(text, place + 1)
            else:
                value, place = self._plain(text, place)
            values.append(value)
            if not text.startswith(self.delimiter, place):
                return values
            place += 1

    def _plain(self, text: str, place: int) -> tuple[str, int]:
        """Return a value without quotes, and where it ends."""
        parts = []
        while place < len(text) and text[place] not in (self.delimiter, "\n", "\r"):
            if text[place] == self.escape:
                part, place = _unescaped(text, place)
            else:
                part, place = text[place], place + 1
            parts.append(part)
        return "".join(parts), place

    def _quoted(self, text: str, place: int) -> tuple[str, int]:
        """Return a value whose quote has begun, and where what follows its end begins."""
        quote, parts = self.quote, []
        while True:
            if place >= len(text):
                raise ValueError("Missing closing quote for value")
            if text[place] == quote:
                place += 1
                if not text.startswith(quote, place):
                    break
                part, place = quote, place + 1
            elif text[place] == self.escape:
                part, place = _unescaped(text, place)
            else:
                part, place = text[place], place + 1
            parts.append(part)
        end = place
        while text.startswith(" ", end):
            end += 1
        if end < len(text) and text[end] not in (self.delimiter, "\n", "\r"):
            raise ValueError(f"Unexpected character ({text[end]!r}): expected separator")
        return "".join(parts), end

    def line(self, values: Sequence[str]) -> str:
        """Return the line of values that are as they stand in it, without its end."""
        return self.delimiter.join(values)

    def value(self, text: str) -> str:
        """Return a value as it stands in a line: in quotes where it may need them.

        Jackson does not look closely: it quotes whatever has a character that is not above the
        delimiter and the quote, and whatever is long.
        """
        quote = self.quote
        if quote is None:
            return text
        least, escape = max(self.delimiter, quote, "\n"), self.escape or "\\"
        if len(text) < _QUOTED_FROM and escape not in text and (not text or min(text) > least):
            return text
        text = text.replace(quote, quote + quote)
        if self.escape is not None:
            text = text.replace(self.escape, self.escape + self.escape)
        return f"{quote}{text}{quote}"


def _first_line(text: str) -> str:
    return text.partition("\n")[0].partition("\r")[0]


def _unescaped(text: str, place: int) -> tuple[str, int]:
    """Return what an escape stands for, and where it ends."""
    if place + 1 >= len(text):
        raise ValueError("Unexpected end of input in an escape")
    found = text[place + 1]
    return _ESCAPED.get(found, found), place + 2
