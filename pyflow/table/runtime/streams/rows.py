"""The rows that operators get and emit: columns, kind of change, place in the order of changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

__all__ = ["DELETE", "INSERT", "UPDATE_AFTER", "UPDATE_BEFORE", "Changes", "adds", "in_sequence"]

# Numbers of RowKind.
INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = 0, 1, 2, 3

_place = itemgetter(-1)


def in_sequence(rows: Iterable[Any]) -> list[tuple[Any, ...]]:
    """The rows of a key in the order of their changes; the last column has their place in it."""
    # Rows of PySpark look up a name or a place with code in Python, plain tuples do not.
    return sorted(map(tuple, rows), key=_place)


def adds(row: Any) -> bool:
    """Whether a change adds its row; otherwise it takes it back. Its kind is the last but one."""
    kind: int = row[-2]
    return kind in (INSERT, UPDATE_AFTER)


class Changes:
    """The changes that an operator emits for one key.

    Parameters
    ----------
    make : callable
        Makes a row of PySpark of a tuple of all columns' values.
    key : tuple
        Values that each row begins with.
    """

    def __init__(self, make: Callable[[tuple[Any, ...]], Any], key: tuple[Any, ...] = ()) -> None:
        self._make = make
        self._key = key
        self._last = -(1 << 63)
        self.rows: list[Any] = []

    def add(self, kind: int, values: Sequence[Any], near: int) -> None:
        """Emit a change, behind all that were emitted before.

        Parameters
        ----------
        kind : int
        values : sequence
            Of the columns behind the key.
        near : int
            The place of the row that caused the change.
        """
        self._last = place = near if near > self._last else self._last + 1
        self.rows.append(self._make((*self._key, *values, kind, place)))


def row_maker(names: Sequence[str]) -> Callable[[tuple[Any, ...]], Any]:
    """What makes rows of PySpark with these names of tuples of all columns' values."""
    from pyspark.sql import Row

    known = list(names)

    def make(values: tuple[Any, ...]) -> Any:
        # As Row(*names)(*values), in a third of the time.
        row = tuple.__new__(Row, values)
        vars(row)["__fields__"] = known
        return row

    return make
