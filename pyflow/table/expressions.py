"""Functions that make expressions (``pyflink.table.expressions``)."""

from __future__ import annotations

from typing import Any

from pyflow.table.columns import nodes
from pyflow.table.expression import (
    Expression,
    JsonOnNull,
    TimePointUnit,
    call_built_in,
    document,
    given,
    node_of,
)
from pyflow.types.logical_types import DataType
from pyflow.types.values import stored_type
from pyflow.util.exceptions import TableException
from pyflow.util.unsupported import unsupported

__all__ = [
    "CURRENT_RANGE",
    "CURRENT_ROW",
    "UNBOUNDED_RANGE",
    "UNBOUNDED_ROW",
    "and_",
    "array",
    "atan2",
    "call",
    "call_sql",
    "col",
    "concat",
    "concat_ws",
    "convert_tz",
    "current_database",
    "current_date",
    "current_time",
    "current_timestamp",
    "current_watermark",
    "date_format",
    "descriptor",
    "e",
    "from_unixtime",
    "if_then_else",
    "json",
    "json_array",
    "json_array_agg",
    "json_object",
    "json_object_agg",
    "json_string",
    "lit",
    "local_time",
    "local_timestamp",
    "log",
    "map_",
    "negative",
    "not_",
    "null_of",
    "or_",
    "pi",
    "rand",
    "rand_integer",
    "range_",
    "row",
    "row_interval",
    "source_watermark",
    "temporal_overlaps",
    "timestamp_diff",
    "to_date",
    "to_timestamp",
    "to_timestamp_ltz",
    "unix_timestamp",
    "uuid",
    "with_columns",
    "without_columns",
]

UNBOUNDED_ROW: Expression[Any] = Expression(nodes.Bound("UNBOUNDED_ROW"))
UNBOUNDED_RANGE: Expression[Any] = Expression(nodes.Bound("UNBOUNDED_RANGE"))
CURRENT_ROW: Expression[Any] = Expression(nodes.Bound("CURRENT_ROW"))
CURRENT_RANGE: Expression[Any] = Expression(nodes.Bound("CURRENT_RANGE"))

# --- Columns and values -----------------------------------------------------------------------


def col(name: str) -> Expression[Any]:
    """Return the column of a name; ``*`` is all columns."""
    return Expression(nodes.AllColumns() if name == "*" else nodes.Field(name))


def lit(v: Any, data_type: DataType | None = None) -> Expression[Any]:
    """Return a value of Python as a literal.

    Parameters
    ----------
    v
        The value.
    data_type : DataType, optional
        Its type, if it is not the smallest that holds it: ``lit(12)`` is an INT, ``lit("abc")`` a
        CHAR(3).
    """
    if data_type is None:
        return Expression(node_of(v))
    return Expression(nodes.Literal(v, stored_type(data_type)))


def null_of(data_type: DataType) -> Expression[Any]:
    """Return the null of a type."""
    return Expression(nodes.Literal(None, stored_type(data_type).nullable()))


def range_(start: str | int, end: str | int) -> Expression[Any]:
    """Return the columns from one to another, by name or by position from 1, for `with_columns`."""
    return Expression(nodes.Range(start, end))


def with_all_columns() -> Expression[Any]:
    """Return all columns, as ``col("*")``."""
    return Expression(nodes.AllColumns())


def with_columns(head: Any, *tails: Any) -> Expression[Any]:
    """Return some columns: `range_`, `col`, names, or positions from 1."""
    return Expression(nodes.Columns(tuple(map(node_of, (head, *tails))), without=False))


def without_columns(head: Any, *tails: Any) -> Expression[Any]:
    """Return all columns but some: `range_`, `col`, names, or positions from 1."""
    return Expression(nodes.Columns(tuple(map(node_of, (head, *tails))), without=True))


def row_interval(rows: int) -> Expression[Any]:
    """Return a number of rows, for windows."""
    return Expression(nodes.RowInterval(rows))


# --- Conditions -------------------------------------------------------------------------------


def and_(predicate0: Any, predicate1: Any, *predicates: Any) -> Expression[bool]:
    return call_built_in("and", predicate0, predicate1, *predicates)


def or_(predicate0: Any, predicate1: Any, *predicates: Any) -> Expression[bool]:
    return call_built_in("or", predicate0, predicate1, *predicates)


def not_(expression: Expression[bool]) -> Expression[bool]:
    return call_built_in("not", expression)


def if_then_else(condition: Any, if_true: Any, if_false: Any) -> Expression[Any]:
    return call_built_in("ifThenElse", condition, if_true, if_false)


def coalesce(*args: Any) -> Expression[Any]:
    return call_built_in("COALESCE", *args)


# --- Times ------------------------------------------------------------------------------------


def current_date() -> Expression[Any]:
    return call_built_in("currentDate")


def current_time() -> Expression[Any]:
    return call_built_in("currentTime")


def current_timestamp() -> Expression[Any]:
    return call_built_in("currentTimestamp")


def current_watermark(rowtimeAttribute: Any) -> Expression[Any]:  # noqa: N803
    return call_built_in("CURRENT_WATERMARK", rowtimeAttribute)


def source_watermark() -> Expression[Any]:
    return call_built_in("SOURCE_WATERMARK")


def local_time() -> Expression[Any]:
    return call_built_in("localTime")


def local_timestamp() -> Expression[Any]:
    return call_built_in("localTimestamp")


def to_date(date_str: Any, format: Any = None) -> Expression[Any]:
    return call_built_in("toDate", date_str, *given(format))


def to_timestamp(timestamp_str: Any, format: Any = None) -> Expression[Any]:
    return call_built_in("toTimestamp", timestamp_str, *given(format))


