"""Functions that keep more than the system gives the JVM: their tasks fail, all else goes on.

Prints the error of a stream, of a group, and of a group that is to be one batch.
"""

import re
import resource
from pathlib import Path

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.functions import PandasUDFType, pandas_udf

import pyflow

builder = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.memory", "1g")
    .config("spark.ui.enabled", "false")
    .config("spark.pyflow.execution-mode", "thread")
    .config("spark.sql.execution.arrow.maxRecordsPerBatch", "4000000")
    .config("spark.sql.execution.arrow.maxBytesPerBatch", "32m")
)
spark = pyflow.configure(builder).getOrCreate()


def keep(batches):
    kept = list(batches)
    yield pa.RecordBatch.from_pydict({"n": [len(kept)]})


@pandas_udf("long", PandasUDFType.GROUPED_AGG)
def keep_column(texts):
    return len(texts)


def count(batches):
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"n": [batch.num_rows]})


numbers = spark.range(0, 200_000_000, 1, 1)
print("within", numbers.limit(10_000_000).mapInArrow(keep, "n long").first().n)

jvm = spark.sparkContext._gateway.proc.pid
keys = spark.range(3000).selectExpr(
    "id", "id % 1 + 7 AS k", "date_add(date'2024-02-29', int(id % 1)) AS day"
)
length = keep_column(F.repeat(F.lit("x"), F.col("id").cast("int") + 1_000_000))
group = keys.groupBy("k", "day").agg(length)
MAX_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
CASES = {
    "stream": (numbers.mapInArrow(keep, "n long"), {}),
    "group": (group, {}),
    "batch": (group, {MAX_BYTES: str(2**31 - 1)}),
}
for case, (frame, conf) in CASES.items():
    # What is free of a case before is not given back to the system at once.
    used = int(Path(f"/proc/{jvm}/statm").read_text().split()[0]) * resource.getpagesize()
    resource.prlimit(jvm, resource.RLIMIT_AS, (used + (700 << 20), resource.RLIM_INFINITY))
    for key, value in conf.items():
        spark.conf.set(key, value)
    try:
        frame.select("*").collect()
    except (PySparkException, Py4JJavaError) as error:
        told = re.search(r"LentMemoryException: (.*)", str(error))
        print(f"{case}:", told[1] if told else type(error).__name__)
    after = spark.range(1000).mapInArrow(count, "n long").collect()
    print(f"after {case}:", sum(row.n for row in after))
