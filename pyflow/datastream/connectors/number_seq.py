"""A source of a sequence of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyflow.datastream.connectors.base import Boundedness, Source, SourceRows
from pyflow.datastream.connectors.number_ranges import Numbers, ranges

if TYPE_CHECKING:
    from pyflow.common.typeinfo import TypeInformation
    from pyflow.session.context import Context

__all__ = ["NumberSequenceSource"]


class NumberSequenceSource(Source):
    """The whole numbers from one to another.

    Each subtask has a part of the sequence, in order.

    Parameters
    ----------
    start, end : int
        The first and the last number, of 64 bits.

    Raises
    ------
    ValueError
        If the first is greater than the last, or one of them has more than 64 bits.
    """

    def __init__(self, start: int, end: int) -> None:
        if start > end:
            raise ValueError("'from' must be <= 'to'")
        if start < -(1 << 63) or end >= 1 << 63:
            raise ValueError(f"{start} or {end} has more than 64 bits")
        self._start = start
        self._end = end

    def boundedness(self) -> Boundedness:
        """Return that it ends."""
        return Boundedness.BOUNDED

    def read(self, context: Context, is_streaming: bool) -> SourceRows:
        """Return rows of many numbers each."""
        count = self._end - self._start + 1
        frame, size = ranges(count, context, is_streaming)
        return SourceRows(frame, Numbers(self._start, count, size), self.produced_type())

    def produced_type(self) -> TypeInformation:
        """Return the type of whole numbers of 64 bits."""
        from pyflow.common.typeinfo import Types

        return Types.LONG()
