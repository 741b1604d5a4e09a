"""Aggregates per key, without windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from pyflow.table.runtime.streams.aggregates import Aggregate
from pyflow.table.runtime.streams.lifetimes import Life, Lifetime
from pyflow.table.runtime.streams.rows import (
    DELETE,
    INSERT,
    UPDATE_AFTER,
    UPDATE_BEFORE,
    Changes,
    adds,
    in_sequence,
    row_maker,
)
from pyflow.table.runtime.streams.stores import Store, ValueStore

__all__ = ["Argument", "GroupAggregate", "TableAggregate", "getter"]

#: Which column of a row an aggregate takes, or which columns, as a tuple; None if it takes none.
Argument = Any

_Values = tuple[Any, ...]


class GroupAggregate:
    """Emits the changes of each key's aggregates, as Flink does.

    A key's first row gives ``+I``, later ones ``-U`` and ``+U`` where a value differs; when as many
    rows have been taken back as were added, ``-D``.

    Parameters
    ----------
    aggregates : sequence
        Each with the column that it takes.
    names : sequence of str
        Of the columns of emitted rows.
    changes : bool
        Whether rows of the input are taken back.
    per_record : bool
        Whether changes are emitted for each row; otherwise once for all rows of a micro-batch.
    repeats : bool
        Whether values that stay the same are emitted, too: where keys are forgotten, operators
        behind this one must see that theirs are still used.
    time_to_live : float
        After how many seconds without a row a key is forgotten; 0 for never.
    sweeps : bool
        Whether timers of a processing time forget keys that no row comes for.
    """

    def __init__(
        self,
        aggregates: Sequence[tuple[Aggregate, Argument]],
        names: Sequence[str],
        changes: bool,
        per_record: bool,
        repeats: bool,
        time_to_live: float,
        sweeps: bool = False,
    ) -> None:
        self._aggregates = tuple(aggregates)
        self._names = list(names)
        self._changes = changes
        self._per_record = per_record
        self._repeats = repeats
        self._lifetime = Lifetime(time_to_live, sweeps)

    def init(self, handle: Any) -> None:
        """Open the state of a task."""
        self._make = row_maker(self._names)
        self._lifetime.open(handle)
        self._state = ValueStore(handle, "accumulators")
        stores: list[Store] = []
        for number, (aggregate, _) in enumerate(self._aggregates):
            aggregate.open(handle, f"aggregate{number}")
            stores += aggregate.stores
        self._stores = tuple(stores)
        each = [(aggregate, getter(argument)) for aggregate, argument in self._aggregates]
        self._adding = [(aggregate.add, get) for aggregate, get in each]
        self._taking = [(aggregate.take, get) for aggregate, get in each]
        self._results = [aggregate.value for aggregate, _ in self._aggregates]
        in_order = self._per_record or self._changes
        self._in_order = in_order or any(each.in_order for each, _ in self._aggregates)

    def handleInputRows(  # noqa: N802
        self, key: tuple[Any, ...], rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """The changes that the rows of a key make."""
        changes = Changes(self._make, key)
        group = self._read()
        known = group.rows > 0
        before = self._values(group) if known else None
        ordered = in_sequence(rows) if self._in_order else map(tuple, rows)
        if self._per_record:
            for row in ordered:
                if self._apply(group, row):
                    before = self._emit(group, before, row[-1], changes)
        else:
            place = None
            for row in ordered:
                if self._apply(group, row):
                    place = row[-1]
            if place is not None:
                self._emit(group, before, place, changes)
        self._write(group, known)
        return iter(changes.rows)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: tuple[Any, ...],
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Any]:
        """Forget a key that has not been used."""
        expired = expiredTimerInfo.getExpiryTimeInMs()
        found = self._state.get()
        if found is not None and found[1][1] == expired:
            rows, life, stored = found
            after = self._lifetime.after(Life(*life), expired)
            if after is not None:
                self._state.put((rows, tuple(after), stored))
            else:
                self._state.clear()
                for store in self._stores:
                    store.clear()
                    store.flush()
        return iter(())

    def close(self) -> None:
        """Nothing is left to be closed."""

    def handleInitialState(self, key: Any, row: Any, timer_values: Any) -> None:  # noqa: N802
        """There is none."""

    def _apply(self, group: _Group, row: _Values) -> bool:
        """Add a row or take it back; False if there is nothing that it could be taken back from."""
        if not self._changes or adds(row):
            if group.accumulators is None:
                group.accumulators = [each.create() for each, _ in self._aggregates]
            group.rows += 1
            steps = self._adding
        elif group.accumulators is None:
            return False
        else:
            group.rows -= 1
            steps = self._taking
        for (change, get), state in zip(steps, group.accumulators):
            change(state, get(row))
        return True

    def _emit(
        self, group: _Group, before: _Values | None, place: int, changes: Changes
    ) -> _Values | None:
        """Emit what has changed since the values before; the values now, None if no row is left."""
        if group.rows <= 0:
            if before is not None:
                changes.add(DELETE, before, place)
            if self._per_record:
                self._forget(group)
            return None
        after = self._values(group)
        if before is None:
            changes.add(INSERT, after, place)
        elif after != before or self._repeats:
            changes.add(UPDATE_BEFORE, before, place)
            changes.add(UPDATE_AFTER, after, place)
        return after

    def _values(self, group: _Group) -> _Values:
        assert group.accumulators is not None
        return tuple([of(state) for of, state in zip(self._results, group.accumulators)])

    def _read(self) -> _Group:
        found = self._state.get()
        if found is None:
            return _Group(0, None)
        rows, life, stored = found
        kept = zip(self._aggregates, stored)
        group = _Group(rows, [aggregate.restored(state) for (aggregate, _), state in kept])
        group.timer = life[1]
        if self._lifetime.is_over(Life(*life)):
            self._forget(group)
            self._state.clear()
        return group

    def _write(self, group: _Group, known: bool) -> None:
        if group.rows > 0:
            assert group.accumulators is not None
            kept = zip(self._aggregates, group.accumulators)
            stored = [aggregate.stored(state) for (aggregate, _), state in kept]
            self._state.put((group.rows, tuple(self._lifetime.used(group.timer)), stored))
        elif known:
            self._forget(group)
            self._state.clear()
            self._lifetime.removed(group.timer)
        for store in self._stores:
            store.flush()

    def _forget(self, group: _Group) -> None:
        group.rows, group.accumulators = 0, None
        for store in self._stores:
            store.clear()


class TableAggregate(GroupAggregate):
    """Emits what a function returns for each key, once for all rows of a micro-batch.

    The rows that were emitted before are deleted and those of now inserted, as PyFlink does.
    """

    def _emit(
        self, group: _Group, before: _Values | None, place: int, changes: Changes
    ) -> _Values | None:
        for row in before[0] if before is not None else ():
            changes.add(DELETE, row, place)
        if group.rows <= 0:
            return None
        after = self._values(group)
        for row in after[0]:
            changes.add(INSERT, row, place)
        return after


class _Group:
    """What is known of a key: its number of rows, its accumulators, and the timer of its state."""

    __slots__ = ("accumulators", "rows", "timer")

    def __init__(self, rows: int, accumulators: list[Any] | None) -> None:
        self.rows = rows
        self.accumulators = accumulators
        self.timer: int | None = None


def getter(argument: Argument) -> Callable[[_Values], Any]:
    """What takes an aggregate's argument, or its arguments as a tuple, of a row."""
    if argument is None:
        return lambda row: True
    if type(argument) is not tuple:
        return itemgetter(argument)
    if len(argument) > 1:
        return itemgetter(*argument)
    return itemgetter(slice(argument[0], argument[0] + 1)) if argument else lambda row: ()
