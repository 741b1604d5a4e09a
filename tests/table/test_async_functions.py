"""Asynchronous functions: how many calls at once, order, timeouts and further attempts."""

from __future__ import annotations

import asyncio
import time

import pytest

from functions_of_tables import call
from pyflow.common.configuration import Configuration
from pyflow.table import DataTypes
from pyflow.table.functions.settings import FunctionSettings
from pyflow.table.runtime.asynchronous import AsyncOptions
from pyflow.table.udf import AsyncScalarFunction, udf
from pyflow.util.exceptions import TableException

ROWS = 40


class Lookup(AsyncScalarFunction):
    """Tells how many calls were going on when it was called."""

    def open(self, function_context):
        self.calls = 0

    async def eval(self, key):
        self.calls += 1
        seen = self.calls
        await asyncio.sleep(0.001 * ((key * 7) % 5))
        self.calls -= 1
        return f"{key} {seen}"


def keys(spark):
    return spark.range(ROWS, numPartitions=1)


def test_results_are_in_order_and_calls_limited(arrow_lane):
    look_up = udf(Lookup(), result_type=DataTypes.STRING())
    limit = AsyncOptions(max_concurrent_operations=4)

    def program(spark):
        frame = keys(spark)
        called = call(look_up, frame, "id", async_options=limit)
        return frame.select(called.alias("x"))

    with_numbers = [tuple(map(int, row.x.split())) for row in observed(arrow_lane, program)]
    assert [key for key, _ in with_numbers] == list(range(ROWS))
    assert max(calls for _, calls in with_numbers) == 4


def observed(lane, program):
    """The rows of thread mode; in which order calls end is not the same in each run."""
    from comparison import assert_thread_plan, executed_plan, settings, thread_modes

    with settings(lane.spark, thread_modes()[0]):
        frame = program(lane.spark)
        rows = frame.collect()
        assert_thread_plan(executed_plan(frame))
    return rows


def test_values_and_no_arguments(arrow_lane):
    @udf(result_type="ROW<a BIGINT, b ARRAY<STRING>, c MAP<STRING, INT>>")
    async def made(x, row):
        return x, [row.name, None], {"a": row["n"]}

    @udf(result_type="INT")
    async def none():
        return 7.9

    def program(spark):
        frame = spark.sql("SELECT id, struct('x' AS name, 2 AS n) AS r FROM range(2)")
        rows = frame.select("id", call(made, frame, "id", "r").alias("made"))
        return rows.select("made.*", call(none, frame).alias("none"))

    rows = arrow_lane(program)
    assert [tuple(row) for row in rows] == [
        (0, ["x", None], {"a": 2}, 7),
        (1, ["x", None], {"a": 2}, 7),
    ]


def test_a_call_that_takes_too_long(arrow_lane):
    @udf(result_type="INT")
    async def slow(x):
        await asyncio.sleep(600)

    options = AsyncOptions(timeout=0.2)
    failure = arrow_lane.fail(
        lambda spark: spark.range(1).select(call(slow, spark.range(1), "id", async_options=options))
    )

    assert "async function slow has timed out after 0.2 s for input (0,)" in failure


@pytest.mark.parametrize(("attempts", "works"), [(2, True), (1, False)])
def test_further_attempts(arrow_lane, attempts, works):
    class Flaky(AsyncScalarFunction):
        def open(self, function_context):
            self.failures = 2

        async def eval(self, x):
            if self.failures:
                self.failures -= 1
                raise ValueError("not yet")
            return x

    flaky = udf(Flaky(), result_type="BIGINT")
    options = AsyncOptions(max_attempts=attempts, retry_delay=0.01)

    def program(spark):
        frame = spark.range(1)
        return frame.select(call(flaky, frame, "id", async_options=options))

    if works:
        [row] = arrow_lane(program)
        assert row[0] == 0
    else:
        failure = arrow_lane.fail(program)
        assert "async function Flaky failed for input (0,)" in failure
        assert "ValueError: not yet" in failure


def test_a_cancelled_task_ends(spark):
    """Calls that wait are given up, not waited for."""
    import threading

    from comparison import settings, thread_modes

    @udf(result_type="INT")
    async def waits(x):
        await asyncio.sleep(600)

    frame = spark.range(2, numPartitions=2)
    errors = []

    def run():
        spark.sparkContext.setJobGroup("async", "waits", interruptOnCancel=True)
        try:
            frame.select(call(waits, frame, "id")).collect()
        except Exception as error:
            errors.append(error)

    with settings(spark, thread_modes()[0]):
        thread = threading.Thread(target=run)
        thread.start()
        tracker = spark.sparkContext.statusTracker()
        deadline = time.monotonic() + 60
        while not tracker.getJobIdsForGroup("async") and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(1)
        spark.sparkContext.cancelJobGroup("async")
        thread.join(60)

    assert not thread.is_alive()
    assert errors


def test_settings(spark):
    settings = FunctionSettings.of(
        spark,
        Configuration.from_dict(
            {
                "table.exec.async-scalar.max-concurrent-operations": "3",
                "table.exec.async-scalar.timeout": "2 min",
                "table.exec.async-scalar.retry-strategy": "NO_RETRY",
                "table.exec.async-scalar.retry-delay": "50",
                "pipeline.global-job-parameters": "a:1,'b:2,''x''',c:'3,4'",
            }
        ),
    )

    assert settings.async_options == AsyncOptions(3, 120.0, 0, 0.05)
    assert settings.job_parameters == {"a": "1", "b": "2,'x'", "c": "3,4"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("timeout", "soon"),
        ("max-attempts", "0"),
        ("max-concurrent-operations", "many"),
        ("retry-strategy", "SOMETIMES"),
    ],
)
def test_wrong_settings(spark, key, value):
    key = f"table.exec.async-scalar.{key}"
    with pytest.raises(TableException, match=key):
        FunctionSettings.of(spark, Configuration.from_dict({key: value}))
