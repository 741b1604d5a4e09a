"""The operator of asynchronous functions by itself: order, capacity, retries, time and its end."""

from __future__ import annotations

import asyncio
import ctypes
import threading
import time

import pytest
from memory_context import MemoryContext

from pyflow.common import Time
from pyflow.datastream import AsyncFunction
from pyflow.datastream.async_retry_strategies import (
    NO_RETRY_STRATEGY,
    ExponentialBackoffDelayRetryStrategy,
    FixedDelayRetryStrategy,
)
from pyflow.datastream.functions import AsyncFunctionDescriptor
from pyflow.datastream.runtime.asynchronous import AsyncOperator
from pyflow.datastream.runtime.errors import OperatorError
from sessions import wait_until

ORDERED = AsyncFunctionDescriptor.OutputMode.ORDERED
UNORDERED = AsyncFunctionDescriptor.OutputMode.UNORDERED


@pytest.fixture
def opened():
    """Opens operators, and closes them with the test."""
    contexts = []

    def make(function, mode=ORDERED, timeout=10_000, capacity=100, strategy=NO_RETRY_STRATEGY):
        described = AsyncFunctionDescriptor(
            function, Time.milliseconds(timeout), capacity, strategy, mode
        )
        context = MemoryContext(AsyncOperator(described), key=lambda value: None)
        contexts.append(context)
        return context

    yield make
    for context in contexts:
        context.operator.close()


def batch(context, *elements):
    """What is emitted for a batch of elements, whose timestamps are their places."""
    before = len(context.emitted)
    for place, value in enumerate(elements):
        context.process(value, place)
    context.operator.drain()
    return context.emitted[before:]


class Sleeping(AsyncFunction):
    """Takes as many hundredths of a second as an element says."""

    def __init__(self):
        self.running = self.most = 0

    async def async_invoke(self, value):
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(value / 100)
        self.running -= 1
        return [value]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [(ORDERED, [(90, 0), (1, 1), (50, 2)]), (UNORDERED, [(1, 1), (50, 2), (90, 0)])],
)
def test_results_have_the_timestamp_of_their_element(opened, mode, expected):
    assert batch(opened(Sleeping(), mode), 90, 1, 50) == expected


@pytest.mark.parametrize("mode", [ORDERED, UNORDERED])
@pytest.mark.parametrize("capacity", [1, 2, 5])
def test_the_capacity_is_used_and_never_exceeded(opened, mode, capacity):
    function = Sleeping()
    found = batch(opened(function, mode, capacity=capacity), *[3, 1, 2] * 4)
    assert sorted(value for value, _ in found) == sorted([3, 1, 2] * 4)
    assert function.most == capacity


def test_an_element_becomes_any_number_of_others(opened):
    class Repeated(AsyncFunction):
        async def async_invoke(self, value):
            return [value] * value

    assert batch(opened(Repeated()), 2, 0, 1) == [(2, 0), (2, 0), (1, 2)]


def test_results_that_are_ready_do_not_wait_for_the_end_of_the_batch(opened):
    context = opened(Sleeping())
    context.process(0)
    deadline = time.monotonic() + 10
    while len(context.emitted) == 0 and time.monotonic() < deadline:
        context.process(0)
    assert context.emitted


def test_results_are_emitted_on_the_thread_of_the_task(opened):
    context = opened(Sleeping(), UNORDERED)
    threads = set()
    context.operator._emit = lambda value, timestamp: threads.add(threading.get_ident())
    batch(context, 1, 2)
    assert threads == {threading.get_ident()}


class Client(AsyncFunction):
    """Has a client that belongs to the loop in which it is opened."""

    def open(self, runtime_context):
        self.loop = asyncio.get_running_loop()
        self.replies = asyncio.Queue()
        self.calls = 0

    async def async_invoke(self, value):
        assert asyncio.get_running_loop() is self.loop
        self.calls += 1
        self.replies.put_nowait((value, self.calls))
        return [await self.replies.get()]


def test_a_client_serves_batches_of_different_threads(opened):
    context = opened(Client())
    found = []
    for value in "abc":
        thread = threading.Thread(target=lambda value=value: found.extend(batch(context, value)))
        thread.start()
        thread.join()
    assert [value for value, _ in found] == [("a", 1), ("b", 2), ("c", 3)]


class Attempts(AsyncFunction):
    """Fails, or returns nothing, until the attempt of a number."""

    def __init__(self, needed, fails):
        self.needed = needed
        self.fails = fails
        self.times = []

    async def async_invoke(self, value):
        self.times.append(time.monotonic())
        if len(self.times) == self.needed:
            return [value]
        if self.fails:
            raise ConnectionError("away")
        return []


