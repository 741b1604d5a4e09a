"""Functions with libraries that need a process run in workers, and plans say why."""

from __future__ import annotations

import functools

import pytest
from pyspark.errors import PythonException
from pyspark.sql.functions import udf

from comparison import assert_thread_plan, executed_plan, settings, thread_modes

jpype = pytest.importorskip("jpype", reason="it is not distributed for this Python")

from jpype import JString  # noqa: E402


def length(text):
    import jpype

    if not jpype.isJVMStarted():
        jpype.startJVM()
    return len(str(jpype.JClass("java.lang.StringBuilder")(text).reverse()))


def of_a_class(text):
    if not jpype.isJVMStarted():
        jpype.startJVM()
    return len(JString(text))


def of_a_function(text):
    return length(text)


class Lengths:
    def __call__(self, text):
        return length(text)

    def of(self, text):
        return length(text)


def of_a_closure():
    def inner(text):
        return length(text)

    return lambda text: inner(text)


FUNCTIONS = {
    "import in the function": length,
    "name of a module": of_a_class,
    "another function": of_a_function,
    "closure": of_a_closure(),
    "object": Lengths(),
    "method": Lengths().of,
    "partial": functools.partial(length),
}


@pytest.mark.core
@pytest.mark.parametrize("how", FUNCTIONS)
def test_a_function_that_starts_a_jvm_runs_in_a_worker(spark, how):
    for mode in thread_modes():
        with settings(spark, mode):
            frame = spark.range(4, numPartitions=2).select(
                udf(FUNCTIONS[how], "int")(udf(str)("id"))
            )
            assert "it uses jpype, which starts a JVM" in executed_plan(frame)
            assert frame.collect() == [(1,)] * 4


def test_functions_over_batches_count_too(spark):
    def lengths(batches):
        for batch in batches:
            yield batch.assign(n=batch.text.map(length)).drop(columns="text")

    with settings(spark, thread_modes()[-1]):
        frame = spark.range(3).selectExpr("string(id) as text").mapInPandas(lengths, "n long")
        assert "it uses jpype, which starts a JVM" in executed_plan(frame)
        assert frame.collect() == [(1,)] * 3


def test_a_name_that_only_begins_so_does_not_count(spark):
    def named(_):
        return {"jpypes": 1, "a jpype": 2}["jpypes"]

    with settings(spark, thread_modes()[-1]):
        frame = spark.range(1).select(udf(named, "int")("id"))
        assert_thread_plan(executed_plan(frame))
        assert frame.collect() == [(1,)]


def test_the_reason_is_told_where_no_worker_may_run_the_function(spark):
    mode = {**thread_modes()[-1], "spark.pyflow.fallback": "false"}
    with settings(spark, mode):
        frame = spark.range(1).select(udf(length, "int")(udf(str)("id")))
        with pytest.raises(Exception, match="it uses jpype, which starts a JVM"):
            frame.collect()


def seeds(_):
    import tensorflow as tf

    tf.random.set_seed(1)
    return tf.random.uniform([1]).numpy().item()


def seeds_keras(_):
    from keras.utils import set_random_seed

    set_random_seed(1)


def draws(_):
    import tensorflow as tf

    return tf.random.uniform([1]).numpy().item()


def seeds_another(_):
    from imgaug.random import set_seed

    set_seed(1)


def evaluates(_):
    from py_mini_racer import MiniRacer

    return MiniRacer().eval("1 / 3")


def fits(_):
    import rpy2.robjects as objects

    return objects.r("mean(c(1, 2))")[0]


def fetches(_):
    from twisted.internet import reactor

    reactor.run()


def defers(_):
    from twisted.internet import defer

    return defer.succeed(1.0).result


def starts_processes(_):
    import asyncio

    import uvloop

    return uvloop.run(asyncio.create_subprocess_exec("true")).returncode


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (evaluates, "it uses py_mini_racer, whose JavaScript engine"),
        (fits, "it uses rpy2, whose variables belong to the process"),
        (fetches, "it uses twisted, whose reactor runs once"),
        (defers, None),
        (starts_processes, "it uses uvloop, and starts processes"),
        (seeds, "it uses tensorflow, and seeds its random numbers"),
        (seeds_keras, "it uses keras, and seeds its random numbers"),
        (draws, None),
        (seeds_another, None),
    ],
)
def test_a_function_that_needs_a_process_runs_in_a_worker(spark, function, reason):
    with settings(spark, thread_modes()[-1]):
        plan = executed_plan(spark.range(1).select(udf(function, "double")("id")))
        if reason is None:
            assert_thread_plan(plan)
        else:
            assert reason in plan


def test_seeds_of_tensorflow_are_refused_where_they_were_not_foreseen(spark):
    pytest.importorskip("tensorflow", reason="it is too large for a requirement")

    def hides(_):
        import importlib

        importlib.import_module("".join(["tensor", "flow"])).random.set_seed(1)
        return 1

    with settings(spark, thread_modes()[-1]):
        frame = spark.range(1).select(udf(hides, "int")("id"))
        with pytest.raises(PythonException, match=r"would seed the random numbers of all tasks"):
            frame.collect()


def test_a_second_jvm_is_refused_where_it_was_not_foreseen(spark):
    def hides(_):
        import importlib

        importlib.import_module("".join(["jpy", "pe"])).startJVM()
        return 1

    with settings(spark, thread_modes()[-1]):
        frame = spark.range(1).select(udf(hides, "int")("id"))
        with pytest.raises(PythonException, match=r"startJVM\(\) would start a second JVM"):
            frame.collect()
