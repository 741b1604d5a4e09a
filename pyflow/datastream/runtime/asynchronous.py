"""Asynchronous functions: many calls at once, results in the order of elements or as they come.

The event loop stays with the operator from batch to batch, and so do clients that the function has
opened. It runs on the thread of the task: while there is no room for another call, and at the end
of a batch until all calls have ended.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Collection, Coroutine, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from pyflow.datastream.functions import AsyncFunctionDescriptor
from pyflow.datastream.runtime.chained import close_function, open_function
from pyflow.datastream.runtime.errors import OperatorError, shown
from pyflow.datastream.runtime.operator import KeyedContext, Operator

if TYPE_CHECKING:
    from pyflow.datastream.functions import AsyncRetryStrategy

__all__ = ["AsyncOperator"]

# Thread mode interrupts Python code, but not the wait for sockets: the loop wakes so often.
_WAKES_EVERY_SECONDS = 0.1


class _Call(NamedTuple):
    """An element whose call has begun."""

    value: Any
    timestamp: int | None
    task: asyncio.Task[Any]


class AsyncOperator(Operator):
    """``ordered_wait`` and ``unordered_wait``, with retries or without.

    Parameters
    ----------
    descriptor : AsyncFunctionDescriptor
    """

    def __init__(self, descriptor: AsyncFunctionDescriptor) -> None:
        self.function = descriptor.async_function
        self._seconds = descriptor.timeout.to_milliseconds() / 1000 or None
        self._capacity = descriptor.capacity
        self._strategy: AsyncRetryStrategy[Any] = descriptor.async_retry_strategy
        self._ordered = descriptor.output_mode == AsyncFunctionDescriptor.OutputMode.ORDERED

    def open(self, context: KeyedContext) -> None:
        """Open the function, while the loop runs."""
        self._name = context.runtime_context.get_task_name()
        self._emit = context.emit
        self._calls: list[_Call] = []
        self._loop = asyncio.new_event_loop()
        predicate = self._strategy.get_retry_predicate()
        self._retries_result = predicate.result_predicate()
        self._retries_exception = predicate.exception_predicate()

        async def opened() -> None:
            open_function(self.function, context.runtime_context)

        self._loop.run_until_complete(opened())

    def process(self, value: Any, timestamp: int | None, number: int) -> None:
        """Begin a call, when there is room for one."""
        task = self._loop.create_task(self._bounded_in_time(value))
        self._calls.append(_Call(value, timestamp, task))
        # What has ended meanwhile is emitted, also while there is room.
        self._run(_once())
        self._emit_ended()
        while len(self._calls) >= self._capacity:
            self._wait()

    def drain(self) -> None:
        """Wait for all calls."""
        while self._calls:
            self._wait()

    def close(self) -> None:
        """Cancel the calls that have not ended, close the function, and the loop."""
        calls, self._calls = self._calls, []

        async def closed() -> None:
            await _cancel([call.task for call in calls])
            try:
                close_function(self.function)
            finally:
                # What calls and clients have left in the loop, which could not end without it.
                current = asyncio.current_task()
                await _cancel([each for each in asyncio.all_tasks() if each is not current])

        try:
            self._loop.run_until_complete(closed())
        finally:
            self._loop.close()

    def _wait(self) -> None:
        """Run the loop until a call has ended, or for a moment, and emit what has come."""
        waiting = self._calls[:1] if self._ordered else self._calls
        tasks = [call.task for call in waiting]
        self._run(
            asyncio.wait(tasks, timeout=_WAKES_EVERY_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        )
        self._emit_ended()

    def _run(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self._loop.run_until_complete(coroutine)

    def _emit_ended(self) -> None:
        """Emit the results of calls that have ended: of the first ones, where order is kept."""
        kept: list[_Call] = []
        for place, call in enumerate(self._calls):
            if not call.task.done():
                kept.append(call)
                if self._ordered:
                    kept += self._calls[place + 1 :]
                    break
                continue
            try:
                results = _checked(call.task.result())
            except (Exception, asyncio.CancelledError) as error:
                raise OperatorError(
                    f"operator '{self._name}' failed at {shown(call.value)}: "
                    f"{type(error).__name__}: {error}"
                ) from error
            for each in results:
                self._emit(each, call.timestamp)
        self._calls = kept

    async def _bounded_in_time(self, value: Any) -> Any:
        """Return the results for an element, or what the function says where they come too late."""
        attempts = asyncio.ensure_future(self._attempted(value))
        try:
            ended, _ = await asyncio.wait([attempts], timeout=self._seconds)
        except asyncio.CancelledError:
            await _cancel([attempts])
            raise
        if ended:
            return attempts.result()
        attempts.cancel()
        results = self.function.timeout(value)
        return await results if inspect.isawaitable(results) else results

    async def _attempted(self, value: Any) -> Any:
        attempt = 1
        while True:
            try:
                results = await self.function.async_invoke(value)
                retries = self._retries_result is not None and self._retries_result(results)
                if not retries or not self._strategy.can_retry(attempt):
                    return results
            except Exception as error:
                retries = self._retries_exception is not None and self._retries_exception(error)
                if not retries or not self._strategy.can_retry(attempt):
                    raise
            await asyncio.sleep(self._strategy.get_backoff_time_millis(attempt) / 1000)
            attempt += 1


def _checked(results: Any) -> Iterable[Any]:
    if not isinstance(results, Iterable):
        raise TypeError(
            f"async_invoke() and timeout() have to return a list, not {type(results).__name__}"
        )
    return results


async def _cancel(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel tasks, and wait until they have ended."""
    for each in tasks:
        each.cancel()
    ending = asyncio.gather(*tasks, return_exceptions=True)
    while not ending.done():
        await asyncio.wait([ending], timeout=_WAKES_EVERY_SECONDS)


async def _once() -> None:
    """Let each call go on that can."""
    await asyncio.sleep(0)
