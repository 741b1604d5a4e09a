"""Types as executors need to know them."""

from __future__ import annotations

from pyspark.sql import types as spark

from pyflow.types.function_values import Shape
from pyflow.types.logical_types import (
    ArrayType,
    BigIntType,
    BinaryType,
    BitmapType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)
from pyflow.types.spark_types import to_spark, with_times_of_day
from pyflow.util.exceptions import TableException

__all__ = ["arrow_type", "shape_of"]

_ATOMIC: dict[type[DataType], str] = {
    TinyIntType: "TINYINT",
    SmallIntType: "SMALLINT",
    IntType: "INT",
    BigIntType: "BIGINT",
    FloatType: "FLOAT",
    DoubleType: "DOUBLE",
    BooleanType: "BOOLEAN",
    CharType: "STRING",
    VarCharType: "STRING",
    BinaryType: "BYTES",
    VarBinaryType: "BYTES",
    DateType: "DATE",
    DayTimeIntervalType: "INTERVAL",
    NullType: "ANY",
}


def shape_of(data_type: DataType, time_zone: str) -> Shape:
    """Return the shape of a type.

    Parameters
    ----------
    data_type : DataType
    time_zone : str
        The session's, in which functions see instants.

    Raises
    ------
    TableException
        If Python functions do not support the type.
    """
    if isinstance(data_type, RowType):
        shapes = [shape_of(field.data_type, time_zone) for field in data_type.fields]
        return "ROW", [field.name for field in data_type.fields], shapes
    if isinstance(data_type, ArrayType):
        return "ARRAY", shape_of(data_type.element_type, time_zone)
    if isinstance(data_type, MapType):
        key, value = data_type.key_type, data_type.value_type
        return "MAP", shape_of(key, time_zone), shape_of(value, time_zone)
    if isinstance(data_type, MultisetType):
        return "MAP", shape_of(data_type.element_type, time_zone), ("INT",)
    if isinstance(data_type, DecimalType):
        return "DECIMAL", data_type.precision, data_type.scale
    if isinstance(data_type, TimeType):
        return "TIME", data_type.precision
    if isinstance(data_type, TimestampType):
        return "TIMESTAMP", data_type.precision
    if isinstance(data_type, LocalZonedTimestampType):
        return "LTZ", data_type.precision, time_zone
    if type(data_type) in _ATOMIC:
        return (_ATOMIC[type(data_type)],)
    cure = "Cast them to another type."
    if isinstance(data_type, BitmapType):
        cure = "Take what bitmap_to_array makes of them, and bitmap_build of what it returns."
    raise TableException(
        f"a Python function can neither take nor return values of type {data_type.sql}: PySpark "
        f"has none. {cure}"
    )


def arrow_type(data_type: DataType) -> spark.DataType:
    """Return the type of Spark in which results arrive through Arrow: times have one precision."""
    return with_times_of_day(to_spark(data_type), lambda _: spark.TimeType())
