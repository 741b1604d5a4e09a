"""The built-in functions by their names in SQL, and those that only SQL has."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from sqlglot import exp

from pyflow.table.columns.conversion import convert
from pyflow.table.columns.time_values import of_precision
from pyflow.table.columns.type_rules import (
    STRINGS,
    TIMESTAMPS,
    comparable,
    in_sql,
    same,
    with_nulls,
)
from pyflow.table.functions.builtins import built_in, built_in_of_sql
from pyflow.table.functions.builtins.definition import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    Arguments,
    BuiltIn,
    Parameter,
    TypeRule,
    require_common,
)
from pyflow.table.functions.builtins.logic import Comparison, compared, differ
from pyflow.table.sql import tree
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import (
    BooleanType,
    DataType,
    DateType,
    DoubleType,
    FloatType,
    IntegralType,
    LocalZonedTimestampType,
    NullType,
    TimestampType,
)
from pyflow.types.spark_types import to_spark

# sqlglot's classes of operators and the functions that they are.
OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "plus",
    exp.Sub: "minus",
    exp.Mul: "times",
    exp.Div: "divide",
    exp.Mod: "mod",
    exp.Neg: "minusPrefix",
    exp.EQ: "equals",
    exp.NEQ: "notEquals",
    exp.LT: "lessThan",
    exp.LTE: "lessThanOrEqual",
    exp.GT: "greaterThan",
    exp.GTE: "greaterThanOrEqual",
    exp.And: "and",
    exp.Or: "or",
    exp.Not: "not",
    exp.DPipe: "concat",
    exp.Like: "LIKE",
    exp.SimilarTo: "similar",
    exp.Array: "array",
    tree.MapValue: "map",
    exp.Tuple: "row",
}

IS = {
    "NULL": "isNull",
    "TRUE": "isTrue",
    "FALSE": "isFalse",
    "UNKNOWN": "isNull",
}


def find(name: str) -> BuiltIn | None:
    """Return the built-in function that a name means in SQL."""
    function = _SQL_ONLY.get(name.upper()) or built_in_of_sql(name)
    return None if function is None else OF_SQL.get(function.name, function)


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


def _merged(arguments: Arguments, places: Sequence[int] | None = None) -> Arguments:
    """Return arguments cast to their common type in SQL, which differs from the Table API's.

    Parameters
    ----------
    places
        The positions of the arguments to cast; None for all.
    """
    chosen = range(len(arguments)) if places is None else places
    read = in_sql([arguments.types[place] for place in chosen])
    if read is None:
        raise arguments.fail("the arguments have no common type; cast them")
    types, columns = list(arguments.types), list(arguments.columns)
    for place, new in zip(chosen, read):
        if not same(new, types[place]):
            types[place], columns[place] = new, arguments.as_type(place, new)
    return replace(arguments, types=tuple(types), columns=tuple(columns))


def _compared(arguments: Arguments) -> Arguments:
    """Return the arguments of GREATEST and LEAST: timestamps have the Table API's common type."""
    if all(isinstance(each, TIMESTAMPS) for each in arguments.types):
        return arguments
    return _merged(arguments)


def _joined(arguments: Arguments) -> Arguments:
    """Return the arguments of an operator of numbers and times."""
    if any(isinstance(each, STRINGS) for each in arguments.types):
        raise arguments.fail("there is no such operation for strings; use || to concatenate them")
    return _merged(arguments)


def _read(arguments: Arguments) -> Arguments:
    """Return arguments to compare; strings are cast if others are numbers, times or the like."""
    texts = [isinstance(each, STRINGS) for each in arguments.types]
    if not any(texts) or all(texts):
        return arguments
    target: DataType | None = DataTypes.STRING()
    for text, data_type in zip(texts, arguments.types):
        if target is not None and not text:
            target = comparable(target, data_type)
    if target is None:
        raise arguments.fail("the arguments cannot be compared; cast them")
    types = tuple(
        with_nulls(target, old) if text else old for text, old in zip(texts, arguments.types)
    )
    columns = tuple(
        arguments.as_type(place, target) if text else arguments[place]
        for place, text in enumerate(texts)
    )
    return replace(arguments, types=types, columns=columns)


