"""Timers of a processing time, and how the driver learns when the next one is due.

Spark runs a batch when rows have come, whatever timers there are. So each task of a batch reports
the earliest timer that the batch has not reached. An accumulator of PySpark's takes it to the
Python of the driver, which tells the query's ``io.pyflow.connectors.TickSource``, or without the
plugin that of `ticks`: a source without rows, which has a batch run then.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from pyspark import Accumulator

__all__ = ["NO_TIMER", "ReportedTimers", "TimerReports", "report_timer"]

#: The time of a timer that there is not, in milliseconds.
NO_TIMER = (1 << 63) - 1

# Later than any timer. Spark adds to it.
_FAR_TIME = 1 << 62

# What Spark tells the tasks of a query.
_QUERY = "sql.streaming.queryId"
_BATCH = "streaming.sql.batchId"


class TimerReports:
    """What PySpark does with values of the accumulator; an ``AccumulatorParam``."""

    def zero(self, value: Any) -> list[Any]:
        """Return a value without reports."""
        return []

    def addInPlace(self, value1: list[Any], value2: Any) -> list[Any]:  # noqa: N802
        """Keep a report until the task has ended; on the driver, tell the JVM those of a task."""
        if isinstance(value2, tuple):
            value1.append(value2)
        elif value2:
            from pyspark import SparkContext

            from pyflow.session.plugin import driver_has_plugin
            from pyflow.streaming.runtime.ticks import report

            jvm: Any = SparkContext._jvm
            has_plugin = driver_has_plugin()
            for query, batch, time in value2:
                report(query, batch, time)
                if has_plugin:
                    jvm.io.pyflow.connectors.TickSource.report(query, batch, time)
        return value1


def report_timer(reports: Accumulator[Any], time: int) -> None:
    """Report the earliest timer of this task that its batch has not reached.

    Parameters
    ----------
    reports : Accumulator
    time : int
        In milliseconds; `NO_TIMER` if there is none.
    """
    from pyspark import TaskContext

    context = TaskContext.get()
    query = None if context is None else context.getLocalProperty(_QUERY)
    # Bounded rows are no query's.
    if context is not None and query is not None:
        reports.add((query, int(cast(str, context.getLocalProperty(_BATCH))), time))


class ReportedTimers:
    """A handle of a processor that reports its timers at the end of a task.

    In thread mode the store can be read no more at the end. What was there in the beginning and
    has been registered since is known then; of timers that have been deleted it may report one.

    Parameters
    ----------
    handle : StatefulProcessorHandle
    reports : Accumulator
    """

    def __init__(self, handle: Any, reports: Accumulator[Any]) -> None:
        self._handle = handle
        self._reports = reports
        self._in_thread = hasattr(handle, "earliestTimer")
        self._earliest = (handle.earliestTimer() if self._in_thread else None) or NO_TIMER

    def registerTimer(self, expiryTimestampMs: int) -> None:  # noqa: N802, N803
        """Register a timer of the key."""
        self._handle.registerTimer(expiryTimestampMs)
        self._earliest = min(self._earliest, expiryTimestampMs)

    def deleteTimer(self, expiryTimestampMs: int) -> None:  # noqa: N802, N803
        """Delete a timer of the key."""
        self._handle.deleteTimer(expiryTimestampMs)

    def report(self) -> None:
        """Report the earliest timer."""
        earliest = self._earliest if self._in_thread else _earliest_timer(self._handle)
        report_timer(self._reports, earliest)


def _earliest_timer(handle: Any) -> int:
    """Return the earliest timer in the store, at the end of a task in a worker process."""
    client = handle._statefulProcessorApiClient
    state = client.handle_state
    states = type(state)
    if state == states.PRE_INIT:
        return NO_TIMER
    # Later Spark does not let look for timers.
    client.set_handle_state(states.DATA_PROCESSED)
    try:
        _, time, _ = client.get_expiry_timers_iterator(str(uuid.uuid4()), _FAR_TIME)
    except StopIteration:
        return NO_TIMER
    finally:
        client.set_handle_state(state)
    return int(time)
