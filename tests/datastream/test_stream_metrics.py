"""Metrics of the functions of data streams, and the counters of operators."""

from __future__ import annotations

import uuid

import pytest

from pyflow.common import Time, WatermarkStrategy
from pyflow.datastream import KeyedProcessFunction, MapFunction
from pyflow.datastream.testing import TestStream
from pyflow.datastream.window import TumblingEventTimeWindows
from reported_metrics import reported

NOTHING = WatermarkStrategy.no_watermarks()


class Counted(MapFunction):
    def open(self, runtime_context):
        group = runtime_context.get_metrics_group().add_group("mine")
        self.counter, self.meter = group.counter("elements"), group.meter("rate")

    def map(self, value):
        self.counter.inc()
        self.meter.mark_event(2)
        return value


class Measured(KeyedProcessFunction):
    def open(self, runtime_context):
        self.sizes = runtime_context.get_metrics_group().distribution("sizes")
        self.seen = 0
        runtime_context.get_metrics_group().gauge("seen", lambda: self.seen)

    def process_element(self, value, ctx):
        self.seen += 1
        self.sizes.update(value)
        yield value


def counted(ds, name):
    ds = ds.map(Counted()).name(f"{name} counted").key_by(lambda value: 1)
    ds = ds.process(Measured()).name(f"{name} measured")
    with ds.execute_and_collect() as elements:
        return list(elements)


def check(spark, name):
    assert reported(spark, f"{name} counted") == {"mine.elements": 6, "mine.rate": 12}
    measured = reported(spark, f"{name} measured")
    assert measured["seen"] == 6
    assert {name: measured[f"sizes.{name}"] for name in ("count", "sum", "min", "max")} == {
        "count": 6,
        "sum": 21,
        "min": 1,
        "max": 6,
    }


def test_metrics_are_those_of_bounded_elements(env, spark):
    name = uuid.uuid4().hex

    assert sorted(counted(env.set_parallelism(1).from_collection(range(1, 7)), name)) == [
        1,
        2,
        3,
        4,
        5,
        6,
    ]

    check(spark, name)


@pytest.mark.complete("process")
def test_metrics_are_those_of_all_batches(make_env, mode, spark):
    """Functions stay open from one batch to the next; what a batch counts is reported once."""
    env, name, source = make_env(parallelism=1, mode=mode), uuid.uuid4().hex, TestStream()
    for each in ([1, 2], [3], [], [4, 5, 6]):
        source.add_elements(each)

    assert sorted(counted(env.from_source(source, NOTHING, "test"), name)) == [1, 2, 3, 4, 5, 6]

    if mode == "process":
        # Workers need not be the same in all batches.
        assert reported(spark, f"{name} counted") == {"mine.elements": 6, "mine.rate": 12}
    else:
        check(spark, name)


@pytest.mark.complete("process")
def test_late_elements_are_counted(env, spark):
    name = uuid.uuid4().hex
    source = TestStream().add_elements([1], [1]).advance_watermark_to(50)
    source.add_elements([2, 3], [2, 3]).add_elements([4], [60]).advance_watermark_to_infinity()
    keyed = env.from_source(source, NOTHING, "test").key_by(lambda value: 1)
    windows = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    ds = windows.reduce(lambda one, other: one + other).name(name)
    with ds.execute_and_collect() as elements:
        assert list(elements) == [1, 4]

    assert reported(spark, name)["numLateRecordsDropped"] == 2
