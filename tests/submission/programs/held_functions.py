"""A query of two tasks: one holds its GIL in C code, the other waits for a file in Python."""

import ctypes
import os
import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

import pyflow

pipe, end = sys.argv[1:]


def hold():
    # Opening the pipe waits for its other end; a PyDLL keeps the GIL in its functions.
    ctypes.PyDLL(None).open(pipe.encode(), os.O_RDONLY)


def wait():
    while not os.path.exists(end):
        time.sleep(0.05)


def held(n):
    if n == 0:
        hold()
    else:
        wait()
    return n


spark = pyflow.configure(SparkSession.builder).getOrCreate()
print("started", flush=True)
spark.range(0, 2, 1, 2).select(udf(held, "long")("id")).collect()
print("ended", flush=True)
