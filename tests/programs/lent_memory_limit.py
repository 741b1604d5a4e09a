"""A function that keeps more than the system gives the JVM: its task fails, all else goes on."""

import re
import resource
from pathlib import Path

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import pyflow

builder = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.memory", "1g")
    .config("spark.ui.enabled", "false")
    .config("spark.pyflow.execution-mode", "thread")
    .config("spark.sql.execution.arrow.maxRecordsPerBatch", "4000000")
)
spark = pyflow.configure(builder).getOrCreate()


def keep(batches):
    kept = list(batches)
    yield pa.RecordBatch.from_pydict({"n": [len(kept)]})


def count(batches):
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"n": [batch.num_rows]})


numbers = spark.range(0, 200_000_000, 1, 1)
print("within", numbers.limit(10_000_000).mapInArrow(keep, "n long").first().n)

jvm = spark.sparkContext._gateway.proc.pid
used = int(Path(f"/proc/{jvm}/statm").read_text().split()[0]) * resource.getpagesize()
resource.prlimit(jvm, resource.RLIMIT_AS, (used + (700 << 20), resource.RLIM_INFINITY))
try:
    numbers.mapInArrow(keep, "n long").collect()
except (PySparkException, Py4JJavaError) as error:
    print(re.search(r"LentMemoryException: (.*)", str(error)).group(1))
print("after", sum(row.n for row in spark.range(1000).mapInArrow(count, "n long").collect()))
