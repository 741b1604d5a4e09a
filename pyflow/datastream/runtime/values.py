"""Elements of declared types: what becomes of them, and how they are printed.

PyFlink encodes an element by its type where it leaves a function, and the next one gets what is
decoded. Here an element that fits its type becomes what would be decoded, and any other is an error
that says which field does not fit.
"""

from __future__ import annotations

import datetime
import decimal
import operator
import struct
from collections.abc import Callable, Mapping
from typing import Any

from pyflow.common.time import Instant
from pyflow.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from pyflow.common.types import Row
from pyflow.datastream.runtime.errors import shown
from pyflow.types.internal_values import row_values
from pyflow.util.java_numbers import java_float

__all__ = ["ElementTypeError", "coercion", "collected", "printed"]

_Convert = Callable[[Any], Any]
_single = struct.Struct("f")
_INTEGRAL = {BasicType.BYTE: 8, BasicType.SHORT: 16, BasicType.INT: 32, BasicType.LONG: 64}
_ARRAYS = (BasicArrayTypeInfo, ListTypeInfo, ObjectArrayTypeInfo, PrimitiveArrayTypeInfo)


class ElementTypeError(TypeError):
    """An element does not fit its declared type.

    Parameters
    ----------
    expected : str
        The type.
    value : object
    path : str
        The field; empty for the element itself.
    """

    def __init__(self, expected: str, value: Any, path: str = "") -> None:
        self._parts = (expected, value, path)
        where = f" in field '{path}'" if path else ""
        super().__init__(f"expected {expected}{where}, got {shown(value)}")

    def inside(self, field: str) -> ElementTypeError:
        """Return the error of the element that has the value in a field."""
        expected, value, path = self._parts
        between = "" if not path or path.startswith("[") else "."
        return ElementTypeError(expected, value, f"{field}{between}{path}")


def coercion(type_info: TypeInformation | None) -> _Convert | None:
    """Return what makes of an element what the next function gets; None if it stays as it is.

    Parameters
    ----------
    type_info : TypeInformation or None
        The declared type of elements; None for any objects.

    Raises
    ------
    ElementTypeError
        By the function that is returned, for elements that do not fit.
    """
    if type_info is None or isinstance(type_info, PickledBytesTypeInfo):
        return None
    convert = _conversion(type_info)
    return lambda value: None if value is None else convert(value)


def _conversion(info: TypeInformation) -> _Convert:
    """Return what converts values that are not None."""
    if isinstance(info, BasicTypeInfo):
        return _basic(info._basic_type)
    if isinstance(info, RowTypeInfo):
        return _row(info)
    if isinstance(info, TupleTypeInfo):
        return _tuple(info)
    if isinstance(info, PrimitiveArrayTypeInfo) and _is_byte(info):
        return _bytes
    if isinstance(info, _ARRAYS):
        return _list(info)
    if isinstance(info, MapTypeInfo):
        return _map(info)
    if isinstance(info, ExternalTypeInfo):
        return _conversion(info._type_info)
    kinds = _times(info)
    return (lambda value: value) if kinds is None else _of_class(*kinds)


def _times(info: TypeInformation) -> tuple[str, type[Any]] | None:
    if isinstance(info, DateTypeInfo):
        return "DATE", datetime.date
    if isinstance(info, TimeTypeInfo):
        return "TIME", datetime.time
    if isinstance(info, TimestampTypeInfo):
        return "TIMESTAMP", datetime.datetime
    if isinstance(info, LocalTimeTypeInfo):
        kinds = (datetime.date, datetime.time, datetime.datetime)
        return info._time_type.name, kinds[info._time_type.value]
    return None


def _is_byte(info: PrimitiveArrayTypeInfo) -> bool:
    element = info._element_type
    return isinstance(element, BasicTypeInfo) and element._basic_type == BasicType.BYTE


