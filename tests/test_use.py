"""What the plugin adds to a session: settings, plans, reasons, metrics."""

from __future__ import annotations

import contextlib
import io
import os
import re

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql.functions import col, udf

from comparison import (
    INTERPRETERS,
    assert_process_plan,
    assert_thread_plan,
    executed_plan,
    operator,
    settings,
)
from sessions import FALLBACK, FREE_THREADED, INTERPRETER, MODE


def plus_one(x):
    return None if x is None else x + 1


def process_id(_):
    return os.getpid()


def jvm_process_id(spark):
    return spark._jvm.java.lang.ProcessHandle.current().pid()


def explained(frame, mode="simple"):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        frame.explain(mode=mode)
    return out.getvalue()


def metrics(frame):
    node = operator(frame._jdf.queryExecution().executedPlan(), "ThreadEvalPython")
    return {
        key: node.metrics().apply(key).value()
        for key in (
            "numOutputRows",
            "bundles",
            "pythonTime",
            "conversionTime",
            "gilWaitTime",
            "pythonMemory",
        )
    }


@pytest.fixture
def thread(spark):
    """A session in thread mode."""
    with settings(spark, {MODE: "thread"}):
        yield spark


def test_functions_run_in_the_jvm_only_in_thread_mode(spark):
    where = udf(process_id, "long")
    pids = {}
    for mode in ("process", "thread"):
        with settings(spark, {MODE: mode}):
            pids[mode] = {row[0] for row in spark.range(4).select(where("id")).collect()}
    assert pids["thread"] == {jvm_process_id(spark)}
    assert jvm_process_id(spark) not in pids["process"]


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("spark.python.worker.reuse", "false", "each task asks for a new worker"),
        ("spark.python.worker.module", "own_worker", "workers run a module of their own"),
    ],
)
def test_what_an_application_says_of_workers_is_a_reason_for_them(spark, key, value, reason):
    conf = spark._jsc.sc().conf()
    conf.set(key, value)
    try:
        with settings(spark, {MODE: "thread"}):
            plan = explained(spark.range(2).select(udf(plus_one, "long")("id")))
    finally:
        conf.remove(key)
    assert f"reason: {reason} ({key}={value})" in plan
    assert "ThreadEvalPython" not in plan


def test_process_mode_is_the_default(spark):
    assert spark.conf.get(MODE) == "process"
    frame = spark.range(2).select(udf(plus_one, "long")("id"))
    frame.collect()
    assert_process_plan(executed_plan(frame))
    assert "ProcessMode" not in executed_plan(frame)


def test_the_mode_switches_between_two_queries(spark):
    f = udf(plus_one, "long")
    for mode, holds in [("thread", assert_thread_plan), ("process", assert_process_plan)] * 2:
        spark.conf.set(MODE, mode)
        frame = spark.range(2).select(f("id"))
        assert frame.collect() == [(1,), (2,)]
        holds(executed_plan(frame))
    spark.conf.unset(MODE)


def test_the_mode_is_set_in_sql_and_per_session(spark):
    other = spark.newSession()
    try:
        other.sql(f"set `{MODE}`=`thread`")
        f = udf(plus_one, "long")
        in_thread = other.range(2).select(f("id"))
        in_process = spark.range(2).select(f("id"))
        assert in_thread.collect() == in_process.collect()
        assert_thread_plan(executed_plan(in_thread))
        assert_process_plan(executed_plan(in_process))
    finally:
        other.conf.unset(MODE)


@pytest.mark.parametrize(
    ("key", "value", "valid"),
    [
        (MODE, "fast", ["process", "thread", "auto"]),
        (MODE, "threads", ["process", "thread", "auto"]),
        (MODE, "", ["process", "thread", "auto"]),
        (INTERPRETER, "own", ["auto", "shared", "isolated"]),
        (FALLBACK, "maybe", ["boolean"]),
        ("spark.pyflow.bundle.size", "0", ["positive"]),
        ("spark.pyflow.bundle.size", "many", ["int"]),
        ("spark.pyflow.bundle.time", "-5ms", ["positive"]),
    ],
)
def test_wrong_values_are_refused_with_the_valid_ones(spark, key, value, valid):
    with pytest.raises((PySparkException, Py4JJavaError)) as refused:
        spark.conf.set(key, value)
    message = str(refused.value)
    for word in valid:
        assert word in message
    assert key in message


