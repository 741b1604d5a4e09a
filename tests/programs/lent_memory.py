"""Functions of groups that are larger than all memory that the JVM may have for buffers.

    python lent_memory.py [JVM_OPTION ...] ROWS/BATCH_BYTES ...

Prints the rows and bytes of each group, and how many rows a query has after it.
"""

import sys

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import pyflow

options = [argument for argument in sys.argv[1:] if argument.startswith("-")]
groups = sys.argv[1 + len(options) :]
builder = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.memory", "512m")
    .config("spark.driver.extraJavaOptions", " ".join(options))
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.pyflow.execution-mode", "thread")
)
spark = pyflow.configure(builder).getOrCreate()


def summary(table: pa.Table) -> pa.Table:
    return pa.table({"rows": [table.num_rows], "bytes": [table.nbytes]})


columns = [(F.col("id") + i).alias(f"c{i}") for i in range(22)]
for group in groups:
    rows, batch_bytes = group.split("/")
    spark.conf.set("spark.sql.execution.arrow.maxBytesPerBatch", batch_bytes)
    frame = (
        spark.range(int(rows))
        .select(F.lit(0).alias("k"), *columns)
        .groupBy("k")
        .applyInArrow(summary, "rows long, bytes long")
    )
    print(*frame.first())
    after = spark.range(100).mapInArrow(lambda batches: batches, "id long").count()
    print("after", after)
