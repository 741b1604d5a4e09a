"""Functions that try to take the JVM with them, or to hang it.

    python survival.py CASE... [--default-stack] [--complete]

Prints SURVIVED and its name after each case, when the session still answers. A case that ends the
session must be the last. Cases that take long run in one form of thread mode, and loops are
cancelled under each eval type in one, with `--complete` in all that the running Python has.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.functions import udf

import comparison
import sessions

CASES: dict[str, Callable[[SparkSession], None]] = {}

COMPLETE = "--complete" in sys.argv

LONG_MODES = comparison.thread_modes()[0 if COMPLETE else -1 :]


def case(function: Callable[[SparkSession], None]) -> Callable[[SparkSession], None]:
    CASES[function.__name__] = function
    return function


def both_modes(spark: SparkSession) -> comparison.BothModes:
    return comparison.BothModes(spark)


def fails_like_process_mode(spark: SparkSession, function: Callable, expected: str) -> None:
    for use_arrow in (True, False):
        f = udf(function, "string", useArrow=use_arrow)
        failure = both_modes(spark).fail(lambda spark, f=f: spark.range(4).select(f("id")))
        assert expected in failure, failure


def raises_in_both_modes(spark: SparkSession, function: Callable, expected: str) -> None:
    """For errors whose text depends on how much stack there was."""
    f = udf(function, "string")
    for mode in [comparison.process_mode(), *comparison.thread_modes()]:
        with comparison.settings(spark, mode):
            try:
                got = spark.range(4, numPartitions=2).select(f("id")).collect()
            except Exception as error:
                got = error
            if expected not in str(got):
                raise AssertionError(f"with {mode}: {got}")


def answers(spark: SparkSession) -> None:
    """Functions still run, on every task slot."""
    f = udf(lambda n: n + 1, "long")
    frame = spark.range(400, numPartitions=4).select(f("id").alias("n"))
    total = frame.agg(F.sum("n")).collect()
    assert total == [(80_200,)], total


def in_background(run: Callable[[], object]) -> tuple[threading.Thread, list[BaseException]]:
    errors: list[BaseException] = []

    def catching() -> None:
        try:
            run()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=catching, daemon=True)
    thread.start()
    return thread, errors


@case
def sys_exit(spark: SparkSession) -> None:
    fails_like_process_mode(spark, lambda n: sys.exit(3), "SystemExit: 3")


@case
def base_exception(spark: SparkSession) -> None:
    def leave(n):
        raise BaseException("the base")

    def interrupted(n):
        raise KeyboardInterrupt("by the function itself")

    fails_like_process_mode(spark, leave, "BaseException: the base")
    fails_like_process_mode(spark, interrupted, "KeyboardInterrupt: by the function itself")


@case
def unprintable_exception(spark: SparkSession) -> None:
    class UnprintableError(Exception):
        def __str__(self):
            raise RuntimeError("no text")

        __repr__ = __str__

    class ExitingError(Exception):
        def __str__(self):
            sys.exit(1)

    def unprintable(n):
        raise UnprintableError

    def exiting(n):
        raise ExitingError

    fails_like_process_mode(spark, unprintable, "UnprintableError")
    with comparison.settings(spark, comparison.thread_modes()[0]):
        try:
            spark.range(1).select(udf(exiting)("id")).collect()
        except Exception as error:
            print("failed:", type(error).__name__)
        else:
            raise AssertionError("no error")


@case
def deep_json(spark: SparkSession) -> None:
    def parse(n):
        import json

        return str(json.loads("[" * 200_000))

    raises_in_both_modes(spark, parse, "RecursionError")


@case
def deep_sorted(spark: SparkSession) -> None:
    def down(n):
        return sorted([n, n], key=down)

    raises_in_both_modes(spark, down, "RecursionError")


@case
def deep_calls(spark: SparkSession) -> None:
    class Deep:
        def __getattr__(self, name):
            return getattr(self, name + "x")

        def __eq__(self, other):
            return other == self

        def __repr__(self):
            return repr([self])

        __hash__ = None

    def attributes(n):
        return Deep().a

    def equality(n):
        return str(Deep() == Deep())

    def representation(n):
        return repr(Deep())

    def nested_list(n):
        value = []
        for _ in range(200_000):
            value = [value]
        return repr(value)

    for function in (attributes, equality, representation, nested_list):
        raises_in_both_modes(spark, function, "RecursionError")


@case
def deep_result(spark: SparkSession) -> None:
    """A result that refers to itself, or nests deeper than any declared type."""

    def cycle(n):
        value = []
        value.append(value)
        return value

    def deep(n):
        value = [1]
        for _ in range(100_000):
            value = [value]
        return value

    for use_arrow in (True, False):
        for function in (cycle, deep):
            for declared in ("array<array<int>>", "array<string>"):
                f = udf(function, declared, useArrow=use_arrow)
                for mode in comparison.thread_modes():
                    with comparison.settings(spark, mode):
                        try:
                            print(len(spark.range(1).select(f("id")).collect()))
                        except Exception as error:
                            print("failed:", type(error).__name__)


@case
def unfinished_generator(spark: SparkSession) -> None:
    kept = []

    def generate(n):
        def numbers():
            try:
                yield n
                yield n + 1
            finally:
                print("generator closed")

        generator = numbers()
        kept.append(generator)
        return next(generator)

    f = udf(generate, "long")
    for mode in comparison.thread_modes():
        with comparison.settings(spark, mode):
            assert spark.range(300).select(f("id")).count() == 300
            assert len(spark.range(300).select(f("id")).collect()) == 300


@case
def python_threads_left(spark: SparkSession) -> None:
    """Threads that nobody joins, daemons or not, also when the application ends."""

    def start(n):
        import threading
        import time

        def tick():
            while True:
                time.sleep(0.01)

        for daemon in (True, False):
            threading.Thread(target=tick, daemon=daemon).start()
        return threading.active_count()

    f = udf(start, "long")
    for mode in comparison.thread_modes():
        with comparison.settings(spark, mode):
            rows = spark.range(4, numPartitions=2).select(f("id")).collect()
            assert all(row[0] >= 2 for row in rows), rows


@case
def printing(spark: SparkSession) -> None:
    """What is printed reaches the log; what cannot be encoded does not hurt it."""

    def shout(n):
        import logging
        import subprocess
        import threading

        print(f"printed by row {n}")
        print(f"complained by row {n}", file=sys.stderr)
        print("one ", end="")
        print("line", "in", "pieces")
        print("without an end", end="", flush=True)
        sys.stdout.buffer.write(b"bytes \xff\n")
        logging.getLogger("my.module").error("logged by row %d", n)
        logging.getLogger("my.module").info("not logged")
        subprocess.run(["echo", "from a subprocess"], stdout=sys.stdout, check=True)
        thread = threading.Thread(target=print, args=("in a thread",))
        thread.start()
        thread.join()
        return "done"

    def surrogates(n):
        print("lone \udc80 surrogate", file=sys.stderr)
        print("lone \ud800 surrogate")
        return "printed"

    def closed(n):
        sys.stdout.close()
        print("into a closed file")
        return "closed"

    for use_arrow in (True, False):
        for mode in comparison.thread_modes():
            with comparison.settings(spark, mode):
                rows = spark.range(2).select(udf(shout, useArrow=use_arrow)("id")).collect()
                assert rows == [("done",), ("done",)]
        f = udf(surrogates, useArrow=use_arrow)
        print(both_modes(spark).agree(lambda spark, f=f: spark.range(2).select(f("id"))))
    for mode in comparison.thread_modes():
        with comparison.settings(spark, mode):
            try:
                print(spark.range(1).select(udf(closed)("id")).collect())
            except Exception as error:
                print("failed:", type(error).__name__)


@case
def huge_string(spark: SparkSession) -> None:
    """One gigabyte comes out as it is; what no row can hold is an error."""
    length = 1 << 30
    f = udf(lambda n: "x" * n)
    for mode in LONG_MODES:
        with comparison.settings(spark, mode):
            frame = spark.range(length, length + 1, numPartitions=1)
            rows = frame.select(F.length(f("id")).alias("n")).collect()
            assert rows == [(length,)], rows
            print("one gigabyte")
            too_long = spark.range(2 * length, 2 * length + 1, numPartitions=1)
            try:
                too_long.select(F.length(f("id"))).collect()
            except Exception as error:
                print("failed:", type(error).__name__)
            else:
                raise AssertionError("a row beyond 2 GiB")


@case
def cancelled_loops(spark: SparkSession) -> None:
    """Jobs end soon after they are cancelled, and their Python code with them."""
    beat = Path("beat").resolve()

    def busy(n):
        while True:
            beat.write_text(str(n))
            for _ in range(1000):
                pass

    def stubborn(n):
        while True:
            try:
                while True:
                    beat.write_text(str(n))
            except Exception:
                pass

    def one_after_another(n):
        import time

        beat.write_text(str(n))
        time.sleep(0.05)
        return n

    sc = spark.sparkContext
    modes = comparison.thread_modes()
    every_form = itertools.product((True, False), modes)
    forms = every_form if COMPLETE else zip((True, False), itertools.cycle(modes))
    endless = ((busy, 4), (stubborn, 4), (one_after_another, 1_000_000))
    for (use_arrow, mode), (function, rows) in itertools.product(forms, endless):
        with comparison.settings(spark, mode):
            group = f"{function.__name__} {use_arrow} {mode}"
            f = udf(function, "long", useArrow=use_arrow)
            frame = spark.range(rows, numPartitions=2).select(f("id"))

            def run(frame=frame, group=group):
                sc.setJobGroup(group, group)
                frame.collect()

            beat.unlink(missing_ok=True)
            thread, errors = in_background(run)
            wait_for(beat.exists, 60)
            sc.cancelJobGroup(group)
            thread.join(30)
            assert not thread.is_alive(), f"{group} goes on"
            assert "cancel" in str(errors[0]), errors
            answers(spark)
            wait_for(lambda: not changes(beat), 15)
            print("cancelled", group)


@case
def uninterruptible(spark: SparkSession) -> None:
    """C code that neither returns nor lets go of the GIL for some seconds."""
    started = Path("started").resolve()

    def count(n):
        import itertools

        started.write_text(str(n))
        return sum(itertools.repeat(1, 2_000_000_000))

    f = udf(count, "long")
    for mode in LONG_MODES:
        with comparison.settings(spark, mode):
            started.unlink(missing_ok=True)
            frame = spark.range(1, numPartitions=1).select(f("id"))
            thread, _ = in_background(frame.collect)
            wait_for(started.exists, 60)
            time.sleep(0.5)
            before = time.monotonic()
            spark.sparkContext.cancelAllJobs()
            assert time.monotonic() - before < 2, "the canceller was blocked"
            thread.join(60)
            assert not thread.is_alive()
            assert spark.range(10).count() == 10, "the driver is blocked"
            answers(spark)


@case
def sleeping(spark: SparkSession) -> None:
    """A call that waits outside of the GIL: other tasks go on meanwhile."""
    started = Path("started").resolve()

    def sleep(n):
        import time

        started.write_text(str(n))
        time.sleep(60)
        return n

    f = udf(sleep, "long")
    for mode in comparison.thread_modes():
        with comparison.settings(spark, mode):
            started.unlink(missing_ok=True)
            thread, _ = in_background(spark.range(1, numPartitions=1).select(f("id")).collect)
            wait_for(started.exists, 60)
            before = time.monotonic()
            spark.sparkContext.cancelAllJobs()
            thread.join(30)
            assert not thread.is_alive()
            answers(spark)
            assert time.monotonic() - before < 60, "another task waited for the sleeping one"


@case
def stop_while_running(spark: SparkSession) -> None:
    """The application ends although functions do not."""
    runs_for_ever(spark)
    spark.stop()
    print("ENDED")


@case
def exit_while_running(spark: SparkSession) -> None:
    """The driver's Python ends without stopping the session."""
    runs_for_ever(spark)
    print("jvm", spark._jvm.java.lang.ProcessHandle.current().pid())
    print("ENDED", flush=True)
    import os

    os._exit(0)


