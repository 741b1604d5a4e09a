"""Functions that Spark's UI tells of, until the program's input ends.

    python observed_functions.py EVENTS [MASTER]

EVENTS is the directory of the event log. Prints the address of the UI when all queries have ended.
"""

from __future__ import annotations

import os
import sys
import time
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyspark.sql.functions import pandas_udf, udf

import sessions

ROWS = 2000
# Before tasks that share an interpreter must have been found waiting for each other.
TURNS = 0 if sessions.FREE_THREADED else 20
SINK = "spark.metrics.conf.*.sink.prometheusServlet"
HOSTILE = "<script>document.title='run'</script>"


def score(number):
    """Takes some time for each row."""
    time.sleep(0.0005)
    return number * 2


def refused(number):
    return str(number)


def busy(number):
    """Takes a second of the processor in thread mode; in a worker nothing."""
    in_jvm = os.path.realpath("/proc/self/exe").endswith("java")
    end = time.thread_time() + in_jvm
    while time.thread_time() < end:
        sum(range(1000))
    return number


def extended(number):
    import extra  # type: ignore[import-not-found]  # noqa: F401

    return number


def twice(numbers):
    return numbers * 2


def main() -> None:
    events, *master = sys.argv[1:]
    spark = sessions.start(
        *master,
        conf={
            sessions.MODE: "thread",
            "spark.pyflow.thread-mode.allowed": f"score,twice,busy,{HOSTILE}",
            f"{SINK}.class": "org.apache.spark.metrics.sink.PrometheusServlet",
            f"{SINK}.path": "/metrics/prometheus",
            "spark.ui.enabled": "true",
            "spark.ui.port": "0",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": Path(events).as_uri(),
        },
    )
    numbers = spark.range(ROWS, numPartitions=2)
    numbers.select(udf(score, "long")("id")).collect()
    numbers.select(pandas_udf(twice, "long")("id")).collect()
    hostile = spark.udf.register(HOSTILE, str, "string")
    numbers.select(hostile("id")).collect()
    numbers.select(udf(refused, "string")("id")).collect()
    spark.conf.set(sessions.MODE, "process")
    numbers.select(udf(score, "long")("id") + 1).collect()
    spark.conf.set(sessions.MODE, "auto")
    spark.conf.set(sessions.INTERPRETER, "shared")
    for _ in range(TURNS):
        frame = spark.range(2, numPartitions=2).select(udf(busy, "long")("id"))
        frame.collect()
        if "ProcessMode" in frame._jdf.queryExecution().toString():
            break
    package = Path("extra.zip").absolute()
    with zipfile.ZipFile(package, "w") as file:
        file.writestr("extra.py", "")
    spark.sparkContext.addPyFile(str(package))
    numbers.select(udf(extended, "long")("id")).collect()
    # The UI hears of all that a little later.
    spark._jsc.sc().listenerBus().waitUntilEmpty()
    print(spark.sparkContext.applicationId, spark.sparkContext.uiWebUrl, flush=True)
    sys.stdin.read()
    spark.stop()


main()
