"""Python data sources: their readers and writers in both modes."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.errors import AnalysisException
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
    EqualTo,
    InputPartition,
    SimpleDataSourceStreamReader,
    WriterCommitMessage,
)
from pyspark.sql.functions import col

from comparison import executed_plan, settings
from sessions import FALLBACK, MODE

SCHEMA = "n int, text string, list array<double>, part int"


@pytest.fixture(autouse=True)
def sources(spark):
    for source in (Numbers, Filtered, Broken, Batches, Counting, Simple):
        spark.dataSource.register(source)


class Numbers(DataSource):
    """Rows, and a file that tells what has been written."""

    @classmethod
    def name(cls):
        return "numbers"

    def schema(self):
        return SCHEMA

    def reader(self, schema):
        return NumbersReader(int(self.options.get("partitions", 3)))

    def writer(self, schema, overwrite):
        return NumbersWriter(self.options["path"], self.options.get("fail"), overwrite)


class NumbersReader(DataSourceReader):
    def __init__(self, count):
        self.count = count
        self.only = None

    def partitions(self):
        return [InputPartition(number) for number in range(self.count)]

    def read(self, partition):
        for i in range(5):
            n = 10 * partition.value + i
            if self.only is None or n == self.only:
                yield (n, f"row {n}", [n / 2, None], TaskContext.get().partitionId())


class Filtered(Numbers):
    @classmethod
    def name(cls):
        return "filtered"

    def reader(self, schema):
        return FilteredReader(3)


class FilteredReader(NumbersReader):
    def pushFilters(self, filters):  # noqa: N802
        for each in filters:
            if isinstance(each, EqualTo) and each.attribute == ("n",):
                self.only = each.value
            else:
                yield each


@dataclass
class Written(WriterCommitMessage):
    rows: int
    total: int


class NumbersWriter(DataSourceWriter):
    def __init__(self, path, fail, overwrite):
        self.path, self.fail, self.overwrite = path, fail, overwrite

    def write(self, rows):
        numbers = [row.n for row in rows]
        if self.fail == "write":
            raise ValueError("no room")
        if self.fail == "message":
            return None
        return Written(len(numbers), sum(numbers))

    def commit(self, messages):
        rows, total = sum(m.rows for m in messages), sum(m.total for m in messages)
        with open(self.path, "w") as file:
            file.write(f"{rows} rows, sum {total}, overwrite {self.overwrite}")

    def abort(self, messages):
        with open(self.path, "w") as file:
            file.write("aborted")


class Broken(DataSource):
    @classmethod
    def name(cls):
        return "broken"

    def schema(self):
        return "n int"

    def reader(self, schema):
        return BrokenReader(self.options.get("fail"))


class BrokenReader(DataSourceReader):
    def __init__(self, fail):
        self.fail = fail

    def read(self, partition):
        yield (1,)
        if self.fail == "type":
            yield ("text",)
        if self.fail == "width":
            yield (1, 2)
        raise ValueError("no more")


class Batches(DataSource):
    @classmethod
    def name(cls):
        return "batches"

    def schema(self):
        return "n long, pid long"

    def reader(self, schema):
        return BatchesReader()


class BatchesReader(DataSourceReader):
    def read(self, partition):
        for start in range(0, 30, 10):
            numbers = list(range(start, start + 10))
            yield pa.record_batch({"n": numbers, "pid": [os.getpid()] * 10})


@pytest.mark.slice
def test_reading(arrow_lane):
    def program(spark):
        frame = spark.read.format("numbers").load()
        return [
            frame,
            frame.select("text").where(col("n") > 11),
            frame.groupBy("part").count().orderBy("part"),
        ]

    arrow_lane(program)


def test_filters_that_are_pushed_down(arrow_lane):
    def program(spark):
        frame = spark.read.format("filtered").load()
        return frame.where("n = 12").select("n", "text")

    pushed = {"spark.sql.python.filterPushdown.enabled": "true"}
    assert len(arrow_lane(program, pushed)) == 1


def test_batches_are_read_where_the_functions_of_thread_mode_run(spark):
    jvm = spark._jvm.java.lang.ProcessHandle.current().pid()
    for mode in ("process", "thread"):
        with settings(spark, {MODE: mode}):
            rows = spark.read.format("batches").load().collect()
            assert [row.n for row in rows] == list(range(30))
            assert ({row.pid for row in rows} == {jvm}) == (mode == "thread")


@pytest.mark.parametrize("fail", ["read", "type", "width"])
def test_failures_of_reading(arrow_lane, fail):
    arrow_lane.fail(lambda spark: spark.read.format("broken").option("fail", fail).load())


def write(spark, path, mode="append", **options):
    writer = spark.range(0, 20, 1, 4).selectExpr("cast(id as int) as n").write.format("numbers")
    writer.mode(mode).options(path=str(path), **options).save()


@pytest.mark.slice
@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_writing(spark, tmp_path, mode):
    written = {}
    for execution in ("process", "thread"):
        with settings(spark, {MODE: execution, FALLBACK: "false"}):
            write(spark, tmp_path / execution, mode)
            written[execution] = (tmp_path / execution).read_text()
    assert written["thread"] == f"20 rows, sum 190, overwrite {mode == 'overwrite'}"
    assert written["thread"] == written["process"]


@pytest.mark.parametrize("fail", ["write", "message"])
def test_failures_of_writing(spark, tmp_path, fail):
    messages = {}
    for execution in ("process", "thread"):
        with settings(spark, {MODE: execution}):
            with pytest.raises(Exception) as failure:  # noqa: PT011
                write(spark, tmp_path / execution, fail=fail)
            assert (tmp_path / execution).read_text() == "aborted"
            found = re.search(r"ValueError: no room|\[DATA_SOURCE_\w+\]", str(failure.value))
            messages[execution] = found and found[0]
    assert messages["thread"]
    assert messages["thread"] == messages["process"]


# Before, Spark's own process needs the package memory_profiler.
memory_profiler = pytest.mark.since_spark("4.2")


@memory_profiler
def test_process_mode_has_its_reason(spark, tmp_path):
    profiler = {MODE: "thread", "spark.sql.pyspark.udf.profiler": "memory"}
    with settings(spark, profiler):
        frame = spark.read.format("numbers").load()
        plan = executed_plan(frame)
        assert re.search(r"ProcessMode \[numbers.*reason: the memory profiler is on", plan)
        assert frame.count() == 15
        write(spark, tmp_path / "file")
        assert (tmp_path / "file").read_text().startswith("20 rows")
        with settings(spark, {FALLBACK: "false"}):
            for action in (
                lambda: spark.read.format("numbers").load().collect(),
                lambda: write(spark, tmp_path / "other"),
            ):
                with pytest.raises(Exception, match="numbers cannot run in thread mode"):
                    action()
            assert not (tmp_path / "other").exists()


class Counting(DataSource):
    """A stream of numbers, and one that appends what it gets to files."""

    @classmethod
    def name(cls):
        return "counting"

    def schema(self):
        return "n long, part int, pid long"

    def streamReader(self, schema):  # noqa: N802
        return CountingReader(self.options.get("fail"))

    def streamWriter(self, schema, overwrite):  # noqa: N802
        return CountingWriter(self.options["path"], self.options.get("fail"))


class Simple(DataSource):
    @classmethod
    def name(cls):
        return "simple"

    def schema(self):
        return "n long, part int, pid long"

    def simpleStreamReader(self, schema):  # noqa: N802
        return SimpleReader()


class CountingReader(DataSourceStreamReader):
    """Twenty numbers in two partitions, all in the first batch."""

    def __init__(self, fail):
        self.fail = fail

    def initialOffset(self):  # noqa: N802
        return {"n": 0}

    def latestOffset(self, start=None, limit=None):  # noqa: N802
        return {"n": 20}

    def partitions(self, start, end):
        middle = (start["n"] + end["n"]) // 2
        return [InputPartition((start["n"], middle)), InputPartition((middle, end["n"]))]

    def read(self, partition):
        for n in range(*partition.value):
            if self.fail == "read" and n == 13:
                raise ValueError("no more")
            yield (n, TaskContext.get().partitionId(), os.getpid())


class SimpleReader(SimpleDataSourceStreamReader):
    def initialOffset(self):  # noqa: N802
        return {"n": 0}

    def read(self, start):
        end = min(start["n"] + 10, 20)
        return iter([(n, 0, 0) for n in range(start["n"], end)]), {"n": end}

    def readBetweenOffsets(self, start, end):  # noqa: N802
        return iter([(n, 0, 0) for n in range(start["n"], end["n"])])


class CountingWriter(DataSourceStreamWriter):
    def __init__(self, path, fail):
        self.path, self.fail = path, fail

    def write(self, rows):
        numbers = [row.n for row in rows]
        if self.fail == "write":
            raise ValueError("no room")
        return Written(len(numbers), sum(numbers))

    def _note(self, text):
        with open(self.path, "a") as file:
            file.write(text + "\n")

    def commit(self, messages, batchId):  # noqa: N803
        rows, total = sum(m.rows for m in messages), sum(m.total for m in messages)
        self._note(f"batch {batchId}: {rows} rows, sum {total}")

    def abort(self, messages, batchId):  # noqa: N803
        self._note(f"batch {batchId} aborted")


def run_stream(spark, frame, sink, mode, **options):
    """A query after one batch at least, its plan, and why it failed."""
    with settings(spark, mode):
        writer = frame.writeStream.format(sink).options(**options)
        query = writer.queryName("counted").start()
        try:
            query.processAllAvailable()
            error = None
        except Exception as failed:
            error = str(failed)
        progress = [(p.numInputRows, p.sink.numOutputRows) for p in query.recentProgress]
        execution = query._jsq.streamingQuery().lastExecution()
        # None where the query failed before its first batch; the error then says why.
        plan = "" if execution is None else execution.executedPlan().toString()
        query.stop()
    return progress, plan, error


def test_streams_from_a_source(spark):
    jvm = spark._jvm.java.lang.ProcessHandle.current().pid()
    seen = {}
    for mode in ("process", "thread"):
        frame = spark.readStream.format("counting").load()
        progress, plan, error = run_stream(spark, frame, "memory", {MODE: mode, FALLBACK: "false"})
        assert error is None, error
        assert ("(Python in thread mode" in plan) == (mode == "thread")
        rows = spark.table("counted").collect()
        assert ({row.pid for row in rows} == {jvm}) == (mode == "thread")
        seen[mode] = (sorted((row.n, row.part) for row in rows), progress[0])
    assert [n for n, _ in seen["thread"][0]] == list(range(20))
    assert seen["thread"] == seen["process"]


def test_streams_that_the_driver_reads(spark):
    """A simple reader's rows are read once, by the driver, who hands them to the tasks."""
    seen = {}
    for mode in ("process", "thread"):
        frame = spark.readStream.format("simple").load()
        _, _, error = run_stream(spark, frame, "memory", {MODE: mode, FALLBACK: "false"})
        assert error is None, error
        seen[mode] = sorted(row.n for row in spark.table("counted").collect())
    assert seen["thread"] == seen["process"] == list(range(20))


