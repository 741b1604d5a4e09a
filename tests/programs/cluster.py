"""Functions on executors of their own: `python cluster.py MASTER [--complete]`, with two executors.

Both kinds of plain functions with `--complete`; functions that leave for process mode where an
executor has two cores, which the executors of a local cluster have.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyspark import TaskContext, cloudpickle
from pyspark.sql import functions as F
from pyspark.sql.functions import udf

import comparison
import sessions


def where(n):
    """The process that runs this, and whether it is a JVM."""
    time.sleep(0.002)
    return (os.getpid(), os.path.basename(os.path.realpath("/proc/self/exe")))


def deep(n):
    import json

    return str(json.loads("[" * 200_000))


def check(spark, use_arrow):
    both_modes = comparison.BothModes(spark)

    def places():
        f = udf(where, "pid int, program string", useArrow=use_arrow)
        frame = spark.range(400, numPartitions=8).select(f("id").alias("p"))
        return {tuple(row) for row in frame.select("p.*").distinct().collect()}

    with comparison.settings(spark, {sessions.MODE: "thread"}):
        in_thread = places()
    in_process = places()
    assert {program for _, program in in_thread} == {"java"}, in_thread
    assert len(in_thread) == 2, in_thread
    assert "java" not in {program for _, program in in_process}, in_process
    driver = spark._jvm.java.lang.ProcessHandle.current().pid()
    assert driver not in {pid for pid, _ in in_thread}

    table = spark.sparkContext.broadcast({n: f"name {n}" for n in range(100)})

    def program(spark):
        name = udf(lambda n: table.value[n % 100], useArrow=use_arrow)
        length = udf(len, "int", useArrow=use_arrow)
        part = udf(lambda n: TaskContext.get().partitionId(), "int", useArrow=use_arrow)
        frame = spark.range(1000, numPartitions=4).select("id", name("id").alias("name"))
        return [
            frame.groupBy("name").agg(F.sum(length("name")).alias("s")).orderBy("name"),
            frame.where(length("name") > 6).select("id", part("id")),
            frame.join(frame.select("id", length("name").alias("n")), "id").orderBy("id"),
        ]

    rows = both_modes(program)
    assert len(rows[0]) == 100

    failure = both_modes.fail(
        lambda spark: spark.range(4).select(udf(lambda n: 1 // n, "long", useArrow=use_arrow)("id"))
    )
    assert "ZeroDivisionError" in failure

    with comparison.settings(spark, {sessions.MODE: "thread"}):
        try:
            spark.range(1).select(udf(deep, useArrow=use_arrow)("id")).collect()
        except Exception as error:
            assert "RecursionError" in str(error), error  # noqa: PT017
        else:
            raise AssertionError("no RecursionError")

    with comparison.settings(
        spark, {sessions.MODE: "thread", "spark.sql.pyspark.worker.logging.enabled": "true"}
    ):
        said = udf(lambda n: print(f"{use_arrow} {n}") or n, "long", useArrow=use_arrow)
        spark.range(8, numPartitions=4).select(said("id")).collect()
        logged = {row.msg for row in spark.tvf.python_worker_logs().collect()}
    assert {f"{use_arrow} {n}" for n in range(8)} <= logged, logged

    total = spark.sparkContext.accumulator(0)
    with comparison.settings(spark, {sessions.MODE: "thread"}):
        counted = udf(lambda n: total.add(1) or n, "long", useArrow=use_arrow)
        spark.range(500, numPartitions=4).select(counted("id")).collect()
    assert total.value == 500, total.value


def loop(n):
    """Python code that lets go of the GIL only when CPython makes it; the program it runs in.

    A worker has nothing to keep waiting.
    """
    program = os.path.basename(os.path.realpath("/proc/self/exe"))
    end = time.thread_time() + (program == "java")
    while time.thread_time() < end:
        sum(range(1000))
    return program


def check_leaving(spark):
    """In `auto` mode; the executors tell the driver."""
    f = udf(loop)
    with comparison.settings(spark, {sessions.MODE: "auto", sessions.INTERPRETER: "shared"}):
        for _ in range(20):
            frame = spark.range(4, numPartitions=4).select(f("id").alias("program"))
            programs = {row.program for row in frame.collect()}
            plan = comparison.executed_plan(frame)
            if "ProcessMode" in plan:
                assert "java" not in programs, programs
                print("LEFT FOR PROCESS MODE")
                print(plan)
                return


def main() -> None:
    cloudpickle.register_pickle_by_value(comparison)
    conf = sessions.cluster_conf()
    two_cores = sys.argv[1].startswith("local-cluster")
    if two_cores:
        conf.update({"spark.executor.cores": "2", "spark.cores.max": "4"})
    spark = sessions.start(sys.argv[1], conf=conf)
    executors = spark._jsc.sc().getExecutorMemoryStatus().size() - 1
    assert executors == 2, executors
    for use_arrow in (False, True) if "--complete" in sys.argv else (False,):
        check(spark, use_arrow)
    if two_cores:
        check_leaving(spark)
    assert spark._jsc.sc().getExecutorMemoryStatus().size() - 1 == 2, "an executor was lost"
    spark.stop()
    print("BOTH MODES AGREE")


if __name__ == "__main__":
    main()
