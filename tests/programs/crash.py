"""Functions that end the JVM they run in: `crash.py MASTER [--complete]`, with two executors.

In a Python worker they do nothing of the kind, so that the job must finish there. The test reads
this program's log. Functions of other kinds crash in `battery.py`.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import functions as F
from pyspark.sql.functions import col, udf

import comparison
import sessions


def place():
    return os.path.basename(os.path.realpath("/proc/self/exe"))


def where(n):
    return place()


def exits(n):
    if n == 37 and place() == "java":
        ctypes.CDLL(None)._exit(1)
    return n + 1


def aborts(n):
    if n == 37 and place() == "java":
        ctypes.CDLL(None).abort()
    return n + 1


def segfaults(n):
    if n == 37 and place() == "java":
        ctypes.string_at(0)
    return n + 1


def exits_in_company(n):
    if n == 37 and place() == "java":
        ctypes.CDLL(None)._exit(1)
    return n + 1


def companion(n):
    return n + 1


def not_for_workers(n):
    if n == 37 and place() == "java":
        ctypes.CDLL(None)._exit(1)
    return n + 1


def slow(n):
    time.sleep(0.06)
    return n + 1


def check_others(spark):
    """What did not run in a lost executor still runs in thread mode."""
    frame = spark.range(100, numPartitions=4).select(udf(where)("id").alias("place")).distinct()
    assert frame.collect() == [("java",)]
    comparison.assert_thread_plan(comparison.executed_plan(frame))


def generated(spark):
    return spark.range(200, numPartitions=4).select(
        (col("id") * 2).alias("twice"),
        col("id"),
        col("id").cast("string").alias("text"),
    )


def parquet(spark):
    """The same rows in batches of columns, a file for each task."""
    if not os.path.exists("rows.parquet"):
        generated(spark).write.parquet("rows.parquet")
    return spark.read.parquet("rows.parquet")


def check_crash(spark, function, use_arrow, rows):
    """The query that meets the crash finishes; the next one tells why it is in process mode."""
    f = udf(function, "long", useArrow=use_arrow)
    frame = rows.select(f("id").alias("next"), "text", col("twice").alias("renamed"))
    got = sorted(frame.collect())
    assert got == [(n + 1, str(n), n * 2) for n in range(200)], got
    comparison.assert_thread_plan(comparison.executed_plan(frame))
    node = comparison.operator(frame._jdf.queryExecution().executedPlan(), "ThreadEvalPython")
    values = {name: node.metrics().apply(name).value() for name in ("numOutputRows", "bundles")}
    assert values["numOutputRows"] == 200, values
    assert node.metrics().apply("pythonDataSent").value() > 0

    again = spark.range(200).select(f("id").alias("next")).agg(F.sum("next"))
    assert again.collect() == [(sum(range(1, 201)),)]
    plan = comparison.executed_plan(again)
    comparison.assert_process_plan(plan)
    assert "it was running when executor" in plan, plan
    check_others(spark)


def check_company(spark):
    """Of several functions none is above suspicion."""
    first, second = udf(exits_in_company, "long"), udf(companion, "long")
    rows = spark.range(200, numPartitions=4).select(first("id"), second("id")).collect()
    assert rows == [(n + 1, n + 1) for n in range(200)], rows
    plan = comparison.executed_plan(spark.range(2).select(second("id")))
    assert "it was running when executor" in plan, plan
    check_others(spark)


def check_no_fallback(spark):
    """Who rules process mode out gets an error, from the running query and from the next."""
    f = udf(not_for_workers, "long")
    with comparison.settings(spark, {sessions.FALLBACK: "false"}):
        for _ in range(2):
            try:
                spark.range(200, numPartitions=4).select(f("id")).collect()
            except Exception as error:
                assert "it was running" in str(error), error  # noqa: PT017
                assert "not_for_workers" in str(error), error  # noqa: PT017
            else:
                raise AssertionError("no error")
    check_others(spark)


class SlowListener:
    """Keeps the other listeners of the driver from hearing of what comes after a task's start."""

    class Java:
        implements = ("org.apache.spark.scheduler.SparkListenerInterface",)

    def onTaskStart(self, event):  # noqa: N802
        time.sleep(2)

    def __getattr__(self, name):
        if name.startswith("on"):
            return lambda event: None
        raise AttributeError(name)


def listeners_are_slow(spark):
    ensure_callback_server_started(spark.sparkContext._gateway)
    spark.sparkContext._jsc.sc().addSparkListener(SlowListener())


def check_killed_on_purpose(spark):
    """An executor that Spark has been told to kill says nothing about what ran there, although its
    tasks are tried again before the listeners of the driver hear of it.
    """
    f = udf(slow, "long")
    frame = spark.range(100, numPartitions=4).select(f("id"))
    listeners_are_slow(spark)
    # One that has crashed before is replaced: two tasks run at once below.
    sessions.wait_until(lambda: len(sessions.executors()) == 2, "executors", seconds=120)
    got = []
    query = threading.Thread(target=lambda: got.extend(frame.collect()))
    query.start()
    tracker = spark.sparkContext.statusTracker()
    while not any(
        info.numActiveTasks > 1
        for stage in tracker.getActiveStageIds()
        if (info := tracker.getStageInfo(stage))
    ):
        assert query.is_alive(), "the query has ended"
        time.sleep(0.05)
    time.sleep(0.5)
    scheduler = spark._jsc.sc()
    victim = scheduler.getExecutorIds().head()
    assert scheduler.killExecutor(victim)
    query.join()
    assert sorted(got) == [(n + 1,) for n in range(100)], got
    again = spark.range(2).select(f("id"))
    again.collect()
    comparison.assert_thread_plan(comparison.executed_plan(again))


def main() -> None:
    spark = sessions.start(
        sys.argv[1],
        conf={
            **sessions.cluster_conf(),
            sessions.MODE: "thread",
            "spark.sql.files.maxPartitionBytes": "1m",
            "spark.sql.files.openCostInBytes": "1m",
        },
    )
    check_others(spark)
    crashes = [(segfaults, False, parquet)]
    if "--complete" in sys.argv:
        crashes += [(exits, True, generated), (aborts, True, parquet)]
    for function, use_arrow, rows in crashes:
        check_crash(spark, function, use_arrow, rows(spark))
    check_company(spark)
    check_no_fallback(spark)
    with comparison.settings(spark, {sessions.FALLBACK: "false"}):
        check_killed_on_purpose(spark)
    spark.stop()
    print("ALL JOBS FINISHED")


if __name__ == "__main__":
    main()