def _in_sql(function: BuiltIn, given: Callable[[Arguments], Arguments]) -> BuiltIn:
    """Return a function as SQL has it, whose arguments differ from the Table API's."""
    return replace(
        function,
        result=lambda arguments: function.result(given(arguments)),
        build=lambda arguments: function.build(given(arguments)),
    )


#: The functions of operators and of forms of SQL that are other ones than in the Table API.
OF_SQL = {
    **{name: _in_sql(built_in(name), _joined) for name in ("plus", "minus", "times", "divide")},
    "ifThenElse": _in_sql(built_in("ifThenElse"), partial(_merged, places=(1, 2))),
    "array": _in_sql(built_in("array"), _merged),
    **{name: _in_sql(built_in(name), _compared) for name in ("GREATEST", "LEAST")},
    **{name: _in_sql(built_in(name), _read) for name in ("between", "notBetween")},
}


def _type_of_case(arguments: Arguments) -> DataType:
    for data_type in arguments.types[:-1:2]:
        if not isinstance(data_type, (BooleanType, NullType)):
            raise arguments.fail(f"a condition is {data_type.sql}, not BOOLEAN")
    places = _values_of_case(arguments)
    types = _merged(arguments, places).types
    return require_common(arguments, [types[place] for place in places])


def _values_of_case(arguments: Arguments) -> list[int]:
    last = len(arguments) - 1
    return [*range(1, last, 2), last]


def _build_case(arguments: Arguments) -> Column:
    merged, last = _merged(arguments, _values_of_case(arguments)), len(arguments) - 1
    first, *others = (
        (merged.as_type(place, BOOLEAN), merged.as_type(place + 1, arguments.result))
        for place in range(0, last, 2)
    )
    chosen = reduce(lambda column, branch: column.when(*branch), others, F.when(*first))
    return chosen.otherwise(merged.as_type(last, arguments.result))


def _strict(name: str, comparison: Comparison) -> BuiltIn:
    return replace(
        built_in(name),
        build=lambda arguments: compared(arguments, 0, 1, comparison, tolerant=False),
    )


#: The comparisons with the rows of a query, which fail for a string that is not a valid time.
STRICT = {"equals": _strict("equals", operator.eq), "notEquals": _strict("notEquals", operator.ne)}


# Functions of OVER windows, which the Table API has no methods for.
RANKING = frozenset({"ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE"})
SHIFTING = frozenset({"LAG", "LEAD"})
OVER_ONLY = RANKING | SHIFTING


def _rank(name: str, parameters: str, result: DataType, make: Any, summary: str) -> BuiltIn:
    def build(arguments: Arguments) -> Column:
        ranked = arguments.scope.aggregated(False)(make(arguments))
        return ranked.cast(to_spark(result))

    return _sql_only(name, parameters, result, build, summary)


# The standard deviation of APPROX_COUNT_DISTINCT, as in Flink.
_ERROR = 0.01

# What Java's parsers of numbers take. They read digits of other scripts as whole numbers.
_BLANKS = r"[\x00-\x20]*"
_DECIMAL = (
    rf"^(?:[+-]?\p{{Nd}}{{1,18}}|{_BLANKS}[+-]?(?:NaN|Infinity|(?:"
    r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    r"|0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?)"
    rf"{_BLANKS})$"
)
_NUMBERS = (IntegralType, FloatType, DoubleType)
# Characters beyond U+FFFF are two of Java's, neither of them a letter or a digit.
_LETTERS = r"^[\p{L}&&[\x{0}-\x{FFFF}]]+$"
_DIGITS = r"^[\p{Nd}&&[\x{0}-\x{FFFF}]]+$"


def _test_of_text(
    name: str, pattern: str, of_numbers: tuple[type[DataType], ...], summary: str
) -> BuiltIn:
    """Return a function that tests if a string matches a pattern, or a value has some types."""

    def build(arguments: Arguments) -> Column:
        data_type = arguments.types[0]
        if isinstance(data_type, STRINGS):
            return F.coalesce(F.rlike(arguments[0], F.lit(pattern)), F.lit(False))
        return arguments[0].isNotNull() & F.lit(isinstance(data_type, of_numbers))

    return _sql_only(name, "any", BOOLEAN, build, summary, aggregate=False)


def _approximate_count(arguments: Arguments) -> Column:
    context = arguments.scope.context
    if context is not None and context.is_streaming:
        raise arguments.fail("it is for batch mode; take COUNT(DISTINCT ...) in streaming mode")
    return arguments.scope.aggregated(False)(F.approx_count_distinct(arguments[0], _ERROR))