def test_values_are_known_in_any_case(spark):
    with settings(spark, {MODE: "THREAD"}):
        frame = spark.range(2).select(udf(plus_one, "long")("id"))
        frame.collect()
    assert_thread_plan(executed_plan(frame))


def test_a_session_cannot_allow_what_the_application_does_not(spark):
    for session in (spark, spark.newSession()):
        with pytest.raises(PySparkException, match="static"):
            session.conf.set("spark.pyflow.thread-mode.allowed", "true")


def test_settings_are_listed_with_their_documentation(spark):
    listed = {row.key: row for row in spark.sql("set -v").collect()}
    for key in (MODE, INTERPRETER, FALLBACK, "spark.pyflow.bundle.size"):
        assert key in listed
        assert listed[key].meaning


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_explain_shows_operator_functions_and_interpreter(thread, interpreter):
    shown = {
        "shared": "shared",
        "auto": "isolated or shared" if len(INTERPRETERS) > 1 else "shared",
    }
    with settings(thread, {INTERPRETER: interpreter}):
        frame = thread.range(2).select(
            udf(plus_one, "long")("id"), udf(process_id, "long", useArrow=False)("id")
        )
        for mode in ("simple", "formatted", "extended"):
            plan = explained(frame, mode)
            assert "ThreadEvalPython" in plan
            assert "plus_one(" in plan
            assert "process_id(" in plan
            assert f"interpreter: {shown[interpreter]}" in plan.lower()


def fallbacks(spark):
    @F.pandas_udf("long", F.PandasUDFType.SCALAR)
    def vectorised(x):
        return x + 1

    months = F.expr("make_ym_interval(1, cast(id as int))")
    f = udf(plus_one, "long", useArrow=True)
    length = udf(str, "string")
    profiler = {"spark.sql.pyspark.udf.profiler": "memory"}
    legacy = {"spark.sql.legacy.execution.pythonUDF.pandas.conversion.enabled": "true"}
    level = {"spark.sql.execution.pythonUDF.arrow.concurrency.level": "2"}
    return {
        "pandas_profiler": (vectorised("id"), profiler, "the memory profiler"),
        "interval": (length(months), {}, "interval year to month"),
        "nested_interval": (length(F.array(F.struct(months))), {}, "interval year to month"),
        "profiler": (f("id"), profiler, "the memory profiler"),
        "legacy": (f("id"), legacy, "pandas"),
        "concurrency": (f("id"), level, "concurrent"),
    }


# Workers of Spark 4.1 run such functions with the package memory-profiler alone.
MEMORY_PROFILER = pytest.mark.since_spark("4.2")
FALLBACKS = [
    pytest.param("pandas_profiler", marks=MEMORY_PROFILER),
    "interval",
    "nested_interval",
    pytest.param("profiler", marks=MEMORY_PROFILER),
    "legacy",
    "concurrency",
]


@pytest.mark.parametrize("name", FALLBACKS)
def test_what_stays_in_process_mode_shows_the_reason(thread, name):
    column, conf, reason = fallbacks(thread)[name]
    with settings(thread, conf):
        frame = thread.range(2).select(column)
        plan = explained(frame)
        assert "ThreadEvalPython" not in plan
        assert reason in plan.split("reason:")[1].splitlines()[0]
        in_thread = frame.collect() if "interval" not in name else frame.count()
        with settings(thread, {MODE: "process"}):
            again = thread.range(2).select(fallbacks(thread)[name][0])
            assert in_thread == (again.collect() if "interval" not in name else again.count())
    assert_process_plan(executed_plan(frame))


@pytest.mark.parametrize("name", FALLBACKS)
def test_without_fallback_the_reason_is_an_error(thread, name):
    column, conf, reason = fallbacks(thread)[name]
    with settings(thread, {FALLBACK: "false", **conf}):
        with pytest.raises((PySparkException, Py4JJavaError), match=reason):
            thread.range(2).select(column).collect()
        with settings(thread, {MODE: "process"}):
            assert thread.range(2).select(fallbacks(thread)[name][0]).count() == 2


def test_without_fallback_functions_of_thread_mode_run(thread):
    with settings(thread, {FALLBACK: "false"}):
        assert thread.range(2).select(udf(plus_one, "long")("id")).collect() == [(1,), (2,)]


