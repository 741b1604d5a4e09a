"""A query whose functions calculate and sleep until a file is there."""

import os
import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

import pyflow

(end,) = sys.argv[1:]


def calculate():
    return sum(n * n for n in range(20_000))


def rest():
    time.sleep(0.001)


def profiled(n):
    while not os.path.exists(end):
        calculate()
        rest()
    return n


spark = pyflow.configure(SparkSession.builder).getOrCreate()
print("started", flush=True)
spark.range(0, 2, 1, 2).select(udf(profiled, "long")("id")).collect()
print("ended", flush=True)
