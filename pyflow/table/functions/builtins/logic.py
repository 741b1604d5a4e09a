"""Comparisons, conditions and three-valued logic."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from pyflow.table.columns.nodes import Literal
from pyflow.table.columns.type_rules import STRINGS, TIMES, comparable, with_nulls
from pyflow.table.functions.builtins.definition import (
    BOOLEAN,
    STRING,
    Arguments,
    common_of,
    define,
    require_common,
)
from pyflow.types.logical_types import BitmapType, DataType, MapType, MultisetType, NullType

Comparison = Callable[[Column, Column], Column]


def _comparable(column: Column, data_type: DataType) -> Column:
    """Return a column that Spark can compare instead of a value; it cannot compare maps."""
    if isinstance(data_type, (MapType, MultisetType)):
        return F.array_sort(F.map_entries(column))
    return column


def reads_times(arguments: Arguments, left: int, right: int) -> bool:
    """Return whether one of two arguments is a string that is compared with a time.

    As in Flink, an equality takes a string that is not a valid time as null, unless it is a
    literal.
    """
    return any(
        isinstance(arguments.types[text], STRINGS)
        and isinstance(arguments.types[time], TIMES)
        and not isinstance(arguments.nodes[text], Literal)
        for text, time in ((left, right), (right, left))
    )


def compared(
    arguments: Arguments, left: int, right: int, comparison: Comparison, tolerant: bool = True
) -> Column:
    """Return the comparison of two arguments, as values of the type that they have in common.

    Parameters
    ----------
    tolerant
        Whether a string that is not a valid time becomes null, as :func:`reads_times` says.
    """
    equality = comparison in (operator.eq, operator.ne)
    data_type = comparable(arguments.types[left], arguments.types[right], equality)
    if data_type is None:
        raise arguments.fail("the arguments cannot be compared; cast them")
    if isinstance(data_type, BitmapType) and not equality:
        raise arguments.fail("bitmaps have no order")
    tolerant = tolerant and equality and reads_times(arguments, left, right)
    one, other = (arguments.as_type(each, data_type, tolerant) for each in (left, right))
    return comparison(_comparable(one, data_type), _comparable(other, data_type))


def differ(arguments: Arguments) -> Column:
    """Return whether two arguments differ; null is a value."""
    either = arguments[0].isNull() | arguments[1].isNull()
    both = arguments[0].isNull() & arguments[1].isNull()
    equal = F.coalesce(compared(arguments, 0, 1, operator.eq), F.lit(False))
    return F.when(either, ~both).otherwise(~equal)


def _define_comparison(names: str, comparison: Comparison, summary: str) -> None:
    define(
        names, "any, any", BOOLEAN, lambda a: compared(a, 0, 1, comparison), summary,
        difference=_NAN,
    )  # fmt: skip


def _define_equality(names: str, comparison: Comparison, summary: str) -> None:
    define(
        names, "any, any",
        lambda a: BOOLEAN if reads_times(a, 0, 1) else with_nulls(BOOLEAN, *a.types),
        lambda a: compared(a, 0, 1, comparison), summary, difference=_NAN, nulls="own",
    )  # fmt: skip


_NAN = "NaN is equal to NaN and greater than all other numbers, as everywhere in Spark."

_define_equality("equals =", operator.eq, "Whether two values are equal.")
_define_equality("notEquals <>", operator.ne, "Whether two values differ.")
_define_comparison("lessThan <", operator.lt, "Whether the first value is less.")
_define_comparison("lessThanOrEqual <=", operator.le, "Whether the first value is less or equal.")
_define_comparison("greaterThan >", operator.gt, "Whether the first value is greater.")
_define_comparison(
    "greaterThanOrEqual >=", operator.ge, "Whether the first value is greater or equal."
)


def _between(a: Arguments) -> Column:
    return compared(a, 0, 1, operator.ge) & compared(a, 0, 2, operator.le)


define(
    "between", "any, any, any", BOOLEAN, _between,
    "Whether a value is neither below the lower nor above the upper bound.",
)  # fmt: skip
define(
    "notBetween", "any, any, any", BOOLEAN,
    lambda a: compared(a, 0, 1, operator.lt) | compared(a, 0, 2, operator.gt),
    "Whether a value is below the lower or above the upper bound.",
)  # fmt: skip


def _in(a: Arguments) -> Column:
    data_type = a.types[0]
    for other in a.types[1:]:
        either = comparable(data_type, other)
        if either is None:
            raise a.fail("the arguments cannot be compared; cast them")
        data_type = either
    value, *elements = (
        _comparable(a.as_type(position, data_type), data_type) for position in range(len(a))
    )
    return value.isin(*elements)


define(
    "in", "any, any, any...", BOOLEAN, _in,
    "Whether a value is one of those given; null if it is not and one of them is null.",
)  # fmt: skip
define(
    "and", "boolean, boolean, boolean...", BOOLEAN, lambda a: reduce(operator.and_, a.columns),
    "True if all arguments are true, false if one is false, otherwise null.",
)  # fmt: skip
define(
    "or", "boolean, boolean, boolean...", BOOLEAN, lambda a: reduce(operator.or_, a.columns),
    "True if one argument is true, false if all are false, otherwise null.",
)  # fmt: skip
define("not NOT", "boolean", BOOLEAN, lambda a: ~a[0], "The negation; null for null.")
define(
    "isTrue", "boolean", BOOLEAN, lambda a: F.coalesce(a[0], F.lit(False)),
    "Whether a condition is true; false for null.", nulls="never",
)  # fmt: skip
define(
    "isFalse", "boolean", BOOLEAN, lambda a: F.coalesce(~a[0], F.lit(False)),
    "Whether a condition is false; false for null.", nulls="never",
)  # fmt: skip
define(
    "isNotTrue", "boolean", BOOLEAN, lambda a: ~F.coalesce(a[0], F.lit(False)),
    "Whether a condition is false or null.", nulls="never",
)  # fmt: skip
define(
    "isNotFalse", "boolean", BOOLEAN, lambda a: F.coalesce(a[0], F.lit(True)),
    "Whether a condition is true or null.", nulls="never",
)  # fmt: skip
define("isNull", "any", BOOLEAN, lambda a: a[0].isNull(), "Whether a value is null.", nulls="never")
define(
    "isNotNull", "any", BOOLEAN, lambda a: a[0].isNotNull(), "Whether a value is not null.",
    nulls="never",
)  # fmt: skip


def _chosen(a: Arguments) -> Column:
    data_type = a.result
    return F.when(a[0], a.as_type(1, data_type)).otherwise(a.as_type(2, data_type))


define(
    "ifThenElse", "boolean, any, any",
    lambda a: require_common(a, a.types[1:]), _chosen,
    "The first of two values where a condition is true, the second where it is false or null.",
    nulls="own",
)  # fmt: skip


def _first_present(a: Arguments) -> Column:
    values = [a.as_type(position, a.result) for position in range(len(a))]
    return F.coalesce(*values)


def _type_of_first_present(a: Arguments) -> DataType:
    data_type = require_common(a, a.types)
    certain = any(not each._nullable for each in a.types)
    if isinstance(data_type, NullType):
        return data_type
    return data_type.not_null() if certain else data_type.nullable()


def _outermost(choose: Callable[..., Column]) -> Callable[[Arguments], Column]:
    def build(a: Arguments) -> Column:
        values = [a.as_type(position, a.result) for position in range(len(a))]
        missing = reduce(operator.or_, (value.isNull() for value in values))
        return F.when(~missing, choose(*values))

    return build


for _names, _choose, _which in (
    ("GREATEST GREATEST", F.greatest, "greatest"),
    ("LEAST LEAST", F.least, "least"),
):
    define(
        _names, "any, any...", common_of(), _outermost(_choose),
        f"The {_which} value; null if one is null.",
    )  # fmt: skip


def _type_of(a: Arguments) -> Column:
    if len(a) > 1 and not isinstance(a.nodes[1], Literal):
        raise a.fail("the second argument must be a literal")
    return F.lit(a.types[0].sql)


define(
    "TYPEOF TYPEOF", "any, boolean?", STRING, _type_of,
    "The type of a value, as a string. A second argument asks for a form that can be parsed, which "
    "the string has here in any case.", nulls="always",
)  # fmt: skip
define(
    "COALESCE COALESCE", "any, any...", _type_of_first_present, _first_present,
    "The first value that is not null; null if there is none.", nulls="own",
)  # fmt: skip
define(
    "IFNULL IFNULL", "any, any", _type_of_first_present, _first_present,
    "A value, or its replacement where it is null.", nulls="own",
)  # fmt: skip
