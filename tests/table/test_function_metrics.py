"""Metrics of functions in Spark's metrics system, and on operators in the SQL tab."""

from __future__ import annotations

import re
import sys

import pytest
from pyspark.sql import functions as F

from comparison import process_mode, settings, thread_modes
from deployments import PROGRAMS, run
from functions_of_tables import call, lateral
from pyflow.common.configuration import Configuration
from pyflow.table.functions.settings import FunctionMetrics, FunctionSettings
from pyflow.table.udf import ScalarFunction, TableFunction, udf, udtf
from reported_metrics import reported


class Counts(ScalarFunction):
    def open(self, function_context):
        group = function_context.get_metric_group().add_group("mine")
        self.counter = group.counter("rows")
        self.meter = group.add_group("key", "value").meter("events")
        self.distribution = group.distribution("values")
        group.distribution("nothing")
        group.gauge("last", lambda: self.last)

    def eval(self, x):
        self.counter.inc(2)
        self.counter.dec()
        self.meter.mark_event()
        self.distribution.update(x)
        self.last = x + 1
        return self.counter.get_count()


class Series(ScalarFunction):
    def open(self, function_context):
        self.counter = function_context.get_metric_group().counter("rows")

    def eval(self, x):
        self.counter.inc(len(x))
        return x


class Twice(TableFunction):
    def open(self, function_context):
        self.counter = function_context.get_metric_group().counter("rows")

    def eval(self, x):
        self.counter.inc()
        return [x, x]


def shown(spark, operator):
    """The metrics of an operator of the last query, as the SQL tab shows them."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    store = spark._jsparkSession.sharedState().statusStore()
    execution = store.executionsList().last().executionId()
    values = store.executionMetrics(execution)
    nodes = store.planGraph(execution).allNodes()
    found = {}
    for i in range(nodes.size()):
        node = nodes.apply(i)
        for j in range(node.metrics().size() if node.name() == operator else 0):
            metric = node.metrics().apply(j)
            value = values.get(metric.accumulatorId())
            found[metric.name()] = value.get() if value.isDefined() else None
    return found


@pytest.mark.parametrize(
    "mode", [process_mode(), *thread_modes()], ids=lambda mode: "-".join(mode.values())
)
def test_metrics_are_those_of_all_tasks_that_have_succeeded(spark, mode):
    name = "counts_" + "_".join(mode.values())
    counts = udf(Counts(), result_type="BIGINT", name=name)
    frame = spark.range(0, 10, numPartitions=2)
    with settings(spark, mode):
        frame.select(call(counts, frame, "id", metrics=FunctionMetrics(spark))).collect()

    values = reported(spark, name)
    assert values.pop("mine.last") in (5.0, 10.0)
    assert values == {
        "mine.rows": 10,
        "mine.key.value.events": 10,
        "mine.values.count": 10.0,
        "mine.values.sum": 45.0,
        "mine.values.min": 0.0,
        "mine.values.max": 9.0,
    }


def test_operators_show_them(spark):
    """Also where the operator is in a stage whose end makes Spark plan the rest anew."""
    counts = udf(Counts(), result_type="BIGINT", name="shown")
    frame = spark.range(0, 10, numPartitions=2)
    with settings(spark, thread_modes()[-1]):
        counted = frame.select(call(counts, frame, "id", metrics=FunctionMetrics(spark)).alias("n"))
        counted.groupBy("n").agg(F.count("*")).collect()

    metrics = shown(spark, "ThreadEvalPython")
    assert metrics["shown.mine.rows"] == "10"
    assert metrics["shown.mine.key.value.events"] == "10"
    assert metrics["shown.mine.values.count"] == "10"
    assert metrics["shown.mine.values.sum"] == "45"
    assert re.search(r"\(5.*, .*, 10", metrics["shown.mine.last"])
    assert "time in Python" in metrics


def test_operators_of_batches_and_of_table_functions_show_them(spark):
    series = udf(Series(), result_type="BIGINT", func_type="pandas", name="series")
    twice = udtf(Twice(), result_types=["BIGINT"], name="twice")
    frame = spark.range(0, 10, numPartitions=2)
    metrics = FunctionMetrics(spark)
    with settings(spark, thread_modes()[-1]):
        frame.select(call(series, frame, "id", metrics=metrics).alias("n")).groupBy(
            "n"
        ).count().collect()
        assert shown(spark, "ThreadArrowEvalPython")["series.rows"] == "10"
        lateral(twice, frame, "id", names=["x"], metrics=metrics).collect()
        assert shown(spark, "ThreadEvalPython")["twice.rows"] == "10"


def test_a_gauge_without_a_number_fails_the_task(spark):
    class Wrong(ScalarFunction):
        def open(self, function_context):
            function_context.get_metric_group().gauge("name", lambda: "text")

        def eval(self, x):
            return x

    frame = spark.range(0, 1, numPartitions=1)
    wrong = call(udf(Wrong(), result_type="BIGINT"), frame, "id", metrics=FunctionMetrics(spark))
    with (
        settings(spark, thread_modes()[-1]),
        pytest.raises(Exception, match=r"metric 'Wrong\.name' is no number: .*'text'"),
    ):
        frame.select(wrong).collect()


def test_metrics_can_be_switched_off(spark):
    frame = spark.range(0, 1, numPartitions=1)
    context = FunctionSettings.of(
        spark,
        Configuration.from_dict({"python.metric.enabled": "false"}),
        metrics=FunctionMetrics(spark),
    )
    counts = udf(Counts(), result_type="BIGINT")
    column = counts.column([F.col("id")], [counts.result_type], context, ["id"])
    with pytest.raises(Exception, match=r"python\.metric\.enabled"):
        frame.select(column).collect()


@pytest.mark.complete
def test_a_sink_of_a_cluster_has_those_of_executors_and_their_sums(tmp_path):
    run([sys.executable, PROGRAMS / "function_metrics.py", tmp_path], tmp_path)

    def counted(instance, function):
        files = tmp_path.glob(f"*.{instance}.PythonFunctions.{function}.rows.csv")
        return sorted(int(file.read_text().split()[-1].split(",")[1]) for file in files)

    assert counted("driver", "thread") == [100]
    assert sum(counted("[0-9]", "thread")) == 100
    assert len(counted("[0-9]", "thread")) == 2
    assert counted("driver", "process") == [100]
    assert counted("[0-9]", "process") == []
