"""No reference is kept and none is lost, whether a conversion succeeds, is inexact or fails."""

from __future__ import annotations

import array
import contextlib
import datetime
import gc
import resource
import struct
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DateType,
    DecimalType,
    LongType,
    MapType,
    Row,
    StringType,
    StructField,
    StructType,
    TimestampType,
    VariantVal,
)

from cases import Case, Recording, all_cases
from codec import Codec, CodecError
from user_defined import Boxed, FailingType, LabelType, SerialType

#: A reference too many or too few per call shows up as this many.
CALLS = 64
SMALLEST_OBJECT = 16

SHARED = [
    *(None, True, False, Row, Decimal, VariantVal, Boxed),
    *(datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone.utc),
]

CASES = [pytest.param(case, id=case.name) for case in all_cases()]


class Amount(Decimal):
    def __str__(self) -> str:
        raise AssertionError("a subclass is not the codec's to read")


class Unequal(str):
    """Hashes like its text and cannot be compared with it."""

    def __hash__(self) -> int:
        return str.__hash__(self)

    def __eq__(self, other: object) -> bool:
        raise ArithmeticError("no comparison")


PAIR = StructType([StructField("first", LongType()), StructField("second", StringType())])


def deep(inner: DataType) -> DataType:
    return ArrayType(
        MapType(StringType(), StructType([StructField("a", LongType()), StructField("b", inner)]))
    )


def deep_value(good: Any, stopping: Any) -> Any:
    return [None, {"k": (10**12, good)}, {"k": (10**12, stopping)}]


#: A type, a result of it that is good, and one at which encoding stops half way.
STOPPING = [
    pytest.param(LongType(), 10**15, "15", id="long"),
    pytest.param(StringType(), "text" * 5, "text\ud800", id="string"),
    pytest.param(DecimalType(10, 2), Decimal("1.25"), Amount("1.25"), id="decimal subclass"),
    pytest.param(DecimalType(38, 2), Decimal("1.25"), Decimal("NaN"), id="decimal"),
    pytest.param(ArrayType(StringType()), ["good" * 3], ["good" * 3, 5], id="array"),
    pytest.param(PAIR, {"first": 1}, (1, "a", 2), id="struct"),
    pytest.param(PAIR, {"first": 1}, {Unequal("first"): 1}, id="struct by name"),
    pytest.param(SerialType(), Boxed(7), Boxed("7"), id="user-defined"),
    pytest.param(FailingType(), None, Boxed(7), id="failing user-defined"),
    pytest.param(ArrayType(FailingType()), [None], [None, Boxed(7)], id="array of failing"),
    pytest.param(LabelType(), Boxed("a"), object(), id="no user-defined value"),
]


def word(number: int) -> bytes:
    return struct.pack("<q", number)


def variable(data: bytes) -> bytes:
    """A row with one variable-length column."""
    padded = data + bytes(-len(data) % 8)
    return word(0) + word(16 << 32 | len(data)) + padded


def array_of_word(number: int) -> bytes:
    return variable(word(1) + word(0) + word(number))


#: A type, whether its arguments come through Arrow, and a row of which no argument can be made.
UNREADABLE = [
    pytest.param(StringType(), True, variable(b"good\xff"), id="string"),
    pytest.param(DateType(), False, word(0) + word(2**31 - 1), id="date, pickled"),
    pytest.param(DateType(), True, word(0) + word(2**31 - 1), id="date, arrow"),
    pytest.param(TimestampType(), False, word(0) + word(2**63 - 1), id="timestamp, pickled"),
    pytest.param(ArrayType(TimestampType()), True, array_of_word(2**63 - 1), id="timestamp, arrow"),
    pytest.param(FailingType(), False, word(0) + word(7), id="failing user-defined"),
    pytest.param(ArrayType(FailingType()), True, array_of_word(7), id="array of failing"),
]


