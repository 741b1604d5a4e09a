"""Sessions by the processing time.

All rows of a batch are of one time, that of its clock. So a key has one session at most that goes
on: it ends some time after the last batch with rows of the key. Of a session that has ended nothing
is kept.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pyflow.streaming.runtime.keyed_state import ListStore, ValueStore
from pyflow.streaming.runtime.processor import MILLISECOND, StreamOperator
from pyflow.streaming.runtime.rows import in_sequence
from pyflow.table.runtime.streams.aggregate import Aggregate
from pyflow.table.runtime.streams.groups import Accumulators, Argument

__all__ = ["ClockSessionGroups", "ClockSessionRows"]

_Values = tuple[Any, ...]


class _ClockSessions(StreamOperator):
    """What operators have in common that find sessions by a clock.

    Parameters
    ----------
    gap : int
        How long after its last row a session ends, in milliseconds.
    names : sequence of str
        Of the columns of emitted rows.
    """

    def __init__(self, gap: int, names: Sequence[str]) -> None:
        super().__init__(names)
        self._gap = gap

    def init(self, handle: Any) -> None:
        """Open the state of a task."""
        super().init(handle)
        # When the session began and ends, in milliseconds, and what is kept of its rows.
        self._state = ValueStore(handle, "session")

    def handleInputRows(  # noqa: N802
        self, key: _Values, rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """Have the session of a key go on; emit one that ended before."""
        now = timer_values.getCurrentProcessingTimeInMs()
        start, end, kept = self._state.get() or (now, None, None)
        emitted: list[Any] = []
        # Timers of a batch come behind its rows.
        if end is not None and end <= now:
            emitted = self._ended(key, (start, end), kept)
            start, kept = now, None
        kept = self._added(kept, in_sequence(rows))
        self._move_timer(end, now + self._gap, now)
        self._state.put((start, now + self._gap, kept))
        return iter(emitted)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: _Values,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Any]:
        """Emit a session that has ended."""
        found = self._state.get()
        if found is None or found[1] != expiredTimerInfo.getExpiryTimeInMs():
            return iter(())
        start, end, kept = found
        emitted = self._ended(key, (start, end), kept)
        self._state.clear()
        return iter(emitted)

    @abstractmethod
    def _added(self, kept: Any, rows: Sequence[_Values]) -> Any:
        """Add rows to what is kept of a session, which is None for a new one."""

    @abstractmethod
    def _ended(self, key: _Values, bounds: tuple[int, int], kept: Any) -> list[Any]:
        """Return the rows that are emitted for a session, of which only `kept` is left then."""


class ClockSessionGroups(_ClockSessions):
    """Emits keys, the bounds of a session in microseconds, and aggregates, when it has ended.

    Parameters
    ----------
    aggregates : sequence
        Each with the column that it takes.
    gap, names
        As all of these operators have them.
    """

    def __init__(
        self, aggregates: Sequence[tuple[Aggregate, Argument]], gap: int, names: Sequence[str]
    ) -> None:
        super().__init__(gap, names)
        self._aggregates = tuple(aggregates)

    def init(self, handle: Any) -> None:
        """Open the state of a task."""
        super().init(handle)
        self._accumulators = Accumulators(handle, self._aggregates)

    def _added(self, kept: Any, rows: Sequence[_Values]) -> Any:
        accumulators = self._accumulators
        states = accumulators.create() if kept is None else accumulators.restored(kept)
        for row in rows:
            accumulators.add(states, row)
        stored = accumulators.stored(states)
        for store in accumulators.stores:
            store.flush()
        return stored

    def _ended(self, key: _Values, bounds: tuple[int, int], kept: Any) -> list[Any]:
        values = self._accumulators.values(self._accumulators.restored(kept))
        for store in self._accumulators.stores:
            store.clear()
            store.flush()
        return [self._make((*key, *_micros(bounds), *values))]


class ClockSessionRows(_ClockSessions):
    """Emits the rows of a session with its bounds in microseconds, when it has ended.

    Parameters
    ----------
    values : tuple of int
        The first column that is emitted, and the one behind the last.
    gap, names
        As all of these operators have them.
    """

    def __init__(self, values: tuple[int, int], gap: int, names: Sequence[str]) -> None:
        super().__init__(gap, names)
        self._values = values

    def init(self, handle: Any) -> None:
        """Open the state of a task."""
        super().init(handle)
        self._rows = ListStore(handle, "rows")

    def _added(self, kept: Any, rows: Sequence[_Values]) -> Any:
        first, end = self._values
        for row in rows:
            self._rows.add(row[first:end])
        self._rows.flush()
        return None

    def _ended(self, key: _Values, bounds: tuple[int, int], kept: Any) -> list[Any]:
        emitted = [self._make((*row, *_micros(bounds))) for row in self._rows.get()]
        self._rows.clear()
        self._rows.flush()
        return emitted


def _micros(bounds: tuple[int, int]) -> tuple[int, ...]:
    return tuple(bound * MILLISECOND for bound in bounds)
