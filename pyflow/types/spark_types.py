"""The types of the Table API as types of Spark and of Arrow, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyflow.types import logical_types as types
from pyflow.types.logical_types import MAX_LENGTH, DataType, RowField, RowType

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import types as spark

# Spark keeps microseconds.
SPARK_PRECISION = 6

_INTERVAL_FIELDS = ("DAY", "HOUR", "MINUTE", "SECOND")

# --- Spark ------------------------------------------------------------------------------------


def to_spark(data_type: DataType) -> spark.DataType:
    """Return the type of Spark whose columns hold such values.

    Lengths of strings and bytes, the precision of timestamps and that of intervals are lost: Spark
    has no such types. A multiset is a map from elements to numbers, a pickled object is bytes, and
    a bitmap the array of its values, in their order as unsigned numbers.

    Raises
    ------
    TypeError
        If Spark has no such type: ``TIMESTAMP WITH TIME ZONE``, and views of accumulators.
    """
    from pyspark.sql import types as spark

    if isinstance(data_type, RowType):
        return spark.StructType(
            [
                spark.StructField(
                    field.name,
                    to_spark(field.data_type),
                    field.data_type._nullable,
                    None if field.description == "..." else {"comment": field.description},
                )
                for field in data_type
            ]
        )
    if isinstance(data_type, types.ArrayType):
        element = data_type.element_type
        return spark.ArrayType(to_spark(element), element._nullable)
    if isinstance(data_type, types.MapType):
        value = data_type.value_type
        return spark.MapType(to_spark(data_type.key_type), to_spark(value), value._nullable)
    if isinstance(data_type, types.MultisetType):
        return spark.MapType(to_spark(data_type.element_type), spark.IntegerType(), False)
    if isinstance(data_type, types.BitmapType):
        return spark.ArrayType(spark.IntegerType(), False)
    if isinstance(data_type, types.UserDefinedType):
        return to_spark(data_type.sql_type())
    return _atomic_to_spark(data_type)


def _atomic_to_spark(data_type: DataType) -> spark.DataType:
    from pyspark.sql import types as spark

    if isinstance(data_type, types.DecimalType):
        return spark.DecimalType(data_type.precision, data_type.scale)
    if isinstance(data_type, types.TimeType):
        return spark.TimeType(min(data_type.precision, SPARK_PRECISION))
    if isinstance(data_type, types.DayTimeIntervalType):
        fields = data_type.resolution.name.split("_TO_")
        return spark.DayTimeIntervalType(
            _INTERVAL_FIELDS.index(fields[0]), _INTERVAL_FIELDS.index(fields[-1])
        )
    if isinstance(data_type, types.YearMonthIntervalType):
        resolutions = types.YearMonthIntervalType.YearMonthResolution
        months = spark.YearMonthIntervalType
        start = months.MONTH if data_type.resolution == resolutions.MONTH else months.YEAR
        end = months.YEAR if data_type.resolution == resolutions.YEAR else months.MONTH
        return months(start, end)
    plain: dict[type[DataType], type[spark.DataType]] = {
        types.NullType: spark.NullType,
        types.BooleanType: spark.BooleanType,
        types.TinyIntType: spark.ByteType,
        types.SmallIntType: spark.ShortType,
        types.IntType: spark.IntegerType,
        types.BigIntType: spark.LongType,
        types.FloatType: spark.FloatType,
        types.DoubleType: spark.DoubleType,
        types.CharType: spark.StringType,
        types.VarCharType: spark.StringType,
        types.BinaryType: spark.BinaryType,
        types.VarBinaryType: spark.BinaryType,
        types.DateType: spark.DateType,
        types.TimestampType: spark.TimestampNTZType,
        types.LocalZonedTimestampType: spark.TimestampType,
        types.RawType: spark.BinaryType,
    }
    found = plain.get(type(data_type))
    if found is None:
        raise TypeError(f"Spark has no type for {data_type.sql}")
    return found()


def with_times_of_day(
    spark_type: spark.DataType, changed: Callable[[spark.TimeType], spark.TimeType]
) -> spark.DataType:
    """Return a type of Spark with other types for the times of a day in it."""
    from pyspark.sql import types as spark

    def inside(data_type: spark.DataType) -> spark.DataType:
        return with_times_of_day(data_type, changed)

    if isinstance(spark_type, spark.TimeType):
        return changed(spark_type)
    if isinstance(spark_type, spark.ArrayType):
        return spark.ArrayType(inside(spark_type.elementType), spark_type.containsNull)
    if isinstance(spark_type, spark.MapType):
        key, value = inside(spark_type.keyType), inside(spark_type.valueType)
        return spark.MapType(key, value, spark_type.valueContainsNull)
    if isinstance(spark_type, spark.StructType):
        return spark.StructType(
            [
                spark.StructField(each.name, inside(each.dataType), each.nullable, each.metadata)
                for each in spark_type
            ]
        )
    return spark_type


def from_spark(spark_type: spark.DataType, nullable: bool = True) -> DataType:
    """Return the type of the values of a column of Spark.

    Parameters
    ----------
    spark_type : pyspark.sql.types.DataType
        The column's type. What it does not say has the greatest length or the usual precision.
    nullable : bool
        Whether the column has nulls.

    Raises
    ------
    TypeError
        If Flink has no such type, as for Spark's variants and geometries.
    """
    found = _from_spark(spark_type)
    return found if nullable or isinstance(found, types.NullType) else found.not_null()


def _from_spark(spark_type: spark.DataType) -> DataType:
    from pyspark.sql import types as spark

    if isinstance(spark_type, spark.StructType):
        return RowType(
            [
                RowField(
                    field.name,
                    from_spark(field.dataType, field.nullable),
                    field.metadata.get("comment"),
                )
                for field in spark_type.fields
            ]
        )
    if isinstance(spark_type, spark.ArrayType):
        return types.ArrayType(from_spark(spark_type.elementType, spark_type.containsNull))
    if isinstance(spark_type, spark.MapType):
        return types.MapType(
            from_spark(spark_type.keyType, False),
            from_spark(spark_type.valueType, spark_type.valueContainsNull),
        )
    if isinstance(spark_type, spark.UserDefinedType):
        return _from_spark(spark_type.sqlType())
    if isinstance(spark_type, (spark.CharType, spark.VarcharType)):
        fixed = isinstance(spark_type, spark.CharType)
        return (types.CharType if fixed else types.VarCharType)(spark_type.length)
    if isinstance(spark_type, spark.DecimalType):
        return types.DecimalType(spark_type.precision, spark_type.scale)
    if isinstance(spark_type, spark.TimeType):
        return types.TimeType(spark_type.precision)
    if isinstance(spark_type, (spark.DayTimeIntervalType, spark.YearMonthIntervalType)):
        return _interval_from_spark(spark_type)
    plain: dict[type[spark.DataType], Callable[[], DataType]] = {
        spark.NullType: types.NullType,
        spark.BooleanType: types.BooleanType,
        spark.ByteType: types.TinyIntType,
        spark.ShortType: types.SmallIntType,
        spark.IntegerType: types.IntType,
        spark.LongType: types.BigIntType,
        spark.FloatType: types.FloatType,
        spark.DoubleType: types.DoubleType,
        spark.StringType: lambda: types.VarCharType(MAX_LENGTH),
        spark.BinaryType: lambda: types.VarBinaryType(MAX_LENGTH),
        spark.DateType: types.DateType,
        spark.TimestampNTZType: types.TimestampType,
        spark.TimestampType: types.LocalZonedTimestampType,
    }
    found = plain.get(type(spark_type))
    if found is None:
        raise TypeError(f"the Table API has no type for Spark's {spark_type.simpleString()}")
    return found()


def _interval_from_spark(
    spark_type: spark.DayTimeIntervalType | spark.YearMonthIntervalType,
) -> DataType:
    from pyspark.sql import types as spark

    start, end = spark_type.startField, spark_type.endField
    if isinstance(spark_type, spark.YearMonthIntervalType):
        resolutions = types.YearMonthIntervalType.YearMonthResolution
        if start != end:
            return types.YearMonthIntervalType(resolutions.YEAR_TO_MONTH)
        years = start == spark.YearMonthIntervalType.YEAR
        return types.YearMonthIntervalType(resolutions.YEAR if years else resolutions.MONTH)
    fields = [_INTERVAL_FIELDS[start], *([] if start == end else [_INTERVAL_FIELDS[end]])]
    return types.DayTimeIntervalType(
        types.DayTimeIntervalType.DayTimeResolution["_TO_".join(fields)]
    )


# --- Arrow ------------------------------------------------------------------------------------

# Digits of a second's fraction that a unit of Arrow has.
_UNITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def create_arrow_schema(field_names: list[str], field_types: list[DataType]) -> pyarrow.Schema:
    """Return the schema of Arrow with such fields."""
    import pyarrow

    return pyarrow.schema(
        [
            pyarrow.field(name, to_arrow_type(data_type), data_type._nullable)
            for name, data_type in zip(field_names, field_types)
        ]
    )


def to_arrow_type(data_type: DataType) -> pyarrow.DataType:
    """Return the type of Arrow for such values.

    Unlike PyFlink's it also knows rows inside of rows and arrays, and instants there.

    Raises
    ------
    ValueError
        If Arrow has no such type.
    """
    import pyarrow

    if isinstance(data_type, RowType):
        return pyarrow.struct(
            [
                pyarrow.field(field.name, to_arrow_type(field.data_type), field.data_type._nullable)
                for field in data_type
            ]
        )
    if isinstance(data_type, types.ArrayType):
        return pyarrow.list_(to_arrow_type(data_type.element_type))
    if isinstance(data_type, types.MapType):
        return pyarrow.map_(to_arrow_type(data_type.key_type), to_arrow_type(data_type.value_type))
    if isinstance(data_type, types.BinaryType):
        return pyarrow.binary(data_type.length)
    if isinstance(data_type, types.DecimalType):
        return pyarrow.decimal128(data_type.precision, data_type.scale)
    if isinstance(data_type, types.TimeType):
        unit = _unit(data_type.precision)
        return pyarrow.time32(unit) if unit in ("s", "ms") else pyarrow.time64(unit)
    if isinstance(data_type, (types.TimestampType, types.LocalZonedTimestampType)):
        return pyarrow.timestamp(_unit(data_type.precision))
    plain: dict[type[DataType], Any] = {
        types.NullType: pyarrow.null,
        types.BooleanType: pyarrow.bool_,
        types.TinyIntType: pyarrow.int8,
        types.SmallIntType: pyarrow.int16,
        types.IntType: pyarrow.int32,
        types.BigIntType: pyarrow.int64,
        types.FloatType: pyarrow.float32,
        types.DoubleType: pyarrow.float64,
        types.CharType: pyarrow.utf8,
        types.VarCharType: pyarrow.utf8,
        types.VarBinaryType: pyarrow.binary,
        types.DateType: pyarrow.date32,
    }
    found = plain.get(type(data_type))
    if found is None:
        raise ValueError(f"Arrow has no type for {data_type.sql}")
    return found()


def _unit(precision: int) -> str:
    return next(unit for unit, digits in _UNITS.items() if precision <= digits)


def from_arrow_type(arrow_type: pyarrow.DataType, nullable: bool = True) -> DataType:
    """Return the type of the values of a type of Arrow.

    Parameters
    ----------
    arrow_type : pyarrow.DataType
        The type.
    nullable : bool
        Whether there are nulls.

    Raises
    ------
    TypeError
        If the Table API has no such type.
    """
    found = _from_arrow(arrow_type)
    return found if nullable or isinstance(found, types.NullType) else found.not_null()


def _from_arrow(arrow_type: pyarrow.DataType) -> DataType:
    import pyarrow

    of = pyarrow.types
    if of.is_struct(arrow_type):
        return RowType(
            [
                RowField(field.name, from_arrow_type(field.type, field.nullable))
                for field in arrow_type
            ]
        )
    if of.is_map(arrow_type):
        return types.MapType(_from_arrow(arrow_type.key_type), _from_arrow(arrow_type.item_type))
    if of.is_list(arrow_type) or of.is_large_list(arrow_type):
        return types.ArrayType(_from_arrow(arrow_type.value_type))
    if of.is_decimal(arrow_type):
        return types.DecimalType(arrow_type.precision, arrow_type.scale)
    if of.is_fixed_size_binary(arrow_type):
        return types.BinaryType(arrow_type.byte_width)
    if of.is_time(arrow_type):
        return types.TimeType(_UNITS[arrow_type.unit])
    if of.is_timestamp(arrow_type):
        return types.TimestampType(_UNITS[arrow_type.unit])
    plain: list[tuple[Callable[[Any], bool], Callable[[], DataType]]] = [
        (of.is_null, types.NullType),
        (of.is_boolean, types.BooleanType),
        (of.is_int8, types.TinyIntType),
        (of.is_int16, types.SmallIntType),
        (of.is_int32, types.IntType),
        (of.is_int64, types.BigIntType),
        (of.is_float32, types.FloatType),
        (of.is_float64, types.DoubleType),
        (of.is_string, lambda: types.VarCharType(MAX_LENGTH)),
        (of.is_large_string, lambda: types.VarCharType(MAX_LENGTH)),
        (of.is_binary, lambda: types.VarBinaryType(MAX_LENGTH)),
        (of.is_large_binary, lambda: types.VarBinaryType(MAX_LENGTH)),
        (of.is_date32, types.DateType),
    ]
    for matches, make in plain:
        if matches(arrow_type):
            return make()
    raise TypeError(f"the Table API has no type for Arrow's {arrow_type}")
