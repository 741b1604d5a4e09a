"""``spark.pyflow.execution-mode=auto``: thread mode until tasks keep each other waiting."""

from __future__ import annotations

import os
import time

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from comparison import executed_plan, settings
from sessions import FALLBACK, INTERPRETER, MODE, OWN_GIL, SPARK

REASON = "of their time for the GIL that they share"

# Turns before a function must have left for process mode: each gives two tasks of a second.
PATIENCE = 20

# What would leave does so when it has run for so many seconds of tasks.
SECONDS = 2


@pytest.fixture
def auto(spark):
    """A session in which PyFlow decides; that none may fall back must not hinder it."""
    with settings(spark, {MODE: "auto", FALLBACK: "false", INTERPRETER: "shared"}):
        yield spark


@pytest.fixture
def one_row_per_call(auto):
    with settings(auto, {"spark.pyflow.bundle.size": "1"}):
        yield auto


def this_process(spark):
    return spark._jvm.java.lang.ProcessHandle.current().pid()


def busy(seconds):
    """Python code that lets go of the GIL only when CPython makes it; in a worker nothing."""
    in_jvm = os.path.realpath("/proc/self/exe").endswith("java")
    end = time.thread_time() + seconds * in_jvm
    while time.thread_time() < end:
        sum(range(1000))
    return os.getpid()


def turn(spark, program, tasks=2):
    """Gives each task a row; where the function ran, and the plan."""
    frame = program(spark.range(tasks, numPartitions=tasks)).toDF("where")
    return {row.where for row in frame.collect()}, executed_plan(frame)


def leaves(spark, program):
    """Runs a program in turns until it has left for process mode."""
    where, plan = turn(spark, program)
    assert where == {this_process(spark)}
    assert "Thread" in plan
    for _ in range(PATIENCE):
        where, plan = turn(spark, program)
        if REASON in plan:
            assert this_process(spark) not in where
            assert "ProcessMode" in plan
            assert "Thread" not in plan
            return
    raise AssertionError(f"still in thread mode after {PATIENCE} turns")


def stays(spark, program, tasks):
    for _ in range(SECONDS // tasks + 1):
        where, plan = turn(spark, program, tasks)
        assert where == {this_process(spark)}
        assert REASON not in plan


def test_functions_of_rows_leave(auto):
    loop = F.udf(lambda n: busy(1), "long")
    leaves(auto, lambda frame: frame.select(loop("id")))
    with settings(auto, {MODE: "thread"}):
        where, plan = turn(auto, lambda frame: frame.select(loop("id")))
    assert where == {this_process(auto)}
    assert "ThreadEvalPython" in plan


def of_short_calls(function, calls):
    """A program whose tasks call a function so often that few calls have their processor time
    measured.
    """
    f = F.udf(function, "long")

    def program(frame):
        numbers = frame.select(F.explode(F.sequence(F.lit(1), F.lit(calls))).alias("n"))
        return numbers.select(f("n").alias("where")).distinct()

    return program


def short_loop(name):
    """A function that differs from those of other names: what has left has left for good."""

    def loop(n):
        sum(range(1000))
        return os.getpid()

    loop.__name__ = name
    return loop


@pytest.mark.complete
def test_functions_of_short_calls_leave(one_row_per_call):
    leaves(one_row_per_call, of_short_calls(short_loop("two_tasks"), 60_000))


def test_functions_of_short_calls_that_wait_for_something_else_stay(one_row_per_call):
    def wait(n):
        time.sleep(0.00005)
        return os.getpid()

    stays(one_row_per_call, of_short_calls(wait, 8_000), tasks=2)


@pytest.mark.complete
def test_functions_of_short_calls_that_no_other_task_hinders_stay(one_row_per_call):
    stays(one_row_per_call, of_short_calls(short_loop("one_task"), 60_000), tasks=1)


def test_functions_over_batches_leave(auto):
    loop = F.pandas_udf(lambda series: series * 0 + busy(1), "long", F.PandasUDFType.SCALAR)
    leaves(auto, lambda frame: frame.select(loop("id")))


@pytest.mark.complete
def test_groups_leave(auto):
    def loop(group):
        return group.assign(id=busy(1))

    leaves(auto, lambda frame: frame.groupBy("id").applyInPandas(loop, "id long"))


@pytest.mark.complete
def test_table_functions_leave(auto):
    @F.udtf(returnType="where: long")
    class Loop:
        def eval(self, n: int):
            yield (busy(1),)

    leaves(auto, lambda frame: frame.lateralJoin(Loop(F.col("id").outer())).select("where"))


def test_following_tasks_of_a_query_leave(auto):
    # How long tasks wait for the GIL is not seen where others have the cores.
    for attempt in range(5):

        def other_code(series, attempt=attempt):
            return series * 0 + busy(0.25)

        loop = F.pandas_udf(other_code, "long", F.PandasUDFType.SCALAR)
        where, plan = turn(auto, lambda frame: frame.select(loop("id")), tasks=40)  # noqa: B023
        assert "ThreadArrowEvalPython" in plan
        assert this_process(auto) in where
        if len(where) > 1:
            return
    raise AssertionError("no task has left")


@pytest.mark.complete
def test_tasks_that_leave_see_the_same_batches(auto, tmp_path):
    """Batches of Parquet's reader, whatever runs the function."""
    path = str(tmp_path / "table")
    auto.range(24 * 5000, numPartitions=24).write.parquet(path)

    @F.arrow_udf("where: long, rows: long")
    def batch(array: pa.Array) -> pa.Array:
        rows = [{"where": busy(0.125), "rows": len(array)}] * len(array)
        return pa.array(rows)

    # A task for each file.
    size = {"spark.sql.files.maxPartitionBytes": "256k", "spark.sql.files.openCostInBytes": "256k"}
    seen = set()
    with settings(auto, size):
        table = auto.read.parquet(path)
        for argument in (F.col("id"), F.col("id") + 1):
            frame = table.select(batch(argument).alias("b")).select("b.*").distinct()
            seen |= {(row.where == this_process(auto), row.rows) for row in frame.collect()}
    # Spark 4.1 gives functions the rows of several batches of the reader.
    sizes = (4096, 904) if SPARK >= (4, 2) else (5000,)
    assert seen == {(where, rows) for where in (True, False) for rows in sizes}


def test_functions_that_wait_for_something_else_stay(auto):
    def wait(n):
        time.sleep(1)
        return os.getpid()

    nap = F.udf(wait, "long")
    stays(auto, lambda frame: frame.select(nap("id")), tasks=2)


def test_functions_that_no_other_task_hinders_stay(auto):
    loop = F.udf(lambda n: busy(1), "long")
    stays(auto, lambda frame: frame.select(loop("id")), tasks=1)


@pytest.mark.skipif(not OWN_GIL, reason="no interpreters with their own GIL")
def test_functions_in_interpreters_of_their_own_stay(auto):
    loop = F.udf(lambda n: busy(1), "long")
    with settings(auto, {INTERPRETER: "isolated"}):
        stays(auto, lambda frame: frame.select(loop("id")), tasks=2)
