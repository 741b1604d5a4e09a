"""Processes that functions start with multiprocessing, spawned unless they ask otherwise."""

from __future__ import annotations

import json
import os
import threading

import pandas as pd
import pytest
from pyspark.sql.functions import pandas_udf, udf

from comparison import process_mode, settings, thread_modes
from sessions import wait_until

pytestmark = pytest.mark.core

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


@case
def pool():
    import multiprocessing

    import child_processes

    with multiprocessing.Pool(1, child_processes.give, ("x",)) as pool:
        return [
            pool.map(abs, [-1, -2]),
            pool.apply(child_processes.given_and, (3,)),
            list(pool.imap_unordered(abs, [-4])),
        ]


@case
def errors_of_children():
    import multiprocessing
    import os

    import child_processes

    with multiprocessing.Pool(1) as pool:
        errors = []
        for function, argument in [
            (child_processes.fail, "in a child"),
            (local, 1),
            (lambda n: n, 1),
            (os.listdir, "/nowhere"),
        ]:
            try:
                errors.append(pool.apply(function, (argument,)))
            except Exception as error:
                errors.append(type(error).__name__)
        return errors


def local(n):
    """Of the main program, which children do not know."""
    return n


@case
def executor():
    from concurrent.futures import ProcessPoolExecutor

    import child_processes

    with ProcessPoolExecutor(1, initializer=child_processes.give, initargs=("x",)) as executor:
        return [*executor.map(child_processes.given_and, [1, 2]), executor.submit(abs, -3).result()]


@case
def executor_whose_child_crashes():
    import os
    from concurrent.futures import ProcessPoolExecutor

    import child_processes

    errors = []
    for function in (child_processes.crash, os._exit):
        with ProcessPoolExecutor(1) as executor:
            try:
                errors.append(executor.submit(function, 3).result())
            except Exception as error:
                errors.append(type(error).__name__)
    return errors


@case
def processes_with_shared_state():
    import multiprocessing

    import child_processes

    number, lock = multiprocessing.Value("i", 0), multiprocessing.Lock()
    queue = multiprocessing.Queue()
    processes = [
        multiprocessing.Process(target=child_processes.add, args=(number, lock, 100)),
        multiprocessing.Process(target=queue.put, args=("x",)),
    ]
    for process in processes:
        process.start()
    got = queue.get(timeout=120)
    for process in processes:
        process.join()
    return number.value, got, [process.exitcode for process in processes]


@case
def manager():
    import multiprocessing

    with multiprocessing.Manager() as manager:
        shared = manager.dict(a=1)
        shared["b"] = 2
        return dict(shared)


@case
def shared_memory():
    from multiprocessing.shared_memory import SharedMemory

    memory = SharedMemory(create=True, size=8)
    try:
        memory.buf[0] = 5
        same = SharedMemory(memory.name)
        first = same.buf[0]
        same.close()
        return first
    finally:
        memory.close()
        memory.unlink()


@case
def environment_of_the_task():
    import multiprocessing
    import os

    import child_processes

    os.environ["OF_TASK"] = "x"
    try:
        with multiprocessing.Pool(1) as pool:
            return pool.apply(child_processes.variable, ("OF_TASK",))
    finally:
        del os.environ["OF_TASK"]


@case
def a_method_that_the_program_chooses():
    import multiprocessing

    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method("forkserver", force=True)
    try:
        with multiprocessing.Pool(1) as pool:
            return multiprocessing.get_start_method(), pool.apply(abs, (-1,))
    finally:
        multiprocessing.set_start_method(before, force=True)


def test_processes_of_functions(spark):
    def run(_):
        return json.dumps({name: function() for name, function in CASES.items()})

    seen = []
    for mode in [process_mode(), *thread_modes()]:
        with settings(spark, mode):
            (row,) = spark.range(1).select(udf(run)("id")).collect()
            seen.append(json.loads(row[0]))
    for each in seen[1:]:
        assert each == seen[0]


@pytest.mark.complete
def test_processes_of_pandas_functions(spark):
    @pandas_udf("long")
    def negated(numbers: pd.Series) -> pd.Series:
        from concurrent.futures import ProcessPoolExecutor

        with ProcessPoolExecutor(1) as executor:
            return pd.Series(list(executor.map(abs, numbers)))

    with settings(spark, thread_modes()[-1]):
        frame = spark.range(-4, 0, numPartitions=2).select(negated("id"))
        assert [row[0] for row in frame.collect()] == [4, 3, 2, 1]


@pytest.mark.parametrize("executor", [False, True], ids=["pool", "executor"])
def test_children_end_with_a_task_that_is_cancelled(spark, tmp_path, executor):
    folder = str(tmp_path)

    def waits(n):
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        import child_processes

        if executor:
            with ProcessPoolExecutor(1) as pool:
                pool.submit(child_processes.wait, folder).result()
        else:
            with multiprocessing.Pool(1) as pool:
                pool.apply(child_processes.wait, (folder,))
        return n

    failures = []

    def query():
        spark.sparkContext.setJobGroup("children", "waits", interruptOnCancel=True)
        try:
            spark.range(1).select(udf(waits, "long")("id")).collect()
        except Exception as error:
            failures.append(error)

    with settings(spark, thread_modes()[0]):
        thread = threading.Thread(target=query)
        thread.start()
        wait_until(lambda: os.listdir(folder), "the child")
        (child,) = os.listdir(folder)
        spark.sparkContext.cancelJobGroup("children")
        thread.join()
    assert failures
    wait_until(lambda: not os.path.exists(f"/proc/{child}"), "the child's end")
