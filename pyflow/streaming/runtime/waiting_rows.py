"""Rows that wait, in the order of their times, until the watermark lets them be emitted."""

from __future__ import annotations

from abc import abstractmethod
from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pyflow.streaming.runtime.keyed_state import MapStore, ValueStore
from pyflow.streaming.runtime.processor import StreamOperator
from pyflow.streaming.runtime.rows import in_sequence

__all__ = ["WaitingRows"]

_Values = tuple[Any, ...]


class WaitingRows(StreamOperator):
    """Keeps the rows of each key, and emits them a group of times after the other.

    A key has one timer, for the first group that waits. Spark leaves out rows that are late before
    they get here.

    Parameters
    ----------
    kept : tuple of int
        The first column that is kept, and the one behind the last.
    moment : int
        The column with the time of a row, in microseconds.
    names : sequence of str
        Of the columns of emitted rows.
    """

    def __init__(self, kept: tuple[int, int], moment: int, names: Sequence[str]) -> None:
        super().__init__(names)
        self._kept = slice(*kept)
        self._moment = moment

    def init(self, handle: Any) -> None:
        """Open the state of a task."""
        super().init(handle)
        # Times of rows that wait, sorted, and the timer for the first group of them.
        self._state = ValueStore(handle, "times")
        self._rows = MapStore(handle, "rows", "BIGINT")

    def handleInputRows(  # noqa: N802
        self, key: _Values, rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """Keep the rows; those that need not wait come at once."""
        moments, timer = self._state.get() or ([], None)
        for row in in_sequence(rows):
            moment = row[self._moment]
            known = self._rows.get(moment)
            if known is None:
                insort(moments, moment)
            self._rows.put(moment, [*(known or ()), row[self._kept]])
        return self._passed(moments, timer, timer_values)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: _Values,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Any]:
        """Return the rows that wait no longer."""
        found = self._state.get()
        if found is None:
            return iter(())
        moments, timer = found
        if timer == expiredTimerInfo.getExpiryTimeInMs():
            timer = None
        return self._passed(moments, timer, timerValues)

    def _passed(self, moments: list[int], timer: int | None, times: Any) -> Iterator[Any]:
        """Emit what waits no longer, and have the key called for the next group."""
        watermark = times.getCurrentWatermarkInMs()
        emitted: list[Any] = []
        first, wanted = 0, None
        while first < len(moments):
            end, wanted = self._group(moments, first)
            if wanted > watermark:
                break
            group, first, wanted = moments[first:end], end, None
            emitted += self._emitted(group, [self._rows.get(moment) for moment in group])
            for moment in group:
                self._rows.remove(moment)
        self._move_timer(timer, wanted, watermark)
        if wanted is not None:
            self._state.put((moments[first:], wanted))
        else:
            self._state.clear()
        self._rows.flush()
        return iter(emitted)

    @abstractmethod
    def _group(self, moments: Sequence[int], first: int) -> tuple[int, int]:
        """Return where the group that begins at a position ends, and the watermark it waits for.

        The watermark is in milliseconds.
        """

    @abstractmethod
    def _emitted(self, moments: Sequence[int], rows: Sequence[Sequence[_Values]]) -> Iterable[Any]:
        """Return the rows to emit for a group, given its times and the rows of each."""
