"""Functions in the driver's own Python: results, globals, breakpoints, errors; prints JSON."""

import json
import os
import sys
import threading

from pyspark import BarrierTaskContext, TaskContext
from pyspark.errors import PythonException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.functions import pandas_udf, udf

import loopback_module
import pyflow
from sessions import base_conf

wanted = sys.argv[1]


def where(n):
    return f"{os.getpid() == loopback_module.driver} {TaskContext.get().partitionId()}"


def in_thread(n):
    found = []
    thread = threading.Thread(target=lambda: found.append(TaskContext.get().partitionId()))
    thread.start()
    thread.join()
    return found[0]


def fails(n):
    raise ValueError(f"no {n}")


def stopped(n):
    breakpoint()
    return n


loopback_module.driver = os.getpid()
builder = SparkSession.builder.master("local[2]").config(map=base_conf())
builder = builder.config("spark.pyflow.conf.python.debug.loopback", wanted)
spark = pyflow.configure(builder).getOrCreate()
rows = spark.range(0, 6, 1, 3)
answers = {}


def collected(frame):
    return sorted(str(row[0]) for row in frame.collect())


answers["where"] = collected(rows.select(udf(where)("id")))
answers["thread"] = collected(rows.select(udf(in_thread, "int")("id")))
answers["arrow"] = collected(rows.select(udf(where, "string", useArrow=True)("id")))
answers["pandas"] = collected(rows.select(pandas_udf(lambda s: s.map(where), "string")("id")))
# An operator over another: both workers of a task are busy at once.
plus = udf(lambda n: n + 1, "long")
answers["chain"] = collected(
    rows.select(plus("id").alias("id")).mapInPandas(lambda frames: frames, "id long")
)
answers["grouped"] = collected(
    rows.groupBy((F.col("id") % 2).alias("k")).applyInPandas(
        lambda frame: frame.assign(id=frame["id"].sum()).head(1)[["id"]], "id long"
    )
)
answers["rdd"] = sorted(spark.sparkContext.range(6).map(lambda n: n * 2).collect())


def gathered(_):
    context = BarrierTaskContext.get()
    context.barrier()
    yield context.allGather(str(context.partitionId()))


barrier = spark.sparkContext.range(2, numSlices=2).barrier()
answers["barrier"] = barrier.mapPartitions(gathered).collect()
broadcast = spark.sparkContext.broadcast([10, 20])
total = spark.sparkContext.accumulator(0)


@udf("long")
def shared(n):
    total.add(1)
    return broadcast.value[n % 2]


answers["shared"] = [collected(rows.select(shared("id"))), total.value]
try:
    rows.select(udf(fails, "long")("id")).collect()
except PythonException as error:
    answers["error"] = "ValueError: no" in str(error)
answers["after"] = collected(rows.select(udf(where)("id")))
answers["driver"] = [TaskContext.get() is None, spark.sparkContext.parallelize([1]).count()]

if wanted == "true":
    lines = []

    def stop(*arguments, **keywords):
        frame = sys._getframe(1)
        while frame.f_code.co_name != "stopped":
            frame = frame.f_back
        lines.append([frame.f_lineno, frame.f_locals["n"]])

    sys.breakpointhook = stop
    answers["stopped"] = collected(rows.select(udf(stopped, "long")("id")))
    answers["lines"] = sorted(lines)
    loopback_module.seen.clear()
    rows.select(udf(loopback_module.see, "long")("id")).collect()
    answers["seen"] = sorted(loopback_module.seen)
print("ANSWERS", json.dumps(answers))
