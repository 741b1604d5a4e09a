"""Values on their way through operators that keep state.

Operators see numbers, texts and the like as Python has them. What would change on the way, or is
slow to convert, travels as a number: instants and dates as the count of microseconds or days since
1970. They compare as the values themselves do.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from pyflow.table.columns.conversion import micros_of_interval
from pyflow.table.columns.time_values import local_of_micros
from pyflow.types.logical_types import (
    ArrayType,
    BitmapType,
    DataType,
    DateType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RowType,
    TimestampType,
    YearMonthIntervalType,
)
from pyflow.types.spark_types import to_spark

__all__ = ["carried", "carried_type", "restored"]

_EPOCH = "timestamp_ntz'1970-01-01 00:00:00'"
_MONTHS = spark.YearMonthIntervalType(1, 1)


def carried_type(data_type: DataType) -> spark.DataType:
    """The type in which values travel."""
    if isinstance(data_type, (LocalZonedTimestampType, TimestampType)):
        return spark.LongType()
    if isinstance(data_type, (DateType, NullType, YearMonthIntervalType)):
        return spark.IntegerType()
    if isinstance(data_type, ArrayType):
        return spark.ArrayType(carried_type(data_type.element_type))
    if isinstance(data_type, BitmapType):
        return spark.ArrayType(spark.IntegerType())
    if isinstance(data_type, MapType):
        return spark.MapType(carried_type(data_type.key_type), carried_type(data_type.value_type))
    if isinstance(data_type, MultisetType):
        return spark.MapType(carried_type(data_type.element_type), spark.IntegerType())
    if isinstance(data_type, RowType):
        types = [carried_type(each.data_type) for each in data_type.fields]
        return spark.StructType([spark.StructField(f"f{i}", t) for i, t in enumerate(types)])
    return to_spark(data_type)


def carried(column: Column, data_type: DataType) -> Column:
    """The column as it travels."""
    if isinstance(data_type, LocalZonedTimestampType):
        return F.unix_micros(column)
    if isinstance(data_type, TimestampType):
        return micros_of_interval(column - F.expr(_EPOCH))
    if isinstance(data_type, DateType):
        return F.unix_date(column)
    if isinstance(data_type, NullType):
        return F.lit(None).cast("int")
    if isinstance(data_type, YearMonthIntervalType):
        return column.cast(_MONTHS).cast("int")
    if isinstance(data_type, RowType):
        fields = [
            carried(column.getField(each.name), each.data_type).alias(f"f{place}")
            for place, each in enumerate(data_type.fields)
        ]
        return F.when(column.isNotNull(), F.struct(*fields))
    return _inside(column, data_type, carried)


def restored(column: Column, data_type: DataType) -> Column:
    """The column as it was before it travelled."""
    if isinstance(data_type, LocalZonedTimestampType):
        return F.timestamp_micros(column)
    if isinstance(data_type, TimestampType):
        return local_of_micros(column)
    if isinstance(data_type, DateType):
        return F.date_from_unix_date(column)
    if isinstance(data_type, NullType):
        return F.lit(None)
    if isinstance(data_type, YearMonthIntervalType):
        return F.make_ym_interval(F.lit(0), column).cast(to_spark(data_type))
    if isinstance(data_type, RowType):
        fields = [
            restored(column.getField(f"f{place}"), each.data_type).alias(each.name)
            for place, each in enumerate(data_type.fields)
        ]
        return F.when(column.isNotNull(), F.struct(*fields))
    return _inside(column, data_type, restored)


_Carry = Callable[[Column, DataType], Column]


def _inside(column: Column, data_type: DataType, carry: _Carry) -> Column:
    """The column with what is inside its values carried, where that has to be done."""
    if carried_type(data_type) == _plain(to_spark(data_type)):
        return column
    if isinstance(data_type, ArrayType):
        element = data_type.element_type
        return F.transform(column, lambda value: carry(value, element))
    if isinstance(data_type, MultisetType):
        return F.transform_keys(column, lambda key, _: carry(key, data_type.element_type))
    assert isinstance(data_type, MapType)
    keys, values = data_type.key_type, data_type.value_type
    with_keys = F.transform_keys(column, lambda key, _: carry(key, keys))
    return F.transform_values(with_keys, lambda _, value: carry(value, values))


def _plain(data_type: spark.DataType) -> spark.DataType:
    """The type with all elements and values in it nullable; fields of rows have other names."""
    if isinstance(data_type, spark.ArrayType):
        return spark.ArrayType(_plain(data_type.elementType))
    if isinstance(data_type, spark.MapType):
        return spark.MapType(_plain(data_type.keyType), _plain(data_type.valueType))
    return data_type
