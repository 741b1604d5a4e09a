"""Where functions run inside the JVM: one interpreter for all tasks, or one for each slot."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql.functions import udf

from comparison import executed_plan, operator, settings, thread_modes
from deployments import run
from sessions import FALLBACK, FREE_THREADED, INTERPRETER, MODE, OWN_GIL

pytestmark = pytest.mark.core

PROGRAM = Path(__file__).parent / "programs" / "interpreters.py"


def interpreter(n):
    """Identity of the interpreter; slow enough that two tasks run at once."""
    import time

    time.sleep(0.005)
    if sys.version_info >= (3, 13):
        import _interpreters

        return _interpreters.get_current()[0]
    import _xxsubinterpreters

    return int(_xxsubinterpreters.get_current())


def interpreters(spark, setting):
    with settings(spark, {MODE: "thread", INTERPRETER: setting}):
        frame = spark.range(200, numPartitions=2).select(udf(interpreter, "int")("id"))
        return {row[0] for row in frame.collect()}


@pytest.mark.slice
def test_auto_gives_each_slot_an_interpreter_where_python_can(spark):
    found = interpreters(spark, "auto")
    if OWN_GIL:
        assert len(found) == 2
        assert 0 not in found
    else:
        assert found == {0}


@pytest.mark.slice
def test_shared_is_the_main_interpreter(spark):
    assert interpreters(spark, "shared") == {0}


@pytest.mark.skipif(FREE_THREADED, reason="refused, see test_free_threaded.py")
def test_isolated(spark):
    if OWN_GIL:
        assert 0 not in interpreters(spark, "isolated")
        return
    conf = {MODE: "thread", INTERPRETER: "isolated"}
    with settings(spark, conf):
        frame = spark.range(2).select(udf(lambda n: n, "long")("id"))
        assert frame.collect() == [(0,), (1,)]
        assert "3.13" in executed_plan(frame)
        with settings(spark, {FALLBACK: "false"}), pytest.raises(Exception, match=r"3\.13"):
            spark.range(2).select(udf(lambda n: n, "long")("id")).collect()


def test_interpreters_are_pooled(spark):
    """Queries one after another use the same few interpreters."""
    found = set()
    for _ in range(6):
        found |= interpreters(spark, "auto")
    assert len(found) <= 4


@pytest.mark.skipif(not OWN_GIL, reason="this Python has no isolated interpreters")
def test_refusals_are_not_kept(spark):
    """An interpreter refuses any number of functions in its life, and only them."""

    def imports_numpy(n):
        import numpy as np

        return int(np.abs(n))

    def refusals(n):
        from pyflow.thread_mode import bootstrap, current_task

        return len(current_task.current().refused_imports) if bootstrap.is_isolated() else -1

    with settings(spark, {MODE: "thread", INTERPRETER: "auto"}):
        for i in range(4):
            made = udf(lambda n, i=i: imports_numpy(n) + i, "int")
            rows = spark.range(4, numPartitions=2).select(made("id")).collect()
            assert [row[0] for row in rows] == [n + i for n in range(4)]
        found = spark.range(4, numPartitions=2).select(udf(refusals, "int")("id")).collect()
        assert {row[0] for row in found} == {0}


def test_modules_stay_loaded_between_tasks(spark):
    def counts(n):
        import sys

        sys.calls_of_this_test = getattr(sys, "calls_of_this_test", 0) + 1
        return sys.calls_of_this_test

    with settings(spark, {MODE: "thread", INTERPRETER: "shared"}):
        frame = spark.range(3, numPartitions=1).select(udf(counts, "int")("id"))
        first, second = frame.collect(), frame.collect()
    assert second[0][0] == first[-1][0] + 1


def test_each_task_has_functions_of_its_own(spark):
    """Globals that a function changes are seen by the rows of its task only."""

    def program():
        calls = []

        def count(n):
            calls.append(n)
            return len(calls)

        frame = spark.range(40, numPartitions=4).select(udf(count, "int")("id"))
        return [row[0] for row in frame.collect()]

    for mode in thread_modes():
        with settings(spark, mode):
            assert program() == list(range(1, 11)) * 4


@pytest.mark.parametrize("setting", ["auto", "shared"])
def test_faulthandler_stays_off(spark, setting):
    """The JVM needs SIGSEGV for itself, whatever functions or libraries ask for."""

    def enables(n):
        import faulthandler

        before = faulthandler.is_enabled()
        try:
            faulthandler.enable()
        except Exception as error:
            return f"{before} {type(error).__name__}"
        return f"{before} {faulthandler.is_enabled()}"

    def asks(n):
        import faulthandler

        return faulthandler.is_enabled()

    with settings(spark, {MODE: "thread", INTERPRETER: setting}):
        frame = spark.range(4, numPartitions=2)
        assert {row[0] for row in frame.select(udf(asks, "boolean")("id")).collect()} == {False}
        texts = {row[0] for row in frame.select(udf(enables)("id")).collect()}
        assert all(text.startswith("False") and not text.endswith("True") for text in texts), texts
        assert {row[0] for row in frame.select(udf(asks, "boolean")("id")).collect()} == {False}


@pytest.mark.parametrize("setting", ["auto", "shared"])
def test_python_threads_of_a_function_make_progress(spark, setting):
    """While rows are evaluated, and between two queries."""

    def counts(n):
        import sys
        import threading
        import time

        if not hasattr(sys, "ticks_of_this_test"):
            sys.ticks_of_this_test = 0

            def tick():
                end = time.monotonic() + 60
                while time.monotonic() < end:
                    sys.ticks_of_this_test += 1
                    time.sleep(0.001)

            threading.Thread(target=tick, daemon=True).start()
        busy_until = time.monotonic() + 0.02
        while time.monotonic() < busy_until:
            pass
        return sys.ticks_of_this_test

    with settings(spark, {MODE: "thread", INTERPRETER: setting}):
        frame = spark.range(60, numPartitions=1).select(udf(counts, "long")("id"))
        first = [row[0] for row in frame.collect()]
        second = [row[0] for row in frame.collect()]
    assert first[-1] > first[0]
    assert second[-1] > second[0]
    if setting == "shared":
        assert second[0] > first[-1]


@pytest.mark.parametrize("setting", ["auto", "shared"])
def test_functions_may_start_and_join_threads(spark, setting):
    def joins(n):
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(4) as pool:
            return sum(pool.map(lambda x: x * x, range(10)))

    with settings(spark, {MODE: "thread", INTERPRETER: setting}):
        rows = spark.range(20, numPartitions=2).select(udf(joins, "long")("id")).collect()
    assert {row[0] for row in rows} == {285}


def test_tasks_with_interpreters_of_their_own_run_at_the_same_time(spark):
    """A task that holds its GIL does not stop another."""
    if not OWN_GIL:
        pytest.skip("no interpreters with their own GIL")

    def holds(n):
        import itertools
        import time

        before = time.monotonic()
        sum(itertools.repeat(1, 60_000_000))
        return (before, time.monotonic())

    with settings(spark, {MODE: "thread", INTERPRETER: "isolated"}):
        f = udf(holds, "began double, ended double")
        spark.range(2, numPartitions=2).select(f("id")).collect()
        one, two = (row[0] for row in spark.range(2, numPartitions=2).select(f("id")).collect())
    assert max(one.began, two.began) < min(one.ended, two.ended)


def test_functions_that_need_the_shared_interpreter_move_there_once(tmp_path):
    done = subprocess.run(
        [sys.executable, str(PROGRAM)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    for name in ("imports_when_called", "imports_late", "imports_at_load"):
        assert done.stdout.count(f"DONE {name}") == 2
        moved = [
            line
            for line in done.stdout.splitlines()
            if name in line and "moves to the shared interpreter" in line
        ]
        # One line per function: the Arrow and the pickled one are two.
        assert len(moved) in ((1, 2) if OWN_GIL else (0,)), moved


@pytest.mark.complete
@pytest.mark.parametrize(
    "master", ["local[2]", pytest.param("local-cluster[2,2,768]", marks=pytest.mark.complete)]
)
def test_functions_that_import_late_do_nothing_twice(tmp_path, master):
    program = PROGRAM.parent / "late_imports.py"
    output = run([sys.executable, program, master], tmp_path, seconds=600)
    assert "\nENDED" in output, output[-6000:]


def numpy_inside(n):
    import numpy as np

    return int(np.abs(n))


@pytest.mark.skipif(not OWN_GIL, reason="this Python has no isolated interpreters")
def test_plans_and_metrics_say_where_functions_run(spark):
    """What a function imports is known when it has run; the metrics count tasks."""
    import numpy as np

    def numpy_outside(n):
        return int(np.abs(n))

    functions = {"plain": lambda n: n, "inside": numpy_inside, "outside": numpy_outside}
    seen = {}
    with settings(spark, {MODE: "thread", INTERPRETER: "auto"}):
        for name, function in functions.items():
            made = udf(function, "int")
            plans = []
            for _ in range(2):
                frame = spark.range(4, numPartitions=2).select(made("id"))
                plans.append(interpreter_in(executed_plan(frame)))
                frame.collect()
            plans.append(interpreter_in(executed_plan(frame)))
            plan = frame._jdf.queryExecution().executedPlan()
            metrics = operator(plan, "ThreadEvalPython").metrics()
            tasks = [metrics.apply(each).value() for each in ("isolatedTasks", "sharedTasks")]
            seen[name] = plans, tasks
    unknown = "isolated or shared"
    moved = [unknown, "shared", "shared"], [0, 2]
    assert seen == {"plain": ([unknown] * 3, [2, 0]), "inside": moved, "outside": moved}


def interpreter_in(plan):
    return re.search(r"interpreter: ([\w ]+)", plan)[1]
