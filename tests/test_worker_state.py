"""What PySpark keeps once per worker process: here it belongs to a task, or to an application."""

from __future__ import annotations

import os
import threading
import uuid

import pytest
from pyspark import TaskContext
from pyspark.sql.functions import pandas_udf, udf
from pyspark.sql.pandas.functions import PandasUDFType

from comparison import MODE, settings, thread_modes
from sessions import INTERPRETER

pytestmark = pytest.mark.core

SHARED = {MODE: "thread", INTERPRETER: "shared"}


class Tally:
    """Of the rows that functions of this module have seen, in a class that travels by value."""

    rows = 0
    total = None

    def __init__(self, n):
        self.n = n


def test_classes_of_tasks_at_the_same_time(spark, in_every_mode, make_udf):
    """Every load sets the attributes of a class anew, which must not be another task's class."""

    def count(_):
        import time

        Tally.rows += 1
        time.sleep(0.001)
        return Tally.rows

    def use():
        frame = spark.range(400, numPartitions=8).select(make_udf(count, "int")("id"))
        return [row[0] for row in frame.collect()]

    assert in_every_mode(use) == list(range(1, 51)) * 8


def test_accumulators_of_classes_of_tasks_at_the_same_time(spark, in_every_mode, make_udf):
    def add(n):
        import time

        time.sleep(0.001)
        Tally.total.add(1)
        return n

    def use():
        Tally.total = spark.sparkContext.accumulator(0)
        try:
            spark.range(200, numPartitions=8).select(make_udf(add, "long")("id")).collect()
            return Tally.total.value
        finally:
            Tally.total = None

    assert in_every_mode(use) == 200


def test_functions_of_a_task_share_classes(spark, in_every_mode, make_udf):
    """What one function makes, the next of a chain recognises."""
    make = make_udf(lambda n: [Tally(n)], "array<int>")
    recognise = make_udf(lambda made: isinstance(made[0], Tally) and made[0].n, "int")

    def use():
        frame = spark.range(4, numPartitions=2).select(recognise(make("id")))
        return [row[0] for row in frame.collect()]

    assert in_every_mode(use) == [0, 1, 2, 3]


def test_classes_pickled_within_a_task(spark, in_every_mode):
    def copied(n):
        from pyspark import cloudpickle

        class Local:
            pass

        local = cloudpickle.loads(cloudpickle.dumps(Local()))
        tally = cloudpickle.loads(cloudpickle.dumps(Tally(n)))
        return isinstance(tally, Tally) and isinstance(local, Local) and tally.n == n

    def use():
        return spark.range(4, numPartitions=2).select(udf(copied, "boolean")("id")).collect()

    assert in_every_mode(use) == [(True,)] * 4


@pytest.fixture
def add_module(spark, tmp_path, monkeypatch):
    """Makes a module that the driver and functions can import; its name is new."""
    monkeypatch.syspath_prepend(tmp_path)

    def add(source):
        name = f"added_{uuid.uuid4().hex}"
        path = tmp_path / f"{name}.py"
        path.write_text(source)
        spark.sparkContext.addPyFile(str(path))
        return __import__(name)

    return add


def test_a_slow_import_keeps_no_other_function_from_loading(spark, add_module, tmp_path):
    imported = tmp_path / "imported"
    go = tmp_path / "go"
    module = add_module(f"""
import os, time
if os.environ.get("SPARK_PYTHON_RUNTIME") == "PYTHON_WORKER":
    open({str(imported)!r}, "w").close()
    end = time.monotonic() + 60
    while not os.path.exists({str(go)!r}):
        if time.monotonic() > end:
            raise TimeoutError("the other function has not been loaded")
        time.sleep(0.01)
""")
    slow = udf(lambda n: len(module.__name__) * 0 + n, "long")
    other = pandas_udf(lambda column: column + 1, "long", PandasUDFType.SCALAR)
    found = []

    def run_slow():
        found.append(spark.range(1).select(slow("id")).collect())

    with settings(spark, SHARED):
        first = threading.Thread(target=run_slow)
        first.start()
        while not imported.exists():
            first.join(0.05)
            assert first.is_alive(), found
        try:
            assert spark.range(1).select(other("id")).collect() == [(1,)]
            assert spark.range(1).select(udf(lambda n: n + 2, "long")("id")).collect() == [(2,)]
        finally:
            go.touch()
            first.join()
    assert found == [[(0,)]]


