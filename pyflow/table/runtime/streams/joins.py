"""Operators of two inputs: joins, intersections and differences.

The rows of both come as one input, the first column behind the key telling the side: True for the
left one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from pyflow.streaming.runtime.keyed_state import MapStore, ValueStore
from pyflow.streaming.runtime.processor import ExpiringOperator, StreamOperator
from pyflow.streaming.runtime.rows import in_sequence
from pyflow.streaming.runtime.state_ttl import Lifetime, is_over, timer_at
from pyflow.table.runtime.streams.changes import DELETE, INSERT, Changes, adds

__all__ = ["Comparison", "Join", "JoinKind", "SetOperation", "Side", "holds", "tests_of"]

JoinKind = Literal["inner", "left", "right", "full", "semi", "anti"]


class Comparison(NamedTuple):
    """A condition on pairs: an operator between a value of the left row and one of the right.

    Attributes
    ----------
    operator : str
        ``==``, ``!=``, ``<``, ``<=``, ``>`` or ``>=``.
    left, right : int
        Positions in the rows of the sides.
    """

    operator: str
    left: int
    right: int


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


_Test = tuple[Callable[[Any, Any], Any], int, int]


def tests_of(conditions: Iterable[Comparison]) -> list[_Test]:
    """Conditions as what :func:`holds` takes."""
    return [(_OPERATORS[name], one, two) for name, one, two in conditions]


def holds(tests: Iterable[_Test], left: Sequence[Any], right: Sequence[Any]) -> bool:
    """Return whether all conditions are true of a pair."""
    for test, one, two in tests:
        if left[one] is None or right[two] is None or not test(left[one], right[two]):
            return False
    return True


class Side(NamedTuple):
    """What is known of one input of a join.

    Attributes
    ----------
    first, end : int
        The positions of its columns in a row of the operator's input.
    width : int
        How many of these columns, from the first on, are emitted; the others are what conditions
        need.
    schema : str
        Of all of these columns, a struct of Spark.
    """

    first: int
    end: int
    width: int
    schema: str


class Join(StreamOperator):
    """Emits the changes of a join's rows as those of its inputs come.

    Rows of each side are kept with how often they are there and, where it has to be known whether
    they have partners, with the number of these. Rows whose key has a null have none.

    Parameters
    ----------
    kind : str
    left, right : Side
    conditions : sequence of Comparison
        Which hold for partners, beside the equality of the key.
    names : sequence of str
        Of the columns of emitted rows.
    keys : int
        How many columns the key has, at the beginning of each row.
    lifetime : Lifetime
        Of a row that is not used.
    """

    def __init__(
        self,
        kind: JoinKind,
        left: Side,
        right: Side,
        conditions: Sequence[Comparison],
        names: Sequence[str],
        keys: int,
        lifetime: Lifetime,
    ) -> None:
        super().__init__(names, lifetime)
        self._kind = kind
        self._sides = (left, right)
        self._conditions = tuple(conditions)
        self._keys = keys

    def init(self, handle: Any) -> None:
        """Open the state of a task."""
        super().init(handle)
        left, right = self._sides
        self._tests = tests_of(self._conditions)
        self._left = _Rows(handle, "left", left, self.lifetime)
        self._right = _Rows(handle, "right", right, self.lifetime)
        if self.lifetime.sweeps:
            self._timer = ValueStore(handle, "timer")

    def handleInputRows(  # noqa: N802
        self, key: tuple[Any, ...], rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """Return the changes that the rows of a key make."""
        changes = Changes(self._make)
        has_partners = None not in key
        filters = self._kind in ("semi", "anti")
        for row in in_sequence(rows):
            is_left = row[self._keys]
            side = self._sides[not is_left]
            change = _Change(row[side.first : side.end], row[-2], adds(row), row[-1])
            partners = self._partners(change.values, is_left) if has_partners else []
            if not filters:
                self._pair(change, is_left, partners, changes)
            elif is_left:
                self._filter(change, partners, changes)
            else:
                self._turn(change, partners, changes)
        if self.lifetime.sweeps and self._timer.get() is None:
            self._set_timer()
        self._left.flush()
        self._right.flush()
        return iter(changes.rows)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: tuple[Any, ...],
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Any]:
        """Forget rows that have not been used; others are looked at again as much later."""
        if self._timer.get() == expiredTimerInfo.getExpiryTimeInMs():
            if self._left.has_any() | self._right.has_any():
                self._set_timer()
            else:
                self._timer.clear()
            self._left.flush()
            self._right.flush()
        return iter(())

    def _set_timer(self) -> None:
        timer = timer_at(self.lifetime.expiry())
        self._handle.registerTimer(timer)
        self._timer.put(timer)

    def _partners(self, values: _Values, is_left: bool) -> list[tuple[_Values, _Kept]]:
        """Return the different rows of the other side that belong to a row."""
        other = self._right if is_left else self._left
        return [
            (partner, kept)
            for partner, kept in other.all()
            if holds(self._tests, *((values, partner) if is_left else (partner, values)))
        ]

    def _pair(
        self,
        change: _Change,
        is_left: bool,
        partners: list[tuple[_Values, _Kept]],
        changes: Changes,
    ) -> None:
        """Emit what a row changes in an inner or outer join."""
        own, other = (self._left, self._right) if is_left else (self._right, self._left)
        own_outer = self._kind in ("full", "left" if is_left else "right")
        other_outer = self._kind in ("full", "right" if is_left else "left")
        kind = change.kind
        if own_outer or (other_outer and change.adds and partners):
            kind = INSERT if change.adds else DELETE
        if own_outer and not partners:
            self._emit(changes, kind, change.values, None, is_left, change.place)
        if other_outer and change.adds:
            self._emit_turned(changes, DELETE, partners, 0, is_left, change.place)
        for values, kept in partners:
            for _ in range(kept.copies):
                self._emit(changes, kind, change.values, values, is_left, change.place)
        if other_outer and not change.adds:
            self._emit_turned(changes, INSERT, partners, 1, is_left, change.place)
        if other_outer:
            other.count_partners(partners, change.adds)
        own.change(change, sum(kept.copies for _, kept in partners))

    def _emit_turned(
        self,
        changes: Changes,
        kind: int,
        partners: list[tuple[_Values, _Kept]],
        number: int,
        is_left: bool,
        place: int,
    ) -> None:
        """Emit the rows of the other side, padded, that had this number of partners before."""
        for values, kept in partners:
            if kept.partners == number:
                for _ in range(kept.copies):
                    self._emit(changes, kind, None, values, is_left, place)

    def _emit(
        self,
        changes: Changes,
        kind: int,
        own: _Values | None,
        other: _Values | None,
        is_left: bool,
        place: int,
    ) -> None:
        left, right = (own, other) if is_left else (other, own)
        values = (*self._left.emitted(left), *self._right.emitted(right))
        changes.add(kind, values, place)

    def _filter(
        self, change: _Change, partners: list[tuple[_Values, _Kept]], changes: Changes
    ) -> None:
        """Emit a row of the left side if it has a partner, or if it has none."""
        if bool(partners) == (self._kind == "semi"):
            changes.add(change.kind, self._left.emitted(change.values), change.place)
        self._left.change(change, sum(kept.copies for _, kept in partners))

    def _turn(
        self, change: _Change, partners: list[tuple[_Values, _Kept]], changes: Changes
    ) -> None:
        """Emit the rows of the left side that a row of the right gives, or takes, its partner."""
        opposite = DELETE if change.adds else INSERT
        kind = change.kind if self._kind == "semi" else opposite
        for values, kept in partners:
            if kept.partners == (0 if change.adds else 1):
                for _ in range(kept.copies):
                    changes.add(kind, self._left.emitted(values), change.place)
        self._left.count_partners(partners, change.adds)
        self._right.change(change, 0)


_Values = tuple[Any, ...]


class _Change(NamedTuple):
    """A row of one side, as it comes."""

    values: _Values
    kind: int
    adds: bool
    place: int


class _Kept(NamedTuple):
    """How many copies of a row are there, how many partners it has, and when it is forgotten."""

    copies: int
    partners: int
    expiry: float


class _Rows:
    """The different rows of a side under the current key."""

    def __init__(self, handle: Any, name: str, side: Side, lifetime: Lifetime) -> None:
        self._store = MapStore(handle, name, side.schema)
        self._width = side.width
        self.lifetime = lifetime
        self._nothing = (None,) * side.width

    def all(self) -> list[tuple[_Values, _Kept]]:
        """Return the rows with what is known of them."""
        found = []
        for values, about in list(self._store.items()):
            kept = _Kept(*about)
            if is_over(kept.expiry):
                self._store.remove(values)
            elif kept.copies > 0:
                found.append((tuple(values), kept))
        return found

    def has_any(self) -> bool:
        """Return whether rows are left that have not expired; the others are removed."""
        self.all()
        return any(True for _ in self._store.items())

    def change(self, change: _Change, partners: int) -> None:
        """Add a row with its number of partners, or retract it."""
        kept = self._get(change.values)
        if change.adds:
            self._put(change.values, (kept.copies if kept else 0) + 1, partners)
        elif kept is not None:
            if kept.copies > 1:
                self._put(change.values, kept.copies - 1, kept.partners)
            else:
                self._store.remove(change.values)

    def count_partners(self, rows: list[tuple[_Values, _Kept]], more: bool) -> None:
        """Note that rows have one partner more, or one less."""
        for values, kept in rows:
            self._put(values, kept.copies, kept.partners + (1 if more else -1))

    def emitted(self, values: _Values | None) -> _Values:
        """Return the columns of a row to emit; nulls if there is no row."""
        return self._nothing if values is None else values[: self._width]

    def flush(self) -> None:
        """Write what has changed, and forget the key."""
        self._store.flush()

    def _get(self, values: _Values) -> _Kept | None:
        about = self._store.get(values)
        if about is None:
            return None
        kept = _Kept(*about)
        return None if is_over(kept.expiry) else kept

    def _put(self, values: _Values, count: int, partners: int) -> None:
        self._store.put(values, (count, partners, self.lifetime.expiry()))


class SetOperation(ExpiringOperator):
    """Emits the changes of an intersection or a difference, keyed by whole rows.

    Parameters
    ----------
    operation : str
        ``intersect`` or ``minus``.
    every : bool
        Whether equal rows count, or a row is there once.
    names : sequence of str
        Of the columns of emitted rows.
    lifetime : Lifetime
        Of a row that no change comes for.
    """

    def __init__(
        self,
        operation: Literal["intersect", "minus"],
        every: bool,
        names: Sequence[str],
        lifetime: Lifetime,
    ) -> None:
        super().__init__(names, lifetime)
        self._operation = operation
        self._every = every

    def handleInputRows(  # noqa: N802
        self, key: tuple[Any, ...], rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """Return the changes that the rows of a key make."""
        changes = Changes(self._make, key)
        left, right = self._state.get() or (0, 0)
        copies = self._copies(left, right)
        for row in in_sequence(rows):
            by = 1 if adds(row) else -1
            if row[len(key)]:
                left += by
            else:
                right += by
            now = self._copies(left, right)
            for _ in range(abs(now - copies)):
                changes.add(INSERT if now > copies else DELETE, (), row[-1])
            copies = now
        if left or right:
            self._state.put((left, right))
        else:
            self._state.clear()
        return iter(changes.rows)

    def _copies(self, left: int, right: int) -> int:
        """Return how often the row is in the result."""
        left, right = max(left, 0), max(right, 0)
        if self._operation == "intersect":
            return min(left, right) if self._every else min(left, right, 1)
        if self._every:
            return max(left - right, 0)
        return int(left > 0 and right == 0)
