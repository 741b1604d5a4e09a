"""Dates and times in Spark's columns, computed without a detour through the session's time zone.

Many functions of Spark take ``TIMESTAMP_NTZ`` by converting it to ``TIMESTAMP`` first. That moves
the times that the session's zone leaves out in spring. The functions here do not.
"""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from zoneinfo import ZoneInfo

from pyspark.sql import Column
from pyspark.sql import functions as F

from pyflow.table.columns.times_of_day import micros_of_time, time_of_local, time_of_micros
from pyflow.types.logical_types import DataType, LocalZonedTimestampType, TimestampType, TimeType
from pyflow.types.spark_types import to_spark
from pyflow.util.exceptions import TableException

_SPARK_DIGITS = 6
_DAY = 86_400_000
_MILLIS = {"DAY": _DAY, "HOUR": 3_600_000, "MINUTE": 60_000, "SECOND": 1000, "MILLISECOND": 1}
_ABOVE = {"HOUR": "DAY", "MINUTE": "HOUR", "SECOND": "MINUTE", "MILLISECOND": "SECOND"}


def _epoch() -> Column:
    return F.lit(datetime.date(1970, 1, 1))


def _divided(left: Column, right: int) -> Column:
    """Return a whole quotient, rounded towards 0."""
    return F.call_function("div", left, F.lit(right))


def _floored(value: Column, unit: int) -> Column:
    return value - F.pmod(value, F.lit(unit))


def local_time(date: Column, micros: Column) -> Column:
    """Return the ``TIMESTAMP_NTZ`` of a date and the microseconds since its midnight."""
    return F.make_timestamp_ntz(date=date, time=time_of_micros(micros))


def local_of_micros(micros: Column) -> Column:
    """Return the ``TIMESTAMP_NTZ`` a number of microseconds after the epoch."""
    within = F.pmod(micros, F.lit(_DAY * 1000))
    days = _divided(micros - within, _DAY * 1000)
    return local_time(F.date_add(_epoch(), days.cast("int")), within)


def micros_of_local(column: Column) -> Column:
    """Return the microseconds since 1970 of a ``TIMESTAMP_NTZ``."""
    days = F.date_diff(column.cast("date"), _epoch()).cast("bigint")
    return days * (_DAY * 1000) + micros_of_time(time_of_local(column))


def millis_of_local(column: Column) -> Column:
    """Return the milliseconds since 1970 of a ``TIMESTAMP_NTZ``."""
    days = F.date_diff(column.cast("date"), _epoch()).cast("bigint")
    return days * _DAY + _divided(micros_of_time(time_of_local(column)), 1000)


def millis_of(column: Column, data_type: DataType) -> Column:
    """Return the milliseconds since 1970 of a date or timestamp, or since midnight of a time."""
    if isinstance(data_type, TimestampType):
        return millis_of_local(column)
    if isinstance(data_type, LocalZonedTimestampType):
        return F.unix_millis(column)
    if isinstance(data_type, TimeType):
        return _divided(micros_of_time(column), 1000)
    return F.date_diff(column, _epoch()).cast("bigint") * _DAY


def in_utc(column: Column) -> Column:
    """Return a ``TIMESTAMP`` as the ``TIMESTAMP_NTZ`` that clocks in UTC show."""
    return local_of_micros(F.unix_micros(column))


def of_precision(column: Column, data_type: DataType) -> Column:
    """Return a timestamp without the digits of its second that its type does not have."""
    precision = getattr(data_type, "precision", _SPARK_DIGITS)
    if precision >= _SPARK_DIGITS:
        return column
    if isinstance(data_type, TimestampType):
        time = time_of_local(column, precision)
        return F.make_timestamp_ntz(date=column.cast("date"), time=time)
    if isinstance(data_type, LocalZonedTimestampType):
        return F.timestamp_micros(
            _floored(F.unix_micros(column), 10 ** (_SPARK_DIGITS - precision))
        )
    return column


def shortened(column: Column, precision: int) -> Column:
    """Return a ``TIMESTAMP_NTZ`` of less precision.

    As in Flink tenths and hundredths of seconds are cut towards 1970.
    """
    cut = of_precision(column, TimestampType(precision))
    if precision >= 3:
        return cut
    is_earlier = column < _epoch().cast("timestamp_ntz")
    has_rest = of_precision(column, TimestampType(3)) > cut
    unit = F.make_dt_interval(secs=F.lit(Decimal(1).scaleb(-precision)))
    return F.when(is_earlier & has_rest, cut + unit).otherwise(cut)


def formatted(column: Column, data_type: DataType) -> Column:
    """Return a time as a string, with the digits of a second's fraction that its type has.

    As in Flink, a TIME has no zeros at the end of it, but for the first digit.
    """
    if isinstance(data_type, TimeType):
        return _formatted_time_of_day(column, data_type.precision)
    assert isinstance(data_type, (TimestampType, LocalZonedTimestampType))
    shown = min(data_type.precision, _SPARK_DIGITS)
    fraction = "." + "S" * shown if shown else ""
    missing = F.lit("0" * (data_type.precision - shown))
    return F.concat(format_time(column, data_type, f"yyyy-MM-dd HH:mm:ss{fraction}"), missing)


def _formatted_time_of_day(column: Column, precision: int) -> Column:
    text = column.cast(to_spark(TimeType(_SPARK_DIGITS))).cast("string")
    second = F.substring(text, 1, 8)
    if not precision:
        return second
    digits = F.substring(text, 10, precision)
    return F.concat(second, F.lit("."), F.when(digits == "", "0").otherwise(digits))


