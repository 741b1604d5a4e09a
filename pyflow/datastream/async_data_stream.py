"""Streams of what asynchronous functions return."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from pyflow.common.time import Time
from pyflow.datastream.async_retry_strategies import NO_RETRY_STRATEGY, NoRetryStrategy
from pyflow.datastream.functions import (
    AsyncFunction,
    AsyncFunctionDescriptor,
    AsyncRetryStrategy,
)

if TYPE_CHECKING:
    from pyflow.common.typeinfo import TypeInformation
    from pyflow.datastream.data_stream import DataStream

__all__ = ["AsyncDataStream"]

_ORDERED = AsyncFunctionDescriptor.OutputMode.ORDERED
_UNORDERED = AsyncFunctionDescriptor.OutputMode.UNORDERED


class AsyncDataStream:
    """Applies an `AsyncFunction` to a stream.

    All methods take

    data_stream : DataStream
        The stream.
    async_function : AsyncFunction
        What is called with each element.
    timeout : Time
        After which a call, with all its attempts, is given up: ``AsyncFunction.timeout`` says then
        what is emitted. 0 for any time.
    async_retry_strategy : AsyncRetryStrategy
        Which calls are repeated, and when; needs a timeout.
    capacity : int
        How many elements of a subtask wait at most.
    output_type : TypeInformation, optional
        The type of what the function returns elements of.

    and raise TypeError if an argument is of a wrong type, ValueError if its value does not fit.
    """

    @staticmethod
    def unordered_wait(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Time,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return the stream of results, as they come."""
        return AsyncDataStream.unordered_wait_with_retry(
            data_stream, async_function, timeout, NO_RETRY_STRATEGY, capacity, output_type
        )

    @staticmethod
    def unordered_wait_with_retry(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Time,
        async_retry_strategy: AsyncRetryStrategy[Any],
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return the stream of results, as they come; calls may be repeated."""
        return data_stream._async(
            _described(async_function, timeout, capacity, async_retry_strategy, _UNORDERED),
            output_type,
        )

    @staticmethod
    def ordered_wait(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Time,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return the stream of results, in the order of the elements."""
        return AsyncDataStream.ordered_wait_with_retry(
            data_stream, async_function, timeout, NO_RETRY_STRATEGY, capacity, output_type
        )

    @staticmethod
    def ordered_wait_with_retry(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Time,
        async_retry_strategy: AsyncRetryStrategy[Any],
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return the stream of results, in the order of the elements; calls may be repeated."""
        return data_stream._async(
            _described(async_function, timeout, capacity, async_retry_strategy, _ORDERED),
            output_type,
        )


def _described(
    function: AsyncFunction[Any, Any],
    timeout: Time,
    capacity: int,
    strategy: AsyncRetryStrategy[Any],
    output_mode: AsyncFunctionDescriptor.OutputMode,
) -> AsyncFunctionDescriptor:
    if not isinstance(function, AsyncFunction):
        raise TypeError(f"The input must be an AsyncFunction, not {function!r}")
    if not inspect.iscoroutinefunction(function.async_invoke):
        raise TypeError(
            f"Method 'async_invoke' of class '{type(function)}' should be declared as 'async def'."
        )
    if not isinstance(timeout, Time):
        raise TypeError(f"The timeout must be a Time, as Time.seconds(10), not {timeout!r}")
    if capacity <= 0:
        raise ValueError(f"The capacity must be larger than 0, but is {capacity}")
    if strategy is None:
        raise ValueError("Async retry strategy should not be None.")
    if not isinstance(strategy, NoRetryStrategy) and timeout.to_milliseconds() <= 0:
        raise ValueError("Timeout should be configured when do async with retry.")
    if strategy.get_retry_predicate() is None:
        raise ValueError(f"Retry predicate of the async retry strategy '{type(strategy)}' is None.")
    return AsyncFunctionDescriptor(function, timeout, capacity, strategy, output_mode)
