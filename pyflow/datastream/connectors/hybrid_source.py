"""A source of several ones, each of which begins where the one before ends."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from pyflow.datastream.connectors.base import Boundedness, Source, SourceRows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pyflow.common.typeinfo import TypeInformation
    from pyflow.datastream.runtime.clock import Clock
    from pyflow.session.context import Context

__all__ = ["HybridSource", "HybridSourceBuilder"]

Decoder = Callable[..., Iterable[tuple[Any, int | None]]]


class HybridSource(Source):
    """What several sources have; all but the last of them end.

    Where the last one has no end, the first micro-batch has all elements of the others, and may
    have elements of the last one, too.

    Parameters
    ----------
    sources : sequence of Source
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = list(sources)
        self.ends = self._sources[-1].ends
        self.reads = "; ".join(f"{each.kind} {each.reads}" for each in self._sources)
        self.origin = "; ".join(filter(None, (each.origin for each in self._sources)))
        self.stop = self._sources[-1].stop
        self.side_outputs = tuple({tag for each in self._sources for tag in each.side_outputs})

    @property
    def kind(self) -> str:
        """The kinds of its sources, in their order."""
        return f"HybridSource of {', '.join(each.kind for each in self._sources)}"

    @property
    def clock(self) -> Clock | None:  # type: ignore[override]
        """The processing time of the last source."""
        return self._sources[-1].clock

    @staticmethod
    def builder(first_source: Source) -> HybridSourceBuilder:
        """Begin such a source with its first one."""
        return HybridSourceBuilder(first_source)

    def stops_at(self, context: Context) -> str:
        """Return where the last source ends."""
        return self._sources[-1].stops_at(context)

    def stopping_at(self, position: str) -> HybridSource:
        """Return the same sources, of which the last ends at a position."""
        return HybridSource([*self._sources[:-1], self._sources[-1].stopping_at(position)])

    def boundedness(self) -> Boundedness:
        """Return whether the last source ends."""
        return self._sources[-1].boundedness()

    def read(self, context: Context, is_streaming: bool) -> SourceRows:
        """Return the rows of all sources, each in a column of its own."""
        read = [each.read(context, is_streaming) for each in self._sources]
        frames = [_placed(place, read) for place in range(len(read))]
        frame = functools.reduce(lambda one, other: one.union(other), frames)
        if not is_streaming and context.parallelism() == 1:
            frame = frame.coalesce(1)
        decoder = _OfSource([each.decoder for each in read])
        return SourceRows(frame, decoder, read[0].type_info)

    def produced_type(self) -> TypeInformation | None:
        """Return the type of the elements."""
        return self._sources[0].produced_type()


def _placed(place: int, rows: Sequence[SourceRows]) -> DataFrame:
    """Return the rows of a source in its column, between nulls for those of others."""
    frame = rows[place].frame
    columns = []
    for number, each in enumerate(rows):
        if number == place:
            column = F.struct(*(F.col(f"`{name}`") for name in frame.columns))
        else:
            column = F.lit(None).cast(each.frame.select(F.struct("*")).schema[0].dataType)
        columns.append(column.alias(f"source{number}"))
    return frame.select(F.lit(place).alias("source"), *columns)


class _OfSource:
    """Makes elements of a row by the decoder of its source."""

    def __init__(self, decoders: Sequence[Decoder]) -> None:
        self._decoders = list(decoders)

    def __call__(self, source: int, *rows: Any) -> Iterable[tuple[Any, int | None]]:
        return self._decoders[source](*rows[source])


class HybridSourceBuilder:
    """Makes a `HybridSource`.

    Parameters
    ----------
    first_source : Source
    """

    def __init__(self, first_source: Source) -> None:
        self._sources = [first_source]

    def add_source(self, source: Source) -> HybridSourceBuilder:
        """Add what is read when the sources before have ended.

        Raises
        ------
        ValueError
            If the source before has no end.
        """
        if self._sources[-1].boundedness() != Boundedness.BOUNDED:
            raise ValueError("All sources except the final source need to be bounded.")
        self._sources.append(source)
        return self

    def build(self) -> HybridSource:
        """Return the source."""
        return HybridSource(self._sources)
