"""A function of a group that is larger than all memory that the JVM may have for buffers.

Arguments: the rows of the group, and of a batch; prints rows, bytes and what the metric shows.
"""

import sys

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import pyflow

rows, batch_bytes, *options = sys.argv[1:]
builder = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.memory", "512m")
    .config("spark.driver.extraJavaOptions", " ".join(options))
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.pyflow.execution-mode", "thread")
)
spark = pyflow.configure(builder).getOrCreate()
spark.conf.set("spark.sql.execution.arrow.maxBytesPerBatch", batch_bytes)


def summary(table: pa.Table) -> pa.Table:
    return pa.table({"rows": [table.num_rows], "bytes": [table.nbytes]})


columns = [(F.col("id") + i).alias(f"c{i}") for i in range(22)]
frame = (
    spark.range(int(rows))
    .select(F.lit(0).alias("k"), *columns)
    .groupBy("k")
    .applyInArrow(summary, "rows long, bytes long")
)
print(*frame.first())
after = spark.range(100).mapInArrow(lambda batches: batches, "id long").count()
print("after", after)
