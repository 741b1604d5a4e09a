"""Tables of data frames of pandas, and data frames of tables.

Both go through Arrow. ``TIME(p)``, ``TIMESTAMP(p)`` and ``TIMESTAMP_LTZ(p)`` have the unit of Arrow
with `p` digits, as in PyFlink, also inside of arrays, maps and rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from pyflow.table.changes.relation import Relation, column
from pyflow.table.relations.sources import of_frame
from pyflow.types.function_values import has_instants
from pyflow.types.logical_types import (
    ArrayType,
    DataType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowField,
    RowType,
    TimestampType,
    TimeType,
)
from pyflow.types.pandas_values import in_zone, with_times
from pyflow.types.parts import types_in
from pyflow.types.shapes import shape_of
from pyflow.types.spark_types import create_arrow_schema, from_arrow_type, to_arrow_type, to_spark

if TYPE_CHECKING:
    import pandas
    import pyarrow
    from pyspark.sql.types import StructType

    from pyflow.table.context import TableContext


_OF_TIME = (TimeType, TimestampType, LocalZonedTimestampType)


def of_pandas(
    pdf: pandas.DataFrame,
    schema: Any,
    splits: int,
    context: TableContext,
) -> Relation:
    """Return the relation of a data frame of pandas, without its index."""
    import pandas as pd
    import pyarrow as pa

    if not isinstance(pdf, pd.DataFrame):
        raise TypeError(f"Unsupported type, expected pandas.DataFrame, got {type(pdf)}")
    row_type = _type_of(pdf, schema)
    zone = context.time_zone_name()
    declared = create_arrow_schema(row_type.field_names(), row_type.field_types())
    arrays = [
        _array(pdf.iloc[:, place], field.data_type, declared.field(place).type, field.name, zone)
        for place, field in enumerate(row_type)
    ]
    frame = context.session.createDataFrame(pa.Table.from_arrays(arrays, declared.names))
    if splits > 1:
        frame = frame.repartition(splits)
    target = cast("StructType", to_spark(row_type))
    columns = [column(field.name).cast(field.dataType).alias(field.name) for field in target]
    return of_frame(frame.select(*columns), row_type)


def _type_of(pdf: pandas.DataFrame, schema: Any) -> RowType:
    import pyarrow as pa

    if isinstance(schema, RowType):
        return schema
    arrow_schema = pa.Schema.from_pandas(pdf, preserve_index=False)
    types = [from_arrow_type(part.type, part.nullable) for part in arrow_schema]
    if schema is None:
        return RowType([RowField(n, t) for n, t in zip(arrow_schema.names, types)])
    if isinstance(schema, (list, tuple)) and isinstance(schema[0], str):
        return RowType([RowField(n, t) for n, t in zip(schema, types)])
    if isinstance(schema, (list, tuple)) and isinstance(schema[0], DataType):
        return RowType([RowField(n, t) for n, t in zip(arrow_schema.names, schema)])
    raise TypeError(
        "Unsupported schema type, it could only be of RowType, a "
        f"list of str or a list of DataType, got {schema}"
    )


def _array(
    series: pandas.Series[Any],
    data_type: DataType,
    declared: pyarrow.DataType,
    name: str,
    zone: str,
) -> pyarrow.Array:
    """Return a column as an array that PySpark reads, with the digits that its type has."""
    import pyarrow as pa

    readable = _retyped(declared, data_type, _readable)
    if isinstance(data_type, LocalZonedTimestampType):
        # A time without a zone is the wall clock of the table's time zone.
        if series.dt.tz is None:
            series = series.dt.tz_localize(zone)
        return pa.Array.from_pandas(series, mask=series.isnull(), type=readable)
    shape = shape_of(data_type, zone)
    if has_instants(shape):
        values = [with_times(value, shape, f"column {name}") for value in series]
        return pa.array(values, type=readable)
    array = pa.Array.from_pandas(series, mask=series.isnull(), type=declared)
    return array if declared == readable else array.cast(readable)


def to_pandas(relation: Relation, context: TableContext) -> pandas.DataFrame:
    """Return the rows of a relation as a data frame of pandas."""
    import pandas as pd
    import pyarrow as pa

    relation.refuse_unbounded("to_pandas()")
    table = relation.rows().toArrow()
    if table.num_rows == 0:
        return pd.DataFrame.from_records([], columns=relation.names)
    types = [data_type for _, data_type in relation.fields]
    columns = [_in_units(array, t) for array, t in zip(table.itercolumns(), types)]
    pdf = pa.Table.from_arrays(columns, relation.names).to_pandas(date_as_object=True)
    zone = context.time_zone_name()
    for name, data_type in relation.fields:
        if any(isinstance(each, LocalZonedTimestampType) for each in types_in(data_type)):
            pdf[name] = in_zone(pdf[name], shape_of(data_type, zone))
    return pdf


def _in_units(array: pyarrow.ChunkedArray, data_type: DataType) -> pyarrow.ChunkedArray:
    """Return a column whose times have the units of their types; what is finer is left out."""
    import pyarrow.compute as pc

    wanted = _retyped(array.type, data_type, _declared)
    if array.type == wanted:
        return array
    return array.cast(options=pc.CastOptions(wanted, allow_time_truncate=True))


def _declared(
    arrow_type: pyarrow.DataType, data_type: DataType, in_object: bool
) -> pyarrow.DataType:
    """Return the type of Arrow with the unit of a type of times."""
    import pyarrow as pa

    wanted = to_arrow_type(data_type)
    if isinstance(data_type, TimeType):
        return wanted
    # Of nanoseconds in an object pyarrow makes a number.
    unit = "us" if in_object and wanted.unit == "ns" else wanted.unit
    return pa.timestamp(unit, arrow_type.tz)


def _readable(
    arrow_type: pyarrow.DataType, data_type: DataType, in_object: bool
) -> pyarrow.DataType:
    """Return the type of Arrow in which PySpark reads the values of a type of times."""
    import pyarrow as pa

    if isinstance(data_type, TimeType):
        return pa.time64("us")
    if isinstance(data_type, LocalZonedTimestampType):
        return pa.timestamp("us", "UTC")
    return arrow_type


def _retyped(
    arrow_type: pyarrow.DataType,
    data_type: DataType,
    of_time: Callable[[pyarrow.DataType, DataType, bool], pyarrow.DataType],
    in_object: bool = False,
) -> pyarrow.DataType:
    """Return a type of Arrow with others for the times in it.

    Parameters
    ----------
    arrow_type : pyarrow.DataType
    data_type : DataType
        The same type.
    of_time : callable
        Makes a type of times of one, of its DataType, and of `in_object`.
    in_object : bool
        Whether values are in a row or map, which are objects in data frames.
    """
    import pyarrow as pa

    def inside(field: pyarrow.Field, field_type: DataType, in_object: bool = True) -> pyarrow.Field:
        return field.with_type(_retyped(field.type, field_type, of_time, in_object))

    if isinstance(data_type, _OF_TIME):
        return of_time(arrow_type, data_type, in_object)
    if isinstance(data_type, ArrayType):
        return pa.list_(inside(arrow_type.value_field, data_type.element_type, in_object))
    if isinstance(data_type, MapType):
        return pa.map_(
            inside(arrow_type.key_field, data_type.key_type),
            inside(arrow_type.item_field, data_type.value_type),
        )
    if isinstance(data_type, MultisetType):
        return pa.map_(inside(arrow_type.key_field, data_type.element_type), arrow_type.item_field)
    if isinstance(data_type, RowType):
        return pa.struct(
            [inside(field, part.data_type) for field, part in zip(arrow_type, data_type)]
        )
    return arrow_type
