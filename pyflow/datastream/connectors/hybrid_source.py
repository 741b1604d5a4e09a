"""Several sources as one, each after the other."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflow.datastream.connectors.base import Boundedness, Source, SourceRows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.common.typeinfo import TypeInformation
    from pyflow.session.context import Context

__all__ = ["HybridSource", "HybridSourceBuilder"]

_NUMBER = "source"

Decoder = Callable[..., Iterable[tuple[Any, "int | None"]]]


class HybridSource(Source):
    """Reads bounded sources, and after them one that may be unbounded; made by `builder`.

    In a stream the bounded sources are read with the first micro-batch, before what it has of the
    last source.

    Parameters
    ----------
    sources : sequence of Source
        In their order.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = list(sources)
        self.ends = self._sources[-1].ends

    @staticmethod
    def builder(first_source: Source) -> HybridSourceBuilder:
        """Return a builder, with the source that is read first."""
        return HybridSourceBuilder(first_source)

    def boundedness(self) -> Boundedness:
        """Return whether the last source ends."""
        return self._sources[-1].boundedness()

    def produced_type(self) -> TypeInformation | None:
        """Return the type of the elements, that of the first source."""
        return self._sources[0].produced_type()

    def read(self, context: Context, is_streaming: bool) -> SourceRows:
        """Return the rows of all sources, with the number of their source."""
        from pyspark.sql import functions as F

        found = [source.read(context, is_streaming) for source in self._sources]
        frames = []
        for number, rows in enumerate(found):
            columns: list[Column] = [F.lit(number).alias(_NUMBER)]
            for place, each in enumerate(found):
                values = F.struct(*map(_column, each.frame.columns))
                if place != number:
                    values = F.lit(None).cast(each.frame.schema)
                columns.append(values.alias(f"{_NUMBER}{place}"))
            frames.append(rows.frame.select(*columns))
        frame = functools.reduce(_union, frames)
        return SourceRows(frame, _Decoder([each.decoder for each in found]), found[0].type_info)


def _column(name: str) -> Column:
    from pyspark.sql import functions as F

    return F.col(f"`{name}`")


def _union(one: DataFrame, other: DataFrame) -> DataFrame:
    return one.union(other)


@dataclass(frozen=True)
class _Decoder:
    """Makes the elements of a row by the decoder of its source."""

    decoders: Sequence[Decoder]

    def __call__(self, number: int, *values: Any) -> Iterable[tuple[Any, int | None]]:
        return self.decoders[number](*values[number])


class HybridSourceBuilder:
    """Builds a `HybridSource`.

    Parameters
    ----------
    first_source : Source
    """

    def __init__(self, first_source: Source) -> None:
        self._sources = [first_source]

    def add_source(self, source: Source) -> HybridSourceBuilder:
        """Add the source that is read after those before.

        Raises
        ------
        ValueError
            If the source before is unbounded.
        """
        if self._sources[-1].boundedness() != Boundedness.BOUNDED:
            raise ValueError("All sources except the final source need to be bounded.")
        self._sources.append(source)
        return self

    def build(self) -> HybridSource:
        """Return the source."""
        return HybridSource(self._sources)
