"""Lines of CSV, taken apart and put together as the library of Flink does it, Jackson."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
        return next(self.records(text), None)

    def records(self, text: str) -> Iterator[list[str]]:
        """Return the values of each line of a text; a line may have others in its quotes.

        Raises
        ------
        ValueError
            If a quote has no end, or something else than a delimiter follows it.
        """
        place = 0
        while place < len(text):
            end = _line_end(text, place)
            line = text[place:end]
            if self.comments and line.lstrip(" \t").startswith("#"):
                place = _after_line_end(text, end)
                continue
            if self._is_plain(line):
                values = line.split(self.delimiter)
            else:
                values, end = self._parsed(text, place)
            yield values
            place = _after_line_end(text, end)

    def _is_plain(self, line: str) -> bool:
        has_quotes = self.quote is not None and self.quote in line
        return not has_quotes and (self.escape is None or self.escape not in line)

    def _parsed(self, text: str, place: int) -> tuple[list[str], int]:
        """Return the values of the line that begins at a position, and where it ends."""
        values = []
        while True:
            if self.quote is not None and text.startswith(self.quote, place):
                value, place = self._quoted(text, place + 1)
            else:
                value, place = self._plain(text, place)
            values.append(value)
            if not text.startswith(self.delimiter, place):
                return values, place
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


_LINE_END = re.compile(r"\r\n|\r|\n")


def _line_end(text: str, place: int) -> int:
    found = _LINE_END.search(text, place)
    return len(text) if found is None else found.start()


def _after_line_end(text: str, place: int) -> int:
    found = _LINE_END.match(text, place)
    return place if found is None else found.end()


def _unescaped(text: str, place: int) -> tuple[str, int]:
    """Return what an escape stands for, and where it ends."""
    if place + 1 >= len(text):
        raise ValueError("Unexpected end of input in an escape")
    found = text[place + 1]
    return _ESCAPED.get(found, found), place + 2
