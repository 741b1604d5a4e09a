"""Values as strings: as a cast to STRING shows them, and as Java's classes do.

The first is what ``TableResult.print()`` shows, the second what the print connector writes. Both
take PyFlow's Python values: :class:`Row`, ``datetime``, ``Decimal`` and so on.
"""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

from pyflow.common.types import Row
from pyflow.types.logical_types import (
    ArrayType,
    BinaryType,
    BitmapType,
    DataType,
    DayTimeIntervalType,
    FloatType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowType,
    TimestampType,
    TimeType,
    VarBinaryType,
    YearMonthIntervalType,
)
from pyflow.util.java_numbers import java_float


def cast_text(value: Any, data_type: DataType, zone: datetime.tzinfo, null: str = "NULL") -> str:
    """Return a value as CAST(value AS STRING) shows it.

    Parameters
    ----------
    value
        The value, or None.
    data_type
        Its type.
    zone
        The time zone in which a TIMESTAMP_LTZ is shown.
    null
        The text of None; None inside other values is always ``NULL``.
    """
    if value is None:
        return null
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return java_float(value, single=isinstance(data_type, FloatType))
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(data_type, LocalZonedTimestampType):
        return _timestamp(_in_zone(value, zone), data_type.precision)
    if isinstance(data_type, TimestampType):
        return _timestamp(value, data_type.precision)
    if isinstance(data_type, TimeType):
        return f"{value:%H:%M:%S}{_fraction(value.microsecond, data_type.precision)}"
    if isinstance(data_type, DayTimeIntervalType):
        return _day_time(value)
    if isinstance(data_type, YearMonthIntervalType):
        return _year_month(value)
    if isinstance(data_type, (BinaryType, VarBinaryType)):
        return f"x'{bytes(value).hex()}'"
    if isinstance(data_type, BitmapType):
        return _bitmap(value)
    if isinstance(data_type, ArrayType):
        return f"[{', '.join(cast_text(item, data_type.element_type, zone) for item in value)}]"
    if isinstance(data_type, (MapType, MultisetType)):
        key_type, value_type = _entry_types(data_type)
        entries = (
            f"{cast_text(k, key_type, zone)}={cast_text(v, value_type, zone)}"
            for k, v in value.items()
        )
        return "{" + ", ".join(entries) + "}"
    if isinstance(data_type, RowType):
        fields = (
            cast_text(item, part.data_type, zone) for item, part in zip(value, data_type.fields)
        )
        return f"({', '.join(fields)})"
    return str(value)


def java_text(value: Any, data_type: DataType, zone: datetime.tzinfo) -> str:
    """Return a value as the classes show it that hold it in Flink's sinks."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return java_float(value, single=isinstance(data_type, FloatType))
    if isinstance(data_type, LocalZonedTimestampType):
        return _iso(_in_zone(value, datetime.timezone.utc), seconds=True) + "Z"
    if isinstance(data_type, TimestampType):
        return _iso(value, seconds=False)
    if isinstance(data_type, TimeType):
        return _iso_time(value, seconds=False)
    if isinstance(data_type, DayTimeIntervalType):
        return _duration(value)
    if isinstance(data_type, YearMonthIntervalType):
        years, months = divmod(abs(value), 12)
        sign = "-" if value < 0 else ""
        parts = [f"{sign}{years}Y" if years else "", f"{sign}{months}M" if months else ""]
        return "P" + ("".join(parts) or "0D")
    if isinstance(data_type, (BinaryType, VarBinaryType)):
        return str([byte - 256 if byte > 127 else byte for byte in bytes(value)])
    if isinstance(data_type, BitmapType):
        return _bitmap(value)
    if isinstance(data_type, ArrayType):
        return f"[{', '.join(java_text(item, data_type.element_type, zone) for item in value)}]"
    if isinstance(data_type, (MapType, MultisetType)):
        key_type, value_type = _entry_types(data_type)
        entries = (
            f"{java_text(k, key_type, zone)}={java_text(v, value_type, zone)}"
            for k, v in value.items()
        )
        return "{" + ", ".join(entries) + "}"
    if isinstance(data_type, RowType):
        return row_text(value, [part.data_type for part in data_type.fields], zone)
    return str(value)


def row_text(row: Row, types: list[DataType], zone: datetime.tzinfo) -> str:
    """Return a row as Java's Row shows it: ``+I[1, Hello]``."""
    values = (java_text(value, data_type, zone) for value, data_type in zip(row, types))
    return f"{row.get_row_kind()}[{', '.join(values)}]"


def _bitmap(values: list[int]) -> str:
    return "{" + ",".join(str(value & 0xFFFFFFFF) for value in values) + "}"


def _entry_types(data_type: MapType | MultisetType) -> tuple[DataType, DataType]:
    from pyflow.types.data_types import DataTypes

    if isinstance(data_type, MultisetType):
        return data_type.element_type, DataTypes.INT()
    return data_type.key_type, data_type.value_type


def _in_zone(value: datetime.datetime, zone: datetime.tzinfo) -> datetime.datetime:
    """Return an instant, kept as this computer's wall clock, as the wall clock of a zone."""
    return value.astimezone(zone).replace(tzinfo=None)


def _timestamp(value: datetime.datetime, precision: int) -> str:
    text = f"{value.year:04d}-{value:%m-%d %H:%M:%S}"
    return text + _fraction(value.microsecond, precision)


def _fraction(microsecond: int, precision: int) -> str:
    if precision == 0:
        return ""
    return "." + f"{microsecond:06d}000"[:precision]


def _iso(value: datetime.datetime, seconds: bool) -> str:
    return f"{value.year:04d}-{value:%m-%d}T{_iso_time(value.time(), seconds)}"


def _iso_time(value: datetime.time, seconds: bool) -> str:
    """Return a time as Java does: without seconds that are zero, in groups of three digits."""
    if not seconds and value.second == 0 and value.microsecond == 0:
        return f"{value:%H:%M}"
    text = f"{value:%H:%M:%S}"
    if value.microsecond == 0:
        return text
    digits = f"{value.microsecond:06d}"
    return f"{text}.{digits[:3] if digits.endswith('000') else digits}"


def _day_time(value: datetime.timedelta) -> str:
    sign = "-" if value < datetime.timedelta(0) else "+"
    milliseconds = abs(value) // datetime.timedelta(milliseconds=1)
    seconds, milliseconds = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"{sign}{days} {hours:02d}:{minutes:02d}:{seconds:02d}.{milliseconds:03d}"


def _year_month(value: int) -> str:
    years, months = divmod(abs(value), 12)
    return f"{'-' if value < 0 else '+'}{years}-{months:02d}"


def _duration(value: datetime.timedelta) -> str:
    """Return a duration as Java's does: ``PT25H1.5S``."""
    if not value:
        return "PT0S"
    sign = -1 if value < datetime.timedelta(0) else 1
    micros = abs(value) // datetime.timedelta(microseconds=1)
    seconds, micros = divmod(micros, 1_000_000)
    hours, seconds = divmod(seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    text = "PT"
    text += f"{sign * hours}H" if hours else ""
    text += f"{sign * minutes}M" if minutes else ""
    if seconds or micros:
        fraction = f".{micros:06d}".rstrip("0") if micros else ""
        text += f"{'-' if sign < 0 else ''}{seconds}{fraction}S"
    return text


def attribute_text(data_type: DataType, attribute: str | None) -> str:
    """Return a type as SQL has it, with what Flink shows of a time attribute."""
    return data_type.sql if attribute is None else f"{data_type.sql} *{attribute.upper()}*"
