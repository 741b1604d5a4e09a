"""Types of dates, times and intervals."""

from __future__ import annotations

import datetime
from enum import Enum
from typing import Any, ClassVar, cast

from pyflow.types import internal_values as internal
from pyflow.types.logical_types.base import AtomicType, check_range

MAX_PRECISION = 9


class DateType(AtomicType):
    """Dates."""

    EPOCH_ORDINAL = internal.EPOCH_DAY

    def need_conversion(self) -> bool:
        """Return True: a date becomes days since 1970-01-01."""
        return True

    def to_sql_type(self, d: datetime.date | None) -> int | None:
        """Return the days since 1970-01-01."""
        return None if d is None else internal.days_of_date(d)

    def from_sql_type(self, v: int | None) -> datetime.date | None:
        """Return the date a number of days after 1970-01-01."""
        return None if v is None else internal.date_of_days(v)


class _PrecisionType(AtomicType):
    NAME: ClassVar[str]
    ZONE: ClassVar[str] = ""

    def __init__(self, precision: int = 6, nullable: bool = True) -> None:
        super().__init__(nullable)
        check_range(f"the precision of {self.NAME}{self.ZONE}", precision, 0, MAX_PRECISION)
        self.precision = precision

    def _parameters(self) -> tuple[Any, ...]:
        return (self.precision,)

    def _syntax(self) -> str:
        return f"{self.NAME}({self.precision}){self.ZONE}"

    def need_conversion(self) -> bool:
        """Return True: a time becomes a number of microseconds."""
        return True


class TimeType(_PrecisionType):
    """Times of day without a time zone: ``TIME(p)``, with p digits of a second's fraction.

    Spark and Python's ``datetime.time`` support six of them.
    """

    NAME = "TIME"
    EPOCH_ORDINAL = internal.EPOCH_OFFSET

    def __init__(self, precision: int = 0, nullable: bool = True) -> None:
        super().__init__(precision, nullable)

    def to_sql_type(self, t: datetime.time | None) -> int | None:
        """Return the microseconds since midnight in UTC."""
        return None if t is None else internal.micros_of_time(t)

    def from_sql_type(self, t: int | None) -> datetime.time | None:
        """Return the local time at these microseconds since midnight in UTC."""
        return None if t is None else internal.time_of_micros(t)


class TimestampType(_PrecisionType):
    """Dates with a time of day, as a calendar and a clock show them: ``TIMESTAMP(p)``.

    Spark and Python's ``datetime.datetime`` support six digits of a second's fraction.
    """

    NAME = "TIMESTAMP"

    def to_sql_type(self, dt: datetime.datetime | None) -> int | None:
        """Return the microseconds since the epoch."""
        return None if dt is None else internal.micros_of_datetime(dt)

    def from_sql_type(self, ts: int | None) -> datetime.datetime | None:
        """Return the local time a number of microseconds after the epoch."""
        return None if ts is None else internal.datetime_of_micros(ts)


class LocalZonedTimestampType(_PrecisionType):
    """Instants, shown in the session's time zone: ``TIMESTAMP_LTZ(p)``."""

    NAME = "TIMESTAMP_LTZ"
    EPOCH_ORDINAL = internal.EPOCH_OFFSET

    def to_sql_type(self, dt: datetime.datetime | None) -> int | None:
        """Return the microseconds since the epoch, by the local clock at the epoch."""
        return None if dt is None else internal.micros_of_datetime(dt) + self.EPOCH_ORDINAL

    def from_sql_type(self, ts: int | None) -> datetime.datetime | None:
        """Return the time of which `to_sql_type` made this number."""
        return None if ts is None else internal.datetime_of_micros(ts - self.EPOCH_ORDINAL)


