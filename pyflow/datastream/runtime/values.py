"""What becomes of elements of declared types.

PyFlink encodes an element by its type where it leaves a chain of functions, and what comes next is
given what is decoded. Here an element that fits its type becomes what would be decoded, and any
other is an error that names the field. Where PyFlink itself loses or mixes up values, as those that
are too long, they do not fit.
"""

from __future__ import annotations

import datetime
import decimal
import struct
from collections.abc import Callable, Iterable, Sequence
from itertools import count, cycle, repeat
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
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from pyflow.common.types import Row, _create_row
from pyflow.datastream.runtime.collecting import collected
from pyflow.datastream.runtime.errors import shown
from pyflow.datastream.runtime.key_bytes import key_bytes
from pyflow.datastream.runtime.printing import printed
from pyflow.types.internal_values import row_values

__all__ = ["ElementTypeError", "coercion", "collected", "key_bytes", "of_collection", "printed"]

_Convert = Callable[[Any], Any]

_SINGLE = struct.Struct("<f")
_BITS = {BasicType.BYTE: 8, BasicType.SHORT: 16, BasicType.INT: 32, BasicType.LONG: 64}
_MILLISECOND = 1000

_WithElements = (BasicArrayTypeInfo, ListTypeInfo, ObjectArrayTypeInfo, PrimitiveArrayTypeInfo)


class ElementTypeError(TypeError):
    """An element does not fit its declared type.

    Parameters
    ----------
    expected : str
        The type of what does not fit.
    value : object
        What does not fit.
    path : str
        The field that it is in; empty for the element itself.
    """

    def __init__(self, expected: str, value: Any, path: str = "") -> None:
        self._parts = (expected, value, path)
        where = f" in field '{path}'" if path else ""
        super().__init__(f"expected {expected}{where}, got {shown(value)}")

    def __reduce__(self) -> tuple[Any, ...]:
        expected, _, path = self._parts
        return _error_of_text, (expected, path, str(self))

    def inside(self, field: str) -> ElementTypeError:
        """Return the error of the value that has this one in a field."""
        expected, value, path = self._parts
        between = "" if not path or path.startswith("[") else "."
        return ElementTypeError(expected, value, f"{field}{between}{path}")


def _error_of_text(expected: str, path: str, text: str) -> ElementTypeError:
    """Return the error again in another process, to which the value may not go."""
    error = ElementTypeError(expected, None, path)
    error.args = (text,)
    return error


def coercion(type_info: TypeInformation | None) -> _Convert | None:
    """Return what makes of an element what comes next is given; None if that is the same.

    Parameters
    ----------
    type_info : TypeInformation or None
        The declared type of elements; None for objects of any kind.

    Returns
    -------
    callable or None
        It raises ElementTypeError for an element that does not fit. None fits as an element, a
        field of a row, an element of a basic or object array, and a value of a map; elsewhere only
        as a point in time and as an object of any kind, as in PyFlink.
    """
    return _nullable(type_info, _of_functions)


def of_collection(type_info: TypeInformation | None) -> _Convert | None:
    """Return the same for elements of a collection, where more stands for a row.

    Dicts and objects with attributes do, whose missing fields are None.
    """
    return _nullable(type_info, _of_collections)


def _of_functions(value: Any, names: Sequence[str]) -> tuple[Any, Sequence[Any]] | None:
    """Return kind and values of what a function returns for a row; None if it is none."""
    if isinstance(value, Row):
        own = value.__dict__.get("_fields")
        if own is None or own == names:
            return value._row_kind, value._values
        try:
            return value._row_kind, value.get_fields_by_names(list(names))
        except ValueError:
            return None
    return (None, value) if isinstance(value, (tuple, list)) else None


def _of_collections(value: Any, names: Sequence[str]) -> tuple[Any, Sequence[Any]] | None:
    try:
        return _of_functions(value, names) or row_values(value, names)
    except ValueError:
        return None


_RowValues = Callable[[Any, Sequence[str]], "tuple[Any, Sequence[Any]] | None"]


# --- Types ------------------------------------------------------------------------------------


def _nullable(info: TypeInformation | None, row_of: _RowValues) -> _Convert | None:
    convert = _conversion(info, row_of)
    return None if convert is None else lambda value: None if value is None else convert(value)


