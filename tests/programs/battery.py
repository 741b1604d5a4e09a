"""Crashes on executors: kind of function x kind of input x moment, beside an innocent query.

    python battery.py MASTER [KIND/INPUT/MOMENT ...]

Runs the given cases, or all. In a Python worker the functions do nothing of the kind, so that every
query must finish there, with the rows that process mode gives. Prints PASSED and its name after
each case, and ALL QUERIES FINISHED at the end.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import function_kinds
from pyspark import cloudpickle
from pyspark.sql.functions import col, udf

import comparison
import sessions

ROWS = 200
INPUTS = ("rows", "parquet", "cached")
MOMENTS = ("load", "import", "first", "later", "close")


def in_java():
    return os.path.basename(os.path.realpath("/proc/self/exe")) == "java"


def crash():
    if in_java():
        ctypes.string_at(0)


class Crashing:
    """Called with numbers, ends the JVM at a moment of its life there."""

    def __init__(self, name, moment):
        self.name = name  # makes the function another one for each case
        self.moment = moment

    def __setstate__(self, state):
        self.__dict__.update(state)
        if self.moment == "load":
            crash()

    def __call__(self, numbers):
        if self.moment == "import":
            import crashing  # noqa: F401
        if self.moment == "first" or (self.moment == "later" and 150 in numbers):
            crash()

    def __del__(self):
        if self.moment == "close":
            crash()


def innocent(n):
    time.sleep(0.005)
    return n * 3


def beside(spark, name):
    """Starts a query whose functions have done nothing; ends with whether its rows are right."""
    ballast = f"another function for {name}"
    f = udf(lambda n: innocent(n) if ballast else None, "long")
    got = []

    def run():
        got.extend(spark.range(ROWS, numPartitions=4).select(f("id")).collect())

    thread = threading.Thread(target=run)
    thread.start()

    def join():
        thread.join()
        assert got == [(3 * n,) for n in range(ROWS)], f"{name}: the query beside it: {got}"

    return join


def make_inputs(spark, where):
    rows = spark.range(ROWS, numPartitions=4).select(
        (col("id") % 5).alias("k"), col("id").alias("n")
    )
    path = str(where / "numbers")
    rows.write.mode("overwrite").parquet(path)
    cached = rows.cache()
    cached.count()
    return {
        "rows": spark.range(ROWS, numPartitions=4).selectExpr("id % 5 AS k", "id + 0 AS n"),
        "parquet": spark.read.parquet(path),
        "cached": cached,
    }


def check(spark, inputs, case):
    kind, source, moment = case.split("/")
    evaluate = function_kinds.KINDS[kind]
    rows = inputs[source]
    with comparison.settings(spark, comparison.process_mode()):
        expected = sorted(evaluate(rows, Crashing("expected", "never")).collect())
    join = beside(spark, case)
    frame = evaluate(rows, Crashing(case, moment))
    comparison.assert_thread_plan(comparison.executed_plan(frame))
    got = sorted(frame.collect())
    assert got == expected, f"{case}: {got[:5]} ... instead of {expected[:5]} ..."
    join()
    again = frame.select("*")
    plan = comparison.executed_plan(again)
    # The executor may have ended after the job's last task had, before the driver knew.
    if moment != "close":
        assert "it was running" in plan, f"{case}: {plan}"
    assert sorted(again.collect()) == expected, case
    others = spark.range(8, numPartitions=4).select(udf(lambda n: in_java(), "boolean")("id"))
    assert set(others.collect()) == {(True,)}, case


def main() -> None:
    cloudpickle.register_pickle_by_value(function_kinds)
    cloudpickle.register_pickle_by_value(comparison)
    spark = sessions.start(
        sys.argv[1],
        conf={
            sessions.MODE: "thread",
            "spark.executor.memory": "1g",
            "spark.cores.max": "2",
            "spark.executor.cores": "1",
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
            # Executors are lost here on purpose, again and again.
            "spark.deploy.maxExecutorRetries": "-1",
            "spark.task.maxFailures": "8",
            "spark.stage.maxConsecutiveAttempts": "20",
        },
    )
    every = ("/".join(case) for case in itertools.product(function_kinds.KINDS, INPUTS, MOMENTS))
    inputs = make_inputs(spark, Path.cwd())
    for case in sys.argv[2:] or every:
        start = time.monotonic()
        check(spark, inputs, case)
        print(f"PASSED {case} ({time.monotonic() - start:.1f} s)", flush=True)
    spark.stop()
    print("ALL QUERIES FINISHED")


if __name__ == "__main__":
    main()
