"""Values of types in JSON, read and written as Jackson does it."""

from __future__ import annotations

import base64
import binascii
import datetime
import math
import re
from collections.abc import Callable
from decimal import Decimal
from json.encoder import encode_basestring
from operator import index
from typing import Any

from pyflow.common.time import Instant
from pyflow.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ExternalTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
    _ElementsTypeInfo,
)
from pyflow.datastream.formats import java_texts as java
from pyflow.datastream.formats.rows import row_of, row_values
from pyflow.util.exceptions import TableException

__all__ = [
    "SHOWN",
    "Read",
    "Reader",
    "Write",
    "decimal_node",
    "has_decimals",
    "no_constant",
    "row_writer",
]

#: Makes a value of what JSON has been parsed into.
Read = Callable[[Any], Any]
#: Makes the JSON text of a value.
Write = Callable[[Any], str]

#: How many characters of what cannot be read an error shows.
SHOWN = 500
_BITS = {BasicType.BYTE: 8, BasicType.SHORT: 16, BasicType.INT: 32, BasicType.LONG: 64}
_BYTES = PrimitiveArrayTypeInfo(Types.BYTE())
_EPOCH = datetime.datetime(1970, 1, 1)

# What Jackson writes otherwise than Python: digits of escapes, and characters beyond 16 bits.
_OTHER_ESCAPES = re.compile("[\x00-\x07\x0b\x0e-\x1f\U00010000-\U0010ffff]")
_ESCAPES = re.compile(r"\\(?:u[0-9a-f]{4}|.)")


def _unsupported(type_info: TypeInformation) -> TableException:
    return TableException(f"JSON has no values of the type {type_info!r}")


def has_decimals(type_info: TypeInformation) -> bool:
    """Return whether a value may hold decimals, whose digits are all read."""
    if isinstance(type_info, TupleTypeInfo):
        return any(map(has_decimals, type_info.get_field_types()))
    if isinstance(type_info, _ElementsTypeInfo):
        return has_decimals(type_info._element_type)
    if isinstance(type_info, MapTypeInfo):
        return has_decimals(type_info._value_type_info)
    return type_info == Types.BIG_DEC()


def no_constant(text: str) -> Any:
    """Refuse NaN and Infinity, as Jackson does."""
    raise ValueError(f"Non-standard token '{text}'")


def decimal_node(text: str) -> Decimal:
    """Return a number without zeros at the end of its digits, as Jackson has it."""
    number = Decimal(text)
    if not number:
        return Decimal(0)
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    kept = len(digits)
    while kept > 1 and digits[kept - 1] == 0:
        kept -= 1
    return Decimal((sign, digits[:kept], exponent + len(digits) - kept))


def _text(node: Any) -> str:
    """Return the text of a JSON value that is neither an object nor an array."""
    if isinstance(node, str):
        return node
    if isinstance(node, bool):
        return "true" if node else "false"
    if isinstance(node, float):
        return java.double_text(node)
    return "" if isinstance(node, (dict, list)) else str(node)


def _string(node: Any) -> str:
    return _json(node) if isinstance(node, (dict, list)) else _text(node)


def _json(node: Any) -> str:
    """Return the JSON of what JSON has been parsed into."""
    if isinstance(node, dict):
        return f"{{{','.join(f'{_quoted(key)}:{_json(value)}' for key, value in node.items())}}}"
    if isinstance(node, list):
        return f"[{','.join(map(_json, node))}]"
    if node is None:
        return "null"
    return _quoted(node) if isinstance(node, str) else _text(node)


# Reading


