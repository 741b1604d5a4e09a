"""Values that are not of exactly the documented type are left to PySpark's own converters."""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import enum
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    Row,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
    TimeType,
    VariantType,
    VariantVal,
)

from codec import INEXACT, Codec, CodecError
from user_defined import Boxed, LabelType, NestedType, PointType, SerialType


class Number(enum.IntEnum):
    ONE = 1


class Int(int):
    pass


class Float(float):
    pass


class Text(str):
    pass


class Bytes(bytes):
    pass


class Bytearray(bytearray):
    pass


class List(list):  # type: ignore[type-arg]
    pass


class Dict(dict):  # type: ignore[type-arg]
    pass


class Date(datetime.date):
    pass


class Datetime(datetime.datetime):
    pass


class Time(datetime.time):
    pass


class Timedelta(datetime.timedelta):
    pass


class Amount(Decimal):
    pass


class NamedRow(Row):
    pass


class Variant(VariantVal):
    pass


class Bag:
    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


Pair = collections.namedtuple("Pair", ["first", "second"])

PAIR = StructType([StructField("first", LongType()), StructField("second", StringType())])
STRICT_PAIR = StructType(
    [StructField("first", LongType(), False), StructField("second", StringType())]
)
ZONE = ZoneInfo("Europe/Paris")
NOON = datetime.datetime(2024, 6, 1, 12)

