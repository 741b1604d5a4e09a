"""A function that keeps more than the system gives the JVM: its task fails, all else goes on.

The argument says of what: `stream`, `group`, or `batch` for a group that is to be one batch.
"""

import re
import resource
import sys
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
used = int(Path(f"/proc/{jvm}/statm").read_text().split()[0]) * resource.getpagesize()
resource.prlimit(jvm, resource.RLIMIT_AS, (used + (700 << 20), resource.RLIM_INFINITY))
keys = spark.range(1500).selectExpr(
    "id", "id % 1 + 7 AS k", "date_add(date'2024-02-29', int(id % 1)) AS day"
)
length = keep_column(F.repeat(F.lit("x"), F.col("id").cast("int") + 1_000_000))
frames = {
    "stream": numbers.mapInArrow(keep, "n long"),
    "group": keys.groupBy("k", "day").agg(length),
    "batch": keys.groupBy("k", "day").agg(length),
}
if sys.argv[1] == "batch":
    spark.conf.set("spark.sql.execution.arrow.maxBytesPerBatch", str(2**31 - 1))
try:
    frames[sys.argv[1]].collect()
except (PySparkException, Py4JJavaError) as error:
    print(re.search(r"LentMemoryException: (.*)", str(error)).group(1))
print("after", sum(row.n for row in spark.range(1000).mapInArrow(count, "n long").collect()))