_SQL_ONLY = {
    function.name: function
    for function in (
        _sql_only(
            "PROCTIME",
            "",
            DataTypes.TIMESTAMP_LTZ(3),
            lambda _: of_precision(F.current_timestamp(), DataTypes.TIMESTAMP_LTZ(3)),
            "The time of processing; a column of it is a time attribute.",
            aggregate=False,
        ),
        _test_of_text("IS_ALPHA", _LETTERS, (), "Whether a string has letters only."),
        _test_of_text("IS_DIGIT", _DIGITS, (IntegralType,), "Whether a string has digits only."),
        _test_of_text("IS_DECIMAL", _DECIMAL, _NUMBERS, "Whether a string is a number."),
        _sql_only(
            "APPROX_COUNT_DISTINCT",
            "any",
            BIGINT,
            _approximate_count,
            "The approximate number of distinct values that are not null.",
        ),
        _rank("ROW_NUMBER", "", BIGINT, lambda _: F.row_number(), "The row number, from 1."),
        _rank("RANK", "", BIGINT, lambda _: F.rank(), "The rank, the same for equal rows."),
        _rank("DENSE_RANK", "", BIGINT, lambda _: F.dense_rank(), "The rank without gaps."),
        _rank("PERCENT_RANK", "", DOUBLE, lambda _: F.percent_rank(), "The rank from 0 to 1."),
        _rank("CUME_DIST", "", DOUBLE, lambda _: F.cume_dist(), "The cumulative distribution."),
        _rank("NTILE", "int", BIGINT, lambda a: F.ntile(int(a.constant(0))), "The bucket, from 1."),
    )
}


def _type_that_moves(arguments: Arguments) -> DataType:
    data_type, unit = arguments.types[0], arguments.symbol(1).name
    if unit not in _PARTS_OF_DAYS:
        return data_type
    if isinstance(data_type, DateType):
        return DataTypes.TIMESTAMP(6)
    if isinstance(data_type, (TimestampType, LocalZonedTimestampType)) and unit == "MILLISECOND":
        return type(data_type)(max(data_type.precision, 3))
    return data_type


_PARTS_OF_DAYS = ("HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")

# What TIMESTAMPADD moves: a DATE has no hours, and a TIMESTAMP(0) no milliseconds.
MOVED = _sql_only(
    "TIMESTAMPADD",
    "date|time|timestamp|timestamp_ltz, symbol",
    _type_that_moves,
    lambda arguments: arguments.as_type(0, arguments.result),
    "A time, cast to a type that has a unit.",
    "arguments",
    aggregate=False,
)


def _as_interval(arguments: Arguments) -> Column:
    source, target = arguments.types[0], arguments.symbol(1)
    if not isinstance(source, IntegralType):
        return arguments.as_type(0, target)
    unit = _UNITS.get(target.not_null().sql.removesuffix(" NOT NULL").partition("(")[0])
    if unit is None:
        raise arguments.fail("a number is cast to an interval of one unit, as INTERVAL DAY")
    return convert(arguments[0].cast("bigint") * unit, DataTypes.BIGINT(), target)


# By an interval's type, its unit in months or in milliseconds.
_UNITS = {
    "INTERVAL YEAR": 12,
    "INTERVAL MONTH": 1,
    "INTERVAL DAY": 86_400_000,
    "INTERVAL HOUR": 3_600_000,
    "INTERVAL MINUTE": 60_000,
    "INTERVAL SECOND": 1000,
}

# In SQL a number counts the interval's unit, in the Table API months or milliseconds.
AS_INTERVAL = _sql_only(
    "CAST",
    "any, symbol",
    lambda arguments: arguments.symbol(1),
    _as_interval,
    "A value as an interval.",
    "arguments",
    aggregate=False,
)

# Its arguments are alternating conditions and values, then the value without a condition.
CASE = _sql_only(
    "CASE",
    "boolean, any, any, any...",
    _type_of_case,
    _build_case,
    "The value of the first condition that is true.",
    "own",
    aggregate=False,
)

IS_DISTINCT_FROM = _sql_only(
    "IS DISTINCT FROM",
    "any, any",
    BOOLEAN,
    differ,
    "Whether two values differ; null is a value.",
    aggregate=False,
)
