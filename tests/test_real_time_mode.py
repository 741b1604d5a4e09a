"""What stands around Python functions in Spark's real-time mode, with its check of operators on."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import Row, SparkSession
from pyspark.sql.functions import col, count, pandas_udf, timestamp_seconds, udf, udtf
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.types import LongType, StringType, StructType

from awaited import (
    BRIEF_BATCHES,
    LONG_BATCH,
    MICRO_BATCHES,
    PROCESS,
    SHORT_BATCHES,
    THREAD,
    ToFile,
    failure_of,
    rows_of,
    rows_of_runs,
    started,
    wait,
    wait_for_batches,
    wait_for_input,
    wait_for_rows,
)
from benchmarks.awaited_stream import AwaitedStream
from comparison import settings
from deployments import PROGRAMS, run
from sessions import SPARK

pytestmark = pytest.mark.since_spark("4.2")

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


# Spark 4.2 allows neither aggregates nor exchanges in real-time mode.
WITH_EXCHANGES = [
    pytest.param(shape, marks=pytest.mark.since_spark("4.3"))
    for shape in (deduplicated, counted, in_windows)
]


def summed(rows):
    """The rows, with one total of all batches."""
    totals = [int(row.split()[0]) for row in rows if row.endswith("in all")]
    return {sum(totals), *(row for row in rows if not row.endswith("in all"))}


SHAPES = [joined, several, *WITH_EXCHANGES, with_total]
ROWS = ["a", "b", "a", "c"]


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_are_those_of_process_mode(spark, tmp_path, shape):
    seen = []
    # A batch without rows has a total, too.
    real_time = SHORT_BATCHES if shape is with_total else BRIEF_BATCHES
    for mode, trigger in ((PROCESS, MICRO_BATCHES), (THREAD, real_time)):
        stream = AwaitedStream(spark)
        out = tmp_path / trigger.copy().popitem()[0]
        stream.add(ROWS)
        with settings(spark, {**mode, **ONE_PARTITION}):
            query = started(shape(spark, stream.frame), ToFile(out), tmp_path, trigger)
            try:
                wait_for_input(query, len(ROWS))
            finally:
                query.stop()
        # Aggregates say in real-time mode what changes with each row.
        seen.append(summed(rows_of(out)) if shape is with_total else set(rows_of(out)))
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


@pytest.mark.parametrize(
    "shape", [pytest.param(several, marks=pytest.mark.complete), WITH_EXCHANGES[1]]
)
def test_restart_from_the_checkpoint(spark, tmp_path, shape):
    """In the same mode, in micro-batches, and in process mode; state goes on."""
    stream = AwaitedStream(spark)
    runs = [
        (THREAD, BRIEF_BATCHES),
        (THREAD, BRIEF_BATCHES),
        (PROCESS, MICRO_BATCHES),
        (THREAD, MICRO_BATCHES),
        (THREAD, BRIEF_BATCHES),
    ]
    frame = shape(spark, stream.frame)
    written = rows_of_runs(spark, stream, frame, tmp_path, runs, ONE_PARTITION)
    if shape is counted:
        assert written == [f"A {n}" for n in range(1, len(runs) + 1)]
    else:
        assert written == ["A 1 A"] * len(runs)


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
            wait_for_input(query, 2)
            progress = [each for each in query.recentProgress if each.numInputRows]
        finally:
            query.stop()
    # The first row may take as long as a batch.
    assert sum(each.numInputRows for each in progress) == 2
    assert sum(each.observedMetrics["seen"].n for each in progress) == 2
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
    with settings(spark, {**THREAD, "spark.sql.pyspark.udf.profiler": "memory"}):
        failure = failure_of(AwaitedStream(spark).frame.select(upper("value")), tmp_path)
    assert "the memory profiler is on" in failure
    assert "cannot run in Spark's real-time mode" in failure


class Counting(StatefulProcessor):
    def init(self, handle):
        self._seen = handle.getValueState("seen", "n long")

    def handleInputRows(self, key, rows, timer_values):  # noqa: N802
        yield Row(value=f"{key[0]} {len(list(rows))}")


@pytest.mark.skipif(SPARK >= (4, 3), reason="Spark keeps state")
def test_state_is_refused_where_spark_keeps_none(spark, tmp_path):
    pytest.importorskip("google.protobuf")
    stream = AwaitedStream(spark)
    stream.add(["a"])
    keyed = stream.frame.groupBy("value").transformWithState(
        Counting(), "value string", "append", "none"
    )
    with settings(spark, THREAD):
        failure = failure_of(keyed, tmp_path)
    assert "keeps no state there" in failure


@pandas_udf(StringType())
def batch_upper(values):
    return values.str.upper()


@pandas_udf(StringType())
def sleeping_in_batches(values):
    time.sleep(100)
    return values


def sleep(value):
    time.sleep(100)
    return value


class SleepingSink(ToFile):
    def __call__(self, row):
        time.sleep(100)


#: What sleeps: a function, or the sink.
SLEEPING = {
    "function": (lambda frame: frame.select(udf(sleep)("value")), ToFile),
    "batches": (lambda frame: frame.select(sleeping_in_batches("value")), ToFile),
    "sink": (lambda frame: frame, SleepingSink),
}


@pytest.mark.parametrize(
    "kind",
    [
        "function",
        pytest.param("batches", marks=pytest.mark.complete),
        pytest.param("sink", marks=pytest.mark.complete),
    ],
)
def test_idle_functions_are_killed(spark, tmp_path, kind):
    """And waiting for the next row does not count."""
    sleeping, sink = SLEEPING[kind]
    stream = AwaitedStream(spark)
    idle = {
        "spark.sql.execution.pyspark.udf.idleTimeoutSeconds": "1",
        "spark.sql.execution.pyspark.udf.killOnIdleTimeout": "true",
    }
    with settings(spark, {**THREAD, **idle}):
        query = started(sleeping(stream.frame), sink(tmp_path / "out"), tmp_path, LONG_BATCH)
        time.sleep(2.5)
        assert query.isActive
        stream.add(["a"])
        with pytest.raises(StreamingQueryException, match="terminated due to idle timeout"):
            query.awaitTermination()


@pytest.mark.complete
def test_what_functions_print_is_in_the_session_log(spark, tmp_path):
    """In that of the query's own session, when a batch has ended."""

    def talk(value):
        print("function", value)
        return value

    @pandas_udf(StringType())
    def talk_in_batches(values):
        print("batch", *values)
        return values

    class TalkingSink(ToFile):
        def __call__(self, row):
            print("sink", row[0])

    def lines_of(query):
        session = SparkSession(
            spark.sparkContext, query._jsq.streamingQuery().sparkSessionForStream()
        )
        return sorted(row.msg for row in session.tvf.python_worker_logs().select("msg").collect())

    seen = []
    for mode, trigger in ((PROCESS, MICRO_BATCHES), (THREAD, SHORT_BATCHES)):
        stream = AwaitedStream(spark)
        stream.add(["a"])
        with settings(spark, {**mode, "spark.sql.pyspark.worker.logging.enabled": "true"}):
            frame = stream.frame.select(talk_in_batches(udf(talk)("value")))
            query = started(frame, TalkingSink(tmp_path / "out"), tmp_path, trigger)
            try:
                wait_for_batches(query, 1)
            finally:
                query.stop()
            seen.append(lines_of(query))
    assert len(seen[0]) >= 3
    assert seen[0] == seen[1]


