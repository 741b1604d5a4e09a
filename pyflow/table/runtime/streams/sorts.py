"""All rows of a table in the order of a time attribute."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pyflow.table.runtime.streams.operators import StreamOperator, first_millisecond
from pyflow.table.runtime.streams.ranks import SortColumn, sortable
from pyflow.table.runtime.streams.rows import in_sequence
from pyflow.table.runtime.streams.stores import MapStore, ValueStore

__all__ = ["SortedRows"]

_Values = tuple[Any, ...]


class SortedRows(StreamOperator):
    """Emits rows in the order of time, when the watermark has passed them.

    Rows of a processing time come in their batch, which is of one time. Spark leaves out rows that
    are late before they get here.

    Parameters
    ----------
    order : sequence of SortColumn
        Of rows of the same time; those that are equal in it stand in the order of their arrival.
    values : tuple of int
        The first column that is emitted, and the one behind the last.
    moment : int or None
        The column with the time of a row, in microseconds; None for a processing time.
    names : sequence of str
        Of the columns of emitted rows.
    """

    def __init__(
        self,
        order: Sequence[SortColumn],
        values: tuple[int, int],
        moment: int | None,
        names: Sequence[str],
    ) -> None:
        super().__init__(names)
        self._order = tuple(order)
        self._values = values
        self._moment = moment

    def init(self, handle: Any) -> None:
        """Open the state of a task."""
        super().init(handle)
        # Times of rows that wait, sorted, and the timer for the first of them.
        self._state = ValueStore(handle, "times")
        self._rows = MapStore(handle, "rows", "BIGINT")

    def handleInputRows(  # noqa: N802
        self, key: _Values, rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """Keep the rows; those of a processing time come at once."""
        ordered = in_sequence(rows)
        if self._moment is None:
            return iter(self._emitted(ordered))
        moments, timer = self._state.get() or ([], None)
        for row in ordered:
            moment = row[self._moment]
            known = self._rows.get(moment)
            if known is None:
                insort(moments, moment)
            self._rows.put(moment, [*(known or ()), row[: self._moment]])
        return self._passed(moments, timer, timer_values)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: _Values,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Any]:
        """The rows that the watermark has passed."""
        found = self._state.get()
        if found is None:
            return iter(())
        moments, timer = found
        if timer == expiredTimerInfo.getExpiryTimeInMs():
            timer = None
        return self._passed(moments, timer, timerValues)

    def _passed(self, moments: list[int], timer: int | None, times: Any) -> Iterator[Any]:
        """Emit what the watermark has passed, and have the key called for the next row."""
        watermark = times.getCurrentWatermarkInMs()
        emitted: list[Any] = []
        place = 0
        while place < len(moments) and first_millisecond(moments[place]) <= watermark:
            emitted += self._emitted(self._rows.get(moments[place]))
            self._rows.remove(moments[place])
            place += 1
        waiting = moments[place:]
        wanted = first_millisecond(waiting[0]) if waiting else None
        self._move_timer(timer, wanted, watermark)
        if waiting:
            self._state.put((waiting, wanted))
        else:
            self._state.clear()
        self._rows.flush()
        return iter(emitted)

    def _emitted(self, rows: Sequence[_Values]) -> list[Any]:
        """Rows of one time in their order."""
        first, end = self._values
        # Sorting leaves rows that are equal as they came.
        return [self._make(row[first:end]) for row in sorted(rows, key=self._place)]

    def _place(self, row: _Values) -> _Values:
        return tuple(
            sortable(row[place], ascending, first) for place, ascending, first in self._order
        )
