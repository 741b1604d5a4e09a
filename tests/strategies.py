"""Generated data types, and values of exactly the Python types that stand for them."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    CharType,
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
    UserDefinedType,
    VarcharType,
    VariantType,
    VariantVal,
)

from user_defined import Boxed, LabelType, MomentType, NestedType, PointType, SerialType

SIMPLE_TYPES = [
    *(BooleanType(), ByteType(), ShortType(), IntegerType(), LongType(), FloatType(), DoubleType()),
    *(
        StringType(),
        StringType("UTF8_LCASE"),
        CharType(3),
        VarcharType(9),
        BinaryType(),
        DateType(),
    ),
    *(TimestampType(), TimestampNTZType(), TimeType(), DayTimeIntervalType()),
    *(SerialType(), LabelType(), MomentType()),
]
#: Types whose values cannot be keys of a map, in Spark or in Python.
KEYLESS_TYPES = [NullType(), VariantType(), PointType(), NestedType()]


@st.composite
def decimal_types(draw: st.DrawFn) -> DecimalType:
    precision = draw(st.integers(1, 38))
    return DecimalType(precision, draw(st.integers(0, precision)))


def _array(element: DataType, nullable: bool) -> ArrayType:
    return ArrayType(element, nullable or element == NullType())


def _map(key: DataType, value: DataType, nullable: bool) -> MapType:
    return MapType(key, value, nullable or value == NullType())


def _field(name: str, data_type: DataType, nullable: bool) -> StructField:
    return StructField(name, data_type, nullable or data_type == NullType())


scalar_types = st.one_of(st.sampled_from(SIMPLE_TYPES), decimal_types())


def struct_types(
    fields: st.SearchStrategy[DataType], max_size: int = 5
) -> st.SearchStrategy[StructType]:
    names = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
    return st.lists(
        st.builds(_field, names, fields, st.booleans()),
        max_size=max_size,
        unique_by=lambda field: field.name,
    ).map(StructType)


def nested(
    scalars: st.SearchStrategy[DataType], keyless: list[DataType]
) -> st.SearchStrategy[DataType]:
    """The types, and arrays, maps and structs of them and of each other."""
    keys = st.one_of(scalars, struct_types(scalars))
    return st.recursive(
        st.one_of(scalars, st.sampled_from(keyless)),
        lambda inner: st.one_of(
            st.builds(_array, inner, st.booleans()),
            st.builds(_map, keys, inner, st.booleans()),
            struct_types(inner),
        ),
        max_leaves=6,
    )


data_types = nested(scalar_types, KEYLESS_TYPES)

row_types = struct_types(data_types)

_texts = st.one_of(
    st.sampled_from(["", "\0", "\u00e9", "\u4e2d", "\U0001f600\U0010ffff"]),
    st.text(st.characters(exclude_categories=["Cs"])),
)
_dates = st.one_of(
    st.sampled_from(
        [
            datetime.date.min,
            datetime.date(1582, 10, 4),
            datetime.date(1582, 10, 15),
            datetime.date(1969, 12, 31),
            datetime.date.max,
        ]
    ),
    st.dates(),
)


def _has_one_instant(local: datetime.datetime) -> bool:
    """Whether clocks show a time just once.

    Which instant C's mktime(), that PySpark asks, has for another depends on what it was asked for
    before.
    """
    return local.timestamp() == local.replace(fold=not local.fold).timestamp()


#: Local time close to the ends of Python's calendar is PySpark's to convert.
_datetimes = st.one_of(
    st.sampled_from(
        [
            datetime.datetime(1582, 10, 10, 1, 2, 3),
            datetime.datetime(1969, 12, 31, 23, 59, 59, 999999),
            # Missing in New York, and there twice.
            datetime.datetime(2024, 3, 10, 2, 30),
            datetime.datetime(2024, 11, 3, 1, 30),
            # Missing in Berlin, and in Apia, where a day was skipped.
            datetime.datetime(2024, 3, 31, 2, 30),
            datetime.datetime(2011, 12, 30, 12),
        ]
    ),
    st.datetimes(datetime.datetime(1, 1, 5), datetime.datetime(9999, 12, 27)),
).filter(_has_one_instant)

_VALUES: dict[type[DataType], st.SearchStrategy[Any]] = {
    NullType: st.none(),
    BooleanType: st.booleans(),
    ByteType: st.integers(-(2**7), 2**7 - 1),
    ShortType: st.integers(-(2**15), 2**15 - 1),
    IntegerType: st.integers(-(2**31), 2**31 - 1),
    LongType: st.integers(-(2**63), 2**63 - 1),
    # A signalling NaN does not survive the way from double to float, on any side.
    FloatType: st.one_of(
        st.floats(width=32, allow_nan=False), st.sampled_from([float("nan"), -float("nan")])
    ),
    DoubleType: st.floats(),
    StringType: _texts,
    CharType: _texts,
    VarcharType: _texts,
    BinaryType: st.binary(),
    DateType: _dates,
    TimestampType: _datetimes,
    TimestampNTZType: st.datetimes(),
    TimeType: st.times(),
    DayTimeIntervalType: st.timedeltas(
        datetime.timedelta(-106751991), datetime.timedelta(microseconds=2**63 - 1)
    ),
    VariantType: st.builds(VariantVal, st.binary(), st.binary()),
    PointType: st.lists(st.floats()).map(Boxed),
    NestedType: st.lists(_texts.map(Boxed)).map(Boxed),
    SerialType: st.integers(-(2**63), 2**63 - 1).map(Boxed),
    LabelType: _texts.map(Boxed),
    MomentType: _datetimes.map(Boxed),
}


def values(
    data_type: DataType,
    nullable: bool = True,
    map_size: Callable[[DataType], int] = lambda key_type: 4,
) -> st.SearchStrategy[Any]:
    """Values that a function may return for the type; None too if it is nullable.

    Maps have at most as many entries as `map_size` says for the type of their keys.
    """

    def inner(each: DataType, nullable: bool) -> st.SearchStrategy[Any]:
        return values(each, nullable, map_size)

    if isinstance(data_type, DecimalType):
        limit = 10**data_type.precision - 1
        digits = st.one_of(st.sampled_from([0, -1, limit, -limit]), st.integers(-limit, limit))
        some = digits.map(lambda unscaled: _decimal(unscaled, data_type.scale))
    elif isinstance(data_type, ArrayType):
        some = st.lists(inner(data_type.elementType, data_type.containsNull), max_size=6)
    elif isinstance(data_type, MapType):
        some = st.dictionaries(
            inner(data_type.keyType, False),
            inner(data_type.valueType, data_type.valueContainsNull),
            max_size=map_size(data_type.keyType),
        )
    elif isinstance(data_type, StructType):
        some = st.tuples(*(inner(field.dataType, field.nullable) for field in data_type.fields))
    else:
        some = _VALUES[type(data_type)]
    return st.one_of(st.none(), some) if nullable else some


def _decimal(unscaled: int, scale: int) -> Decimal:
    digits = tuple(map(int, str(abs(unscaled))))
    return Decimal((int(unscaled < 0), digits, -scale))


def as_argument(data_type: DataType, value: Any, arrow: bool) -> Any:
    """What a function gets for a value that another one returned."""

    def again(inner: DataType, each: Any) -> Any:
        return as_argument(inner, each, arrow)

    if value is None:
        return None
    if isinstance(data_type, StructType):
        fields = zip(data_type.fields, value)
        row = Row(*(again(field.dataType, each) for field, each in fields))
        row.__fields__ = data_type.names
        return row
    if isinstance(data_type, ArrayType):
        return [again(data_type.elementType, each) for each in value]
    if isinstance(data_type, MapType):
        return {
            again(data_type.keyType, key): again(data_type.valueType, each)
            for key, each in value.items()
        }
    if isinstance(data_type, VariantType):
        kind = bytes if arrow else bytearray
        return VariantVal(kind(value.value), kind(value.metadata))
    if isinstance(data_type, UserDefinedType):
        return Boxed(again(data_type.sqlType(), value.value))
    if isinstance(value, (datetime.datetime, datetime.time)):
        return value.replace(fold=0)
    if isinstance(data_type, DecimalType) and not arrow:
        # Small numbers are pickled with an exponent.
        return Decimal(value.to_eng_string())
    return value
