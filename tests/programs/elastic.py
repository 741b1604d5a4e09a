"""Executors that come and go: `python elastic.py CASE`, each on a cluster of its own.

Prints THE ROWS ARE RIGHT when every query has ended well and no function is in quarantine.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyspark import TaskContext
from pyspark.sql.functions import pandas_udf, udf

import comparison
import sessions

CLUSTER = {
    sessions.MODE: "thread",
    "spark.executor.memory": "1g",
    "spark.executor.cores": "1",
    "spark.cores.max": "2",
}

CONF = {
    "dynamic_allocation": {
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.enabled": "true",
        "spark.dynamicAllocation.minExecutors": "0",
        "spark.dynamicAllocation.maxExecutors": "2",
        "spark.dynamicAllocation.executorIdleTimeout": "1s",
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


def slow_once(n):
    """Slow in the first attempt of one task only."""
    task = TaskContext.get()
    if task.partitionId() == 3 and task.attemptNumber() == 0 and n % 50 == 49:
        time.sleep(30)
    return n + 1


def place(n):
    return os.path.basename(os.path.realpath("/proc/self/exe"))


def executors(spark):
    return set(
        spark._jvm.scala.jdk.javaapi.CollectionConverters.asJava(spark._jsc.sc().getExecutorIds())
    )


def wait_until(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.2)


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
    for _ in range(2):
        check_rows(spark, slow)
        wait_until(lambda: not executors(spark), "idle executors are removed")
    check_rows(spark, slow)


def decommission(spark):
    check_rows(spark, slow)
    query = threading.Thread(target=check_rows, args=(spark, slow))
    query.start()
    time.sleep(1)
    before = executors(spark)
    victim = sorted(before)[0]
    info = spark._jvm.org.apache.spark.scheduler.ExecutorDecommissionInfo(
        "decommissioned by a test", getattr(spark._jvm.scala, "None$").__getattr__("MODULE$")
    )
    assert spark._jsc.sc().schedulerBackend().decommissionExecutor(victim, info, True, False)
    query.join()
    wait_until(lambda: victim not in executors(spark), "the executor is decommissioned")
    check_rows(spark, slow)


def speculation(spark):
    counted = spark.sparkContext.accumulator(0)

    def f(n):
        counted.add(1)
        return slow_once(n)

    start = time.monotonic()
    check_rows(spark, f)
    assert counted.value == 200, counted.value
    print(f"ended after {time.monotonic() - start:.0f} s")


def main() -> None:
    case = sys.argv[1]
    spark = sessions.start("local-cluster[2,1,1024]", conf={**CLUSTER, **CONF[case]})
    globals()[case](spark)
    spark.stop()
    print("THE ROWS ARE RIGHT")


if __name__ == "__main__":
    main()
