"""OVER windows: aggregates of the rows around each row, in the order of a time attribute.

Rows of an event time wait until the watermark has passed their time, and come in the order of their
times then; what comes later than the watermark is dropped by Spark before it gets here. Rows of a
processing time come at once.

A frame that begins some rows or some time before the current row keeps its rows, and retracts
each from the aggregates when it has left the frame. A partition has one timer: for the first row
that waits or, where none does, for the time from which on no later row needs the rows kept, or for
a look whether the partition has expired.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from pyflow.streaming.runtime.keyed_state import MapStore, Store
from pyflow.streaming.runtime.processor import MILLISECOND, ExpiringOperator, first_millisecond
from pyflow.streaming.runtime.state_ttl import Lifetime
from pyflow.table.runtime.streams.aggregate import Aggregate
from pyflow.table.runtime.streams.groups import Accumulators, Argument

__all__ = ["Frame", "OverRows"]

_Values = tuple[Any, ...]


class Frame(NamedTuple):
    """Which rows belong to a row, itself the last of them.

    Attributes
    ----------
    by_rows : bool
        Whether rows are counted; otherwise rows of the same time belong to each other.
    preceding : int or None
        How many rows, or microseconds, before the current one the first may be; None for all.
    """

    by_rows: bool
    preceding: int | None


class OverRows(ExpiringOperator):
    """Emits each row with the aggregates of its frame.

    Parameters
    ----------
    aggregates : sequence
        Each with the column that it takes.
    frame : Frame
    keys : int
        How many columns the key has, at the beginning of each row.
    width : int
        How many columns after the key are emitted; arguments of aggregates follow, whose positions
        are counted from the end of the key.
    moment : int
        The column with the time of a row, in microseconds, behind the arguments.
    in_event_time : bool
        Whether rows wait for the watermark.
    names : sequence of str
        Of the columns of emitted rows.
    lifetime : Lifetime
        Of a partition that no row comes for. Rows that wait are not forgotten. It sweeps if there
        are timers of a processing time.
    """

    def __init__(
        self,
        aggregates: Sequence[tuple[Aggregate, Argument]],
        frame: Frame,
        keys: int,
        width: int,
        moment: int,
        in_event_time: bool,
        names: Sequence[str],
        lifetime: Lifetime,
    ) -> None:
        self._keeps_times = not frame.by_rows and frame.preceding is not None
        self._has_timers = in_event_time or lifetime.sweeps
        self._forgets = lifetime.sweeps and not self._keeps_times
        super().__init__(names, Lifetime(lifetime.seconds, self._forgets))
        self._aggregates = tuple(aggregates)
        self._frame = frame
        self._keys = keys
        self._width = width
        self._moment = moment
        self._in_event_time = in_event_time

    def _opened(self, handle: Any) -> Iterable[Store]:
        self._rows = MapStore(handle, "rows", "BIGINT")
        self._accumulators = Accumulators(handle, self._aggregates)
        return (self._rows, *self._accumulators.stores)

    def handleInputRows(  # noqa: N802
        self, key: _Values, rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """Return the rows of a partition whose frame is known."""
        partition = self._read()
        moment_of = itemgetter(self._moment)
        ordered = sorted(map(tuple, rows), key=itemgetter(self._moment, -1))
        for moment, group in groupby(ordered, moment_of):
            # Times of rows that were current only grow.
            if partition.kept and moment <= partition.kept[-1]:
                if self._in_event_time:
                    continue
                moment = partition.kept[-1] + 1
            values = [row[self._keys : self._moment] for row in group]
            self._rows.put(moment, [*(partition.wait(moment, self._rows) or ()), *values])
        return self._passed(partition, True, timer_values)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: _Values,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Any]:
        """Return the rows of a partition that the watermark has passed."""
        if self._forgets:
            return super().handleExpiredTimer(key, timerValues, expiredTimerInfo)
        partition = self._read()
        if partition.timer == expiredTimerInfo.getExpiryTimeInMs():
            partition.timer = None
        return self._passed(partition, False, timerValues)

    def _passed(self, partition: _Partition, used: bool, times: Any) -> Iterator[Any]:
        """Emit what waits no longer, and write the partition."""
        if self._in_event_time:
            now = times.getCurrentWatermarkInMs()
            ready = partition.take_until(now * MILLISECOND)
        else:
            now = times.getCurrentProcessingTimeInMs()
            ready = partition.take_until(None)
        emitted: list[Any] = []
        for moment in ready:
            self._enter(partition, moment, emitted)
        if self._has_timers and not self._forgets:
            if self._keeps_times and not partition.waiting:
                self._leave(partition, now * MILLISECOND - self._preceding)
            self._set_timer(partition, now)
        self._write(partition, used or bool(ready))
        return iter(emitted)

    @property
    def _preceding(self) -> int:
        assert self._frame.preceding is not None
        return self._frame.preceding

    def _enter(self, partition: _Partition, moment: int, emitted: list[Any]) -> None:
        """Let the rows of a time be the current ones."""
        rows: list[_Values] = self._rows.get(moment)
        bounded = self._frame.preceding is not None
        if self._frame.by_rows:
            for place, row in enumerate(rows):
                if bounded:
                    if place == 0:
                        partition.keep(moment)
                    if partition.size > self._preceding:
                        self._leave_one(partition)
                self._add(partition, row)
                emitted.append(self._emitted(partition, row))
        else:
            if bounded:
                self._leave(partition, moment - self._preceding - 1)
                partition.keep(moment)
            for row in rows:
                self._add(partition, row)
            results = self._values_of(partition)
            emitted += [self._make((*row[: self._width], *results)) for row in rows]
        if not bounded:
            self._rows.remove(moment)

    def _leave(self, partition: _Partition, until: int) -> None:
        """Take the rows of times up to one out of the frame."""
        while partition.kept and partition.kept[0] <= until:
            moment = partition.kept.pop(0)
            for row in self._rows.get(moment):
                self._take(partition, row)
            self._rows.remove(moment)

    def _leave_one(self, partition: _Partition) -> None:
        """Take the first row out of the frame."""
        moment = partition.kept[0]
        rows = self._rows.get(moment)
        self._take(partition, rows[partition.left])
        partition.left += 1
        if partition.left == len(rows):
            del partition.kept[0]
            partition.left = 0
            self._rows.remove(moment)

    def _add(self, partition: _Partition, row: _Values) -> None:
        if partition.accumulators is None:
            partition.accumulators = self._accumulators.create()
        self._accumulators.add(partition.accumulators, row)
        partition.size += 1

    def _take(self, partition: _Partition, row: _Values) -> None:
        assert partition.accumulators is not None
        self._accumulators.take(partition.accumulators, row)
        partition.size -= 1
        if not partition.size:
            # What aggregates have rounded goes with the last row.
            partition.accumulators = None
            for store in self._accumulators.stores:
                store.clear()

    def _emitted(self, partition: _Partition, row: _Values) -> Any:
        return self._make((*row[: self._width], *self._values_of(partition)))

    def _values_of(self, partition: _Partition) -> _Values:
        assert partition.accumulators is not None
        return self._accumulators.values(partition.accumulators)

    def _set_timer(self, partition: _Partition, now: int) -> None:
        """Have the partition called when there is something to do, and not before."""
        wanted = None
        if partition.waiting:
            wanted = first_millisecond(partition.waiting[0])
        elif self._keeps_times and partition.kept:
            wanted = first_millisecond(partition.kept[-1] + self._preceding)
        elif self._in_event_time and self.lifetime.seconds and partition.size:
            # By then the partition may have expired.
            wanted = partition.timer
            if wanted is None or wanted <= now:
                wanted = now + math.ceil(self.lifetime.seconds * 1000)
        self._move_timer(partition.timer, wanted, now)
        partition.timer = wanted

    def _read(self) -> _Partition:
        found = self._state.get()
        if found is None:
            return _Partition()
        *rest, stored = found
        partition = _Partition(*rest)
        if stored is not None:
            partition.accumulators = self._accumulators.restored(stored)
        return partition

    def _write(self, partition: _Partition, used: bool) -> None:
        if not (partition.size or partition.waiting or partition.timer is not None):
            self._state.clear()
        else:
            stored = None
            if partition.size and partition.accumulators is not None:
                stored = self._accumulators.stored(partition.accumulators)
            # Rows that wait are not forgotten.
            value = (*partition.stored(), stored)
            self._state.put(value, used, expires=not partition.waiting)
        self._flush()


class _Partition:
    """What is known of a partition, beside its rows.

    Attributes
    ----------
    waiting : list of int
        The times of rows that the watermark has not passed, sorted.
    kept : list of int
        The times of rows in the frame, sorted.
    left : int
        How many rows of the first of these have left the frame.
    size : int
        The number of rows in the frame.
    timer : int or None
        When the partition is called, in milliseconds.
    accumulators : list or None
        None for a frame without rows.
    """

    __slots__ = ("accumulators", "kept", "left", "size", "timer", "waiting")

    def __init__(
        self,
        waiting: list[int] | None = None,
        kept: list[int] | None = None,
        left: int = 0,
        size: int = 0,
        timer: int | None = None,
    ) -> None:
        self.waiting = waiting or []
        self.kept = kept or []
        self.left, self.size, self.timer = left, size, timer
        self.accumulators: list[Any] | None = None

    def stored(self) -> tuple[Any, ...]:
        """Return what is pickled of it, beside the accumulators."""
        return self.waiting, self.kept, self.left, self.size, self.timer

    def wait(self, moment: int, rows: MapStore) -> list[_Values] | None:
        """Note that rows of a time wait; those that wait already."""
        place = bisect_left(self.waiting, moment)
        if place < len(self.waiting) and self.waiting[place] == moment:
            found: list[_Values] = rows.get(moment)
            return found
        self.waiting.insert(place, moment)
        return None

    def keep(self, moment: int) -> None:
        """Note that rows of a time are in the frame."""
        self.kept.append(moment)

    def take_until(self, watermark: int | None) -> list[int]:
        """Return the times that a watermark has passed, which wait no longer; all without one."""
        until = len(self.waiting) if watermark is None else bisect_right(self.waiting, watermark)
        ready, self.waiting = self.waiting[:until], self.waiting[until:]
        return ready
