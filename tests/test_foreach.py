"""`foreach` in streams: rows and errors as Spark's own workers have them."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from pyspark import TaskContext
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F
from pyspark.sql.functions import udf
from pyspark.sql.types import ArrayType, DoubleType, MapType, StringType, StructType

from comparison import exact, failure, settings
from points import Point, PointUDT
from sessions import FALLBACK, MODE, wait_until
from test_types import EDGES, edges

TIMEOUT = "spark.pyflow.python.timeout"


@pytest.fixture
def stored(spark, tmp_path):
    """Rows in two files, each a partition of a stream's only batch."""
    path = str(tmp_path / "stored")
    spark.range(40, numPartitions=2).selectExpr("id as n", "concat('row ', id) as s").write.parquet(
        path
    )
    return path


class Writer:
    """Writes what it sees to a file per task."""

    def __init__(self, folder, wanted=lambda partition: True):
        self.folder = str(folder)
        self.wanted = wanted

    def open(self, partition_id, epoch_id):
        self.lines = [f"open {partition_id} {epoch_id}"]
        self.name = f"{partition_id}"
        return self.wanted(partition_id)

    def process(self, row):
        self.lines.append(repr(exact(row)))

    def close(self, error):
        self.lines.append(f"close {type(error).__name__} {error}")
        Path(self.folder, self.name).write_text("\n".join(self.lines))


def run(spark, frame, sink, conf):
    """The query after its end, and why it failed."""
    with settings(spark, conf):
        query = frame.writeStream.foreach(sink).trigger(availableNow=True).start()
        try:
            query.awaitTermination()
        except StreamingQueryException as error:
            return query, error
    return query, None


def plan_of(query):
    return query._jsq.streamingQuery().lastExecution().executedPlan().toString()


THREAD = {MODE: "thread"}
PROCESS = {MODE: "process"}


def both(spark, frame, make_sink, tmp_path, conf=None):
    """What the sink has written under both modes, by file; the same under each."""
    seen = []
    for mode in (PROCESS, THREAD):
        folder = tmp_path / mode[MODE]
        folder.mkdir()
        query, error = run(spark, frame(), make_sink(folder), {**mode, **(conf or {})})
        assert error is None, error
        assert ("Python in thread mode" in plan_of(query)) == (mode is THREAD)
        rows = query.lastProgress.sink.numOutputRows
        seen.append((rows, {each.name: each.read_text() for each in folder.iterdir()}))
    assert seen[0] == seen[1]
    return seen[0][1]


def stream(spark, stored):
    return lambda: spark.readStream.schema("n long, s string").parquet(stored)


@pytest.mark.slice
@pytest.mark.core
def test_object_with_all_methods(spark, stored, tmp_path):
    written = both(spark, stream(spark, stored), Writer, tmp_path)
    assert set(written) == {"0", "1"}
    for text in written.values():
        lines = text.splitlines()
        assert len(lines) == 22
        assert lines[0].endswith(" 0")
        assert lines[-1] == "close NoneType None"


def test_function(spark, stored, tmp_path):
    def make(folder):
        def append(row):
            with open(folder / str(TaskContext.get().partitionId()), "a") as file:
                file.write(f"{row.n} {row['s']} {row.asDict()}\n")

        return append

    written = both(spark, stream(spark, stored), make, tmp_path)
    assert sum(len(text.splitlines()) for text in written.values()) == 40


def test_open_that_refuses(spark, stored, tmp_path):
    def make(folder):
        return Writer(folder, lambda partition: partition == 1)

    written = both(spark, stream(spark, stored), make, tmp_path)
    assert len(written["0"].splitlines()) == 2
    assert len(written["1"].splitlines()) == 22


def test_partition_without_rows(spark, stored, tmp_path):
    written = both(spark, lambda: stream(spark, stored)().where("n < 20"), Writer, tmp_path)
    assert sorted(len(text.splitlines()) for text in written.values()) == [2, 22]


