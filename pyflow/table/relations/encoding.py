"""The encoding of values for operators that keep state.

Operators see numbers, strings and the like as Python values. A value that would change on the way,
or is slow to convert, is encoded as a number: an instant or a date as the microseconds or days
since 1970. These compare as the values themselves do.
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

__all__ = ["decoded", "encoded", "encoded_type"]

_EPOCH = "timestamp_ntz'1970-01-01 00:00:00'"
_MONTHS = spark.YearMonthIntervalType(1, 1)


def encoded_type(data_type: DataType) -> spark.DataType:
    """Return the type of encoded values."""
    if isinstance(data_type, (LocalZonedTimestampType, TimestampType)):
        return spark.LongType()
    if isinstance(data_type, (DateType, NullType, YearMonthIntervalType)):
        return spark.IntegerType()
    if isinstance(data_type, ArrayType):
        return spark.ArrayType(encoded_type(data_type.element_type))
    if isinstance(data_type, BitmapType):
        return spark.ArrayType(spark.IntegerType())
    if isinstance(data_type, MapType):
        return spark.MapType(encoded_type(data_type.key_type), encoded_type(data_type.value_type))
    if isinstance(data_type, MultisetType):
        return spark.MapType(encoded_type(data_type.element_type), spark.IntegerType())
    if isinstance(data_type, RowType):
        types = [encoded_type(each.data_type) for each in data_type.fields]
        return spark.StructType([spark.StructField(f"f{i}", t) for i, t in enumerate(types)])
    return to_spark(data_type)


def encoded(column: Column, data_type: DataType) -> Column:
    """Return the column as operators have it."""
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
            encoded(column.getField(each.name), each.data_type).alias(f"f{place}")
            for place, each in enumerate(data_type.fields)
        ]
        return F.when(column.isNotNull(), F.struct(*fields))
    return _inside(column, data_type, encoded)


def decoded(column: Column, data_type: DataType) -> Column:
    """Return the column as it was before `encoded`."""
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
            decoded(column.getField(f"f{place}"), each.data_type).alias(each.name)
            for place, each in enumerate(data_type.fields)
        ]
        return F.when(column.isNotNull(), F.struct(*fields))
    return _inside(column, data_type, decoded)


_Recode = Callable[[Column, DataType], Column]


def _inside(column: Column, data_type: DataType, recode: _Recode) -> Column:
    """Return the column with the parts of its values encoded or decoded, if they need it."""
    if encoded_type(data_type) == _plain(to_spark(data_type)):
        return column
    if isinstance(data_type, ArrayType):
        element = data_type.element_type
        return F.transform(column, lambda value: recode(value, element))
    if isinstance(data_type, MultisetType):
        return F.transform_keys(column, lambda key, _: recode(key, data_type.element_type))
    assert isinstance(data_type, MapType)
    keys, values = data_type.key_type, data_type.value_type
    with_keys = F.transform_keys(column, lambda key, _: recode(key, keys))
    return F.transform_values(with_keys, lambda _, value: recode(value, values))


def _plain(data_type: spark.DataType) -> spark.DataType:
    """Return the type with nullable elements and values, and other names for fields of rows."""
    if isinstance(data_type, spark.ArrayType):
        return spark.ArrayType(_plain(data_type.elementType))
    if isinstance(data_type, spark.MapType):
        return spark.MapType(_plain(data_type.keyType), _plain(data_type.valueType))
    return data_type
