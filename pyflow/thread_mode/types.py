"""Type descriptors: PySpark's data types in the form that the native codec reads."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

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
)

__all__ = [
    "ARROW_EXCHANGE",
    "PICKLE_EXCHANGE",
    "date_beyond_python",
    "describe",
    "timestamp_beyond_python",
    "with_values",
]

# How PySpark exchanges values with functions: numbers of native/src/codec/codec.h.
PICKLE_EXCHANGE = 0
ARROW_EXCHANGE = 1

#: A tuple that starts with one of the numbers of ``pyflow::Kind`` in native/src/codec/types.h.
Descriptor = tuple[Any, ...]

_DECIMAL = 8
_ARRAY = 16
_MAP = 17
_STRUCT = 18
_USER_DEFINED = 20

_SIMPLE: dict[type[DataType], int] = {
    NullType: 0,
    BooleanType: 1,
    ByteType: 2,
    ShortType: 3,
    IntegerType: 4,
    LongType: 5,
    FloatType: 6,
    DoubleType: 7,
    StringType: 9,
    CharType: 9,
    VarcharType: 9,
    BinaryType: 10,
    DateType: 11,
    TimestampType: 12,
    TimestampNTZType: 13,
    TimeType: 14,
    DayTimeIntervalType: 15,
    VariantType: 19,
}


def describe(data_type: DataType) -> Descriptor:
    """Describe a data type for the native codec.

    Parameters
    ----------
    data_type : pyspark.sql.types.DataType

    Returns
    -------
    tuple

    Raises
    ------
    TypeError
        If the row lane does not carry the type.
    """
    simple = _SIMPLE.get(type(data_type))
    if simple is not None:
        return (simple,)
    if isinstance(data_type, DecimalType):
        return (_DECIMAL, data_type.precision, data_type.scale)
    if isinstance(data_type, ArrayType):
        return (_ARRAY, describe(data_type.elementType), data_type.containsNull)
    if isinstance(data_type, MapType):
        return (
            _MAP,
            describe(data_type.keyType),
            describe(data_type.valueType),
            data_type.valueContainsNull,
        )
    if isinstance(data_type, StructType):
        fields = tuple((describe(field.dataType), field.nullable) for field in data_type.fields)
        return (_STRUCT, data_type.names, fields)
    if isinstance(data_type, UserDefinedType):
        return (_USER_DEFINED, describe(data_type.sqlType()), data_type)
    raise TypeError(f"{data_type.simpleString()} has no form in the row lane")


_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def date_beyond_python(days: int, arrow: bool) -> datetime.date:
    """Fail as PySpark does for a date that Python's calendar (years 1 to 9999) does not hold."""
    if arrow:
        return _EPOCH.date() + datetime.timedelta(days=days)
    return DateType().fromInternal(days)


def timestamp_beyond_python(micros: int, arrow: bool, local: bool) -> datetime.datetime:
    """Convert, or fail, as PySpark does for a timestamp at or beyond the ends of Python's calendar.

    Parameters
    ----------
    micros : int
        Microseconds since the epoch.
    arrow : bool
        Whether the value would have come through Arrow.
    local : bool
        Whether the value is shown in the local time zone (TimestampType).
    """
    if not arrow:
        return (TimestampType() if local else TimestampNTZType()).fromInternal(micros)
    instant = _EPOCH + datetime.timedelta(microseconds=micros)
    return (instant.astimezone() if local else instant).replace(tzinfo=None)


def with_values(data_type: DataType, replaced: Callable[[DataType], DataType]) -> DataType:
    """A type with the same structs, arrays, maps and nulls, and other types of values in them.

    Parameters
    ----------
    data_type : pyspark.sql.types.DataType
    replaced : callable
        What stands for a type that is none of these containers.
    """
    if isinstance(data_type, StructType):
        return StructType(
            [
                StructField(field.name, with_values(field.dataType, replaced), field.nullable)
                for field in data_type.fields
            ]
        )
    if isinstance(data_type, ArrayType):
        return ArrayType(with_values(data_type.elementType, replaced), data_type.containsNull)
    if isinstance(data_type, MapType):
        return MapType(
            with_values(data_type.keyType, replaced),
            with_values(data_type.valueType, replaced),
            data_type.valueContainsNull,
        )
    return replaced(data_type)