@pytest.mark.core
@pytest.mark.parametrize("group", EDGES)
def test_values_of_every_type(spark, tmp_path, group):
    frame, types = edges(spark, group)
    columns = [f"c{number}" for number in range(len(types))]
    nested = frame.select(
        "n",
        *columns,
        F.array(*columns[:1]).alias("list"),
        F.struct(*columns).alias("struct"),
        F.array(F.struct(*columns)).alias("structs"),
    )
    path = str(tmp_path / "typed")
    nested.write.parquet(path)
    written = both(
        spark, lambda: spark.readStream.schema(nested.schema).parquet(path), Writer, tmp_path
    )
    assert len(written["0"].splitlines()) == 2 + frame.count()


@pytest.mark.core
def test_maps_and_user_defined_types(spark, tmp_path):
    schema = (
        StructType()
        .add("m", MapType(StringType(), ArrayType(DoubleType())))
        .add("p", PointUDT())
        .add("same", StringType())
    )
    frame = spark.createDataFrame(
        [({"b": [1.5, None], "a": None}, Point(1.0, 2.0), "x"), (None, None, None)],
        schema,
        verifySchema=False,
    )
    path = str(tmp_path / "typed")
    frame.coalesce(1).write.parquet(path)

    def make(folder):
        return Writer(folder)

    written = both(spark, lambda: spark.readStream.schema(schema).parquet(path), make, tmp_path)
    assert "Point" in written["0"]


def failures(spark, frame, make_sink, conf=None):
    """Why the query fails in both modes: for the same reason."""
    seen = []
    for mode in (PROCESS, THREAD):
        query, error = run(spark, frame(), make_sink(), {**mode, **(conf or {})})
        assert error is not None, mode
        assert ("Python in thread mode" in plan_of(query)) == (mode is THREAD)
        found = failure(error)
        detail = re.sub(
            r"\[id = .*?\]|[Ii]d: \S+|=== Streaming Query.*", "", found.detail, flags=re.S
        )
        seen.append((found.exception, found.condition, detail))
    assert seen[0] == seen[1]
    return seen[0][2]


class Broken:
    """Fails where it is told to."""

    def __init__(self, where, error):
        self.where, self.error = where, error

    def open(self, partition_id, epoch_id):
        if self.where == "open":
            raise self.error
        return True

    def process(self, row):
        if self.where == "process" and row.n % 20 == 7:
            raise self.error

    def close(self, error):
        if self.where == "close":
            raise self.error


@pytest.mark.core
@pytest.mark.parametrize("where", ["open", "process", "close"])
@pytest.mark.parametrize("error", [ValueError("no room"), StopIteration("enough"), KeyError("k")])
def test_exceptions_of_writers_are_equal_in_both_modes(spark, stored, where, error):
    detail = failures(spark, stream(spark, stored), lambda: Broken(where, error))
    assert type(error).__name__ in detail