class Reader:
    """Makes functions that read values of types.

    Parameters
    ----------
    strict : bool
        Whether a missing field is an error.
    lenient : bool
        Whether what is no value of its type is None.
    """

    def __init__(self, strict: bool, lenient: bool) -> None:
        self._strict = strict
        self._lenient = lenient

    def nullable(self, type_info: TypeInformation) -> Read:
        """Return what reads values of a type, and null."""
        read, lenient = self._plain(type_info), self._lenient

        def read_nullable(node: Any) -> Any:
            if node is None:
                return None
            try:
                return read(node)
            except (ValueError, TypeError, OverflowError, ArithmeticError):
                if lenient:
                    return None
                raise

        return read_nullable

    def row(self, type_info: RowTypeInfo) -> Read:
        """Return what reads rows."""
        names = type_info.get_field_names()
        fields = [
            (name, self.nullable(field_type))
            for name, field_type in zip(names, type_info.get_field_types())
        ]
        make, strict = row_of(names), self._strict

        def read(node: Any) -> Any:
            if not isinstance(node, dict):
                raise ValueError(f"expected a JSON object, not {_json(node)[:SHOWN]}")
            if strict:
                for name, _ in fields:
                    if name not in node:
                        raise ValueError(f"Could not find field with name '{name}'.")
            get = node.get
            return make([read_field(get(name)) for name, read_field in fields])

        return read

    def _plain(self, type_info: TypeInformation) -> Read:
        if isinstance(type_info, BasicTypeInfo):
            return _basic_reader(type_info._basic_type)
        if isinstance(type_info, DateTypeInfo):
            return lambda node: java.iso_date(_text(node))
        if isinstance(type_info, TimeTypeInfo):
            return _time
        if isinstance(type_info, TimestampTypeInfo):
            return lambda node: java.iso_timestamp(_text(node))
        if isinstance(type_info, LocalTimeTypeInfo):
            return _LOCAL_READERS[type_info._time_type]
        if isinstance(type_info, RowTypeInfo):
            return self.row(type_info)
        if type_info == _BYTES or isinstance(type_info, PickledBytesTypeInfo):
            return _bytes
        if isinstance(type_info, _ElementsTypeInfo):
            return self._array(type_info)
        if isinstance(type_info, MapTypeInfo):
            return self._map(type_info)
        if isinstance(type_info, ExternalTypeInfo):
            return self._plain(type_info._type_info)
        raise _unsupported(type_info)

    def _array(self, type_info: _ElementsTypeInfo) -> Read:
        read_element = self.nullable(type_info._element_type)
        none: Any = None
        if isinstance(type_info, PrimitiveArrayTypeInfo):
            none = False if type_info._element_type == Types.BOOLEAN() else 0

        def read(node: Any) -> Any:
            if not isinstance(node, list):
                raise ValueError(f"expected a JSON array, not {_json(node)[:SHOWN]}")
            values = [read_element(each) for each in node]
            return values if none is None else [none if v is None else v for v in values]

        return read

    def _map(self, type_info: MapTypeInfo) -> Read:
        read_key = self.nullable(type_info._key_type_info)
        read_value = self.nullable(type_info._value_type_info)

        def read(node: Any) -> Any:
            # Flink has no entries, and no error, where there is no object.
            entries = node.items() if isinstance(node, dict) else ()
            return {read_key(key): read_value(value) for key, value in entries}

        return read


def _basic_reader(basic_type: BasicType) -> Read:
    if basic_type in (BasicType.INT, BasicType.LONG):
        return _truncating_reader(_BITS[basic_type])
    if basic_type in _BITS:
        bits = _BITS[basic_type]
        return lambda node: java.integer(_text(node), bits)
    return _BASIC_READERS[basic_type]


def _truncating_reader(bits: int) -> Read:
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def read(node: Any) -> int:
        if type(node) is int and low <= node <= high:
            return node
        # Fractions are left out where the number is in the range of the type.
        if isinstance(node, (float, Decimal)) and low <= node <= high:
            return min(int(node), high)
        return java.integer(_text(node), bits)

    return read


def _double(node: Any) -> float:
    return node if type(node) is float else java.double(_text(node))


def _decimal(node: Any) -> Decimal:
    return node if isinstance(node, Decimal) else java.big_decimal(_text(node))


def _boolean(node: Any) -> bool:
    return node if isinstance(node, bool) else java.boolean(_text(node))


def _character(node: Any) -> str | None:
    if isinstance(node, str) and len(node) <= 1:
        return node or None
    if type(node) is int and 0 <= node < 1 << 16:
        return chr(node)
    raise ValueError(f"{_json(node)[:SHOWN]} is no character")


def _instant(node: Any) -> Instant | None:
    text = _text(node).strip()
    if not text and isinstance(node, str):
        return None
    if "T" in text:
        after = java.iso_timestamp(text) - _EPOCH
        return Instant(after.days * 86_400 + after.seconds, after.microseconds * 1000)
    # Numbers are seconds.
    seconds, fraction = divmod(java.big_decimal(text), 1)
    return Instant(int(seconds), int(fraction * 10**9))


def _time(node: Any) -> datetime.time:
    time = java.iso_timestamp(f"1970-01-01T{_text(node)}").time()
    if time.microsecond:
        raise ValueError(
            "Invalid time format. Only a time in UTC timezone without milliseconds is supported."
        )
    return time


def _bytes(node: Any) -> bytes | None:
    if not isinstance(node, str):
        return None
    try:
        return base64.b64decode(node, validate=True)
    except binascii.Error as error:
        raise ValueError(f"{node[:SHOWN]!r} is no base64: {error}") from error


_BASIC_READERS: dict[BasicType, Read] = {
    BasicType.STRING: lambda node: node if type(node) is str else _string(node),
    BasicType.BOOLEAN: _boolean,
    BasicType.FLOAT: lambda node: java.float_of_32_bits(_double(node)),
    BasicType.DOUBLE: _double,
    BasicType.CHAR: _character,
    BasicType.BIG_INT: lambda node: node if type(node) is int else java.whole_number(_text(node)),
    BasicType.BIG_DEC: _decimal,
    BasicType.INSTANT: _instant,
}
_LOCAL_READERS: dict[LocalTimeTypeInfo.TimeType, Read] = {
    LocalTimeTypeInfo.TimeType.LOCAL_DATE: lambda node: java.iso_date(_text(node)),
    LocalTimeTypeInfo.TimeType.LOCAL_TIME: lambda node: java.iso_timestamp(
        f"1970-01-01T{_text(node)}"
    ).time(),
    LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME: lambda node: java.iso_timestamp(_text(node)),
}

