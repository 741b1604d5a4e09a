"""When functions are opened and closed, and what they learn of their task."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from comparison import process_mode, settings, thread_modes
from functions_of_tables import aggregated, call, lateral
from pyflow.table.expressions import col
from pyflow.table.udf import (
    AggregateFunction,
    AsyncScalarFunction,
    ScalarFunction,
    TableFunction,
    udaf,
    udf,
    udtf,
)
from sessions import MODE
from streams import Source

MODES = [process_mode(), *thread_modes()]


@pytest.fixture(params=MODES, ids=lambda mode: "-".join(mode.values()))
def mode(request, spark):
    """Each mode in turn."""
    with settings(spark, request.param):
        yield request.param


class Notes:
    """What functions did, in a file: a line each."""

    def __init__(self, path):
        self.path = str(path)

    def add(self, text):
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, f"{text}\n".encode())
        os.close(file)

    def read(self):
        if not os.path.exists(self.path):
            return []
        with open(self.path) as file:
            return file.read().split()

    def when(self, complete, seconds=60):
        """The lines when they are complete; workers go on after a query has ended."""
        deadline = time.monotonic() + seconds
        while not complete(self.read()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return self.read()


@pytest.fixture
def notes(tmp_path):
    return Notes(tmp_path / "notes")


class Noted:
    """What the functions of these tests have in common."""

    def __init__(self, notes):
        self.notes = notes

    def open(self, function_context):
        self.task = function_context.get_index_of_this_subtask()
        self.notes.add(f"open{self.task}")

    def close(self):
        self.notes.add(f"close{self.task}")


class Scalar(Noted, ScalarFunction):
    def eval(self, x):
        self.notes.add(f"eval{self.task}")
        return x


class Series(Noted, ScalarFunction):
    def eval(self, x):
        self.notes.add(f"eval{self.task}")
        return x


class Async(Noted, AsyncScalarFunction):
    async def eval(self, x):
        self.notes.add(f"eval{self.task}")
        return x


class Rows(Noted, TableFunction):
    def eval(self, x):
        self.notes.add(f"eval{self.task}")
        return [x]


class Sum(Noted, AggregateFunction):
    def create_accumulator(self):
        self.notes.add(f"eval{self.task}")
        return [0]

    def accumulate(self, accumulator, x):
        accumulator[0] += x

    def get_value(self, accumulator):
        return accumulator[0]


def scalar(frame, notes):
    return frame.select(call(udf(Scalar(notes), result_type="BIGINT"), frame, "id"))


def series(frame, notes):
    function = udf(Series(notes), result_type="BIGINT", func_type="pandas")
    return frame.select(call(function, frame, "id"))


def asynchronous(frame, notes):
    return frame.select(call(udf(Async(notes), result_type="BIGINT"), frame, "id"))


def table(frame, notes):
    function = udtf(Rows(notes), result_types="BIGINT")
    return lateral(function, frame, "id", names=["x"])


def aggregate(frame, notes):
    function = udaf(Sum(notes), result_type="BIGINT", accumulator_type="BIGINT")
    return frame.groupBy("id").agg(aggregated(function, frame, "id"))


def count(lines, what):
    return sum(line.startswith(what) for line in lines)


@pytest.mark.parametrize("kind", [scalar, series, asynchronous, table, aggregate])
def test_open_and_close_once_per_task(spark, mode, notes, kind):
    kind(spark.range(0, 8, numPartitions=2), notes).collect()

    lines = notes.when(lambda lines: count(lines, "close") == count(lines, "open"))
    tasks = {line[-1] for line in lines}
    assert "0" in tasks
    for task in tasks:
        of_task = [line[:-1] for line in lines if line.endswith(task)]
        assert of_task[0] == "open"
        assert of_task[-1] == "close"
        assert set(of_task[1:-1]) == {"eval"}


def test_each_function_of_an_operator_is_opened(spark, mode, notes):
    functions = [udf(Scalar(notes), result_type="BIGINT", name=name) for name in ("f", "g")]
    frame = spark.range(0, 1, numPartitions=1)
    frame.select(*(call(function, frame, "id") for function in functions)).collect()

    lines = notes.when(lambda lines: lines.count("close0") == 2)
    assert lines == ["open0", "open0", "eval0", "eval0", "close0", "close0"]


def test_close_after_an_error(spark, mode, notes):
    class Fails(Scalar):
        def eval(self, x):
            raise ValueError("no")

    frame = spark.range(0, 1, numPartitions=1)
    with pytest.raises(Exception, match="no"):
        frame.select(call(udf(Fails(notes), result_type="BIGINT"), frame, "id")).collect()

    assert notes.when(lambda lines: "close0" in lines) == ["open0", "close0"]


def test_a_limit_closes_too(spark, mode, notes):
    frame = spark.range(0, 100_000, numPartitions=1)
    scalar(frame, notes).limit(1).collect()

    lines = notes.when(lambda lines: "close0" in lines)
    assert lines[0] == "open0"
    assert lines.count("close0") == 1


def test_an_error_in_open(spark, mode, notes):
    class Fails(Scalar):
        def open(self, function_context):
            raise ValueError("cannot be opened")

    frame = spark.range(0, 1, numPartitions=1)
    with pytest.raises(Exception, match="cannot be opened"):
        frame.select(call(udf(Fails(notes), result_type="BIGINT"), frame, "id")).collect()

    assert notes.read() == []


@pytest.mark.parametrize("thread_mode", thread_modes(), ids=lambda mode: "-".join(mode.values()))
def test_an_error_in_close_fails_the_task_in_thread_mode(spark, thread_mode, notes):
    class Fails(Scalar):
        def close(self):
            raise ValueError("cannot be closed")

    frame = spark.range(0, 1, numPartitions=1)
    with settings(spark, thread_mode), pytest.raises(Exception, match="cannot be closed"):
        frame.select(call(udf(Fails(notes), result_type="BIGINT"), frame, "id")).collect()


class Waiting(Scalar):
    """Takes longer over a row than Spark lets a worker live whose task is cancelled."""

    def eval(self, x):
        self.notes.add("eval0")
        for _ in range(600):
            time.sleep(0.1)


def waiting(frame, notes):
    return frame.select(call(udf(Waiting(notes), result_type="BIGINT"), frame, "id"))


def cancel_at_first_row(spark, frame, notes):
    """Begin to compute a frame, and cancel it where a function has had a row."""

    def run():
        spark.sparkContext.setJobGroup("closes", "closes", interruptOnCancel=True)
        frame.write.format("noop").mode("overwrite").save()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run)
        notes.when(lambda lines: "eval0" in lines)
        spark.sparkContext.cancelJobGroup("closes")
        with pytest.raises(Exception, match="cancelled part of cancelled job group closes"):
            running.result(60)


@pytest.mark.parametrize("kind", [scalar, series, asynchronous, table, aggregate])
def test_a_task_cancelled_between_rows_closes(spark, mode, notes, kind):
    frame = spark.range(0, 1 << 22, numPartitions=1)
    cancel_at_first_row(spark, kind(frame, notes), notes)

    lines = notes.when(lambda lines: "close0" in lines, seconds=20)
    assert lines[0] == "open0"
    assert lines[-1] == "close0"
    assert set(lines[1:-1]) == {"eval0"}


def test_a_function_with_state_closes_when_its_batch_ends_and_when_its_query_does(
    spark, environment, mode, notes, tmp_path
):
    class Slow(Sum):
        def accumulate(self, accumulator, x):
            super().accumulate(accumulator, x)
            time.sleep(0.001 * x)

    t_env = environment("streaming", **{"python_execution-mode": mode[MODE]})
    source = Source(spark, tmp_path, "k BIGINT; v BIGINT")
    source.add([(number, 0) for number in range(20)])
    function = udaf(Slow(notes), result_type="BIGINT", accumulator_type="ARRAY<BIGINT>")
    table = source.table(t_env).group_by(col("k")).select(col("k"), function(col("v")))
    result = table.execute()
    (query,) = spark.streams.active
    try:
        query.processAllAvailable()
        after_a_batch = notes.when(lambda lines: lines.count("close0") == 1)
        source.add([(number, 1) for number in range(20_000)])
        notes.when(lambda lines: lines.count("open0") == 2 and lines[-1] == "eval0")
    finally:
        result.collect().close()
    lines = notes.when(lambda lines: lines.count("close0") == 2)[len(after_a_batch) :]

    for of_batch in (after_a_batch, lines):
        assert (of_batch[0], of_batch[-1]) == ("open0", "close0")
        assert set(of_batch[1:-1]) == {"eval0"}


def test_a_task_cancelled_within_a_row_closes(spark, mode, notes):
    cancel_at_first_row(spark, waiting(spark.range(0, 1, numPartitions=1), notes), notes)

    expected = ["open0", "eval0", "close0"]
    if mode == process_mode():
        expected.pop()  # Spark kills the worker
        time.sleep(3)
    assert notes.when(lambda lines: len(lines) == len(expected)) == expected


def test_what_a_function_learns_of_its_task(spark, mode):
    class Tells(ScalarFunction):
        def open(self, function_context):
            self.context = (
                function_context.get_task_name(),
                function_context.get_task_name_with_subtasks(),
                function_context.get_number_of_parallel_subtasks(),
                function_context.get_max_number_of_parallel_subtasks(),
                function_context.get_index_of_this_subtask(),
                function_context.get_attempt_number(),
                function_context.get_job_parameter("a", "?"),
                function_context.get_job_parameter("b", "?"),
            )

        def eval(self, x):
            return str(self.context)

    tells = udf(Tells(), result_type="STRING")
    frame = spark.range(0, 3, numPartitions=3)
    rows = frame.select(call(tells, frame, "id", job_parameters={"a": "1"})).collect()

    assert [eval(row[0]) for row in rows] == [
        ("Tells", f"Tells ({index + 1}/3)", 3, 3, index, 0, "1", "?") for index in range(3)
    ]


@pytest.mark.skipif(len(thread_modes()) == 1, reason="no isolated interpreters")
def test_open_that_needs_the_shared_interpreter(spark, notes):
    """The function moves before it is called, as one does whose module imports such a package."""

    class Imports(Scalar):
        def open(self, function_context):
            super().open(function_context)
            import numpy as np

            self.number = int(np.int64(5))

        def eval(self, x):
            return x + self.number

    frame = spark.range(0, 1, numPartitions=1)
    with settings(spark, thread_modes()[0]):
        rows = frame.select(call(udf(Imports(notes), result_type="BIGINT"), frame, "id")).collect()

    assert rows[0][0] == 5
