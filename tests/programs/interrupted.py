"""Functions that are interrupted where locks are taken, modules imported and generators closed."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "modules"))

from pyspark import TaskContext
from pyspark.sql import functions as F
from pyspark.sql.functions import udf

import comparison
import sessions
import shared_locks

TIMEOUT = "spark.pyflow.python.timeout"
ATTEMPTS = 8
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def ended_after(run, seconds, expected):
    """Runs a query that fails in time."""
    before = time.monotonic()
    try:
        run()
    except Exception as error:
        assert expected in str(error), error  # noqa: PT017
    else:
        raise AssertionError("no error")
    assert time.monotonic() - before < seconds


@case
def synchronisers(spark):
    """Interrupted at any moment, each is as usable as before. A task for each, two at a time."""
    kinds = [each.__name__ for each in shared_locks.KINDS]

    def interrupted(n):
        thing = shared_locks.shared(kinds[n])
        attempt = TaskContext.get().attemptNumber()
        while attempt < ATTEMPTS - 4:
            thing.use()
        if attempt == ATTEMPTS - 4:
            thing.wait()
        return True

    def uses(n):
        thing = shared_locks.shared(kinds[n])
        done = threading.Event()

        def use_often():
            for _ in range(100):
                thing.use()
            done.set()

        threading.Thread(target=use_often, daemon=True).start()
        return done.wait(20)

    numbers = spark.range(len(kinds), numPartitions=len(kinds))
    # One of the last attempts is loaded and returns in that time, beside those that never do.
    with comparison.settings(spark, {TIMEOUT: "200ms"}):
        ended = numbers.select(udf(interrupted, "boolean")("id")).collect()
        assert ended == [(True,)] * len(kinds)
    usable = numbers.select(udf(uses, "boolean")("id")).collect()
    unusable = [kind for kind, (used,) in zip(kinds, usable, strict=True) if not used]
    assert not unusable, f"cannot be used any more: {unusable}"


@case
def imports(spark):
    """A package is imported whole, however often the import is interrupted."""

    def imported(n):
        import sys

        for name in [each for each in sys.modules if each.partition(".")[0] == "slow_package"]:
            del sys.modules[name]
        import slow_package

        assert slow_package.whole
        return True

    where = Path("modules").resolve() / "slow_package"
    where.mkdir(parents=True)
    (where / "__init__.py").write_text(
        "import time\nfrom . import inner\ntime.sleep(0.3)\nwhole = inner.whole\n"
    )
    (where / "inner.py").write_text(
        "import sys, time\n"
        "end = time.monotonic() + 0.3\n"
        "try:\n    while time.monotonic() < end:\n        pass\n"
        "except BaseException:\n    sys.interrupted_import = True\n    raise\n"
        "whole = True\n"
    )
    spark.sparkContext.addPyFile(str(make_zip(where)))
    f = udf(imported, "boolean")
    with comparison.settings(spark, {TIMEOUT: "100ms"}):
        ended_after(lambda: spark.range(1).select(f("id")).collect(), 120, "had not returned")
    asks = udf(lambda n: hasattr(__import__("sys"), "interrupted_import"), "boolean")
    assert spark.range(1).select(asks("id")).collect() == [(False,)]


@case
def endless_import(spark):
    """It ends, although not at once; the next attempt of the task leaves it out."""
    where = Path("endless_module.py")
    where.write_text("while True:\n    pass\n")
    spark.sparkContext.addPyFile(str(where))

    def imports(n):
        attempt = TaskContext.get().attemptNumber()
        if attempt == 0:
            import endless_module  # noqa: F401
        return attempt

    with comparison.settings(spark, {TIMEOUT: "100ms"}):
        ((attempt,),) = spark.range(1).select(udf(imports, "long")("id")).collect()
        assert attempt >= 1


@case
def tracing(spark):
    """Functions that are traced go on where others have been interrupted (CPython 3.11)."""

    def endless(n):
        while True:
            pass

    def traced(n):
        def calls(n):
            return n + 1

        events = []
        sys.settrace(lambda frame, event, argument: events.append(event))
        try:
            return calls(n)
        finally:
            sys.settrace(None)
            assert "call" in events

    with comparison.settings(spark, {TIMEOUT: "100ms"}):
        run = spark.range(1).select(udf(endless, "long")("id"))
        ended_after(run.collect, 120, "had not returned")
    for _ in range(3):
        assert spark.range(1).select(udf(traced, "long")("id")).collect() == [(1,)]


def make_zip(package):
    import shutil

    return shutil.make_archive(str(package), "zip", package.parent, package.name)


@case
def closing(spark):
    """A generator that does not end when it is closed neither keeps the task nor the slot."""

    def batches(iterator):
        try:
            yield from iterator
        finally:
            while True:
                pass

    def pool(iterator):
        import time
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as executor:
            executor.submit(time.sleep, 3600)
            yield from iterator

    class Destroyed:
        driver = os.getpid()

        def __del__(self):
            while os.getpid() != self.driver:
                pass

    def keeps():
        kept = Destroyed()
        return lambda n: n if kept else 0

    with comparison.settings(spark, {TIMEOUT: "1s"}):
        for function in (batches, pool):
            frame = spark.range(100, numPartitions=1).mapInArrow(function, "id long").limit(1)
            assert frame.collect() == [(0,)], function
            print("CLOSED", function.__name__, flush=True)
        frame = spark.range(10, numPartitions=1).select(udf(keeps(), "long")("id"))
        assert len(frame.collect()) == 10
        print("CLOSED destroyed", flush=True)


@case
def dying_threads(spark):
    """Threads whose Python objects call the JVM when they die are detached from it."""

    def keeps_input(batches):
        import sys
        import threading

        if not hasattr(sys, "local_of_this_test"):
            sys.local_of_this_test = threading.local()
        sys.local_of_this_test.batches = batches
        print("logged, which asks for the thread's JVM environment")
        yield from batches

    def threads():
        """Those that no Java code has named: among them all that native code attaches."""
        running = spark._jvm.Thread.getAllStackTraces().keySet().toArray()
        return sum(re.fullmatch(r"Thread-\d+", thread.getName()) is not None for thread in running)

    frame = spark.range(10, numPartitions=1).mapInArrow(keeps_input, "id long")
    counts = []
    for _ in range(4):
        for _ in range(10):
            assert frame.rdd.map(tuple).count() == 10
        time.sleep(1)
        counts.append(threads())
    print("THREADS", counts, flush=True)
    assert counts[-1] - counts[1] < 10, counts


def main():
    spark = sessions.start(f"local[2,{ATTEMPTS}]")
    spark.sparkContext.setLogLevel("ERROR")
    mode = {sessions.MODE: "thread", sessions.FALLBACK: "false", sessions.INTERPRETER: "shared"}
    with comparison.settings(spark, mode):
        for name in sys.argv[1:]:
            CASES[name](spark)
            assert spark.range(100).select(F.sum(udf(lambda n: n, "long")("id"))).collect() == [
                (4950,)
            ]
            print("SURVIVED", name, flush=True)
    spark.stop()
    print("ENDED", os.getpid(), flush=True)


if __name__ == "__main__":
    main()
