"""Asynchronous scalar functions: many calls at once, results in the order of the rows.

PySpark hands over batches of rows as Arrow arrays. An event loop of the task runs the calls of a
batch, a limited number at a time.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pyflow.streaming.runtime.life_cycle import OpenFunction, TaskSettings
from pyflow.table.runtime.scalar import evaluation
from pyflow.types.arrow_values import array_maker, values_of
from pyflow.types.function_values import Shape

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["AsyncOptions", "load_async"]

#: Thread mode interrupts Python code, but not the wait for sockets: the loop wakes so often.
_WAKES_EVERY_SECONDS = 0.1


class AsyncOptions(NamedTuple):
    """Limits of asynchronous functions, from the settings ``table.exec.async-scalar.*``.

    Attributes
    ----------
    max_concurrent_operations : int
        Calls at once in a task.
    timeout : float
        Seconds that a row may take, with all attempts; none if it is 0.
    max_attempts : int
        How often a call that failed is made again; 0 for never.
    retry_delay : float
        Seconds from a failure to the next attempt.
    """

    max_concurrent_operations: int = 10
    timeout: float = 180.0
    max_attempts: int = 3
    retry_delay: float = 0.1


def load_async(
    function: Any,
    name: str,
    arguments: Sequence[Shape] | None,
    result: Shape,
    settings: TaskSettings,
    options: AsyncOptions,
) -> Callable[[Iterator[Any]], Iterator[pa.Array]]:
    """Open an asynchronous function, as a function of an iterator over batches.

    Parameters
    ----------
    function : AsyncScalarFunction or coroutine function
    name : str
    arguments : sequence of tuple or None
        None if the function takes none; a batch is one array all the same.
    result : tuple
    settings : TaskSettings
    options : AsyncOptions
    """
    opened = OpenFunction(function, name, settings)
    calls = _Calls(name, evaluation(function), options)
    make_array = array_maker(result, f"the result of {name}")

    def evaluate(batches: Iterator[Any]) -> Iterator[pa.Array]:
        loop = asyncio.new_event_loop()
        try:
            for batch in batches:
                rows = _rows(batch, arguments)
                yield make_array(loop.run_until_complete(calls.over(rows)))
        except Exception:
            opened.fail()
            raise
        finally:
            _end(loop)

    return evaluate


def _rows(batch: Any, arguments: Sequence[Shape] | None) -> list[tuple[Any, ...]]:
    columns = batch if isinstance(batch, tuple) else (batch,)
    if arguments is None:
        return [()] * len(columns[0])
    return list(zip(*(values_of(column, shape) for column, shape in zip(columns, arguments))))


def _end(loop: asyncio.AbstractEventLoop) -> None:
    """Close the loop; calls that an interruption has left behind are cancelled first."""
    try:
        left = asyncio.all_tasks(loop)
        for call in left:
            call.cancel()
        if left:
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    finally:
        loop.close()


class _Calls:
    """The calls of a function.

    Parameters
    ----------
    name : str
    evaluate : callable
        Returns an awaitable, or a result at once.
    options : AsyncOptions
    """

    def __init__(self, name: str, evaluate: Callable[..., Any], options: AsyncOptions) -> None:
        self._name = name
        self._evaluate = evaluate
        self._options = options

    async def over(self, rows: list[tuple[Any, ...]]) -> list[Any]:
        """Return the results for some rows, in their order, or raise the first error."""
        results: list[Any] = [None] * len(rows)
        waiting = iter(enumerate(rows))

        async def work() -> None:
            for index, arguments in waiting:
                results[index] = await self._in_time(arguments)

        at_once = min(self._options.max_concurrent_operations, len(rows))
        workers = [asyncio.ensure_future(work()) for _ in range(at_once)]
        waking = asyncio.ensure_future(_wake())
        try:
            await asyncio.gather(*workers)
        finally:
            for each in (*workers, waking):
                each.cancel()
            await asyncio.gather(*workers, waking, return_exceptions=True)
        return results

    async def _in_time(self, arguments: tuple[Any, ...]) -> Any:
        timeout = self._options.timeout or None
        try:
            result, error = await asyncio.wait_for(self._attempts(arguments), timeout)
        except asyncio.TimeoutError:
            raise TimeoutError(
                f"async function {self._name} has timed out after {timeout:g} s for input "
                f"{arguments!r} (table.exec.async-scalar.timeout)"
            ) from None
        if error is not None:
            # Spark may show the last error of a chain alone.
            raise RuntimeError(
                f"async function {self._name} failed for input {arguments!r}: "
                f"{type(error).__name__}: {error}"
            ) from error
        return result

    async def _attempts(self, arguments: tuple[Any, ...]) -> tuple[Any, Exception | None]:
        """Return the result or the last error, which is not raised, unlike that of a timeout."""
        repeated = 0
        while True:
            try:
                result = self._evaluate(*arguments)
                return (await result if inspect.isawaitable(result) else result), None
            except Exception as error:
                if repeated == self._options.max_attempts:
                    return None, error
            repeated += 1
            await asyncio.sleep(self._options.retry_delay)


async def _wake() -> None:
    while True:
        await asyncio.sleep(_WAKES_EVERY_SECONDS)
