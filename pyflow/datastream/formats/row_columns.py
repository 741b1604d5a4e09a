"""Rows of a type as columns of Spark, and back; the functions run on executors."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pyflow.common.time import Instant
from pyflow.common.types import _create_row
from pyflow.datastream.formats.rows import Compiled, row_values
from pyflow.types import function_values
from pyflow.types.function_values import Shape

__all__ = ["DictDecoder", "RowDecoder", "RowEncoder"]

Convert = Callable[[Any], Any]

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_SECOND = datetime.timedelta(seconds=1)


class RowDecoder(Compiled):
    """Makes a row of the columns that Spark has for its type.

    Parameters
    ----------
    shape : tuple
        Of the type of rows, as `pyflow.types.shapes` describes it.
    """

    def __init__(self, shape: Shape) -> None:
        self._shape = shape

    def __call__(self, *columns: Any) -> Iterable[tuple[Any, int | None]]:
        """Return the row."""
        return ((self.made("decode", self._decode)(columns), None),)

    def _decode(self) -> Convert:
        return _decoder(self._shape, _create_row) or _same


class DictDecoder(RowDecoder):
    """Makes a dict of the columns of a record, as records of Avro are."""

    def _decode(self) -> Convert:
        return _decoder(self._shape, _dict) or _same


class RowEncoder(Compiled):
    """Makes the columns that Spark has for a type of a row: a `Row`, a tuple, or a dict.

    Parameters
    ----------
    shape : tuple
        Of the type of rows.
    """

    def __init__(self, shape: Shape) -> None:
        self._shape = shape

    def __call__(self, value: Any, timestamp: int | None) -> tuple[Any, ...]:
        """Return the columns.

        Raises
        ------
        ValueError, TypeError, OverflowError
            If the value is no row of the type.
        """
        columns: tuple[Any, ...] = self.made("encode", self._encode)(value)
        return columns

    def _encode(self) -> Convert:
        _, names, shapes = self._shape
        return _row_encoder(names, shapes, "the element", optional=False)


def _same(value: Any) -> Any:
    return value


def _dict(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(names, values))


def _decoder(shape: Shape, row: Callable[[Sequence[str], Sequence[Any]], Any]) -> Convert | None:
    kind, *about = shape
    if kind == "ROW":
        names, each = about[0], [_decoder(part, row) or _same for part in about[1]]

        def of_row(values: Any) -> Any:
            if values is None:
                return None
            return row(names, [convert(value) for convert, value in zip(each, values)])

        return of_row
    if kind == "ARRAY":
        element = _decoder(about[0], row)
        if element is None:
            return None
        return lambda values: None if values is None else [element(value) for value in values]
    if kind == "MAP":
        key, value = (_decoder(part, row) or _same for part in about)
        if key is _same and value is _same:
            return None
        return lambda entries: (
            None if entries is None else {key(k): value(v) for k, v in entries.items()}
        )
    return _instant if kind == "LTZ" else None


def _instant(value: datetime.datetime | None) -> Instant | None:
    if value is None:
        return None
    seconds, rest = divmod(value.astimezone(datetime.timezone.utc) - _EPOCH, _SECOND)
    return Instant(seconds, rest.microseconds * 1000)


def _encoder(shape: Shape, subject: str) -> Convert:
    kind, *about = shape
    if kind == "ROW":
        return _row_encoder(about[0], about[1], subject)
    if kind == "ARRAY":
        element = _encoder(about[0], f"an element of {subject}")
        return lambda values: None if values is None else [element(value) for value in values]
    if kind == "MAP":
        key = _encoder(about[0], f"a key of {subject}")
        value = _encoder(about[1], f"a value of {subject}")
        return lambda entries: (
            None if entries is None else {key(k): value(v) for k, v in entries.items()}
        )
    encode = function_values.encoder(shape, subject)
    return (lambda value: encode(_moment(value))) if kind == "LTZ" else encode


def _row_encoder(
    names: Sequence[str], shapes: Sequence[Shape], subject: str, optional: bool = True
) -> Convert:
    fields = [_encoder(shape, f"field {name} of {subject}") for name, shape in zip(names, shapes)]

    def encode(value: Any) -> tuple[Any, ...] | None:
        if value is None and optional:
            return None
        values = (
            [value.get(name) for name in names]
            if isinstance(value, Mapping)
            else row_values(value, names)
        )
        return tuple(field(part) for field, part in zip(fields, values))

    return encode


def _moment(value: Any) -> Any:
    if isinstance(value, Instant):
        after = datetime.timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)
        return _EPOCH + after
    return value
