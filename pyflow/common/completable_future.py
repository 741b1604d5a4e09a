"""A result that comes later."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

__all__ = ["CompletableFuture"]

T = TypeVar("T")


class CompletableFuture(Generic[T]):
    """A result that comes later, or the error that came instead.

    Parameters
    ----------
    future : concurrent.futures.Future
        Where the value comes from.
    convert : callable, optional
        Makes the result of that value.
    interrupted : callable, optional
        Called where Ctrl-C ends the waiting for the result.
    """

    def __init__(
        self,
        future: Future[Any],
        convert: Callable[[Any], T] | None = None,
        interrupted: Callable[[], None] | None = None,
    ) -> None:
        self._future = future
        self._convert = convert
        self._interrupted = interrupted

    @staticmethod
    def completed(value: T) -> CompletableFuture[T]:
        """Return a future that has its result."""
        future: Future[T] = Future()
        future.set_result(value)
        return CompletableFuture(future)

    def cancel(self) -> bool:
        """Give the result up, and return whether it had not come yet."""
        return self._future.cancel()

    def cancelled(self) -> bool:
        """Return whether the result was given up before it came."""
        return self._future.cancelled()

    def done(self) -> bool:
        """Return whether there is a result or an error, or it was given up."""
        return self._future.done()

    def result(self) -> T:
        """Wait for the result and return it, or raise the error that came instead."""
        try:
            value = self._future.result()
        except KeyboardInterrupt:
            if self._interrupted is not None:
                self._interrupted()
            raise
        return value if self._convert is None else self._convert(value)

    def exception(self) -> BaseException | None:
        """Return the error that came; None as long as none did."""
        if not self._future.done() or self._future.cancelled():
            return None
        return self._future.exception()

    def __str__(self) -> str:
        return str(self._future)
