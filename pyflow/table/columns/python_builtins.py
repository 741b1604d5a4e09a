"""Calls of the built-in functions that are written in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from pyflow.types.logical_types import DataType
from pyflow.types.spark_types import to_spark


def in_python(function: Callable[..., Any], result: DataType) -> Callable[..., Column]:
    """Return what makes the column of a function of `pyflow.table.runtime.builtins`."""
    made: Callable[..., Column] = F.udf(function, to_spark(result), useArrow=False)
    return made
