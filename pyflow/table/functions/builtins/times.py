"""Dates, times and intervals."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from pyspark.sql import Column
from pyspark.sql import functions as F

from pyflow.table.columns.arithmetic import is_floating
from pyflow.table.columns.conversion import convert, micros_of_interval
from pyflow.table.columns.time_strings import read_in_form, read_leniently, read_timestamp
from pyflow.table.columns.time_values import (
    ceil_time,
    clock_part,
    date_of,
    floor_time,
    format_time,
    is_zone,
    micros_of_local,
    micros_of_second,
    millis_of,
    of_precision,
    parse_local,
)
from pyflow.table.columns.type_rules import INTERVALS, STRINGS, comparable
from pyflow.table.functions.builtins.definition import (
    BIGINT,
    BOOLEAN,
    INT,
    STRING,
    Arguments,
    argument,
    define,
)
from pyflow.table.functions.builtins.math import ceil_number, floor_number, moved
from pyflow.table.functions.builtins.math import whole_type as type_of_whole
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import DataType, DateType, NumericType, TimeType
from pyflow.types.spark_types import to_spark
from pyflow.util.exceptions import TableException

_PATTERNS = (
    "Spark rejects the pattern letters Y, w, W, e, c, A, n, N and p. Strings are parsed without "
    "Flink's leniency if the pattern is not a literal, or has other letters than y, M, d, H, m, s "
    "and S."
)
_NOW = "All rows of a query have the same time; Flink's streams read the clock for each row."
_DEFAULT_FORMAT = "yyyy-MM-dd HH:mm:ss"

# --- Now --------------------------------------------------------------------------------------


def _define_now(names: str, data_type: DataType, build: Callable[[], Column], summary: str) -> None:
    define(
        names, "", data_type, lambda a: of_precision(build().cast(to_spark(data_type)), data_type),
        summary, nulls="never", difference=_NOW,
    )  # fmt: skip


_define_now("currentDate CURRENT_DATE", DataTypes.DATE(), F.current_date, "The current date.")
for _names in ("currentTime CURRENT_TIME", "localTime LOCALTIME"):
    _define_now(_names, DataTypes.TIME(0), F.current_time, "The current time of day.")
for _names in (
    "currentTimestamp CURRENT_TIMESTAMP",
    "now NOW",
    "currentRowTimestamp CURRENT_ROW_TIMESTAMP",
):
    _define_now(_names, DataTypes.TIMESTAMP_LTZ(3), F.current_timestamp, "The current time.")
_define_now(
    "localTimestamp LOCALTIMESTAMP", DataTypes.TIMESTAMP(3), F.localtimestamp,
    "The current date and time in the session's time zone.",
)  # fmt: skip

# --- Parts of times ---------------------------------------------------------------------------


def _years(size: int) -> Callable[[Column], Column]:
    """Return the function that numbers centuries or millennia; the first begins in the year 1."""
    return lambda day: F.call_function("div", F.year(day) + (size - 1), F.lit(size))


_DATE_PARTS: dict[str, Callable[[Column], Column]] = {
    "MILLENNIUM": _years(1000),
    "CENTURY": _years(100),
    "DECADE": lambda day: F.call_function("div", F.year(day), F.lit(10)),
    "YEAR": F.year,
    "ISOYEAR": lambda day: F.extract(F.lit("YEAROFWEEK"), day),
    "QUARTER": F.quarter,
    "MONTH": F.month,
    "WEEK": F.weekofyear,
    "DAY": F.dayofmonth,
    "DOY": F.dayofyear,
    "DOW": F.dayofweek,
    "ISODOW": lambda day: F.weekday(day) + 1,
}
_CLOCK_PARTS = ("HOUR", "MINUTE", "SECOND", "MILLISECOND")
_SMALL_PARTS = {"MICROSECOND": 1, "NANOSECOND": 1000}


def _extracted(a: Arguments) -> Column:
    data_type, unit = a.types[1], a.symbol(0).name
    is_time, is_date = isinstance(data_type, TimeType), isinstance(data_type, DateType)
    if isinstance(data_type, INTERVALS):
        return _part_of_interval(a, unit)
    if unit in _DATE_PARTS and not is_time:
        return _DATE_PARTS[unit](date_of(a[1], data_type)).cast("bigint")
    if unit in _CLOCK_PARTS:
        return F.lit(0).cast("bigint") if is_date else clock_part(a[1], data_type, unit)
    if unit == "EPOCH" and not is_time:
        # Of what clocks show, also for an instant.
        local = a[1] if is_date else a[1].cast("timestamp_ntz")
        local_type = data_type if is_date else DataTypes.TIMESTAMP(6)
        return F.call_function("div", millis_of(local, local_type), F.lit(1000))
    if unit in _SMALL_PARTS and not (is_date or is_time):
        return micros_of_second(a[1]) * _SMALL_PARTS[unit]
    raise a.fail(f"a {data_type.sql} has no {unit}")


# The months or milliseconds of a unit, and how many of the unit make the next larger one.
_PARTS_OF_MONTHS = {
    "MILLENNIUM": (12_000, 0),
    "CENTURY": (1200, 0),
    "YEAR": (12, 0),
    "QUARTER": (3, 4),
    "MONTH": (1, 12),
}
_PARTS_OF_MILLIS = {
    "DAY": (86_400_000, 0),
    "HOUR": (3_600_000, 24),
    "MINUTE": (60_000, 60),
    "SECOND": (1000, 60),
    "MILLISECOND": (1, 1000),
}


def _part_of_interval(a: Arguments, unit: str) -> Column:
    if a.types[1] == DataTypes.INTERVAL(DataTypes.MONTH()) or "MONTH" in a.types[1].sql:
        count = convert(a[1], a.types[1], INT)
        parts = _PARTS_OF_MONTHS
    else:
        count = F.call_function("div", micros_of_interval(a[1]), F.lit(1000))
        parts = _PARTS_OF_MILLIS
    if unit not in parts:
        raise a.fail(f"an interval of this type has no {unit}")
    size, below = parts[unit]
    whole = F.call_function("div", count.cast("bigint"), F.lit(size))
    return whole % below if below else whole


define(
    "extract EXTRACT", "symbol, date|time|timestamp|timestamp_ltz|interval", BIGINT, _extracted,
    "A part of a time or an interval: YEAR, QUARTER, MONTH, WEEK (of ISO 8601), DAY, HOUR, MINUTE "
    "or SECOND; in SQL also MILLENNIUM, CENTURY, DECADE, ISOYEAR, DOY, DOW (1 on Sunday), ISODOW "
    "(1 on Monday), MILLISECOND, MICROSECOND, NANOSECOND, EPOCH. The time of a timestamp before "
    "1970 is counted back from the next midnight.",
)  # fmt: skip


def _rounding(
    of_number: Callable[[Arguments], Column], of_time: Callable[[Column, DataType, str], Column]
) -> Callable[[Arguments], Column]:
    def build(a: Arguments) -> Column:
        if len(a) == 1:
            if not isinstance(a.types[0], NumericType):
                raise a.fail("rounding a time needs a unit")
            return of_number(a)
        if isinstance(a.types[0], NumericType):
            raise a.fail("numbers have no unit")
        unit = a.symbol(1).name
        if unit not in _UNITS:
            raise a.fail(f"times are not rounded to {unit}")
        return of_time(a[0], a.types[0], unit)

    return build


_UNITS = (
    *("MILLENNIUM", "CENTURY", "DECADE", "YEAR", "QUARTER", "MONTH", "WEEK", "DAY"),
    *("HOUR", "MINUTE", "SECOND", "MILLISECOND"),
)
_ROUNDED = "numeric|date|time|timestamp|timestamp_ltz, symbol?"
define(
    "floor FLOOR", _ROUNDED, type_of_whole, _rounding(floor_number, floor_time),
    "A number, rounded down to a whole number, or a time, rounded down to a unit from YEAR to "
    "SECOND, in SQL from MILLENNIUM to MILLISECOND.",
)  # fmt: skip
define(
    "ceil CEIL CEILING", _ROUNDED, type_of_whole, _rounding(ceil_number, ceil_time),
    "A number, rounded up to a whole number, or a time, rounded up to a unit from YEAR to SECOND, "
    "in SQL from MILLENNIUM to MILLISECOND. The first day of a decade or of a longer unit is "
    "rounded up to the next unit.",
)  # fmt: skip

# --- Differences ------------------------------------------------------------------------------

_MILLIS = {
    "WEEK": 604_800_000,
    "DAY": 86_400_000,
    "HOUR": 3_600_000,
    "MINUTE": 60_000,
    "SECOND": 1000,
    "MILLISECOND": 1,
}
_MONTHS = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}


def _difference(a: Arguments) -> Column:
    unit = a.symbol(0).name
    data_type = comparable(a.types[1], a.types[2])
    if data_type is None:
        raise a.fail("the times have no common type; cast them")
    first, second = a.as_type(1, data_type), a.as_type(2, data_type)
    between = millis_of(second, data_type) - millis_of(first, data_type)
    if unit == "MICROSECOND":
        return (between * 1000).cast("int")
    if unit in _MILLIS:
        return F.call_function("div", between, F.lit(_MILLIS[unit])).cast("int")
    if unit not in _MONTHS or isinstance(data_type, TimeType):
        raise a.fail(f"the difference of values of {data_type.sql} is not counted in {unit}")
    months = _months(first, second, data_type)
    return F.call_function("div", months, F.lit(_MONTHS[unit])).cast("int")


def _months(first: Column, second: Column, data_type: DataType) -> Column:
    """Return the number of months from one time to another.

    As in Flink, the time of day counts only if the days are the same, in both directions.
    """
    day, other = first.cast("date"), second.cast("date")
    between = F.when(other < day, -_whole_months(other, day)).otherwise(_whole_months(day, other))
    clock, other_clock = (
        F.pmod(millis_of(time, data_type), F.lit(_MILLIS["DAY"])) for time in (first, second)
    )
    is_short = (F.add_months(day, between) == other) & (other_clock < clock)
    return F.when(is_short, between - 1).otherwise(between)


def _whole_months(first: Column, last: Column) -> Column:
    """Return how many months can be added to a date without going past another."""
    estimate = (F.year(last) - F.year(first)) * 12 + F.month(last) - F.month(first)
    return F.when(F.add_months(first, estimate) > last, estimate - 1).otherwise(estimate)


_TIME = "date|time|timestamp|timestamp_ltz"
define(
    "timestampDiff TIMESTAMPDIFF", f"symbol, {_TIME}, {_TIME}", INT, _difference,
    "The number of whole units of time from the first time to the second.",
)  # fmt: skip


def _overlaps(a: Arguments) -> Column:
    def ends(point: int, temporal: int) -> tuple[Column, Column]:
        time, time_type = a[point], a.types[point]
        if isinstance(a.types[temporal], INTERVALS):
            other = moved(time, time_type, a[temporal], a.types[temporal])
        else:
            other = a.as_type(temporal, time_type)
        return F.least(time, other), F.greatest(time, other)

    if a.types[0].nullable() != a.types[2].nullable():
        raise a.fail("both points of time must be of the same type")
    left_start, left_end = ends(0, 1)
    right_start, right_end = ends(2, 3)
    present = left_end.isNotNull() & right_end.isNotNull()
    for column in a.columns:
        present = present & column.isNotNull()
    return F.when(present, (left_end >= right_start) & (right_end >= left_start))


define(
    "temporalOverlaps",
    f"{_TIME}, interval|{_TIME}, {_TIME}, interval|{_TIME}", BOOLEAN, _overlaps,
    "Whether two periods, each of a time and its length or its end, have a time in common.",
)  # fmt: skip

# --- Strings ----------------------------------------------------------------------------------


def _pattern(a: Arguments, position: int) -> str | Column:
    if a.is_constant(position) and a.constant(position) is not None:
        return str(a.constant(position))
    return a[position]


def _formatter_pattern(a: Arguments, position: int) -> str | Column:
    """Return a pattern of ``DateTimeFormatter`` as Spark takes it: the year is y, and not u."""
    pattern = _pattern(a, position)
    if isinstance(pattern, str):
        return re.sub("'[^']*'|u", lambda part: "y" if part[0] == "u" else part[0], pattern)
    return pattern


def _given_pattern(a: Arguments) -> Column:
    return a[1] if len(a) > 1 else F.lit(_DEFAULT_FORMAT)


def _lenient(text: Column, a: Arguments, position: int) -> Column:
    """Return the ``TIMESTAMP_NTZ`` in a string, parsed as by ``SimpleDateFormat``."""
    pattern = _pattern(a, position) if position < len(a) else _DEFAULT_FORMAT
    found = read_leniently(text, pattern) if isinstance(pattern, str) else None
    if found is not None:
        return found
    return parse_local(text, F.lit(pattern) if isinstance(pattern, str) else pattern)


def _date_format(a: Arguments) -> Column:
    column, data_type = a[0], a.types[0]
    if isinstance(data_type, STRINGS):
        data_type = DataTypes.TIMESTAMP(3)
        column = _lenient(column, a, len(a))
    return format_time(column, data_type, _formatter_pattern(a, 1))


define(
    "dateFormat DATE_FORMAT", "timestamp|timestamp_ltz|string, string", STRING, _date_format,
    "A time, formatted by a pattern of Java's DateTimeFormatter.", difference=_PATTERNS,
    nulls="always",
)  # fmt: skip


def _to_date(a: Arguments) -> Column:
    if len(a) == 1:
        return convert(a[0], STRING, DataTypes.DATE(), tolerant=True)
    return _lenient(a[0], a, 1).cast("date")


define(
    "toDate TO_DATE", "string, string?", DataTypes.DATE(), _to_date,
    "The date in a string, parsed by a pattern, by default yyyy-MM-dd; null if it does not match.",
    difference=_PATTERNS, nulls="always",
)  # fmt: skip


def _local(a: Arguments) -> Column:
    """Return the ``TIMESTAMP_NTZ`` in a string, parsed by a pattern."""
    pattern = _formatter_pattern(a, 1)
    if not isinstance(pattern, str):
        return parse_local(a[0], pattern)
    found = read_in_form(a[0], pattern)
    return parse_local(a[0], F.lit(pattern)) if found is None else found


def _to_timestamp(a: Arguments) -> Column:
    local = read_timestamp(a[0]) if len(a) == 1 else _local(a)
    return of_precision(local, DataTypes.TIMESTAMP(3))


define(
    "toTimestamp TO_TIMESTAMP", "string, string?", DataTypes.TIMESTAMP(3), _to_timestamp,
    "The timestamp in a string, parsed by a pattern, by default yyyy-MM-dd HH:mm:ss; null if it "
    "does not match.", difference=_PATTERNS, nulls="always",
)  # fmt: skip


def _precision_of(a: Arguments) -> int:
    if isinstance(a.types[0], NumericType):
        return max(int(a.constant(1) or 0), 3) if len(a) > 1 else 3
    if len(a) > 1 and a.is_constant(1) and a.constant(1):
        return min(max(str(a.constant(1)).count("S"), 3), 9)
    return 3


# The seconds since 1970 of the years from 0 to 9999.
_FIRST_SECOND, _LAST_SECOND = -62_167_219_200, 253_402_300_799


def _instant(a: Arguments) -> Column:
    if isinstance(a.types[0], NumericType):
        return of_precision(F.timestamp_micros(_micros_of_number(a)), a.result)
    local = read_timestamp(a[0]) if len(a) == 1 else _local(a)
    if len(a) == 3:
        local = F.convert_timezone(_zone(a, 2), F.lit("UTC"), local)
    return of_precision(F.timestamp_micros(micros_of_local(local)), a.result)


def _micros_of_number(a: Arguments) -> Column:
    """Return the microseconds since 1970 of a number of units; null outside the years to 9999."""
    digits = int(a.constant(1)) if len(a) > 1 and a.constant(1) is not None else 3
    if not 0 <= digits <= 9:
        raise a.fail("the precision must be between 0 and 9")
    unit = 10**digits
    if is_floating(a.types[0]):
        seconds = a[0].cast("double") / unit
        within = seconds.between(_FIRST_SECOND, _LAST_SECOND)
        return F.when(within, F.floor(a[0].cast("double") * 10.0 ** (6 - digits)).cast("bigint"))
    units = a[0].try_cast("bigint")
    first, last = _FIRST_SECOND * unit, (_LAST_SECOND + 1) * unit - 1
    within = units.cast("decimal(38,0)").between(Decimal(first), Decimal(last))
    # Null outside the range: Spark may compute a common subexpression before it checks the range.
    units = F.when(within, units)
    if digits > 6:
        step = F.lit(10 ** (digits - 6))
        return F.call_function("div", units, step) - F.when(units % step < 0, 1).otherwise(0)
    return units * F.lit(10 ** (6 - digits))


def _zone(a: Arguments, position: int) -> Column:
    """Return the name of a time zone; UTC if there is no such zone, as in Java."""
    if not a.is_constant(position) or a.constant(position) is None:
        return a[position]
    name = str(a.constant(position))
    return F.lit(name if is_zone(name) else "UTC")


define(
    "TO_TIMESTAMP_LTZ TO_TIMESTAMP_LTZ", "numeric|string, int|string?, string?",
    lambda a: DataTypes.TIMESTAMP_LTZ(_precision_of(a)), _instant,
    "The instant a number of seconds (precision 0), milliseconds (3, the default) or other units "
    "after the epoch, or the instant in a string, parsed by a pattern in a time zone; null if it "
    "does not match.",
    difference=f"{_PATTERNS} Fractions of a second have six digits.", nulls="always",
)  # fmt: skip
define(
    "fromUnixtime FROM_UNIXTIME", "bigint, string?", STRING,
    lambda a: F.call_function("from_unixtime", a[0], _given_pattern(a)),
    "The time n seconds after the epoch, formatted in the session's time zone by a pattern, by "
    "default yyyy-MM-dd HH:mm:ss.", difference=_PATTERNS,
)  # fmt: skip


# By how many minutes clocks are turned back in autumn, on Lord Howe Island and elsewhere. A local
# time that occurs twice means the second instant.
_TURNED_BACK = (30, 60)


def _unix_timestamp(a: Arguments) -> Column:
    if not len(a):
        return F.unix_timestamp()
    local = _lenient(a[0], a, 1)
    seconds = F.unix_seconds(local.cast("timestamp"))
    for minutes in _TURNED_BACK:
        later = seconds + 60 * minutes
        is_twice = F.timestamp_seconds(later).cast("timestamp_ntz") == local
        seconds = F.when(is_twice, later).otherwise(seconds)
    present = a[0].isNotNull() & (a[1].isNotNull() if len(a) > 1 else F.lit(True))
    return F.coalesce(seconds, F.when(present, F.lit(-(1 << 63))))


define(
    "unixTimestamp UNIX_TIMESTAMP", "string?, string?", BIGINT, _unix_timestamp,
    "The seconds since the epoch: now, or of the time in a string, parsed by a pattern, by default "
    "yyyy-MM-dd HH:mm:ss; -9223372036854775808 if it does not match.",
    difference=f"{_PATTERNS} {_NOW}",
)  # fmt: skip


def _convert_tz(a: Arguments) -> Column:
    local, zone, utc = _lenient(a[0], a, len(a)), _zone(a, 1), F.lit("UTC")
    instant = F.convert_timezone(zone, utc, local)
    for minutes in _TURNED_BACK:
        later = instant + F.make_dt_interval(mins=F.lit(minutes))
        is_twice = F.convert_timezone(utc, zone, later) == local
        instant = F.when(is_twice, later).otherwise(instant)
    converted = F.convert_timezone(utc, _zone(a, 2), instant)
    return format_time(converted, DataTypes.TIMESTAMP(3), _DEFAULT_FORMAT)


define(
    "convertTz CONVERT_TZ", "string, string, string", STRING, _convert_tz,
    "A time in the form yyyy-MM-dd HH:mm:ss, converted from one time zone to another.",
    difference="An unknown time zone that is not a literal fails the query; Flink takes it as "
    "UTC.", nulls="always",
)  # fmt: skip


def _no_watermark(a: Arguments) -> Column:
    raise TableException(
        f"{a.function.name} is not supported: Spark does not tell functions the watermark"
    )


define(
    "CURRENT_WATERMARK CURRENT_WATERMARK", "any", argument(0), _no_watermark,
    "The current watermark.", difference="Not supported.",
)  # fmt: skip
define(
    "SOURCE_WATERMARK SOURCE_WATERMARK", "", DataTypes.TIMESTAMP_LTZ(3), _no_watermark,
    "Stands, in a schema, for the watermarks of the source.", nulls="never",
)  # fmt: skip
