"""What surrounds a function: task context, broadcasts, accumulators, files, environment."""

from __future__ import annotations

import os
import sys
import zipfile

import pytest
from pyspark import SparkFiles, TaskContext
from pyspark.sql.functions import udf

from comparison import settings, thread_modes

pytestmark = pytest.mark.core


@pytest.mark.slice
def test_broadcast_variables(spark, in_every_mode, make_udf):
    table = spark.sparkContext.broadcast({n: f"name {n}" for n in range(1000)})
    large = spark.sparkContext.broadcast(list(range(300_000)))
    name = make_udf(lambda n: table.value[n])
    both = make_udf(
        lambda n: f"{table.value[n]} {large.value[-1] - n} {table.value is table.value}"
    )
    rows = in_every_mode(
        lambda: spark.range(4, numPartitions=2).select(name("id"), both("id")).collect()
    )
    assert rows[3] == ("name 3", "name 3 299996 True")


def test_broadcast_variables_one_after_another(spark, in_every_mode, make_udf):
    def use():
        values = []
        for text in ("first", "second"):
            variable = spark.sparkContext.broadcast(text)
            values += spark.range(1).select(make_udf(lambda n, v=variable: v.value)("id")).collect()
            variable.unpersist(blocking=True)
            values += spark.range(1).select(make_udf(lambda n, v=variable: v.value)("id")).collect()
            variable.destroy()
        return values

    assert in_every_mode(use) == [("first",), ("first",), ("second",), ("second",)]


def test_a_large_function_travels_as_a_broadcast(spark, in_every_mode, make_udf):
    """PySpark broadcasts commands beyond a size."""
    ballast = os.urandom(3 << 20)
    size = make_udf(lambda n: len(ballast) + n, "long")
    rows = in_every_mode(lambda: spark.range(2).select(size("id")).collect())
    assert rows == [(3 << 20,), ((3 << 20) + 1,)]


@pytest.mark.slice
def test_accumulators(spark, in_every_mode, make_udf):
    def use():
        count = spark.sparkContext.accumulator(0)
        total = spark.sparkContext.accumulator(0.0)

        def add(n):
            count.add(1)
            if n % 2:
                nonlocal_total = total
                nonlocal_total += n / 2
            return n

        frame = spark.range(2000, numPartitions=3).select(make_udf(add, "long")("id"))
        frame.collect()
        first = (count.value, total.value)
        frame.collect()
        return (*first, count.value)

    assert in_every_mode(use) == (2000, 500_000.0, 4000)


def test_accumulators_count_only_successful_tasks(spark, in_every_mode, make_udf):
    def use():
        count = spark.sparkContext.accumulator(0)

        def add(n):
            count.add(1)
            return 1 // (n - 5)

        with pytest.raises(Exception, match="ZeroDivisionError"):
            spark.range(10, numPartitions=1).select(make_udf(add, "long")("id")).collect()
        return count.value

    assert in_every_mode(use) == 0


def test_accumulators_under_a_limit(spark, in_every_mode, make_udf):
    def use():
        seen = spark.sparkContext.accumulator(0)

        def add(n):
            seen.add(1)
            return n

        frame = spark.range(3, numPartitions=1).select(make_udf(add, "long")("id")).limit(3)
        frame.collect()
        return seen.value

    assert in_every_mode(use) == 3


@pytest.mark.slice
def test_task_context(spark, in_every_mode, make_udf):
    def context(_):
        task = TaskContext.get()
        return repr(
            (
                task.partitionId(),
                task.attemptNumber(),
                task.stageId() >= 0,
                task.taskAttemptId() >= 0,
                task.cpus(),
                task.resources(),
                task.getLocalProperty("my.property"),
                task.getLocalProperty("no.property"),
                type(task).__name__,
            )
        )

    spark.sparkContext.setLocalProperty("my.property", "value \u00e4")
    try:
        rows = in_every_mode(
            lambda: spark.range(6, numPartitions=3).select(make_udf(context)("id")).collect(),
        )
    finally:
        spark.sparkContext.setLocalProperty("my.property", None)
    assert [eval(row[0])[0] for row in rows] == [0, 0, 1, 1, 2, 2]


