"""Functions whose rows, or what they make of them, need more memory than the system gives the JVM.

It is an error of their task, which is printed as `CASE: ERROR`, and all else goes on.
"""

import re
import resource
import tempfile
from pathlib import Path

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.accumulators import AccumulatorParam
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.functions import arrow_udf, udf

import pyflow

MIB = 1 << 20

# What the JVM may take for a case, and the value that is too large.
ROOM = 250 * MIB
SIZE = 300 * MIB

builder = (
    SparkSession.builder.master("local[1]")
    .config("spark.driver.memory", "3g")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.pyflow.execution-mode", "thread")
    .config("spark.pyflow.fallback", "false")
    .config("spark.pyflow.interpreter", "shared")
)
spark = pyflow.configure(builder).getOrCreate()
spark.sparkContext.setLogLevel("OFF")
files = tempfile.mkdtemp(dir=".") + "/rows"
spark.range(1).write.parquet(files)


class Longest(AccumulatorParam):
    def zero(self, value):
        return ""

    def addInPlace(self, value1, value2):  # noqa: N802
        return max(value1, value2, key=len)


longest = spark.sparkContext.accumulator("", Longest())


@udf("int", useArrow=False)
def length(text):
    return len(text)


@udf("string", useArrow=False)
def made(size):
    return "x" * size


@udf("string", useArrow=True)
def made_of_bytes(size):
    return bytearray(b"x") * size


@udf("int", useArrow=False)
def printed(size):
    print("x" * size)
    return size


@udf("int", useArrow=False)
def accumulated(size):
    longest.add("x" * size)
    return size


@arrow_udf("long")
def lengths(texts: pa.Array) -> pa.Array:
    return pa.array([len(texts)])


@F.udtf(returnType="length: int")
class Lengths:
    def eval(self, text: str):
        yield (len(text),)


def text(size):
    return F.repeat(F.lit("x"), F.lit(size) + F.col("id").cast("int"))


def of_function(result):
    return lambda rows, size: rows.select(result(size)).write.format("noop").mode("append").save()


def of_table_function(rows, size):
    rows.lateralJoin(Lengths(text(size).outer())).write.format("noop").mode("append").save()


def of_foreach(rows, size):
    frame = spark.readStream.schema("id long").parquet(files).select(text(size).alias("text"))
    query = frame.writeStream.foreach(lambda row: len(row.text)).trigger(availableNow=True).start()
    query.awaitTermination()


CASES = {
    "a row": of_function(lambda size: length(text(size))),
    "a row in a lambda": of_function(
        lambda size: F.transform(F.array(text(size)), lambda each: length(each))
    ),
    "a row that is not UTF-8": of_function(
        lambda size: length(F.repeat(F.unhex(F.lit("ff")).cast("string"), F.lit(size // 3)))
    ),
    "a row for a table function": of_table_function,
    "a row of a batch": of_function(lambda size: lengths(text(size))),
    "a row for foreach": of_foreach,
    "a result": of_function(lambda size: F.length(made(F.lit(size)))),
    "a result to be converted": of_function(lambda size: F.length(made_of_bytes(F.lit(size)))),
    "a printed line": of_function(lambda size: printed(F.lit(size))),
    "an accumulator": of_function(lambda size: accumulated(F.lit(size))),
}


def outcome(case, size):
    try:
        CASES[case](spark.range(1), size)
    except (PySparkException, Py4JJavaError) as error:
        told = re.search(r"The executor has no memory.*|MemoryError|no memory", str(error))
        return told.group() if told else str(error)
    return "works"


def limit_memory(bytes):
    resource.prlimit(jvm, resource.RLIMIT_AS, (bytes, resource.RLIM_INFINITY))


def in_little_memory(case):
    used = int(Path(f"/proc/{jvm}/statm").read_text().split()[0]) * resource.getpagesize()
    limit_memory(used + ROOM)
    try:
        return outcome(case, SIZE)
    finally:
        limit_memory(resource.RLIM_INFINITY)


jvm = spark.sparkContext._gateway.proc.pid
for case in CASES:
    assert outcome(case, 1000) == "works", case
for case in CASES:
    print(f"{case}: {in_little_memory(case)}")
    assert outcome(case, 1000) == "works", f"{case} afterwards"
print("EXECUTOR LIVES")
