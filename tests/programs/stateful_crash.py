"""Functions with state that crash their executor in a micro-batch: `stateful_crash.py MASTER KIND`.

A processor's state cannot change its place within a batch. The query fails with the reason; started
again, it goes on in process mode from its checkpoint. The states of `applyInPandasWithState` travel
with the rows of a group, so that its task is tried again in a worker and the query goes on. Another
query of the same function, which had no batch then, goes on by itself in either case.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import pandas as pd
from pyspark import cloudpickle
from pyspark.errors import StreamingQueryException
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor

import comparison
import sessions
import stateful_streams

CRASH = -1
SCHEMA = "k string, n long"
KEYS = ("a", "b", "c")
QUARANTINED = "it was running when executor"


def crash_at(number):
    """End the JVM at one number."""
    if number == CRASH and os.path.realpath("/proc/self/exe").endswith("java"):
        ctypes.CDLL(None)._exit(1)


class Counting(StatefulProcessor):
    """Counts the rows of each key; ends the JVM at a row, when it has changed state."""

    def init(self, handle):
        self.count = handle.getValueState("count", "n long")

    def counted(self, numbers):
        (n,) = self.count.get() or (0,)
        for number in numbers:
            n += 1
            self.count.update((n,))
            crash_at(number)
        return n


class CountingRows(Counting):
    def handleInputRows(self, key, rows, timerValues):  # noqa: N802, N803
        yield Row(k=key[0], n=self.counted(row.n for row in rows))


class CountingFrames(Counting):
    def handleInputRows(self, key, rows, timerValues):  # noqa: N802, N803
        n = self.counted(number for frame in rows for number in frame["n"])
        yield pd.DataFrame({"k": [key[0]], "n": [n]})


def count_of_group(key, frames, state):
    (n,) = state.getOption or (0,)
    for frame in frames:
        for number in frame["n"]:
            n += 1
            state.update((n,))
            crash_at(number)
    yield pd.DataFrame({"k": [key[0]], "n": [n]})


class Stream:
    """A query over files: its input, its output and its checkpoint."""

    def __init__(self, spark, name, kind):
        self.spark, self.kind = spark, kind
        self.folder = Path(name).resolve()
        (self.folder / "in").mkdir(parents=True)
        self.batches = []

    def add(self, numbers):
        """A batch with so many rows of each key; only the first key crashes."""
        rows = [
            {"k": key, "n": number if key == KEYS[0] else 0} for number in numbers for key in KEYS
        ]
        text = "\n".join(map(json.dumps, rows))
        written = self.folder / f"{len(self.batches)}.json"
        written.write_text(text)
        written.rename(self.folder / "in" / written.name)
        self.batches.append(len(numbers))

    def start(self):
        source = self.spark.readStream.schema("k string, n long").json(str(self.folder / "in"))
        rows = source.groupBy("k")
        if self.kind == "rows":
            made = rows.transformWithState(CountingRows(), SCHEMA, "append", "none")
        elif self.kind == "frames":
            made = rows.transformWithStateInPandas(CountingFrames(), SCHEMA, "append", "none")
        else:
            made = rows.applyInPandasWithState(
                count_of_group, SCHEMA, "n long", "append", "NoTimeout"
            )
        return made.writeStream.start(
            str(self.folder / "out"),
            format="parquet",
            outputMode="append",
            checkpointLocation=str(self.folder / "checkpoint"),
        )

    def check(self, batches):
        """The rows of so many batches, each with what was counted until then."""
        got = sorted(map(tuple, self.spark.read.parquet(str(self.folder / "out")).collect()))
        counts = [sum(self.batches[: n + 1]) for n in range(batches)]
        assert got == [(key, n) for key in KEYS for n in counts], got


def plan_of(query):
    return query._jsq.streamingQuery().lastExecution().executedPlan().toString()


def failure(query):
    try:
        query.awaitTermination(120)
    except StreamingQueryException as error:
        return str(error)
    raise AssertionError("the query has not failed")


def check_quarantined(query):
    plan = plan_of(query)
    comparison.assert_process_plan(plan)
    assert QUARANTINED in plan, plan


def main() -> None:
    master, kind = sys.argv[1:]
    cloudpickle.register_pickle_by_value(comparison)
    spark = sessions.start(
        master,
        conf={
            **sessions.crashing_conf(),
            **stateful_streams.ROCKSDB,
            "spark.sql.shuffle.partitions": "2",
            "spark.task.maxFailures": "4",
            sessions.MODE: "thread",
        },
    )
    crashing, beside = Stream(spark, "crashing", kind), Stream(spark, "beside", kind)
    queries = []
    for stream in (crashing, beside):
        stream.add([1, 2])
        query = stream.start()
        query.processAllAvailable()
        comparison.assert_thread_plan(plan_of(query))
        stream.check(1)
        queries.append(query)

    crashing.add([3, CRASH, 4])
    if kind != "groups":
        reason = failure(queries[0])
        assert f"cannot run in thread mode any more: {QUARANTINED}" in reason, reason
        assert "the query goes to process mode when it is started again" in reason, reason
        crashing.check(1)
        queries[0] = crashing.start()
    queries[0].processAllAvailable()
    if kind != "groups":
        check_quarantined(queries[0])
    crashing.check(2)
    for stream, query in zip((crashing, beside), queries, strict=True):
        stream.add([5])
        query.processAllAvailable()
        check_quarantined(query)
        stream.check(len(stream.batches))
        query.stop()
    spark.stop()
    print("STATE IS RIGHT")


if __name__ == "__main__":
    main()
