"""Dates and times in Spark's columns, computed without a detour through the session's time zone.

Many functions of Spark take ``TIMESTAMP_NTZ`` by converting it to ``TIMESTAMP`` first. That moves
the times that the session's zone leaves out in spring. The functions here do not.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from pyflow.table.types import (
    DataType,
    LocalZonedTimestampType,
    TimestampType,
    TimeType,
    to_spark,
)

_SPARK_DIGITS = 6


def of_precision(column: Column, data_type: DataType) -> Column:
    """Return a timestamp without the digits of its second that its type does not have."""
    precision = getattr(data_type, "precision", _SPARK_DIGITS)
    if precision >= _SPARK_DIGITS:
        return column
    unit = f"cast({10.0**-precision:.{precision}f} as decimal(8,6))"
    surplus = F.extract(F.lit("SECOND"), column) % F.expr(unit)
    return column - F.make_dt_interval(secs=surplus)


def formatted(column: Column, data_type: DataType) -> Column:
    """Return a time as a text, with all digits of a second's fraction that its type has."""
    assert isinstance(data_type, (TimeType, TimestampType, LocalZonedTimestampType))
    shown = min(data_type.precision, _SPARK_DIGITS)
    fraction = "." + "S" * shown if shown else ""
    missing = F.lit("0" * (data_type.precision - shown))
    if isinstance(data_type, TimeType):
        text = column.cast(to_spark(TimeType(_SPARK_DIGITS))).cast("string")
        whole = F.rpad(F.concat(text, F.when(F.length(text) == 8, ".").otherwise("")), 15, "0")
        return F.concat(F.substring(whole, 1, 8 + len(fraction)), missing)
    return F.concat(format_time(column, data_type, f"yyyy-MM-dd HH:mm:ss{fraction}"), missing)


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
    """Return the ``TIMESTAMP_NTZ`` of a text in such a form; null if it has another."""
    in_utc = F.try_to_timestamp(F.concat(text, F.lit(" +0000")), F.concat(pattern, F.lit(" Z")))
    return local_of_micros(F.unix_micros(in_utc))


def local_of_micros(micros: Column) -> Column:
    """Return the ``TIMESTAMP_NTZ`` so many microseconds after 1970."""
    seconds = (micros.cast("decimal(20,0)") / 1_000_000).cast("decimal(18,6)")
    epoch = F.lit("1970-01-01 00:00:00").cast("timestamp_ntz")
    return epoch + F.make_dt_interval(secs=seconds)


def date_of(column: Column) -> Column:
    """Return the date of a date or a timestamp."""
    return column.cast("date")


def floor_time(column: Column, data_type: DataType, unit: str) -> Column:
    """Return the beginning of the year, month, ... or second that a time lies in."""
    if isinstance(data_type, TimeType):
        return _floor_time_of_day(column, data_type, unit)
    if isinstance(data_type, LocalZonedTimestampType):
        return F.date_trunc(unit, column) if unit != "WEEK" else _week(column).cast("timestamp")
    day = date_of(column)
    if unit == "WEEK":
        start = _week(column)
    elif unit in ("YEAR", "QUARTER", "MONTH"):
        start = F.trunc(day, unit)
    else:
        start = day
    if not isinstance(data_type, TimestampType):
        return start
    local = start.cast("timestamp_ntz")
    zero = F.lit(0)
    parts = [F.hour(column), F.minute(column), F.second(column)]
    kept = {"HOUR": 1, "MINUTE": 2, "SECOND": 3}.get(unit, 0)
    if not kept:
        return local
    return local + F.make_dt_interval(zero, *parts[:kept])


def _week(column: Column) -> Column:
    """Return the Sunday on or before a date, on which Flink's weeks begin."""
    day = date_of(column)
    return F.date_sub(day, F.dayofweek(day) - 1)


_SECONDS_OF = {"HOUR": 3600, "MINUTE": 60, "SECOND": 1}


def _floor_time_of_day(column: Column, data_type: TimeType, unit: str) -> Column:
    seconds = _SECONDS_OF.get(unit)
    if seconds is None:
        return F.lit("00:00:00").cast(to_spark(data_type))
    micros = F.time_to_micros(column)
    floored = micros - micros % (seconds * 1_000_000)
    return F.time_from_micros(floored).cast(to_spark(data_type))


def ceil_time(column: Column, data_type: DataType, unit: str) -> Column:
    """Return a time if it is the beginning of a year, ... or second, else that of the next."""
    floored = floor_time(column, data_type, unit)
    return F.when(floored == column, column).otherwise(_next(floored, data_type, unit))


def _next(column: Column, data_type: DataType, unit: str) -> Column:
    months = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}.get(unit)
    if isinstance(data_type, TimeType):
        micros = F.time_to_micros(column) + _SECONDS_OF.get(unit, 0) * 1_000_000
        return F.time_from_micros(micros % 86_400_000_000).cast(to_spark(data_type))
    if isinstance(data_type, (TimestampType, LocalZonedTimestampType)):
        if months:
            return column + F.make_ym_interval(F.lit(0), F.lit(months))
        days = {"WEEK": 7, "DAY": 1}.get(unit, 0)
        return column + F.make_dt_interval(F.lit(days), secs=F.lit(_SECONDS_OF.get(unit, 0)))
    if months:
        return F.add_months(column, months)
    return F.date_add(column, 7 if unit == "WEEK" else 1)
