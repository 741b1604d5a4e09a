"""Whether and when asynchronous calls are repeated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from pyflow.datastream.functions import AsyncRetryPredicate, AsyncRetryStrategy

__all__ = [
    "ExponentialBackoffDelayRetryStrategy",
    "FixedDelayRetryStrategy",
    "NoRetryStrategy",
    "RetryPredicate",
]

OUT = TypeVar("OUT")


class RetryPredicate(AsyncRetryPredicate[OUT], Generic[OUT]):
    """Says which calls are to be repeated.

    Parameters
    ----------
    result_predicate : callable or None
        Says so of a result.
    exception_predicate : callable or None
        Says so of an exception.
    """

    def __init__(
        self,
        result_predicate: Callable[[list[OUT]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ) -> None:
        self._result_predicate = result_predicate
        self._exception_predicate = exception_predicate

    def result_predicate(self) -> Callable[[list[OUT]], bool] | None:
        """Return what says so of a result."""
        return self._result_predicate

    def exception_predicate(self) -> Callable[[Exception], bool] | None:
        """Return what says so of an exception."""
        return self._exception_predicate


class NoRetryStrategy(AsyncRetryStrategy[OUT], Generic[OUT]):
    """One attempt."""

    def can_retry(self, current_attempts: int) -> bool:
        """Return False."""
        return False

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return -1."""
        return -1

    def get_retry_predicate(self) -> AsyncRetryPredicate[OUT]:
        """Return what says of no call that it is to be repeated."""
        return RetryPredicate(None, None)


class _LimitedRetryStrategy(AsyncRetryStrategy[OUT], Generic[OUT]):
    """So many attempts, beside the first one, where predicates ask for them."""

    def __init__(
        self,
        max_attempts: int,
        result_predicate: Callable[[list[OUT]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ) -> None:
        _check_positive("max_attempts", max_attempts)
        self._max_attempts = max_attempts
        self._predicate = RetryPredicate(result_predicate, exception_predicate)

    def can_retry(self, current_attempts: int) -> bool:
        """Return whether there may be another attempt after the one of this number."""
        return current_attempts <= self._max_attempts

    def get_retry_predicate(self) -> AsyncRetryPredicate[OUT]:
        """Return what says which calls are to be repeated."""
        return self._predicate


class FixedDelayRetryStrategy(_LimitedRetryStrategy[OUT], Generic[OUT]):
    """Attempts after always the same time.

    Parameters
    ----------
    max_attempts : int
        How many, beside the first one.
    backoff_time_millis : int
        The milliseconds between them.
    result_predicate : callable or None
        Says which results ask for another attempt.
    exception_predicate : callable or None
        Says which exceptions do.

    Raises
    ------
    ValueError
        If a number is not positive.
    """

    def __init__(
        self,
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: Callable[[list[OUT]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ) -> None:
        super().__init__(max_attempts, result_predicate, exception_predicate)
        _check_positive("backoff_time_millis", backoff_time_millis)
        self._backoff_time_millis = backoff_time_millis

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return the milliseconds between attempts."""
        return self._backoff_time_millis


class ExponentialBackoffDelayRetryStrategy(_LimitedRetryStrategy[OUT], Generic[OUT]):
    """Attempts after longer and longer times.

    Parameters
    ----------
    max_attempts : int
        How many, beside the first one.
    initial_delay : int
        The milliseconds before the second attempt.
    max_retry_delay : int
        The most milliseconds between attempts.
    multiplier : float
        How many times as long the next time is.
    result_predicate : callable or None
        Says which results ask for another attempt.
    exception_predicate : callable or None
        Says which exceptions do.

    Raises
    ------
    ValueError
        If a number is not positive.
    """

    def __init__(
        self,
        max_attempts: int,
        initial_delay: int,
        max_retry_delay: int,
        multiplier: float,
        result_predicate: Callable[[list[OUT]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ) -> None:
        super().__init__(max_attempts, result_predicate, exception_predicate)
        _check_positive("initial_delay", initial_delay)
        _check_positive("max_retry_delay", max_retry_delay)
        _check_positive("multiplier", multiplier)
        self._initial_delay = initial_delay
        self._max_retry_delay = max_retry_delay
        self._multiplier = multiplier

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return the milliseconds before the attempt that follows the one of this number."""
        delay = self._initial_delay
        for _ in range(current_attempts - 1):
            following = int(min(delay * self._multiplier, self._max_retry_delay))
            if following == delay:
                break
            delay = following
        return delay


def _check_positive(name: str, value: float) -> None:
    if value <= 0:
        raise ValueError(f"{name} should be greater than zero.")


#: One attempt.
NO_RETRY_STRATEGY: AsyncRetryStrategy[Any] = NoRetryStrategy()
