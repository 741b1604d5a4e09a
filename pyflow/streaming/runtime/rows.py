"""The rows that processors get and emit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

__all__ = ["in_sequence", "row_maker"]

_place = itemgetter(-1)


def in_sequence(rows: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return the rows of a key as tuples, sorted by their last column."""
    # Rows of PySpark look up a name or a position with code in Python, plain tuples do not.
    return sorted(map(tuple, rows), key=_place)


def row_maker(names: Sequence[str]) -> Callable[[tuple[Any, ...]], Any]:
    """Return a function that makes a PySpark row with these names from a tuple of values."""
    from pyspark.sql import Row

    known = list(names)

    def make(values: tuple[Any, ...]) -> Any:
        # As Row(*names)(*values), in a third of the time.
        row = tuple.__new__(Row, values)
        vars(row)["__fields__"] = known
        return row

    return make