def _conversion(info: TypeInformation | None, row_of: _RowValues) -> _Convert | None:
    """Return what converts values; what has None refuses it where that does not fit."""
    if isinstance(info, BasicTypeInfo):
        return _basic(info._basic_type)
    if isinstance(info, RowTypeInfo):
        return _row(info, row_of)
    if isinstance(info, TupleTypeInfo):
        return _tuple(info, row_of)
    if isinstance(info, _WithElements):
        return _elements(info, row_of)
    if isinstance(info, MapTypeInfo):
        return _map(info, row_of)
    if isinstance(info, ExternalTypeInfo):
        return _conversion(info._type_info, row_of)
    if isinstance(info, DateTypeInfo):
        return _date
    if isinstance(info, TimeTypeInfo):
        return _sql_time
    if isinstance(info, TimestampTypeInfo):
        return _sql_timestamp
    if isinstance(info, LocalTimeTypeInfo):
        local = (_date, _time, _timestamp)[info._time_type.value]
        return lambda value: None if value is None else local(value)
    return None


def _basic(kind: BasicType) -> _Convert:
    if kind in _BITS:
        return _integer(kind.name, _BITS[kind])
    of_kind: dict[BasicType, _Convert] = {
        BasicType.STRING: _string,
        BasicType.BOOLEAN: _boolean,
        BasicType.FLOAT: _float,
        BasicType.DOUBLE: _double,
        BasicType.CHAR: _char,
        BasicType.BIG_INT: lambda value: _whole("BIG_INT", value),
        BasicType.BIG_DEC: _decimal,
        BasicType.INSTANT: _instant,
    }
    return of_kind[kind]


# --- Values -----------------------------------------------------------------------------------


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise ElementTypeError("STRING", value)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ElementTypeError("STRING, which UTF-8 has", value) from None
    return value if type(value) is str else str.__str__(value)


def _char(value: Any) -> str:
    if isinstance(value, str) and len(value) == 1 and value <= "\uffff":
        return _string(value)
    raise ElementTypeError("CHAR, one character of 16 bits", value)


def _has_number(value: Any, method: str) -> bool:
    """Return whether a value converts to a number of its own accord, as text does not."""
    return hasattr(type(value), method) and not isinstance(value, (str, bytes, bytearray))


def _whole(name: str, value: Any) -> int:
    if type(value) is int:
        return value
    try:
        if _has_number(value, "__int__"):
            return int(value)
    except (OverflowError, TypeError, ValueError):
        pass
    raise ElementTypeError(name, value)


def _integer(name: str, bits: int) -> _Convert:
    least, greatest = -(1 << bits - 1), (1 << bits - 1) - 1

    def convert(value: Any) -> int:
        number = value if type(value) is int else _whole(name, value)
        if least <= number <= greatest:
            return number
        raise ElementTypeError(f"{name}, from {least} to {greatest}", value)

    return convert


def _boolean(value: Any) -> bool:
    if type(value) is bool:
        return value
    number = _whole("BOOLEAN", value)
    if 0 <= number <= 255:
        return bool(number)
    raise ElementTypeError("BOOLEAN", value)


def _double(value: Any) -> float:
    if type(value) is float:
        return value
    try:
        if _has_number(value, "__float__") or _has_number(value, "__index__"):
            return float(value)
    except (OverflowError, TypeError, ValueError):
        pass
    raise ElementTypeError("DOUBLE", value)


def _float(value: Any) -> float:
    try:
        (number,) = _SINGLE.unpack(_SINGLE.pack(_double(value)))
    except ElementTypeError:
        raise ElementTypeError("FLOAT", value) from None
    except OverflowError:
        raise ElementTypeError("FLOAT, up to 3.4028235e38", value) from None
    return number  # type: ignore[no-any-return]


def _decimal(value: Any) -> decimal.Decimal:
    if isinstance(value, (decimal.Decimal, int, float, str)) and not isinstance(value, bool):
        try:
            number = decimal.Decimal(str(value))
        except decimal.InvalidOperation:
            pass
        else:
            if number.is_finite():
                # Java has no negative zero of decimals.
                return number if number else abs(number)
    raise ElementTypeError("BIG_DEC", value)


def _instant(value: Any) -> Instant | None:
    if value is None or isinstance(value, Instant):
        return value
    raise ElementTypeError("INSTANT", value)


def _date(value: Any) -> datetime.date:
    if type(value) is datetime.date:
        return value
    if isinstance(value, datetime.date):
        return datetime.date(value.year, value.month, value.day)
    raise ElementTypeError("DATE", value)


def _time(value: Any, unit: int = 1, name: str = "LOCAL_TIME") -> datetime.time:
    """Return what the clock shows, whatever the time zone."""
    if isinstance(value, (datetime.time, datetime.datetime)):
        micros = value.microsecond - value.microsecond % unit
        return datetime.time(value.hour, value.minute, value.second, micros)
    raise ElementTypeError(name, value)


