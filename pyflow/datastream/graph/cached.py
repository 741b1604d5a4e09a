"""Elements of a bounded stream that are kept."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pyflow.datastream.connectors.base import Boundedness, Source, SourceRows
from pyflow.datastream.graph.transformations import Output

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pyflow.session.context import Context

__all__ = ["CachedSource"]


class CachedSource(Source):
    """What a bounded stream has, computed when it is first read.

    Parameters
    ----------
    outputs : tuple of Output
        Where the elements come from.
    environment : StreamExecutionEnvironment
        Computes them.
    """

    def __init__(self, outputs: tuple[Output, ...], environment: Any) -> None:
        self._outputs = outputs
        self._environment = environment
        self._frame: DataFrame | None = None

    def boundedness(self) -> Boundedness:
        """Return whether the source ends."""
        return Boundedness.BOUNDED

    def read(self, context: Context, is_streaming: bool) -> SourceRows:
        """Return the rows."""
        from pyflow.session.streams import as_stream

        if self._frame is None:
            frame = self._environment._values_frame(self._outputs)
            self._frame = frame.persist()
        frame = as_stream(self._frame, context) if is_streaming else self._frame
        return SourceRows(frame, _element, None)

    def invalidate(self) -> None:
        """Forget the elements."""
        frame, self._frame = self._frame, None
        if frame is not None:
            frame.unpersist()


def _element(value: bytes) -> Iterable[tuple[Any, int | None]]:
    return (pickle.loads(value),)
