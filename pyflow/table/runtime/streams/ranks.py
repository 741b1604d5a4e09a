"""The first rows of each key in an order: Top-N, deduplication, LIMIT."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from pyflow.streaming.runtime.keyed_state import MapStore, Store, identity_of
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

__all__ = ["FirstRows", "SortColumn", "place_in"]


class SortColumn(NamedTuple):
    """A column that rows are ordered by.

    Attributes
    ----------
    place : int
        In a row of the operator's input.
    ascending, nulls_first : bool
    """

    place: int
    ascending: bool
    nulls_first: bool


class FirstRows(ExpiringOperator):
    """Emits the changes of the first rows of each key.

    Parameters
    ----------
    order : sequence of SortColumn
    start, end : int
        The first and the last row number that is emitted, from 1.
    values : tuple of int
        The first column that is emitted, and the one behind the last.
    width : int
        How many columns a row has, without kind and SEQUENCE.
    numbered : bool
        Whether the row number is emitted, as the last column.
    replaces : bool
        Whether another row with a row number is an update, as it always is if row numbers are
        emitted or do not begin with 1; otherwise the row that leaves is deleted and the one that
        comes is inserted.
    names : sequence of str
        Of the columns of emitted rows.
    changes : bool
        Whether rows of the input are retracted. All rows have to be kept then, otherwise those up
        to the last row number.
    latest : bool
        Whether the one that came last is the first of rows that are equal in the order.
    lifetime : Lifetime
        Of a key that no row comes for.
    """

    def __init__(
        self,
        order: Sequence[SortColumn],
        start: int,
        end: int,
        values: tuple[int, int],
        width: int,
        numbered: bool,
        replaces: bool,
        names: Sequence[str],
        changes: bool,
        latest: bool,
        lifetime: Lifetime,
    ) -> None:
        super().__init__(names, lifetime)
        self._order = tuple(order)
        self._range = (start, end)
        self._values = values
        self._width = width
        self._numbered = numbered
        self._replaces = replaces or numbered or start > 1
        self._changes = changes
        self._latest = latest

    def _opened(self, handle: Any) -> Iterable[Store]:
        self._rows = MapStore(handle, "rows", "BIGINT")
        return (self._rows,)

    def handleInputRows(  # noqa: N802
        self, key: tuple[Any, ...], rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """Return the changes that the rows of a key make."""
        changes = Changes(self._make)
        ranked, number = self._read()
        shown = self._shown(ranked)
        for row in in_sequence(rows):
            values = row[: self._width]
            if not self._changes or adds(row):
                number = self._add(ranked, number, values)
            else:
                self._take(ranked, values)
            now = self._shown(ranked)
            if now != shown:
                self._emit(shown, now, row[-1], changes)
                shown = now
        if ranked:
            self._state.put(number)
        else:
            self._state.clear()
        self._flush()
        return iter(changes.rows)

    def _read(self) -> tuple[list[_Ranked], int]:
        """Return the rows that are kept, in their order, and the number of the next."""
        number = self._state.get()
        if number is None:
            return [], 0
        kept = [self._ranked(values, place) for place, values in self._rows.items()]
        kept.sort(key=_by_order)
        return kept, number

    def _add(self, ranked: list[_Ranked], number: int, values: tuple[Any, ...]) -> int:
        last = self._range[1]
        row = self._ranked(values, number)
        if not self._changes and len(ranked) >= last:
            if not row.order < ranked[-1].order:
                return number
            self._rows.remove(ranked.pop().number)
        insort(ranked, row, key=_by_order)
        self._rows.put(number, values)
        return number + 1

    def _take(self, ranked: list[_Ranked], values: tuple[Any, ...]) -> None:
        wanted = identity_of(values)
        for place, row in enumerate(ranked):
            if identity_of(row.values) == wanted:
                del ranked[place]
                self._rows.remove(row.number)
                return

    def _ranked(self, values: tuple[Any, ...], number: int) -> _Ranked:
        order = place_in(self._order, values)
        return _Ranked((*order, -number if self._latest else number), number, values)

    def _shown(self, ranked: list[_Ranked]) -> list[_Ranked]:
        start, end = self._range
        return ranked[start - 1 : end]

    def _emit(
        self, before: list[_Ranked], after: list[_Ranked], near: int, changes: Changes
    ) -> None:
        if self._replaces:
            self._emit_places(before, after, near, changes)
            return
        old, new = {row.number for row in before}, {row.number for row in after}
        for row in before:
            if row.number not in new:
                changes.add(DELETE, self._emitted(row), near)
        for row in after:
            if row.number not in old:
                changes.add(INSERT, self._emitted(row), near)

    def _emit_places(
        self, before: list[_Ranked], after: list[_Ranked], near: int, changes: Changes
    ) -> None:
        for place in range(max(len(before), len(after))):
            rank = (self._range[0] + place,) if self._numbered else ()
            old = before[place] if place < len(before) else None
            new = after[place] if place < len(after) else None
            if old is None and new is not None:
                changes.add(INSERT, (*self._emitted(new), *rank), near)
            elif new is None and old is not None:
                changes.add(DELETE, (*self._emitted(old), *rank), near)
            elif old is not None and new is not None and old.number != new.number:
                changes.add(UPDATE_BEFORE, (*self._emitted(old), *rank), near)
                changes.add(UPDATE_AFTER, (*self._emitted(new), *rank), near)

    def _emitted(self, row: _Ranked) -> tuple[Any, ...]:
        first, end = self._values
        return row.values[first:end]


class _Ranked(NamedTuple):
    order: tuple[Any, ...]
    number: int
    values: tuple[Any, ...]


_by_order = itemgetter(0)


def place_in(order: Sequence[SortColumn], row: Sequence[Any]) -> tuple[Any, ...]:
    """Return a sort key of a row, which compares as Spark orders rows."""
    return tuple(_sortable(row[place], ascending, first) for place, ascending, first in order)


def _sortable(value: Any, ascending: bool, nulls_first: bool) -> tuple[Any, ...]:
    if value is None:
        return (-1 if nulls_first else 1,)
    comparable = (value != value, value) if isinstance(value, float) else value
    return (0, comparable if ascending else _Descending(comparable))


class _Descending:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Descending) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Descending) and bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash(self.value)
