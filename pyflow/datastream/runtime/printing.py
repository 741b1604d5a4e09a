"""The lines that ``print()`` writes for elements.

Those of declared types are written as Java's classes write them, rows and objects of any kind as
Python does: PyFlink hands elements to Java where they are of a type.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from typing import Any

from pyflow.common.time import Instant
from pyflow.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from pyflow.util.java_numbers import java_float

__all__ = ["java_text", "printed"]

_Text = Callable[[Any], str]

_WithElements = (BasicArrayTypeInfo, ListTypeInfo, ObjectArrayTypeInfo, PrimitiveArrayTypeInfo)


def printed(type_info: TypeInformation | None) -> _Text:
    """Return what makes the line that ``print()`` writes for an element.

    Parameters
    ----------
    type_info : TypeInformation or None
        The declared type of elements, which fit it; None for objects of any kind.
    """
    if isinstance(type_info, ExternalTypeInfo):
        return printed(type_info._type_info)
    if isinstance(type_info, RowTypeInfo):
        return _or_null(_python_row)
    return java_text(type_info)


def java_text(type_info: TypeInformation | None) -> _Text:
    """Return what writes elements as Java's ``toString()`` does, and objects of any kind as Python.

    Parameters
    ----------
    type_info : TypeInformation or None
        The declared type of elements, which fit it; None for objects of any kind.
    """
    if type_info is None or isinstance(type_info, PickledBytesTypeInfo):
        return str
    return _java(type_info)


def _or_null(text: _Text) -> _Text:
    return lambda value: "null" if value is None else text(value)


def _python_row(row: Any) -> str:
    """A function of Python's writes rows that are printed themselves, those inside others Java."""
    return f"{row.get_row_kind()}[{','.join(map(str, row))}]"


def _java(info: TypeInformation) -> _Text:
    """Return what writes values as ``toString()`` does, and None as ``null``."""
    return _or_null(_java_text(info))


def _java_text(info: TypeInformation) -> _Text:
    if isinstance(info, ExternalTypeInfo):
        return _java_text(info._type_info)
    if isinstance(info, RowTypeInfo):
        fields = _joined(info.get_field_types(), ", ")
        return lambda row: f"{row.get_row_kind()}[{fields(row)}]"
    if isinstance(info, TupleTypeInfo):
        fields = _joined(info.get_field_types(), ",")
        return lambda values: f"({fields(values)})"
    if isinstance(info, _WithElements):
        return _list(_java(info._element_type))
    if isinstance(info, MapTypeInfo):
        key, value = _java(info._key_type_info), _java(info._value_type_info)
        return lambda entries: _braced(f"{key(k)}={value(v)}" for k, v in entries.items())
    if isinstance(info, LocalTimeTypeInfo):
        return _local_time
    if isinstance(info, BasicTypeInfo):
        return _basic(info._basic_type)
    return _sql_time


def _joined(types: Sequence[TypeInformation], separator: str) -> _Text:
    texts = list(map(_java, types))
    return lambda values: separator.join(text(value) for text, value in zip(texts, values))


def _list(text: _Text) -> _Text:
    def write(values: Any) -> str:
        if isinstance(values, bytes):
            values = (each - 256 if each > 127 else each for each in values)
        return f"[{', '.join(map(text, values))}]"

    return write


def _braced(entries: Any) -> str:
    return "{" + ", ".join(entries) + "}"


def _basic(kind: BasicType) -> _Text:
    if kind == BasicType.BOOLEAN:
        return lambda value: "true" if value else "false"
    if kind in (BasicType.FLOAT, BasicType.DOUBLE):
        is_single = kind == BasicType.FLOAT
        return lambda value: java_float(value, single=is_single)
    return _instant if kind == BasicType.INSTANT else str


def _instant(value: Instant) -> str:
    second = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=value.seconds)
    return f"{second.isoformat()}{_fraction(value.nanos)}Z"


def _fraction(nanos: int) -> str:
    """Return what is behind the second: nothing, or three, six or nine digits."""
    if not nanos:
        return ""
    digits = f"{nanos:09d}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f".{digits}"


def _sql_time(value: datetime.date | datetime.time) -> str:
    if isinstance(value, datetime.datetime):
        fraction = f"{value.microsecond:06d}".rstrip("0") or "0"
        return f"{value.replace(microsecond=0).isoformat(' ')}.{fraction}"
    if isinstance(value, datetime.time):
        return value.replace(microsecond=0).isoformat()
    return str(value)


def _local_time(value: datetime.date | datetime.time) -> str:
    if not isinstance(value, (datetime.datetime, datetime.time)):
        return str(value)
    fraction = _fraction(value.microsecond * 1000)
    is_full = value.second or fraction
    text = value.replace(microsecond=0).isoformat()
    return f"{text}{fraction}" if is_full else text.removesuffix(":00")
