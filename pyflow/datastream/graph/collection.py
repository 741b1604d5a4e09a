"""The source that a collection of the program is."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from pyflow.datastream.connectors.base import Boundedness, Source, SourceRows
from pyflow.datastream.runtime.pickling import dumps_of_program

if TYPE_CHECKING:
    from pyflow.common.typeinfo import TypeInformation
    from pyflow.session.context import Context

__all__ = ["CollectionSource"]

# About how many bytes of elements a row has.
_ROW = 64 * 1024


class CollectionSource(Source):
    """The elements of a collection, in their order.

    Parameters
    ----------
    elements : sequence
    type_info : TypeInformation or None
        Their type; None for objects of any kind.
    """

    def __init__(self, elements: Sequence[Any], type_info: TypeInformation | None) -> None:
        self.elements = elements
        self._type_info = type_info

    def digest(self) -> str:
        """Return a digest of the elements."""
        return hashlib.sha256(dumps_of_program(list(self.elements))).hexdigest()

    def boundedness(self) -> Boundedness:
        """Return whether the source ends."""
        return Boundedness.BOUNDED

    def read(self, context: Context, is_streaming: bool) -> SourceRows:
        """Return rows of many pickled elements each, as one partition for each subtask."""
        from pyflow.session.streams import as_stream

        parallelism = max(context.parallelism(), 1)
        size = -(-len(self.elements) // parallelism) or 1
        rows = []
        for first in range(0, len(self.elements), size):
            part = list(self.elements[first : first + size])
            subtask = first // size
            step = _step(part)
            rows += [
                (subtask, bytearray(dumps_of_program(part[place : place + step])))
                for place in range(0, len(part), step)
            ]
        session = context.session
        frame = session.createDataFrame(rows, "subtask INT, elements BINARY")
        if is_streaming:
            frame = as_stream(frame.coalesce(1), context)
        elif parallelism > 1:
            frame = frame.repartitionById(parallelism, "subtask").sortWithinPartitions("subtask")
        else:
            frame = frame.coalesce(1)
        return SourceRows(frame.select("elements"), _elements, self._type_info)


def _step(part: Sequence[Any]) -> int:
    """Return how many elements a row has."""
    sample = part[:: max(len(part) // 16, 1)][:16]
    size = sum(len(dumps_of_program(each)) for each in sample) / len(sample)
    return max(int(_ROW / max(size, 1)), 1)


def _elements(pickled: bytes) -> Iterable[tuple[Any, int | None]]:
    return zip(pickle.loads(pickled), repeat(None))
