"""Arithmetic of numbers as the JVM does it: whole numbers wrap around, decimals become null."""

from __future__ import annotations

from decimal import Decimal

from pyspark.sql import Column
from pyspark.sql import functions as F

from pyflow.table.columns.type_rules import decimal_of
from pyflow.types.logical_types import (
    BigIntType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
)
from pyflow.types.spark_types import to_spark

_TRY = {"plus": F.try_add, "minus": F.try_subtract, "times": F.try_multiply, "mod": F.try_mod}
_EXACT = "decimal(20,0)"
# Of longer numbers Spark's minus rounds the last digits.
_EXACT_DIGITS = 34


def wrapped(value: Column, data_type: IntegralType) -> Column:
    """Return the lowest bits of a BIGINT as a number of a smaller type."""
    surplus = 64 - data_type.BITS
    if not surplus:
        return value
    return F.shiftright(F.shiftleft(value, surplus), surplus).cast(to_spark(data_type))


def wrapped_decimal(value: Column) -> Column:
    """Return the lowest 64 bits of a whole DECIMAL as a BIGINT."""
    rest = F.pmod(value, F.lit(Decimal(1 << 64)))
    return F.when(rest >= Decimal(1 << 63), rest - Decimal(1 << 64)).otherwise(rest).cast("bigint")


def compute(
    operator: str,
    left: Column,
    left_type: DataType,
    right: Column,
    right_type: DataType,
    result: DataType,
) -> Column:
    """Return ``plus``, ``minus``, ``times``, ``divide`` or ``mod`` of two numbers."""
    if isinstance(result, IntegralType):
        if isinstance(left_type, DecimalType):
            exact = decimal_of(result)
            assert exact is not None
            rest = _decimal(operator, left, left_type, right, right_type, exact)
            return rest.cast(to_spark(result))
        return _whole(operator, left.cast("bigint"), right.cast("bigint"), result)
    if isinstance(result, DecimalType):
        return _decimal(operator, left, left_type, right, right_type, result)
    spark = to_spark(result)
    return _floating(operator, left.cast(spark), right.cast(spark)).cast(spark)


def negated(value: Column, data_type: DataType) -> Column:
    """Return the negative of a number."""
    if isinstance(data_type, IntegralType):
        return _whole("minus", F.lit(0).cast("bigint"), value.cast("bigint"), data_type)
    if isinstance(data_type, DecimalType) and data_type.precision > _EXACT_DIGITS:
        text = value.cast("string")
        other = F.when(value < 0, F.substring(text, 2, 100)).otherwise(F.concat(F.lit("-"), text))
        return other.cast(to_spark(data_type))
    return -value


def absolute(value: Column, data_type: DataType) -> Column:
    """Return a number without its sign."""
    if isinstance(data_type, (IntegralType, DecimalType)):
        return F.when(value < 0, negated(value, data_type)).otherwise(value)
    return F.abs(value)


def divided(left: Column, right: Column) -> Column:
    """Return the quotient of BIGINTs without its fraction; the divisor is neither 0 nor -1."""
    return F.call_function("div", left, right)


def _whole(operator: str, left: Column, right: Column, result: IntegralType) -> Column:
    if operator in ("divide", "mod"):
        no_divisor = _no_divisor(left, right, "/ by zero", "bigint")
        if operator == "mod":
            # Spark fails for the remainder of -1, which is 0.
            return wrapped(no_divisor.when(right == -1, left * 0).otherwise(left % right), result)
        negative = _wrapping("minus", F.lit(0).cast("bigint"), left)
        return wrapped(
            no_divisor.when(right == -1, negative).otherwise(divided(left, right)), result
        )
    if isinstance(result, BigIntType):
        return _wrapping(operator, left, right)
    operators = {"plus": left + right, "minus": left - right, "times": left * right}
    return wrapped(operators[operator], result)


def _no_divisor(left: Column, right: Column, error: str, spark_type: str) -> Column:
    """Return the error of a division by zero, to go on from; that of null is null."""
    is_error = left.isNotNull() & (right == 0)
    return F.when(is_error, F.raise_error(F.lit(error)).cast(spark_type))


def _wrapping(operator: str, left: Column, right: Column) -> Column:
    """Return a result of 64 bits; the exact one is only computed where that is null."""
    exact_left, exact_right = left.cast(_EXACT), right.cast(_EXACT)
    exact = {
        "plus": exact_left + exact_right,
        "minus": exact_left - exact_right,
        "times": exact_left * exact_right,
    }
    return F.coalesce(_TRY[operator](left, right), wrapped_decimal(exact[operator]))


def _decimal(
    operator: str,
    left: Column,
    left_type: DataType,
    right: Column,
    right_type: DataType,
    result: DecimalType,
) -> Column:
    one, other = decimal_of(left_type), decimal_of(right_type)
    assert one is not None
    assert other is not None
    left, right = left.cast(to_spark(one)), right.cast(to_spark(other))
    if operator in ("divide", "mod"):
        function = F.try_divide if operator == "divide" else F.try_mod
        by_zero = _no_divisor(left, right, "Division by zero", to_spark(result).simpleString())
        return by_zero.otherwise(function(left, right).try_cast(to_spark(result)))
    return _TRY[operator](left, right).try_cast(to_spark(result))


def _floating(operator: str, left: Column, right: Column) -> Column:
    if operator == "divide":
        infinite = F.when(
            (left < 0) != (right.cast("string") == "-0.0"), F.lit(float("-inf"))
        ).otherwise(F.lit(float("inf")))
        undefined = (left == 0) | F.isnan(left)
        by_zero = F.when(undefined, F.lit(float("nan"))).otherwise(infinite)
        return F.when(left.isNotNull() & (right == 0), by_zero).otherwise(left / right)
    return {"plus": left + right, "minus": left - right, "times": left * right}[operator]


def is_floating(data_type: DataType) -> bool:
    """Return whether numbers of a type are approximate."""
    return isinstance(data_type, (FloatType, DoubleType))