class ZonedTimestampType(_PrecisionType):
    """Instants with a time zone each: ``TIMESTAMP(p) WITH TIME ZONE``.

    Neither Flink nor Spark has it in tables.
    """

    NAME = "TIMESTAMP"
    ZONE = " WITH TIME ZONE"

    def to_sql_type(self, dt: datetime.datetime | None) -> tuple[int, int] | None:
        """Return microseconds by the clock of the zone, and the zone's offset in seconds."""
        if dt is None:
            return None
        zone = dt.tzinfo or datetime.datetime.now(datetime.timezone.utc).astimezone().tzinfo
        offset = internal.micros_of_interval(cast(datetime.tzinfo, zone).utcoffset(dt))
        return internal.micros_of_datetime(dt) + offset, offset // internal.MICROS

    def from_sql_type(self, zoned_ts: tuple[int, int] | None) -> datetime.datetime | None:
        """Return the time of which `to_sql_type` made these numbers."""
        if zoned_ts is None:
            return None
        micros, offset = zoned_ts
        seconds, microsecond = divmod(micros - offset * internal.MICROS, internal.MICROS)
        zone = datetime.timezone(datetime.timedelta(seconds=offset))
        return datetime.datetime.fromtimestamp(seconds, zone).replace(microsecond=microsecond)


class Resolution:
    """One end of the fields of an interval, as ``DataTypes.DAY(2)``.

    Parameters
    ----------
    unit : Resolution.IntervalUnit
        The field.
    precision : int
        Digits of years, of days, or of a second's fraction; -1 where there is none.
    """

    class IntervalUnit(Enum):
        """The fields of intervals."""

        SECOND = 0
        MINUTE = 1
        HOUR = 2
        DAY = 3
        MONTH = 4
        YEAR = 5

    def __init__(self, unit: Resolution.IntervalUnit, precision: int = -1) -> None:
        self._unit = unit
        self._precision = precision

    @property
    def unit(self) -> Resolution.IntervalUnit:
        """The field."""
        return self._unit

    @property
    def precision(self) -> int:
        """The number of digits, or -1."""
        return self._precision

    def __str__(self) -> str:
        return f"{self._unit}({self._precision})"


class YearMonthIntervalType(AtomicType):
    """Intervals of months.

    Parameters
    ----------
    resolution : int
        One of `YearMonthResolution`.
    precision : int
        Digits of the years, 1 to 4.
    nullable : bool
        Whether None is a value of the type.
    """

    class YearMonthResolution:
        """The fields that an interval of months can have."""

        YEAR = 1
        MONTH = 2
        YEAR_TO_MONTH = 3

    DEFAULT_PRECISION = 2

    def __init__(
        self, resolution: int, precision: int = DEFAULT_PRECISION, nullable: bool = True
    ) -> None:
        super().__init__(nullable)
        check_range("the resolution of an interval of months", resolution, 1, 3)
        if resolution == self.YearMonthResolution.MONTH and precision != self.DEFAULT_PRECISION:
            raise ValueError("an interval of MONTH has no precision")
        check_range("the precision of years", precision, 1, 4)
        self._resolution = resolution
        self._precision = precision

    @property
    def resolution(self) -> int:
        """The fields of the interval."""
        return self._resolution

    @property
    def precision(self) -> int:
        """Digits of the years."""
        return self._precision

    def _syntax(self) -> str:
        if self._resolution == self.YearMonthResolution.MONTH:
            return "INTERVAL MONTH"
        to = " TO MONTH" if self._resolution == self.YearMonthResolution.YEAR_TO_MONTH else ""
        return f"INTERVAL YEAR({self._precision}){to}"


