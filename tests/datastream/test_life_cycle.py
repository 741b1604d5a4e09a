"""How long operators live over the batches of a job.

First without Spark: tasks are those of a worker process, where one ends as PySpark drops its
context. Then as functions of programs see it, whatever becomes of their tasks.
"""

from __future__ import annotations

import contextlib
import sys
import time
import uuid
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from pyspark import TaskContext
from pyspark.sql import functions as F

from pyflow.common import Time, Types, WatermarkStrategy
from pyflow.datastream import (
    FilterFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    ProcessWindowFunction,
    ReduceFunction,
)
from pyflow.datastream.connectors.datagen import DataGeneratorSource
from pyflow.datastream.graph.temporary_settings import temporary_settings
from pyflow.datastream.runtime import life_cycle
from pyflow.datastream.state import ValueStateDescriptor
from pyflow.datastream.testing import TestStream
from pyflow.datastream.window import TumblingEventTimeWindows
from sessions import wait_until

BATCH = "streaming.sql.batchId"
RUN = "spark.jobGroup.id"


class Operators:
    def __init__(self):
        self.failed = self.cannot_close = False
        self.metric_groups = []
        self.closings = 0

    def close(self):
        self.closings += 1
        if self.cannot_close:
            raise ValueError("wrong")


class Job:
    """Runs tasks of a run of a query, and has all operators that they have opened."""

    def __init__(self):
        self.name = str(uuid.uuid4())
        self.run_id = str(uuid.uuid4())
        self.opened = []

    def open(self):
        self.opened.append(Operators())
        return self.opened[-1]

    def task(self, batch, subtask=0, stage=0, fails=False, skips=False):
        """The operators that a task of a batch runs with; no batch is that of bounded input."""
        context, taken = self.begin(batch, subtask, stage, skips)
        assert taken.closings == 0
        taken.failed = fails
        del context
        return taken

    def begin(self, batch, subtask=0, stage=0, skips=False):
        """A task's context, with which it ends, and the operators that it runs with."""
        context = TaskContext._getOrCreate()
        context._partitionId = subtask
        context._localProperties = {}
        if batch is not None:
            context._localProperties = {BATCH: str(batch), RUN: self.run_id}
        try:
            return context, life_cycle.taken(self.name, stage, self.open, None, skips)
        finally:
            TaskContext._setTaskContext(None)


@pytest.fixture
def job():
    made = Job()
    yield made
    TaskContext._setTaskContext(None)
    life_cycle.close_run(made.run_id)


def test_operators_are_kept_from_batch_to_batch(job):
    assert len({id(job.task(batch)) for batch in range(200)}) == 1
    assert [each.closings for each in job.opened] == [0]


@pytest.mark.parametrize("place", ["subtask", "stage"])
def test_each_subtask_and_stage_has_its_own(job, place):
    for batch in range(3):
        for number in range(4):
            job.task(batch, **{place: number})
    assert len(job.opened) == 4


def test_jobs_do_not_share_operators(job):
    other = Job()
    first = job.task(0)
    assert other.task(1) is not first
    assert job.task(1) is first
    life_cycle.close_run(other.run_id)


def test_two_queries_of_a_job_do_not_share_operators(job):
    first = job.task(0)
    run, job.run_id = job.run_id, str(uuid.uuid4())
    second = job.task(1)
    life_cycle.close_run(job.run_id)
    job.run_id = run
    assert job.task(1) is first is not second
    assert (first.closings, second.closings) == (0, 1)


def test_a_query_may_begin_with_any_batch(job):
    assert job.task(41) is job.task(42)


def test_operators_of_a_failed_batch_are_closed_with_its_task(job):
    failed = job.task(0, fails=True)
    assert failed.closings == 1
    assert job.task(0) is not failed
    assert failed.closings == 1


@pytest.mark.parametrize(
    "batch", [pytest.param(3, id="the same again"), pytest.param(5, id="a gap"), 2]
)
def test_operators_are_opened_anew_where_the_batch_before_was_not_theirs(job, batch):
    before = job.task(3)
    after = job.task(batch)
    assert after is not before
    assert (before.closings, after.closings) == (1, 0)
    assert job.task(batch + 1) is after


