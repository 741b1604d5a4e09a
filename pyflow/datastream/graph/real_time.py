"""Unbounded programs in Spark's real-time mode, which processes record by record.

A batch of Spark lasts as long as the interval of checkpoints says, and its records are processed as
they come. Spark allows one keyed stage there, sources that it can wait for, and one sink that takes
records: Kafka, or a function on executors.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pyspark
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from pyflow.connectors.connector import duration
from pyflow.datastream.connectors.kafka_sink import TopicSink
from pyflow.datastream.graph.driver_sinks import PrintSink
from pyflow.datastream.graph.transformations import SinkOf, SourceOf, Stateful
from pyflow.datastream.runtime.asynchronous import AsyncOperator
from pyflow.session.options import value_of
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column

    from pyflow.datastream.graph.components import Component
    from pyflow.datastream.graph.lowering import Lowered
    from pyflow.session.context import Context

__all__ = ["KEY", "RealTime"]

_logger = logging.getLogger(__name__)

#: Has unbounded programs run in real-time mode.
KEY = "pyflow.datastream.real-time"
_INTERVAL = "execution.checkpointing.interval"
_DEFAULT_MS = 300_000
_MIN = "spark.sql.streaming.realTimeMode.minBatchDuration"
_MIN_MS = 5_000


class RealTime:
    """How a program runs in real-time mode.

    Parameters
    ----------
    component
        What runs.
    context
        The session, and the settings.
    """

    def __init__(self, component: Component, context: Context) -> None:
        self._component = component
        self._context = context

    @staticmethod
    def is_wanted(context: Context) -> bool:
        """Return whether the program asks for it."""
        return bool(value_of(context.configuration, KEY))

    def settings(self) -> dict[str, str]:
        """Return the settings of the session that the query is started with."""
        # Spark knows no order of the watermarks of several stages in the one mode of output that it
        # has there. Those of data streams are their own.
        return {"spark.sql.streaming.unsupportedOperationCheck": "false"}

    def check(self, execution_mode: str) -> None:
        """Raise where the program cannot run record by record.

        Raises
        ------
        TableException
            With the name of the operator.
        """
        if "realTime" not in inspect.signature(DataStreamWriter.trigger).parameters:
            raise TableException(
                f"{KEY}: PySpark {pyspark.__version__} has no real-time mode. It came with 4.2."
            )
        if execution_mode == "process":
            raise TableException(
                f"{KEY}: Spark runs no Python workers in real-time mode. Set "
                "python.execution-mode to 'thread'."
            )
        for source in self._component.of(SourceOf):
            if not source.source.supports_real_time:
                raise self._refused(source, "Spark's real-time mode reads records of Kafka alone")
        for operator in self._component.of(Stateful):
            made = operator.make(is_batch=False)
            if isinstance(made, AsyncOperator):
                raise self._refused(
                    operator, "an element would wait for the calls of those before it"
                )
        sinks: list[SinkOf] = self._component.of(SinkOf)
        for sink in sinks:
            if not isinstance(sink.sink, (TopicSink, PrintSink)):
                raise self._refused(sink, "Spark's real-time mode writes to Kafka, or prints")
        if any(_place(each.sink) != _place(sinks[0].sink) for each in sinks):
            names = ", ".join(f"'{each.name}'" for each in sinks)
            raise TableException(
                f"{KEY}: sinks {names} write to several places, and Spark's real-time mode has one "
                "sink. Write to topics of one Kafka cluster with the same properties, or print."
            )

    @staticmethod
    def _refused(operator: Any, reason: str) -> TableException:
        return TableException(
            f"operator '{operator.name}' cannot run with {KEY}: {reason}. Without the setting "
            "the program runs in micro-batches."
        )

    def writer(self, query: Lowered) -> DataStreamWriter:
        """Return what writes the rows of all sinks, with its trigger."""
        sinks = [sink for sink, _ in query.sinks]
        first = sinks[0].sink
        writer: DataStreamWriter
        if isinstance(first, PrintSink):
            rows = query.values_of(query.frame)
            printers: dict[int, Any] = {query.targets[each.number]: each.sink for each in sinks}
            lines = {target: each.line for target, each in printers.items()}
            writer = rows.writeStream.foreach(_Printing(lines))
        else:
            assert isinstance(first, TopicSink)
            records = self._records(query, sinks)
            writer = first.writer(records, self._context, has_topics=len(sinks) > 1)
        trigger: Any = {"realTime": f"{self._interval_ms()} milliseconds"}
        triggered: DataStreamWriter = writer.outputMode("update").trigger(**trigger)
        return triggered

    def _records(self, query: Lowered, sinks: Sequence[SinkOf]) -> Any:
        """Return the records of all sinks, with their topics where there are several."""
        if len(sinks) == 1:
            return query.rows_of(sinks[0], query.frame)
        columns: dict[str, list[Column]] = {}
        for each in sinks:
            row = query.columns_of(each)
            assert isinstance(each.sink, TopicSink)
            for name, column in each.sink.columns_of(row).items():
                # The rows of other sinks have null here.
                columns.setdefault(name, []).append(F.when(row.isNotNull(), column))
        return query.frame.select(
            *(F.coalesce(*found).alias(name) for name, found in columns.items())
        )

    def _interval_ms(self) -> int:
        given = value_of(self._context.configuration, _INTERVAL)
        asked = (given.to_millis() if given else 0) or _DEFAULT_MS
        least = duration(self._context.session.conf.get(_MIN, None) or f"{_MIN_MS} ms")
        if asked < least:
            _logger.warning(
                "checkpoints are made each %s ms, not each %s ms: Spark's real-time mode has no "
                "shorter batches. Records do not wait for them.",
                least,
                asked,
            )
        return max(asked, least)


def _place(sink: Any) -> Any:
    """Return what sinks that can be one of Spark's have in common."""
    return PrintSink if isinstance(sink, PrintSink) else sink.place()


class _Printing:
    """Prints elements where their tasks run, as Flink does: into the logs of executors."""

    def __init__(self, lines: dict[int, Callable[[bytes, int], str]]) -> None:
        self._lines = lines

    def __call__(self, row: Any) -> None:
        target, key, value = row
        print(self._lines[target](bytes(value), int(key)), flush=True)
