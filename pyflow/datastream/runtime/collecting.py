"""What ``execute_and_collect`` returns for elements of declared types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyflow.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from pyflow.common.types import _create_row
from pyflow.util.java_numbers import java_float

__all__ = ["collected"]

_Convert = Callable[[Any], Any]

_WithElements = (BasicArrayTypeInfo, ListTypeInfo, ObjectArrayTypeInfo, PrimitiveArrayTypeInfo)


def collected(type_info: TypeInformation | None) -> _Convert | None:
    """Return what makes of an element what ``execute_and_collect`` returns; None if it stays.

    Numbers of a FLOAT have the fewest digits that tell them apart, and bytes are lists of signed
    numbers.
    """
    convert = _conversion(type_info)
    return None if convert is None else lambda value: None if value is None else convert(value)


def _conversion(info: TypeInformation | None) -> _Convert | None:
    if isinstance(info, ExternalTypeInfo):
        return _conversion(info._type_info)
    if isinstance(info, BasicTypeInfo):
        return _single if info._basic_type == BasicType.FLOAT else None
    if isinstance(info, TupleTypeInfo):
        return _fields(info)
    if isinstance(info, _WithElements):
        if info._element_type == BasicTypeInfo.BYTE_TYPE_INFO():
            return _signed
        change = collected(info._element_type)
        return None if change is None else lambda values: list(map(change, values))
    if isinstance(info, MapTypeInfo):
        of_key = collected(info._key_type_info)
        of_value = collected(info._value_type_info)
        if of_key is None and of_value is None:
            return None
        key, value = of_key or _identity, of_value or _identity
        return lambda entries: {key(k): value(v) for k, v in entries.items()}
    return None


def _fields(info: TupleTypeInfo) -> _Convert | None:
    found = [collected(each) for each in info.get_field_types()]
    if not any(found):
        return None
    converts = [each or _identity for each in found]
    if not isinstance(info, RowTypeInfo):
        return lambda values: tuple(_each(converts, values))
    names = info.get_field_names()
    return lambda row: _create_row(names, _each(converts, row), row.get_row_kind())


def _each(converts: Sequence[_Convert], values: Any) -> list[Any]:
    return [convert(value) for convert, value in zip(converts, values)]


def _identity(value: Any) -> Any:
    return value


def _single(value: float) -> float:
    return float(java_float(value, single=True))


def _signed(values: Any) -> list[Any]:
    return [each if each is None or each < 128 else each - 256 for each in values]
