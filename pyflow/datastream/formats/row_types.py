"""Types of rows of the Table API as formats of files have them, on the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyflow.common.typeinfo import RowTypeInfo, TypeInformation, Types
from pyflow.types import logical_types as types
from pyflow.types.shapes import shape_of
from pyflow.types.spark_types import to_spark

if TYPE_CHECKING:
    from pyspark.sql import types as spark
    from pyspark.sql.types import StructType

    from pyflow.session.context import Context
    from pyflow.types.function_values import Shape

__all__ = ["columns_of", "row_type_info", "shape_in_session", "type_info_of"]

_PLAIN = {
    types.BooleanType: Types.BOOLEAN,
    types.TinyIntType: Types.BYTE,
    types.SmallIntType: Types.SHORT,
    types.IntType: Types.INT,
    types.BigIntType: Types.LONG,
    types.FloatType: Types.FLOAT,
    types.DoubleType: Types.DOUBLE,
    types.DecimalType: Types.BIG_DEC,
    types.CharType: Types.STRING,
    types.VarCharType: Types.STRING,
    types.DateType: Types.SQL_DATE,
    types.TimeType: Types.SQL_TIME,
    types.TimestampType: Types.SQL_TIMESTAMP,
    types.LocalZonedTimestampType: Types.INSTANT,
}


def row_type_info(row_type: types.RowType) -> RowTypeInfo:
    """Return the type of the DataStream API that rows of a type have.

    Raises
    ------
    TypeError
        If it has none for a field.
    """
    fields = [type_info_of(field.data_type) for field in row_type.fields]
    return Types.ROW_NAMED([field.name for field in row_type.fields], fields)


def type_info_of(data_type: types.DataType) -> TypeInformation:
    """Return the type of the DataStream API that values of a type have.

    Raises
    ------
    TypeError
        If it has none.
    """
    if isinstance(data_type, types.RowType):
        return row_type_info(data_type)
    if isinstance(data_type, types.ArrayType):
        return Types.OBJECT_ARRAY(type_info_of(data_type.element_type))
    if isinstance(data_type, types.MapType):
        return Types.MAP(type_info_of(data_type.key_type), type_info_of(data_type.value_type))
    if isinstance(data_type, (types.BinaryType, types.VarBinaryType)):
        return Types.PRIMITIVE_ARRAY(Types.BYTE())
    made = _PLAIN.get(type(data_type))
    if made is None:
        raise TypeError(f"the DataStream API has no type for {data_type.sql}")
    return made()


def columns_of(row_type: types.RowType) -> StructType:
    """Return the columns of Spark that rows of a type have.

    All of them may be null, and so may what is inside: functions that return them check no values.
    """
    from pyspark.sql import types as spark

    found = _with_nulls(to_spark(row_type))
    assert isinstance(found, spark.StructType)
    return found


def _with_nulls(found: spark.DataType) -> spark.DataType:
    from pyspark.sql import types as spark

    if isinstance(found, spark.StructType):
        return spark.StructType(
            [
                spark.StructField(each.name, _with_nulls(each.dataType), True, each.metadata)
                for each in found.fields
            ]
        )
    if isinstance(found, spark.ArrayType):
        return spark.ArrayType(_with_nulls(found.elementType), True)
    if isinstance(found, spark.MapType):
        return spark.MapType(found.keyType, _with_nulls(found.valueType), True)
    return found


def shape_in_session(row_type: types.RowType, context: Context | None = None) -> Shape:
    """Return the shape of a type of rows, with the time zone of the session.

    Parameters
    ----------
    row_type : RowType
    context : Context, optional
        Has the session; the active one, if none is given.
    """
    if context is not None:
        return shape_of(row_type, context.time_zone_name())
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    zone = "UTC" if session is None else session.conf.get("spark.sql.session.timeZone", "UTC")
    return shape_of(row_type, str(zone))
