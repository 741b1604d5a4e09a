"""Timestamps in local time are PySpark's, wherever and whenever the clocks change."""

from __future__ import annotations

import datetime
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import StructField, StructType, TimestampType

from codec import INEXACT, Codec, CodecError, Inexact
from exact_form import exact

ROW = StructType([StructField("value", TimestampType())])
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MICROS = 1_000_000

ZONES = [
    "UTC",
    # Changes of the clock in both directions; local mean time before 1883.
    "America/New_York",
    # Winter time is the daylight saving time, and negative.
    "Europe/Dublin",
    # Not whole hours; 5:30 until 1986, 5:45 since.
    "Asia/Kathmandu",
    # Half an hour of daylight saving time.
    "Australia/Lord_Howe",
    # A day left out in 2011, one repeated in 1892.
    "Pacific/Apia",
    # Offset changes without daylight saving time; permanent negative ones.
    "Africa/Casablanca",
    # Far east and far west of Greenwich, for the ends of the calendar.
    "Pacific/Kiritimati",
    "Etc/GMT+12",
]

#: Instants around which some of the zones change their clocks.
TRANSITIONS = [
    datetime.datetime(1883, 11, 18, 17),
    datetime.datetime(1892, 7, 4, 11),
    datetime.datetime(1916, 5, 21, 2, 25),
    datetime.datetime(1916, 10, 1, 2, 25),
    datetime.datetime(1968, 10, 27),
    datetime.datetime(1971, 10, 31, 2),
    datetime.datetime(1985, 12, 31, 18, 30),
    datetime.datetime(2011, 12, 30, 10),
    datetime.datetime(2024, 3, 10, 7),
    datetime.datetime(2024, 3, 31, 1),
    datetime.datetime(2024, 4, 6, 15),
    datetime.datetime(2024, 10, 5, 15, 30),
    datetime.datetime(2024, 10, 27, 1),
    datetime.datetime(2024, 11, 3, 6),
    datetime.datetime(2100, 3, 14, 7),
]
ENDS = [datetime.datetime.min, datetime.datetime.max.replace(microsecond=0)]


@pytest.fixture(scope="module", autouse=True, params=ZONES)
def zone(request: pytest.FixtureRequest, use_time_zone: Callable[[str], None]) -> str:
    if not Path("/usr/share/zoneinfo", request.param).exists():
        pytest.skip("no time zone data (Debian: apt-get install tzdata)")
    use_time_zone(request.param)
    return request.param


@pytest.fixture(scope="module")
def codec(zone: str, arrow: bool) -> Codec:
    return Codec(ROW, arrow)


def instants_around(moments: list[datetime.datetime]) -> list[int]:
    """Microseconds since the epoch, every half hour of two days around the moments."""
    micros = []
    for moment in moments:
        since_epoch = moment.replace(tzinfo=datetime.timezone.utc) - EPOCH
        start = since_epoch // datetime.timedelta(microseconds=1)
        for half_hours in range(-50, 51):
            shifted = start + half_hours * 1800 * MICROS
            micros += [shifted - 1, shifted, shifted + 1]
    return micros


def wall_clocks_around(moments: list[datetime.datetime]) -> list[datetime.datetime]:
    """Naive times with either fold, every quarter of an hour of two days around the moments."""
    times = []
    for moment in moments:
        for quarters in range(-100, 101):
            try:
                shifted = moment + datetime.timedelta(minutes=15 * quarters, microseconds=quarters)
            except OverflowError:
                continue
            times += [shifted.replace(fold=0), shifted.replace(fold=1)]
    return times


def argument_of_pyspark(micros: int, arrow: bool) -> Any:
    """What a function gets, or the type of the exception."""
    try:
        if not arrow:
            return TimestampType().fromInternal(micros)
        return (EPOCH + datetime.timedelta(microseconds=micros)).astimezone().replace(tzinfo=None)
    except Exception as error:
        return type(error).__name__


def result_of_pyspark(value: datetime.datetime, arrow: bool) -> int | Inexact:
    """The microseconds that a result becomes; PySpark's errors are left to it.

    So are times that the clocks skip, where Python releases differ.
    """
    if arrow and is_skipped(value):
        return INEXACT
    try:
        if not arrow:
            return TimestampType().toInternal(value)
        since_epoch = value.astimezone(datetime.timezone.utc) - EPOCH
        return since_epoch // datetime.timedelta(microseconds=1)
    except Exception:
        return INEXACT


def is_skipped(value: datetime.datetime) -> bool:
    whole = value.replace(microsecond=0)
    try:
        return value.tzinfo is None and datetime.datetime.fromtimestamp(whole.timestamp()) != whole
    except (OverflowError, ValueError):
        return False


def argument(codec: Codec, micros: int) -> Any:
    try:
        return codec.decode(struct.pack("<qq", 0, micros))[0]
    except CodecError as error:
        return str(error).partition("(")[0]


def result(codec: Codec, value: datetime.datetime) -> int | Inexact:
    row = codec.encode((value,))
    return row if isinstance(row, Inexact) else struct.unpack("<qq", row)[1]


def test_arguments(codec: Codec, arrow: bool) -> None:
    instants = instants_around(TRANSITIONS)
    assert {micros: exact(argument(codec, micros)) for micros in instants} == {
        micros: exact(argument_of_pyspark(micros, arrow)) for micros in instants
    }


def test_arguments_at_the_ends_of_the_calendar(codec: Codec, arrow: bool) -> None:
    instants = [*instants_around(ENDS), 2**63 - 1, -(2**63)]
    assert {micros: exact(argument(codec, micros)) for micros in instants} == {
        micros: exact(argument_of_pyspark(micros, arrow)) for micros in instants
    }


def test_results(codec: Codec, arrow: bool) -> None:
    times = wall_clocks_around(TRANSITIONS)
    assert {repr(value): result(codec, value) for value in times} == {
        repr(value): result_of_pyspark(value, arrow) for value in times
    }


def test_results_at_the_ends_of_the_calendar(codec: Codec, arrow: bool) -> None:
    results = {value: result(codec, value) for value in wall_clocks_around(ENDS)}
    exact_results = {value: each for value, each in results.items() if each is not INEXACT}
    assert exact_results == {value: result_of_pyspark(value, arrow) for value in exact_results}


@given(micros=st.integers(-62135596800 * MICROS, 253402300800 * MICROS))
def test_any_argument(codec: Codec, arrow: bool, micros: int) -> None:
    assert exact(argument(codec, micros)) == exact(argument_of_pyspark(micros, arrow))


@given(
    value=st.datetimes(datetime.datetime(1, 1, 10), datetime.datetime(9999, 12, 20)),
    fold=st.integers(0, 1),
)
def test_any_result(codec: Codec, arrow: bool, value: datetime.datetime, fold: int) -> None:
    value = value.replace(fold=fold)
    assert result(codec, value) == result_of_pyspark(value, arrow)


def test_aware_results_in_utc(codec: Codec, arrow: bool) -> None:
    value = datetime.datetime(2024, 7, 1, 12, 0, 0, 1, tzinfo=datetime.timezone.utc)
    assert result(codec, value) == result_of_pyspark(value, arrow)
