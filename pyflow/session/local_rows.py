"""Rows of a Spark frame, read one by one, with the same errors as ``collect()`` raises."""

from __future__ import annotations

import contextlib
import uuid
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyflow.session.plugin import driver_has_plugin

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame
    from pyspark.sql import Row as SparkRow

__all__ = ["local_rows"]

# The contexts and tags of iterators that have ended.
_ended: deque[tuple[SparkContext, str]] = deque()


def local_rows(frame: DataFrame, prefetches: bool = False) -> Iterator[SparkRow]:
    """Yield the rows of a frame, a partition in memory at a time.

    Parameters
    ----------
    frame : DataFrame
    prefetches : bool
        Whether the next partition is computed meanwhile.

    Raises
    ------
    PySparkException
        As ``collect()`` raises it; PySpark's iterator alone would show the thread of the JVM that
        waited for the rows.
    """
    if not hasattr(frame, "_jdf"):
        # Spark Connect raises the errors of its server as they are.
        yield from frame.toLocalIterator(prefetches)
        return
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

    _drop_jobs()
    context = frame.sparkSession.sparkContext
    tag = f"rows-{uuid.uuid4()}"
    context.addJobTag(tag)
    try:
        rows = frame.toLocalIterator(prefetches)
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
        # An iterator may end where Python collects garbage: in a call of the JVM, and at its end.
        _ended.append((context, tag))
    _drop_jobs()


def _drop_jobs() -> None:
    """Have the driver drop what ran for rows; without the plugin's jar it keeps the plans."""
    from py4j.protocol import Py4JError

    while True:
        try:
            context, tag = _ended.popleft()
        except IndexError:
            return
        jvm: Any = context._jvm
        of_jvm: Any = context._jsc
        # A JVM that is gone keeps nothing.
        with contextlib.suppress(Py4JError, OSError):
            if of_jvm is not None and driver_has_plugin():
                jvm.org.apache.spark.sql.pyflow.EndedQueries.dropJobs(of_jvm.sc(), tag)


def _known(exception: Any, spark: Any) -> PySparkException | None:
    """Return the first of a JVM exception and its causes for which PySpark has a class."""
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