@pytest.fixture(scope="module", autouse=True)
def quick_collections() -> Iterator[None]:
    """Keeps all modules out of the garbage collections between the measurements."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def objects_in(value: Any) -> list[Any]:
    """All objects that make up a value."""
    found: dict[int, Any] = {}
    pending = [value]
    while pending:
        each = pending.pop()
        if id(each) not in found and not isinstance(each, type):
            found[id(each)] = each
            pending += gc.get_referents(each)
    return list(found.values())


def assert_unchanged(watched: list[Any], call: Callable[[], object]) -> None:
    """Neither the reference counts of objects nor the traced memory change from call to call."""

    def call_often() -> None:
        for _ in range(CALLS):
            call()

    def counts() -> array.array[int]:
        # A list would refer to the small numbers that it watches.
        return array.array("q", (sys.getrefcount(each) for each in watched))

    call_often()  # what is made once, like the caches of strings, is not a leak
    gc.collect()
    before = counts()
    call_often()
    # Without a GIL, threads count references to types apart; a collection adds them up.
    gc.collect()
    after = counts()
    changes = [(each, now - was) for each, was, now in zip(watched, before, after)]
    assert [each for each in changes if abs(each[1]) >= CALLS // 2] == []

    def growth() -> int:
        memory, _ = tracemalloc.get_traced_memory()
        call_often()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - memory

    # CPython's free lists fill up after a while, a leak goes on.
    tracemalloc.start()
    try:
        assert any(growth() < SMALLEST_OBJECT * CALLS // 2 for _ in range(50))
    finally:
        tracemalloc.stop()


def ignoring_errors(call: Callable[[Any], object], value: Any) -> Callable[[], object]:
    def attempt() -> None:
        with contextlib.suppress(CodecError):
            call(value)

    return attempt


@pytest.mark.parametrize("case", CASES)
def test_encoding(
    case: Case, arrow: bool, recording: Recording, make_codec: Callable[..., Codec]
) -> None:
    codec = make_codec(case.data_type, arrow)
    row = (recording.records[case.name][-2:][0].arrow_argument,)
    assert_unchanged(SHARED + objects_in(row), lambda: codec.encode(row))


@pytest.mark.parametrize("case", CASES)
def test_decoding(
    case: Case, arrow: bool, recording: Recording, make_codec: Callable[..., Codec]
) -> None:
    codec = make_codec(case.data_type, arrow)
    row = recording.records[case.name][-2:][0].pickled_row
    assert_unchanged(SHARED + objects_in(codec.descriptor), lambda: codec.decode(row))


@pytest.mark.parametrize(("data_type", "good", "stopping"), STOPPING)
def test_encoding_that_stops(
    data_type: DataType, good: Any, stopping: Any, arrow: bool, make_codec: Callable[..., Codec]
) -> None:
    codec = make_codec(data_type, arrow)
    row = (stopping,)
    assert_unchanged(SHARED + objects_in(row), ignoring_errors(codec.encode, row))


@pytest.mark.parametrize(("data_type", "good", "stopping"), STOPPING)
def test_encoding_that_stops_deep_inside(
    data_type: DataType, good: Any, stopping: Any, arrow: bool, make_codec: Callable[..., Codec]
) -> None:
    codec = make_codec(deep(data_type), arrow)
    row = (deep_value(good, stopping),)
    assert_unchanged(SHARED + objects_in(row), ignoring_errors(codec.encode, row))


@pytest.mark.parametrize(("data_type", "arrow", "row"), UNREADABLE)
def test_decoding_that_fails(
    data_type: DataType, arrow: bool, row: bytes, make_codec: Callable[..., Codec]
) -> None:
    codec = make_codec(data_type, arrow)
    with pytest.raises(CodecError):
        codec.decode(row)
    watched = SHARED + objects_in(codec.descriptor)
    assert_unchanged(watched, ignoring_errors(codec.decode, row))


def test_decoding_a_map_that_fails_at_a_key(arrow: bool, make_codec: Callable[..., Codec]) -> None:
    data_type = MapType(BinaryType(), StringType())
    row = make_codec(data_type, arrow).encode(({b"key" * 9: "value" * 9},))
    codec = make_codec(data_type, arrow, binary_as_bytes=False)
    with pytest.raises(CodecError, match="unhashable"):
        codec.decode(row)
    assert_unchanged(SHARED, ignoring_errors(codec.decode, row))


def test_large_rows_leave_no_memory_behind(arrow: bool, make_codec: Callable[..., Codec]) -> None:
    megabyte = "é" * 500_000
    codec = make_codec(ArrayType(StringType()), arrow)
    good, bad = ([megabyte] * 4,), ([megabyte] * 4 + [5],)

    def convert() -> None:
        codec.decode(codec.encode(good))
        codec.encode(bad)

    def most_kilobytes_after(calls: int) -> int:
        for _ in range(calls):
            convert()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    # A sanitizer keeps freed memory for a while.
    before = most_kilobytes_after(50)
    assert most_kilobytes_after(50) - before < 50_000
