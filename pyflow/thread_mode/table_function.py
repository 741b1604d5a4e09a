"""Runs plain table functions as functions of a row that return all the rows they make of it.

PySpark's worker makes a table function into one over an iterator of rows. Here that iterator gives
out the row of the current call, so that the function advances by one row per call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pyspark.sql.types import (
    ArrayType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
    _parse_datatype_json_string,
)
from pyspark.util import PythonEvalType

from pyflow.thread_mode import payload

__all__ = ["load"]


def load(
    function: dict[str, Any], runner_conf: dict[str, str]
) -> tuple[Callable[..., Any], DataType]:
    """Load a table function, within :func:`~pyflow.thread_mode.payload.loading`.

    Parameters
    ----------
    function : dict
        ``args`` as [ordinal, keyword or null], not counting the first input column, which tells
        whether the rows have come to an end; the rest as
        :func:`~pyflow.thread_mode.payload.udtf_info` has it.
    runner_conf : dict

    Returns
    -------
    tuple
        A function of all input columns that returns a sequence of rows, or None after the last;
        and its return type, an array of structs.
    """
    from pyspark import worker

    arguments = function["args"]
    table_function = function["table_function"]
    element_type = _parse_datatype_json_string(table_function["return_type"])
    info = payload.udtf_info(
        {
            **function,
            "args": [ordinal for ordinal, keyword in arguments if keyword is None],
            "kwargs": {keyword: ordinal for ordinal, keyword in arguments if keyword},
            "table_function": {
                **table_function,
                "return_type": _without_conversions(element_type).json(),
            },
        }
    )
    run, *_ = worker.read_udtf(
        payload.serializer,
        info,
        PythonEvalType.SQL_TABLE_UDF,
        worker.RunnerConf(runner_conf),
        worker.EvalConf({}),
    )
    return _by_row(run), ArrayType(element_type)


def _by_row(run: Callable[[int, Iterator[Any]], Iterator[Any]]) -> Callable[..., Any]:
    row: tuple[Any, ...] = ()
    ended = False

    def rows() -> Iterator[tuple[Any, ...]]:
        while not ended:
            yield row

    output = run(0, rows())

    def evaluate(at_end: bool, *values: Any) -> Any:
        nonlocal row, ended
        row, ended = values, at_end
        results = next(output, None)
        if at_end:
            next(output, None)  # what the function cleans up
        return results

    return evaluate


def _without_conversions(data_type: DataType) -> DataType:
    """A type with the same fields and nulls, whose values PySpark leaves to the codec."""
    if isinstance(data_type, StructType):
        return StructType(
            [
                StructField(field.name, _without_conversions(field.dataType), field.nullable)
                for field in data_type
            ]
        )
    if isinstance(data_type, ArrayType):
        return ArrayType(_without_conversions(data_type.elementType), data_type.containsNull)
    if isinstance(data_type, MapType):
        return MapType(
            _without_conversions(data_type.keyType),
            _without_conversions(data_type.valueType),
            data_type.valueContainsNull,
        )
    return StringType()