def format_time(column: Column, data_type: DataType, pattern: str | Column) -> Column:
    """Return a timestamp in a form given by letters of Java's ``DateTimeFormatter``."""
    if isinstance(data_type, TimestampType) and isinstance(pattern, str):
        # The only function of Spark that formats TIMESTAMP_NTZ as it is.
        options = {
            "timestampNTZFormat": pattern,
            "sep": "\u0001",
            "quote": "\u0000",
            "ignoreLeadingWhiteSpace": "false",
            "ignoreTrailingWhiteSpace": "false",
        }
        return F.when(column.isNotNull(), F.to_csv(F.struct(column.alias("t")), options))
    return F.call_function(
        "date_format", column, pattern if isinstance(pattern, Column) else F.lit(pattern)
    )


def parse_local(text: Column, pattern: Column) -> Column:
    """Return the ``TIMESTAMP_NTZ`` in a string of such a form; null if it has another."""
    zoned = F.try_to_timestamp(F.concat(text, F.lit(" +0000")), F.concat(pattern, F.lit(" Z")))
    return in_utc(zoned)


def is_zone(name: str) -> bool:
    """Return whether there is a time zone of a name."""
    if re.fullmatch(r"(?:GMT|UTC?)?[+-]\d{1,2}(?::?\d{2})?", name):
        return True
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return False
    return True


def date_of(column: Column, data_type: DataType) -> Column:
    """Return the date of a date or a timestamp.

    As in Flink a timestamp before 1970 has that of the next midnight.
    """
    if isinstance(data_type, LocalZonedTimestampType):
        column = column.cast("timestamp_ntz")
    elif not isinstance(data_type, TimestampType):
        return column
    after_midnight = micros_of_time(time_of_local(column)) >= 1000
    is_earlier = column < _epoch().cast("timestamp_ntz")
    later = F.when(is_earlier & after_midnight, 1).otherwise(0)
    return F.date_add(column.cast("date"), later)


def clock_part(column: Column, data_type: DataType, unit: str) -> Column:
    """Return the hour, minute, second or millisecond of a time.

    Before 1970 it is not above 0, as in Flink.
    """
    if isinstance(data_type, TimeType):
        millis = _divided(micros_of_time(column), 1000)
    else:
        millis = millis_of_local(column.cast("timestamp_ntz"))
    return _divided(millis % _MILLIS[_ABOVE[unit]], _MILLIS[unit])


def micros_of_second(column: Column) -> Column:
    """Return the microseconds of a timestamp's second.

    Before 1970 its milliseconds are not above 0, as in Flink.
    """
    local = column.cast("timestamp_ntz")
    rest = F.pmod(micros_of_local(local), F.lit(1000))
    return millis_of_local(local) % 1000 * 1000 + rest


def floor_time(column: Column, data_type: DataType, unit: str) -> Column:
    """Return the beginning of the year, month, ... or second that a time lies in."""
    return _rounded(column, data_type, unit, up=False)


def ceil_time(column: Column, data_type: DataType, unit: str) -> Column:
    """Return the first beginning of a year, ... or second that is not before a time.

    As in Flink a timestamp at any time of the first day of a year, a quarter, a month or a week is
    taken as its midnight.
    """
    return _rounded(column, data_type, unit, up=True)


def _rounded(column: Column, data_type: DataType, unit: str, up: bool) -> Column:
    if isinstance(data_type, TimeType):
        return _rounded_time_of_day(column, data_type, unit, up)
    day = date_of(column, data_type)
    if not isinstance(data_type, (TimestampType, LocalZonedTimestampType)):
        return _rounded_day(day, unit, up)
    local = column.cast("timestamp_ntz")
    millis = millis_of_local(local)
    if unit not in _MILLIS:
        start = _rounded_day(day, unit, up)
        rounded = F.date_diff(start, _epoch()).cast("bigint") * _DAY
    elif up:
        rounded = -_floored(-millis, _MILLIS[unit])
    else:
        rounded = _floored(millis, _MILLIS[unit])
    if isinstance(data_type, TimestampType):
        return local_of_micros(rounded * 1000)
    # The zone's offset at the time that is rounded is taken for the result, too.
    return F.timestamp_micros(F.unix_micros(column) + rounded * 1000 - micros_of_local(local))


_MONTHS = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
_YEARS = {"MILLENNIUM": 1000, "CENTURY": 100, "DECADE": 10}


def _rounded_day(day: Column, unit: str, up: bool) -> Column:
    if unit in _YEARS:
        return _first_day(day, _YEARS[unit], up)
    if unit not in _MONTHS and unit != "WEEK":
        return day
    # Weeks begin on Sundays.
    start = F.date_sub(day, F.dayofweek(day) - 1) if unit == "WEEK" else F.trunc(day, unit)
    if not up:
        return start
    following = F.date_add(start, 7) if unit == "WEEK" else F.add_months(start, _MONTHS[unit])
    return F.when(start == day, day).otherwise(following)


def _first_day(day: Column, years: int, up: bool) -> Column:
    """Return the first day of the decade, century or millennium of a date, or of the next one.

    Decades begin with a year that ends with 0, the others with one that ends with 1.
    """
    after = 0 if years == 10 else 1
    first = _divided(F.year(day) - after, years) * years + after + (years if up else 0)
    return F.make_date(first, F.lit(1), F.lit(1))


def _rounded_time_of_day(column: Column, data_type: TimeType, unit: str, up: bool) -> Column:
    if unit not in _MILLIS or unit == "DAY":
        raise TableException(f"times of day are not rounded to {unit}")
    micros, size = micros_of_time(column), _MILLIS[unit] * 1000
    rounded = -_floored(-micros, size) if up else _floored(micros, size)
    return time_of_micros(rounded % (_DAY * 1000)).cast(to_spark(data_type))
