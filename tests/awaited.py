"""Streams whose rows come while their batch runs: how tests start them, and wait for their rows."""

from __future__ import annotations

import time

import pytest
from pyspark.errors import StreamingQueryException

from comparison import settings
from sessions import MODE

THREAD = {MODE: "thread"}
PROCESS = {MODE: "process"}

#: A batch that does not end during a test, short ones, and batches that end when their rows do.
LONG_BATCH = {"realTime": "10 minutes"}
SHORT_BATCHES = {"realTime": "5 seconds"}
MICRO_BATCHES = {"processingTime": "0 seconds"}

#: Batches that may have ended before their tasks begin: rows then come in the next.
BRIEF_BATCHES = {"realTime": "2 seconds"}


class ToFile:
    """A sink that others can read while it is written."""

    def __init__(self, path):
        self.path = str(path)

    def __call__(self, row):
        with open(self.path, "a") as file:
            file.write(f"{row[0]}\n")


def rows_of(path):
    return path.read_text().splitlines() if path.exists() else []


def wait(condition, query, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert query.isActive, query.exception()
        assert time.monotonic() < end, "it has not happened"
        time.sleep(0.05)


def wait_for_rows(query, path, count):
    wait(lambda: len(rows_of(path)) >= count, query)
    assert len(rows_of(path)) == count


def wait_for_batches(query, count):
    wait(lambda: len(query.recentProgress) >= count, query)


def wait_for_input(query, rows):
    """Wait until the batches with so many rows have ended: they do not come again."""
    wait(lambda: sum(progress.numInputRows for progress in query.recentProgress) >= rows, query)


def started(frame, sink, tmp_path, trigger, checkpoint=None):
    checkpoint = checkpoint or tmp_path / f"checkpoint-{time.monotonic_ns()}"
    return (
        frame.writeStream.foreach(sink)
        .outputMode("update")
        .trigger(**trigger)
        .option("checkpointLocation", str(checkpoint))
        .start()
    )


def rows_of_runs(spark, stream, frame, tmp_path, runs, conf):
    """What a query has written that gets a row, is stopped, and goes on in the next mode."""
    out = tmp_path / "out"
    for n, (mode, trigger) in enumerate(runs, 1):
        with settings(spark, {**mode, **conf}):
            query = started(frame, ToFile(out), tmp_path, trigger, tmp_path / "checkpoint")
            try:
                stream.add(["a"])
                wait_for_rows(query, out, n)
                wait_for_input(query, 1)
            finally:
                query.stop()
    return rows_of(out)


def plan_of(query):
    return query._jsq.streamingQuery().lastExecution().executedPlan().toString()


def failure_of(frame, tmp_path, trigger=SHORT_BATCHES, checkpoint=None):
    query = started(frame, ToFile(tmp_path / "out"), tmp_path, trigger, checkpoint)
    with pytest.raises(StreamingQueryException) as error:
        query.awaitTermination()
    return str(error.value)