def test_a_refused_sink_fails_with_its_reason(spark, tmp_path):
    """It does not run in process mode instead, where rows would wait for others."""
    with settings(spark, {**THREAD, "spark.sql.pyspark.udf.profiler": "memory"}):
        failure = failure_of(AwaitedStream(spark).frame, tmp_path)
    assert "foreach cannot run in Spark's real-time mode: the memory profiler is on" in failure
    assert "workers hold rows back" in failure


@pytest.mark.complete
def test_a_crash_is_the_reason_at_the_next_start(tmp_path):
    """For functions by row and by batch, table functions, and the sink."""
    program = PROGRAMS / "real_time_crash.py"
    output = run([sys.executable, program, "local-cluster[2,1,1024]"], tmp_path, seconds=400)
    assert "ALL REFUSED" in output


def instances(spark):
    """How many objects of ours and of Arrow the JVM holds."""
    process = spark._jvm.java.lang.ProcessHandle.current().pid()
    jcmd = Path(f"/proc/{process}/exe").resolve().with_name("jcmd")
    histogram = subprocess.check_output([jcmd, str(process), "GC.class_histogram"], text=True)
    lines = [line.split() for line in histogram.splitlines()]
    return sum(int(line[1]) for line in lines if re.search("pyflow|arrow", "".join(line[3:4])))


@pytest.mark.complete
def test_memory_does_not_grow_within_a_batch(spark, tmp_path):
    """Neither in Python nor in the JVM; a batch may last for hours."""
    few, many = 2000, 10_000

    class Counting(ToFile):
        seen = 0

        def __call__(self, row):
            self.seen += 1
            if self.seen in (few, many):
                gc.collect()
                super().__call__([sys.getallocatedblocks()])

    calls = spark.sparkContext.accumulator(0)

    def noted(value):
        calls.add(1)
        return value

    converted = udf(lambda value: bytearray(value, "utf-8"), useArrow=True)
    stream = AwaitedStream(spark)
    out = tmp_path / "out"
    shared = {"spark.pyflow.interpreter": "shared", "spark.sql.session.timeZone": "UTC"}
    with settings(spark, {**THREAD, **shared}):
        spark.udtf.register("with_total", WithTotal)
        stream.frame.createOrReplaceTempView("awaited")
        frame = spark.sql("select t.s from awaited, lateral with_total(value) t")
        frame = frame.select(udf(noted)("s").alias("s"), converted("s"), batch_upper("s"))
        query = started(frame, Counting(out), tmp_path, LONG_BATCH)
        try:
            stream.add([f"row {n}" for n in range(few)])
            wait_for_rows(query, out, 1)
            before = instances(spark)
            stream.add([f"row {n}" for n in range(few, many)])
            wait_for_rows(query, out, 2)
            after = instances(spark)
        finally:
            query.stop()
    blocks = [int(line) for line in rows_of(out)]
    assert blocks[1] - blocks[0] < (many - few) // 20
    assert after - before < (many - few) // 20