class DayTimeIntervalType(AtomicType):
    """Intervals of days, hours, minutes and seconds.

    Parameters
    ----------
    resolution : DayTimeIntervalType.DayTimeResolution
        The fields of the interval.
    day_precision : int
        Digits of the days, 1 to 6; 2 where the interval has no days.
    fractional_precision : int
        Digits of a second's fraction, 0 to 9; 6 where the interval has no seconds.
    nullable : bool
        Whether None is a value of the type.
    """

    class DayTimeResolution(Enum):
        """The fields that an interval of days and times can have."""

        DAY = 1
        DAY_TO_HOUR = 2
        DAY_TO_MINUTE = 3
        DAY_TO_SECOND = 4
        HOUR = 5
        HOUR_TO_MINUTE = 6
        HOUR_TO_SECOND = 7
        MINUTE = 8
        MINUTE_TO_SECOND = 9
        SECOND = 10

    DEFAULT_DAY_PRECISION = 2
    DEFAULT_FRACTIONAL_PRECISION = 6

    def __init__(
        self,
        resolution: DayTimeIntervalType.DayTimeResolution,
        day_precision: int = DEFAULT_DAY_PRECISION,
        fractional_precision: int = DEFAULT_FRACTIONAL_PRECISION,
        nullable: bool = True,
    ) -> None:
        super().__init__(nullable)
        if not isinstance(resolution, self.DayTimeResolution):
            raise TypeError(f"the resolution must be a DayTimeResolution, not {resolution!r}")
        fields = resolution.name.split("_TO_")
        if "DAY" not in fields and day_precision != self.DEFAULT_DAY_PRECISION:
            raise ValueError(f"an interval of {resolution.name} has no precision of days")
        if "SECOND" not in fields and fractional_precision != self.DEFAULT_FRACTIONAL_PRECISION:
            raise ValueError(f"an interval of {resolution.name} has no precision of seconds")
        check_range("the precision of days", day_precision, 1, 6)
        check_range("the precision of seconds", fractional_precision, 0, MAX_PRECISION)
        self._resolution = resolution
        self._day_precision = day_precision
        self._fractional_precision = fractional_precision

    @property
    def resolution(self) -> DayTimeIntervalType.DayTimeResolution:
        """The fields of the interval."""
        return self._resolution

    @property
    def day_precision(self) -> int:
        """Digits of the days."""
        return self._day_precision

    @property
    def fractional_precision(self) -> int:
        """Digits of a second's fraction."""
        return self._fractional_precision

    def _syntax(self) -> str:
        digits = {"DAY": self._day_precision, "SECOND": self._fractional_precision}
        fields = self._resolution.name.split("_TO_")
        return "INTERVAL " + " TO ".join(
            f"{field}({digits[field]})" if field in digits else field for field in fields
        )

    def need_conversion(self) -> bool:
        """Return True: an interval becomes a number of microseconds."""
        return True

    def to_sql_type(self, timedelta: datetime.timedelta | None) -> int | None:
        """Return the length in microseconds."""
        return None if timedelta is None else internal.micros_of_interval(timedelta)

    def from_sql_type(self, ts: int | None) -> datetime.timedelta | None:
        """Return the interval of a number of microseconds."""
        return None if ts is None else datetime.timedelta(microseconds=ts)


def interval_type(
    upper: Resolution, lower: Resolution | None = None
) -> DayTimeIntervalType | YearMonthIntervalType:
    """Return the type of the intervals between two resolutions; one alone is both.

    Raises
    ------
    ValueError
        If no interval has these fields.
    """
    name = upper.unit.name if lower is None else f"{upper.unit.name}_TO_{lower.unit.name}"
    months = getattr(YearMonthIntervalType.YearMonthResolution, name, None)
    if months is not None:
        years = upper.unit is Resolution.IntervalUnit.YEAR
        default = YearMonthIntervalType.DEFAULT_PRECISION
        return YearMonthIntervalType(months, upper.precision if years else default)
    try:
        resolution = DayTimeIntervalType.DayTimeResolution[name]
    except KeyError:
        raise ValueError(
            f"there is no interval of {name.replace('_', ' ')}: it goes from YEAR to MONTH, or"
            " from one of DAY, HOUR, MINUTE, SECOND to a later one of them"
        ) from None
    precision = {end.unit.name: end.precision for end in (upper, lower) if end is not None}
    return DayTimeIntervalType(
        resolution,
        precision.get("DAY", DayTimeIntervalType.DEFAULT_DAY_PRECISION),
        precision.get("SECOND", DayTimeIntervalType.DEFAULT_FRACTIONAL_PRECISION),
    )
