"""OVER windows: aggregates of the rows around each row, in the order of a time attribute.

Rows of an event time wait until the watermark has passed their time, and come in the order of their
times then; what comes later than the watermark is dropped by Spark before it gets here. Rows of a
processing time come at once.

A frame that begins some rows or some time before the current row keeps its rows, and takes each
back from the aggregates when it has left the frame. A partition has one timer: for the first row
that waits or, where none does, for the time from which on no later row needs the rows kept.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from pyflow.table.runtime.streams.aggregates import Aggregate
from pyflow.table.runtime.streams.groups import Argument, getter
from pyflow.table.runtime.streams.lifetimes import Life, Lifetime
from pyflow.table.runtime.streams.rows import row_maker
from pyflow.table.runtime.streams.stores import MapStore, Store, ValueStore

__all__ = ["MILLISECOND", "Frame", "OverRows", "first_millisecond"]

_Values = tuple[Any, ...]

# Where the state of a partition has its timer and its expiry.
_TIMER, _EXPIRY = 4, 5
#: In microseconds, as which times travel; timers count milliseconds.
MILLISECOND = 1000


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


class OverRows:
    """Emits each row with the aggregates of its frame.

    Parameters
    ----------
    aggregates : sequence
        Each with the column that it takes.
    frame : Frame
    keys : int
        How many columns the key has, at the beginning of each row.
    width : int
        How many columns behind the key are emitted; arguments of aggregates follow, whose places
        are counted from behind the key.
    moment : int
        The column with the time of a row, in microseconds, behind the arguments.
    in_event_time : bool
        Whether rows wait for the watermark.
    names : sequence of str
        Of the columns of emitted rows.
    time_to_live : float
        After how many seconds without a row a partition is forgotten; 0 for never. Rows that wait
        are not.
    sweeps : bool
        Whether there are timers of a processing time, for partitions that no row comes for.
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
        time_to_live: float,
        sweeps: bool = False,
    ) -> None:
        self._aggregates = tuple(aggregates)
        self._frame = frame
        self._keys = keys
        self._width = width
        self._moment = moment
        self._in_event_time = in_event_time
        self._names = list(names)
        self._keeps_times = not frame.by_rows and frame.preceding is not None
        self._has_timers = in_event_time or sweeps
        self._forgets = sweeps and not self._keeps_times
        self._lifetime = Lifetime(time_to_live, self._forgets)

    def init(self, handle: Any) -> None:
        """Open the state of a task."""
        self._handle = handle
        self._lifetime.open(handle)
        self._make = row_maker(self._names)
        self._state = ValueStore(handle, "partition")
        self._rows = MapStore(handle, "rows", "BIGINT")
        stores: list[Store] = []
        for number, (aggregate, _) in enumerate(self._aggregates):
            aggregate.open(handle, f"aggregate{number}")
            stores += aggregate.stores
        self._stores = tuple(stores)
        each = [(aggregate, getter(argument)) for aggregate, argument in self._aggregates]
        self._adding = [(aggregate.add, get) for aggregate, get in each]
        self._taking = [(aggregate.take, get) for aggregate, get in each]
        self._results = [aggregate.value for aggregate, _ in self._aggregates]

    def handleInputRows(  # noqa: N802
        self, key: _Values, rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """The rows of a partition whose frame is known."""
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
        return self._passed(partition, timer_values)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: _Values,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Any]:
        """The rows of a partition that the watermark has passed."""
        expired = expiredTimerInfo.getExpiryTimeInMs()
        if self._forgets:
            return self._forget(expired)
        partition = self._read()
        if partition.timer == expired:
            partition.timer = None
        return self._passed(partition, timerValues)

    def close(self) -> None:
        """Nothing is left to be closed."""

    def handleInitialState(self, key: Any, row: Any, timer_values: Any) -> None:  # noqa: N802
        """There is none."""

    def _passed(self, partition: _Partition, times: Any) -> Iterator[Any]:
        """Emit what waits no longer, and write the partition."""
        if self._in_event_time:
            now = times.getCurrentWatermarkInMs() * MILLISECOND
            ready = partition.take_until(now)
        else:
            now = times.getCurrentProcessingTimeInMs() * MILLISECOND
            ready = partition.take_until(None)
        emitted: list[Any] = []
        for moment in ready:
            self._enter(partition, moment, emitted)
        if self._has_timers and not self._forgets:
            if self._keeps_times and not partition.waiting:
                self._leave(partition, now - self._preceding)
            self._set_timer(partition, now)
        self._write(partition)
        return iter(emitted)

    def _forget(self, expired: int) -> Iterator[Any]:
        """Forget a partition that has not been used."""
        found = self._state.get()
        if found is not None and found[_TIMER] == expired:
            life = self._lifetime.after(Life(found[_EXPIRY], expired), expired)
            if life is None:
                self._clear()
                self._flush()
            else:
                self._state.put((*found[:_TIMER], life.timer, *found[_EXPIRY:]))
        return iter(())

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
            partition.accumulators = [each.create() for each, _ in self._aggregates]
        for (change, get), state in zip(self._adding, partition.accumulators):
            change(state, get(row))
        partition.size += 1

    def _take(self, partition: _Partition, row: _Values) -> None:
        assert partition.accumulators is not None
        for (change, get), state in zip(self._taking, partition.accumulators):
            change(state, get(row))
        partition.size -= 1
        if not partition.size:
            # What aggregates have rounded goes with the last row.
            partition.accumulators = None
            for store in self._stores:
                store.clear()

    def _emitted(self, partition: _Partition, row: _Values) -> Any:
        return self._make((*row[: self._width], *self._values_of(partition)))

    def _values_of(self, partition: _Partition) -> list[Any]:
        assert partition.accumulators is not None
        return [of(state) for of, state in zip(self._results, partition.accumulators)]

    def _set_timer(self, partition: _Partition, now: int) -> None:
        """Have the partition called when there is something to do, and not before."""
        due = None
        if partition.waiting:
            due = partition.waiting[0]
        elif self._keeps_times and partition.kept:
            due = partition.kept[-1] + self._preceding
        wanted = None if due is None else first_millisecond(due)
        if wanted == partition.timer:
            return
        # One that has expired is on its way.
        if partition.timer is not None and partition.timer * MILLISECOND > now:
            self._handle.deleteTimer(partition.timer)
        if wanted is not None:
            self._handle.registerTimer(wanted)
        partition.timer = wanted

    def _read(self) -> _Partition:
        found = self._state.get()
        if found is None:
            return _Partition()
        *rest, expiry, stored = found
        partition = _Partition(*rest)
        if not partition.waiting and self._lifetime.is_over(Life(expiry, None)):
            self._clear()
            return _Partition(timer=partition.timer)
        if stored is not None:
            kept = zip(self._aggregates, stored)
            partition.accumulators = [aggregate.restored(state) for (aggregate, _), state in kept]
        return partition

    def _write(self, partition: _Partition) -> None:
        if not (partition.size or partition.waiting or partition.timer is not None):
            self._clear()
        else:
            expiry, timer = self._lifetime.used(partition.timer)
            if self._forgets:
                partition.timer = timer
            stored = None
            if partition.size and partition.accumulators is not None:
                kept = zip(self._aggregates, partition.accumulators)
                stored = [aggregate.stored(state) for (aggregate, _), state in kept]
            self._state.put((*partition.stored(), expiry, stored))
        self._flush()

    def _flush(self) -> None:
        self._rows.flush()
        for store in self._stores:
            store.flush()

    def _clear(self) -> None:
        self._state.clear()
        self._rows.clear()
        for store in self._stores:
            store.clear()


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
        """What is pickled of it, beside the accumulators."""
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
        """The times that a watermark has passed, which wait no longer; all without one."""
        until = len(self.waiting) if watermark is None else bisect_right(self.waiting, watermark)
        ready, self.waiting = self.waiting[:until], self.waiting[until:]
        return ready


def first_millisecond(moment: int) -> int:
    """The first of the milliseconds, as timers count them, that is not before a moment."""
    return -(-moment // MILLISECOND)
