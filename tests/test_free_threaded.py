"""A free-threaded Python: all slots in parallel in the shared interpreter, by both lanes."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.errors import PythonException
from pyspark.sql import functions as F

from comparison import executed_plan, settings
from deployments import PROGRAMS, run
from sessions import FALLBACK, FREE_THREADED, INTERPRETER, MODE

pytestmark = [
    pytest.mark.core,
    pytest.mark.skipif(not FREE_THREADED, reason="this Python has a GIL"),
]


@pytest.fixture
def thread(spark):
    with settings(spark, {MODE: "thread", FALLBACK: "false"}):
        yield spark


@pytest.fixture
def no_turns(thread):
    """Whoever had a GIL would keep it until he waits for something."""

    def set_interval(seconds):
        before = sys.getswitchinterval()
        sys.setswitchinterval(seconds)
        return before

    def set_in_jvm(seconds):
        frame = thread.range(1).select(F.udf(set_interval, "double")(F.lit(seconds)))
        return frame.collect()[0][0]

    before = set_in_jvm(1000.0)
    yield
    set_in_jvm(before)


def meets(name):
    """Whether two tasks are here at once, both without waiting for anything."""
    here = sys.__dict__.setdefault(name, {})
    here[TaskContext.get().partitionId()] = True
    end = time.monotonic() + 20
    while len(here) < 2 and time.monotonic() < end:
        pass
    return len(here) == 2


@pytest.mark.slice
@pytest.mark.usefixtures("no_turns")
def test_two_tasks_run_python_code_at_the_same_time(thread):
    function = F.udf(lambda n: meets("meeting of rows"), "boolean")
    frame = thread.range(2, numPartitions=2).select(function("id"))
    assert frame.collect() == [(True,), (True,)]


@pytest.mark.slice
@pytest.mark.usefixtures("no_turns")
def test_two_tasks_run_numpy_and_arrow_at_the_same_time(thread):
    def meet(batches):
        import numpy as np

        for batch in batches:
            met = meets("meeting of batches")
            numbers = np.arange(batch.num_rows) + int(met)
            yield pa.RecordBatch.from_arrays([pa.array(numbers)], ["met"])

    frame = thread.range(2, numPartitions=2).mapInArrow(meet, "met long")
    assert frame.collect() == [(1,), (1,)]


def test_numpy_and_pyarrow_leave_the_gil_off(thread):
    def is_on(batches):
        import numpy as np

        for batch in batches:
            on = np.full(batch.num_rows, sys._is_gil_enabled())
            yield pa.RecordBatch.from_arrays([pa.array(on)], ["on"])

    assert thread.range(1, numPartitions=1).mapInArrow(is_on, "on boolean").collect() == [(False,)]


def test_auto_is_the_shared_interpreter(thread):
    def interpreter(n):
        import _interpreters

        return _interpreters.get_current()[0]

    frame = thread.range(20, numPartitions=2).select(F.udf(interpreter, "int")("id"))
    assert {row[0] for row in frame.collect()} == {0}


def test_isolated_interpreters_are_refused_with_the_reason(thread):
    reason = "(?s)is a free-threaded build.*spark.pyflow.interpreter to auto or shared"
    with settings(thread, {INTERPRETER: "isolated"}), pytest.raises(Exception, match=reason):
        thread.range(1).select(F.udf(lambda n: n, "long")("id")).collect()


def test_busy_tasks_are_not_taken_for_waiting_ones(spark):
    """With a GIL, functions like this one leave for process mode."""

    def busy(n):
        end = time.thread_time() + 1
        while time.thread_time() < end:
            sum(range(1000))
        return n

    function = F.udf(busy, "long")
    with settings(spark, {MODE: "auto"}):
        for _ in range(4):
            frame = spark.range(2, numPartitions=2).select(function("id"))
            frame.collect()
            assert "ThreadEvalPython" in executed_plan(frame)


@pytest.mark.parametrize("use_arrow", [False, True], ids=["pickled", "arrow"])
def test_results_that_other_threads_change(thread, use_arrow):
    """Containers that the functions of all tasks return while a thread fills and empties them."""

    def change(ended, longs, texts, named, mapped):
        while not ended.is_set():
            longs.extend(range(50))
            texts.extend(map(str, range(50)))
            named.update(a=1, b="b")
            mapped.update(c=2)
            del longs[:], texts[:]
            named.clear()
            mapped.clear()

    def shared(n):
        made = (threading.Event(), [], [], {}, {})
        found = sys.__dict__.setdefault("containers of this test", made)
        if found is made:
            threading.Thread(target=change, args=found, daemon=True).start()
        return dict(zip(("longs", "texts", "named", "mapped"), found[1:]))

    def end(n):
        sys.__dict__.pop("containers of this test")[0].set()

    returns = (
        "longs array<long>, texts array<string>, named struct<a: long, b: string>, "
        "mapped map<string, long>"
    )
    function = F.udf(shared, returns, useArrow=use_arrow)
    for _ in range(5):
        frame = thread.range(4000, numPartitions=8).select(function("id").alias("x"))
        for row in changed_size_aside(frame):
            assert set(row.x.longs) <= set(range(50))
            assert set(row.x.texts) <= set(map(str, range(50)))
            assert row.x.named.a in (1, None)
            assert row.x.named.b in ("b", None)
            assert row.x.mapped in ({}, {"c": 2})
    thread.range(1).select(F.udf(end, "string")("id")).collect()


def changed_size_aside(frame):
    """The rows of a query; none if a container has changed its size while it was read."""
    try:
        return frame.collect()
    except PythonException as error:
        if "changed size during" not in str(error):
            raise
        return []


def test_many_tasks_share_broadcasts_accumulators_and_output(thread):
    context = thread.sparkContext
    table = context.broadcast({n: str(n) for n in range(1000)})
    total = context.accumulator(0)

    def look_up(n):
        print("row", n)
        total.add(1)
        return table.value[n % 1000]

    frame = thread.range(20_000, numPartitions=200)
    rows = frame.select(F.udf(look_up, "string")("id")).collect()
    assert Counter(row[0] for row in rows) == {str(n): 20 for n in range(1000)}
    assert total.value == 20_000


@pytest.mark.slice
def test_many_tasks_of_every_lane_load_at_once(thread):
    """Each brings functions, a class and a table function of its own along."""

    class Point:
        def __init__(self, x):
            self.x = x

    @F.udtf(returnType="y: long")
    class Twice:
        def eval(self, x: int):
            yield (x,)
            yield (x,)

    plain = F.udf(lambda n: Point(n).x + 1, "long")
    series = F.pandas_udf(lambda s: s + 1, "long", F.PandasUDFType.SCALAR)
    arrays = F.arrow_udf(lambda a: pa.compute.add(a, 1), "long")
    rows = thread.range(400, numPartitions=100)
    frame = rows.select("id", plain("id").alias("a"), series("id").alias("b"))
    frame = frame.select("*", arrays("b").alias("c")).lateralJoin(Twice(F.col("c").outer()))
    assert sorted(map(tuple, frame.collect())) == sorted(
        (n, n + 1, n + 1, n + 2, n + 2) for n in range(400) for _ in range(2)
    )


def test_cancelled_tasks_leave_no_shared_lock_taken(thread):
    """Interrupted at any point of what they do, and so within logging and imports."""

    def log_and_import(end):
        import importlib
        import logging

        class Quiet(logging.Handler):
            def emit(self, record):
                pass

        module = ("colorsys", "sched")[TaskContext.get().partitionId()]
        logger = logging.getLogger("of cancelled tasks")
        logger.propagate = False
        if not logger.handlers:
            logger.addHandler(Quiet())
        done = 0
        while done == 0 or time.monotonic() < end:
            logger.warning("a line")
            sys.modules.pop(module, None)
            importlib.import_module(module)
            done += 1
        return done

    function = F.udf(log_and_import, "long")

    def run(seconds):
        end = F.lit(time.monotonic() + seconds)
        return thread.range(2, numPartitions=2).select(function(end)).collect()

    with ThreadPoolExecutor(1) as pool:
        for _ in range(10):
            job = pool.submit(run, 60)
            while not job.done():
                time.sleep(0.5)
                thread.sparkContext.cancelAllJobs()
            with pytest.raises(Exception, match="cancel"):
                job.result()
    assert all(row[0] >= 1 for row in run(0))


DECLARES_NOTHING = """\
#include <Python.h>
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "declares_nothing", NULL, -1, NULL};
PyMODINIT_FUNC PyInit_declares_nothing(void) { return PyModule_Create(&module); }
"""


@pytest.fixture
def declares_nothing(tmp_path):
    """The folder of an extension module that does not say that it runs without the GIL."""
    source = tmp_path / "declares_nothing.c"
    source.write_text(DECLARES_NOTHING)
    include = sysconfig.get_path("include")
    library = source.with_suffix(".so")
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{include}", "-o", library, source], check=True)
    return tmp_path


def test_a_module_that_turns_the_gil_on_is_named_in_the_log(declares_nothing, tmp_path):
    output = run([sys.executable, PROGRAMS / "free_threaded.py", declares_nothing], tmp_path)
    assert "BEFORE off AFTER on" in output
    (line,) = [line for line in output.splitlines() if "[turns_on, task" in line]
    assert "GIL) has been enabled" in line
    assert "'declares_nothing'" in line
    assert "PYTHON_GIL=0" in line


def test_the_gil_stays_off_where_the_environment_of_executors_says_so(declares_nothing, tmp_path):
    output = run([sys.executable, PROGRAMS / "free_threaded.py", declares_nothing, "0"], tmp_path)
    assert "BEFORE off AFTER off" in output