def _sql_time(value: Any) -> datetime.time:
    return _time(value, _MILLISECOND, "SQL_TIME")


def _timestamp(value: Any, unit: int = 1, name: str = "LOCAL_DATE_TIME") -> datetime.datetime:
    """Return what calendar and clock show, whatever the time zone."""
    if isinstance(value, datetime.datetime):
        micros = value.microsecond - value.microsecond % unit
        day = (value.year, value.month, value.day)
        return datetime.datetime(*day, value.hour, value.minute, value.second, micros)
    raise ElementTypeError(name, value)


def _sql_timestamp(value: Any) -> datetime.datetime:
    return _timestamp(value, _MILLISECOND, "SQL_TIMESTAMP")


# --- Values with others inside ----------------------------------------------------------------


def _identity(value: Any) -> Any:
    return value


def _tuple(info: TupleTypeInfo, row_of: _RowValues) -> _Convert:
    types, names = info.get_field_types(), info._names()
    width = len(types)
    converts = [_conversion(each, row_of) or _identity for each in types]

    def to_tuple(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (tuple, list, Row)):
            raise ElementTypeError(f"TUPLE of {width}", value)
        if len(value) != width:
            raise ElementTypeError(f"TUPLE of {width}, not {len(value)} values", value)
        try:
            return tuple([change(each) for change, each in zip(converts, value)])
        except ElementTypeError:
            raise _misfit(converts, names, value, False) from None

    return to_tuple


def _row(info: RowTypeInfo, row_of: _RowValues) -> _Convert:
    types, names = info.get_field_types(), info.get_field_names()
    width = len(types)
    converts = [_conversion(each, row_of) or _identity for each in types]

    def to_row(value: Any) -> Row:
        found = row_of(value, names)
        if found is None:
            raise ElementTypeError(f"ROW of {', '.join(names)}", value)
        kind, values = found
        if len(values) != width:
            raise ElementTypeError(f"ROW of {width}, not {len(values)} values", value)
        try:
            made = [
                None if each is None else change(each) for change, each in zip(converts, values)
            ]
        except ElementTypeError:
            raise _misfit(converts, names, values, True) from None
        return _create_row(names, made, kind)

    return to_row


def _misfit(
    converts: Iterable[_Convert], names: Iterable[str], values: Iterable[Any], is_nullable: bool
) -> ElementTypeError:
    """Return the error of the first value that does not fit, with the name of its field."""
    for name, change, value in zip(names, converts, values):
        try:
            if value is not None or not is_nullable:
                change(value)
        except ElementTypeError as error:
            return error.inside(name)
    raise AssertionError("values fit that did not before")


def _elements(info: Any, row_of: _RowValues) -> _Convert:
    is_nullable = isinstance(info, (BasicArrayTypeInfo, ObjectArrayTypeInfo))
    change = (_nullable if is_nullable else _conversion)(info._element_type, row_of) or _identity
    expected = f"{type(info).__name__.removesuffix('TypeInfo')} of {info._element_type}"

    def convert(values: Any) -> list[Any]:
        if not isinstance(values, (list, tuple)):
            raise ElementTypeError(expected, values)
        try:
            return list(map(change, values))
        except ElementTypeError:
            places = (f"[{place}]" for place in count())
            raise _misfit(repeat(change), places, values, False) from None

    if is_nullable or info._element_type != BasicTypeInfo.BYTE_TYPE_INFO():
        return convert
    is_list = isinstance(info, ListTypeInfo)

    def bytes_of(value: Any) -> Any:
        if isinstance(value, (bytes, bytearray, memoryview)):
            return bytes(value)
        found = convert(value)
        return found if is_list else bytes(each & 0xFF for each in found)

    return bytes_of


def _map(info: MapTypeInfo, row_of: _RowValues) -> _Convert:
    change_key = _conversion(info._key_type_info, row_of) or _identity
    change = _nullable(info._value_type_info, row_of) or _identity

    def convert(entries: Any) -> dict[Any, Any]:
        if not isinstance(entries, dict):
            raise ElementTypeError(f"Map of {info._key_type_info}", entries)
        try:
            return {change_key(key): change(value) for key, value in entries.items()}
        except ElementTypeError:
            places = [f"[{key!r}]" for key in entries for _ in range(2)]
            values = [part for entry in entries.items() for part in entry]
            raise _misfit(cycle([change_key, change]), places, values, False) from None

    return convert
