"""Aggregates, computed from many rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import and_

from pyspark.sql import Column
from pyspark.sql import functions as F

from pyflow.table.columns.arithmetic import divided, wrapped
from pyflow.table.columns.conversion import convert
from pyflow.table.columns.type_rules import adjusted
from pyflow.table.functions.builtins.definition import (
    BIGINT,
    DOUBLE,
    STRING,
    Aggregated,
    Arguments,
    argument,
    define,
)
from pyflow.table.functions.builtins.maps import map_of_last
from pyflow.table.functions.builtins.sums import sum_of
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import (
    ArrayType,
    BitmapType,
    DataType,
    DecimalType,
    IntegralType,
    MultisetType,
)
from pyflow.types.spark_types import to_spark

# Each of these functions makes the column of an aggregate from `Aggregated`, which knows whether
# values are distinct and over which rows of a window they are taken.
_ORDER = "Any of the values, if the order of the rows is not fixed."
_NAN = "NaN is greater than all other numbers, as everywhere in Spark."


def _sum_type(a: Arguments) -> DataType:
    data_type = a.types[0]
    return DecimalType(38, data_type.scale) if isinstance(data_type, DecimalType) else data_type


def _sum(a: Arguments, over: Aggregated) -> Column:
    data_type = a.types[0]
    total = sum_of(a[0], data_type, over)
    if isinstance(data_type, IntegralType):
        return wrapped(total, data_type)
    return total.cast(to_spark(a.result))


def _define(
    names: str,
    parameters: str,
    result: DataType | Callable[[Arguments], DataType],
    build: Callable[[Arguments, Aggregated], Column],
    summary: str,
    *,
    never_null: bool = False,
    difference: str = "",
) -> None:
    define(
        names,
        parameters,
        result,
        lambda a: build(a, a.scope.aggregated(a.distinct)),
        summary,
        nulls="never" if never_null else "always",
        difference=difference,
        aggregate=True,
    )


_define("sum SUM", "numeric", _sum_type, _sum, "The sum; null if there is no value.")
_define(
    "sum0 $SUM0", "numeric", _sum_type,
    lambda a, over: F.coalesce(_sum(a, over), F.lit(0).cast(to_spark(a.result))),
    "The sum; 0 if there is no value.", never_null=True,
)  # fmt: skip


def _count(a: Arguments, over: Aggregated) -> Column:
    columns = a.columns or (F.lit(1),)
    if not over.distinct:
        return over(F.count(*columns))
    if over.window is None:
        return F.count_distinct(*columns)
    # Spark has no distinct values in windows.
    complete = reduce(and_, (column.isNotNull() for column in columns))
    values = over(F.collect_set(F.when(complete, F.struct(*columns))))
    return F.array_size(values).cast("bigint")


_define(
    "count COUNT", "any...", BIGINT, _count, "How many values are not null.", never_null=True,
)  # fmt: skip


def _extreme_type(a: Arguments) -> DataType:
    if isinstance(a.types[0], BitmapType):
        raise a.fail("bitmaps have no order")
    return a.types[0]


_define(
    "min MIN", "any", _extreme_type, lambda a, over: over(F.min(a[0])), "The least value.",
    difference=_NAN,
)  # fmt: skip
_define(
    "max MAX", "any", _extreme_type, lambda a, over: over(F.max(a[0])), "The greatest value.",
    difference=_NAN,
)  # fmt: skip


def _average_type(a: Arguments) -> DataType:
    data_type = a.types[0]
    if isinstance(data_type, DecimalType):
        return adjusted(38, max(6, data_type.scale))
    return data_type


def _average(a: Arguments, over: Aggregated) -> Column:
    data_type = a.types[0]
    total, values = sum_of(a[0], data_type, over), _count(a, over)
    if isinstance(data_type, IntegralType):
        average = divided(total, values)
        return F.when(values > 0, average).cast(to_spark(data_type))
    if isinstance(data_type, DecimalType):
        average = F.try_divide(total, values.cast("decimal(19,0)"))
        return F.when(values > 0, average).try_cast(to_spark(a.result))
    return F.when(values > 0, total / values).cast(to_spark(data_type))


_define(
    "avg AVG", "numeric", _average_type, _average,
    "The average; of whole numbers, without its fraction. Null if there is no value.",
)  # fmt: skip


# --- Spread -----------------------------------------------------------------------------------


def _spread(function: Callable[[Column], Column]) -> Callable[[Arguments, Aggregated], Column]:
    def build(a: Arguments, over: Aggregated) -> Column:
        if over.distinct:
            raise a.fail("it is not supported over distinct values")
        spread = over(function(a[0].cast("double")))
        return convert(spread, DOUBLE, a.result)

    return build


for _names, _function, _summary in (
    ("stddevPop STDDEV_POP", F.stddev_pop, "The standard deviation of all values."),
    ("stddevSamp STDDEV_SAMP STDDEV", F.stddev_samp, "The standard deviation of a sample."),
    ("varPop VAR_POP", F.var_pop, "The variance of all values."),
    ("varSamp VAR_SAMP VARIANCE", F.var_samp, "The variance of a sample."),
):
    _define(
        _names, "numeric", _average_type, _spread(_function), _summary,
        difference="Computed as DOUBLE, by another formula: the last digits may differ.",
    )  # fmt: skip


def _percentile_type(a: Arguments) -> DataType:
    return DataTypes.ARRAY(DOUBLE) if isinstance(a.types[1], ArrayType) else DOUBLE


def _percentile(a: Arguments, over: Aggregated) -> Column:
    value = a[0].cast("double")
    share = a[1].cast("array<double>") if isinstance(a.types[1], ArrayType) else a[1].cast("double")
    if len(a) == 2:
        return over(F.percentile(value, share))
    times = F.when(a[2] > 0, a[2]).otherwise(F.lit(0)).cast("bigint")
    return over(F.percentile(value, share, times))


_define(
    "PERCENTILE PERCENTILE", "numeric, numeric|array, bigint?", _percentile_type, _percentile,
    "The percentile of the values at a fraction from 0 to 1, or at each of an array of fractions, "
    "with linear interpolation. A third argument is the frequency of a value.",
)  # fmt: skip

# --- Values -----------------------------------------------------------------------------------

_define(
    "first_value FIRST_VALUE", "any", argument(0),
    lambda a, over: over(F.first(a[0], ignorenulls=True)), "The first value that is not null.",
    difference=_ORDER,
)  # fmt: skip
_define(
    "last_value LAST_VALUE", "any", argument(0),
    lambda a, over: over(F.last(a[0], ignorenulls=True)), "The last value that is not null.",
    difference=_ORDER,
)  # fmt: skip


def _all(value: Column, over: Aggregated) -> Column:
    """Return the array of all values, nulls among them; null if there are no rows."""
    rows = over(F.collect_list(F.struct(value.alias("value"))))
    values = F.transform(rows, lambda row: row.getField("value"))
    values = F.array_distinct(values) if over.distinct else values
    return F.when(F.array_size(values) > 0, values)


def _list_aggregated(a: Arguments, over: Aggregated) -> Column:
    separator = a[1] if len(a) > 1 else F.lit(",")
    values = over(F.collect_list(a[0]))
    values = F.array_distinct(values) if over.distinct else values
    joined = F.call_function("array_join", values, separator)
    return F.when(F.array_size(values) > 0, joined)


_define(
    "listAgg LISTAGG", "string, string?", STRING, _list_aggregated,
    "The concatenation of the strings that are not null, separated by a second argument, by "
    "default a comma.", difference="The strings are in no fixed order, unless the rows are.",
)  # fmt: skip
_define(
    "ARRAY_AGG ARRAY_AGG", "any", lambda a: DataTypes.ARRAY(a.types[0]),
    lambda a, over: _all(a[0], over), "The array of all values.",
    difference="The values are in no fixed order, unless the rows are.",
)  # fmt: skip


def _counted(a: Arguments, over: Aggregated) -> Column:
    values = over(F.collect_list(a[0]))
    keys = F.array_distinct(values)
    numbers = F.transform(
        keys,
        lambda key: (
            F.lit(1)
            if over.distinct
            else F.array_size(F.filter(values, lambda value: value.eqNullSafe(key)))
        ),
    )
    return map_of_last(keys, numbers)


_define(
    "collect COLLECT", "any", lambda a: MultisetType(a.types[0]), _counted,
    "The multiset of the values that are not null.", never_null=True,
)  # fmt: skip

# --- Rows before and after --------------------------------------------------------------------


def _shifted_type(a: Arguments) -> DataType:
    return a.types[0]


def _shifted(function: Callable[..., Column]) -> Callable[[Arguments, Aggregated], Column]:
    def build(a: Arguments, over: Aggregated) -> Column:
        if over.window is None:
            raise a.fail("it needs an OVER window")
        distance = int(a.constant(1)) if len(a) > 1 else 1
        shifted = over(function(F.struct(a[0].alias("value")), distance))
        value = shifted.getField("value")
        if len(a) < 3:
            return value
        return F.when(shifted.isNull(), a.as_type(2, a.types[0])).otherwise(value)

    return build


_define(
    "lag LAG", "any, int?, any?", _shifted_type, _shifted(F.lag),
    "The value n rows before the current row, by default 1 row. A third argument is the value if "
    "there is no such row.",
)  # fmt: skip
_define(
    "lead LEAD", "any, int?, any?", _shifted_type, _shifted(F.lead),
    "The value n rows after the current row, by default 1 row. A third argument is the value if "
    "there is no such row.",
)  # fmt: skip
