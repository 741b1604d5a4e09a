"""Columns of files as the columns of a type of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql import types as spark

from pyflow.datastream.formats.row_types import columns_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.types.logical_types import RowType

__all__ = ["selected"]


def selected(
    frame: DataFrame, row_type: RowType, is_utc: bool = False, is_case_sensitive: bool = True
) -> DataFrame:
    """Return the columns of a type of rows; null where the files have none.

    Parameters
    ----------
    frame : DataFrame
        What the files have.
    row_type : RowType
    is_utc : bool
        Whether points in time become dates and times of UTC, and not of the session's time zone.
    is_case_sensitive : bool
        Whether the case of names counts.
    """
    columns = []
    for field in columns_of(row_type).fields:
        found = _found(frame.schema, field.name, is_case_sensitive)
        column = F.lit(None) if found is None else _converted(found, field.dataType, is_utc)
        columns.append(column.cast(field.dataType).alias(field.name))
    return frame.select(*columns)


def _found(
    schema: spark.StructType, name: str, is_case_sensitive: bool
) -> spark.StructField | None:
    for field in schema.fields:
        if field.name == name or (not is_case_sensitive and field.name.lower() == name.lower()):
            return field
    return None


def _converted(found: spark.StructField, wanted: spark.DataType, is_utc: bool) -> Column:
    name = found.name.replace("`", "``")
    column = F.col(f"`{name}`")
    is_moment = isinstance(found.dataType, spark.TimestampType)
    if is_utc and is_moment and isinstance(wanted, spark.TimestampNTZType):
        local = column.cast("timestamp_ntz")
        return F.convert_timezone(F.current_timezone(), F.lit("UTC"), local)
    return column