# Writing


def _quoted(text: str) -> str:
    """Return a JSON string, with Jackson's escapes."""
    quoted = encode_basestring(text)
    if _OTHER_ESCAPES.search(text) is None:
        return quoted
    return _OTHER_ESCAPES.sub(_surrogates, _ESCAPES.sub(_upper, quoted))


def _upper(found: re.Match[str]) -> str:
    return found[0] if len(found[0]) == 2 else f"\\u{found[0][2:].upper()}"


def _surrogates(found: re.Match[str]) -> str:
    pair = found[0].encode("utf-16-be").hex().upper()
    return f"\\u{pair[:4]}\\u{pair[4:]}"


def row_writer(type_info: RowTypeInfo) -> Write:
    """Return what makes the JSON object of a row."""
    names = type_info.get_field_names()
    keys = [f"{_quoted(name)}:" for name in names]
    writers = [_nullable_writer(field_type) for field_type in type_info.get_field_types()]
    fields = list(zip(keys, writers))

    def write(value: Any) -> str:
        values = row_values(value, names)
        parts = [key + write_field(each) for (key, write_field), each in zip(fields, values)]
        return f"{{{','.join(parts)}}}"

    return write


def _nullable_writer(type_info: TypeInformation) -> Write:
    write = _writer(type_info)
    return lambda value: "null" if value is None else write(value)


def _writer(type_info: TypeInformation) -> Write:
    if isinstance(type_info, BasicTypeInfo):
        return _BASIC_WRITERS[type_info._basic_type]
    if isinstance(type_info, DateTypeInfo):
        return lambda value: f'"{value:%Y-%m-%d}"' if value.year > 999 else f'"{value.isoformat()}"'
    if isinstance(type_info, TimeTypeInfo):
        return lambda value: f'"{value.replace(microsecond=0, tzinfo=None).isoformat()}Z"'
    if isinstance(type_info, TimestampTypeInfo):
        return _write_timestamp
    if isinstance(type_info, LocalTimeTypeInfo):
        return _LOCAL_WRITERS[type_info._time_type]
    if isinstance(type_info, RowTypeInfo):
        return row_writer(type_info)
    if type_info == _BYTES or isinstance(type_info, PickledBytesTypeInfo):
        return lambda value: f'"{base64.b64encode(bytes(value)).decode()}"'
    if isinstance(type_info, _ElementsTypeInfo):
        write = _nullable_writer(type_info._element_type)
        return lambda value: f"[{','.join([write(each) for each in value])}]"
    if isinstance(type_info, MapTypeInfo):
        return _map_writer(type_info)
    if isinstance(type_info, ExternalTypeInfo):
        return _writer(type_info._type_info)
    raise _unsupported(type_info)


def _map_writer(type_info: MapTypeInfo) -> Write:
    write_value = _nullable_writer(type_info._value_type_info)

    def write(value: Any) -> str:
        parts = [
            f"{_quoted(key if type(key) is str else _text(key))}:{write_value(each)}"
            for key, each in value.items()
        ]
        return f"{{{','.join(parts)}}}"

    return write


def _write_timestamp(value: datetime.datetime) -> str:
    return f'"{java.timestamp_text(java.local_timestamp(value), "T", "")}Z"'


def _write_instant(value: Instant) -> str:
    time = _EPOCH + datetime.timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)
    return _write_timestamp(time)


def _write_double(value: Any) -> str:
    text = java.double_text(value)
    return text if math.isfinite(value) else f'"{text}"'


def _write_float(value: Any) -> str:
    text = java.float_text(value)
    return text if math.isfinite(value) else f'"{text}"'


_BASIC_WRITERS: dict[BasicType, Write] = {
    BasicType.STRING: lambda value: _quoted(value if type(value) is str else str(value)),
    BasicType.BOOLEAN: lambda value: "true" if value else "false",
    BasicType.BYTE: lambda value: str(index(value)),
    BasicType.SHORT: lambda value: str(index(value)),
    BasicType.INT: lambda value: str(index(value)),
    BasicType.LONG: lambda value: str(index(value)),
    BasicType.FLOAT: _write_float,
    BasicType.DOUBLE: _write_double,
    BasicType.CHAR: lambda value: _quoted(str(value)),
    BasicType.BIG_INT: lambda value: str(index(value)),
    BasicType.BIG_DEC: lambda value: str(value if isinstance(value, Decimal) else Decimal(value)),
    BasicType.INSTANT: _write_instant,
}
_LOCAL_WRITERS: dict[LocalTimeTypeInfo.TimeType, Write] = {
    LocalTimeTypeInfo.TimeType.LOCAL_DATE: lambda value: f'"{value.isoformat()}"',
    LocalTimeTypeInfo.TimeType.LOCAL_TIME: lambda value: _write_timestamp(
        datetime.datetime.combine(_EPOCH, value)
    ).replace("1970-01-01T", ""),
    LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME: _write_timestamp,
}