def test_operators_before_a_shuffle_stay_open_over_batches_without_rows(job):
    assert len({id(job.task(batch, skips=True)) for batch in (0, 1, 4, 9)}) == 1
    before = job.task(10, skips=True)
    assert job.task(10, skips=True) is not before
    assert before.closings == 1


def test_two_attempts_of_a_subtask_at_once_do_not_share_operators(job):
    kept = job.task(0)
    first, taken = job.begin(1)
    second, others = job.begin(1)
    assert (taken, others is taken) == (kept, False)
    del first, second
    # Those of the attempt that ended last go on.
    assert (taken.closings, others.closings) == (1, 0)
    assert job.task(2) is others


def test_operators_of_bounded_input_are_closed_with_their_task(job):
    assert job.task(None) is not job.task(None)
    assert [each.closings for each in job.opened] == [1, 1]


def test_the_end_of_a_query_closes_what_is_open_of_it_once(job):
    first, second = job.task(0, subtask=0), job.task(0, subtask=1)
    life_cycle.close_run(job.run_id)
    life_cycle.close_run(job.run_id)
    assert (first.closings, second.closings) == (1, 1)
    assert job.task(1) is not first


def test_operators_that_cannot_be_opened_are_not_kept(job):
    def fail():
        raise ValueError("wrong")

    works, job.open = job.open, fail
    with pytest.raises(ValueError, match="wrong"):
        job.task(0)
    job.open = works
    job.task(1)
    assert len(job.opened) == 1


def test_a_task_that_outlives_its_query_closes_its_operators(job):
    context, taken = job.begin(0)
    life_cycle.close_run(job.run_id)
    assert taken.closings == 0
    del context
    assert taken.closings == 1


def test_operators_are_closed_before_a_worker_says_that_its_task_failed(job):
    context, taken = job.begin(0)
    TaskContext._setTaskContext(context)
    life_cycle.fail(taken)
    TaskContext._setTaskContext(None)
    assert taken.closings == 1
    del context
    assert taken.closings == 1


def test_outdated_operators_that_cannot_be_closed_are_no_matter(job, capsys):
    job.task(0).cannot_close = True
    assert job.task(2).closings == 0
    assert "An operator failed in close()" in capsys.readouterr().err


def test_the_end_of_a_query_closes_all_and_says_what_failed(job):
    opened = [job.task(0, subtask=number) for number in range(3)]
    for each in opened[:2]:
        each.cannot_close = True
    with pytest.raises(ValueError, match="wrong"):
        life_cycle.close_run(job.run_id)
    assert [each.closings for each in opened] == [1, 1, 1]


# Functions of programs.

NOTHING = WatermarkStrategy.no_watermarks()


class Told:
    """Writes to a file when it is opened and closed, and fails where it has to."""

    def __init__(self, file, name, fails=None):
        self.file = file
        self.name = name
        self.fails = fails

    def open(self, runtime_context):
        self.say("open")

    def close(self):
        self.say("close")

    def say(self, what):
        with Path(self.file).open("a") as file:
            file.write(f"{what} {self.name}\n")
        if self.fails == what:
            raise ValueError(f"{self.name} cannot {what}")


class Mapped(Told, MapFunction):
    def map(self, value):
        if self.fails == "map":
            raise ValueError("cannot map")
        if self.fails == "exit":
            sys.exit(3)
        if self.fails == "wait" and value > 0:
            self.say("wait")
            time.sleep(600)
        return value


class Filtered(Told, FilterFunction):
    def filter(self, value):
        return True


class Selected(Told, KeySelector):
    def get_key(self, value):
        return value % 2


class Reduced(Told, ReduceFunction):
    def reduce(self, value1, value2):
        return value1 + value2


class Evaluated(Told, ProcessWindowFunction):
    def process(self, key, context, elements):
        yield from elements


