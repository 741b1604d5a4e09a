"""A source for streams in real-time mode that a program feeds while a batch runs."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession


class AwaitedStream:
    """Strings in one partition, in Spark's own in-memory source for real-time mode.

    Where there is no row, the source looks again after 10 ms.

    Parameters
    ----------
    session : SparkSession
        A classic session.

    Attributes
    ----------
    frame : DataFrame
        The stream; its only column is ``value``.
    """

    def __init__(self, session: SparkSession) -> None:
        self._jvm = session._jvm
        assert self._jvm is not None
        sources = self._jvm.org.apache.spark.sql.execution.streaming.sources
        encoder = self._jvm.org.apache.spark.sql.Encoders.STRING()
        self._stream = sources.LowLatencyMemoryStream.apply(session._jsparkSession, 1, encoder)
        self.frame = DataFrame(self._stream.toDF(), session)

    def add(self, rows: Iterable[str]) -> None:
        """Have rows come in now."""
        assert self._jvm is not None
        values = self._jvm.java.util.ArrayList()
        for row in rows:
            values.add(row)
        self._stream.addData(0, self._jvm.scala.jdk.javaapi.CollectionConverters.asScala(values))
