"""The table form in which results are printed."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pyflow.types.logical_types import (
    BigIntType,
    BooleanType,
    DateType,
    DecimalType,
    IntType,
    LocalZonedTimestampType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
)

if TYPE_CHECKING:
    from pyflow.types.logical_types import DataType

NULL = "<NULL>"
KIND_COLUMN = "op"
_CUT = "..."


def lines_of(
    names: Sequence[str], rows: Iterable[Sequence[str]], widths: Sequence[int]
) -> Iterator[str]:
    """Yield the lines of a table.

    Parameters
    ----------
    names
        The heads of the columns.
    rows
        Their texts.
    widths
        Widths of the columns in characters.
    """
    remaining = iter(rows)
    first = next(remaining, None)
    if first is None:
        yield "Empty set"
        return
    border = "+" + "".join("-" * (width + 2) + "+" for width in widths)
    yield border
    yield _line(names, widths)
    yield border
    yield _line(first, widths)
    count = 1
    for row in remaining:
        yield _line(row, widths)
        count += 1
    yield border
    yield f"{count} {'rows' if count > 1 else 'row'} in set"


def html_of(names: Sequence[str], rows: Iterable[Sequence[str]], note: str) -> str:
    """Return a table as HTML.

    Parameters
    ----------
    names
        The heads of the columns.
    rows
        Their texts.
    note
        What stands below.
    """

    def line(tag: str, texts: Sequence[str]) -> str:
        return f"<tr>{''.join(f'<{tag}>{html.escape(text)}</{tag}>' for text in texts)}</tr>"

    body = "".join(line("td", row) for row in rows)
    return (
        f"<table><thead>{line('th', names)}</thead><tbody>{body}</tbody></table>"
        f"<p>{html.escape(note)}</p>"
    )


def widths_of_types(names: Sequence[str], types: Sequence[DataType], max_width: int) -> list[int]:
    """Return the widths of columns whose values are not known yet."""
    widths = []
    for name, data_type in zip(names, types):
        widths.append(max(_utf16_length(name), _width_of_type(data_type, max_width), len(NULL)))
    return widths


def widths_of_texts(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the widths of columns whose values are known."""
    return [max(map(display_width, texts)) for texts in zip(names, *rows)]


def _width_of_type(data_type: DataType, max_width: int) -> int:
    fixed: dict[type, int] = {
        TinyIntType: 4,
        SmallIntType: 6,
        IntType: 11,
        BigIntType: 20,
        BooleanType: 5,
        DateType: 10,
    }
    if type(data_type) in fixed:
        return fixed[type(data_type)]
    if isinstance(data_type, DecimalType):
        return data_type.precision + 2
    if isinstance(data_type, TimeType):
        return 8 if data_type.precision == 0 else data_type.precision + 9
    if isinstance(data_type, (TimestampType, LocalZonedTimestampType)):
        precision = data_type.precision
        return 19 + (0 if precision == 0 else 4 if precision <= 3 else 7 if precision <= 6 else 10)
    return max_width


def _line(texts: Sequence[str], widths: Sequence[int]) -> str:
    cells = []
    for text, width in zip(texts, widths):
        missing = width - display_width(text)
        cells.append(" " * missing + text if missing >= 0 else _cut(text, width - len(_CUT)))
    return "|" + "".join(f" {cell} |" for cell in cells)


def _cut(text: str, width: int) -> str:
    """Return the beginning of a string, up to a width, and three dots."""
    taken = ""
    passed = 0
    for character in text:
        passed += 2 if _is_wide(character) else 1
        if passed > width:
            break
        taken += character
    return " " * (width - display_width(taken)) + taken + _CUT


def display_width(text: str) -> int:
    """Return the width of a string in columns of a terminal, as Flink counts them."""
    if text.isascii():
        return len(text)
    return _utf16_length(text) + sum(map(_is_wide, text))


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in ("W", "F")


def _utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
