"""Values of columns of CSV files; the functions run on executors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pyflow.common.types import Row, _create_row
from pyflow.datastream.formats import java_texts
from pyflow.datastream.formats.csv_lines import CsvLines
from pyflow.datastream.formats.rows import Compiled, row_values
from pyflow.datastream.runtime.errors import OperatorError
from pyflow.types.function_values import Shape, encoder

__all__ = ["CsvDecoder", "CsvEncoder", "CsvFileDecoder"]

Read = Callable[[str], Any]
Write = Callable[[Any], str]

_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_SHOWN = 200


class CsvDecoder(Compiled):
    """Makes a row of the texts of columns, and of the line if it had more or fewer of them.

    Parameters
    ----------
    names : sequence of str
        Of the columns.
    shapes : sequence of tuple
        Of their types.
    separators : sequence of str
        Of their elements, where they are arrays.
    null_value : str or None
        The text of null.
    is_surplus_dropped : bool
        Whether a line may have more values.
    lines : CsvLines
        How values stand in a line.
    """

    def __init__(
        self,
        names: Sequence[str],
        shapes: Sequence[Shape],
        separators: Sequence[str],
        null_value: str | None,
        is_surplus_dropped: bool,
        lines: CsvLines,
    ) -> None:
        self._names = list(names)
        self._shapes = list(shapes)
        self._separators = list(separators)
        self._null_value = null_value
        self._is_surplus_dropped = is_surplus_dropped
        self._lines = lines

    def __call__(self, *texts: str | None) -> Iterable[tuple[Row, int | None]]:
        """Return the row.

        Raises
        ------
        OperatorError
            If the line has another number of values, or one that is none of its type.
        """
        *values, line = texts
        return ((self._row(values), None),) if line is None else self.rows(line)

    def rows(
        self, text: str, skipped: int = 0, is_header_checked: bool = False
    ) -> Iterator[tuple[Row, int | None]]:
        """Return the rows of the lines of a text.

        Parameters
        ----------
        text : str
        skipped : int
            How many lines at its beginning are no rows.
        is_header_checked : bool
            Whether these must have the names of the columns.

        Raises
        ------
        OperatorError
            If a line has another number of values, or one that is none of its type.
        """
        try:
            for number, values in enumerate(self._lines.records(text)):
                if number >= skipped:
                    yield self._row(self._fitted(values)), None
                elif is_header_checked and values != self._names:
                    raise ValueError(f"Mismatched header: expected {self._names}, actual {values}")
        except ValueError as error:
            raise OperatorError(f"{error} in {text[:_SHOWN]!r}") from error

    def _fitted(self, values: Sequence[str]) -> Sequence[str]:
        expected, count = len(self._names), len(values)
        # The delimiter may end the line, too.
        is_ended = count == expected + 1 and not values[expected]
        if count == expected or is_ended or (count > expected and self._is_surplus_dropped):
            return values
        line = self._lines.delimiter.join(values)
        raise OperatorError(
            f"Row length mismatch. {expected} fields expected but was {count} in {line[:_SHOWN]!r}"
        )

    def _row(self, texts: Sequence[str | None]) -> Row:
        return _create_row(self._names, self._read(texts))

    def _read(self, values: Sequence[str | None]) -> list[Any]:
        made: list[Any] = []
        try:
            for read, text in zip(self.made("readers", self._readers), values):
                made.append(read(text or ""))
        except (ValueError, OverflowError) as error:
            name = self._names[len(made)]
            raise OperatorError(f"Fail to deserialize at field: {name}. {error}") from error
        return made

    def _readers(self) -> list[Read]:
        return [
            self._reader(shape, separator)
            for shape, separator in zip(self._shapes, self._separators)
        ]

    def _reader(self, shape: Shape, separator: str) -> Read:
        if shape[0] == "ARRAY":
            element = self._reader(shape[1], "")

            def array(text: str) -> list[Any]:
                parts = text.split(separator) if separator else [text]
                return [element(part) for part in parts] if text else []

            return array
        read, null = _reader(shape), self._null_value
        return lambda text: None if text == null else read(text)


def _reader(shape: Shape) -> Read:
    kind = shape[0]
    if kind in _BITS:
        bits = _BITS[kind]
        return lambda text: java_texts.integer(text, bits)
    if kind == "FLOAT":
        return lambda text: java_texts.float_of_32_bits(java_texts.double(text))
    if kind == "DECIMAL":
        fitted = encoder(shape, "the number")
        return lambda text: fitted(java_texts.big_decimal(text))
    return _READERS[kind]


_READERS: dict[str, Read] = {
    "BOOLEAN": java_texts.boolean,
    "DOUBLE": java_texts.double,
    "STRING": str,
}


@dataclass(frozen=True)
class CsvFileDecoder:
    """Makes rows of the bytes of whole files.

    Parameters
    ----------
    lines : CsvDecoder
        Makes rows of their lines.
    skipped : int
        How many lines at their beginning are no rows.
    is_header_checked : bool
        Whether these must have the names of the columns.
    """

    lines: CsvDecoder
    skipped: int
    is_header_checked: bool

    def __call__(self, content: bytes) -> Iterable[tuple[Row, int | None]]:
        """Return the rows.

        Raises
        ------
        OperatorError
            If a line has another number of values, or one that is none of its type.
        """
        text = bytes(content).decode("utf-8-sig", "replace")
        return self.lines.rows(text, self.skipped, self.is_header_checked)


class CsvEncoder(Compiled):
    """Makes the line of a row.

    Parameters
    ----------
    names : sequence of str
        Of the columns.
    shapes : sequence of tuple
        Of their types.
    separators : sequence of str
        Of their elements, where they are arrays.
    null_value : str
        The text of null.
    lines : CsvLines
    """

    def __init__(
        self,
        names: Sequence[str],
        shapes: Sequence[Shape],
        separators: Sequence[str],
        null_value: str,
        lines: CsvLines,
    ) -> None:
        self._names = list(names)
        self._shapes = list(shapes)
        self._separators = list(separators)
        self._null_value = null_value
        self._lines = lines

    def __call__(self, value: Any, timestamp: int | None) -> tuple[bytes]:
        """Return the bytes of the line, without its end.

        Raises
        ------
        ValueError, TypeError, OverflowError
            If the value is no row of the columns.
        """
        writers: list[Write] = self.made("writers", self._writers)
        values = row_values(value, self._names)
        line = self._lines.line([write(part) for write, part in zip(writers, values)])
        return (line.encode("utf-8", "replace"),)

    def _writers(self) -> list[Write]:
        return [
            self._writer(name, shape, separator)
            for name, shape, separator in zip(self._names, self._shapes, self._separators)
        ]

    def _writer(self, name: str, shape: Shape, separator: str) -> Write:
        checked, null, quoted = encoder(shape, f"field {name}"), self._null_value, self._lines.value
        if shape[0] == "ARRAY":
            element = _text(shape[1])

            def array(value: Any) -> str:
                parts = checked(value)
                if parts is None:
                    return null
                return quoted(separator.join(null if e is None else element(e) for e in parts))

            return array
        text, is_string = _text(shape), shape[0] == "STRING"

        def write(value: Any) -> str:
            value = checked(value)
            if value is None:
                return null
            return quoted(text(value)) if is_string else text(value)

        return write


def _text(shape: Shape) -> Write:
    return _TEXTS.get(shape[0], str)


def _decimal_text(value: Decimal) -> str:
    return str(value.normalize()) if value else "0"


_TEXTS: dict[str, Write] = {
    "BOOLEAN": lambda value: "true" if value else "false",
    "FLOAT": java_texts.float_text,
    "DOUBLE": java_texts.double_text,
    "DECIMAL": _decimal_text,
}
