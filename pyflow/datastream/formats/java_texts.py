"""Values made of texts, and texts made of them, as Java's own classes do it.

Flink's row formats of the DataStream API leave numbers, dates and times to ``Integer.parseInt``,
``Timestamp.valueOf``, ``Double.toString`` and their like, which take other texts than Python does.
"""

from __future__ import annotations

import datetime
import math
import re
import struct
from decimal import Decimal

from pyflow.types.internal_values import datetime_of_micros, micros_of_datetime
from pyflow.util.java_numbers import java_float

__all__ = [
    "big_decimal",
    "boolean",
    "double",
    "double_text",
    "float_of_32_bits",
    "float_text",
    "integer",
    "integer_between",
    "iso_date",
    "iso_timestamp",
    "local_timestamp",
    "sql_date",
    "sql_time",
    "sql_timestamp",
    "timestamp_text",
    "whole_number",
]

_WHOLE = re.compile(r"[+-]?[0-9]+")
_DOUBLE = re.compile(
    r"[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?)"
)
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_ISO_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_ISO_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[T ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{0,9}))?Z"
)
_SQL_DATE = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})")
_SQL_TIME = re.compile(r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})")
_SQL_TIMESTAMP = re.compile(
    r"([0-9]{4}-[0-9]{1,2}-[0-9]{1,2}) +([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:\.([0-9]{1,9}))?"
)
_FLOAT = struct.Struct("f")
_LARGEST_FLOAT = 3.4028235677973366e38


def _failed(text: str, expected: str) -> ValueError:
    return ValueError(f"{text!r} is no {expected}")


# Numbers


def whole_number(text: str) -> int:
    """Return the integer of a text, of any size."""
    trimmed = text.strip()
    if _WHOLE.fullmatch(trimmed) is None:
        raise _failed(text, "integer")
    return int(trimmed)


def integer_between(number: int, bits: int) -> int:
    """Return an integer, or raise ValueError where it has more bits."""
    limit = 1 << (bits - 1)
    if not -limit <= number < limit:
        raise ValueError(f"{number} is no integer of {bits} bits")
    return number


def integer(text: str, bits: int) -> int:
    """Return the integer of a text that has so many bits."""
    return integer_between(whole_number(text), bits)


def double(text: str) -> float:
    """Return the floating-point number of a text."""
    trimmed = text.strip()
    if _DOUBLE.fullmatch(trimmed) is None:
        raise _failed(text, "number")
    return float(trimmed if trimmed[-1] in "Ny" else trimmed.rstrip("fFdD"))


def float_of_32_bits(number: float) -> float:
    """Return the nearest number of 32 bits; an infinite one for those that are too large."""
    if abs(number) >= _LARGEST_FLOAT:
        return math.copysign(math.inf, number)
    return float(_FLOAT.unpack(_FLOAT.pack(number))[0])


def big_decimal(text: str) -> Decimal:
    """Return the decimal number of a text, with all of its digits."""
    trimmed = text.strip()
    if _DECIMAL.fullmatch(trimmed) is None:
        raise _failed(text, "decimal number")
    return Decimal(trimmed)


def boolean(text: str) -> bool:
    """Return whether a text says true."""
    return text.strip().lower() == "true"


def double_text(value: float) -> str:
    """Return a floating-point number of 64 bits as Java writes it."""
    if 1e-3 <= abs(value) < 1e7:
        return repr(float(value))
    return java_float(value, single=False)


def float_text(value: float) -> str:
    """Return a floating-point number of 32 bits as Java writes it."""
    return java_float(value, single=True)


# Dates and times


def _micros(fraction: str | None) -> int:
    """Return the microseconds of the digits of a second's fraction."""
    return int(fraction[:6].ljust(6, "0")) if fraction else 0


def iso_date(text: str) -> datetime.date:
    """Return the date of ``2020-01-02``."""
    found = _ISO_DATE.fullmatch(text)
    if found is None:
        raise _failed(text, "date as yyyy-MM-dd")
    return datetime.date(*map(int, found.groups()))


def iso_timestamp(text: str, between: str = "T") -> datetime.datetime:
    """Return the date and time of ``2020-01-02T12:34:56.123Z``, without its zone.

    Parameters
    ----------
    text : str
    between : str
        What stands between date and time: ``T`` or a blank.
    """
    found = _ISO_TIMESTAMP.fullmatch(text)
    if found is None or text[10] != between:
        raise _failed(text, f"time as yyyy-MM-dd{between}HH:mm:ss.SSSZ")
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    return datetime.datetime(year, month, day, hour, minute, second, _micros(found[7]))


def sql_date(text: str) -> datetime.date:
    """Return the date of ``2020-1-2``; days after the end of a month are of the next one."""
    found = _SQL_DATE.fullmatch(text)
    if found is None:
        raise _failed(text, "date as yyyy-[m]m-[d]d")
    year, month, day = map(int, found.groups())
    if not (1 <= month <= 12 and 1 <= day <= 31):
        raise _failed(text, "date")
    return datetime.date(year, month, 1) + datetime.timedelta(days=day - 1)


def sql_time(text: str) -> datetime.time:
    """Return the time of the day of ``12:34:56``."""
    found = _SQL_TIME.fullmatch(text)
    if found is None:
        raise _failed(text, "time as hh:mm:ss")
    hour, minute, second = map(int, found.groups())
    return datetime.time(hour, minute, second)


def sql_timestamp(text: str) -> datetime.datetime:
    """Return the date and time of ``2020-1-2 3:4:5.6``."""
    found = _SQL_TIMESTAMP.fullmatch(text.strip())
    if found is None:
        raise _failed(text, "timestamp as yyyy-mm-dd hh:mm:ss[.fffffffff]")
    hour, minute, second = map(int, found.groups()[1:4])
    time = datetime.time(hour, minute, second, _micros(found[5]))
    return datetime.datetime.combine(sql_date(found[1]), time)


def local_timestamp(value: datetime.datetime) -> datetime.datetime:
    """Return a date and time without a zone: the local one where there was a zone."""
    return value if value.tzinfo is None else datetime_of_micros(micros_of_datetime(value))


def timestamp_text(value: datetime.datetime, between: str, fraction: str) -> str:
    """Return the text of a date and time, with as few digits of the second as it has.

    Parameters
    ----------
    value : datetime.datetime
    between : str
        What stands between date and time.
    fraction : str
        What stands for no fraction of the second.
    """
    text = value.replace(microsecond=0, tzinfo=None).isoformat(between)
    if not value.microsecond:
        return text + fraction
    return f"{text}.{value.microsecond:06d}".rstrip("0")
