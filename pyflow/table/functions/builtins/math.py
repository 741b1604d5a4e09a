"""Numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from pyflow.table.columns import arithmetic
from pyflow.table.columns.arithmetic import absolute, is_floating, negated, wrapped
from pyflow.table.columns.conversion import micros_of_interval
from pyflow.table.columns.python_builtins import in_python
from pyflow.table.columns.time_values import in_utc, micros_of_local
from pyflow.table.columns.times_of_day import micros_of_time, time_of_micros
from pyflow.table.columns.type_rules import INTERVALS, STRINGS
from pyflow.table.columns.type_rules import arithmetic as arithmetic_type
from pyflow.table.functions.builtins.definition import (
    BYTES,
    DOUBLE,
    INT,
    STRING,
    Arguments,
    argument,
    define,
    require_common,
)
from pyflow.table.runtime.builtins import numbers
from pyflow.types.logical_types import (
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    LocalZonedTimestampType,
    NumericType,
    TimeType,
    YearMonthIntervalType,
)
from pyflow.types.spark_types import to_spark

# --- Operators --------------------------------------------------------------------------------


def _operator_type(a: Arguments) -> DataType:
    left, right = a.types
    name = a.function.name
    if isinstance(left, NumericType) and isinstance(right, NumericType):
        found = arithmetic_type(name, left, right)
        assert found is not None
        return found
    if name == "plus" and (isinstance(left, STRINGS) or isinstance(right, STRINGS)):
        both = isinstance(left, STRINGS) and isinstance(right, STRINGS)
        return require_common(a, a.types) if both else STRING
    if name in ("plus", "minus"):
        if isinstance(right, INTERVALS):
            if not isinstance(left, INTERVALS) or type(left) is type(right):
                return left
        elif isinstance(left, INTERVALS) and name == "plus":
            return right
    if name == "times" and isinstance(left, INTERVALS) != isinstance(right, INTERVALS):
        return left if isinstance(left, INTERVALS) else right
    raise a.fail("there is no such operation of these types; cast them")


def _operation(a: Arguments) -> Column:
    (left, right), (left_type, right_type) = a.columns, a.types
    name = a.function.name
    if isinstance(a.result, NumericType):
        return arithmetic.compute(name, left, left_type, right, right_type, a.result)
    if isinstance(a.result, STRINGS):
        return F.concat(a.as_type(0, STRING), a.as_type(1, STRING))
    if name == "times":
        return (left * right).cast(to_spark(a.result))
    if isinstance(left_type, INTERVALS) and not isinstance(right_type, INTERVALS):
        left, left_type, right, right_type = right, right_type, left, left_type
    return moved(left, left_type, right if name == "plus" else -right, right_type)


def moved(time: Column, time_type: DataType, interval: Column, interval_type: DataType) -> Column:
    """Return a time that is later by an interval."""
    if isinstance(time_type, DateType):
        if isinstance(interval_type, YearMonthIntervalType):
            return (time + interval).cast("date")
        micros = F.call_function("div", micros_of_interval(interval), F.lit(86_400_000_000))
        return F.date_add(time, micros.cast("int"))
    if isinstance(time_type, TimeType):
        if not isinstance(interval_type, DayTimeIntervalType):
            return time
        micros = F.pmod(micros_of_time(time) + micros_of_interval(interval), F.lit(86_400_000_000))
        return time_of_micros(micros).cast(to_spark(time_type))
    if isinstance(time_type, LocalZonedTimestampType):
        # In UTC: a day has 24 hours, and months are those that clocks there show.
        if isinstance(interval_type, DayTimeIntervalType):
            return F.timestamp_micros(F.unix_micros(time) + micros_of_interval(interval))
        return F.timestamp_micros(micros_of_local(in_utc(time) + interval))
    return (time + interval).cast(to_spark(time_type))


_OVERFLOW = (
    "Whole numbers that overflow wrap around; DECIMALs that overflow become null. A string is "
    "concatenated."
)
_FLOATS = (
    "FLOAT with DOUBLE is computed as DOUBLE; Flink computes as FLOAT where that is on the left."
)
define(
    "plus +", "any, any", _operator_type, _operation, f"The sum. {_OVERFLOW}",
    difference=f"{_FLOATS} A string added to null is null; Flink takes null as an empty string.",
)  # fmt: skip
define("minus -", "any, any", _operator_type, _operation, "The difference.", difference=_FLOATS)
define("times *", "any, any", _operator_type, _operation, "The product.", difference=_FLOATS)
define(
    "divide /", "numeric, numeric", _operator_type, _operation,
    "The quotient, without its fraction where both are whole numbers. "
    "Dividing a whole number or a DECIMAL by 0 fails the query.",
)  # fmt: skip
define(
    "mod MOD", "exact, exact", _operator_type, _operation,
    "The remainder of a division, with the sign of the dividend.",
)  # fmt: skip
define(
    "minusPrefix", "numeric|interval", argument(0),
    lambda a: negated(a[0], a.types[0]), "The negated number.",
)  # fmt: skip

# --- Functions of DOUBLE ----------------------------------------------------------------------

_LAST_DIGIT = "The last digit may differ: Spark computes with Java's StrictMath, Flink with Math."


def _define_double(
    names: str, build: Callable[[Column], Column], summary: str, difference: str = _LAST_DIGIT
) -> None:
    define(names, "double", DOUBLE, lambda a: build(a[0]), summary, difference=difference)


def _logarithm(value: Column, function: Callable[[Column], Column] = F.log) -> Column:
    """Return a logarithm, also of 0 and of negative numbers, for which Spark's is null."""
    return (
        F.when(value > 0, function(value))
        .when(value == 0, F.lit(-math.inf))
        .when(value < 0, F.lit(math.nan))
    )


