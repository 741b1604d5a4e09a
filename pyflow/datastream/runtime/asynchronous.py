"""Asynchronous functions: many calls at once, results in the order of elements or as they come.

The event loop stays with the operator from batch to batch, and so do clients that the function has
opened. From the first element of a batch until all calls have ended it runs on a thread of its own,
so that calls go on, and are in time, while the task waits for elements or does something with them.
Results are emitted on the thread of the task.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflow.datastream.functions import AsyncFunctionDescriptor
from pyflow.datastream.runtime.errors import OperatorError, reason, shown
from pyflow.datastream.runtime.operator import KeyedContext, Operator

if TYPE_CHECKING:
    from pyflow.datastream.functions import AsyncRetryStrategy

__all__ = ["AsyncOperator"]

# Thread mode interrupts Python code, but not the wait for sockets: the loop wakes so often.
_WAKES_EVERY_SECONDS = 0.1

# For what a call does without awaiting, when its task has failed.
_PATIENCE_SECONDS = 1.0


@dataclass(eq=False)
class _Call:
    """An element, and its call, once that has begun."""

    value: Any
    timestamp: int | None
    task: asyncio.Task[Any] | None = None


class _LoopThread(threading.Thread):
    """Runs an event loop until it is stopped.

    Attributes
    ----------
    error : BaseException or None
        What has ended the loop, such as ``SystemExit`` of a client's task.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(name="pyflow-event-loop", daemon=True)
        self._loop = loop
        self.error: BaseException | None = None

    def run(self) -> None:
        """Run the loop."""
        try:
            self._loop.run_forever()
        except BaseException as error:
            self.error = error

    def stop(self, patience: float | None = None) -> None:
        """Stop the loop, and return when it has.

        Parameters
        ----------
        patience : float, optional
            After how many seconds a call is ended that does not await anything; never without it.
        """
        # Stopped when it has ended, the loop could not run again.
        if self.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
        self.join(patience)
        while self.is_alive():
            import ctypes

            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self.ident or 0), ctypes.py_object(SystemExit)
            )
            self.join(_WAKES_EVERY_SECONDS)


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
        self._has_ended = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread: _LoopThread | None = None
        self._is_closed = False
        predicate = self._strategy.get_retry_predicate()
        self._retries_result = predicate.result_predicate()
        self._retries_exception = predicate.exception_predicate()

        async def opened() -> None:
            try:
                self.function.open(context.runtime_context)
            except BaseException:
                await _cancel_others()
                raise

        try:
            self._loop.run_until_complete(opened())
        except BaseException:
            self._loop.close()
            raise

    def process(self, value: Any, timestamp: int | None, number: int) -> None:
        """Begin a call, when there is room for one."""
        if self._thread is None:
            self._thread = _LoopThread(self._loop)
            self._thread.start()
        call = _Call(value, timestamp)
        self._calls.append(call)
        self._loop.call_soon_threadsafe(self._begin, call)
        # What has ended meanwhile is emitted, also while there is room.
        self._emit_ended()
        while len(self._calls) >= self._capacity:
            self._wait()

    def drain(self) -> None:
        """Wait for all calls."""
        while self._calls:
            self._wait()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.stop()

    def close(self) -> None:
        """Cancel the calls that have not ended, close the function, and the loop."""
        self._is_closed = True
        calls, self._calls = self._calls, []
        thread, self._thread = self._thread, None

        async def closed() -> None:
            await _cancel([call.task for call in calls if call.task is not None])
            try:
                self.function.close()
            finally:
                await _cancel_others()

        try:
            if thread is not None:
                thread.stop(_PATIENCE_SECONDS)
            self._loop.run_until_complete(closed())
        finally:
            self._loop.close()

    def _begin(self, call: _Call) -> None:
        """Begin a call, on the thread of the loop."""
        if not self._is_closed:
            call.task = self._loop.create_task(self._bounded_in_time(call.value))
            call.task.add_done_callback(lambda _: self._has_ended.set())

    def _wait(self) -> None:
        """Wait until a call has ended, or for a moment, and emit what has come."""
        self._has_ended.wait(_WAKES_EVERY_SECONDS)
        self._has_ended.clear()
        self._emit_ended()
        if self._thread is not None and self._thread.error is not None:
            raise self._thread.error

    def _emit_ended(self) -> None:
        """Emit the results of calls that have ended: of the first ones, where order is kept."""
        kept: list[_Call] = []
        for place, call in enumerate(self._calls):
            if call.task is None or not call.task.done():
                kept.append(call)
                if self._ordered:
                    kept += self._calls[place + 1 :]
                    break
                continue
            try:
                results = _checked(call.task.result())
            except (Exception, asyncio.CancelledError) as error:
                raise OperatorError(
                    f"operator '{self._name}' failed at {shown(call.value)}: {reason(error)}"
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
            except (SystemExit, KeyboardInterrupt) as error:
                # As it is, it would end the loop.
                raise RuntimeError(reason(error)) from error
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


async def _cancel_others() -> None:
    """Cancel what calls and clients have left in the loop, which could not end without it."""
    current = asyncio.current_task()
    await _cancel([each for each in asyncio.all_tasks() if each is not current])
