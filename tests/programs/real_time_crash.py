"""Functions that crash their executor in real-time mode: `real_time_crash.py MASTER`.

No worker can run them instead. The query fails, and the next one does so when it is planned.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from pyspark.errors import StreamingQueryException
from pyspark.sql.functions import pandas_udf, udf, udtf
from pyspark.sql.types import StringType, StructType

import sessions
from benchmarks.awaited_stream import AwaitedStream


def crash(value):
    if os.path.realpath("/proc/self/exe").endswith("java"):
        ctypes.CDLL(None)._exit(1)
    return value


@udf(StringType())
def crashes(value):
    return crash(value)


@pandas_udf(StringType())
def crashes_in_batch(values):
    return crash(values)


@udtf(returnType=StructType().add("s", StringType()), useArrow=False)
class CrashesInTable:
    def eval(self, value):
        yield (crash(value),)


def of_table(frame):
    frame.sparkSession.udtf.register("crashes_in_table", CrashesInTable)
    frame.createOrReplaceTempView("rows")
    return frame.sparkSession.sql("select t.s from rows, lateral crashes_in_table(value) t")


#: The name that errors have, and what of the stream goes to which sink. All functions that ran in a
#: lost executor go to quarantine, so there is one at a time.
KINDS = {
    "crashes": lambda frame: to_console(frame.select(crashes("value"))),
    "crashes_in_batch": lambda frame: to_console(frame.select(crashes_in_batch("value"))),
    "crashes_in_table": lambda frame: to_console(of_table(frame)),
    "foreach": lambda frame: frame.writeStream.foreach(lambda row: crash(row)),
}


def to_console(frame):
    return frame.writeStream.format("console")


def failure(spark, kind):
    stream = AwaitedStream(spark)
    stream.add(["a"])
    started = (
        KINDS[kind](stream.frame)
        .outputMode("update")
        .trigger(realTime="10 minutes")
        .option("checkpointLocation", tempfile.mkdtemp(dir="."))
        .start()
    )
    try:
        started.awaitTermination(120)
    except StreamingQueryException as error:
        return str(error)
    raise AssertionError(f"{kind} has not failed")


def main() -> None:
    spark = sessions.start(
        sys.argv[1],
        conf={**sessions.cluster_conf(), sessions.MODE: "thread"},
    )
    for kind in KINDS:
        running = failure(spark, kind)
        assert f"{kind} cannot run in thread mode any more: it was running when" in running, running
        assert "real-time mode" in running, running
        assert "spark.pyflow.fallback" not in running, running
        planned = failure(spark, kind)
        reason = f"{kind} cannot run in Spark's real-time mode: it was running when executor"
        assert reason in planned, planned
    spark.stop()
    print("ALL REFUSED")


if __name__ == "__main__":
    main()
