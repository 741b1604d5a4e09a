"""Streams that are read without an end in sight: real-time mode and continuous processing.

Their tasks wait for rows that have not come yet. Thread mode sends a row through functions and
sinks while its batch goes on; process mode holds rows back until a buffer is full or the batch
ends. The rows are the same.
"""

from __future__ import annotations

import pytest
from pyspark.sql.functions import arrow_udf, pandas_udf, udf, udtf
from pyspark.sql.types import StringType, StructType

from awaited import (
    LONG_BATCH,
    MICRO_BATCHES,
    PROCESS,
    SHORT_BATCHES,
    THREAD,
    ToFile,
    failure_of,
    plan_of,
    rows_of,
    started,
    wait,
    wait_for_batches,
    wait_for_rows,
)
from benchmarks.awaited_stream import AwaitedStream
from comparison import settings
from sessions import MODE, logged

REAL_TIME = pytest.mark.since_spark("4.2")


@udtf(returnType=StructType().add("value", "string").add("n", "integer"))
class Twice:
    def eval(self, value):
        for n in range(2):
            yield value, n


def lateral(spark, frame):
    spark.udtf.register("twice", Twice)
    frame.createOrReplaceTempView("awaited")
    return spark.sql("select t.value || '-' || t.n from awaited, lateral twice(value) t")


@pandas_udf(StringType())
def upper_pandas(values):
    return values.str.upper()


@arrow_udf(StringType())
def upper_arrow(values):
    import pyarrow.compute as pc

    return pc.utf8_upper(values)


#: What a row goes through, and how many come out for it.
FUNCTIONS = {
    "pickled": (lambda _, frame: frame.select(udf(str.upper, useArrow=False)("value")), 1),
    "arrow": (lambda _, frame: frame.select(udf(str.upper, useArrow=True)("value")), 1),
    "filter": (
        lambda _, frame: frame.filter(udf(lambda s: s != "unwanted", "boolean")("value")),
        1,
    ),
    "table function": (lateral, 2),
    "pandas batch": (lambda _, frame: frame.select("value", upper_pandas("value")), 1),
    "arrow batch": (lambda _, frame: frame.select("value", upper_arrow("value")), 1),
    "sink alone": (lambda _, frame: frame, 1),
}


@REAL_TIME
@pytest.mark.core
@pytest.mark.parametrize("kind", FUNCTIONS)
def test_rows_do_not_wait_for_others(spark, tmp_path, kind):
    """A row is out before the next one is in, and before its batch ends."""
    through, per_row = FUNCTIONS[kind]
    source = AwaitedStream(spark)
    out = tmp_path / "out"
    with settings(spark, THREAD):
        query = started(through(spark, source.frame), ToFile(out), tmp_path, LONG_BATCH)
        try:
            for count in range(1, 6):
                source.add([f"row {count}"])
                wait_for_rows(query, out, count * per_row)
            assert query.lastProgress is None, "the batch has ended"
            assert "EvalPython" not in plan_of(query)
        finally:
            query.stop()


@REAL_TIME
@pytest.mark.parametrize(
    "kind",
    [
        "pickled",
        *(
            pytest.param(each, marks=pytest.mark.complete)
            for each in FUNCTIONS
            if each != "pickled"
        ),
    ],
)
def test_rows_are_those_of_process_mode(spark, tmp_path, kind):
    """Over the end of a batch, too. In process mode there are functions in micro-batches only."""
    through, per_row = FUNCTIONS[kind]
    seen = []
    for mode, trigger in ((PROCESS, MICRO_BATCHES), (THREAD, SHORT_BATCHES)):
        source = AwaitedStream(spark)
        out = tmp_path / mode[MODE]
        with settings(spark, mode):
            query = started(through(spark, source.frame), ToFile(out), tmp_path, trigger)
            try:
                for batch in (1, 2):
                    source.add([*(f"row {n} of {batch}" for n in range(20)), "unwanted"])
                    kept = batch * (20 if kind == "filter" else 21)
                    wait_for_rows(query, out, kept * per_row)
                    wait_for_batches(query, batch)
            finally:
                query.stop()
        seen.append(rows_of(out))
    assert seen[0] == seen[1]


@REAL_TIME
@pytest.mark.core
def test_error_ends_the_query(spark, tmp_path):
    def fail(value):
        raise ValueError(f"not {value}")

    for mode, trigger in ((PROCESS, MICRO_BATCHES), (THREAD, SHORT_BATCHES)):
        source = AwaitedStream(spark)
        source.add(["this"])
        with settings(spark, mode):
            frame = source.frame.select(udf(fail, "string")("value"))
            assert "ValueError: not this" in failure_of(frame, tmp_path, trigger)


@REAL_TIME
def test_in_process_mode_the_log_names_the_cure(spark, tmp_path):
    """Spark's own error stays."""
    frame = AwaitedStream(spark).frame.select(udf(str.upper)("value"))
    with settings(spark, PROCESS), logged(spark) as log:
        assert "OPERATOR_OR_SINK_NOT_IN_ALLOWLIST" in failure_of(frame, tmp_path)
    assert "In thread mode it can: set spark.pyflow.execution-mode=thread" in log.toString()


def test_continuous_processing(spark, tmp_path):
    rate = spark.readStream.format("rate").option("rowsPerSecond", 5).option("numPartitions", 1)
    with settings(spark, THREAD):
        frame = rate.load().select(udf(lambda n: f"row {n}")("value").alias("s"))
        query = (
            frame.writeStream.format("memory")
            .queryName("continuous_rows")
            .trigger(continuous="1 second")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .start()
        )
        try:
            wait(lambda: spark.table("continuous_rows").count() > 10, query)
            assert "ThreadEvalPython" in plan_of(query)
        finally:
            query.stop()
    rows = [row.s for row in spark.table("continuous_rows").collect()]
    assert rows == [f"row {n}" for n in range(len(rows))]
