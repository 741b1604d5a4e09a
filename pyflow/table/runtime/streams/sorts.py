"""All rows of a table in the order of a time attribute."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pyflow.streaming.runtime.processor import StreamOperator, first_millisecond
from pyflow.streaming.runtime.rows import in_sequence
from pyflow.streaming.runtime.waiting_rows import WaitingRows
from pyflow.table.runtime.streams.ranks import SortColumn, place_in

__all__ = ["SortedBatches", "SortedRows"]

_Values = tuple[Any, ...]


class SortedBatches(StreamOperator):
    """Emits the rows of each batch in an order: those of a processing time, which are of one time.

    Parameters
    ----------
    order : sequence of SortColumn
        Rows that are equal in it stand in the order of their arrival.
    values : tuple of int
        The first column that is emitted, and the one behind the last.
    names : sequence of str
        Of the columns of emitted rows.
    """

    def __init__(
        self, order: Sequence[SortColumn], values: tuple[int, int], names: Sequence[str]
    ) -> None:
        super().__init__(names)
        self._order = tuple(order)
        self._values = slice(*values)

    def handleInputRows(  # noqa: N802
        self, key: _Values, rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """Return the rows in their order."""
        ordered = sorted(in_sequence(rows), key=lambda row: place_in(self._order, row))
        return iter([self._make(row[self._values]) for row in ordered])


class SortedRows(WaitingRows):
    """Emits rows in the order of an event time, when the watermark has passed them.

    Parameters
    ----------
    order : sequence of SortColumn
        Of rows of the same time; those that are equal in it stand in the order of their arrival.
    values : tuple of int
        The first column that is emitted, and the one behind the last.
    moment : int
        The column with the time of a row, in microseconds, behind those of the order.
    names : sequence of str
        Of the columns of emitted rows.
    """

    def __init__(
        self,
        order: Sequence[SortColumn],
        values: tuple[int, int],
        moment: int,
        names: Sequence[str],
    ) -> None:
        super().__init__((0, moment), moment, names)
        self._order = tuple(order)
        self._values = slice(*values)

    def _group(self, moments: Sequence[int], first: int) -> tuple[int, int]:
        return first + 1, first_millisecond(moments[first])

    def _emitted(self, moments: Sequence[int], rows: Sequence[Sequence[_Values]]) -> list[Any]:
        # Sorting leaves rows that are equal as they came.
        ordered = sorted(rows[0], key=lambda row: place_in(self._order, row))
        return [self._make(row[self._values]) for row in ordered]
