"""A source of elements that a function makes of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from pyflow.datastream.connectors.base import Boundedness, Source, SourceRows
from pyflow.datastream.connectors.number_ranges import Number, Numbers, ranges

if TYPE_CHECKING:
    from pyflow.common.typeinfo import TypeInformation
    from pyflow.session.context import Context

__all__ = ["DataGeneratorSource"]

_ROWS_OF_BATCH = 10_000


class DataGeneratorSource(Source):
    """What a function makes of 0, 1, 2 and so on, as Flink's source of the same name in Java.

    PyFlow's own; PyFlink does not have it.

    Parameters
    ----------
    generator_function : callable or MapFunction
        Makes an element of its number.
    count : int, optional
        How many elements there are; without it there is no end.
    rate : float, optional
        How many elements come in a second, where there is no end; as many as can be processed, if
        none is given. More than one are rounded to a whole number. Elements that end come at once.
    type_info : TypeInformation, optional
        Of the elements; any objects, if none is given.

    Raises
    ------
    ValueError
        If the number of elements is negative, or the rate is not positive.
    TypeError
        If the function cannot be called.
    """

    def __init__(
        self,
        generator_function: Any,
        count: int | None = None,
        rate: float | None = None,
        type_info: TypeInformation | None = None,
    ) -> None:
        if count is not None and count < 0:
            raise ValueError(f"count must not be negative, but is {count}")
        if rate is not None and rate <= 0:
            raise ValueError(f"rate must be positive, but is {rate}")
        self._function = _callable(generator_function)
        self._count = count
        self._rate = rate
        self._type_info = type_info

    def boundedness(self) -> Boundedness:
        """Return whether there is a number of elements."""
        return Boundedness.CONTINUOUS_UNBOUNDED if self._count is None else Boundedness.BOUNDED

    def read(self, context: Context, is_streaming: bool) -> SourceRows:
        """Return rows of numbers."""
        if self._count is not None:
            frame, size = ranges(self._count, context, is_streaming)
            return SourceRows(frame, Numbers(0, self._count, size, self._function), self._type_info)
        reader = context.session.readStream.format("rate-micro-batch")
        reader = reader.option("rowsPerBatch", _ROWS_OF_BATCH)
        if self._rate is not None:
            reader = context.session.readStream.format("rate")
            reader = reader.option("rowsPerSecond", max(round(self._rate), 1))
        frame = reader.option("numPartitions", max(context.parallelism(), 1)).load()
        value = F.col("value")
        if self._rate is not None and self._rate < 1:
            # Spark's rate is a whole number: every so many seconds, its element is taken.
            seconds = round(1 / self._rate)
            frame, value = frame.where(value % seconds == 0), F.floor(value / seconds)
        return SourceRows(frame.select(value), Number(self._function), self._type_info)

    def produced_type(self) -> TypeInformation | None:
        """Return the type of the elements."""
        return self._type_info


def _callable(function: Any) -> Callable[[int], Any]:
    found = function.map if hasattr(function, "map") else function
    if not callable(found):
        raise TypeError(f"generator_function must be a function, not {function!r}")
    made: Callable[[int], Any] = found
    return made