def _basic(kind: BasicType) -> _Convert:
    if kind in _INTEGRAL:
        return _integer(kind.name, _INTEGRAL[kind])
    found: dict[BasicType, _Convert] = {
        BasicType.STRING: _string,
        BasicType.BOOLEAN: _boolean,
        BasicType.FLOAT: _float32,
        BasicType.DOUBLE: _double,
        BasicType.CHAR: _string,
        BasicType.BIG_INT: _integer(kind.name, 0),
        BasicType.BIG_DEC: _decimal,
        BasicType.INSTANT: _of_class("INSTANT", Instant),
    }
    return found[kind]


def _string(value: Any) -> str:
    if type(value) is str:
        return value
    if isinstance(value, str):
        return str(value)
    raise ElementTypeError("STRING", value)


def _boolean(value: Any) -> bool:
    if type(value) is bool:
        return value
    if isinstance(value, (int, float)) or type(value).__module__ == "numpy":
        return bool(value)
    raise ElementTypeError("BOOLEAN", value)


def _integer(name: str, bits: int) -> _Convert:
    least, greatest = -(1 << bits - 1) if bits else 0, (1 << bits - 1) - 1 if bits else 0

    def convert(value: Any) -> int:
        number = value if type(value) is int else _index(name, value)
        if bits and not least <= number <= greatest:
            raise ElementTypeError(f"{name}, from {least} to {greatest}", value)
        return number

    return convert


def _index(name: str, value: Any) -> int:
    try:
        return operator.index(value) + 0
    except TypeError:
        raise ElementTypeError(name, value) from None


def _double(value: Any) -> float:
    if type(value) is float:
        return value
    if isinstance(value, (str, bytes)):
        raise ElementTypeError("DOUBLE", value)
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ElementTypeError("DOUBLE", value) from None


def _float32(value: Any) -> float:
    try:
        number: float = _single.unpack(_single.pack(_double(value)))[0]
    except (ElementTypeError, OverflowError):
        raise ElementTypeError("FLOAT", value) from None
    return number


def _decimal(value: Any) -> decimal.Decimal:
    if isinstance(value, decimal.Decimal):
        return value
    if isinstance(value, int):
        return decimal.Decimal(value)
    raise ElementTypeError("BIG_DEC", value)


def _bytes(value: Any) -> bytes:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, (list, tuple)):
        try:
            return bytes(each & 0xFF for each in value)
        except TypeError:
            pass
    raise ElementTypeError("PRIMITIVE_ARRAY(BYTE)", value)


def _of_class(name: str, kind: type[Any]) -> _Convert:
    def convert(value: Any) -> Any:
        if isinstance(value, kind):
            return value
        raise ElementTypeError(name, value)

    return convert


def _fields(infos: list[TypeInformation], names: list[str]) -> Callable[[Any], list[Any]]:
    converts = [coercion(each) for each in infos]

    def convert(values: Any) -> list[Any]:
        made = []
        for name, change, value in zip(names, converts, values):
            if change is not None:
                try:
                    value = change(value)
                except ElementTypeError as error:
                    raise error.inside(name) from None
            made.append(value)
        return made

    return convert


def _tuple(info: TupleTypeInfo) -> _Convert:
    types = info.get_field_types()
    convert, width = _fields(types, info._names()), len(types)

    def to_tuple(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (tuple, list, Row)):
            raise ElementTypeError(f"TUPLE of {width}", value)
        if len(value) != width:
            raise ElementTypeError(f"TUPLE of {width}, not {len(value)} values", value)
        return tuple(convert(value))

    return to_tuple


def _row(info: RowTypeInfo) -> _Convert:
    names = info.get_field_names()
    width = len(names)
    convert, is_named = _fields(info.get_field_types(), names), info._field_names is not None

    def to_row(value: Any) -> Row:
        try:
            kind, values = row_values(value, names)
        except ValueError:
            raise ElementTypeError(f"ROW of {width}", value) from None
        if len(values) != width:
            raise ElementTypeError(f"ROW of {width}, not {len(values)} values", value)
        row = Row(*convert(values))
        row.set_row_kind(kind)
        if is_named:
            row.set_field_names(names)
        return row

    return to_row