POOLS = """
import os, queue, threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from pyspark import TaskContext

executor = ThreadPoolExecutor(2)
pool = ThreadPool(2)
work, done = queue.Queue(), queue.Queue()


def run():
    while True:
        work.get()
        done.put(seen())


def seen(_=None):
    return f"{TaskContext.get().partitionId()} {os.environ['PYFLOW_TEST']}"


def numbers():
    for n in range(3):
        yield seen()


def repeated(text):
    return f"{text} = {seen()}"


def of_pools():
    called_back = queue.Queue()
    pool.apply_async(seen, callback=lambda _: called_back.put(seen()))
    future = executor.submit(seen)
    future.add_done_callback(lambda _: called_back.put(seen()))
    found = {
        executor.submit(seen).result(),
        *executor.map(seen, range(3)),
        pool.apply(seen),
        *pool.map(seen, range(3)),
        *pool.starmap(seen, [(1,)]),
        *pool.imap_unordered(seen, range(3)),
        called_back.get(),
        called_back.get(),
    }
    return sorted(found | set(pool.imap(repeated, numbers())))


def of_thread():
    if not hasattr(work, "thread"):
        work.thread = threading.Thread(target=run, daemon=True)
        work.thread.start()
    work.put(1)
    return done.get()
"""


def test_pools_of_a_module_run_what_a_task_submits_as_that_task(spark, in_every_mode, add_module):
    module = add_module(POOLS)

    def use_pools(n):
        os.environ["PYFLOW_TEST"] = str(n)
        return str(module.of_pools())

    def use():
        frame = spark.range(24, numPartitions=8).select(udf(use_pools)("id"))
        return [row[0] for row in frame.collect()]

    rows = in_every_mode(use)
    assert rows == [str([f"{n // 3} {n}", f"{n // 3} {n} = {n // 3} {n}"]) for n in range(24)]


def test_threads_that_outlive_their_task_work_for_the_next(spark, in_every_mode, add_module):
    module = add_module(POOLS)

    def use_thread(n):
        os.environ["PYFLOW_TEST"] = str(n)
        return module.of_thread()

    f = udf(use_thread)

    def use():
        return [spark.range(n, n + 1, 1, 1).select(f("id")).collect() for n in range(3)]

    assert in_every_mode(use) == [[("0 0",)], [("0 1",)], [("0 2",)]]


def kept(class_name, length=None):
    """How many objects of a class, and of a length if that is given, this interpreter holds."""
    import gc

    gc.collect()
    objects = gc.get_objects()
    found = [o for o in objects if class_name in [each.__name__ for each in type(o).__mro__]]
    return len(found) if length is None else sum(len(each) == length for each in found)


@pytest.mark.complete("shared")
@pytest.mark.parametrize("mode", thread_modes(), ids=str)
def test_destroyed_broadcasts_are_let_go(spark, mode):
    length = 12_347
    counts = []
    with settings(spark, mode):
        for n in range(12):
            variable = spark.sparkContext.broadcast([n] * length)

            def count(_, variable=variable):
                return (variable.value[-1], kept("list", length))

            f = udf(count, "value int, lists int")
            (row,) = (
                spark.range(1, numPartitions=1).select(f("id").alias("r")).select("r.*").collect()
            )
            variable.destroy(blocking=True)
            assert row.value == n
            counts.append(row.lists)
    assert max(counts) <= 2, counts


@pytest.mark.parametrize("mode", thread_modes(), ids=str)
def test_large_functions_are_let_go(spark, mode):
    """They travel as broadcasts, which are kept for a few more tasks."""
    counts = []
    with settings(spark, mode):
        for n in range(12):
            ballast = os.urandom(2 << 20)

            def count(_, n=n, ballast=ballast):
                return (n, len(ballast), kept("Broadcast"))

            f = udf(count, "n int, size int, objects int")
            ((row,),) = spark.range(1, numPartitions=1).select(f("id")).collect()
            assert (row.n, row.size) == (n, 2 << 20)
            counts.append(row.objects)
    assert max(counts[6:]) <= max(counts[:6]), counts


def test_tasks_that_run_at_once_share_a_broadcast_value(spark):
    variable = spark.sparkContext.broadcast(list(range(10_000)))

    def identity(n):
        import time

        time.sleep(0.02)
        return id(variable.value)

    with settings(spark, SHARED):
        frame = spark.range(20, numPartitions=2).select(udf(identity, "long")("id"))
        assert len({row[0] for row in frame.collect()}) == 1


def test_there_is_a_task_context_in_functions_only(spark):
    with settings(spark, SHARED):
        spark.range(1).select(udf(lambda n: n, "long")("id")).collect()
    assert TaskContext.get() is None
