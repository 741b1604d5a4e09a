"""Operators of tables that are known by a key: the changes of upserts, and upserts of changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pyflow.streaming.runtime.keyed_state import identity_of
from pyflow.streaming.runtime.processor import ExpiringOperator
from pyflow.streaming.runtime.rows import in_sequence
from pyflow.streaming.runtime.state_ttl import Lifetime
from pyflow.table.runtime.streams.changes import (
    DELETE,
    INSERT,
    UPDATE_AFTER,
    UPDATE_BEFORE,
    Changes,
    adds,
)

__all__ = ["Conflict", "FirstRowOfKey", "LatestRow", "RowsOfKey"]

_Values = tuple[Any, ...]


class LatestRow(ExpiringOperator):
    """Emits the changes of a table of which only the newest row of each key comes, or its deletion.

    A key's first row gives ``+I``, another one ``-U`` and ``+U``, its deletion ``-D`` with the row
    that was there. What changes nothing gives nothing; where keys are forgotten, the same row gives
    ``-U`` and ``+U``, so that operators behind this one see that the key is still used.

    Parameters
    ----------
    names : sequence of str
        Of the columns of emitted rows.
    lifetime : Lifetime
        Of a key that no row comes for.
    """

    def handleInputRows(  # noqa: N802
        self, key: tuple[Any, ...], rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """Return the changes that the rows of a key make."""
        changes = Changes(self._make, key)
        before = self._state.get()
        for row in in_sequence(rows):
            after = row[len(key) : -2] if adds(row) else None
            self._emit(before, after, row[-1], changes)
            before = after
        if before is not None:
            self._state.put(before)
        else:
            self._state.clear()
        return iter(changes.rows)

    def _emit(
        self, before: _Values | None, after: _Values | None, place: int, changes: Changes
    ) -> None:
        if before is None and after is not None:
            changes.add(INSERT, after, place)
        elif after is None and before is not None:
            changes.add(DELETE, before, place)
        elif before is not None and after is not None:
            if not self.lifetime.seconds and identity_of(before) == identity_of(after):
                return
            changes.add(UPDATE_BEFORE, before, place)
            changes.add(UPDATE_AFTER, after, place)


@dataclass(frozen=True)
class Conflict:
    """What becomes of rows that meet under the key of a table: words of ``ON CONFLICT DO``.

    Parameters
    ----------
    strategy : str
        ``LAST``, ``FIRST`` or ``ERROR``.
    table : str
        Its name, for the error.
    """

    LAST: ClassVar[str] = "DEDUPLICATE"
    FIRST: ClassVar[str] = "NOTHING"
    ERROR: ClassVar[str] = "ERROR"

    strategy: str
    table: str

    @property
    def message(self) -> tuple[str, str]:
        """The error's text, before and after the key's names and values."""
        after = f"] of table {self.table}. ON CONFLICT DO NOTHING keeps the first of them."
        return "Several rows of the query have the key [", after


class RowsOfKey(ExpiringOperator):
    """Emits which row a key has, where changes of several rows meet under it: the one added last.

    When that row is retracted, the one that was added before it is the key's again; ``-D`` comes
    with the last one.

    Parameters
    ----------
    same : sequence of int or None
        The positions, after the key, of the values that identify rows: of two rows with the same
        values the later one replaces the earlier one. None for all values; equal rows are then kept
        several times.
    names : sequence of str
        Of the columns of emitted rows.
    lifetime : Lifetime
        Of a key that no change comes for.
    """

    def __init__(
        self, same: Sequence[int] | None, names: Sequence[str], lifetime: Lifetime
    ) -> None:
        super().__init__(names, lifetime)
        self._same = None if same is None else tuple(same)

    def handleInputRows(  # noqa: N802
        self, key: tuple[Any, ...], rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """Return the changes that the rows of a key make."""
        changes = Changes(self._make, key)
        kept = self._state.get() or []
        for row in in_sequence(rows):
            values = row[len(key) : -2]
            if adds(row):
                self._add(kept, values, row[-1], changes)
            else:
                self._take(kept, values, row[-1], changes)
        if kept:
            self._state.put(kept)
        else:
            self._state.clear()
        return iter(changes.rows)

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


class FirstRowOfKey(RowsOfKey):
    """As :class:`RowsOfKey`, where the row that a key has stays, and others are left out.

    Rows that meet under a key only within a batch, because one is retracted there, do not count.

    Parameters
    ----------
    same, names, lifetime
        As there.
    key : sequence of str
        The names of the table's key.
    conflict : Conflict
        Whether a second row under a key is an error.
    """

    def __init__(
        self,
        same: Sequence[int] | None,
        names: Sequence[str],
        lifetime: Lifetime,
        key: Sequence[str],
        conflict: Conflict,
    ) -> None:
        super().__init__(same, names, lifetime)
        self._key = tuple(key)
        self._conflict = conflict

    def handleInputRows(  # noqa: N802
        self, key: tuple[Any, ...], rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """Return the changes that the rows of a key make."""
        changes = Changes(self._make, key)
        kept = self._state.get() or []
        before = kept[0] if kept else None
        place = 0
        for row in in_sequence(rows):
            place, values = row[-1], row[len(key) : -2]
            found = self._find(kept, values)
            if not adds(row):
                if found is not None:
                    del kept[found]
            elif found is not None and self._same is not None:
                kept[found] = values
            elif self._is_update(before, values):
                kept.insert(0, values)
            else:
                kept.append(values)
        if len(kept) > 1 and self._conflict.strategy == Conflict.ERROR:
            named = ", ".join(f"{name}={value}" for name, value in zip(self._key, key))
            raise ValueError(named.join(self._conflict.message))
        self._emit(before, kept[0] if kept else None, place, changes)
        return iter(changes.rows)

    def _is_update(self, before: _Values | None, values: _Values) -> bool:
        """Return whether this is the row that the key had, with other values: it stays the row."""
        return (
            self._same is not None
            and before is not None
            and self._identity(before) == self._identity(values)
        )

    def _emit(
        self, before: _Values | None, after: _Values | None, place: int, changes: Changes
    ) -> None:
        if after is None:
            self._state.clear()
            if before is not None:
                changes.add(DELETE, before, place)
            return
        self._state.put([after])
        if before is None or identity_of(before) != identity_of(after):
            changes.add(INSERT if before is None else UPDATE_AFTER, after, place)
