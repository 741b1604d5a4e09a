"""Crashes on executors: kind of function x kind of input x moment, beside an innocent query.

    python battery.py MASTER KIND/INPUT/MOMENT ...

MASTER may be the URL of a Spark Connect server, with the settings of `sessions.crashing_conf`;
after `connect:`, PySpark starts such a server.

In a Python worker the functions do nothing of the kind, so that every query must finish there, with
the rows that process mode gives. Some cases run at once, in executors of their own, which have one
core. Prints PASSED and its name after each case, or FAILED and why, and goes on; ends with status 1
when one has failed.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from pyspark import TaskContext, cloudpickle
from pyspark.sql import SparkSession

import comparison
import sessions

ROWS = 200
AT_ONCE = 3

# So long nothing may happen; then the program prints where it is, and ends.
HANGING_SECONDS = 600


def in_java():
    return os.path.basename(os.path.realpath("/proc/self/exe")) == "java"


def crash():
    if in_java():
        ctypes.string_at(0)


class Crashing:
    """Called with numbers, ends the JVM at a moment of its life there: in the first partition of an
    operator, with `everywhere` in the others, too.
    """

    def __init__(self, name, moment):
        self.name = name  # makes the function another one for each case
        self.moment = moment
        self.first = False  # on the driver

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.first = TaskContext.get().partitionId() == 0
        if self.moment == "load" and self.first:
            crash()

    def __call__(self, numbers):
        if self.moment == "import" and self.first:
            import crashing  # noqa: F401
        if (
            self.moment == "everywhere"
            or (self.moment == "first" and self.first)
            or (self.moment == "later" and 150 in numbers)
            or (self.moment == "close" and self.first and numbers == ())
        ):
            crash()

    def __del__(self):
        if self.moment == "close" and self.first:
            crash()


def innocent(n):
    time.sleep(0.005)
    return n * 3


class Battery:
    """The cases of one application."""

    def __init__(self, spark):
        import function_kinds

        cloudpickle.register_pickle_by_value(function_kinds)
        self.spark = spark
        self.kinds = function_kinds.KINDS
        rows = self.range().selectExpr("id % 5 AS k", "id AS n")
        path = str(Path.cwd() / "numbers")
        rows.write.parquet(path)
        cached = rows.cache()
        cached.count()
        self.inputs = {
            "rows": self.range().selectExpr("id % 5 AS k", "id + 0 AS n"),
            "parquet": spark.read.parquet(path),
            "cached": cached,
        }

    def range(self):
        return self.spark.range(ROWS, numPartitions=4)

    def run_in_process_mode(self, kinds):
        """What process mode gives, whatever the input."""
        self.expected = {}
        with comparison.settings(self.spark, comparison.process_mode()):
            for kind in kinds:
                frame = self.kinds[kind](self.inputs["rows"], lambda numbers: None)
                self.expected[kind] = sorted(frame.collect())

    def check(self, case):
        """A crash beside another query: both have the right rows, and the next plan says why."""
        kind, source, moment = case.split("/")
        join = self.beside(case)
        frame = self.kinds[kind](self.inputs[source], Crashing(case, moment))
        comparison.assert_thread_plan(plan(frame))
        got = sorted(frame.collect())
        expected = self.expected[kind]
        assert got == expected, f"{got[:5]} ... instead of {expected[:5]} ..."
        join()
        # Spark's listeners hear of a loss after its scheduler.
        sessions.wait_until(
            lambda: "it was running when executor" in plan(frame.select("*")),
            "the function is in quarantine",
        )

    def outcome(self, case):
        start = time.monotonic()
        try:
            self.check(case)
            outcome = "PASSED"
        except Exception:
            traceback.print_exc()
            outcome = "FAILED"
        return f"{outcome} {case} ({time.monotonic() - start:.1f} s)"

    def beside(self, name):
        """Starts a query whose function has done nothing; ends with whether its rows are right."""
        from pyspark.sql.functions import udf

        f = udf(lambda n: innocent(n) if name else None, "long")
        frame = self.range().select(f("id"))
        comparison.assert_thread_plan(plan(frame))
        got = []
        thread = threading.Thread(target=lambda: got.extend(frame.collect()))
        thread.start()

        def join():
            thread.join()
            assert got == [(3 * n,) for n in range(ROWS)], f"the query beside it: {got}"

        return join


def plan(frame):
    """The physical plan, also of a Connect session's DataFrame."""
    if hasattr(frame, "_explain_string"):
        return frame._explain_string(mode="simple")
    return comparison.executed_plan(frame)


def main() -> None:
    master, *cases = sys.argv[1:]
    cloudpickle.register_pickle_by_value(comparison)
    if master.startswith("sc://"):
        spark = SparkSession.builder.remote(master).getOrCreate()
    else:
        own_server = master.startswith("connect:")
        spark = sessions.start(
            master.removeprefix("connect:"), connect=own_server, conf=sessions.crashing_conf()
        )
    spark.conf.set(sessions.MODE, "thread")
    battery = Battery(spark)
    battery.run_in_process_mode(sorted({case.split("/")[0] for case in cases}))
    failed = 0
    with ThreadPoolExecutor(AT_ONCE) as threads:
        running = [threads.submit(battery.outcome, case) for case in cases]
        for number, each in enumerate(as_completed(running), 1):
            faulthandler.dump_traceback_later(HANGING_SECONDS, exit=True)
            outcome = each.result()
            failed += outcome.startswith("FAILED")
            print(f"{number} of {len(running)}: {outcome}", flush=True)
    faulthandler.cancel_dump_traceback_later()
    spark.stop()
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