@pytest.mark.core
def test_error_of_a_function(spark, stored):
    def fail(row):
        return 1 / (row.n - 7)

    for conf in (
        {},
        {"spark.sql.execution.pyspark.udf.hideTraceback.enabled": "true"},
        {"spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "true"},
    ):
        assert "ZeroDivisionError" in failures(spark, stream(spark, stored), lambda: fail, conf)


@pytest.mark.core
def test_failing_input(spark, stored, tmp_path):
    """`close` is told; from Spark's own workers it hears that all is well."""
    refuse = udf(lambda n: 1 // (17 - n), "long")
    (tmp_path / "thread").mkdir()
    frame = stream(spark, stored)().withColumn("m", refuse("n"))
    _, error = run(spark, frame, Writer(tmp_path / "thread"), THREAD)
    assert "ZeroDivisionError" in str(error)
    # Another task may just be closing its file.
    closings = [each.read_text().splitlines()[-1:] for each in (tmp_path / "thread").iterdir()]
    assert ["close RuntimeError the input of the Python function failed"] in closings


@pytest.mark.core
def test_surroundings(spark, stored, tmp_path):
    count = spark.sparkContext.accumulator(0)
    names = spark.sparkContext.broadcast({n: f"name {n}" for n in range(40)})

    def make(folder):
        def note(row):
            count.add(1)
            context = TaskContext.get()
            with open(folder / str(context.partitionId()), "a") as file:
                epoch = context.getLocalProperty("streaming.sql.batchId")
                file.write(f"{names.value[row.n]} {epoch} {context.attemptNumber()}\n")

        return note

    both(spark, stream(spark, stored), make, tmp_path)
    assert count.value == 80


def test_state_is_of_the_task(spark, stored, tmp_path):
    """Each task gets an object of its own."""

    class Counting(Writer):
        def process(self, row):
            self.rows = getattr(self, "rows", 0) + 1
            self.lines.append(str(self.rows))

    written = both(spark, stream(spark, stored), Counting, tmp_path)
    assert [text.splitlines()[-2] for text in written.values()] == ["20", "20"]


def test_below_functions_of_other_kinds(spark, stored, tmp_path):
    upper = udf(lambda s: s.upper(), "string")

    def frame():
        return (
            stream(spark, stored)()
            .withColumn("s", upper("s"))
            .mapInPandas(lambda frames: frames, "n long, s string")
        )

    written = both(spark, frame, Writer, tmp_path)
    assert "ROW 7" in written["0"] + written["1"]


def test_stopping_the_query(spark, stored, tmp_path):
    started = tmp_path / "started"

    def endless(row):
        started.touch()
        while True:
            time.sleep(60)

    with settings(spark, THREAD):
        query = stream(spark, stored)().writeStream.foreach(endless).start()
    while not started.exists():
        assert query.isActive, query.exception()
        time.sleep(0.05)
    query.stop()
    tracker = spark.sparkContext.statusTracker()
    wait_until(lambda: not tracker.getActiveJobsIds(), "the job ends")


def test_time_limit_is_for_a_bundle_and_not_for_what_it_waits_for(spark, stored, tmp_path):
    slow = udf(lambda n: time.sleep(0.1) or n, "long").asNondeterministic()
    frame = stream(spark, stored)().withColumn("n", slow("n"))
    (tmp_path / "slow").mkdir()
    _, error = run(spark, frame, Writer(tmp_path / "slow"), {**THREAD, TIMEOUT: "1s"})
    assert error is None, error

    def hang(row):
        time.sleep(60)

    _, error = run(spark, stream(spark, stored)(), hang, {**THREAD, TIMEOUT: "1s"})
    assert f"had not returned after 1000 ms ({TIMEOUT})" in str(error)


def test_idle_timeout(spark, stored):
    def hang(row):
        time.sleep(60)

    idle = {
        "spark.sql.execution.pyspark.udf.idleTimeoutSeconds": "1",
        "spark.sql.execution.pyspark.udf.killOnIdleTimeout": "true",
    }
    for mode in (PROCESS, THREAD):
        _, error = run(spark, stream(spark, stored)().where("n = 0"), hang, {**mode, **idle})
        assert "terminated due to idle timeout (timeout: 1 seconds)" in str(error), mode


def test_what_stays_in_process_mode(spark, tmp_path):
    path = str(tmp_path / "months")
    spark.sql("select interval '3' month as i").write.parquet(path)

    def note(row):
        return None

    frame = spark.readStream.schema("i interval month").parquet(path)
    query, error = run(spark, frame, note, THREAD)
    assert "YearMonthIntervalType.fromInternal is not implemented" in str(error)
    reason = "thread mode has no conversion for type interval month"
    assert re.search(rf"ProcessMode \[foreach\(.*\)#\d+\], reason: {reason}", plan_of(query))
    _, error = run(spark, frame, note, {**THREAD, FALLBACK: "false"})
    assert f"foreach cannot run in thread mode: {reason}" in str(error)


def test_functions_that_are_not_allowed_stay_in_process_mode(spark, stored):
    query, error = run(
        spark,
        stream(spark, stored)(),
        print,
        {**THREAD, "spark.sql.pyspark.udf.profiler": "memory"},
    )
    assert error is None
    assert "the memory profiler is on" in plan_of(query)
