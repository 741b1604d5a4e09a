"""The bytes that stand for a key.

Keys that are equal have the same bytes, in every process, on every Python and after a restart;
other keys have other bytes. They go into shuffles and checkpoints: a change of them is a change of
the checkpoints' format.

A value is a byte that tells its kind and what is in it, of a known length, so that the bytes of one
value never begin those of another. Numbers that are equal have one kind, as they are one key of a
dict: ``1``, ``1.0``, ``True`` and ``Decimal(1)``. NaN is equal to itself here. Lists, dicts and
sets may be keys.

Objects of other classes stand for their class and the state that pickle (protocol 4) would keep,
each part as its own bytes: those of pickle itself differ with the identity of strings and the order
of sets.
"""

from __future__ import annotations

import copyreg
import datetime
import decimal
import enum
import fractions
import math
import struct
import types
import uuid
from collections.abc import Callable, Iterable
from typing import Any

from pyflow.common.time import Instant
from pyflow.common.types import Row

__all__ = ["key_bytes"]

_INTEGER, _SIZED = struct.Struct(">cq").pack, struct.Struct(">cI").pack
_FLOAT = struct.Struct(">cd").pack
_NAN = _FLOAT(b"f", math.nan)
_MICROSECOND = datetime.timedelta(microseconds=1)
_EPOCH = datetime.datetime(1970, 1, 1)
_ZONED_EPOCH = _EPOCH.replace(tzinfo=datetime.timezone.utc)

# A float has no digits beyond these: only a decimal of a smaller exponent may be equal to one. The
# integer that a decimal of a larger one is equal to is not made: it may have a billion digits.
_MAX_EXPONENT = 1100

_PROTOCOL = 4


def key_bytes(key: Any) -> bytes:
    """Return the bytes that stand for a key.

    Raises
    ------
    TypeError
        If the key, or a value in it, is of a class that pickle cannot take, or contains itself.
    """
    try:
        return _ENCODERS.get(type(key), _other)(key)
    except RecursionError:
        kind = type(key).__name__
        raise TypeError(f"a {kind} that contains itself, or too deeply others, is no key") from None


def _bytes_of(value: Any) -> bytes:
    return _ENCODERS.get(type(value), _other)(value)


def _sized(kind: bytes, content: bytes) -> bytes:
    return _SIZED(kind, len(content)) + content


# --- Numbers ----------------------------------------------------------------------------------


def _integer(value: int) -> bytes:
    try:
        return _INTEGER(b"i", value)
    except struct.error:
        size = (value.bit_length() + 8) // 8
        return _sized(b"I", value.to_bytes(size, "big", signed=True))


def _float(value: float) -> bytes:
    if value.is_integer():
        return _integer(int(value))
    return _FLOAT(b"f", value) if value == value else _NAN


def _ratio(numerator: int, denominator: int) -> bytes:
    """Encode a fraction in lowest terms: as the float that is equal to it, if there is one."""
    if denominator == 1:
        return _integer(numerator)
    try:
        near = numerator / denominator
    except OverflowError:
        near = 0.0
    if near.as_integer_ratio() == (numerator, denominator):
        return _FLOAT(b"f", near)
    return b"r" + _integer(numerator) + _integer(denominator)


def _fraction(value: fractions.Fraction) -> bytes:
    return _ratio(value.numerator, value.denominator)


def _decimal(value: decimal.Decimal) -> bytes:
    if not value.is_finite():
        return _float(float("nan") if value.is_nan() else float(value))
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    kept = text.rstrip("0")
    exponent += len(text) - len(kept)
    if not kept:
        return _integer(0)
    if abs(exponent) <= _MAX_EXPONENT:
        return _ratio(*value.as_integer_ratio())
    return b"d" + _integer(sign) + _sized(b"s", kept.encode()) + _integer(exponent)


def _complex(value: complex) -> bytes:
    real, imaginary = _float(value.real), _float(value.imag)
    return real if value.imag == 0 else b"c" + real + imaginary


# --- Strings and containers -------------------------------------------------------------------


def _string(value: str) -> bytes:
    try:
        content = value.encode()
    except UnicodeEncodeError:
        content = value.encode("utf-8", "surrogatepass")
    return _SIZED(b"s", len(content)) + content


def _binary(value: bytes | bytearray) -> bytes:
    return _SIZED(b"b", len(value)) + value


def _none(value: None) -> bytes:
    return b"N"


def _tuple(values: tuple[Any, ...]) -> bytes:
    encoders = _ENCODERS
    encoded = [encoders.get(type(value), _other)(value) for value in values]
    return _SIZED(b"t", len(encoded)) + b"".join(encoded)


def _list(values: list[Any]) -> bytes:
    return _SIZED(b"l", len(values)) + b"".join(map(_bytes_of, values))


