"""Python data sources: their readers and writers in both modes."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceWriter,
    EqualTo,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.functions import col

from comparison import executed_plan, settings
from sessions import FALLBACK, MODE

SCHEMA = "n int, text string, list array<double>, part int"


@pytest.fixture(autouse=True)
def sources(spark):
    for source in (Numbers, Filtered, Broken, Batches):
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


def test_process_mode_has_its_reason(spark, tmp_path):
    profiler = {MODE: "thread", "spark.sql.pyspark.udf.profiler": "perf"}
    with settings(spark, profiler):
        frame = spark.read.format("numbers").load()
        plan = executed_plan(frame)
        assert re.search(r"ProcessMode \[numbers.*reason: the UDF profiler is on", plan)
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
