"""Times of day in Spark's columns, also where Spark has no function or cast for them yet."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from pyflow.util.spark_version import SPARK

__all__ = ["micros_of_time", "time_of_local", "time_of_micros"]

_HOUR, _MINUTE, _SECOND = 3_600_000_000, 60_000_000, 1_000_000


def time_of_local(column: Column, precision: int = 6) -> Column:
    """Return the ``TIME`` of a ``TIMESTAMP_NTZ``."""
    if SPARK < (4, 3):
        column = F.make_time(F.hour(column), F.minute(column), F.extract(F.lit("SECOND"), column))
    return column.cast(f"time({precision})")


def micros_of_time(column: Column) -> Column:
    """Return the microseconds since midnight of a ``TIME``."""
    if SPARK >= (4, 2):
        return F.time_to_micros(column)
    second = (F.extract(F.lit("SECOND"), column) * _SECOND).cast("bigint")
    hour, minute = F.hour(column).cast("bigint"), F.minute(column).cast("bigint")
    return hour * _HOUR + minute * _MINUTE + second


def time_of_micros(micros: Column) -> Column:
    """Return the ``TIME`` of the microseconds since midnight."""
    if SPARK >= (4, 2):
        return F.time_from_micros(micros)
    second = F.pmod(micros, F.lit(_MINUTE)).cast("decimal(16,6)") / F.lit(_SECOND)
    return F.make_time(
        _divided(micros, _HOUR).cast("int"),
        F.pmod(_divided(micros, _MINUTE), F.lit(60)).cast("int"),
        second.cast("decimal(16,6)"),
    )


def _divided(micros: Column, unit: int) -> Column:
    return F.call_function("div", micros, F.lit(unit))