def test_the_reason_names_the_function_among_several(thread):
    f = udf(plus_one, "long")
    text = udf(str)
    frame = thread.range(2).select(f("id"), text(F.expr("make_ym_interval(1, 2)")).isNull())
    assert "str: thread mode has no conversion for type interval year to month" in explained(frame)
    assert frame.count() == 2


def test_both_lanes_in_one_query(thread):
    @F.pandas_udf("long", F.PandasUDFType.SCALAR)
    def vectorised(x):
        return x * 10

    f = udf(plus_one, "long")
    frame = thread.range(3).select(vectorised(f("id")), f(vectorised("id")))
    assert frame.collect() == [(10, 1), (20, 11), (30, 21)]
    plan = executed_plan(frame)
    assert "ThreadEvalPython" in plan
    assert "ThreadArrowEvalPython" in plan
    assert_thread_plan(plan)


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_metrics(thread, interpreter):
    with settings(thread, {INTERPRETER: interpreter}):
        frame = thread.range(5000, numPartitions=2).select(
            udf(lambda x: str(x) * 3)("id"), udf(plus_one, "long")("id")
        )
        frame.collect()
    values = metrics(frame)
    assert values["numOutputRows"] == 5000
    assert 2 <= values["bundles"] < 2000
    assert values["pythonTime"] > 0
    assert values["conversionTime"] >= 0
    assert values["gilWaitTime"] >= 0
    assert values["pythonMemory"] > 1_000_000
    total_ms = (values["pythonTime"] + values["conversionTime"]) / 1e6
    assert total_ms < 60_000


def test_metrics_have_names_for_the_user_interface(thread):
    frame = thread.range(5).select(udf(plus_one, "long")("id"))
    frame.collect()
    node = operator(frame._jdf.queryExecution().executedPlan(), "ThreadEvalPython")
    shown = node.metrics().values().mkString("\n")
    for word in ("output rows", "Python", "GIL", "conver", "bundles"):
        assert re.search(word, shown, re.IGNORECASE), shown


@pytest.mark.core
@pytest.mark.skipif(FREE_THREADED, reason="its allocator does not tell")
def test_the_memory_of_python_is_a_metric(thread):
    """What a function keeps is in its operator's metric, and in none afterwards."""
    megabytes = 64

    def keep(n, kept=[]):  # noqa: B006
        kept.append([bytes(1000) for _ in range(megabytes * 1000)])
        return n

    use = udf(keep, "long")
    few = udf(plus_one, "long")
    peaks = []
    for function in (few, use, few):
        frame = thread.range(1).select(function("id"))
        frame.collect()
        peaks.append(metrics(frame)["pythonMemory"])
    before, kept, after = peaks
    # Others of the process may let go of some meanwhile.
    assert before + 0.6 * megabytes * 10**6 < kept < before + 2 * megabytes * 10**6
    assert after < before + megabytes * 10**6 / 2


def test_waiting_for_a_shared_gil_is_counted(thread):
    def busy(x):
        return sum(range(3000)) + x

    with settings(thread, {INTERPRETER: "shared"}):
        frame = thread.range(20_000, numPartitions=2).select(udf(busy, "long")("id"))
        frame.write.format("noop").mode("overwrite").save()
        frame.collect()
    assert metrics(frame)["gilWaitTime"] > 0


@pytest.mark.parametrize(("size", "bundles"), [("1", 500), ("100", 5), ("1000000", 1)])
def test_bundles_are_bounded_by_rows(thread, size, bundles):
    with settings(thread, {"spark.pyflow.bundle.size": size, "spark.pyflow.bundle.time": "60s"}):
        frame = thread.range(500, numPartitions=1).select(udf(plus_one, "long")("id"))
        assert [row[0] for row in frame.collect()] == list(range(1, 501))
    assert metrics(frame)["bundles"] >= bundles


def test_bundles_are_bounded_by_time(thread):
    """A slow function is called for few rows at a time, so that rows flow."""

    def slow(x):
        import time

        time.sleep(0.02)
        return x

    with settings(thread, {"spark.pyflow.bundle.time": "30ms"}):
        frame = thread.range(40, numPartitions=1).select(udf(slow, "long")("id"))
        frame.collect()
    assert metrics(frame)["bundles"] >= 10


def test_a_sum_in_both_modes_over_many_rows(thread):
    f = udf(plus_one, "long")
    frame = thread.range(100_000, numPartitions=3).select(f("id").alias("n")).agg(F.sum(col("n")))
    assert frame.collect() == [(100_000 * 100_001 // 2,)]