def to_timestamp_ltz(*args: Any) -> Expression[Any]:
    return call_built_in("TO_TIMESTAMP_LTZ", *args)


def temporal_overlaps(
    left_time_point: Any, left_temporal: Any, right_time_point: Any, right_temporal: Any
) -> Expression[bool]:
    return call_built_in(
        "temporalOverlaps", left_time_point, left_temporal, right_time_point, right_temporal
    )


def date_format(timestamp: Any, format: Any) -> Expression[str]:
    return call_built_in("dateFormat", timestamp, format)


def timestamp_diff(
    time_point_unit: TimePointUnit, time_point1: Any, time_point2: Any
) -> Expression[int]:
    return call_built_in("timestampDiff", nodes.Symbol(time_point_unit), time_point1, time_point2)


def convert_tz(date_str: Any, tz_from: Any, tz_to: Any) -> Expression[str]:
    return call_built_in("convertTz", date_str, tz_from, tz_to)


def from_unixtime(unixtime: Any, format: Any = None) -> Expression[str]:
    return call_built_in("fromUnixtime", unixtime, *given(format))


def unix_timestamp(date_str: Any = None, format: Any = None) -> Expression[int]:
    return call_built_in("unixTimestamp", *given(date_str, format))


# --- Collections ------------------------------------------------------------------------------


def array(head: Any, *tail: Any) -> Expression[Any]:
    return call_built_in("array", head, *tail)


def row(head: Any, *tail: Any) -> Expression[Any]:
    return call_built_in("row", head, *tail)


def map_(key: Any, value: Any, *tail: Any) -> Expression[Any]:
    return call_built_in("map", key, value, *tail)


def map_from_arrays(key: Any, value: Any) -> Expression[Any]:
    return call_built_in("MAP_FROM_ARRAYS", key, value)


def descriptor(*column_names: str) -> Expression[Any]:
    """Return names of columns, as an argument of `Table.to_changelog` and `from_changelog`."""
    return Expression(nodes.Descriptor(column_names))


@unsupported("there are no structured types here, only rows; make one with row(...)")
def object_of(class_name: str, *args: Any) -> Expression[Any]:
    """Return an object of a structured type."""
    raise AssertionError


# --- Numbers ----------------------------------------------------------------------------------


def pi() -> Expression[float]:
    return call_built_in("pi")


def e() -> Expression[float]:
    return call_built_in("e")


def rand(seed: Any = None) -> Expression[float]:
    return call_built_in("rand", *given(seed))


def rand_integer(bound: Any, seed: Any = None) -> Expression[int]:
    return call_built_in("randInteger", *given(seed), bound)


def atan2(y: Any, x: Any) -> Expression[float]:
    return call_built_in("atan2", y, x)


def negative(v: Any) -> Expression[Any]:
    return call_built_in("minusPrefix", v)


def log(v: Any, base: Any = None) -> Expression[float]:
    return call_built_in("log", *given(base), v)


# --- Texts ------------------------------------------------------------------------------------


def concat(first: Any, *others: Any) -> Expression[str]:
    return call_built_in("concat", first, *others)


def concat_ws(separator: Any, first: Any, *others: Any) -> Expression[str]:
    return call_built_in("concat_ws", separator, first, *others)


def uuid() -> Expression[str]:
    return call_built_in("uuid")


def current_database() -> Expression[str]:
    return call_built_in("currentDatabase")


# --- JSON -------------------------------------------------------------------------------------


def json(value: Any) -> Expression[Any]:
    return call_built_in("JSON", value)


def json_string(value: Any) -> Expression[str]:
    return call_built_in("JSON_STRING", value)


def json_object(on_null: JsonOnNull = JsonOnNull.NULL, *args: Any) -> Expression[str]:
    return call_built_in("JSON_OBJECT", nodes.Symbol(on_null), *args)


def json_object_agg(on_null: JsonOnNull, key_expr: Any, value_expr: Any) -> Expression[str]:
    return call_built_in(f"JSON_OBJECTAGG_{on_null.name}_ON_NULL", key_expr, value_expr)


def json_array(on_null: JsonOnNull = JsonOnNull.ABSENT, *args: Any) -> Expression[str]:
    return call_built_in("JSON_ARRAY", nodes.Symbol(on_null), *args)


def json_array_agg(on_null: JsonOnNull, item_expr: Any) -> Expression[str]:
    return call_built_in(f"JSON_ARRAYAGG_{on_null.name}_ON_NULL", item_expr)


# --- Windows and calls ------------------------------------------------------------------------


def lag(expr: Any, offset: Any = 1, default: Any = None) -> Expression[Any]:
    return call_built_in("lag", expr, offset, *given(default))


def lead(expr: Any, offset: Any = 1, default: Any = None) -> Expression[Any]:
    return call_built_in("lead", expr, offset, *given(default))


def call(f: Any, *args: Any) -> Expression[Any]:
    """Return the call of a function.

    Parameters
    ----------
    f : str or UserDefinedFunctionWrapper
        The function, or the name that it is registered by, or that of a built-in function in SQL.
    *args
        Its arguments: expressions, or values of Python.

    Raises
    ------
    TableException
        If `f` is neither.
    """
    if not isinstance(f, str) and not hasattr(f, "kind"):
        raise TableException(f"{f!r} is no function: make it one with udf(), or give its name")
    return Expression(nodes.FunctionCall(f, tuple(map(node_of, args))))


def call_sql(sql_expression: str) -> Expression[Any]:
    """Return the expression in a string of SQL."""
    return Expression(nodes.Sql(sql_expression))


document(dict(vars()))