def runs_for_ever(spark: SparkSession) -> None:
    started = Path("started").resolve()

    def loop(n):
        started.write_text(str(n))
        while True:
            pass

    def sleep(n):
        import time

        while True:
            time.sleep(1)

    started.unlink(missing_ok=True)
    spark.conf.set(sessions.MODE, "thread")
    for function in (loop, sleep):
        in_background(spark.range(1, numPartitions=1).select(udf(function)("id")).collect)
    wait_for(started.exists, 60)
    time.sleep(1)


@case
def meddling(spark: SparkSession) -> None:
    """Functions that change what they share with others in an interpreter."""

    def gc_games(n):
        import gc
        import weakref

        class Node:
            def __del__(self):
                raise RuntimeError("in __del__")

        node = Node()
        node.self = node
        weakref.finalize(node, print, "finalised")
        del node
        gc.collect()
        return n

    def hooks(n):
        sys.settrace(lambda *args: None)
        sys.setprofile(lambda *args: None)
        sys.excepthook = None
        sys.settrace(None)
        sys.setprofile(None)
        sys.excepthook = sys.__excepthook__
        return n

    def atexit_function(n):
        import atexit

        atexit.register(print, "at exit")
        return n

    def switches(n):
        sys.setswitchinterval(1e-6)
        sys.setswitchinterval(0.005)
        return n

    def closes_files(n):
        import gc

        opened = [open("/dev/null") for _ in range(100)]  # noqa: SIM115
        gc.collect()
        return len(opened)

    for function in (
        gc_games,
        hooks,
        atexit_function,
        switches,
        closes_files,
    ):
        for mode in comparison.thread_modes():
            with comparison.settings(spark, mode):
                frame = spark.range(50, numPartitions=2).select(udf(function, "long")("id"))
                assert len(frame.collect()) == 50
                answers(spark)


def wait_for(condition: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s")
        time.sleep(0.05)


def changes(path: Path) -> bool:
    before = path.stat().st_mtime_ns
    time.sleep(0.5)
    return path.stat().st_mtime_ns != before


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", choices=CASES, nargs="+")
    parser.add_argument("--default-stack", action="store_true")
    parser.add_argument("--complete", action="store_true")
    options = parser.parse_args()
    cloudpickle.register_pickle_by_value(comparison)
    spark = sessions.start(
        default_stack=options.default_stack,
        conf={"spark.driver.memory": "6g", "spark.python.daemon.module": "warm_daemon"},
    )
    for name in options.cases:
        CASES[name](spark)
        if not spark.sparkContext._jsc:
            return
        with comparison.settings(spark, comparison.thread_modes()[0]):
            answers(spark)
        print("SURVIVED", name, flush=True)
    spark.stop()
    print("ENDED")


if __name__ == "__main__":
    main()