_define_double("exp EXP", F.exp, "The number e to the power of a number.")
_define_double("log10 LOG10", lambda x: _logarithm(x, F.log10), "The logarithm to base 10.")
_define_double("log2 LOG2", lambda x: _logarithm(x) / math.log(2), "The logarithm to base 2.")
_define_double("ln LN", _logarithm, "The natural logarithm.")
_define_double("sqrt SQRT", F.sqrt, "The square root.", "")
_define_double("sin SIN", F.sin, "The sine of an angle in radians.")
_define_double("sinh SINH", F.sinh, "The hyperbolic sine.")
_define_double("cos COS", F.cos, "The cosine of an angle in radians.")
_define_double("cosh COSH", F.cosh, "The hyperbolic cosine.")
_define_double("tan TAN", F.tan, "The tangent of an angle in radians.")
_define_double("tanh TANH", F.tanh, "The hyperbolic tangent.")
_define_double("cot COT", F.cot, "The cotangent of an angle in radians.")
_define_double("asin ASIN", F.asin, "The arc sine, in radians.")
_define_double("acos ACOS", F.acos, "The arc cosine, in radians.")
_define_double("atan ATAN", F.atan, "The arc tangent, in radians.")
_define_double("degrees DEGREES", F.degrees, "An angle in radians, in degrees.", "")
_define_double("radians RADIANS", F.radians, "An angle in degrees, in radians.", "")
define(
    "log LOG", "double, double?", DOUBLE,
    lambda a: _logarithm(a[0]) if len(a) == 1
    else arithmetic.compute(
        "divide", _logarithm(a[1]), DOUBLE, _logarithm(a[0]), DOUBLE, DOUBLE
    ),
    "The natural logarithm; of two arguments, that of the second to the base of the first.",
    difference=_LAST_DIGIT,
)  # fmt: skip
define(
    "power POWER", "double, double", DOUBLE, lambda a: F.pow(a[0], a[1]),
    "The first number to the power of the second.", difference=_LAST_DIGIT,
)  # fmt: skip
define(
    "atan2 ATAN2", "double, double", DOUBLE, lambda a: F.atan2(a[0], a[1]),
    "The angle of the point (second, first), in radians.", difference=_LAST_DIGIT,
)  # fmt: skip
define("pi PI", "", DOUBLE, lambda a: F.lit(math.pi), "The number pi.", nulls="never")
define("e E", "", DOUBLE, lambda a: F.lit(math.e), "The number e.", nulls="never")

# --- Rounding ---------------------------------------------------------------------------------


def whole_type(a: Arguments) -> DataType:
    """Return the type of a number without its fraction."""
    data_type = a.types[0]
    if isinstance(data_type, DecimalType):
        return DecimalType(data_type.precision, 0)
    return data_type


def _floor(value: Column, data_type: DataType) -> Column:
    if isinstance(data_type, IntegralType):
        return value
    if isinstance(data_type, DecimalType):
        return F.floor(value)
    near = F.rint(value.cast("double"))
    return F.when(near <= value, near).otherwise(near - 1).cast(to_spark(data_type))


def _ceil(value: Column, data_type: DataType) -> Column:
    if isinstance(data_type, IntegralType):
        return value
    if isinstance(data_type, DecimalType):
        return F.ceil(value)
    near = F.rint(value.cast("double"))
    # The result between -1 and 0 is -0.0.
    return F.when(near >= value, near).otherwise(-(-near - 1)).cast(to_spark(data_type))


def floor_number(a: Arguments) -> Column:
    """Return the greatest whole number that is not greater."""
    return _floor(a[0], a.types[0]).cast(to_spark(a.result))


def ceil_number(a: Arguments) -> Column:
    """Return the least whole number that is not less."""
    return _ceil(a[0], a.types[0]).cast(to_spark(a.result))


