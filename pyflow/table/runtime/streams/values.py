"""Conversion between values of Python functions and their encoding in the rows of operators.

The encoding is that of ``pyflow.table.relations.encoding``.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from pyflow.common.types import _create_row
from pyflow.types.function_values import Shape, time_zone

__all__ = ["fields_of", "packer", "unpacker"]

Convert = Callable[[Any], Any]

_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)
_FIRST_DAY = _EPOCH.toordinal()


def unpacker(shape: Shape) -> Convert | None:
    """Return the function that decodes a value for a function; None if it needs no decoding.

    Parameters
    ----------
    shape : tuple
        As `pyflow.types.function_values` has them.
    """
    kind, *about = shape
    if kind == "DATE":
        return lambda days: None if days is None else datetime.date.fromordinal(_FIRST_DAY + days)
    if kind == "TIMESTAMP":
        return lambda micros: None if micros is None else _EPOCH + micros * _MICROSECOND
    if kind == "LTZ":
        zone = time_zone(about[1])
        return lambda micros: None if micros is None else _instant(micros).astimezone(zone)
    if kind == "ROW":
        names, each = list(about[0]), [unpacker(field) for field in about[1]]
        return lambda row: (
            None if row is None else _create_row(names, _converted(fields_of(row), each))
        )
    return _of_collection(kind, about, unpacker)


def fields_of(row: Any) -> tuple[Any, ...]:
    """Return the fields of a row; one inside another row may have become a dict."""
    return tuple(row.values() if isinstance(row, dict) else row)


def packer(shape: Shape) -> Convert | None:
    """Return the function that encodes a checked result of a function; None if it needs none."""
    kind, *about = shape
    if kind == "DATE":
        return lambda day: None if day is None else day.toordinal() - _FIRST_DAY
    if kind in ("TIMESTAMP", "LTZ"):
        return lambda time: None if time is None else _micros(time)
    if kind == "ROW":
        each = [packer(field) for field in about[1]]
        return lambda row: None if row is None else tuple(_converted(row, each))
    return _of_collection(kind, about, packer)


def _of_collection(
    kind: str, about: list[Any], of: Callable[[Shape], Convert | None]
) -> Convert | None:
    if kind == "ARRAY":
        element = of(about[0])
        if element is None:
            return None
        return lambda values: None if values is None else [element(value) for value in values]
    if kind == "MAP":
        both = [of(about[0]), of(about[1])]
        if not any(both):
            return None
        return lambda entries: (
            None if entries is None else dict(_converted(entry, both) for entry in entries.items())
        )
    return None


def _converted(values: Any, each: list[Convert | None]) -> list[Any]:
    return [value if convert is None else convert(value) for convert, value in zip(each, values)]


def _instant(micros: int) -> datetime.datetime:
    return (_EPOCH + micros * _MICROSECOND).replace(tzinfo=datetime.timezone.utc)


def _micros(time: datetime.datetime) -> int:
    if time.tzinfo is not None:
        time = time.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return (time - _EPOCH) // _MICROSECOND
