"""The built-in functions by their names in SQL, and those that only SQL has."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from pyflow.table.planner.functions import built_in_of_sql
from pyflow.table.planner.functions.definition import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    Arguments,
    BuiltIn,
    Parameter,
    TypeRule,
    require_common,
)
from pyflow.table.types import DataType, to_spark

# sqlglot's classes of operators and the functions that they are.
OPERATORS = {
    "Add": "plus",
    "Sub": "minus",
    "Mul": "times",
    "Div": "divide",
    "Mod": "mod",
    "Neg": "minusPrefix",
    "EQ": "equals",
    "NEQ": "notEquals",
    "LT": "lessThan",
    "LTE": "lessThanOrEqual",
    "GT": "greaterThan",
    "GTE": "greaterThanOrEqual",
    "And": "and",
    "Or": "or",
    "Not": "not",
    "DPipe": "concat",
    "Like": "like",
    "SimilarTo": "similar",
    "Array": "array",
    "MapValue": "map",
    "Tuple": "row",
}

IS = {
    "NULL": "isNull",
    "TRUE": "isTrue",
    "FALSE": "isFalse",
    "UNKNOWN": "isNull",
}


def find(name: str) -> BuiltIn | None:
    """Return the built-in function that a name means in SQL."""
    return _SQL_ONLY.get(name.upper()) or built_in_of_sql(name)


def _sql_only(
    name: str,
    parameters: str,
    result: DataType | TypeRule,
    build: Callable[[Arguments], Column],
    summary: str,
    nulls: Any = "never",
    aggregate: bool = True,
) -> BuiltIn:
    rule = (lambda arguments: result) if isinstance(result, DataType) else result
    texts = [text.strip() for text in parameters.split(",") if text.strip()]
    return BuiltIn(
        name,
        (name,),
        tuple(map(Parameter.parse, texts)),
        rule,
        build,
        nulls,
        summary,
        "",
        aggregate,
    )


# Functions of OVER windows, which the Table API has no methods for.
RANKING = frozenset({"ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE"})
SHIFTING = frozenset({"LAG", "LEAD"})
OVER_ONLY = RANKING | SHIFTING


def _rank(name: str, parameters: str, result: DataType, make: Any, summary: str) -> BuiltIn:
    def build(arguments: Arguments) -> Column:
        ranked = arguments.scope.aggregated(False)(make(arguments))
        return ranked.cast(to_spark(result))

    return _sql_only(name, parameters, result, build, summary)


def _outermost(name: str, choose: Callable[..., Column], summary: str) -> BuiltIn:
    def type_of(arguments: Arguments) -> DataType:
        return require_common(arguments, arguments.types)

    def build(arguments: Arguments) -> Column:
        count = range(len(arguments))
        values = [arguments.as_type(place, arguments.result) for place in count]
        missing = reduce(operator.or_, (value.isNull() for value in values))
        return F.when(~missing, choose(*values))

    return _sql_only(name, "any, any...", type_of, build, summary, "arguments", aggregate=False)


_SQL_ONLY = {
    function.name: function
    for function in (
        _outermost("GREATEST", F.greatest, "The greatest value; null if one is null."),
        _outermost("LEAST", F.least, "The least value; null if one is null."),
        _rank("ROW_NUMBER", "", BIGINT, lambda _: F.row_number(), "The place, from 1."),
        _rank("RANK", "", BIGINT, lambda _: F.rank(), "The place, the same for equal rows."),
        _rank("DENSE_RANK", "", BIGINT, lambda _: F.dense_rank(), "The rank without gaps."),
        _rank("PERCENT_RANK", "", DOUBLE, lambda _: F.percent_rank(), "The rank from 0 to 1."),
        _rank("CUME_DIST", "", DOUBLE, lambda _: F.cume_dist(), "The part up to the row."),
        _rank("NTILE", "int", BIGINT, lambda a: F.ntile(int(a.constant(0))), "The bucket, from 1."),
    )
}

IS_DISTINCT_FROM = _sql_only(
    "IS DISTINCT FROM",
    "any, any",
    BOOLEAN,
    lambda arguments: ~arguments[0].eqNullSafe(arguments[1]),
    "Whether two values differ; null is a value.",
    aggregate=False,
)
