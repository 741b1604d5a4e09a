"""Executors that crash while they make interpreters: `crash_at_start.py MASTER CASE`.

Executors have two task slots, and so two interpreters with a GIL of their own. Their
`sitecustomize` tells what is made, and crashes or waits in the interpreter of a number: 1 and 2 are
isolated. Plans tell which of start and functions goes to process mode.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyspark.sql.functions import PandasUDFType, pandas_udf, udf

import comparison
import sessions

SITE = """
import os, time
from pathlib import Path

if os.path.realpath("/proc/self/exe").endswith("java"):
    import _interpreters

    number = _interpreters.get_current()[0]
    events = Path({events!r})

    def wait_for(event):
        while not (events / event).exists():
            time.sleep(0.05)

    def crash():
        os._exit(1)

    (events / f"made {{number}} in {{os.getpid()}}").touch()
    {action}
"""

START = "was lost while the embedded Python started"
FUNCTION = "it was running when executor"


def in_java():
    return os.path.realpath("/proc/self/exe").endswith("java")


def crash():
    ctypes.CDLL(None)._exit(1)


def place(n):
    return "java" if in_java() else "python"


class Waiting:
    """A function that waits in the JVM for what an executor does, and may end it."""

    def __init__(self, events, awaited, *, crashes):
        self.events, self.awaited, self.crashes = events, awaited, crashes

    def __call__(self, n):
        if in_java():
            (self.events / "running").touch()
            while not any(self.events.glob(self.awaited)):
                time.sleep(0.05)
            if self.crashes:
                (self.events / "crashed").touch()
                crash()
        return n + 1


def run(spark, function, kind="rows"):
    """A query of one task, whose rows must be right; a plan that is made afterwards."""
    rows = spark.range(6, numPartitions=1)
    if kind == "rows":
        f = udf(function, "long")
    else:
        f = pandas_udf(lambda n: n.map(function), "long", PandasUDFType.SCALAR)
    got = sorted(rows.select(f("id")).collect())
    assert got == [(n + 1,) for n in range(6)], got
    return comparison.executed_plan(rows.select(f("id")))


def check_others(spark, where, reason=""):
    """Where a function runs that was not there when an executor was lost."""
    frame = spark.range(8, numPartitions=4).select(udf(place)("id").alias("place")).distinct()
    assert frame.collect() == [(where,)], frame.collect()
    plan = comparison.executed_plan(frame)
    if where == "java":
        comparison.assert_thread_plan(plan)
    else:
        assert reason in plan, plan


def a_function(spark, events):
    """It crashes while another interpreter is made."""
    plan = run(spark, Waiting(events, "made 2 *", crashes=True))
    assert FUNCTION in plan, plan
    check_others(spark, "java")


def functions_of_two_tasks(spark, events):
    """One crashes beside another, in a slot each of an executor; a third is not to blame."""
    companion = Waiting(events, "crashed", crashes=False)
    with ThreadPoolExecutor() as threads:
        beside = threads.submit(run, spark, companion, kind="batches")
        sessions.wait_until((events / "running").exists, "the other function runs")
        plan = run(spark, Waiting(events, "made 2 *", crashes=True))
        assert FUNCTION in plan, plan
        assert FUNCTION in beside.result(), beside.result()
    check_others(spark, "java")


def a_function_over_batches(spark, events):
    """It runs in the shared interpreter, beside the making of the first isolated one."""
    plan = run(spark, Waiting(events, "made 1 *", crashes=True), kind="batches")
    assert FUNCTION in plan, plan
    check_others(spark, "java")


def another_interpreter(spark, events):
    """The function is taken for the cause, until the next start crashes without any."""
    run(spark, Waiting(events, "never", crashes=False))
    check_others(spark, "python", START)


def the_first_interpreter(spark, events):
    run(spark, Waiting(events, "never", crashes=False))
    check_others(spark, "python", START)


def nothing(spark, events):
    """Spark kills an executor that makes interpreters."""
    sessions.wait_until(lambda: any(events.glob("made 2 *")), "an interpreter is made")
    assert spark._jsc.sc().killExecutor(sessions.executors().difference({"driver"}).pop())
    (events / "crashed").touch()
    spark._jsc.sc().requestTotalExecutors(1, 0, spark._jvm.PythonUtils.toScalaMap({}))
    check_others(spark, "java")


#: What sitecustomize does in an executor, by case.
CASES = {
    "a_function": (a_function, "number == 2 and wait_for('crashed')"),
    "functions_of_two_tasks": (functions_of_two_tasks, "number == 2 and wait_for('crashed')"),
    "a_function_over_batches": (a_function_over_batches, "number == 1 and wait_for('crashed')"),
    "another_interpreter": (another_interpreter, "number == 2 and (wait_for('running'), crash())"),
    "the_first_interpreter": (the_first_interpreter, "number == 1 and crash()"),
    "the_first_of_a_task": (the_first_interpreter, "number == 1 and crash()"),
    "nothing": (nothing, "number == 2 and wait_for('crashed')"),
}


def main() -> None:
    master, case = sys.argv[1:]
    check, action = CASES[case]
    events, modules = Path("events").resolve(), Path("modules").resolve()
    for directory in (events, modules):
        directory.mkdir()
    site = SITE.format(events=str(events), action=action)
    (modules / "sitecustomize.py").write_text(site)
    spark = sessions.start(
        master,
        conf={
            **sessions.crashing_conf(),
            "spark.executor.cores": "2",
            "spark.executorEnv.PYTHONPATH": str(modules),
            sessions.MODE: "process" if case == "the_first_of_a_task" else "thread",
        },
    )
    spark.conf.set(sessions.MODE, "thread")
    check(spark, events)
    spark.stop()
    print("PASSED")


if __name__ == "__main__":
    main()
