"""A local session whose JVM crashes, or ends well: `local_crash.py KIND TEMPORARY [KEY=VALUE...]`.

`plain` and `pandas` crash in a function of that kind, `interrupted` ends while a function runs, and
any other kind when it has run one and stopped the session. PyFlow is in it by settings alone.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyspark.sql.functions import PandasUDFType, pandas_udf, udf

import sessions


def innocent(n):
    return n + 1


def reads_nowhere(n):
    if n == 37:
        ctypes.string_at(0)
    return n


def reads_nowhere_in_batches(n):
    if 37 in set(n):
        ctypes.string_at(0)
    return n


def slow(n):
    time.sleep(60)
    return n


def noted(temporary):
    """What the notes of running JVMs name."""
    notes = [note.read_text().split() for note in Path(temporary).glob("pyflow-*/running")]
    return [name for names in notes for name in names]


def leave_running(query, temporary):
    """Starts a query that the end of this program interrupts."""
    threading.Thread(target=query, daemon=True).start()
    while noted(temporary) != ["slow"]:
        time.sleep(0.1)
    print("RUNNING", noted(temporary))


def main() -> None:
    kind, temporary, *conf = sys.argv[1:]
    spark = sessions.start(
        default_stack=True,
        conf={
            sessions.MODE: "thread",
            "spark.driver.extraJavaOptions": f"-Xss8m -Djava.io.tmpdir={temporary}",
            **dict(pair.split("=", 1) for pair in conf),
        },
    )
    rows = spark.range(100, numPartitions=2)
    batches = pandas_udf(reads_nowhere_in_batches, "long", PandasUDFType.SCALAR)
    try:
        next_ones = rows.select(udf(innocent, "long")("id").alias("n"))
        assert next_ones.agg({"n": "sum"}).collect() == [(5050,)]
        if kind == "plain":
            rows.select(udf(reads_nowhere, "long")("id")).collect()
        if kind == "pandas":
            rows.select(batches("id")).collect()
    except Exception as error:
        print("RAISED", type(error).__name__, flush=True)
        os._exit(0)  # PySpark would try to stop a session that is gone.
    sessions.wait_until(lambda: not noted(temporary), "no note names what has ended")
    if kind == "interrupted":
        leave_running(rows.select(udf(slow, "long")("id")).collect, temporary)
    else:
        spark.stop()


if __name__ == "__main__":
    main()
