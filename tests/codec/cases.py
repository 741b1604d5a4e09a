"""A table of values of every type that the row lane carries, for rows built by Spark.

Must not depend on anything but PySpark: another process imports it to have Spark build the rows.
"""

from __future__ import annotations

import datetime
import itertools
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

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

from user_defined import Boxed, LabelType, MomentType, PointType, ReadingType, SerialType

#: The time zone of the process that builds the rows, and of the tests that read them.
TIME_ZONE = "America/New_York"


@dataclass(frozen=True)
class Case:
    """Values of one type; None is always among them."""

    name: str
    data_type: DataType
    values: list[Any]

    @property
    def row_type(self) -> StructType:
        return StructType([StructField("value", self.data_type)])


@dataclass(frozen=True)
class Record:
    """What Spark made of one value of a case."""

    #: What a pickled function returned, and the UnsafeRow whose only column holds it.
    pickled_result: Any
    pickled_row: bytes
    #: What a pickled function gets from that row.
    pickled_argument: Any
    #: The same of an Arrow-optimised function, which returned its argument.
    arrow_row: bytes
    arrow_argument: Any


@dataclass(frozen=True)
class Recording:
    #: By the name of the case.
    records: dict[str, list[Record]]
    #: Bytes that are a Spark string, often not UTF-8, and the argument of a pickled function.
    strings: list[tuple[bytes, str]]


def struct(**fields: DataType) -> StructType:
    return StructType([StructField(name, each) for name, each in fields.items()])


def integers(bits: int) -> list[int]:
    limit = 1 << (bits - 1)
    return [0, 1, -1, limit - 1, -limit]


TEXTS = [
    "",
    "a",
    "exactly8",
    "nine char",
    "\x00",
    "Zoë",
    "€",
    "語",
    "😀",
    "e\u0301",
    "\u00a0\ufeff\uffff",
]

FLOATS = [
    *(0.0, -0.0, 1.5, -1.5, float("inf"), float("-inf"), float("nan")),
    *(2.0**-149, 2.0**-126, 3.4028234663852886e38),
]
DOUBLES = [*FLOATS, 0.1, 5e-324, 1.7976931348623157e308]

DATES = [
    *(datetime.date(1, 1, 1), datetime.date(1582, 10, 4), datetime.date(1582, 10, 15)),
    *(datetime.date(1900, 2, 28), datetime.date(1969, 12, 31), datetime.date(1970, 1, 1)),
    *(datetime.date(2000, 2, 29), datetime.date(9999, 12, 31)),
]
NTZ_TIMESTAMPS = [
    datetime.datetime(1, 1, 1),
    datetime.datetime(1582, 10, 10, 12, 30),
    datetime.datetime(1969, 12, 31, 23, 59, 59, 999999),
    datetime.datetime(1970, 1, 1),
    datetime.datetime(2024, 3, 10, 2, 30, 0, 1),
    datetime.datetime(9999, 12, 31, 23, 59, 59, 999999),
]
LOCAL_TIMESTAMPS = [
    datetime.datetime(1582, 10, 10, 12, 30),
    datetime.datetime(1883, 11, 18, 11, 59, 59),
    datetime.datetime(1969, 12, 31, 18, 59, 59, 999999),
    datetime.datetime(1970, 1, 1),
    datetime.datetime(2024, 7, 1, 12, 0, 0, 123456),
    datetime.datetime(2024, 11, 3, 0, 30),
    datetime.datetime(2024, 11, 3, 2, 30),
    datetime.datetime(9999, 12, 25),
]
TIMES = [
    *(datetime.time(0), datetime.time(0, 0, 0, 1), datetime.time(12, 34, 56, 789012)),
    datetime.time(23, 59, 59, 999999),
]
INTERVALS = [
    *(
        datetime.timedelta(0),
        datetime.timedelta(microseconds=1),
        datetime.timedelta(microseconds=-1),
    ),
    *(datetime.timedelta(1, 2, 3), -datetime.timedelta(1, 2, 3)),
    *(datetime.timedelta(microseconds=2**63 - 1), datetime.timedelta(-106751991)),
]
VARIANTS = [
    VariantVal(b"\x0c\x01", b"\x01\x00\x00"),
    VariantVal(b"\x02\x01\x00\x00\x01\x0c\x2a", b"\x01\x01\x00\x01a"),
]


