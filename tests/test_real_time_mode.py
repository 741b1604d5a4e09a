"""What stands around Python functions in Spark's real-time mode, with its check of operators on."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pandas as pd
import pytest
from pyspark.sql.functions import col, count, pandas_udf, timestamp_seconds, udf, udtf
from pyspark.sql.types import LongType, StringType, StructType

from awaited import (
    LONG_BATCH,
    MICRO_BATCHES,
    PROCESS,
    SHORT_BATCHES,
    THREAD,
    ToFile,
    failure_of,
    rows_of,
    started,
    wait,
    wait_for_batches,
    wait_for_input,
    wait_for_rows,
)
from benchmarks.awaited_stream import AwaitedStream
from comparison import settings

# The tasks of all stages run at once, in the two slots of the tests' session.
ONE_PARTITION = {"spark.sql.shuffle.partitions": "1"}

upper = udf(str.upper, useArrow=False)
length = udf(lambda value: len(value), LongType(), useArrow=True)


def joined(spark, frame):
    colours = spark.createDataFrame(
        [("a", "red"), ("a", "rose"), ("b", "blue")], "k string, c string"
    )
    return (
        frame.select(upper("value").alias("u"), col("value").alias("k"))
        .join(colours.hint("broadcast"), "k")
        .select(udf(lambda u, c: f"{u} {c}")("u", "c"))
    )


def several(spark, frame):
    """Functions that are one evaluation, functions of functions, and ones that differ in kind."""
    return frame.select(
        upper("value").alias("u"), length("value").alias("n"), upper(upper("value")).alias("uu")
    ).selectExpr("concat_ws(' ', u, n, uu)")


def deduplicated(spark, frame):
    return frame.select(upper("value").alias("u")).dropDuplicates(["u"])


def counted(spark, frame):
    counts = frame.groupBy(upper("value").alias("u")).agg(count("*").alias("n"))
    return counts.select(udf(lambda u, n: f"{u} {n}")("u", "n"))


def in_windows(spark, frame):
    times = frame.select(
        timestamp_seconds(udf(ord, "long")("value")).alias("t"), upper("value").alias("u")
    )
    counts = times.withWatermark("t", "10 seconds").groupBy("t", "u").count()
    return counts.selectExpr("concat_ws(' ', u, count)")


@udtf(returnType=StructType().add("s", StringType()), useArrow=False)
class WithTotal:
    def __init__(self):
        self.seen = 0

    def eval(self, value):
        self.seen += 1
        yield (value,)

    def terminate(self):
        yield (f"{self.seen} in all",)


def with_total(spark, frame):
    spark.udtf.register("with_total", WithTotal)
    frame.createOrReplaceTempView("awaited")
    return spark.sql("select t.s from awaited, lateral with_total(value) t")


SHAPES = [joined, several, deduplicated, counted, in_windows, with_total]
ROWS = ["a", "b", "a", "c"]


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_are_those_of_process_mode(spark, tmp_path, shape):
    seen = []
    for mode, trigger in ((PROCESS, MICRO_BATCHES), (THREAD, SHORT_BATCHES)):
        stream = AwaitedStream(spark)
        out = tmp_path / trigger.copy().popitem()[0]
        stream.add(ROWS)
        with settings(spark, {**mode, **ONE_PARTITION}):
            query = started(shape(spark, stream.frame), ToFile(out), tmp_path, trigger)
            try:
                wait_for_batches(query, 1)
            finally:
                query.stop()
        # Aggregates say in real-time mode what changes with each row.
        seen.append(set(rows_of(out)))
    assert seen[0]
    assert seen[0] <= seen[1]
    if shape not in (counted, in_windows):
        assert seen[0] == seen[1]


def test_each_function_is_called_once_for_a_row(spark, tmp_path):
    """Also where a join has several rows for it, or none."""
    calls = tmp_path / "calls"
    record = ToFile(calls)

    def noted(value):
        record([value])
        return value

    stream = AwaitedStream(spark)
    colours = spark.createDataFrame([("a", "red"), ("a", "rose")], "k string, c string")
    frame = stream.frame.select(udf(noted)("value").alias("u"), col("value").alias("k")).join(
        colours.hint("broadcast"), "k"
    )
    stream.add(["a", "b"])
    with settings(spark, THREAD):
        query = started(frame.select("u", "c"), ToFile(tmp_path / "out"), tmp_path, LONG_BATCH)
        try:
            wait_for_rows(query, tmp_path / "out", 2)
            wait_for_rows(query, calls, 2)
        finally:
            query.stop()


def test_union_of_sources(spark, tmp_path):
    one, other = AwaitedStream(spark), AwaitedStream(spark)
    out = tmp_path / "out"
    frame = one.frame.select(upper("value")).union(other.frame.select(udf(str.lower)("value")))
    with settings(spark, THREAD):
        query = started(frame, ToFile(out), tmp_path, LONG_BATCH)
        try:
            one.add(["a"])
            wait_for_rows(query, out, 1)
            other.add(["B"])
            wait_for_rows(query, out, 2)
        finally:
            query.stop()
    assert rows_of(out) == ["A", "b"]


def test_two_queries_at_once(spark, tmp_path):
    streams = [AwaitedStream(spark) for _ in range(2)]
    outs = [tmp_path / f"out-{i}" for i in range(2)]
    with settings(spark, THREAD):
        queries = [
            started(each.frame.select(upper("value")), ToFile(out), tmp_path, LONG_BATCH)
            for each, out in zip(streams, outs, strict=True)
        ]
        try:
            for n in range(1, 4):
                for each, query, out in zip(streams, queries, outs, strict=True):
                    each.add([f"row {n}"])
                    wait_for_rows(query, out, n)
        finally:
            for query in queries:
                query.stop()


@pytest.mark.parametrize("shape", [several, counted])
def test_restart_from_the_checkpoint(spark, tmp_path, shape):
    """In the same mode, in micro-batches, and in process mode; state goes on."""
    stream = AwaitedStream(spark)
    out = tmp_path / "out"
    frame = shape(spark, stream.frame)
    runs = [
        (THREAD, SHORT_BATCHES),
        (THREAD, SHORT_BATCHES),
        (PROCESS, MICRO_BATCHES),
        (THREAD, MICRO_BATCHES),
        (THREAD, SHORT_BATCHES),
    ]
    for n, (mode, trigger) in enumerate(runs, 1):
        with settings(spark, {**mode, **ONE_PARTITION}):
            query = started(frame, ToFile(out), tmp_path, trigger, tmp_path / "checkpoint")
            try:
                stream.add(["a"])
                wait_for_rows(query, out, n)
                wait_for_input(query, 1)
            finally:
                query.stop()
    if shape is counted:
        assert rows_of(out) == [f"A {n}" for n in range(1, len(runs) + 1)]
    else:
        assert rows_of(out) == ["A 1 A"] * len(runs)


def test_stop_ends_a_function_that_runs(spark, tmp_path):
    began = tmp_path / "began"

    def hang(value):
        began.touch()
        while True:
            pass

    stream = AwaitedStream(spark)
    stream.add(["a"])
    with settings(spark, THREAD):
        frame = stream.frame.select(udf(hang)("value"))
        query = started(frame, ToFile(tmp_path / "out"), tmp_path, LONG_BATCH)
        try:
            wait(began.exists, query)
        finally:
            query.stop()
    assert not query.isActive
    running = spark.sparkContext.statusTracker().getActiveStageIds
    end = time.monotonic() + 60
    while running():
        assert time.monotonic() < end, "the task still runs"
        time.sleep(0.1)


def test_functions_that_return_late(spark, tmp_path):
    stream = AwaitedStream(spark)
    stream.add(["a"])
    with settings(spark, {**THREAD, "spark.pyflow.python.timeout": "1s"}):
        frame = stream.frame.select(udf(lambda _: time.sleep(100))("value"))
        assert "had not returned after" in failure_of(frame, tmp_path, LONG_BATCH)


def test_progress_and_accumulators(spark, tmp_path):
    """Of a batch, when it ends."""
    calls = spark.sparkContext.accumulator(0)

    def noted(value):
        calls.add(1)
        return value

    stream = AwaitedStream(spark)
    stream.add(["a", "b"])
    with settings(spark, THREAD):
        frame = stream.frame.select(udf(noted)("value").alias("u"))
        frame = frame.observe("seen", count("*").alias("n"))
        query = started(frame, ToFile(tmp_path / "out"), tmp_path, SHORT_BATCHES)
        try:
            wait_for_batches(query, 1)
            progress = query.recentProgress[0]
        finally:
            query.stop()
    assert progress.numInputRows == 2
    assert progress.observedMetrics["seen"].n == 2
    assert calls.value == 2


@pandas_udf(StringType())
def upper_in_batches(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
    for batch in batches:
        yield batch.str.upper()


def in_pandas(batches):
    yield from batches


REFUSED = {
    "iterator": lambda frame: frame.select(upper_in_batches("value")),
    "map": lambda frame: frame.mapInPandas(in_pandas, "value string"),
    "group": lambda frame: frame.groupBy("value").applyInPandas(lambda x: x, "value string"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_functions_that_take_more_than_a_row_are_refused(spark, tmp_path, kind):
    with settings(spark, THREAD):
        failure = failure_of(REFUSED[kind](AwaitedStream(spark).frame), tmp_path)
    assert "Write it as a plain function" in failure


def test_refused_functions_fail_with_their_reason(spark, tmp_path):
    """They do not run in process mode instead."""
    with settings(spark, {**THREAD, "spark.sql.pyspark.udf.profiler": "perf"}):
        failure = failure_of(AwaitedStream(spark).frame.select(upper("value")), tmp_path)
    assert "the UDF profiler is on" in failure
    assert "cannot run in Spark's real-time mode" in failure
