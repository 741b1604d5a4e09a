"""Operators of tables that are known by a key: the changes of upserts, and upserts of changes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

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
from pyflow.table.runtime.streams.stores import ValueStore, identity_of

__all__ = ["LatestRow", "RowsOfKey"]

_Values = tuple[Any, ...]


class LatestRow:
    """Emits the changes of a table of which only the newest row of each key comes, or its deletion.

    A key's first row gives ``+I``, another one ``-U`` and ``+U``, its deletion ``-D`` with the row
    that was there. What changes nothing gives nothing; where keys are forgotten, the same row gives
    ``-U`` and ``+U``, so that operators behind this one see that the key is still used.

    Parameters
    ----------
    names : sequence of str
        Of the columns of emitted rows.
    time_to_live : float
        After how many seconds without a row a key is forgotten; 0 for never.
    """

    def __init__(self, names: Sequence[str], time_to_live: float) -> None:
        self._names = list(names)
        self._time_to_live = time_to_live

    def init(self, handle: Any) -> None:
        """Open the state of a task."""
        self._make = row_maker(self._names)
        self._state = ValueStore(handle, "row")

    def handleInputRows(  # noqa: N802
        self, key: tuple[Any, ...], rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """The changes that the rows of a key make."""
        changes = Changes(self._make, key)
        known = self._read()
        before = known
        for row in in_sequence(rows):
            after = row[len(key) : -2] if adds(row) else None
            self._emit(before, after, row[-1], changes)
            before = after
        if before is not None:
            expiry = time.time() + self._time_to_live if self._time_to_live else 0
            self._state.put((before, expiry))
        elif known is not None:
            self._state.clear()
        return iter(changes.rows)

    def close(self) -> None:
        """Nothing is left to be closed."""

    def handleInitialState(self, key: Any, row: Any, timer_values: Any) -> None:  # noqa: N802
        """There is none."""

    def _read(self) -> _Values | None:
        found = self._state.get()
        if found is None:
            return None
        values, expiry = found
        if expiry and time.time() >= expiry:
            self._state.clear()
            return None
        kept: _Values = values
        return kept

    def _emit(
        self, before: _Values | None, after: _Values | None, place: int, changes: Changes
    ) -> None:
        if before is None and after is not None:
            changes.add(INSERT, after, place)
        elif after is None and before is not None:
            changes.add(DELETE, before, place)
        elif before is not None and after is not None:
            if not self._time_to_live and identity_of(before) == identity_of(after):
                return
            changes.add(UPDATE_BEFORE, before, place)
            changes.add(UPDATE_AFTER, after, place)


class RowsOfKey:
    """Emits which row a key has, where changes of several rows meet under it: the one added last.

    When that row is taken back, the one that was added before it is the key's again; ``-D`` comes
    with the last one.

    Parameters
    ----------
    same : sequence of int or None
        The places, behind the key, of the values by which rows are told apart: of two that are
        equal there the later one replaces the earlier one. None for all values, of which each row
        is one more.
    names : sequence of str
        Of the columns of emitted rows.
    time_to_live : float
        After how many seconds without a change a key is forgotten; 0 for never.
    """

    def __init__(
        self, same: Sequence[int] | None, names: Sequence[str], time_to_live: float
    ) -> None:
        self._same = None if same is None else tuple(same)
        self._names = list(names)
        self._time_to_live = time_to_live

    def init(self, handle: Any) -> None:
        """Open the state of a task."""
        self._make = row_maker(self._names)
        self._state = ValueStore(handle, "rows")

    def handleInputRows(  # noqa: N802
        self, key: tuple[Any, ...], rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """The changes that the rows of a key make."""
        changes = Changes(self._make, key)
        kept, expiry = self._state.get() or ([], 0)
        if expiry and time.time() >= expiry:
            kept = []
        for row in in_sequence(rows):
            values = row[len(key) : -2]
            if adds(row):
                self._add(kept, values, row[-1], changes)
            else:
                self._take(kept, values, row[-1], changes)
        if kept:
            expiry = time.time() + self._time_to_live if self._time_to_live else 0
            self._state.put((kept, expiry))
        else:
            self._state.clear()
        return iter(changes.rows)

    def close(self) -> None:
        """Nothing is left to be closed."""

    def handleInitialState(self, key: Any, row: Any, timer_values: Any) -> None:  # noqa: N802
        """There is none."""

    def _add(self, kept: list[_Values], values: _Values, place: int, changes: Changes) -> None:
        changes.add(UPDATE_AFTER if kept else INSERT, values, place)
        found = None if self._same is None else self._find(kept, values)
        if found is None:
            kept.append(values)
        else:
            kept[found] = values

    def _take(self, kept: list[_Values], values: _Values, place: int, changes: Changes) -> None:
        found = self._find(kept, values)
        if found is None:
            return  # It was forgotten.
        was_last = found == len(kept) - 1
        del kept[found]
        if not kept:
            changes.add(DELETE, values, place)
        elif was_last:
            changes.add(UPDATE_AFTER, kept[-1], place)

    def _find(self, kept: list[_Values], values: _Values) -> int | None:
        wanted = self._identity(values)
        found = (place for place, row in enumerate(kept) if self._identity(row) == wanted)
        return next(found, None)

    def _identity(self, values: _Values) -> Any:
        if self._same is None:
            return identity_of(values)
        return tuple(identity_of(values[place]) for place in self._same)
