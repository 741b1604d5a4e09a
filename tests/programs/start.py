"""Functions where Python cannot be started in executors: `start.py MASTER [KEY=VALUE...]`.

The first query is planned when nobody has tried to start it, the second when all know.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyspark.sql.functions import PandasUDFType, pandas_udf, udf

import comparison
import sessions


def place(n):
    return os.path.basename(os.path.realpath("/proc/self/exe"))


def main() -> None:
    conf = dict(argument.split("=", 1) for argument in sys.argv[2:])
    spark = sessions.start(
        sys.argv[1],
        default_stack=True,
        conf={
            "spark.task.maxFailures": "8",
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            **conf,
        },
    )
    spark.conf.set(sessions.MODE, "thread")
    plain = udf(place)
    batches = pandas_udf(lambda n: n + 1, "long", PandasUDFType.SCALAR)
    for _ in range(2):
        frame = spark.range(20, numPartitions=4).select(plain("id"), batches("id"))
        rows = frame.collect()
        assert [row[1] for row in rows] == list(range(1, 21)), rows
        assert all(row[0].startswith("python") for row in rows), rows
    frame = spark.range(2).select(plain("id"))
    frame.collect()
    plan = comparison.executed_plan(frame)
    comparison.assert_process_plan(plan)
    print("REASON", plan)
    spark.conf.set(sessions.FALLBACK, "false")
    try:
        spark.range(2).select(plain("id")).collect()
    except Exception as error:
        print("WITHOUT FALLBACK", error)
    spark.stop()


if __name__ == "__main__":
    main()
