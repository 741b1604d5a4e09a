"""Avro's binary encoding of rows.

Functions for a schema are made once. Those that read take bytes and a place in them, and return a
value and the place behind it; those that write add bytes to a buffer.
"""

from __future__ import annotations

import datetime
import struct
from collections.abc import Callable, Mapping
from decimal import Context, Decimal, Inexact
from operator import index
from typing import Any

from pyflow.datastream.formats.avro_schemas import logical_type, nullable
from pyflow.datastream.formats.java_texts import local_timestamp
from pyflow.datastream.formats.rows import row_of, row_values

__all__ = ["record_reader", "record_writer"]

Schema = Mapping[str, Any]
Read = Callable[[bytes, int], "tuple[Any, int]"]
Write = Callable[[bytearray, Any], None]

_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")
_EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()
_EPOCH = datetime.datetime(1970, 1, 1)
_MILLI, _MICRO = datetime.timedelta(milliseconds=1), datetime.timedelta(microseconds=1)
_DIGITS = 1_000_000
_MOST_BITS = 70


def _taken(data: bytes, place: int, size: int) -> int:
    """Return the place behind so many bytes."""
    end = place + size
    if size < 0 or end > len(data):
        raise ValueError(f"the record ends at byte {len(data)}, where a value needs {size} bytes")
    return end


# Reading