class Processed(Told, KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value


class WithoutState(Told, KeyedProcessFunction):
    """Cannot be opened, as it declares a state twice."""

    def open(self, runtime_context):
        self.say("open")
        runtime_context.get_state(ValueStateDescriptor("n", Types.INT()))
        runtime_context.get_state(ValueStateDescriptor("n", Types.STRING()))


@pytest.fixture
def file(tmp_path):
    return str(tmp_path / "calls")


def calls(file):
    return Path(file).read_text().splitlines()


def opened_and_closed(file):
    """How often each function was opened, and closed."""
    found = Counter(calls(file))
    names = {each.split()[1] for each in found}
    return {name: (found[f"open {name}"], found[f"close {name}"]) for name in names}


def run(stream):
    with stream.execute_and_collect() as elements:
        return list(elements)


def chain(ds, file, failing):
    return ds.map(Mapped(file, "a")).filter(failing).map(Mapped(file, "b")), ["b"]


def keyed(ds, file, failing):
    keyed = ds.key_by(lambda value: value).map(Mapped(file, "b")).key_by(lambda value: value)
    return keyed.filter(failing).map(Mapped(file, "c")), ["c"]


def windows(ds, file, failing):
    windowed = ds.key_by(Selected(file, "key"))
    windowed = windowed.window(TumblingEventTimeWindows.of(Time.seconds(1)))
    made = windowed.reduce(Reduced(file, "reduce"), Evaluated(file, failing.name, failing.fails))
    return made.map(Mapped(file, "c")), ["c", "key", "reduce"]


@pytest.mark.complete("chain", "windows")
@pytest.mark.parametrize(
    ("program", "mode", "is_bounded"),
    [
        (chain, "thread", True),
        (chain, "process", True),
        (windows, "thread", True),
        (keyed, "process", False),
        *(
            pytest.param(*case, marks=pytest.mark.complete)
            for case in product((chain, keyed, windows), ("thread", "process"), (True, False))
        ),
    ],
)
def test_what_is_open_is_closed_where_a_function_cannot_be_opened(
    make_env, file, program, mode, is_bounded
):
    env = make_env(parallelism=1, mode=mode)
    ds = (
        env.from_collection([1, 2])
        if is_bounded
        else env.from_source(TestStream().add_elements([1, 2]), NOTHING, "test")
    )
    failing = Filtered(file, "failing", "open")
    stream, others = program(ds, file, failing)
    with pytest.raises(Exception, match=r"failed in open\(\): ValueError: failing cannot open"):
        run(stream)
    found = opened_and_closed(file)
    assert found.pop("failing")[1] == 0
    assert set(others) <= set(found)
    assert all(opened == closed > 0 for opened, closed in found.values()), found


def test_a_function_is_closed_whose_operator_cannot_use_it(make_env, mode, file):
    """It has been opened, and its state has no name of its own."""

    class Same(Told, ReduceFunction):
        def open(self, runtime_context):
            self.say("open")
            runtime_context.get_state(ValueStateDescriptor("_reduced", Types.INT()))

        def reduce(self, value1, value2):
            return value1 + value2

    env = make_env(parallelism=1, mode=mode)
    with pytest.raises(Exception, match="state '_reduced' is declared twice"):
        run(env.from_collection([1]).key_by(lambda value: value).reduce(Same(file, "same")))
    assert opened_and_closed(file) == {"same": (1, 1)}


@pytest.mark.parametrize(("fails", "is_keyed"), [("map", True), ("exit", False)])
def test_functions_are_closed_once_where_one_fails(make_env, mode, file, fails, is_keyed):
    ds = make_env(parallelism=1, mode=mode).from_collection([1])
    ds = ds.key_by(lambda value: value) if is_keyed else ds
    stream = ds.map(Mapped(file, "a", fails)).map(Mapped(file, "b"))
    with pytest.raises(Exception, match="ValueError: cannot map" if fails == "map" else "3"):
        run(stream)
    assert opened_and_closed(file) == {"a": (1, 1), "b": (1, 1)}


def test_functions_are_closed_where_another_one_fails_in_close(make_env, mode, file):
    ds = make_env(parallelism=1, mode=mode).from_collection([1])
    stream = ds.map(Mapped(file, "a")).map(Mapped(file, "b", "close")).map(Mapped(file, "c"))
    # A worker process could only log it.
    fails = pytest.raises(Exception, match="b cannot close")
    with fails if mode == "thread" else contextlib.nullcontext():
        assert run(stream) == [1]
    assert opened_and_closed(file) == {"a": (1, 1), "b": (1, 1), "c": (1, 1)}


def test_an_unbounded_job_says_at_its_end_what_failed_in_close(make_env, mode, file):
    env = make_env(parallelism=2, mode=mode)
    source = TestStream().add_elements(range(8)).add_elements(range(8))
    ds = env.from_source(source, NOTHING, "test").map(Mapped(file, "a", "close"))
    ds = ds.key_by(lambda value: value).map(Mapped(file, "b"))
    with pytest.raises(Exception, match="a cannot close"):
        run(ds)
    assert opened_and_closed(file) == {"a": (1, 1), "b": (2, 2)}


def open_operators(spark):
    """Of which jobs operators wait for a batch, in the interpreters of the executor."""

    def jobs(_):
        time.sleep(0.2)
        return sorted({slot[0] for slot in life_cycle._waiting})

    found = []
    for interpreter in ("shared", "auto"):
        settings = {
            "spark.pyflow.execution-mode": "thread",
            "spark.pyflow.interpreter": interpreter,
        }
        with temporary_settings(spark, settings):
            function = F.udf(jobs, "array<string>", useArrow=False).asNondeterministic()
            rows = spark.range(0, 2, 1, 2).select(function("id").alias("jobs")).collect()
            found += [job for row in rows for job in row.jobs]
    return found


def placed(file):
    """A function that tells its subtask and interpreter.

    It is not of this module, which imports what isolated interpreters refuse.
    """

    class Placed(KeyedProcessFunction):
        def open(self, runtime_context):
            self.subtask = runtime_context.get_index_of_this_subtask()
            self.say("open")

        def process_element(self, value, ctx):
            self.say("element")
            yield value

        def close(self):
            self.say("close")

        def say(self, what):
            with open(file, "a") as lines:
                lines.write(f"{what} {self.subtask} {id(sys.modules)}\n")

    return Placed()


@pytest.mark.complete("5")
@pytest.mark.parametrize("parallelism", [2, 5])
def test_subtasks_stay_in_their_interpreters(make_env, file, parallelism):
    """Of two slots, also where the first batch has an element of one subtask alone."""
    env = make_env(parallelism=parallelism)
    source = TestStream().add_elements([0])
    for _ in range(5):
        source.add_elements(range(8))
    ds = env.from_source(source, NOTHING, "test").key_by(lambda value: value, Types.INT())
    assert len(run(ds.process(placed(file), Types.INT()))) == 41
    told = [line.split() for line in calls(file)]
    found = Counter((what, subtask) for what, subtask, _ in told)
    subtasks = list(map(str, range(parallelism)))
    assert all(found["open", each] == found["close", each] == 1 for each in subtasks)
    places = {each: {place for _, other, place in told if other == each} for each in subtasks}
    assert all(len(each) == 1 for each in places.values()), places
    has_isolated = sys.version_info >= (3, 13) and sys._is_gil_enabled()
    assert len(set.union(*places.values())) == (2 if has_isolated else 1)


def test_functions_are_closed_where_they_are_whatever_the_session_asks_for_meanwhile(
    make_env, file, spark
):
    env = make_env(parallelism=2)
    source = TestStream().add_elements(range(8))
    source.ends = False
    ds = env.from_source(source, NOTHING, "test").key_by(lambda value: value, Types.INT())
    ds.process(placed(file), Types.INT()).print()
    client = env.execute_async(str(uuid.uuid4()))

    def number(what):
        return Counter(line.split()[0] for line in calls(file))[what]

    wait_until(lambda: Path(file).exists() and number("element") == 8, "elements came", 60)
    spark.conf.set("spark.pyflow.interpreter", "shared")
    try:
        client.cancel().result()
        wait_until(lambda: number("close") == 2, "both functions are closed", 20)
    finally:
        spark.conf.unset("spark.pyflow.interpreter")


@pytest.mark.complete("process")
def test_a_job_leaves_nothing_open_that_fails_in_a_later_batch(make_env, mode, file, spark):
    env = make_env(parallelism=2, mode=mode)
    source = TestStream().add_elements(range(8)).add_elements(range(8)).add_elements([-1])
    ds = env.from_source(source, NOTHING, "test").map(Mapped(file, "a"))
    ds = ds.key_by(lambda value: value).map(lambda value: 1 // (value + 1)).map(Mapped(file, "b"))
    with pytest.raises(Exception, match="ZeroDivisionError"):
        run(ds)

    def is_closed():
        found = opened_and_closed(file)
        return all(opened == closed > 0 for opened, closed in found.values())

    # The other task may be ending still.
    wait_until(is_closed, "all functions are closed")
    assert open_operators(spark) == []


def test_a_cancelled_job_leaves_nothing_open(make_env, file, spark):
    """One function waits for its next batch, the other is in the middle of one."""
    env = make_env(parallelism=1)
    source = TestStream().add_elements([0]).add_elements([1])
    source.ends = False
    ds = env.from_source(source, NOTHING, "test").map(Mapped(file, "a"))
    ds.key_by(lambda value: value).map(Mapped(file, "b", "wait")).print()
    client = env.execute_async(str(uuid.uuid4()))
    wait_until(lambda: Path(file).exists() and "wait b" in calls(file), "it waits", 60)
    client.cancel().result()

    def is_closed():
        return opened_and_closed(file) == {"a": (1, 1), "b": (1, 1)}

    wait_until(is_closed, "all functions are closed", 20)
    assert open_operators(spark) == []


@pytest.mark.complete("process")
def test_two_jobs_at_once_have_functions_of_their_own(make_env, mode, file, spark):
    clients = []
    for name in "ab":
        env = make_env(parallelism=2, mode=mode)
        source = TestStream()
        for _ in range(3):
            source.add_elements(range(8))
        ds = env.from_source(source, NOTHING, "test").key_by(lambda value: value)
        ds.map(Mapped(file, name)).print()
        clients.append(env.execute_async(str(uuid.uuid4())))
    for client in clients:
        client.get_job_execution_result().result()
    found = opened_and_closed(file)
    assert set(found) == {"a", "b"}
    assert all(opened == closed >= 2 for opened, closed in found.values()), found
    assert open_operators(spark) == []


def test_bounded_programs_at_once_run_in_their_modes_and_leave_none_set(make_env, spark):
    def place(_):
        return Path("/proc/self/exe").resolve().name

    before = spark.conf.getAll
    streams, found = {}, {}
    for mode in ("thread", "process", "thread"):
        env = make_env(parallelism=1, mode=mode)
        source = DataGeneratorSource(lambda number: number, 3)
        ds = env.from_source(source, NOTHING, "numbers").map(place)
        streams.setdefault(mode, []).append(ds.execute_and_collect())
    for mode, started in streams.items():
        found[mode] = {each for elements in started for each in elements}
    assert found["thread"] == {"java"}
    assert found["process"] != {"java"}
    wait_until(lambda: spark.conf.getAll == before, "the settings are as they were", 20)


def test_operators_share_no_function(make_env, mode):
    """They have copies of it, as in Flink, though the program has given them the same."""

    class Counting(MapFunction):
        def open(self, runtime_context):
            self.count = 0

        def map(self, value):
            self.count += 1
            return value, self.count

    function = Counting()
    ds = make_env(parallelism=1, mode=mode).from_collection(["x"]).map(function).map(function)
    assert run(ds) == [(("x", 1), 1)]
