"""Aggregates per key, without windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from pyflow.streaming.runtime.keyed_state import Store
from pyflow.streaming.runtime.processor import ExpiringOperator
from pyflow.streaming.runtime.rows import in_sequence
from pyflow.streaming.runtime.state_ttl import FOREVER, Lifetime
from pyflow.table.runtime.streams.aggregate import Aggregate
from pyflow.table.runtime.streams.changes import (
    DELETE,
    INSERT,
    UPDATE_AFTER,
    UPDATE_BEFORE,
    Changes,
    adds,
)

__all__ = ["Accumulators", "Argument", "GroupAggregate", "TableAggregate"]

#: Which column of a row an aggregate takes, or which columns, as a tuple; None if it takes none.
Argument = Any

_Values = tuple[Any, ...]


class Accumulators:
    """Aggregates of the rows that belong together, with the state that they keep themselves.

    Parameters
    ----------
    handle : StatefulProcessorHandle
    aggregates : sequence
        Each with the column that it takes.

    Attributes
    ----------
    stores : list of Store
    in_order : bool
        Whether the order of rows matters to one of them.
    """

    def __init__(self, handle: Any, aggregates: Sequence[tuple[Aggregate, Argument]]) -> None:
        self.stores: list[Store] = []
        for number, (aggregate, _) in enumerate(aggregates):
            aggregate.open(handle, f"aggregate{number}")
            self.stores += aggregate.stores
        self.in_order = any(each.in_order for each, _ in aggregates)
        self._aggregates = [each for each, _ in aggregates]
        each = [(aggregate, _getter(argument)) for aggregate, argument in aggregates]
        self._adding = [(aggregate.add, get) for aggregate, get in each]
        self._taking = [(aggregate.take, get) for aggregate, get in each]
        self._results = [aggregate.value for aggregate, _ in aggregates]

    def create(self) -> list[Any]:
        """Return accumulators without rows."""
        return [each.create() for each in self._aggregates]

    def add(self, states: list[Any], row: _Values) -> None:
        """Add a row."""
        for (change, get), state in zip(self._adding, states):
            change(state, get(row))

    def take(self, states: list[Any], row: _Values) -> None:
        """Retract a row."""
        for (change, get), state in zip(self._taking, states):
            change(state, get(row))

    def values(self, states: list[Any]) -> _Values:
        """Return the results."""
        return tuple([of(state) for of, state in zip(self._results, states)])

    def stored(self, states: list[Any]) -> list[Any]:
        """Return the accumulators in the form that is pickled."""
        return [each.stored(state) for each, state in zip(self._aggregates, states)]

    def restored(self, stored: list[Any]) -> list[Any]:
        """Return the accumulators from the form that was pickled."""
        return [each.restored(state) for each, state in zip(self._aggregates, stored)]


class GroupAggregate(ExpiringOperator):
    """Emits the changes of each key's aggregates, as Flink does.

    A key's first row gives ``+I``, later ones ``-U`` and ``+U`` where a value differs; when as many
    rows have been retracted as were added, ``-D``.

    Parameters
    ----------
    aggregates : sequence
        Each with the column that it takes.
    names : sequence of str
        Of the columns of emitted rows.
    changes : bool
        Whether rows of the input are retracted.
    per_record : bool
        Whether changes are emitted for each row; otherwise once for all rows of a micro-batch.
    repeats : bool
        Whether values that stay the same are emitted, too: where keys are forgotten, operators
        behind this one must see that theirs are still used.
    lifetime : Lifetime
        Of a key that no row comes for.
    """

    def __init__(
        self,
        aggregates: Sequence[tuple[Aggregate, Argument]],
        names: Sequence[str],
        changes: bool = False,
        per_record: bool = False,
        repeats: bool = False,
        lifetime: Lifetime = FOREVER,
    ) -> None:
        super().__init__(names, lifetime)
        self._aggregates = tuple(aggregates)
        self._changes = changes
        self._per_record = per_record
        self._repeats = repeats

    def _opened(self, handle: Any) -> Iterable[Store]:
        self._accumulators = Accumulators(handle, self._aggregates)
        self._in_order = self._per_record or self._changes or self._accumulators.in_order
        return self._accumulators.stores

    def handleInputRows(  # noqa: N802
        self, key: tuple[Any, ...], rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """Emit the changes that the rows of a key make."""
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

    def _apply(self, group: _Group, row: _Values) -> bool:
        """Add a row or retract it; False if there is nothing that it could be retracted from."""
        if not self._changes or adds(row):
            if group.accumulators is None:
                group.accumulators = self._accumulators.create()
            group.rows += 1
            self._accumulators.add(group.accumulators, row)
        elif group.accumulators is None:
            return False
        else:
            group.rows -= 1
            self._accumulators.take(group.accumulators, row)
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
        return self._accumulators.values(group.accumulators)

    def _read(self) -> _Group:
        found = self._state.get()
        if found is None:
            return _Group(0, None)
        rows, stored = found
        return _Group(rows, self._accumulators.restored(stored))

    def _write(self, group: _Group, known: bool) -> None:
        if group.rows > 0:
            assert group.accumulators is not None
            self._state.put((group.rows, self._accumulators.stored(group.accumulators)))
        elif known:
            self._state.clear()
        else:
            self._forget(group)
        self._flush()

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
    """What is known of a key: its number of rows, and its accumulators."""

    __slots__ = ("accumulators", "rows")

    def __init__(self, rows: int, accumulators: list[Any] | None) -> None:
        self.rows = rows
        self.accumulators = accumulators


def _getter(argument: Argument) -> Callable[[_Values], Any]:
    """Return a function that gets an aggregate's argument, or a tuple of them, from a row."""
    if argument is None:
        return lambda row: True
    if type(argument) is not tuple:
        return itemgetter(argument)
    if len(argument) > 1:
        return itemgetter(*argument)
    return itemgetter(slice(argument[0], argument[0] + 1)) if argument else lambda row: ()
