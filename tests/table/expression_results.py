"""What PyFlow makes of `expression_cases.py`, in the form in which PyFlink's results are kept."""

from __future__ import annotations

import decimal
from functools import cache
from typing import Any

import recordings
from pyspark.sql import DataFrame, SparkSession

import expression_cases
from pyflow.table import EnvironmentSettings, expression, expressions, sql
from pyflow.table.columns.conversion import convert
from pyflow.table.context import TableContext
from pyflow.table.functions.resolution import Resolved, Scope
from pyflow.table.types import DataType, DataTypes, RowField, RowType, parse, to_spark

ROW_NUMBER = "row_number"


@cache
def reference(name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = recordings.load(f"expressions_{name}")
    return cases


def column_types(name: str) -> dict[str, DataType]:
    return {name: parse(text) for name, (text, _) in expression_cases.TABLES[name].items()}


def table(spark: SparkSession, name: str) -> Scope:
    columns = expression_cases.TABLES[name]
    types = column_types(name)
    row_type = RowType([RowField(each, data_type) for each, data_type in types.items()])
    row_type.add(ROW_NUMBER, DataTypes.INT(False))
    count = len(next(iter(columns.values()))[1])
    rows = [
        (*(values[position] for _, values in columns.values()), position)
        for position in range(count)
    ]
    frame = spark.createDataFrame(rows, to_spark(row_type)).coalesce(1)
    return Scope(frame, types, context_of(spark))


def context_of(spark: SparkSession) -> TableContext:
    return TableContext(spark, EnvironmentSettings.in_batch_mode(), sql)


def namespace(name: str) -> dict[str, Any]:
    names = {**vars(expression), **vars(expressions), "DataTypes": DataTypes}
    return {**names, **{each: expressions.col(each) for each in expression_cases.TABLES[name]}}


def build(name: str, text: str) -> expression.Expression[Any]:
    found: expression.Expression[Any] = eval(text, namespace(name))
    return found


def run(scope: Scope, name: str, resolved: list[Resolved]) -> list[list[Any]]:
    """Return, for each expression, its values in the order of the rows."""
    grouped = expression_cases.is_grouped(name)
    columns = []
    for index, each in enumerate(resolved):
        column, shown = each.column, each.data_type
        if expression_cases.is_taken_as_text(name, str(shown)):
            column = convert(column, shown, DataTypes.STRING())
        columns.append(column.alias(f"e{index}"))
    types = [each.column.alias(f"e{index}") for index, each in enumerate(resolved)]
    assert scope.frame is not None
    frame = scope.frame.groupBy("g") if grouped else scope.frame
    select = frame.agg if grouped else frame.select
    results: DataFrame = select(*columns) if grouped else select(*columns, ROW_NUMBER)
    schema = select(*types).schema
    keys = 1 if grouped else 0
    for index, each in enumerate(resolved):
        expected, actual = to_spark(each.data_type), schema[index + keys].dataType
        assert _bare(expected) == _bare(actual), f"{index}: {expected} is not {actual}"
    rows = results.collect()
    rows.sort(key=lambda row: row[0 if grouped else -1])
    return [
        [expression_cases.plain(row[index + keys]) for row in rows]
        for index in range(len(resolved))
    ]


def _bare(spark_type: Any) -> str:
    return str(spark_type.simpleString())


def alike(expected: Any, actual: Any, tolerance: float = 1e-12) -> bool:
    """Return whether two results are the same, but for the last digits of approximate numbers."""
    if isinstance(expected, dict) and isinstance(actual, dict) and set(expected) == set(actual):
        (kind,) = expected
        left, right = expected[kind], actual[kind]
        if kind == "float":
            one, other = float(left), float(right)
            if one != one or other != other:
                return one != one and other != other
            return one == other or abs(one - other) <= tolerance * max(abs(one), abs(other))
        if kind == "decimal":
            return decimal.Decimal(left) == decimal.Decimal(right)
        return alike(left, right, tolerance)
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(
            alike(left, right, tolerance) for left, right in zip(expected, actual)
        )
    return type(expected) is type(actual) and bool(expected == actual)
