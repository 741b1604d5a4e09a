"""Executors that come and go: `python elastic.py CASE MASTER`.

Prints THE ROWS ARE RIGHT when every query has ended well and no function is in quarantine.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyspark import TaskContext
from pyspark.sql.functions import pandas_udf, udf

import comparison
import sessions

CONF = {
    "dynamic_allocation": {
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.enabled": "true",
        # Otherwise executors stay until the driver's garbage collector finds unused shuffles.
        "spark.dynamicAllocation.shuffleTracking.timeout": "1s",
        # There are none before the first query.
        "spark.scheduler.minRegisteredResourcesRatio": "0",
        "spark.dynamicAllocation.minExecutors": "0",
        "spark.dynamicAllocation.maxExecutors": "2",
        "spark.dynamicAllocation.executorIdleTimeout": "5s",
        "spark.dynamicAllocation.schedulerBacklogTimeout": "1s",
    },
    "decommission": {
        "spark.decommission.enabled": "true",
        "spark.storage.decommission.enabled": "true",
        "spark.storage.decommission.shuffleBlocks.enabled": "true",
    },
    "speculation": {
        "spark.speculation": "true",
        "spark.speculation.interval": "100ms",
        "spark.speculation.multiplier": "1.5",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.minTaskRuntime": "100ms",
    },
}


def slow(n):
    time.sleep(0.02)
    return n + 1


def place(n):
    return os.path.basename(os.path.realpath("/proc/self/exe"))


def check_rows(spark, function):
    """A plain function and a pandas function give what they should, in the executors' JVMs."""
    plain = udf(function, "long")
    frame = spark.range(200, numPartitions=4).select(plain("id"))
    assert frame.collect() == [(n + 1,) for n in range(200)]
    comparison.assert_thread_plan(comparison.executed_plan(frame))
    doubled = pandas_udf(lambda series: series * 2, "long")
    frame = spark.range(200, numPartitions=4).select(doubled("id"))
    assert frame.collect() == [(2 * n,) for n in range(200)]
    comparison.assert_thread_plan(comparison.executed_plan(frame))
    places = spark.range(8, numPartitions=4).select(udf(place)("id")).distinct().collect()
    assert places == [("java",)], places


def dynamic_allocation(spark):
    """From no executors to two, to none, and to two again."""
    check_rows(spark, slow)
    before = sessions.executors()
    assert before
    sessions.wait_until(lambda: not sessions.executors(), "idle executors are removed")
    check_rows(spark, slow)
    assert not before & sessions.executors()


def decommission(spark):
    check_rows(spark, slow)
    victim = min(sessions.executors())
    info = spark._jvm.org.apache.spark.scheduler.ExecutorDecommissionInfo(
        "decommissioned by a test", getattr(spark._jvm.scala, "None$").__getattr__("MODULE$")
    )
    with ThreadPoolExecutor() as threads:
        query = threads.submit(check_rows, spark, slow)
        time.sleep(1)
        assert spark._jsc.sc().schedulerBackend().decommissionExecutor(victim, info, True, False)
        query.result()
    sessions.wait_until(
        lambda: victim not in sessions.executors(), "the executor is decommissioned"
    )
    check_rows(spark, slow)


def speculation(spark):
    """The first attempt of a task is slow; a copy of it ends before, and its rows count once.

    Spark runs a copy on another host.
    """
    counted = spark.sparkContext.accumulator(0)
    copies = Path.cwd() / "copies"
    copies.mkdir()

    def slow_once(n):
        counted.add(1)
        task = TaskContext.get()
        if task.partitionId() == 3 and n % 50 == 49:
            if task.attemptNumber() == 0:
                time.sleep(60)
            else:
                (copies / str(task.attemptNumber())).touch()
        return n + 1

    check_rows(spark, slow_once)
    assert counted.value == 200, counted.value
    assert list(copies.iterdir())


def main() -> None:
    case, master = sys.argv[1:]
    spark = sessions.start(
        master,
        conf={**sessions.cluster_conf(), sessions.MODE: "thread", **CONF[case]},
    )
    globals()[case](spark)
    spark.stop()
    print("THE ROWS ARE RIGHT")


if __name__ == "__main__":
    main()
