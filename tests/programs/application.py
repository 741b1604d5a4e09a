"""An application as users submit it: no word of PyFlow in it."""

import os

from pyspark.sql import SparkSession
from pyspark.sql.functions import udf


@udf
def where(n):
    return os.path.basename(os.path.realpath("/proc/self/exe"))


@udf
def shout(text):
    return text.upper()


spark = SparkSession.builder.appName("application").getOrCreate()
frame = spark.range(100, numPartitions=4)
places = {row[0] for row in frame.select(where("id")).collect()}
words = spark.sql("select concat('word ', id) as w from range(3)").select(shout("w"))
# In one piece: logs go to the same place.
print(f"places {sorted(places)}")
print(f"words {[row[0] for row in words.collect()]}")
words.explain()
for _ in range(2):
    total = spark.sparkContext.parallelize(range(5)).map(lambda n: n + 1).sum()
    print(f"rdd {total}")
spark.stop()
