"""Streaming queries of Spark: their checkpoints, and how they end."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from pyflow.session.plugin import driver_has_plugin

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = [
    "checkpoint_of",
    "end_after_batches",
    "has_checkpoint_in_use",
    "has_ended",
    "unused_name",
]

# Prefixes of checkpoint directories that are removed with their query, of Spark and of tables.
_TEMPORARY = ("temporary-", "pyflow-checkpoint-")
_POLL_SECONDS = 1
_POLL_MILLIS = 200


def checkpoint_of(query: StreamingQuery) -> str:
    """Return the checkpoint directory of a query.

    Raises
    ------
    ValueError
        If the directory is removed with the query.
    """
    wrapped: Any = query
    path = str(wrapped._jsq.streamingQuery().resolvedCheckpointRoot())
    if PurePath(path).name.startswith(_TEMPORARY):
        raise ValueError(
            "it has no checkpoint to go on from: set execution.checkpointing.dir, or the query's "
            "checkpointLocation"
        )
    return path


def has_checkpoint_in_use(session: SparkSession, directory: str) -> bool:
    """Return whether a running query of any session of the driver has this checkpoint directory.

    Spark would end it.
    """
    jvm: Any = session._jvm
    path = jvm.org.apache.hadoop.fs.Path(directory)
    wrapped: Any = session
    classic = wrapped._jsparkSession
    root = str(path.getFileSystem(classic.sessionState().newHadoopConf()).makeQualified(path))
    queries = classic.sharedState().activeStreamingQueries().values()
    return root in [str(each.resolvedCheckpointRoot()) for each in queries]


def unused_name(session: SparkSession, name: str) -> str:
    """Return a name that no running query has, with a number appended if necessary.

    Spark refuses a name that another query has; jobs of Flink may have the same name.
    """
    active = {query.name for query in session.streams.active}
    names = (f"{name} ({number})" if number > 1 else name for number in count(1))
    return next(each for each in names if each not in active)


def end_after_batches(queries: Sequence[StreamingQuery]) -> None:
    """End queries when the running batches are committed.

    A query that resumes from its checkpoint does not write again what these batches wrote.
    Over Spark Connect, and in a driver without the plugin, batches are interrupted.

    Raises
    ------
    StreamingQueryException
        If such a batch fails; the other queries end all the same.
    """
    from pyspark import SparkContext
    from pyspark.sql.streaming.query import StreamingQuery

    # Those of Spark Connect are of another class.
    classic: list[Any] = [query for query in queries if isinstance(query, StreamingQuery)]
    if classic and driver_has_plugin():
        jvm: Any = SparkContext._jvm
        ends = jvm.org.apache.spark.sql.pyflow.QueryEnds
        for query in classic:
            ends.afterBatch(query._jsq)
        for query in classic:
            # In steps: the program may be interrupted.
            while not ends.awaitBatch(query._jsq, _POLL_MILLIS):
                pass
    for query in queries:
        query.stop()
    for query in classic:
        error = query.exception()
        if error is not None:
            raise error


def has_ended(query: StreamingQuery) -> bool:
    """Return whether a query has ended, within a second, or raise the error that ended it."""
    if not query.awaitTermination(_POLL_SECONDS):
        return False
    # It is not active any more; its thread may not have ended yet.
    query.awaitTermination()
    return True
