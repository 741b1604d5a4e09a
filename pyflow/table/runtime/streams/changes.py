"""The changes that operators get and emit: columns, kind, position in the order of changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["DELETE", "INSERT", "UPDATE_AFTER", "UPDATE_BEFORE", "Changes", "adds"]

# Numbers of RowKind.
INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = 0, 1, 2, 3


def adds(row: Any) -> bool:
    """Return whether a change adds its row, or retracts it; its kind is the column but last."""
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
            The position of the row that caused the change.
        """
        self._last = place = near if near > self._last else self._last + 1
        self.rows.append(self._make((*self._key, *values, kind, place)))
