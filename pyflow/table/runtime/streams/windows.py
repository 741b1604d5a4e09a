"""Rows of windows, which come when their window has ended, by the watermark or by a clock.

The bounds of a window are part of the key: its rows are kept until a timer at its end, and nothing
is left of it then. Spark leaves out rows of an event time whose window has ended before they get
here. By a clock all rows of such a window come in one batch: that in which operators before this
one let it end.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pyflow.streaming.runtime.keyed_state import ListStore, ValueStore
from pyflow.streaming.runtime.processor import MILLISECOND, StreamOperator, first_millisecond
from pyflow.streaming.runtime.rows import in_sequence
from pyflow.streaming.runtime.waiting_rows import WaitingRows
from pyflow.table.runtime.streams.joins import Comparison, JoinKind, Side, holds, tests_of
from pyflow.table.runtime.streams.ranks import SortColumn, place_in

__all__ = ["SessionRows", "WindowJoin", "WindowRanks"]

_Values = tuple[Any, ...]


class _AtEnd(StreamOperator):
    """What operators have in common that know the window of each row.

    Parameters
    ----------
    moment : int
        The column that tells when a row's window has ended, in microseconds: when the watermark, or
        the clock, is there.
    by_clock : bool
        Whether windows end by the processing time.
    names : sequence of str
        Of the columns of emitted rows.
    """

    def __init__(self, moment: int, by_clock: bool, names: Sequence[str]) -> None:
        super().__init__(names)
        self._moment = moment
        self._by_clock = by_clock

    def init(self, handle: Any) -> None:
        """Open the state of a task."""
        super().init(handle)
        self._state = ValueStore(handle, "window")

    def handleExpiredTimer(  # noqa: N802
        self,
        key: _Values,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Any]:
        """Return the rows that are emitted when a window has ended."""
        return self._ended(key)

    def _begun(self, key: _Values, row: _Values, times: Any) -> Iterator[Any]:
        """Have the key called when the window of its first rows has ended, if it has not yet."""
        end = first_millisecond(row[self._moment])
        if self._by_clock:
            now = times.getCurrentProcessingTimeInMs()
        else:
            now = times.getCurrentWatermarkInMs()
        if end <= now:
            return self._ended(key)
        self._handle.registerTimer(end)
        return iter(())

    @abstractmethod
    def _ended(self, key: _Values) -> Iterator[Any]:
        """Return the rows that are emitted for a window, of which nothing is kept."""


class WindowRanks(_AtEnd):
    """Emits the first rows of each key and window, in their order.

    Parameters
    ----------
    order : sequence of SortColumn
        Rows that are equal in it stand in the order of their arrival.
    start, end : int
        The first and the last row number that is emitted, from 1.
    values : tuple of int
        The first column that is emitted, and the one behind the last.
    numbered : bool
        Whether the row number is emitted, as the last column.
    moment, by_clock, names
        As all of these operators have them.
    """

    def __init__(
        self,
        order: Sequence[SortColumn],
        start: int,
        end: int,
        values: tuple[int, int],
        numbered: bool,
        moment: int,
        by_clock: bool,
        names: Sequence[str],
    ) -> None:
        super().__init__(moment, by_clock, names)
        self._order = tuple(order)
        self._range = (start, end)
        self._values = values
        self._numbered = numbered

    def handleInputRows(  # noqa: N802
        self, key: _Values, rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """Keep the rows that may be among the first."""
        ranked = self._state.get()
        ordered = in_sequence(rows)
        kept = [*(ranked or ()), *(row[: self._moment] for row in ordered)]
        # Sorting leaves rows that are equal as they came.
        ranked_rows = sorted(kept, key=lambda row: place_in(self._order, row))
        self._state.put(ranked_rows[: self._range[1]])
        return self._begun(key, ordered[0], timer_values) if ranked is None else iter(())

    def _ended(self, key: _Values) -> Iterator[Any]:
        first, end = self._values
        start, last = self._range
        rows = self._state.get()[start - 1 : last]
        self._state.clear()
        return iter(
            [
                self._make((*row[first:end], *((place,) if self._numbered else ())))
                for place, row in enumerate(rows, start)
            ]
        )


class WindowJoin(_AtEnd):
    """Emits the join of the rows of two tables in the same window.

    Parameters
    ----------
    kind : str
    left, right : Side
    conditions : sequence of Comparison
        Which hold for partners, beside the equality of the key.
    keys : int
        How many columns the key has, at the beginning of each row; whose left row it is follows.
    moment, by_clock, names
        As all of these operators have them.
    """

    def __init__(
        self,
        kind: JoinKind,
        left: Side,
        right: Side,
        conditions: Sequence[Comparison],
        keys: int,
        moment: int,
        by_clock: bool,
        names: Sequence[str],
    ) -> None:
        super().__init__(moment, by_clock, names)
        self._kind = kind
        self._sides = (left, right)
        self._conditions = tuple(conditions)
        self._keys = keys

    def init(self, handle: Any) -> None:
        """Open the state of a task."""
        super().init(handle)
        self._left, self._right = ListStore(handle, "left"), ListStore(handle, "right")
        self._tests = tests_of(self._conditions)

    def handleInputRows(  # noqa: N802
        self, key: _Values, rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """Keep the rows."""
        ordered = in_sequence(rows)
        is_new = self._state.get() is None
        if is_new:
            self._state.put(True)
        for row in ordered:
            is_left = row[self._keys]
            side = self._sides[not is_left]
            (self._left if is_left else self._right).add(row[side.first : side.end])
        self._left.flush()
        self._right.flush()
        return self._begun(key, ordered[0], timer_values) if is_new else iter(())

    def _ended(self, key: _Values) -> Iterator[Any]:
        left, right = self._left.get(), self._right.get()
        # Nulls are equal to nothing.
        emitted = list(self._joined(left, right, None not in key))
        self._state.clear()
        for store in (self._left, self._right):
            store.clear()
            store.flush()
        return iter(emitted)

    def _joined(
        self, left: Sequence[_Values], right: Sequence[_Values], may_pair: bool
    ) -> Iterator[Any]:
        widths = [side.width for side in self._sides]
        nothing = [(None,) * width for width in widths]
        paired = [False] * len(right)
        for row in left:
            own = row[: widths[0]]
            partners = [
                place
                for place, other in enumerate(right)
                if may_pair and holds(self._tests, row, other)
            ]
            if self._kind in ("semi", "anti"):
                if bool(partners) == (self._kind == "semi"):
                    yield self._make(own)
                continue
            for place in partners:
                paired[place] = True
                yield self._make((*own, *right[place][: widths[1]]))
            if not partners and self._kind in ("left", "full"):
                yield self._make((*own, *nothing[1]))
        if self._kind in ("right", "full"):
            for row, has_partner in zip(right, paired):
                if not has_partner:
                    yield self._make((*nothing[0], *row[: widths[1]]))


class SessionRows(WaitingRows):
    """Emits the rows of each key's sessions, with the bounds of their session in microseconds.

    Parameters
    ----------
    gap : int
        How long after a row its session ends, where no other comes; in microseconds.
    values : tuple of int
        The first column that is emitted, and the one behind the last.
    moment : int
        The column with the time of a row, in microseconds.
    names : sequence of str
        Of the columns of emitted rows.
    """

    def __init__(
        self, gap: int, values: tuple[int, int], moment: int, names: Sequence[str]
    ) -> None:
        super().__init__(values, moment, names)
        self._gap = gap

    def _group(self, moments: Sequence[int], first: int) -> tuple[int, int]:
        """Return the first session of some times, which are sorted."""
        end = first + 1
        while end < len(moments) and moments[end] <= moments[end - 1] + self._gap:
            end += 1
        return end, first_millisecond(moments[end - 1] + self._gap - MILLISECOND)

    def _emitted(self, moments: Sequence[int], rows: Sequence[Sequence[_Values]]) -> list[Any]:
        bounds = moments[0], moments[-1] + self._gap
        return [self._make((*row, *bounds)) for of_moment in rows for row in of_moment]