def decimals(precision: int, scale: int) -> list[Decimal]:
    """Numbers whose unscaled value takes one byte, all bytes, and sizes in between."""
    magnitudes = [0, 1, 127, 128, 255, 256, 10 ** (precision // 2), 10**precision - 1]
    digits = [tuple(map(int, str(each))) for each in magnitudes if each < 10**precision]
    numbers = [Decimal((0, each, -scale)) for each in digits]
    return numbers + [number.copy_negate() for number in numbers if number]


_WIDE = DecimalType(38, 10)
_NARROW = DecimalType(18, 3)


def _scalars() -> list[Case]:
    return [
        Case("boolean", BooleanType(), [True, False]),
        Case("byte", ByteType(), integers(8)),
        Case("short", ShortType(), integers(16)),
        Case("integer", IntegerType(), integers(32)),
        Case("long", LongType(), integers(64)),
        Case("float", FloatType(), FLOATS),
        Case("double", DoubleType(), DOUBLES),
        *(
            Case(f"decimal({precision},{scale})", DecimalType(precision, scale), numbers)
            for precision, scale in [
                (1, 0),
                (9, 9),
                (18, 0),
                (18, 3),
                (19, 0),
                (38, 0),
                (38, 10),
                (38, 38),
            ]
            for numbers in [decimals(precision, scale)]
        ),
        Case("string", StringType(), [*TEXTS, "x" * 100_000]),
        Case("collated string", StringType("UNICODE_CI"), TEXTS),
        Case("binary", BinaryType(), [b"", b"\x00", b"\xff" * 8, bytes(range(256))]),
        Case("date", DateType(), DATES),
        Case("timestamp", TimestampType(), LOCAL_TIMESTAMPS),
        Case("timestamp_ntz", TimestampNTZType(), NTZ_TIMESTAMPS),
        Case("time", TimeType(), TIMES),
        Case("interval day to second", DayTimeIntervalType(), INTERVALS),
        Case("interval hour", DayTimeIntervalType(1, 1), INTERVALS),
        Case("null", NullType(), []),
        Case("variant", VariantType(), VARIANTS),
        Case("user-defined long", SerialType(), [Boxed(number) for number in integers(64)]),
        Case("user-defined string", LabelType(), [Boxed(text) for text in TEXTS]),
        Case("user-defined array", PointType(), [Boxed([]), Boxed([1.0, -0.0])]),
        Case("user-defined timestamp", MomentType(), [Boxed(each) for each in LOCAL_TIMESTAMPS]),
        Case("user-defined struct", ReadingType(), [Boxed(("north", 1.5)), Boxed((None, None))]),
    ]


def _arrays(scalars: list[Case]) -> list[Case]:
    """Arrays of every scalar: empty, null elements, and more than a word of the bit set holds."""
    return [
        Case(
            f"array<{each.name}>",
            ArrayType(each.data_type),
            [
                [],
                [None],
                each.values,
                [value for pair in itertools.zip_longest(each.values, []) for value in pair],
                [each.values[i % len(each.values)] if each.values else None for i in range(65)],
            ],
        )
        for each in scalars
    ]


def _maps(scalars: list[Case]) -> list[Case]:
    """Every scalar as the value and, where Python and Spark let it, as the key of a map."""
    with_values = [
        Case(
            f"map<int,{each.name}>",
            MapType(IntegerType(), each.data_type),
            [{}, dict(enumerate([*each.values, None]))],
        )
        for each in scalars
    ]
    # Pickled keys of these types are in an order of the JVM's that changes from run to run.
    unordered = (BinaryType, ReadingType)
    with_keys = [
        Case(
            f"map<{each.name},string>",
            MapType(each.data_type, StringType()),
            [{}, *({key: "value"} for key in each.values)]
            if isinstance(each.data_type, unordered)
            else [{}, {key: f"{number}" for number, key in enumerate(each.values)}],
        )
        for each in scalars
        if not isinstance(each.data_type, (NullType, VariantType, PointType))
    ]
    return with_values + with_keys


def _structs(scalars: list[Case]) -> list[Case]:
    """Structs with every scalar first, and so many fields that the bit set has a second word."""
    wide = struct(**{f"f{i}": scalars[i % len(scalars)].data_type for i in range(130)})
    columns = [scalars[i % len(scalars)].values or [None] for i in range(130)]
    return [
        *(
            Case(
                f"struct<{each.name},string>",
                struct(first=each.data_type, second=StringType()),
                [(value, "after") for value in [*each.values, None]],
            )
            for each in scalars
        ),
        Case("struct<>", struct(), [()]),
        Case(
            "struct of 130 fields",
            wide,
            [
                (None,) * 130,
                tuple(column[0] for column in columns),
                tuple(
                    column[i % len(column)] if i % 3 else None for i, column in enumerate(columns)
                ),
            ],
        ),
    ]


def _nested() -> list[Case]:
    deep = struct(
        a=ArrayType(struct(m=MapType(StringType(), ArrayType(_WIDE)), d=_WIDE)), n=_NARROW
    )
    numbers = [Decimal("1.5"), None, Decimal("-12345678901234567890.0123456789")]
    elements = [
        ({"k": numbers, "none": None, "": []}, numbers[2]),
        None,
        (None, None),
        ({}, numbers[0]),
    ]
    arrays: DataType = IntegerType()
    value: Any = 7
    for _ in range(20):
        arrays, value = ArrayType(arrays), [value, None] if value != 7 else [7]
    return [
        Case(
            "array of arrays", ArrayType(ArrayType(ShortType())), [[[1, None], None, [], [2] * 9]]
        ),
        Case("20 arrays deep", arrays, [value]),
        Case(
            "struct of array of struct of map",
            deep,
            [(elements, Decimal("1.250")), ([], None), (None, None)],
        ),
        Case(
            "maps of 2 to 60 strings",
            MapType(StringType(), IntegerType()),
            [{f"{i * i}😀{i}é": i for i in range(size)} for size in (2, 3, 4, 6, 7, 12, 13, 60)],
        ),
        Case(
            "maps of 2 to 60 longs",
            MapType(LongType(), IntegerType()),
            [{-(3**i) % 2**62: i for i in range(size)} for size in (2, 3, 4, 6, 7, 12, 13, 60)],
        ),
        Case(
            "map of struct to map",
            MapType(struct(x=LongType(), s=StringType()), MapType(StringType(), BinaryType())),
            [{(1, "one"): {"a": b"1", "b": None}}, {(2, None): None}, {(None, None): {}}],
        ),
        Case(
            "array of user-defined struct",
            ArrayType(ReadingType()),
            [[Boxed(("x", None)), None, Boxed((None, 2.5))]],
        ),
        Case(
            "array of variant struct",
            ArrayType(struct(v=VariantType())),
            [[(VARIANTS[0],), (None,), None]],
        ),
    ]


def all_cases() -> list[Case]:
    scalars = _scalars()
    return [*scalars, *_arrays(scalars), *_maps(scalars), *_structs(scalars), *_nested()]
