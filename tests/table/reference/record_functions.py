"""Records the values that Python functions get, and what becomes of their results.

PyFlink's workers exchange values with Flink through coders, and series through Arrow. What a
function gets is what they decode, and what becomes of a result is that, encoded and decoded again:
no job has to run.
"""

from __future__ import annotations

import pyarrow as pa
import pytz
import recordings
from function_values import (
    ARGUMENTS,
    RESULTS,
    ROWS,
    SERIES,
    VALUES,
    shown,
    shown_series,
    value_of,
)
from pyflink.common import Row
from pyflink.fn_execution import coders
from pyflink.fn_execution.utils.operation_utils import (
    normalize_pandas_result,
    normalize_table_function_result,
)
from pyflink.table import DataTypes
from pyflink.table.types import create_arrow_schema
from pyflink.table.utils import arrow_to_pandas, pandas_to_arrow

PLAIN = {
    "TinyIntType": coders.TinyIntCoder,
    "SmallIntType": coders.SmallIntCoder,
    "IntType": coders.IntCoder,
    "BigIntType": coders.BigIntCoder,
    "BooleanType": coders.BooleanCoder,
    "FloatType": coders.FloatCoder,
    "DoubleType": coders.DoubleCoder,
    "BinaryType": coders.BinaryCoder,
    "VarBinaryType": coders.BinaryCoder,
    "CharType": coders.CharCoder,
    "VarCharType": coders.CharCoder,
    "DateType": coders.DateCoder,
    "TimeType": coders.TimeCoder,
}


def coder_of(declared):
    """The coder of a type, as PyFlink's workers choose it."""
    kind = type(declared).__name__
    if kind in PLAIN:
        return PLAIN[kind]()
    if kind == "DecimalType":
        return coders.DecimalCoder(declared.precision, declared.scale)
    if kind == "TimestampType":
        return coders.TimestampCoder(declared.precision)
    if kind == "LocalZonedTimestampType":
        return coders.LocalZonedTimestampCoder(declared.precision, pytz.utc)
    if kind == "ArrayType":
        return coders.GenericArrayCoder(coder_of(declared.element_type))
    if kind == "MapType":
        return coders.MapCoder(coder_of(declared.key_type), coder_of(declared.value_type))
    assert kind == "RowType", kind
    fields = [coder_of(field.data_type) for field in declared.fields]
    return coders.RowCoder(fields, [field.name for field in declared.fields])


def type_of(text):
    return eval(f"DataTypes.{text}", {"DataTypes": DataTypes})


def passed_on(text, expression):
    """A value behind the coder."""
    columns = coders.FlattenRowCoder([coder_of(type_of(text))]).get_impl()
    return shown(columns.decode(columns.encode([value_of(expression, Row)]))[0])


def rows_passed_on(one, other, expression):
    """The rows of a table function behind the coder."""
    columns = coders.FlattenRowCoder([coder_of(type_of(each)) for each in (one, other)]).get_impl()
    rows = normalize_table_function_result(value_of(expression, Row))
    return shown([tuple(columns.decode(columns.encode(row))) for row in rows])


def series_of_argument(text, expression):
    """The series of a value, as functions see it."""
    declared = type_of(text)
    schema = create_arrow_schema(["f"], [declared])
    value = value_of(expression, Row)
    if hasattr(value, "get_row_kind"):
        value = dict(zip(declared.field_names(), value))
    if isinstance(value, list) and any(hasattr(each, "get_row_kind") for each in value):
        raise TypeError("no rows in arrays")
    batch = pa.RecordBatch.from_arrays([pa.array([value], type=schema.types[0])], schema=schema)
    return shown_series(arrow_to_pandas("UTC", [declared], [batch])[0])


def series_passed_on(text, series):
    """The values of a series that a function returned."""
    declared = type_of(text)
    batch = pandas_to_arrow(create_arrow_schema(["f"], [declared]), "UTC", [declared], [series])
    return shown(batch.column(0).to_pylist())


def series_of_result(text, expression):
    return series_passed_on(text, value_of(expression, Row))


def series_of_value(text, expression):
    return series_passed_on(text, normalize_pandas_result([value_of(expression, Row)])[0])


def answer(function, case):
    """What it gives, or the class of the error that it raises."""
    try:
        return function(*case)
    except Exception as error:
        return f"error: {type(error).__name__}"


RECORDED = {
    "arguments": (passed_on, ARGUMENTS),
    "results": (passed_on, RESULTS),
    "series_arguments": (series_of_argument, ARGUMENTS),
    "series": (series_of_result, SERIES),
    "values": (series_of_value, VALUES),
    "rows": (rows_passed_on, ROWS),
}


def record(only):
    answers = {
        which: [answer(function, case) for case in cases]
        for which, (function, cases) in RECORDED.items()
    }
    recordings.write("function_values", answers)