def is_empty(results):
    return not results


def is_away(error):
    return isinstance(error, ConnectionError)


@pytest.mark.parametrize("fails", [True, False])
def test_calls_are_repeated_until_they_succeed(opened, fails):
    function = Attempts(3, fails)
    strategy = FixedDelayRetryStrategy(2, 1, is_empty, is_away)
    assert batch(opened(function, strategy=strategy), "x") == [("x", 0)]
    assert len(function.times) == 3


def test_the_last_empty_result_is_taken(opened):
    function = Attempts(9, fails=False)
    strategy = FixedDelayRetryStrategy(2, 1, is_empty, is_away)
    assert batch(opened(function, strategy=strategy), "x") == []
    assert len(function.times) == 3


def test_the_last_error_fails_the_task(opened):
    function = Attempts(9, fails=True)
    strategy = FixedDelayRetryStrategy(2, 1, is_empty, is_away)
    with pytest.raises(OperatorError, match="failed at 'x' of type str: ConnectionError: away"):
        batch(opened(function, strategy=strategy), "x")
    assert len(function.times) == 3


@pytest.mark.parametrize("predicate", [None, lambda error: False])
def test_errors_that_no_predicate_asks_for_are_not_repeated(opened, predicate):
    function = Attempts(2, fails=True)
    with pytest.raises(OperatorError, match="ConnectionError"):
        batch(opened(function, strategy=FixedDelayRetryStrategy(5, 1, None, predicate)), "x")
    assert len(function.times) == 1


def test_the_strategy_says_the_time_between_attempts(opened):
    function = Attempts(4, fails=True)
    strategy = ExponentialBackoffDelayRetryStrategy(3, 20, 1000, 2.0, None, is_away)
    batch(opened(function, strategy=strategy), "x")
    between = [after - before for before, after in zip(function.times, function.times[1:])]
    assert all(found >= least for found, least in zip(between, (0.019, 0.039, 0.079)))


class Endless(AsyncFunction):
    """Ends only where it is cancelled."""

    def __init__(self):
        self.begun = self.cancelled = 0

    async def async_invoke(self, value):
        self.begun += 1
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


class Replaced(Endless):
    def timeout(self, value):
        return [value, "late"]


def test_the_function_says_what_is_emitted_after_the_timeout(opened):
    function = Replaced()
    assert batch(opened(function, timeout=20), "x") == [("x", 0), ("late", 0)]
    assert function.cancelled == 1


def test_a_timeout_fails_the_task_unless_the_function_says_otherwise(opened):
    with pytest.raises(OperatorError, match=r"failed at 'x' of type str: TimeoutError: .*input: x"):
        batch(opened(Endless(), timeout=20), "x")


def test_the_timeout_covers_all_attempts(opened):
    class Away(Attempts):
        def timeout(self, value):
            return ["late"]

    function = Away(1000, fails=True)
    strategy = FixedDelayRetryStrategy(1000, 20, None, is_away)
    assert batch(opened(function, timeout=100, strategy=strategy), "x") == [("late", 0)]
    assert 1 < len(function.times) <= 6


def test_no_timeout_is_any_time(opened):
    assert batch(opened(Sleeping(), timeout=0), 3) == [(3, 0)]


class Returning(AsyncFunction):
    """Returns at "bad" what it was made with."""

    def __init__(self, result):
        self.result = result

    async def async_invoke(self, value):
        return self.result if value == "bad" else [value]


@pytest.mark.parametrize("result", [None, 5])
def test_a_result_that_is_no_list_names_its_element(opened, result):
    kind = type(result).__name__
    with pytest.raises(OperatorError, match=f"failed at 'bad' of type str: .*not {kind}"):
        batch(opened(Returning(result)), "good", "bad", "next")


@pytest.mark.parametrize("mode", [ORDERED, UNORDERED])
@pytest.mark.parametrize("error", [ValueError("wrong"), asyncio.CancelledError("wrong")])
def test_an_exception_names_its_element(opened, mode, error):
    class Failing(AsyncFunction):
        async def async_invoke(self, value):
            if value == "bad":
                raise error
            return [value]

    with pytest.raises(OperatorError, match=f"failed at 'bad' of type str: {type(error).__name__}"):
        batch(opened(Failing(), mode), "good", "bad", "next")


def test_calls_in_flight_are_cancelled_before_the_function_is_closed(opened):
    class Closed(Endless):
        def close(self):
            self.cancelled_at_close = self.cancelled

    function = Closed()
    context = opened(function)
    context.process(1)
    context.process(2)
    wait_until(lambda: function.begun == 2, "both calls have begun", 10, 0.01)
    context.operator.close()
    context.operator.close = lambda: None
    assert function.cancelled_at_close == 2


