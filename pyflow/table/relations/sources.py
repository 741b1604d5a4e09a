"""Tables of what a program holds: Python values, expressions, data frames of Spark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from pyspark.errors import PySparkTypeError
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from pyflow.table.changes.relation import WATERMARK, Relation, TimeAttribute, check_unique, column
from pyflow.table.expression import Expression
from pyflow.table.relations.projection import node_of, scope_of
from pyflow.types.inference import infer_rows, verifier
from pyflow.types.logical_types import (
    DataType,
    RowField,
    RowType,
)
from pyflow.types.spark_types import (
    SPARK_PRECISION,
    from_spark,
    to_spark,
    with_times_of_day,
)
from pyflow.types.values import stored_type, to_spark_value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from pyflow.table.context import TableContext

# Digits of a second that Flink keeps of the times of a program, whatever their precision.
_MILLISECONDS = 3


def of_elements(
    elements: Iterable[Any],
    schema: DataType | Sequence[str] | None,
    verify: bool,
    context: TableContext,
) -> Relation:
    """Return the relation of Python values, in their order."""
    rows = list(elements)
    expressions = [isinstance(row, Expression) for row in rows]
    if rows and all(expressions):
        return _of_expressions(rows, schema, context)
    if any(expressions):
        raise ValueError(
            "It doesn't support part of the elements are Expression, while the others are not."
        )
    if schema is None or isinstance(schema, (list, tuple)):
        row_type = infer_rows(rows, None if schema is None else list(schema))
    elif isinstance(schema, RowType):
        row_type = schema
    elif isinstance(schema, DataType):
        row_type = RowType([RowField("value", schema)])
        rows = [(row,) for row in rows]
    else:
        raise TypeError(f"schema should be RowType, list, tuple or None, but got: {schema}")
    if verify and isinstance(schema, DataType):
        check = verifier(row_type)
        for row in rows:
            check(row)
    values = [to_spark_value(row, row_type) for row in rows]
    row_type = cast("RowType", stored_type(row_type))
    return of_frame(_local_frame(context.session, values, row_type), row_type)


def _local_frame(session: SparkSession, rows: list[Any], row_type: RowType) -> DataFrame:
    """Return a frame of rows in the order of the rows.

    Arrow takes them straight to the JVM. Without it PySpark starts worker processes for that.
    """
    wanted = _with_digits(_struct(row_type), _MILLISECONDS)
    schema = _with_digits(wanted, SPARK_PRECISION)
    frame = _created(session, rows, schema)
    if schema == wanted:
        return frame
    return frame.select(*(column(each.name).cast(each.dataType) for each in wanted))


def _created(session: SparkSession, rows: list[Any], schema: StructType) -> DataFrame:
    if not rows:
        return session.createDataFrame([], schema)
    try:
        from pyflow.thread_mode.pyspark_worker import arrow_table

        table = arrow_table(rows, schema)
    except (ImportError, PySparkTypeError):
        # No Arrow, or a type that it does not have.
        return session.createDataFrame(rows, schema, verifySchema=False)
    return session.createDataFrame(table, schema)


def _with_digits(struct: StructType, digits: int) -> StructType:
    """Return a type of Spark whose times have at least a number of fractional digits.

    Arrow brings microseconds, and a session of Connect refuses its rows for a type with others.
    """
    found = with_times_of_day(struct, lambda time: spark.TimeType(max(time.precision, digits)))
    return cast("StructType", found)


def _struct(row_type: RowType) -> StructType:
    return cast("StructType", to_spark(row_type))


def of_frame(frame: Any, row_type: RowType) -> Relation:
    """Return the relation of a frame that has the fields of a row type."""
    names = row_type.field_names()
    check_unique(names)
    return Relation(frame, tuple(zip(names, row_type.field_types())))


def _of_expressions(
    elements: Sequence[Expression[Any]],
    schema: Any,
    context: TableContext,
) -> Relation:
    """Return the relation of the values of expressions, each of them a row."""
    nothing = context.one_row
    scope = scope_of(nothing, context)
    resolved = [scope.resolve(node_of(element, context)) for element in elements]
    first = resolved[0].data_type
    if isinstance(schema, RowType):
        row_type = schema
    elif isinstance(first, RowType):
        names = list(schema or [f"f{place}" for place, _ in enumerate(first.field_names())])
        row_type = RowType([RowField(n, t) for n, t in zip(names, first.field_types())])
    else:
        name = schema[0] if isinstance(schema, (list, tuple)) else "f0"
        row_type = RowType([RowField(name, schema if isinstance(schema, DataType) else first)])
    target = to_spark(row_type)
    frame = None
    for value in resolved:
        is_row = isinstance(value.data_type, RowType)
        row = value.column if is_row else F.struct(value.column)
        one = nothing.frame.select(row.cast(target).alias("row"))
        frame = one if frame is None else frame.union(one)
    assert frame is not None
    columns = [column("row").getField(name).alias(name) for name in row_type.field_names()]
    return of_frame(frame.select(*columns), row_type)


def of_spark(frame: DataFrame) -> Relation:
    """Return the relation of a frame of Spark, with the time attribute that it has."""
    fields = tuple((part.name, from_spark(part.dataType, part.nullable)) for part in frame.schema)
    times = {
        part.name: TimeAttribute("rowtime", part.metadata[WATERMARK])
        for part in frame.schema
        if WATERMARK in part.metadata
    }
    return Relation(frame, fields, time_attributes=times)
