"""Aggregates of processing-time windows, and of row-count windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pyflow.streaming.runtime.keyed_state import MapStore, ValueStore
from pyflow.streaming.runtime.processor import StreamOperator, first_millisecond
from pyflow.streaming.runtime.rows import in_sequence
from pyflow.table.runtime.streams.aggregate import Aggregate
from pyflow.table.runtime.streams.groups import Accumulators, Argument, GroupAggregate

__all__ = ["NumberGroups", "SlidingNumberGroups", "WindowGroups"]


class WindowGroups(GroupAggregate):
    """Emits the aggregates of each key and window once, when a clock has passed the window.

    Rows may come when it has: of a batch in which operators before this one let windows end.

    The bounds of the window are part of the key.

    Parameters
    ----------
    aggregates : sequence
        Each with the column that it takes.
    end : int
        The column with the end of a row's window, in microseconds.
    names : sequence of str
        Of the columns of emitted rows.
    """

    def __init__(
        self, aggregates: Sequence[tuple[Aggregate, Argument]], end: int, names: Sequence[str]
    ) -> None:
        super().__init__(aggregates, names)
        self._end = end

    def handleInputRows(  # noqa: N802
        self, key: tuple[Any, ...], rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """Add the rows of a window."""
        group = self._read()
        known = group.rows > 0
        ordered = in_sequence(rows)
        for row in ordered:
            self._apply(group, row)
        end = first_millisecond(ordered[0][self._end])
        if not known and end <= timer_values.getCurrentProcessingTimeInMs():
            emitted = [self._make((*key, *self._values(group)))]
            self._forget(group)
            self._flush()
            return iter(emitted)
        self._write(group, known)
        if not known:
            self._handle.registerTimer(end)
        return iter(())

    def handleExpiredTimer(  # noqa: N802
        self,
        key: tuple[Any, ...],
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Any]:
        """Emit the aggregates of a window that has ended."""
        group = self._read()
        if group.accumulators is None:
            return iter(())
        made = self._make((*key, *self._values(group)))
        self._state.clear()
        self._flush()
        return iter([made])


class NumberGroups(GroupAggregate):
    """Emits the aggregates of tumbling row-count windows: of each `size` rows of a key.

    Parameters
    ----------
    aggregates : sequence
        Each with the column that it takes.
    size : int
        How many rows a window has.
    names : sequence of str
        Of the columns of emitted rows.
    """

    def __init__(
        self, aggregates: Sequence[tuple[Aggregate, Argument]], size: int, names: Sequence[str]
    ) -> None:
        super().__init__(aggregates, names)
        self._size = size

    def handleInputRows(  # noqa: N802
        self, key: tuple[Any, ...], rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """Emit the aggregates of windows that are full."""
        group = self._read()
        known = group.rows > 0
        emitted = []
        for row in in_sequence(rows):
            self._apply(group, row)
            if group.rows == self._size:
                emitted.append(self._make((*key, *self._values(group))))
                self._forget(group)
        self._write(group, known)
        return iter(emitted)


class SlidingNumberGroups(StreamOperator):
    """Emits the aggregates of sliding row-count windows: of `size` rows, after each `slide` rows.

    A window is emitted when it is full. Until then, the arguments of its rows are kept.

    Parameters
    ----------
    aggregates : sequence
        Each with the column that it takes.
    size : int
        How many rows a window has.
    slide : int
        How many rows after one window the next begins.
    keys : int
        How many columns the key has, at the beginning of each row.
    names : sequence of str
        Of the columns of emitted rows.
    """

    def __init__(
        self,
        aggregates: Sequence[tuple[Aggregate, Argument]],
        size: int,
        slide: int,
        keys: int,
        names: Sequence[str],
    ) -> None:
        super().__init__(names)
        self._aggregates = tuple(aggregates)
        self._size = size
        self._slide = slide
        self._keys = keys

    def init(self, handle: Any) -> None:
        """Open the state of a task."""
        super().init(handle)
        self._count = ValueStore(handle, "count")
        self._rows = MapStore(handle, "rows", "BIGINT")
        self._accumulators = Accumulators(handle, self._aggregates)

    def handleInputRows(  # noqa: N802
        self, key: tuple[Any, ...], rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """Emit the aggregates of windows that are full."""
        emitted = []
        place = self._count.get() or 0
        for row in in_sequence(rows):
            if place % self._slide < self._size:
                self._rows.put(place, row[self._keys :])
            place += 1
            start = place - self._size
            if start >= 0 and start % self._slide == 0:
                emitted.append(self._make((*key, *self._values(key, start, place))))
                for left in range(start, min(start + self._slide, place)):
                    self._rows.remove(left)
        self._count.put(place)
        for store in (self._rows, *self._accumulators.stores):
            store.flush()
        return iter(emitted)

    def _values(self, key: tuple[Any, ...], start: int, end: int) -> tuple[Any, ...]:
        """Return the aggregates of the rows from one position up to another."""
        states = self._accumulators.create()
        for place in range(start, end):
            self._accumulators.add(states, (*key, *self._rows.get(place)))
        values = self._accumulators.values(states)
        for store in self._accumulators.stores:
            store.clear()
        return values
