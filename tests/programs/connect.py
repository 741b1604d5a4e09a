"""Spark Connect: a server that PySpark starts in this process's JVM, and its client."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.functions import udf

import pyflow
import sessions


def where(n):
    return os.path.basename(os.path.realpath("/proc/self/exe"))


def main() -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    sessions.wait_for_connect()
    builder = pyflow.configure(SparkSession.builder.remote("local[2]"))
    for key, value in sessions.base_conf().items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    assert type(spark).__module__.startswith("pyspark.sql.connect")

    for use_arrow in (True, False):
        place = udf(where, useArrow=use_arrow)
        triple = udf(lambda n: [n, n * 2, n * 3], "array<long>", useArrow=use_arrow)
        spark.udf.register("place", place)
        results = {}
        for mode in ("process", "thread"):
            spark.conf.set(sessions.MODE, mode)
            programs = {row[0] for row in spark.range(4).select(place("id")).collect()}
            assert (programs == {"java"}) == (mode == "thread"), (mode, programs)
            assert {r[0] for r in spark.sql("select place(id) from range(2)").collect()} == programs
            frame = spark.range(100, numPartitions=2).select(
                "id", F.explode(triple("id")).alias("n")
            )
            results[mode] = frame.groupBy("id").agg(F.sum("n").alias("s")).orderBy("id").collect()
            plan = frame._explain_string(mode="simple") if hasattr(frame, "_explain_string") else ""
            assert ("ThreadEvalPython" in plan) == (mode == "thread"), plan
        assert results["process"] == results["thread"]

        spark.conf.set(sessions.MODE, "thread")
        try:
            spark.range(2).select(udf(lambda n: 1 // n, "long", useArrow=use_arrow)("id")).collect()
        except Exception as error:
            assert "ZeroDivisionError" in str(error), error  # noqa: PT017
        else:
            raise AssertionError("no error")
    spark.conf.set("spark.sql.pyspark.worker.logging.enabled", "true")
    said = udf(lambda n: print(f"said {n}") or n, "long")
    assert spark.range(2).select(said("id")).collect() == [(0,), (1,)]
    logged = [row.msg for row in spark.tvf.python_worker_logs().collect()]
    assert sorted(logged) == ["said 0", "said 1"], logged
    try:
        spark.conf.set(sessions.MODE, "fast")
        spark.range(1).select(udf(where)("id")).collect()
    except Exception as error:
        assert "thread" in str(error), error  # noqa: PT017
    else:
        raise AssertionError("an unknown mode was accepted")
    spark.stop()
    print("BOTH MODES AGREE")


if __name__ == "__main__":
    main()
