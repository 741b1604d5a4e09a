"""Timestamps, orders, types and callables that programs rely on, as PyFlink has them."""

from __future__ import annotations

import json
from decimal import Decimal

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
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
)
from pyflow.datastream.testing import TestStream
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


class Given(TimestampAssigner):
    """The timestamp that an element is, of any type of number."""

    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Timers(KeyedProcessFunction):
    """Timers of half a second after each element, computed as numbers of any type."""

    def process_element(self, value, ctx):
        service = ctx.timer_service()
        for delay in (0.5 * 1000, np.int64(500), 500.4):
            service.register_event_time_timer(ctx.timestamp() + delay)
        service.register_event_time_timer(ctx.timestamp() + 9.9)
        service.delete_event_time_timer(ctx.timestamp() + 9)
        yield "element", value[0], ctx.timestamp()

    def on_timer(self, timestamp, ctx):
        yield "timer", ctx.get_current_key(), timestamp


def source_of(env, elements, is_bounded):
    if is_bounded:
        return env.from_collection(elements)
    stream = TestStream().add_elements(elements).advance_watermark_to_infinity()
    return env.from_source(stream, WatermarkStrategy.no_watermarks(), "test")


@pytest.mark.parametrize("is_bounded", [True, False])
def test_times_are_any_numbers(make_env, is_bounded):
    env = make_env(1)
    elements = [("a", 1000.9), ("b", Decimal(2000)), ("c", np.int64(3000)), ("d", True)]
    strategy = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Given())
    timed_by = source_of(env, elements, is_bounded).assign_timestamps_and_watermarks(strategy)

    found = collected(timed_by.key_by(lambda value: value[0]).process(Timers()))

    assert sorted(found) == [
        ("element", "a", 1000),
        ("element", "b", 2000),
        ("element", "c", 3000),
        ("element", "d", 1),
        ("timer", "a", 1500),
        ("timer", "b", 2500),
        ("timer", "c", 3500),
        ("timer", "d", 501),
    ]


def test_a_timestamp_that_is_no_number_is_named(make_env):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Given())
    stream = make_env(1).from_collection([("a", "soon")]).assign_timestamps_and_watermarks(strategy)
    with pytest.raises(Exception, match="has returned 'soon', which is no number of milliseconds"):
        collected(stream)


class Averages(KeyedProcessFunction):
    def open(self, runtime_context):
        self.values = runtime_context.get_list_state(ListStateDescriptor("values", Types.INT()))

    def process_element(self, value, ctx):
        self.values.add(value)
        found = self.values.get()
        yield sum(found), len(list(found)), next(self.values.get()), max(found), min(found)


@pytest.mark.parametrize("is_bounded", [True, False])
def test_the_values_of_a_list_are_read_again(make_env, mode, is_bounded):
    env = make_env(1, mode)
    found = collected(source_of(env, [2, 4], is_bounded).key_by(lambda _: 0).process(Averages()))
    assert found == [(2, 1, 2, 2, 2), (6, 2, 2, 4, 2)]


def noted(path, text):
    def write(value):
        with open(path, "a") as file:
            file.write(f"{text} {value}\n")
        return value

    return write


def test_operators_run_that_lead_to_no_sink(make_env, tmp_path, capsys):
    env = make_env(1)
    notes = tmp_path / "notes"
    numbers = env.from_collection([1, 2], Types.INT()).map(lambda value: value * 10, Types.INT())
    numbers.map(noted(notes, "first"))
    numbers.key_by(lambda value: 0).map(noted(notes, "second"))
    numbers.print()
    nodes = json.loads(env.get_execution_plan())["nodes"]
    assert [node["pact"] for node in nodes].count("Data Sink") == 1
    assert len(nodes) == 5
    env.execute()

    expected = ["first 10", "first 20", "second 10", "second 20"]
    assert sorted(notes.read_text().splitlines()) == expected
    assert capsys.readouterr().out == "10\n20\n"
    with pytest.raises(RuntimeError, match="No operators defined"):
        env.execute()


@pytest.mark.parametrize("is_bounded", [True, False])
def test_a_program_may_have_no_sink(make_env, tmp_path, is_bounded):
    env = make_env(1)
    source_of(env, [1, 2], is_bounded).map(noted(tmp_path / "notes", "seen"))
    env.execute()
    lines = (tmp_path / "notes").read_text().splitlines()
    assert [line for line in lines if "Watermark" not in line] == ["seen 1", "seen 2"]
