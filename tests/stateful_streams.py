"""Streams that keep state: the same query, stopped after each batch and started in another mode."""

# ruff: noqa: N802, N803

from __future__ import annotations

import re
from functools import partial

import pytest
from pyspark.sql.streaming import StatefulProcessor

from comparison import assert_process_plan, assert_thread_plan, exact, failure, settings
from sessions import FALLBACK, MODE, wait_until

#: The only store of processors in streams.
ROCKSDB = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}

STORE = {
    **ROCKSDB,
    "spark.sql.shuffle.partitions": "1",
    FALLBACK: "false",
}

BERLIN = {"spark.sql.session.timeZone": "Europe/Berlin"}

INPUT = (
    "k string, n long, at timestamp, day date, price decimal(10,2), bytes binary,"
    " list array<int>, pair struct<a: int, b: array<timestamp>>, map map<string, double>"
)


def rows(first, count):
    """The SELECT list of a batch of input."""
    return (
        f"SELECT concat('k', id % 3) AS k, id AS n, timestamp_seconds(id * 10) AS at,"
        f" date_add(DATE'2024-01-01', CAST(id AS int)) AS day,"
        f" CAST(id / 4 AS decimal(10,2)) AS price, CAST(CAST(id AS string) AS binary) AS bytes,"
        f" array(CAST(id AS int), NULL) AS list,"
        f" named_struct('a', CAST(id AS int), 'b', array(timestamp_seconds(id))) AS pair,"
        f" map('x', id / 2) AS map FROM range({first}, {first + count}, 1, 1)"
    )


def run_stream(
    spark,
    folder,
    make,
    modes,
    batches=3,
    per_batch=7,
    conf=None,
    finished=None,
    output_mode="append",
):
    """The output of a query that is stopped after each batch and goes on in the next mode.

    A query has no last batch while timers of processing time are left: `finished` tells when it may
    be stopped, of the rows of its output and how many batches it was given.
    """
    (folder / "in").mkdir(parents=True)
    plans = []
    for number, mode in zip(range(batches), modes):
        batch = folder / f"batch{number}"
        with settings(spark, {**STORE, **(conf or {}), MODE: mode}):
            spark.sql(rows(number * per_batch, per_batch)).coalesce(1).write.parquet(str(batch))
            for file in batch.glob("*.parquet"):
                file.rename(folder / "in" / f"{number}.parquet")
            source = spark.readStream.schema(INPUT).parquet(str(folder / "in"))
            made = make(source)
            writer = made.writeStream.outputMode(output_mode)
            writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
            query = start_writing(writer, str(folder / "out"), output_mode)
            try:
                if finished is None:
                    query.processAllAvailable()
                else:
                    output = partial(output_of, spark, folder, made.schema)
                    is_over = partial(is_finished, query, output, finished, number + 1)
                    # It is a query, beside the one that is waited for.
                    wait_until(is_over, "the rows", every=0.5)
                plan = query._jsq.streamingQuery().lastExecution().executedPlan().toString()
            finally:
                query.stop()
            plans.append(plan)
            (assert_thread_plan if mode == "thread" else assert_process_plan)(plan)
    return sorted(map(exact, output_of(spark, folder, made.schema)))


def start_writing(writer, path, output_mode):
    """Start a query that writes to files, also in modes that Spark's file sink does not know."""
    if output_mode == "append":
        return writer.format("parquet").start(path)
    return writer.foreachBatch(lambda frame, _: frame.write.mode("append").parquet(path)).start()


def output_of(spark, folder, schema):
    """The rows that a query has written until now."""
    out = folder / "out"
    return spark.read.schema(schema).parquet(str(out)).collect() if out.exists() else []


def is_finished(query, output, finished, batches):
    if query.exception() is not None:
        raise query.exception()
    return finished(output(), batches)


MODES = (
    ("process", "process", "process"),
    ("process", "thread", "thread"),
    ("thread", "process", "thread"),
)

#: Each batch in each mode, and each way between them.
TURNS = (("process", "thread"), ("thread", "process"))


def in_sequences(complete):
    """Has a test run with two sequences of modes, and with the complete ones in `make test-all`."""
    sequences = [TURNS, pytest.param(complete, marks=pytest.mark.complete)]
    return pytest.mark.parametrize("sequences", sequences, ids=["two", "three"])


def check_stream(spark, tmp_path, make, sequences=MODES, **options):
    """The rows of a query; fails unless they are the same whichever modes it goes through."""
    seen = {}
    for modes in sequences:
        seen[modes] = run_stream(spark, tmp_path / "-".join(modes), make, modes, **options)
    expected = seen[sequences[0]]
    assert expected
    for modes in sequences[1:]:
        assert seen[modes] == expected, modes
    return expected


def last_lines(error):
    detail = re.sub(r"\[id = \S+, runId = \S+\]", "", error.detail)
    lines = [line for line in detail.splitlines() if not line.startswith("\tat ")]
    return [line for line in lines if "Error" in line or "Exception" in line]


class Failing(StatefulProcessor):
    """A processor that fails in one place, or returns what is given."""

    def __init__(self, where, returned=()):
        self.where = where
        self.returned = returned

    def init(self, handle):
        self.handle = handle
        self.state = handle.getValueState("state", "n int NOT NULL")
        if self.where == "init":
            raise ValueError("in init")

    def handleInputRows(self, key, rows, timerValues):
        if self.where == "rows":
            raise ValueError(f"in rows of {key}")
        if self.where == "jvm":
            self.handle.registerTimer(5)
        if self.where == "twice":
            self.handle.getValueState("state", "n int NOT NULL")
        if self.where == "length":
            self.state.update((1, 2))
        return None if self.returned is None else iter(self.returned)

    def close(self):
        if self.where == "close":
            raise ValueError("in close")


def check_failure(spark, query_of):
    """Fails unless a query over keyed rows has the same error in both modes."""
    seen = {}
    for mode in ("process", "thread"):
        with settings(spark, {**STORE, MODE: mode}), pytest.raises(Exception) as caught:  # noqa: PT011
            query_of(spark.sql(rows(0, 3)).groupBy("k")).collect()
        seen[mode] = failure(caught.value)
    assert seen["thread"].exception == seen["process"].exception
    assert last_lines(seen["thread"]) == last_lines(seen["process"])