def test_tasks_of_a_client_live_until_the_function_is_closed(opened):
    class Reading(Sleeping):
        def open(self, runtime_context):
            self.reader = asyncio.get_running_loop().create_task(asyncio.sleep(60))

        def close(self):
            self.was_done_at_close = self.reader.done()

    function = Reading()
    context = opened(function)
    batch(context, 1)
    context.operator.close()
    context.operator.close = lambda: None
    assert not function.was_done_at_close
    assert function.reader.cancelled()


class Interrupted(BaseException):
    pass


@pytest.mark.parametrize("capacity", [1, 100])
def test_a_task_that_waits_can_be_interrupted(opened, capacity):
    function = Endless()
    context = opened(function, timeout=0, capacity=capacity)
    ended_by = []

    def task():
        try:
            batch(context, "x")
        except Interrupted as error:
            ended_by.append(type(error))

    thread = threading.Thread(target=task, daemon=True)
    thread.start()
    wait_until(lambda: function.begun, "the call has begun", 10, 0.01)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread.ident), ctypes.py_object(Interrupted)
    )
    thread.join(5)
    assert ended_by == [Interrupted]
    context.operator.close()
    context.operator.close = lambda: None
    assert function.cancelled == 1


class Steps(AsyncFunction):
    """Awaits something four times, a hundredth of a second each time."""

    async def async_invoke(self, value):
        for _ in range(4):
            await asyncio.sleep(0.01)
        return [value]


@pytest.mark.parametrize("mode", [ORDERED, UNORDERED])
def test_calls_go_on_and_are_in_time_while_the_task_does_something_else(opened, mode):
    context = opened(Steps(), mode, timeout=300)
    context.process("x", 0)
    time.sleep(0.5)
    context.process("y", 1)
    assert context.emitted == [("x", 0)]
    context.operator.drain()
    assert context.emitted == [("x", 0), ("y", 1)]


def test_calls_go_on_while_results_are_used(opened):
    context = opened(Steps(), timeout=300)
    emit = context.operator._emit
    context.operator._emit = lambda *result: (time.sleep(0.2), emit(*result))
    assert batch(context, *"abcd") == [("a", 0), ("b", 1), ("c", 2), ("d", 3)]


def loops():
    return [each for each in threading.enumerate() if each.name == "pyflow-event-loop"]


def test_the_loop_has_a_thread_for_as_long_as_there_are_calls(opened):
    context = opened(Endless())
    assert loops() == []
    context.process("x")
    assert len(loops()) == 1
    context.operator.close()
    context.operator.close = lambda: None
    assert loops() == []

    context = opened(Steps())
    batch(context, "x")
    assert loops() == []


class Spinning(AsyncFunction):
    """Never awaits."""

    def __init__(self):
        self.begun = False

    async def async_invoke(self, value):
        self.begun = True
        while True:
            pass


def test_a_call_that_never_awaits_ends_with_its_task(opened):
    function = Spinning()
    context = opened(function)
    context.process("x")
    wait_until(lambda: function.begun, "the call has begun", 10, 0.01)
    context.operator.close()
    context.operator.close = lambda: None
    assert loops() == []


class Leaving(AsyncFunction):
    def __init__(self, where):
        self.where = where

    def open(self, runtime_context):
        if self.where == "client":
            self.client = asyncio.get_running_loop().create_task(self.leave())

    async def async_invoke(self, value):
        if self.where == "call":
            await self.leave()
        await asyncio.sleep(60)

    async def leave(self):
        await asyncio.sleep(0.01)
        raise SystemExit(3)


def test_a_call_that_leaves_names_its_element(opened):
    with pytest.raises(OperatorError, match=r"failed at 'x' of type str: .*SystemExit: 3"):
        batch(opened(Leaving("call")), "x")


def test_a_client_that_leaves_ends_the_task(opened):
    with pytest.raises(SystemExit, match="3"):
        batch(opened(Leaving("client")), "x")


class Unopened(AsyncFunction):
    def open(self, runtime_context):
        self.loop = asyncio.get_running_loop()
        self.client = self.loop.create_task(asyncio.sleep(60))
        raise ConnectionError("away")

    async def async_invoke(self, value):
        return [value]


def test_a_loop_ends_with_a_function_that_cannot_be_opened(opened):
    function = Unopened()
    with pytest.raises(ConnectionError):
        opened(function)
    assert function.client.cancelled()
    assert function.loop.is_closed()
