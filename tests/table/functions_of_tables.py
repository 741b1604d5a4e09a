"""What the tests of functions share: calls over frames, in both modes."""

from __future__ import annotations

from pyspark.sql import functions as F

from pyflow.table.functions.settings import FunctionSettings
from pyflow.table.types import from_spark


def types_of(frame, columns):
    return [from_spark(frame.schema[column].dataType) for column in columns]


def call(function, frame, *columns, **options):
    """A call of a scalar function over columns."""
    context = FunctionSettings(frame.sparkSession, **options)
    return function.column(
        [F.col(each) for each in columns], types_of(frame, columns), context, list(columns)
    )


def aggregated(function, frame, *columns, **how):
    """A call of an aggregate function over columns."""
    context = FunctionSettings(frame.sparkSession)
    arguments = [F.col(each) for each in columns]
    return function.aggregate(arguments, types_of(frame, columns), context, list(columns), **how)


def lateral(function, frame, *columns, names, outer=False, **options):
    context = FunctionSettings(frame.sparkSession, **options)
    arguments = [F.col(each) for each in columns]
    return function.lateral(frame, arguments, types_of(frame, columns), names, outer, context)
