"""Rows of Spark that the program takes one by one, with the errors that it would see of all."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyflow.session import driver_has_plugin

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame
    from pyspark.sql import Row as SparkRow

__all__ = ["local_rows"]


def local_rows(frame: DataFrame) -> Iterator[SparkRow]:
    """Yield the rows of a frame, a partition in memory at a time.

    Raises
    ------
    PySparkException
        As ``collect()`` raises it; PySpark's iterator alone would show the thread of the JVM that
        waited for the rows.
    """
    if not hasattr(frame, "_jdf"):
        # Spark Connect raises the errors of its server as they are.
        yield from frame.toLocalIterator()
        return
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

    context = frame.sparkSession.sparkContext
    tag = f"rows-{uuid.uuid4()}"
    context.addJobTag(tag)
    try:
        rows = frame.toLocalIterator()
    finally:
        context.removeJobTag(tag)
    try:
        yield from rows
    except Py4JJavaError as error:
        known = _known(error.java_exception, frame.sparkSession)
        if known is None:
            raise
        raise known from None
    finally:
        _drop_jobs(context, tag)


def _drop_jobs(context: SparkContext, tag: str) -> None:
    """Have the driver drop what ran for the rows; without the plugin's jar it keeps the plans."""
    from py4j.protocol import Py4JError

    jvm: Any = context._jvm
    of_jvm: Any = context._jsc
    # A JVM that is gone keeps nothing, and the rows have told of it.
    with contextlib.suppress(Py4JError, OSError):
        if of_jvm is not None and driver_has_plugin():
            jvm.org.apache.spark.sql.pyflow.EndedQueries.dropJobs(of_jvm.sc(), tag)


def _known(exception: Any, spark: Any) -> PySparkException | None:
    """The first of an exception of the JVM and its causes that PySpark has a class for."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    while exception is not None:
        try:
            # PySpark gives what a call of the JVM throws the class that it has for it.
            spark._jvm.scala.util.Failure(exception).get()
        except PySparkException as known:
            return known
        except Py4JJavaError:
            exception = exception.getCause()
    return None