def _set(values: Iterable[Any]) -> bytes:
    encoded = sorted(map(_bytes_of, values))
    return _SIZED(b"S", len(encoded)) + b"".join(encoded)


def _dict(entries: dict[Any, Any]) -> bytes:
    encoded = sorted(_bytes_of(key) + _bytes_of(value) for key, value in entries.items())
    return _SIZED(b"m", len(encoded)) + b"".join(encoded)


def _range(value: range) -> bytes:
    """Encode what is in it: ranges of the same integers are equal."""
    return b"A" + _tuple((len(value), value[:1].start, value.step)[: 1 + min(len(value), 2)])


def _row(row: Row) -> bytes:
    kind = _integer(row.get_row_kind().value)
    names = row.__dict__.get("_fields")
    if names is None:
        return b"R" + kind + _tuple(tuple(row))
    encoded = sorted(_string(name) + _bytes_of(value) for name, value in zip(names, row))
    return b"Q" + kind + _SIZED(b"m", len(encoded)) + b"".join(encoded)


# --- Dates and times --------------------------------------------------------------------------


def _date(value: datetime.date) -> bytes:
    return b"D" + _integer(value.toordinal())


def _datetime(value: datetime.datetime) -> bytes:
    """Encode a point in time if there is a time zone; else what calendar and clock show."""
    if value.utcoffset() is None:
        return b"T" + _integer((value.replace(tzinfo=None) - _EPOCH) // _MICROSECOND)
    return b"Z" + _integer((value - _ZONED_EPOCH) // _MICROSECOND)


def _time(value: datetime.time) -> bytes:
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    micros = seconds * 1_000_000 + value.microsecond
    offset = value.utcoffset()
    if offset is None:
        return b"h" + _integer(micros)
    return b"H" + _integer(micros - offset // _MICROSECOND)


def _interval(value: datetime.timedelta) -> bytes:
    return b"L" + _integer(value // _MICROSECOND)


def _instant(value: Instant) -> bytes:
    return b"n" + _integer(value.seconds) + _integer(value.nanos)


# --- Other classes ----------------------------------------------------------------------------


def _uuid(value: uuid.UUID) -> bytes:
    return b"U" + value.bytes


def _global(value: Any) -> bytes:
    """Encode a class or a function: its name."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if name is None or "<lambda>" in name:
        raise TypeError(f"{value!r} cannot be in a key: it has no name to tell it by")
    return b"G" + _string(str(module)) + _string(name)


def _member(value: enum.Enum) -> bytes:
    # Flags that are set together have no name of their own on every Python.
    of_member = _bytes_of(value.value) if isinstance(value, enum.Flag) else _string(value.name)
    return b"E" + _global(type(value)) + of_member


# Of a class that is derived from these and leaves their equality as it is.
_BASES: tuple[tuple[type, Callable[[Any], bytes]], ...] = (
    (str, _string),
    (int, _integer),
    (float, _float),
    (complex, _complex),
    (decimal.Decimal, _decimal),
    (fractions.Fraction, _fraction),
    (bytes, _binary),
    (bytearray, _binary),
    (tuple, _tuple),
    (list, _list),
    (dict, _dict),
    (set, _set),
    (frozenset, _set),
    (datetime.datetime, _datetime),
    (datetime.date, _date),
    (datetime.time, _time),
    (datetime.timedelta, _interval),
    (uuid.UUID, _uuid),
    (enum.Enum, _member),
    (type, _global),
)

_ENCODERS: dict[type, Callable[[Any], bytes]] = {
    **dict(_BASES),
    bool: _integer,
    range: _range,
    type(None): _none,
    Row: _row,
    Instant: _instant,
    types.FunctionType: _global,
    types.BuiltinFunctionType: _global,
}


def _other(value: Any) -> bytes:
    kind = type(value)
    if kind.__module__ == "numpy" and getattr(value, "shape", None) == ():
        # Of numpy.longdouble there is no item of Python's; a time may have one that is an integer.
        item = value.item() if value.dtype.kind in "biufcUS" else value
        if type(item) is not kind:
            return _bytes_of(item)
    for base, encode in _BASES:
        if isinstance(value, base):
            if kind.__eq__ is base.__eq__ or base is dict:
                return encode(value)
            break
    return _reduced(value)


def _reduced(value: Any) -> bytes:
    reduce = copyreg.dispatch_table.get(type(value))
    reduced = value.__reduce_ex__(_PROTOCOL) if reduce is None else reduce(value)
    if isinstance(reduced, str):
        return b"G" + _string(str(getattr(value, "__module__", None))) + _string(reduced)
    function, arguments, state, items, entries = (*reduced, None, None, None)[:5]
    parts = [
        _global(function),
        _bytes_of(arguments),
        _bytes_of(state),
        _list([] if items is None else list(items)),
        _dict({} if entries is None else dict(entries)),
    ]
    return b"O" + b"".join(parts)
