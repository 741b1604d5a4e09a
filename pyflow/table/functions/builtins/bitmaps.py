"""Bitmaps: sets of unsigned numbers of 32 bits."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from pyflow.table.columns import bitmaps
from pyflow.table.functions.builtins.definition import (
    BIGINT,
    BYTES,
    INT,
    STRING,
    Aggregated,
    Arguments,
    TypeRule,
    define,
)
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import (
    ArrayType,
    BigIntType,
    BitmapType,
    DataType,
    IntegralType,
    NullType,
)
from pyflow.types.spark_types import to_spark

_BITMAP = BitmapType()
_INTS = DataTypes.ARRAY(INT)

# --- Of one row -------------------------------------------------------------------------------


def _of_ints(result: DataType) -> TypeRule:
    """Return the rule that the result is of a type if the argument has values of a bitmap."""

    def rule(a: Arguments) -> DataType:
        given = a.types[0]
        value = given.element_type if isinstance(given, ArrayType) else given
        if isinstance(value, BigIntType) or not isinstance(value, (IntegralType, NullType)):
            raise a.fail("the values of a bitmap are INT; cast them")
        return result

    return rule


define(
    "BITMAP_BUILD BITMAP_BUILD", "array", _of_ints(_BITMAP),
    lambda a: bitmaps.of_values(a.as_type(0, _INTS)), "The bitmap of an array of INT.",
)  # fmt: skip
define(
    "BITMAP_FROM_BYTES BITMAP_FROM_BYTES", "bytes", _BITMAP, lambda a: bitmaps.of_bytes(a[0]),
    "The bitmap of bytes in the portable format of RoaringBitmap; others fail the query.",
    difference="Bytes whose values are not in order fail the query, too.",
)  # fmt: skip
define(
    "BITMAP_TO_BYTES BITMAP_TO_BYTES", "bitmap", BYTES, lambda a: bitmaps.to_bytes(a[0]),
    "The bitmap in the portable format of RoaringBitmap.",
)  # fmt: skip
define(
    "BITMAP_TO_ARRAY BITMAP_TO_ARRAY", "bitmap", _INTS, lambda a: a[0],
    "The array of the values as INT, in their order as unsigned numbers.",
)  # fmt: skip
define(
    "BITMAP_TO_STRING BITMAP_TO_STRING", "bitmap", STRING, lambda a: bitmaps.as_text(a[0]),
    "The values as unsigned numbers in order, as `{1,2,4294967295}`.",
    difference="Flink leaves out the values behind the first half a million characters.",
)  # fmt: skip
define(
    "BITMAP_CARDINALITY BITMAP_CARDINALITY", "bitmap", BIGINT,
    lambda a: bitmaps.cardinality(a[0]), "The number of values.",
)  # fmt: skip


def _of_two(combined: Callable[[Column, Column], Column]) -> Callable[[Arguments], Column]:
    return lambda a: combined(a[0], a[1])


for _name, _combined, _values in (
    ("AND", bitmaps.intersection, "in both"),
    ("OR", bitmaps.union, "in one or both"),
    ("XOR", bitmaps.symmetric_difference, "in exactly one of both"),
    ("ANDNOT", bitmaps.difference, "in the first and not in the second"),
):
    define(
        f"BITMAP_{_name} BITMAP_{_name}", "bitmap, bitmap", _BITMAP, _of_two(_combined),
        f"The bitmap of the values that are {_values}.",
    )  # fmt: skip

# --- Aggregates -------------------------------------------------------------------------------

_Build = Callable[[Arguments, Aggregated], Column]


def _of_rows(a: Arguments, over: Aggregated) -> Column:
    values = over(F.collect_set(a[0]))
    return F.when(F.array_size(values) > 0, bitmaps.of_values(values))


def _union(a: Arguments, over: Aggregated) -> Column:
    found = over(F.collect_set(a[0]))
    return F.when(F.array_size(found) > 0, bitmaps.of_values(F.flatten(found)))


def _intersection(a: Arguments, over: Aggregated) -> Column:
    found = over(F.collect_set(a[0]))
    return F.aggregate(found, F.get(found, F.lit(0)), bitmaps.intersection)


def _difference(a: Arguments, over: Aggregated) -> Column:
    found = over(F.collect_set(a[0]) if over.distinct else F.collect_list(a[0]))
    none = F.array().cast(to_spark(_BITMAP))
    return F.when(F.array_size(found) > 0, F.aggregate(found, none, bitmaps.symmetric_difference))


def _any(result: DataType) -> TypeRule:
    return lambda a: result


def _aggregated(build: _Build) -> Callable[[Arguments], Column]:
    return lambda a: build(a, a.scope.aggregated(a.distinct))


def _counted(build: _Build) -> Callable[[Arguments], Column]:
    return lambda a: bitmaps.cardinality(_aggregated(build)(a))


for _name, _parameter, _rule, _build, _values in (
    ("BUILD", "int", _of_ints, _of_rows, "the values"),
    ("OR", "bitmap", _any, _union, "the values that are in one of the bitmaps"),
    ("AND", "bitmap", _any, _intersection, "the values that are in all bitmaps"),
    ("XOR", "bitmap", _any, _difference, "the values that are in an odd number of bitmaps"),
):
    define(
        f"BITMAP_{_name}_AGG BITMAP_{_name}_AGG", _parameter, _rule(_BITMAP), _aggregated(_build),
        f"The bitmap of {_values}; null if there are only nulls.", nulls="always", aggregate=True,
    )  # fmt: skip
    define(
        f"BITMAP_{_name}_CARDINALITY_AGG BITMAP_{_name}_CARDINALITY_AGG", _parameter,
        _rule(BIGINT), _counted(_build),
        f"The number of {_values}; null if there are only nulls.", nulls="always", aggregate=True,
    )  # fmt: skip
