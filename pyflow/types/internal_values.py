"""Dates, times and rows as the numbers and tuples in which PyFlink hands them on.

Types of the Table API (``to_sql_type``) and of the DataStream API (``to_internal_type``) share it.
"""

from __future__ import annotations

import calendar
import datetime
import time
from collections.abc import Sequence
from typing import Any

from pyflow.common.types import Row, RowKind

EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()
MICROS = 10**6
# Offset of the local time zone at the epoch, in microseconds.
EPOCH_OFFSET = calendar.timegm(time.localtime(0)) * MICROS


def days_of_date(value: datetime.date) -> int:
    """Return the days since 1970-01-01."""
    return value.toordinal() - EPOCH_DAY


def date_of_days(days: int) -> datetime.date:
    """Return the date a number of days after 1970-01-01."""
    return datetime.date.fromordinal(days + EPOCH_DAY)


def micros_of_time(value: datetime.time) -> int:
    """Return the microseconds since midnight, in UTC; a time without a zone is local."""
    offset = value.utcoffset()
    micros = EPOCH_OFFSET if value.tzinfo is None else micros_of_interval(offset)
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return seconds * MICROS + value.microsecond - micros


def time_of_micros(micros: int) -> datetime.time:
    """Return the local time at these microseconds since midnight in UTC."""
    seconds, microsecond = divmod(micros + EPOCH_OFFSET, MICROS)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return datetime.time(hour, minute, second, microsecond)


def micros_of_datetime(value: datetime.datetime) -> int:
    """Return the microseconds since the epoch; a time without a zone is local."""
    if value.tzinfo is None:
        return int(time.mktime(value.timetuple())) * MICROS + value.microsecond
    return calendar.timegm(value.utctimetuple()) * MICROS + value.microsecond


def datetime_of_micros(micros: int) -> datetime.datetime:
    """Return the local time, without a zone, a number of microseconds after the epoch."""
    seconds, microsecond = divmod(micros, MICROS)
    return datetime.datetime.fromtimestamp(seconds).replace(microsecond=microsecond)


def micros_of_interval(value: datetime.timedelta | None) -> int:
    """Return the length in microseconds; none is 0."""
    return 0 if value is None else value // datetime.timedelta(microseconds=1)


def row_values(value: Any, names: Sequence[str]) -> tuple[RowKind, list[Any]]:
    """Return kind and values of what stands for a row.

    Parameters
    ----------
    value
        A `Row`, a sequence of values by position, a dict, or an object with attributes.
    names : sequence of str
        The fields to take, where the value has names.

    Raises
    ------
    ValueError
        If the value is none of these.
    """
    if isinstance(value, dict):
        return RowKind.INSERT, [value.get(name) for name in names]
    if isinstance(value, Row):
        named = "_fields" in value.__dict__
        return value.get_row_kind(), [value[n] for n in names] if named else list(value)
    if isinstance(value, (tuple, list)):
        return RowKind.INSERT, list(value)
    if hasattr(value, "__dict__"):
        return RowKind.INSERT, [value.__dict__.get(name) for name in names]
    raise ValueError(f"{value!r} of {type(value)} does not stand for a row of fields {list(names)}")
