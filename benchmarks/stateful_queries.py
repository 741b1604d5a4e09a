"""Streams that keep state: Python's in process mode and in thread mode, and Spark's own."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pandas
from pyspark import cloudpickle
from pyspark.sql import Row, SparkSession
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

# Workers cannot import this module.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

MODES = ("process", "thread")
#: A count by Spark's aggregation in place of Python.
BUILT_IN = "built-in"
SMALL_ROWS = 100
SMALL_BATCHES = 20
WARM_UP_BATCHES = 5
ACCESSES = 500
ACCESSING_KEYS = 100

_STORE = "spark.sql.streaming.stateStore"
_TRACKING = f"{_STORE}.rocksdb.trackTotalNumberOfRows"


class Count(StatefulProcessor):
    """Counts the rows of a key; gets and updates the count so many times."""

    def __init__(self, accesses: int = 1) -> None:
        self._accesses = accesses

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the variable."""
        self._count = handle.getValueState("count", "n long")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        """Add the rows to the count."""
        state = self._count
        new = sum(1 for _ in rows)
        n = 0
        for _ in range(self._accesses):
            (n,) = state.get() or (0,)
            state.update((n + new,))
        yield Row(k=key[0], n=n)


def count_groups(key: Any, frames: Any, state: Any) -> Iterator[Any]:
    """Add the rows of a key to its count."""
    n = (state.get[0] if state.exists else 0) + sum(len(frame) for frame in frames)
    state.update((n,))
    yield pandas.DataFrame({"k": [key[0]], "n": [n]})


class Queries:
    """The queries of one session; each is run in one mode, or built in, and says how long its
    batches took.

    Parameters
    ----------
    session : SparkSession
        With two slots.
    folder : Path
        For input and checkpoints.
    events, keys : int
        Of the keyed count. That over data frames has a hundredth of both.
    """

    def __init__(self, session: SparkSession, folder: Path, events: int, keys: int) -> None:
        self._session = session
        self._folder = folder
        self._write("count", events, keys, files=2)
        self._write("groups", events // 100, keys // 100, files=2)
        self._write("access", ACCESSING_KEYS, ACCESSING_KEYS, files=1)
        self._write("small", SMALL_ROWS * SMALL_BATCHES, SMALL_ROWS, files=SMALL_BATCHES)
        session.conf.set(
            f"{_STORE}.providerClass",
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        )
        session.conf.set("spark.sql.shuffle.partitions", "2")

    def access_nanos(self, mode: str) -> float:
        """Time of a get and an update."""
        self._run("access", mode)  # The first query of a mode starts Python.
        none, all_of_them = (
            self._run("access", mode, accesses=accesses)[0] for accesses in (0, ACCESSES)
        )
        return (all_of_them - none) * 1e6 / (ACCESSES * ACCESSING_KEYS)

    def count_seconds(self, mode: str, tracked: bool) -> float:
        """Time of the keyed count."""
        return self._run("count", mode, tracked)[0] / 1e3

    def groups_seconds(self, mode: str) -> float:
        """Time of the keyed count by `applyInPandasWithState`."""
        return self._run("groups", mode)[0] / 1e3

    def small_batch_millis(self, mode: str, tracked: bool) -> float:
        """Time of a micro-batch of few rows."""
        return median(self._run("small", mode, tracked, files=1)[WARM_UP_BATCHES:])

    def _write(self, name: str, rows: int, keys: int, files: int) -> None:
        frame = self._session.range(0, rows, 1, files).selectExpr(f"id % {keys} AS k", "id AS v")
        frame.write.parquet(str(self._folder / name))

    def _run(
        self, name: str, mode: str, tracked: bool = True, accesses: int = 1, files: int = 1000
    ) -> list[int]:
        """Milliseconds of each batch."""
        session = self._session
        session.conf.set("spark.pyflow.execution-mode", "process" if mode == BUILT_IN else mode)
        session.conf.set(_TRACKING, str(tracked).lower())
        source = session.readStream.schema("k long, v long").option("maxFilesPerTrigger", files)
        rows = source.parquet(str(self._folder / name)).groupBy("k")
        if mode == BUILT_IN:
            counts = rows.count()
        elif name == "groups":
            counts = rows.applyInPandasWithState(
                count_groups, "k long, n long", "n long", "update", "NoTimeout"
            )
        else:
            counts = rows.transformWithState(Count(accesses), "k long, n long", "update", "none")
        query = (
            counts.writeStream.format("noop")
            .outputMode("update")
            .trigger(availableNow=True)
            .option("checkpointLocation", str(self._folder / f"checkpoint-{time.monotonic_ns()}"))
            .start()
        )
        query.awaitTermination()
        plan = query._jsq.streamingQuery().lastExecution().executedPlan().toString()  # type: ignore[attr-defined]
        in_thread = "in thread mode" in plan or "Thread" in plan
        if in_thread != (mode == "thread"):
            raise RuntimeError(f"not in {mode} mode:\n{plan}")
        return [each.durationMs["triggerExecution"] for each in query.recentProgress]
