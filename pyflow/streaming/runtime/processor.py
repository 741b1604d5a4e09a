"""What the operators of streams have in common."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyflow.streaming.runtime.keyed_state import Store
from pyflow.streaming.runtime.rows import row_maker
from pyflow.streaming.runtime.state_requests import state_requests
from pyflow.streaming.runtime.state_ttl import FOREVER, ExpiringValue, Lifetime
from pyflow.streaming.runtime.timers import ReportedTimers

if TYPE_CHECKING:
    from pyspark import Accumulator

__all__ = ["MILLISECOND", "ExpiringOperator", "StreamOperator", "first_millisecond"]

#: In microseconds, the unit of encoded times; timers count milliseconds.
MILLISECOND = 1000


def first_millisecond(moment: int) -> int:
    """Return a time in microseconds as milliseconds, the unit of timers, rounded up."""
    return -(-moment // MILLISECOND)


class StreamOperator(ABC):
    """A processor of PySpark's ``transformWithState``.

    Parameters
    ----------
    names : sequence of str
        Of the columns of emitted rows.
    lifetime : Lifetime
        Of state that is not used; for ever by default.

    Attributes
    ----------
    timer_reports : Accumulator or None
        What takes the earliest timer of a task to the driver, where batches are to be run for
        timers.
    """

    def __init__(self, names: Sequence[str], lifetime: Lifetime = FOREVER) -> None:
        self._names = list(names)
        self.lifetime = lifetime
        self.timer_reports: Accumulator[Any] | None = None

    def init(self, handle: Any) -> None:
        """Open the state of a task."""
        state_requests(handle)
        reports = self.timer_reports
        self._handle = handle if reports is None else ReportedTimers(handle, reports)
        self._make = row_maker(self._names)

    def declare(self, handle: Any) -> None:
        """Open all state with a handle that only takes down what is opened."""
        opened = copy.deepcopy(self, {id(self.timer_reports): None})
        opened.init(handle)

    @abstractmethod
    def handleInputRows(  # noqa: N802
        self, key: tuple[Any, ...], rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """Return the rows that are emitted for the rows of a key."""

    def handleExpiredTimer(  # noqa: N802
        self,
        key: tuple[Any, ...],
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Any]:
        """Return the rows that are emitted when a timer of a key has expired."""
        return iter(())

    def _move_timer(self, timer: int | None, wanted: int | None, now: int) -> None:
        """Have the key called at another time than before, or not at all.

        Parameters
        ----------
        timer, wanted : int or None
            In milliseconds, like the times of timers.
        now : int
            Timers up to this time have expired, and are on their way.
        """
        if wanted == timer:
            return
        if timer is not None and timer > now:
            self._handle.deleteTimer(timer)
        if wanted is not None:
            self._handle.registerTimer(wanted)

    def close(self) -> None:
        """Report timers at the end of a task."""
        if isinstance(self._handle, ReportedTimers):
            self._handle.report()

    def handleInitialState(self, key: Any, row: Any, timer_values: Any) -> None:  # noqa: B027, N802
        """Do nothing: there is no initial state."""


class ExpiringOperator(StreamOperator):
    """An operator whose state of a key is forgotten when no rows have come for some time."""

    def init(self, handle: Any) -> None:
        """Open the state of a task."""
        super().init(handle)
        self._stores = tuple(self._opened(handle))
        self._state = ExpiringValue(handle, "state", self.lifetime, self._stores)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: tuple[Any, ...],
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Any]:
        """Forget a key that has not been used."""
        self._state.timer_expired(expiredTimerInfo.getExpiryTimeInMs())
        self._flush()
        return iter(())

    def _opened(self, handle: Any) -> Iterable[Store]:
        """Return the stores of a key beside that of one object."""
        return ()

    def _flush(self) -> None:
        """Write what has changed of the key."""
        for store in self._stores:
            store.flush()