def _long(data: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        if place >= len(data) or shift >= _MOST_BITS:
            raise ValueError(f"there is no whole number at byte {place}")
        byte = data[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), place
        shift += 7


def _bytes(data: bytes, place: int) -> tuple[bytes, int]:
    size, place = _long(data, place)
    end = _taken(data, place, size)
    return data[place:end], end


def _string(data: bytes, place: int) -> tuple[str, int]:
    found, place = _bytes(data, place)
    return found.decode("utf-8"), place


def _boolean(data: bytes, place: int) -> tuple[bool, int]:
    end = _taken(data, place, 1)
    return data[place] != 0, end


def _float(data: bytes, place: int) -> tuple[float, int]:
    end = _taken(data, place, 4)
    return _FLOAT.unpack_from(data, place)[0], end


def _double(data: bytes, place: int) -> tuple[float, int]:
    end = _taken(data, place, 8)
    return _DOUBLE.unpack_from(data, place)[0], end


_READERS: dict[str, Read] = {
    "boolean": _boolean,
    "int": _long,
    "long": _long,
    "float": _float,
    "double": _double,
    "bytes": _bytes,
    "string": _string,
}


def record_reader(schema: Schema) -> Read:
    """Return what reads records of a resolved schema as rows."""
    fields = [_nullable_reader(each["type"]) for each in schema["fields"]]
    make = row_of([each["name"] for each in schema["fields"]])

    def read(data: bytes, place: int) -> tuple[Any, int]:
        values = []
        for read_field in fields:
            value, place = read_field(data, place)
            values.append(value)
        return make(values), place

    return read


def _nullable_reader(union: Schema) -> Read:
    schema, null = nullable(union)
    read_plain = _reader(schema)
    if union["type"] != "union":
        return read_plain
    branches = len(union["branches"])

    def read(data: bytes, place: int) -> tuple[Any, int]:
        branch, place = _long(data, place)
        if not 0 <= branch < branches:
            raise ValueError(f"a union of {branches} types has no type {branch}")
        return (None, place) if branch == null else read_plain(data, place)

    return read


def _reader(schema: Schema) -> Read:
    kind = schema["type"]
    if kind == "record":
        return record_reader(schema)
    if kind == "array":
        return _blocks_reader(_nullable_reader(schema["items"]), list)
    if kind == "map":
        return _blocks_reader(_entry_reader(_nullable_reader(schema["values"])), dict)
    if kind == "enum":
        return _enum_reader(schema["symbols"])
    plain = _fixed_reader(schema["size"]) if kind == "fixed" else _READERS[kind]
    made = _logical_maker(schema)
    if made is None:
        return plain

    def read(data: bytes, place: int) -> tuple[Any, int]:
        value, place = plain(data, place)
        return made(value), place

    return read


def _logical_maker(schema: Schema) -> Callable[[Any], Any] | None:
    """Return what makes the value of a logical type, if the schema has one."""
    logical = logical_type(schema)
    if logical == "decimal":
        scale = schema.get("scale", 0)
        context = Context(prec=_DIGITS)
        return lambda value: Decimal(int.from_bytes(value, "big", signed=True)).scaleb(
            -scale, context
        )
    return {
        None: None,
        "date": lambda days: datetime.date.fromordinal(days + _EPOCH_DAY),
        "time-millis": lambda millis: (_EPOCH + millis * _MILLI).time(),
        "time-micros": lambda micros: (_EPOCH + micros * _MICRO).time(),
        "timestamp-millis": lambda millis: _EPOCH + millis * _MILLI,
        "timestamp-micros": lambda micros: _EPOCH + micros * _MICRO,
    }[logical]


def _fixed_reader(size: int) -> Read:
    def read(data: bytes, place: int) -> tuple[bytes, int]:
        end = _taken(data, place, size)
        return data[place:end], end

    return read


def _enum_reader(symbols: list[str]) -> Read:
    def read(data: bytes, place: int) -> tuple[str, int]:
        number, place = _long(data, place)
        if not 0 <= number < len(symbols):
            raise ValueError(f"the enum of {symbols} has no symbol {number}")
        return symbols[number], place

    return read


def _entry_reader(read_value: Read) -> Read:
    def read(data: bytes, place: int) -> tuple[tuple[str, Any], int]:
        key, place = _string(data, place)
        value, place = read_value(data, place)
        return (key, value), place

    return read


def _blocks_reader(read_item: Read, collect: Callable[[list[Any]], Any]) -> Read:
    def read(data: bytes, place: int) -> tuple[Any, int]:
        items: list[Any] = []
        while True:
            count, place = _long(data, place)
            if not count:
                return collect(items), place
            if count < 0:
                # Then the size of the block follows.
                count, (_, place) = -count, _long(data, place)
            if count > len(data):
                raise ValueError(f"there is no block of {count} items")
            for _ in range(count):
                item, place = read_item(data, place)
                items.append(item)

    return read


# Writing


def _put_long(buffer: bytearray, value: Any) -> None:
    number = index(value)
    if not -(1 << 63) <= number < 1 << 63:
        raise ValueError(f"{number} is no integer of 64 bits")
    number = (number << 1) ^ (number >> 63)
    while number > 0x7F:
        buffer.append((number & 0x7F) | 0x80)
        number >>= 7
    buffer.append(number)


def _put_int(buffer: bytearray, value: Any) -> None:
    if not -(1 << 31) <= index(value) < 1 << 31:
        raise ValueError(f"{value} is no integer of 32 bits")
    _put_long(buffer, value)


def _put_bytes(buffer: bytearray, value: Any) -> None:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"expected bytes, not {value!r}")
    _put_long(buffer, len(value))
    buffer += value


def _put_string(buffer: bytearray, value: Any) -> None:
    if not isinstance(value, str):
        raise TypeError(f"expected a string, not {value!r}")
    _put_bytes(buffer, value.encode("utf-8", "replace"))


def _put_boolean(buffer: bytearray, value: Any) -> None:
    buffer.append(1 if value else 0)


def _put_float(buffer: bytearray, value: Any) -> None:
    buffer += _FLOAT.pack(value)


def _put_double(buffer: bytearray, value: Any) -> None:
    buffer += _DOUBLE.pack(value)


_WRITERS: dict[str, Write] = {
    "boolean": _put_boolean,
    "int": _put_int,
    "long": _put_long,
    "float": _put_float,
    "double": _put_double,
    "bytes": _put_bytes,
    "string": _put_string,
}


