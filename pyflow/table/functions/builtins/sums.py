"""Sums of columns: whole numbers wrap around, and DECIMALs of too many digits become null."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from pyflow.table.columns.arithmetic import compute, wrapped_decimal
from pyflow.table.columns.python_builtins import in_python
from pyflow.table.functions.builtins.definition import BIGINT, DOUBLE, Aggregated
from pyflow.table.runtime.builtins import numbers
from pyflow.types.logical_types import (
    MAX_DECIMAL_PRECISION,
    BigIntType,
    DataType,
    DecimalType,
    IntegralType,
)
from pyflow.types.spark_types import to_spark

# The sum of numbers with fewer digits always fits into the type of Spark's sum.
_SHORT = MAX_DECIMAL_PRECISION - 10


def sum_of(value: Column, data_type: DataType, over: Aggregated) -> Column:
    """Return the sum of numbers: a BIGINT of whole ones, a DECIMAL of 38 digits, or a DOUBLE.

    It is null where there is no value, and where a DECIMAL has too many digits.
    """
    result = sum_type(data_type)
    if over.distinct:
        return _of_different(value, data_type, over).cast(to_spark(result))
    if isinstance(data_type, BigIntType):
        return _of_longs(value, over)
    if isinstance(data_type, DecimalType):
        return over(F.try_sum(value)).cast(to_spark(result))
    return over(F.sum(value.cast(to_spark(result))))


def sum_type(data_type: DataType) -> DataType:
    """Return the type of the sum of numbers of a type."""
    if isinstance(data_type, DecimalType):
        return DecimalType(MAX_DECIMAL_PRECISION, data_type.scale)
    return BIGINT if isinstance(data_type, IntegralType) else DOUBLE


def _of_longs(value: Column, over: Aggregated) -> Column:
    """Return the lowest 64 bits of a sum. Those of halves of the numbers do not overflow."""
    upper = over(F.sum(F.shiftright(value, 32)))
    lower = over(F.sum(value.bitwiseAND(F.lit(0xFFFFFFFF))))
    return compute("plus", F.shiftleft(upper, 32), BIGINT, lower, BIGINT, BIGINT)


def _of_different(value: Column, data_type: DataType, over: Aggregated) -> Column:
    is_long = isinstance(data_type, BigIntType)
    if over.window is not None or _is_wide(data_type):
        return _of_collected(over(F.collect_set(value)), data_type)
    if is_long:
        return wrapped_decimal(F.sum_distinct(value.cast("decimal(20,0)")))
    if isinstance(data_type, DecimalType):
        return F.sum_distinct(value)
    return F.sum_distinct(value.cast(to_spark(sum_type(data_type))))


def _is_wide(data_type: DataType) -> bool:
    return isinstance(data_type, DecimalType) and data_type.precision > _SHORT


def _of_collected(values: Column, data_type: DataType) -> Column:
    """Return the sum of the numbers in an array, which Spark has no function for."""
    result = sum_type(data_type)
    if isinstance(result, DecimalType):
        whole = MAX_DECIMAL_PRECISION - result.scale
        return in_python(numbers.sum_of_decimals, result)(values, F.lit(whole))
    function = numbers.sum_of_longs if isinstance(result, IntegralType) else numbers.sum_of_doubles
    return in_python(function, result)(values.cast(f"array<{to_spark(result).simpleString()}>"))
