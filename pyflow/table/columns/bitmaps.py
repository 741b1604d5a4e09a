"""Bitmaps: in Spark the arrays of their values, each once, in their order as unsigned numbers."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from pyflow.table.columns.python_builtins import in_python
from pyflow.table.runtime.builtins import bitmaps
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import BitmapType

_SIGN = -(1 << 31)
_UNSIGNED = (1 << 32) - 1


def of_values(values: Column) -> Column:
    """Return the bitmap of an array of INT, in which values may be null and there twice."""
    return _ordered(F.array_distinct(F.array_compact(values)))


def _ordered(values: Column) -> Column:
    """Return an array in the order of unsigned numbers: with the other sign they are sorted."""

    def turned(array: Column) -> Column:
        return F.transform(array, lambda value: value.bitwiseXOR(F.lit(_SIGN)))

    return turned(F.sort_array(turned(values)))


def intersection(left: Column, right: Column) -> Column:
    """Return the bitmap of the values that are in both."""
    return F.array_intersect(left, right)


def difference(left: Column, right: Column) -> Column:
    """Return the bitmap of the values that are in the first alone."""
    return F.array_except(left, right)


def union(left: Column, right: Column) -> Column:
    """Return the bitmap of the values that are in one or both."""
    return _ordered(F.array_union(left, right))


def symmetric_difference(left: Column, right: Column) -> Column:
    """Return the bitmap of the values that are in one of both alone."""
    return _ordered(F.concat(F.array_except(left, right), F.array_except(right, left)))


def cardinality(bitmap: Column) -> Column:
    """Return the number of values."""
    return F.array_size(bitmap).cast("bigint")


def as_text(bitmap: Column) -> Column:
    """Return the values as unsigned numbers in a string."""
    texts = F.transform(
        bitmap,
        lambda value: value.cast("bigint").bitwiseAND(F.lit(_UNSIGNED)).cast("string"),
    )
    return F.concat(F.lit("{"), F.array_join(texts, ","), F.lit("}"))


def to_bytes(bitmap: Column) -> Column:
    """Return the bytes in which RoaringBitmap keeps the values."""
    return in_python(bitmaps.to_bytes, DataTypes.BYTES())(bitmap)


def of_bytes(serialized: Column) -> Column:
    """Return the bitmap that RoaringBitmap keeps in bytes."""
    return in_python(bitmaps.of_bytes, BitmapType())(serialized)