def test_task_contexts_of_tasks_at_the_same_time(spark, in_every_mode, make_udf):
    """Each task sees its own context, also while another runs in the same interpreter."""

    def partition(n):
        import time

        before = TaskContext.get().partitionId()
        time.sleep(0.001)
        return (before, TaskContext.get().partitionId(), n // 100)

    def use():
        frame = spark.range(800, numPartitions=8).select(
            make_udf(partition, "a int, b int, expected int")("id").alias("p")
        )
        return frame.selectExpr("p.*").distinct().orderBy("a").collect()

    rows = in_every_mode(use)
    assert rows == [(n, n, n) for n in range(8)]


def test_there_is_no_task_context_left_behind(spark):
    """The driver side of a local session shares nothing with the embedded interpreters."""
    for mode in thread_modes():
        with settings(spark, mode):
            spark.range(1).select(udf(lambda n: n, "long")("id")).collect()
    assert TaskContext.get() is None


def test_there_is_no_barrier_context_in_ordinary_tasks(spark, in_every_mode, make_udf):
    def barrier(_):
        from pyspark import BarrierTaskContext

        try:
            return f"{type(TaskContext.get()).__name__} {BarrierTaskContext.get().partitionId()}"
        except Exception as error:
            return f"{type(error).__name__} {error}"

    in_every_mode(lambda: spark.range(1).select(make_udf(barrier)("id")).collect())


def test_barrier_tasks_wait_for_each_other(spark, in_every_mode, make_udf):
    def gather(n):
        from pyspark import BarrierTaskContext

        context = BarrierTaskContext.get()
        context.barrier()
        return repr((context.allGather(f"row {n}"), len(context.getTaskInfos())))

    def use():
        frame = spark.range(2, numPartitions=2).select(make_udf(gather)("id"))
        return frame.rdd.barrier().mapPartitions(list).collect()

    assert in_every_mode(use) == [("(['row 0', 'row 1'], 2)",)] * 2


def test_threads_of_a_function_belong_to_its_task(spark, in_every_mode, make_udf):
    def in_thread(n):
        from concurrent.futures import ThreadPoolExecutor

        os.environ["PYFLOW_TEST"] = f"set by {n}"
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(
                lambda: f"{TaskContext.get().partitionId()} {os.environ['PYFLOW_TEST']}"
            ).result()

    rows = in_every_mode(
        lambda: spark.range(2, numPartitions=2).select(make_udf(in_thread)("id")).collect()
    )
    assert rows == [("0 set by 0",), ("1 set by 1",)]


@pytest.mark.complete
def test_environments_of_tasks_at_the_same_time(spark, make_udf):
    """What a task sets, neither another one at the same time nor a later one sees."""

    def changed(n):
        import time

        seen = os.environ.get("PYFLOW_TEST")
        os.environ["PYFLOW_TEST"] = str(n // 100)
        time.sleep(0.001)
        return repr((seen in (None, str(n // 100)), os.environ["PYFLOW_TEST"]))

    for mode in thread_modes():
        with settings(spark, mode):
            frame = spark.range(800, numPartitions=8).select(make_udf(changed)("id").alias("c"))
            rows = frame.distinct().orderBy("c").collect()
            assert [row.c for row in rows] == [repr((True, str(n))) for n in range(8)]


def test_python_files_added_to_the_session(spark, in_every_mode, make_udf, tmp_path):
    """A module and a zip added while the session runs; a changed module under another name."""
    number = str(abs(hash(str(tmp_path))) % 10**8)
    module = tmp_path / f"added_{number}.py"
    module.write_text("def value():\n    return 'from the module'\n")
    archive = tmp_path / f"packed_{number}.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr(f"packed_{number}.py", "NAME = 'from the zip'\n")
    spark.sparkContext.addPyFile(str(module))
    spark.sparkContext.addPyFile(str(archive))
    spark.sparkContext.addFile(str(tmp_path / f"added_{number}.py"))

    def use_files(_):
        import importlib

        added = importlib.import_module(f"added_{number}")
        packed = importlib.import_module(f"packed_{number}")
        return f"{added.value()} {packed.NAME}"

    def read_file(_):
        with open(SparkFiles.get(f"added_{number}.py")) as file:
            return file.readline().strip()

    rows = in_every_mode(
        lambda: (
            spark.range(1).select(make_udf(use_files)("id"), make_udf(read_file)("id")).collect()
        ),
    )
    assert rows == [("from the module from the zip", "def value():")]


def test_the_environment_of_workers(spark, in_every_mode, make_udf):
    def environment(_):
        return repr(
            (
                os.environ.get("SPARK_HOME") is not None,
                os.environ.get("PYTHONHASHSEED"),
                sys.version_info[:3],
                sys.executable,
                sys.prefix,
                sys.flags.optimize,
                sys.argv[:0],
                "modules" in os.environ.get("PYTHONPATH", ""),
            )
        )

    rows = in_every_mode(lambda: spark.range(1).select(make_udf(environment)("id")).collect())
    assert eval(rows[0][0])[2] == sys.version_info[:3]


def test_the_environment_while_the_input_runs_functions(spark, in_every_mode):
    """The functions of two operators take turns on the thread of their task."""

    def inner(batches):
        for batch in batches:
            os.environ["PYFLOW_TEST"] = "inner"
            yield batch

    def outer(frames):
        os.environ["PYFLOW_TEST"] = "outer"
        for frame in frames:
            yield frame.assign(seen=os.environ["PYFLOW_TEST"])

    def use():
        frame = (
            spark.range(4).mapInArrow(inner, "id long").mapInPandas(outer, "id long, seen string")
        )
        return {row.seen for row in frame.collect()}

    assert in_every_mode(use) == {"outer"}


def test_the_environment_of_subprocesses(spark, in_every_mode, make_udf):
    def environment(n):
        import subprocess

        os.environ["PYFLOW_TEST"] = f"set by {n}"
        command = ["printenv", "PYFLOW_TEST"]
        printed = [
            subprocess.check_output(command, text=True),
            subprocess.run(command, -1, capture_output=True, text=True, env=None).stdout,
            subprocess.run(command, capture_output=True, text=True, env={}).stdout,
            os.popen("printenv PYFLOW_TEST").read(),
        ]
        os.environ.pop("PYFLOW_TEST")
        missing = subprocess.run(command, capture_output=True, text=True)
        return repr((printed, missing.stdout, os.system("exit 3"), os.system("kill -9 $$")))

    rows = in_every_mode(lambda: spark.range(1).select(make_udf(environment)("id")).collect())
    assert eval(rows[0][0]) == (["set by 0\n", "set by 0\n", "", "set by 0\n"], "", 768, 9)


def test_c_code_sees_the_variables_that_functions_set(spark, in_every_mode, make_udf):
    def seen_by_c(n):
        import ctypes

        getenv = ctypes.CDLL(None).getenv
        getenv.restype = ctypes.c_char_p
        name = f"PYFLOW_TEST_{n}"
        changes = [
            lambda: os.environ.update({name: "set", name + "_2": "other"}),
            lambda: os.environb.update({name.encode(): b"\xe9"}),
            lambda: os.environ.pop(name),
            lambda: os.environ.setdefault(name, "again"),
            lambda: os.putenv(name, "put"),
            lambda: os.unsetenv(name),
            lambda: [os.environ.update({f"{name}_{n}": str(n)}) for n in range(200)],
        ]
        found = []
        for change in changes:
            change()
            found.append((getenv(name.encode()), getenv(name.encode() + b"_2")))
        many = [getenv(f"{name}_{n}".encode()) for n in range(200)]
        for wrong in ("", "A=B", "A\0"):
            try:
                os.environ[wrong] = "value"
            except (ValueError, OSError) as error:
                found.append(type(error).__name__)
        # A worker keeps them for its next task, as C code of an executor does.
        for left in [each for each in os.environ if each.startswith(name)]:
            del os.environ[left]
        return repr((found, many, getenv(name.encode() + b"_2")))

    def collect():
        rows = spark.range(4, numPartitions=2).select(make_udf(seen_by_c)("id")).collect()
        return [row[0] for row in rows]

    assert "b'again'" in in_every_mode(collect)[0]


def test_functions_leave_variables_of_the_process_alone(spark):
    """Those that it was started with, and those of the C library, which are of all tasks."""

    def seen_by_c(_):
        import ctypes

        getenv = ctypes.CDLL(None).getenv
        getenv.restype = ctypes.c_char_p
        names = ("PATH", "TZ", "LC_NUMERIC", "LD_PRELOAD")
        before = [getenv(name.encode()) for name in names]
        for name in names:
            os.environ[name] = "set"
            os.environ.pop(name)
        for name in names:
            os.environ[name] = "set"
        return repr(before == [getenv(name.encode()) for name in names])

    for mode in thread_modes():
        with settings(spark, mode):
            assert spark.range(1).select(udf(seen_by_c)("id")).collect() == [("True",)]


def test_hashes_agree_between_tasks(spark, in_every_mode, make_udf):
    """PySpark fixes the hash seed, so that hash() of a str is the same in every worker."""
    of_text = make_udf(lambda n: hash(f"text {n % 3}"), "long")
    in_every_mode(lambda: spark.range(9, numPartitions=3).select(of_text("id")).collect())


def test_standard_library_modules(spark, in_every_mode, make_udf):
    """Modules with C code that functions often use, also in interpreters of their own."""

    def use(n):
        import collections
        import datetime
        import decimal
        import hashlib
        import heapq
        import itertools
        import json
        import math
        import re
        import statistics
        import string
        import unicodedata
        import urllib.parse
        import uuid
        import zlib

        parts = [
            json.dumps({"n": n}),
            re.sub(r"\d", "x", f"a{n}b"),
            hashlib.sha256(str(n).encode()).hexdigest()[:8],
            str(decimal.Decimal(n) / 7),
            datetime.date(2020, 1, 1 + n).isoformat(),
            datetime.datetime.strptime("2020-01-02", "%Y-%m-%d").strftime("%A"),
            str(math.sqrt(n)),
            str(collections.Counter("hello").most_common(1)),
            str(heapq.nsmallest(2, [3, 1, 2])),
            str(list(itertools.islice(itertools.count(n), 3))),
            str(statistics.mean([1, 2, n])),
            string.Template("$x").substitute(x=n),
            unicodedata.normalize("NFD", "\u00e4"),
            urllib.parse.quote("a b/\u00e4"),
            str(uuid.uuid5(uuid.NAMESPACE_DNS, str(n))),
            str(zlib.crc32(b"text")),
        ]
        return "|".join(parts)

    in_every_mode(lambda: spark.range(4, numPartitions=2).select(make_udf(use)("id")).collect())


def test_random_numbers_differ_between_partitions(spark, make_udf):
    def draw(_):
        import random

        return random.random()

    with settings(spark, thread_modes()[0]):
        frame = spark.range(4, numPartitions=4).select(make_udf(draw, "double")("id"))
        assert len({row[0] for row in frame.collect()}) == 4
