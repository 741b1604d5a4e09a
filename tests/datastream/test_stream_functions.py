"""The classes of functions of data streams, and what they are given."""

from __future__ import annotations

import asyncio
import pickle

import pytest

from pyflow.common import Duration, Time, Types, WatermarkStrategy
from pyflow.common.watermark_strategy import Watermark, WatermarkGenerator
from pyflow.datastream import async_retry_predicates as predicates
from pyflow.datastream.async_data_stream import AsyncDataStream
from pyflow.datastream.async_retry_strategies import NO_RETRY_STRATEGY
from pyflow.datastream.functions import (
    AggregateFunction,
    AsyncFunction,
    AsyncFunctionDescriptor,
    AsyncRetryStrategy,
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessWindowFunction,
    RuntimeContext,
    SinkFunction,
    SourceFunction,
)
from pyflow.datastream.output_tag import OutputTag
from pyflow.datastream.slot_sharing_group import MemorySize, SlotSharingGroup
from pyflow.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from pyflow.util.exceptions import TableException


class Sum(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class Twice(AsyncFunction):
    async def async_invoke(self, value):
        return [value, value]


class NotAsync(AsyncFunction):
    def async_invoke(self, value):
        return [value]


class Stream:
    """In the place of a DataStream: tells what it was asked for."""

    def _async(self, *asked):
        return asked


LONG = Types.LONG()
STATE = {
    "get_state": ValueStateDescriptor("value", LONG),
    "get_list_state": ListStateDescriptor("list", LONG),
    "get_map_state": MapStateDescriptor("map", LONG, LONG),
    "get_reducing_state": ReducingStateDescriptor("reducing", max, LONG),
    "get_aggregating_state": AggregatingStateDescriptor("aggregating", Sum(), LONG),
}


@pytest.mark.parametrize("method", STATE)
def test_state_comes_from_where_the_context_was_told(method):
    context = RuntimeContext(None, {}, state=lambda descriptor: ("state", descriptor))

    assert getattr(context, method)(STATE[method]) == ("state", STATE[method])


@pytest.mark.parametrize("method", STATE)
def test_state_needs_a_keyed_stream(method):
    with pytest.raises(RuntimeError, match="only accessible by functions executed on a Keyed"):
        getattr(RuntimeContext(None, {}), method)(STATE[method])


@pytest.mark.parametrize("method", STATE)
def test_state_of_another_kind_is_refused(method):
    other = "get_list_state" if method == "get_state" else "get_state"

    with pytest.raises(TypeError, match="StateDescriptor, not "):
        getattr(RuntimeContext(None, {}, state=lambda _: None), method)(STATE[other])


def test_a_context_tells_of_task_and_job():
    context = RuntimeContext(None, {"a": "1"}, "map", "map (2/3)", 3, 3, 1, 0)

    assert context.get_task_name_with_subtasks() == "map (2/3)"
    assert context.get_index_of_this_subtask() == 1
    assert context.get_job_parameter("a", "2") == "1"
    assert context.get_job_parameter("b", "2") == "2"
    with pytest.raises(RuntimeError, match=r"python\.metric\.enabled"):
        context.get_metrics_group()


def test_methods_that_a_function_needs_are_abstract():
    with pytest.raises(TypeError, match="abstract"):
        MapFunction()


@pytest.mark.parametrize(
    ("context", "methods"),
    [
        (
            KeyedProcessFunction.OnTimerContext,
            {"timer_service", "timestamp", "get_current_key", "time_domain"},
        ),
        (
            KeyedBroadcastProcessFunction.OnTimerContext,
            {
                "current_processing_time",
                "current_watermark",
                "get_broadcast_state",
                "get_current_key",
                "time_domain",
                "timer_service",
                "timestamp",
            },
        ),
        (
            ProcessWindowFunction.Context,
            {
                "current_processing_time",
                "current_watermark",
                "global_state",
                "window",
                "window_state",
            },
        ),
    ],
)
def test_a_context_has_pyflink_s_methods(context, methods):
    assert context.__abstractmethods__ == methods


def test_classes_of_types_are_inherited_from():
    class Counts(ProcessWindowFunction[tuple, tuple, str, object]):
        def process(self, key, context, elements):
            yield key, len(list(elements))

    assert list(Counts().process("a", None, [1, 2])) == [("a", 2)]


@pytest.mark.parametrize("kind", [SourceFunction, SinkFunction])
def test_functions_in_java_say_what_to_use(kind):
    with pytest.raises(TableException, match=r"use a (source|sink) of pyflow"):
        kind("org.example.Function")


def test_a_call_that_takes_too_long_is_an_error():
    assert asyncio.run(Twice().async_invoke(1)) == [1, 1]
    with pytest.raises(TimeoutError, match="has timed out for input: 7"):
        Twice().timeout(7)


@pytest.mark.parametrize("order", ["ordered", "unordered"])
def test_an_asynchronous_function_is_described_to_the_stream(order):
    wait = getattr(AsyncDataStream, f"{order}_wait")

    found, output_type = wait(Stream(), Twice(), Time.seconds(3), 5, LONG)

    assert found.timeout == Time.seconds(3)
    assert found.capacity == 5
    assert found.async_retry_strategy is NO_RETRY_STRATEGY
    assert found.output_mode is AsyncFunctionDescriptor.OutputMode[order.upper()]
    assert output_type is LONG


RETRY = AsyncRetryStrategy.fixed_delay(3, 100, predicates.empty_result_predicate, None)


@pytest.mark.parametrize(
    ("function", "timeout", "strategy", "capacity", "error", "message"),
    [
        (len, Time.seconds(1), RETRY, 1, TypeError, "must be an AsyncFunction"),
        (NotAsync(), Time.seconds(1), RETRY, 1, TypeError, "declared as 'async def'"),
        (Twice(), 1000, RETRY, 1, TypeError, "must be a Time"),
        (Twice(), Time.seconds(1), RETRY, 0, ValueError, "capacity must be larger than 0"),
        (Twice(), Time.seconds(1), None, 1, ValueError, "strategy should not be None"),
        (Twice(), Time.seconds(0), RETRY, 1, ValueError, "Timeout should be configured"),
    ],
)
def test_asynchronous_calls_are_checked(function, timeout, strategy, capacity, error, message):
    with pytest.raises(error, match=message):
        AsyncDataStream.ordered_wait_with_retry(Stream(), function, timeout, strategy, capacity)


def test_attempts_are_limited_and_further_and_further_apart():
    strategy = AsyncRetryStrategy.exponential_backoff(
        4, 100, 500, 2.0, None, predicates.has_exception_predicate
    )

    delays = [strategy.get_backoff_time_millis(attempt) for attempt in (1, 2, 3, 4)]

    assert delays == [100, 200, 400, 500]
    assert [strategy.can_retry(attempt) for attempt in (4, 5)] == [True, False]
    assert strategy.get_retry_predicate().result_predicate() is None
    assert strategy.get_retry_predicate().exception_predicate()(ValueError())


def test_one_attempt_is_all_by_default():
    strategy = AsyncRetryStrategy.no_restart()

    assert not strategy.can_retry(1)
    assert strategy.get_backoff_time_millis(1) == -1


@pytest.mark.parametrize("numbers", [(0, 1), (1, 0)])
def test_attempts_and_delays_are_positive(numbers):
    with pytest.raises(ValueError, match="should be greater than zero"):
        AsyncRetryStrategy.fixed_delay(*numbers, None, None)


def test_predicates_of_retries_tell_empty_results_and_types_of_errors():
    assert predicates.empty_result_predicate([])
    assert predicates.empty_result_predicate(None)
    assert not predicates.empty_result_predicate([None])
    assert predicates.exception_type_predicate(KeyError("a"), LookupError)
    assert not predicates.exception_type_predicate(ValueError("a"), LookupError)


def test_a_tag_has_a_type():
    assert OutputTag("late").type_info == Types.PICKLED_BYTE_ARRAY()
    assert OutputTag("late", [LONG, LONG]).type_info == Types.ROW([LONG, LONG])
    assert pickle.loads(pickle.dumps(OutputTag("late", LONG))).type_info == LONG


def test_tags_of_one_name_are_equal():
    assert {OutputTag("late", LONG), OutputTag("late")} == {OutputTag("late")}
    assert OutputTag("late") != OutputTag("later")


@pytest.mark.parametrize(
    ("arguments", "error"), [(("",), ValueError), ((None,), ValueError), (("a", "b"), TypeError)]
)
def test_a_tag_without_name_or_type_is_refused(arguments, error):
    with pytest.raises(error, match="OutputTag"):
        OutputTag(*arguments)


def test_a_strategy_may_have_a_generator_of_watermarks():
    class Each(WatermarkGenerator):
        def on_event(self, value, timestamp, output):
            output.emit_watermark(Watermark(timestamp))

        def on_periodic_emit(self, output): ...

    strategy = WatermarkStrategy.for_generator(Each).with_idleness(Duration.of_seconds(1))

    assert isinstance(strategy.generator(), Each)
    assert strategy.max_out_of_orderness is None


def test_times_of_watermarks_are_checked():
    with pytest.raises(ValueError, match="cannot be negative"):
        WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(-1))
    with pytest.raises(ValueError, match="greater than zero"):
        WatermarkStrategy.no_watermarks().with_idleness(Duration.of_millis(0))


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (1000, "1000 bytes"), (1536 << 10, "1536 kb"), (1 << 40, "1 tb")],
)
def test_a_size_is_shown_in_its_largest_unit(size, text):
    assert str(MemorySize(bytes_size=size)) == text


def test_sizes_are_compared_in_bytes():
    assert MemorySize.of_mebi_bytes(3).get_kibi_bytes() == 3072
    assert MemorySize(bytes_size=1 << 20) == MemorySize.of_mebi_bytes(1)
    assert MemorySize(bytes_size=1) < MemorySize.of_mebi_bytes(1)


def test_a_slot_sharing_group_has_all_resources_or_none():
    builder = SlotSharingGroup.builder("group")
    assert builder.build().get_managed_memory() is None

    group = builder.set_cpu_cores(1.0).set_task_heap_memory_mb(10).build()

    assert group.get_task_heap_memory() == MemorySize.of_mebi_bytes(10)
    assert group.get_managed_memory() == MemorySize(bytes_size=0)
    with pytest.raises(ValueError, match="cpu cores and task heap memory are required"):
        SlotSharingGroup.builder("group").set_managed_memory_mb(1).build()
