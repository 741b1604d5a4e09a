"""Asynchronous functions over streams: order, capacity, retries and time-outs."""

from __future__ import annotations

import asyncio

import pytest

from pyflow.common import Time, WatermarkStrategy
from pyflow.datastream import AsyncDataStream, AsyncFunction
from pyflow.datastream.async_retry_predicates import (
    empty_result_predicate,
    has_exception_predicate,
)
from pyflow.datastream.functions import AsyncRetryStrategy
from pyflow.datastream.testing import TestStream

SECOND = Time.seconds(10)


def collected(stream):
    with stream.execute_and_collect() as elements:
        return list(elements)


class Delayed(AsyncFunction):
    """Returns later what is greater, and how many calls there were at once."""

    def open(self, runtime_context):
        self.loop = asyncio.get_running_loop()
        self.running = self.most = 0

    async def async_invoke(self, value):
        assert asyncio.get_running_loop() is self.loop
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0.01 * (10 - value % 10))
        self.running -= 1
        return [(value, self.most)]


def test_results_are_in_the_order_of_elements(make_env, mode):
    ds = make_env(parallelism=1, mode=mode).from_collection(list(range(20)))
    found = collected(AsyncDataStream.ordered_wait(ds, Delayed(), SECOND, 5))
    assert [value for value, _ in found] == list(range(20))
    assert max(most for _, most in found) == 5


def test_results_come_as_they_are_ready(make_env):
    ds = make_env(parallelism=1).from_collection(list(range(10)))
    found = [value for value, _ in collected(AsyncDataStream.unordered_wait(ds, Delayed(), SECOND))]
    assert sorted(found) == list(range(10))
    assert found != sorted(found)


def test_a_batch_ends_with_its_results(make_env):
    env = make_env(parallelism=1)
    source = TestStream().add_elements([1, 2]).add_elements([3])
    ds = env.from_source(source, WatermarkStrategy.no_watermarks(), "test")
    found = collected(AsyncDataStream.unordered_wait(ds, Delayed(), SECOND))
    assert sorted(value for value, _ in found) == [1, 2, 3]


class Failing(AsyncFunction):
    def __init__(self, failures):
        self.failures = failures
        self.calls = 0

    async def async_invoke(self, value):
        self.calls += 1
        if self.calls <= self.failures:
            raise ValueError("not yet")
        return [(value, self.calls)]

    def timeout(self, value):
        return [(value, "late")]


def test_calls_that_fail_are_repeated(make_env):
    strategy = AsyncRetryStrategy.fixed_delay(3, 1, empty_result_predicate, has_exception_predicate)
    ds = make_env(parallelism=1).from_collection(["x"])
    found = collected(AsyncDataStream.unordered_wait_with_retry(ds, Failing(2), SECOND, strategy))
    assert found == [("x", 3)]


def test_a_call_that_fails_names_its_element(make_env):
    ds = make_env(parallelism=1).from_collection(["x"])
    with pytest.raises(Exception, match=r"async wait operator' failed at 'x' of type str: Value"):
        collected(AsyncDataStream.unordered_wait(ds, Failing(1), SECOND))


class Slow(Failing):
    async def async_invoke(self, value):
        await asyncio.sleep(60)


def test_a_call_that_takes_too_long_is_given_up(make_env):
    ds = make_env(parallelism=1).from_collection(["x"])
    found = collected(AsyncDataStream.unordered_wait(ds, Slow(0), Time.milliseconds(50)))
    assert found == [("x", "late")]