def test_failures_of_streams_from_a_source(spark):
    for mode in ("process", "thread"):
        frame = spark.readStream.format("counting").option("fail", "read").load()
        _, _, error = run_stream(spark, frame, "memory", {MODE: mode})
        assert "ValueError: no more" in error, error


@pytest.mark.parametrize("fail", ["", "write"])
def test_streams_to_a_source(spark, tmp_path, fail):
    rows = tmp_path / "rows"
    spark.range(20, numPartitions=2).selectExpr("id as n").write.parquet(str(rows))
    seen = {}
    for mode in ("process", "thread"):
        frame = spark.readStream.schema("n long").parquet(str(rows))
        options = {
            "path": str(tmp_path / mode),
            "fail": fail,
            "checkpointLocation": str(tmp_path / f"{mode}-checkpoint"),
        }
        progress, plan, error = run_stream(spark, frame, "counting", {MODE: mode}, **options)
        assert ("(Python in thread mode" in plan) == (mode == "thread")
        assert ("ValueError: no room" in error) if fail else error is None, error
        seen[mode] = (progress, (tmp_path / mode).read_text())
    assert seen["thread"] == seen["process"]
    assert seen["thread"][1] == ("batch 0 aborted\n" if fail else "batch 0: 20 rows, sum 190\n")


@memory_profiler
def test_streams_have_the_reason_of_process_mode(spark, tmp_path):
    profiler = {MODE: "thread", "spark.sql.pyspark.udf.profiler": "memory"}
    frame = spark.readStream.format("counting").load()
    options = {"path": str(tmp_path / "file"), "checkpointLocation": str(tmp_path / "checkpoint")}
    _, plan, error = run_stream(spark, frame, "counting", profiler, **options)
    assert error is None, error
    reason = r"ProcessMode \[counting.*\], reason: the memory profiler is on"
    assert len(re.findall(reason, plan)) == 2
    with pytest.raises(AnalysisException, match="counting cannot run in thread mode"):
        run_stream(spark, frame, "memory", {**profiler, FALLBACK: "false"})