def record_writer(schema: Schema) -> Write:
    """Return what writes rows as records of a resolved schema."""
    names = [each["name"] for each in schema["fields"]]
    fields = [(each["name"], _nullable_writer(each["type"])) for each in schema["fields"]]

    def write(buffer: bytearray, value: Any) -> None:
        for (name, write_field), each in zip(fields, row_values(value, names)):
            try:
                write_field(buffer, each)
            except (TypeError, ValueError, ArithmeticError, struct.error, OverflowError) as error:
                raise ValueError(f"field {name!r}: {error}") from error

    return write


def _nullable_writer(union: Schema) -> Write:
    schema, null = nullable(union)
    write_plain = _writer(schema)
    if union["type"] != "union":
        return write_plain
    place = union["branches"].index(schema)

    def write(buffer: bytearray, value: Any) -> None:
        if value is None and null is not None:
            _put_long(buffer, null)
        else:
            _put_long(buffer, place)
            write_plain(buffer, value)

    return write


def _writer(schema: Schema) -> Write:
    kind = schema["type"]
    if kind == "record":
        return record_writer(schema)
    if kind == "array":
        return _blocks_writer(_nullable_writer(schema["items"]), list)
    if kind == "map":
        write_value = _nullable_writer(schema["values"])
        return _blocks_writer(_entry_writer(write_value), lambda value: list(value.items()))
    if kind == "enum":
        return _enum_writer(schema["symbols"])
    plain = _fixed_writer(schema["size"]) if kind == "fixed" else _WRITERS[kind]
    encode = _logical_encoder(schema)
    if encode is None:
        return plain

    def write(buffer: bytearray, value: Any) -> None:
        plain(buffer, encode(value))

    return write


def _logical_encoder(schema: Schema) -> Callable[[Any], Any] | None:
    logical = logical_type(schema)
    if logical == "decimal":
        return _decimal_encoder(schema.get("scale", 0), schema.get("size"))
    return {
        None: None,
        "date": lambda value: value.toordinal() - _EPOCH_DAY,
        "time-millis": lambda value: _since_midnight(value) // _MILLI,
        "time-micros": lambda value: _since_midnight(value) // _MICRO,
        "timestamp-millis": lambda value: (local_timestamp(value) - _EPOCH) // _MILLI,
        "timestamp-micros": lambda value: (local_timestamp(value) - _EPOCH) // _MICRO,
    }[logical]


def _since_midnight(value: datetime.time) -> datetime.timedelta:
    return datetime.datetime.combine(_EPOCH, value.replace(tzinfo=None)) - _EPOCH


def _decimal_encoder(scale: int, size: int | None) -> Callable[[Any], bytes]:
    unit = Decimal(1).scaleb(-scale)
    context = Context(prec=_DIGITS, traps=[Inexact])

    def encode(value: Any) -> bytes:
        try:
            scaled = Decimal(value).quantize(unit, context=context)
        except Inexact:
            raise ValueError(f"{value} has more than {scale} digits behind the point") from None
        unscaled = int(scaled.scaleb(scale, context))
        length = size or unscaled.bit_length() // 8 + 1
        return unscaled.to_bytes(length, "big", signed=True)

    return encode


def _fixed_writer(size: int) -> Write:
    def write(buffer: bytearray, value: Any) -> None:
        if len(value) != size:
            raise ValueError(f"expected {size} bytes, not {len(value)}")
        buffer += value

    return write


def _enum_writer(symbols: list[str]) -> Write:
    places = {symbol: place for place, symbol in enumerate(symbols)}

    def write(buffer: bytearray, value: Any) -> None:
        if value not in places:
            raise ValueError(f"{value!r} is none of {symbols}")
        _put_long(buffer, places[value])

    return write


def _entry_writer(write_value: Write) -> Write:
    def write(buffer: bytearray, value: Any) -> None:
        _put_string(buffer, value[0])
        write_value(buffer, value[1])

    return write


def _blocks_writer(write_item: Write, items_of: Callable[[Any], list[Any]]) -> Write:
    def write(buffer: bytearray, value: Any) -> None:
        items = items_of(value)
        if items:
            _put_long(buffer, len(items))
            for each in items:
                write_item(buffer, each)
        buffer.append(0)

    return write
