"""Timestamps, orders, types and callables that programs rely on, as PyFlink has them."""

from __future__ import annotations

import numpy as np
import pytest

from pyflow.common import Row, Time, Types, WatermarkStrategy
from pyflow.common.watermark_strategy import TimestampAssigner
from pyflow.datastream import (
    AggregateFunction,
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    RuntimeExecutionMode,
)
from pyflow.datastream.state import (
    AggregatingStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
)
from pyflow.datastream.window import CountTumblingWindowAssigner, TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def timed(env, elements):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    return env.from_collection(elements).assign_timestamps_and_watermarks(strategy)


def collected(stream):
    with stream.execute_and_collect() as elements:
        return list(elements)


def added(one, other):
    return one[0], max(one[1], other[1]), one[2] + other[2]


def test_results_of_windows_without_an_end_have_the_time_of_the_last_element(make_env):
    env = make_env(1)
    elements = [("a", 1_000, 1), ("a", 2_000, 2), ("a", 11_000, 3), ("a", 12_000, 4)]
    counted = timed(env, elements).key_by(lambda each: each[0]).count_window(2).reduce(added)
    window = TumblingEventTimeWindows.of(Time.seconds(5))

    found = collected(counted.key_by(lambda each: each[0]).window(window).reduce(added))

    assert found == [("a", 2_000, 3), ("a", 12_000, 7)]


@pytest.mark.parametrize("elements", [[-5, 0], [3, 1]])
def test_a_callable_with_a_method_of_the_name_is_called(make_env, elements):
    stream = make_env(1).from_collection(elements).key_by(lambda _: 0).reduce(np.maximum)

    assert collected(stream)[-1] == max(elements)


class Latest(KeyedBroadcastProcessFunction):
    def __init__(self, rules):
        self.rules = rules

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(self.rules).put(value[0], value[2])

    def process_element(self, value, ctx):
        yield ctx.get_broadcast_state(self.rules).get("rule")


def test_broadcast_elements_keep_their_order_in_batch_mode(make_env):
    env = make_env(1)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    rules = MapStateDescriptor("rules", Types.STRING(), Types.STRING())
    sent = timed(env, [("rule", 9_000, "old"), ("rule", 1_000, "new")]).broadcast(rules)
    keyed = timed(env, [("a", 5_000, "")]).key_by(lambda each: each[0])

    assert collected(keyed.connect(sent).process(Latest(rules))) == ["new"]


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class Adding(KeyedProcessFunction):
    def open(self, runtime_context):
        counted = AggregatingStateDescriptor("count", Count(), Types.LONG())
        self.count = runtime_context.get_aggregating_state(counted)
        summed = ReducingStateDescriptor("sum", lambda one, two: one + two, Types.LONG())
        self.sum = runtime_context.get_reducing_state(summed)

    def process_element(self, value, ctx):
        for each in value[1]:
            self.count.add(each)
            self.sum.add(each)
        yield self.count.get(), self.sum.get()


@pytest.mark.parametrize(
    ("values", "expected"), [([1, None], (None, None)), ([1, None, 5], (1, 5)), ([2, 3], (2, 5))]
)
def test_none_clears_aggregating_and_reducing_state(make_env, values, expected):
    stream = make_env(1).from_collection([("a", values)]).key_by(lambda each: each[0])

    assert collected(stream.process(Adding())) == [expected]


class Pair(MapFunction):
    def map(self, value):
        return value, str(value)


def test_a_list_of_types_is_a_row(make_env):
    stream = make_env(1).from_collection([1, 2]).map(Pair(), [Types.LONG(), Types.STRING()])

    assert collected(stream) == [Row(f0=1, f1="1"), Row(f0=2, f1="2")]
    with pytest.raises(TypeError, match="output_type must be None, list or TypeInformation"):
        stream.map(Pair(), int)


def test_windows_of_all_elements_are_in_the_order_of_time_in_batch_mode(make_env):
    env = make_env(1)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    stream = timed(env, [("a", at, at) for at in (9, 1, 5, 2)])
    pairs = stream.window_all(CountTumblingWindowAssigner.of(2)).reduce(added)

    assert collected(pairs) == [("a", 2, 3), ("a", 9, 14)]
