"""Functions that leave executors for process mode: `python auto.py MASTER`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import time

from pyspark.sql.functions import udf

import sessions


def loop(n):
    """Python code that lets go of the GIL only when CPython makes it; the program it runs in."""
    end = time.thread_time() + 1
    while time.thread_time() < end:
        sum(range(1000))
    return os.path.basename(os.path.realpath("/proc/self/exe"))


def main() -> None:
    spark = sessions.start(
        sys.argv[1], conf={sessions.MODE: "auto", sessions.INTERPRETER: "shared"}
    )
    f = udf(loop)
    for _ in range(20):
        frame = spark.range(2, numPartitions=2).select(f("id").alias("program"))
        programs = {row.program for row in frame.collect()}
        plan = frame._jdf.queryExecution().executedPlan().toString()
        if "ProcessMode" in plan:
            assert "java" not in programs, programs
            print("LEFT FOR PROCESS MODE")
            print(plan)
            break
    spark.stop()


if __name__ == "__main__":
    main()