def _list(info: Any) -> _Convert:
    change = coercion(info._element_type)

    def convert(value: Any) -> list[Any]:
        if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__iter__"):
            raise ElementTypeError(str(info), value)
        if change is None:
            return list(value)
        made = []
        for place, element in enumerate(value):
            try:
                made.append(change(element))
            except ElementTypeError as error:
                raise error.inside(f"[{place}]") from None
        return made

    return convert


def _map(info: MapTypeInfo) -> _Convert:
    change_key, change = coercion(info._key_type_info), coercion(info._value_type_info)

    def convert(value: Any) -> dict[Any, Any]:
        if not isinstance(value, Mapping):
            raise ElementTypeError("MAP", value)
        made = {}
        for key, element in value.items():
            try:
                own = key if change_key is None else change_key(key)
                made[own] = element if change is None else change(element)
            except ElementTypeError as error:
                raise error.inside(f"[{key!r}]") from None
        return made

    return convert


def collected(type_info: TypeInformation | None) -> _Convert | None:
    """Return what makes of an element what ``execute_and_collect`` returns; None: it stays."""
    return None


def printed(type_info: TypeInformation | None) -> Callable[[Any], str]:
    """Return what makes the line that ``print()`` writes for an element.

    Elements of declared types are written as Java's classes write them, others as ``str()`` does.
    """
    if type_info is None or isinstance(type_info, PickledBytesTypeInfo):
        return lambda value: value if isinstance(value, str) else str(value)
    return _text(type_info)


def _text(info: TypeInformation | None) -> Callable[[Any], str]:
    text = _text_of(info)
    return lambda value: "null" if value is None else text(value)


def _text_of(info: TypeInformation | None) -> Callable[[Any], str]:
    if isinstance(info, ExternalTypeInfo):
        return _text_of(info._type_info)
    if isinstance(info, RowTypeInfo):
        texts = [_text(each) for each in info.get_field_types()]
        return lambda row: f"{row.get_row_kind()}[{_joined(texts, row)}]"
    if isinstance(info, TupleTypeInfo):
        texts = [_text(each) for each in info.get_field_types()]
        return lambda values: f"({_joined(texts, values, ',')})"
    if isinstance(info, PrimitiveArrayTypeInfo) and _is_byte(info):
        return lambda value: f"[{', '.join(str((each + 128) % 256 - 128) for each in value)}]"
    if isinstance(info, _ARRAYS):
        text = _text(info._element_type)
        return lambda values: f"[{', '.join(map(text, values))}]"
    if isinstance(info, MapTypeInfo):
        key, value = _text(info._key_type_info), _text(info._value_type_info)
        return lambda values: (
            "{" + ", ".join(f"{key(k)}={value(v)}" for k, v in values.items()) + "}"
        )
    if isinstance(info, BasicTypeInfo):
        return _basic_text(info._basic_type)
    return _time_text


def _joined(texts: list[Callable[[Any], str]], values: Any, separator: str = ", ") -> str:
    return separator.join(text(value) for text, value in zip(texts, values))


def _basic_text(kind: BasicType) -> Callable[[Any], str]:
    if kind == BasicType.BOOLEAN:
        return lambda value: "true" if value else "false"
    if kind in (BasicType.FLOAT, BasicType.DOUBLE):
        is_single = kind == BasicType.FLOAT
        return lambda value: java_float(float(value), single=is_single)
    return str


def _time_text(value: Any) -> str:
    if isinstance(value, datetime.datetime):
        fraction = f"{value.microsecond:06d}".rstrip("0") or "0"
        return f"{value:%Y-%m-%d %H:%M:%S}.{fraction}"
    if isinstance(value, datetime.time):
        return f"{value:%H:%M:%S}"
    return str(value)
