"""A client of a Spark Connect server: `python connect_user.py URL`; prints where functions run."""

import os
import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()


@udf
def where(n):
    return os.path.basename(os.path.realpath("/proc/self/exe"))


spark.conf.set("spark.pyflow.execution-mode", "thread")
frame = spark.range(4).select(where("id").alias("place")).distinct()
print("query", sorted(row.place for row in frame.collect()))
frame.explain()

# A stream plans in a clone of the session.
rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 4).load()
query = (
    rows.select(where("value").alias("place"))
    .writeStream.format("memory")
    .queryName("places")
    .start()
)
while spark.table("places").isEmpty():
    query.awaitTermination(1)
query.stop()
print("stream", sorted(row.place for row in spark.table("places").distinct().collect()))
spark.stop()
