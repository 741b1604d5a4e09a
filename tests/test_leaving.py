"""Functions that leave the JVM for Spark's workers while their query runs: of every kind, over
every kind of input. Some tasks have run them in the JVM, the following must not; the rows are those
of process mode.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyspark.core.rdd
import pytest
from pyspark.sql import Window
from pyspark.sql import functions as F
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.functions import PandasUDFType, arrow_udf, pandas_udf, udf, udtf
from pyspark.sql.streaming.state import GroupStateTimeout

from comparison import executed_plan, settings
from sessions import FALLBACK, INTERPRETER, MODE

TASKS = 5
ROWS = 200
SCHEMA = "k long, n long, text string, list array<long>"

SETTINGS = {
    INTERPRETER: "shared",
    FALLBACK: "false",  # in auto mode a function may always leave
    # A task for each file, and for each partition of a shuffle.
    "spark.sql.files.maxPartitionBytes": "1m",
    "spark.sql.files.openCostInBytes": "1m",
    "spark.sql.shuffle.partitions": str(TASKS),
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
}


class Gate:
    """Where a function says in which program it runs; in the JVM it then waits to be let on."""

    def __init__(self, folder):
        self.folder = str(folder)

    def __call__(self):
        program = os.path.basename(os.path.realpath("/proc/self/exe"))
        place = "java" if program == "java" else "worker"
        Path(self.folder, place).touch()
        while place == "java" and not Path(self.folder, "open").exists():
            time.sleep(0.01)


@pytest.fixture
def commands(monkeypatch):
    """The pickled code of the functions that the test makes."""
    made = []
    prepare = pyspark.core.rdd._prepare_for_python_RDD

    def noted(sc, command):
        prepared = prepare(sc, command)
        made.append(bytes(prepared[0]))
        return prepared

    monkeypatch.setattr(pyspark.core.rdd, "_prepare_for_python_RDD", noted)
    return made


@pytest.fixture
def leaving(spark, commands, tmp_path):
    """Runs something whose functions leave after the first of its tasks have begun."""
    folder = tmp_path / "gate"
    folder.mkdir()
    packages = spark._jvm.io.pyflow.admission

    def contention():
        identity = packages.FunctionIdentity
        functions = [identity("f", hashlib.sha256(command).hexdigest()) for command in commands]
        sequence = spark._jvm.scala.jdk.javaapi.CollectionConverters.asScala(functions).toSeq()
        return packages.Contention(50, sequence)

    def leave():
        while not Path(folder, "java").exists():
            if Path(folder, "given up").exists():
                return
            time.sleep(0.01)
        packages.ContendedFunctions.add(contention())
        Path(folder, "open").touch()

    def run(program):
        thread = threading.Thread(target=leave)
        thread.start()
        try:
            with settings(spark, {**SETTINGS, MODE: "auto"}):
                result = program(spark)
        finally:
            Path(folder, "given up").touch()
            Path(folder, "open").touch()
            thread.join()
            packages.ContendedFunctions.clear()
        assert sorted(os.listdir(folder)) == ["given up", "java", "open", "worker"]
        return result

    run.gate = Gate(folder)
    return run


# Kinds of functions


def plain(use_arrow):
    def program(rows, gate):
        def f(n, text, numbers):
            gate()
            return f"{n} {text} {numbers}"

        function = udf(f, "string", useArrow=use_arrow)
        return rows.select(function("n", "text", "list").alias("f"), "list", F.col("n").alias("m"))

    return program


def scalar_pandas(rows, gate):
    def f(n, text):
        gate()
        return n.astype(str) + text

    function = pandas_udf(f, "string", PandasUDFType.SCALAR)
    return rows.select(function("n", "text").alias("f"), "text", "list")


def scalar_arrow_of_expression(rows, gate):
    @arrow_udf("long")
    def f(n: pa.Array) -> pa.Array:
        gate()
        return pc.add(n, 1)

    return rows.select("text", f(F.col("n") * 2).alias("f"))


def scalar_iterator(rows, gate):
    @pandas_udf("long")
    def f(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
        for batch in batches:
            gate()
            yield batch + 1

    return rows.select("list", f("n").alias("f"))


def map_in_pandas(rows, gate):
    def f(batches):
        for batch in batches:
            gate()
            yield batch.assign(n=batch.n + 1)

    return rows.mapInPandas(f, rows.schema)


def map_in_arrow(rows, gate):
    def f(batches):
        for batch in batches:
            gate()
            yield batch

    return rows.mapInArrow(f, rows.schema)


def table_function(use_arrow):
    def program(rows, gate):
        class Twice:
            def eval(self, n, text):
                gate()
                yield n, text
                yield -n, text

        function = udtf(Twice, returnType="m long, t string", useArrow=use_arrow)
        return rows.lateralJoin(function(F.col("n").outer(), F.col("text").outer()))

    return program


def grouped_pandas(rows, gate):
    def f(group):
        gate()
        return group.assign(n=group.n.sum())

    return rows.groupBy("k").applyInPandas(f, rows.schema)


def grouped_arrow(rows, gate):
    def f(table):
        gate()
        return table

    return rows.groupBy("k").applyInArrow(f, rows.schema)


def cogrouped(rows, gate):
    def f(one, other):
        gate()
        return one.assign(n=one.n + len(other))

    return rows.groupBy("k").cogroup(rows.groupBy("k")).applyInPandas(f, rows.schema)


def total(gate):
    def f(n):
        gate()
        return float(n.sum())

    return pandas_udf(f, "double", PandasUDFType.GROUPED_AGG)


def aggregate(rows, gate):
    return rows.groupBy("k").agg(total(gate)("n"))


def window(rows, gate):
    return rows.select("n", "list", total(gate)("n").over(Window.partitionBy("k")))


NARROW = {
    "plain pickled": plain(False),
    "plain arrow": plain(True),
    "scalar pandas": scalar_pandas,
    "scalar arrow of an expression": scalar_arrow_of_expression,
    "scalar iterator": scalar_iterator,
    "map in pandas": map_in_pandas,
    "map in arrow": map_in_arrow,
    "table function": table_function(False),
    "table function over batches": table_function(True),
}

AFTER_SHUFFLE = {
    "grouped in pandas": grouped_pandas,
    "grouped in arrow": grouped_arrow,
    "cogrouped": cogrouped,
    "aggregate": aggregate,
    "window": window,
}

KINDS = {**NARROW, **AFTER_SHUFFLE}


def groups_with_state(rows, gate):
    def f(key, frames, state):
        gate()
        state.update((1,))
        for frame in frames:
            yield frame[["k", "n"]]

    return rows.groupBy("k").applyInPandasWithState(
        f, "k long, n long", "seen long", "append", GroupStateTimeout.NoTimeout
    )


IN_STREAMS = {**KINDS, "groups with a state": groups_with_state}

# Kinds of input


def generated(spark):
    return spark.range(ROWS, numPartitions=TASKS).selectExpr(
        "id % 50 as k", "id as n", "concat('row ', id) as text", "array(id, null) as list"
    )


@pytest.fixture
def inputs(spark, tmp_path):
    """Rows of an operator, batches of files, and what is cached."""
    cached = []

    def stored(format):
        path = str(tmp_path / format)
        generated(spark).write.format(format).save(path)
        return spark.read.format(format).load(path)

    def cache():
        frame = generated(spark).cache()
        cached.append(frame)
        return frame

    def cached_columns():
        frame = spark.range(ROWS, numPartitions=TASKS).selectExpr("id % 50 as k", "id as n").cache()
        cached.append(frame)
        return frame

    def make(name):
        if name == "rows":
            return generated(spark)
        if name == "cached":
            return cache()
        if name == "cached columns":
            return cached_columns()
        return stored(name)

    yield make
    for frame in cached:
        frame.unpersist()


SHORT = [
    *((kind, "parquet") for kind in NARROW),
    *((kind, "rows") for kind in ("plain pickled", "plain arrow", "scalar pandas")),
    *(("plain arrow", input) for input in ("orc", "cached")),
    *((kind, "parquet") for kind in ("grouped in pandas", "cogrouped", "window")),
]
CASES = [
    pytest.param(kind, input, marks=() if (kind, input) in SHORT else pytest.mark.complete)
    for kind in KINDS
    for input in ("rows", "parquet", "orc", "cached")
]


@pytest.mark.complete("pandas", "arrow-orc", "arrow-cached", "window")
@pytest.mark.parametrize(("kind", "input"), CASES)
def test_rows_are_those_of_process_mode(spark, leaving, inputs, kind, input):
    rows = inputs(input)

    def program(spark):
        frame = KINDS[kind](rows, leaving.gate)
        if spark.conf.get(MODE) == "auto":
            assert "Thread" in executed_plan(frame)
        return sorted(map(repr, frame.collect()))

    left = leaving(program)
    with settings(spark, {**SETTINGS, MODE: "process"}):
        assert left == program(spark)
    assert len(left) >= 50


@pytest.mark.parametrize("use_arrow", [False, True])
def test_cached_columns(spark, leaving, inputs, use_arrow):
    """Of types that Spark hands out from its cache in columns."""
    rows, gate = inputs("cached columns"), leaving.gate

    def f(n):
        gate()
        return n + 1

    def program(spark):
        return sorted(rows.select(udf(f, "long", useArrow=use_arrow)("n"), "k").collect())

    assert leaving(program) == [(n + 1, n % 50) for n in range(ROWS)]


# Streams


def batches_of(frame, where):
    """The rows of a stream, whose files come in one batch."""
    query = (
        frame.writeStream.format("memory")
        .queryName(where)
        .outputMode("append")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return sorted(map(repr, frame.sparkSession.table(where).collect()))


@pytest.mark.parametrize(
    "kind",
    [
        "plain arrow",
        "scalar pandas",
        "groups with a state",
        pytest.param("plain pickled", marks=pytest.mark.complete),
        pytest.param("map in arrow", marks=pytest.mark.complete),
        pytest.param("table function", marks=pytest.mark.complete),
    ],
)
def test_streams(spark, leaving, tmp_path, kind):
    path = str(tmp_path / "files")
    generated(spark).write.parquet(path)

    def program(spark):
        stream = spark.readStream.schema(SCHEMA).parquet(path)
        name = f"{spark.conf.get(MODE)}_{kind.replace(' ', '_')}"
        return batches_of(IN_STREAMS[kind](stream, leaving.gate), name)

    left = leaving(program)
    with settings(spark, {**SETTINGS, MODE: "process"}):
        assert left == program(spark)
    assert len(left) >= ROWS


def test_foreach(spark, leaving, tmp_path):
    path, written, gate = str(tmp_path / "files"), tmp_path / "written", leaving.gate
    written.mkdir()
    generated(spark).write.parquet(path)

    class Sink:
        def process(self, row):
            gate()
            Path(written, str(row.n)).write_text(repr(row))

    def program(spark):
        stream = spark.readStream.schema(SCHEMA).parquet(path)
        stream.writeStream.foreach(Sink()).trigger(availableNow=True).start().awaitTermination()
        return sorted(int(name) for name in os.listdir(written))

    assert leaving(program) == list(range(ROWS))


# Data sources


def sources(gate, written):
    """A source whose readers and writers pass the gate, batch by batch or in streams."""

    class Reader(DataSourceReader):
        def partitions(self):
            return [InputPartition(number) for number in range(TASKS)]

        def read(self, partition):
            gate()
            for n in range(4):
                yield (partition.value * 4 + n,)

    class StreamReader(DataSourceStreamReader):
        def initialOffset(self):  # noqa: N802
            return {"n": 0}

        def latestOffset(self, start=None, limit=None):  # noqa: N802
            return {"n": 1}

        def partitions(self, start, end):
            return [InputPartition(number) for number in range(TASKS)]

        def read(self, partition):
            return Reader().read(partition)

    def write(rows):
        gate()
        for row in rows:
            Path(written, str(row.n)).touch()
        return WriterCommitMessage()

    class Writer(DataSourceWriter):
        def write(self, rows):
            return write(rows)

    class StreamWriter(DataSourceStreamWriter):
        def write(self, rows):
            return write(rows)

    class Source(DataSource):
        @classmethod
        def name(cls):
            return "gated"

        def schema(self):
            return "n long"

        def reader(self, schema):
            return Reader()

        def streamReader(self, schema):  # noqa: N802
            return StreamReader()

        def writer(self, schema, overwrite):
            return Writer()

        def streamWriter(self, schema, overwrite):  # noqa: N802
            return StreamWriter()

    return Source


def read(spark, path):
    return sorted(row.n for row in spark.read.format("gated").load().collect())


def read_stream(spark, path):
    query = (
        spark.readStream.format("gated")
        .load()
        .writeStream.format("memory")
        .queryName("gated_rows")
        .trigger(once=True)
        .start()
    )
    query.awaitTermination()
    return sorted(row.n for row in spark.table("gated_rows").collect())


def write(spark, path):
    spark.read.parquet(str(path / "stored")).write.format("gated").mode("append").save()
    return sorted(int(name) for name in os.listdir(path / "written"))


def write_stream(spark, path):
    query = (
        spark.readStream.schema("n long")
        .parquet(str(path / "stored"))
        .writeStream.format("gated")
        .option("checkpointLocation", str(path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return sorted(int(name) for name in os.listdir(path / "written"))


@pytest.mark.parametrize("use", [read, read_stream, write, write_stream])
def test_data_sources(spark, leaving, tmp_path, use):
    (tmp_path / "written").mkdir()
    rows = spark.range(4 * TASKS, numPartitions=TASKS).withColumnRenamed("id", "n")
    rows.write.parquet(str(tmp_path / "stored"))
    spark.dataSource.register(sources(leaving.gate, str(tmp_path / "written")))
    assert leaving(lambda spark: use(spark, tmp_path)) == list(range(4 * TASKS))
