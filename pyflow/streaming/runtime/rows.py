"""The rows that processors get and emit."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

__all__ = ["PACKED", "in_sequence", "packing", "row_maker"]

#: The column of pickled rows.
PACKED = "pyflow_rows"

_PACKED_ROWS = 1000
_PROTOCOL = 5

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


def packing(schema: StructType) -> Callable[[Iterable[tuple[Any, ...]]], Iterator[Any]]:
    """Return a function that makes PySpark rows of one column, each of many pickled tuples.

    ``io.pyflow.execution.expressions.UnpickledRows`` makes rows of them.
    """
    make = row_maker([PACKED])
    to_internal = schema.toInternal

    def packed(rows: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        remaining = iter(rows)
        while part := list(map(to_internal, islice(remaining, _PACKED_ROWS))):
            yield make((pickle.dumps(part, _PROTOCOL),))

    return packed