WRONG: list[tuple[DataType, list[Any]]] = [
    (NullType(), [0, "", False, []]),
    (BooleanType(), [0, 1, 1.0, "true", Number.ONE]),
    *(
        (each, [True, 1.0, "1", Decimal(1), Number.ONE, Int(1), b"1", 2**63, -(2**63) - 1, 10**40])
        for each in (ByteType(), ShortType(), IntegerType(), LongType())
    ),
    *((each, [1, True, "1.0", Decimal(1), Float(1), 1j]) for each in (FloatType(), DoubleType())),
    (
        DecimalType(10, 2),
        [1, 1.0, "1", Amount(1), Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity")],
    ),
    (StringType(), [1, b"a", bytearray(b"a"), Text("a"), ["a"], "\ud800", "a\udfffb", Boxed("a")]),
    (
        BinaryType(),
        ["a", memoryview(b"a"), Bytes(b"a"), Bytearray(b"a"), [97], array.array("b", [97])],
    ),
    (DateType(), [NOON, Date(2024, 6, 1), True, "2024-06-01"]),
    (
        TimestampType(),
        [NOON.date(), Datetime(2024, 6, 1), 0, "2024-06-01", NOON.replace(tzinfo=ZONE)],
    ),
    (
        TimestampNTZType(),
        [NOON.date(), Datetime(2024, 6, 1), 0, NOON.replace(tzinfo=datetime.timezone.utc)],
    ),
    (TimeType(), [NOON, Time(12), True, "12:00", datetime.time(12, tzinfo=datetime.timezone.utc)]),
    (
        DayTimeIntervalType(),
        [
            Timedelta(1),
            0,
            datetime.timedelta.max,
            datetime.timedelta.min,
            datetime.timedelta(106751992),
        ],
    ),
    (ArrayType(LongType()), [(1,), List([1]), array.array("q", [1]), {1}, range(1), "1", [1, "2"]]),
    (ArrayType(StringType()), [["a", 1], ["\ud800"], [b"a"]]),
    (MapType(StringType(), LongType()), [Dict(a=1), [("a", 1)], {"a": "1"}, {1: 1}, {None: 1}]),
    (PAIR, [Pair(1, "a"), NamedRow(1, "a"), Bag(first=1, second="a"), "ab", VariantVal(b"", b"")]),
    (
        PAIR,
        [
            (),
            (1,),
            (1, "a", None),
            Row(),
            Row(1, "a", 2),
            ("1", "a"),
            {"first": "1"},
            Dict(first=1),
        ],
    ),
    (
        VariantType(),
        ["{}", {"value": b"", "metadata": b""}, Variant(b"", b""), VariantVal("", b"")],
    ),
    (SerialType(), [Boxed("1"), Boxed(None), Boxed(True), Boxed(2**63)]),
    (LabelType(), [Boxed(1), Boxed(None), Boxed("\ud800")]),
    (PointType(), [Boxed([None]), Boxed([1]), Boxed((1.0,))]),
    (NestedType(), [Boxed([Boxed(1)])]),
]

#: Results that the two exchanges treat differently.
WRONG_PICKLED = [
    (MapType(StringType(), LongType()), [{"a": 1, "b": 2}]),
    (DecimalType(10, 2), [Decimal("99999999.995"), Decimal("1E8")]),
]
WRONG_FOR_ARROW = [
    (ByteType(), [128, -129]),
    (ShortType(), [2**15, -(2**15) - 1]),
    (IntegerType(), [2**31, -(2**31) - 1]),
    (PAIR, [[1, "a"]]),
    (DayTimeIntervalType(), [datetime.timedelta(-106751992, 86399)]),
    (DecimalType(10, 2), [Decimal("99999999.996"), Decimal("1E8")]),
]

NULLS = [
    (ArrayType(LongType(), False), [[None], [1, None]]),
    (ArrayType(StringType(), False), [[None], ["a", None]]),
    (MapType(StringType(), LongType(), False), [{"a": None}]),
    (MapType(LongType(), LongType()), [{None: 1}]),
    (STRICT_PAIR, [(None, "a"), {"second": "a"}, Row(first=None, second="a")]),
    (ArrayType(STRICT_PAIR), [[(1, "a"), (None, "a")]]),
]

#: Numbers that fit, but only if the way there does not overflow.
WIDE = DecimalType(38, 1)
TOO_LARGE = [
    Decimal("35000000000000000000000000000000000000"),
    Decimal("99999999999999999999999999999999999999"),
    Decimal("1E37"),
    Decimal("1E1000000"),
    Decimal("9999999999999999999999999999999999999.96"),
]


def name_of(data_type: DataType, value: Any) -> str:
    """The name of a case, the same in every process that collects it."""
    without_address = re.sub(r" at 0x[0-9a-f]+", "", repr(value))
    return f"{data_type.simpleString()}-{without_address}-{type(value).__name__}"


def cells(*tables: list[tuple[DataType, list[Any]]]) -> list[Any]:
    return [
        pytest.param(data_type, value, id=name_of(data_type, value))
        for table in tables
        for data_type, values in table
        for value in values
    ]


def assert_inexact(codec: Codec, value: Any) -> None:
    assert codec.encode((value,)) is INEXACT
    # Nothing is left of it: no exception, no bytes.
    assert codec.decode(codec.encode((None,))) == (None,)


@pytest.mark.parametrize(("data_type", "value"), cells(WRONG, NULLS))
def test_wrong_values(
    data_type: DataType, value: Any, arrow: bool, make_codec: Callable[..., Codec]
) -> None:
    assert_inexact(make_codec(data_type, arrow), value)


@pytest.mark.parametrize(("data_type", "value"), cells(WRONG))
def test_wrong_values_deep_inside(
    data_type: DataType, value: Any, arrow: bool, make_codec: Callable[..., Codec]
) -> None:
    nested = StructType([StructField("a", ArrayType(MapType(StringType(), data_type)))])
    assert_inexact(make_codec(nested, arrow), ([{"k": None}, {"k": value}],))


@pytest.mark.parametrize(("data_type", "value"), cells(WRONG))
def test_wrong_values_leave_no_bytes_in_the_row(
    data_type: DataType, value: Any, arrow: bool
) -> None:
    text, nested = StringType(), ArrayType(MapType(StringType(), ArrayType(data_type)))
    names = ["before", "wrong", "between", "wrong too", "after"]
    columns = [text, nested, text, nested, text]
    codec = Codec(StructType(list(map(StructField, names, columns))), arrow)
    wrong = [{"good": []}, {"wrong": [None, value]}]
    row, exact = codec.encode_exact(("first", wrong, "second", wrong, "third"))
    assert (row, exact) == (codec.encode(("first", None, "second", None, "third")), False)
    codec.close()


@pytest.mark.parametrize(("data_type", "value"), cells(WRONG_PICKLED))
def test_values_that_are_wrong_when_pickled(
    data_type: DataType, value: Any, make_codec: Callable[..., Codec]
) -> None:
    assert_inexact(make_codec(data_type, arrow=False), value)


@pytest.mark.parametrize(("data_type", "value"), cells(WRONG_FOR_ARROW))
def test_values_that_are_wrong_for_arrow(
    data_type: DataType, value: Any, make_codec: Callable[..., Codec]
) -> None:
    assert_inexact(make_codec(data_type, arrow=True), value)


@pytest.mark.parametrize("number", TOO_LARGE, ids=str)
def test_decimals_of_too_many_digits(
    number: Decimal, arrow: bool, make_codec: Callable[..., Codec]
) -> None:
    assert_inexact(make_codec(WIDE, arrow), number)


def test_null_where_the_field_takes_none(arrow: bool, make_codec: Callable[..., Codec]) -> None:
    codec = make_codec(LongType(), arrow, nullable=False)
    assert codec.encode((None,)) is INEXACT


def test_numpy_scalars(arrow: bool, make_codec: Callable[..., Codec]) -> None:
    np = pytest.importorskip("numpy")
    wrong = [
        (LongType(), np.int64(1)),
        (DoubleType(), np.float64(1)),
        (FloatType(), np.float32(1)),
        (BooleanType(), np.bool_(True)),
        (StringType(), np.str_("a")),
        (BinaryType(), np.bytes_(b"a")),
        (ArrayType(LongType()), np.array([1])),
        (TimestampType(), np.datetime64("2024-06-01T12:00:00")),
    ]
    for data_type, value in wrong:
        assert_inexact(make_codec(data_type, arrow), value)


def test_pickled_integers_keep_their_low_bits(make_codec: Callable[..., Codec]) -> None:
    codec = make_codec(ByteType(), arrow=False)
    assert codec.decode(codec.encode((-129,))) == (127,)


@pytest.mark.parametrize(
    ("data_type", "number", "read"),
    [
        (DateType(), 366, datetime.date(1971, 1, 2)),
        (TimeType(), 3_600_000_001_000, datetime.time(1, 0, 0, 1)),
    ],
    ids=str,
)
def test_arrow_takes_integers_for_dates_and_times(
    data_type: DataType, number: int, read: Any, make_codec: Callable[..., Codec]
) -> None:
    codec = make_codec(data_type, arrow=True)
    assert codec.decode(codec.encode((number,))) == (read,)
    assert codec.encode((2**63,)) is INEXACT
    assert_inexact(make_codec(data_type, arrow=False), number)


@pytest.mark.parametrize(
    ("arrow", "text", "rounded"),
    [
        (False, "0.125", "0.13"),
        (False, "-0.125", "-0.13"),
        (False, "0.115", "0.12"),
        (True, "0.125", "0.12"),
        (True, "-0.125", "-0.12"),
        (True, "0.115", "0.12"),
        (True, "0.1250000000000000000000000000000000001", "0.13"),
    ],
)
def test_decimals_round_as_their_exchange_does(
    arrow: bool, text: str, rounded: str, make_codec: Callable[..., Codec]
) -> None:
    codec = make_codec(DecimalType(10, 2), arrow)
    assert codec.decode(codec.encode((Decimal(text),))) == (Decimal(rounded),)


def test_a_value_that_no_row_can_hold_is_an_error(
    arrow: bool, make_codec: Callable[..., Codec]
) -> None:
    codec = make_codec(BinaryType(), arrow)
    with pytest.raises(CodecError, match=r"OverflowError.*at most 2 GiB"):
        codec.encode((bytes(2**31),))


def test_a_pure_python_decimal_is_not_a_decimal(
    arrow: bool, make_codec: Callable[..., Codec]
) -> None:
    pure = pytest.importorskip("_pydecimal")
    assert pure.Decimal is not decimal.Decimal
    assert_inexact(make_codec(DecimalType(10, 2), arrow), pure.Decimal(1))