def _rounded_type(a: Arguments) -> DataType:
    data_type = a.types[0]
    if not isinstance(data_type, DecimalType):
        return data_type
    if len(a) > 1 and not a.is_constant(1):
        return data_type
    places = int(a.constant(1) or 0) if len(a) > 1 else 0
    if places >= data_type.scale:
        return data_type
    whole = data_type.precision - data_type.scale + 1
    scale = max(places, 0)
    return DecimalType(min(max(whole + scale, 1), 38), scale)


def _rounded(a: Arguments) -> Column:
    data_type = a.types[0]
    if len(a) > 1 and a.constant(1) is None:
        return F.lit(None).cast(to_spark(a.result))
    places = int(a.constant(1)) if len(a) > 1 else 0
    if isinstance(data_type, IntegralType):
        exact = F.round(a[0].cast("decimal(20,0)"), places)
        return wrapped(arithmetic.wrapped_decimal(exact), data_type) if places < 0 else a[0]
    return F.round(a[0], places).cast(to_spark(a.result))


define(
    "round ROUND", "numeric, int?", _rounded_type, _rounded,
    "The number, rounded half away from zero to n decimal places, by default 0. "
    "A negative n rounds to the left of the decimal point.",
    difference="The number of decimal places must be a literal.",
)  # fmt: skip


def _truncated(a: Arguments) -> Column:
    data_type = a.types[0]
    places = a[1] if len(a) > 1 else F.lit(0)
    if isinstance(data_type, (FloatType, DoubleType)):
        cut = in_python(numbers.truncated, DOUBLE)(a[0].cast("double"), places)
        return cut.cast(to_spark(data_type))
    exact = data_type if isinstance(data_type, DecimalType) else DecimalType(20, 0)
    value = absolute(a[0].cast(to_spark(exact)), exact)
    number = a.constant(1) if len(a) > 1 else 0
    if number is None:
        return F.lit(None).cast(to_spark(a.result))
    cut = F.call_function("floor", value, F.lit(int(number)))
    if isinstance(data_type, IntegralType):
        return wrapped(F.when(a[0] < 0, -cut).otherwise(cut).cast("bigint"), data_type)
    cut = cut.cast(to_spark(a.result))
    return F.when(a[0] < 0, negated(cut, a.result)).otherwise(cut)


define(
    "truncate TRUNCATE", "numeric, int?", _rounded_type, _truncated,
    "The number, truncated to n decimal places, by default 0. "
    "A negative n truncates to the left of the decimal point.",
    difference="The number of decimal places must be a literal, except for FLOAT and DOUBLE.",
)  # fmt: skip
define("abs ABS", "numeric", argument(0), lambda a: absolute(a[0], a.types[0]),
       "The absolute value.")  # fmt: skip


def _sign(a: Arguments) -> Column:
    value, spark = a[0], to_spark(a.types[0])
    if is_floating(a.types[0]):
        return F.signum(value).cast(spark)
    return F.when(value > 0, F.lit(1)).when(value < 0, -1).when(value == 0, 0).cast(spark)


define("sign SIGN", "numeric", argument(0), _sign, "1, 0 or -1, in the type of the number.")

# --- Other forms of numbers -------------------------------------------------------------------

define("bin BIN", "bigint", STRING, lambda a: F.bin(a[0]), "The binary digits of a number.")
define(
    "hex HEX", "bigint|string", STRING, lambda a: F.hex(a[0]),
    "The hexadecimal digits of a number, or of the bytes of a string in UTF-8.",
)  # fmt: skip
define(
    "UNHEX UNHEX", "string", BYTES, lambda a: F.unhex(a[0]),
    "The bytes that hexadecimal digits stand for; null if there are other characters.",
    nulls="always",
)  # fmt: skip

# --- Random numbers ---------------------------------------------------------------------------

_RANDOM = (
    "A seed gives other numbers than in Flink, and a row gets the same ones again when a failed "
    "task is retried."
)


def _random(a: Arguments) -> Column:
    return F.rand() if len(a) == 0 else F.rand(int(a.constant(0)))


def _random_whole(a: Arguments) -> Column:
    bound = a[-1]
    number = F.rand() if len(a) == 1 else F.rand(int(a.constant(0)))
    return F.floor(number * bound).cast("int")


define(
    "rand RAND", "int?", DOUBLE, _random,
    "A random number from 0 (inclusive) to 1 (exclusive). An argument is the seed.",
    difference=_RANDOM,
)  # fmt: skip
define(
    "randInteger RAND_INTEGER", "int, int?", INT, _random_whole,
    "A random whole number from 0 (inclusive) to the last argument (exclusive). The first of two "
    "arguments is the seed.",
    difference=_RANDOM,
)  # fmt: skip
