"""Elements that a function of the program makes of numbers. PyFlow's own; Java has it, too."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflow.datastream.connectors.base import Boundedness, Source, SourceRows
from pyflow.session.streams import as_stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pyflow.common.typeinfo import TypeInformation
    from pyflow.session.context import Context

__all__ = ["DataGeneratorSource", "RateLimiterStrategy"]

# Of unbounded sources without a rate, as of the tables that 'datagen' makes.
_ROWS_PER_SECOND = 10_000


@dataclass(frozen=True)
class RateLimiterStrategy:
    """How many elements a source makes in a second, in all of its tasks together.

    Parameters
    ----------
    records_per_second : float or None
        None for as many as it can.
    """

    records_per_second: float | None = None

    def __post_init__(self) -> None:
        if self.records_per_second is not None and not self.records_per_second > 0:
            raise ValueError(f"a rate is positive, which {self.records_per_second} is not")

    @staticmethod
    def per_second(records_per_second: float) -> RateLimiterStrategy:
        """Return the rate of so many elements a second.

        Raises
        ------
        ValueError
            If the number is not positive.
        """
        return RateLimiterStrategy(records_per_second)

    @staticmethod
    def no_op() -> RateLimiterStrategy:
        """Return the rate without a limit."""
        return RateLimiterStrategy()


class DataGeneratorSource(Source):
    """Makes elements of the numbers from 0 on.

    Parameters
    ----------
    generator_function : callable
        Makes an element of a number. It runs on executors.
    count : int, optional
        How many elements there are; unbounded without it.
    rate_limiter : RateLimiterStrategy, optional
        How many in a second: as many as it can of bounded ones without it, and 10,000 of unbounded
        ones, whose rate is rounded to a whole number.
    type_info : TypeInformation, optional
        Of the elements; any objects without it.

    Raises
    ------
    ValueError
        If the number of elements is negative.
    """

    def __init__(
        self,
        generator_function: Callable[[int], Any],
        count: int | None = None,
        rate_limiter: RateLimiterStrategy | None = None,
        type_info: TypeInformation | None = None,
    ) -> None:
        if count is not None and count < 0:
            raise ValueError(f"the number of elements is not negative, as {count} is")
        self._function = generator_function
        self._count = count
        self._rate = (rate_limiter or RateLimiterStrategy()).records_per_second
        self._type_info = type_info

    def boundedness(self) -> Boundedness:
        """Return whether a number of elements is set."""
        unbounded = self._count is None
        return Boundedness.CONTINUOUS_UNBOUNDED if unbounded else Boundedness.BOUNDED

    def produced_type(self) -> TypeInformation | None:
        """Return the type of the elements."""
        return self._type_info

    def read(self, context: Context, is_streaming: bool) -> SourceRows:
        """Return the numbers."""
        if self._count is None:
            decoder = _Decoder(self._function, None)
            return SourceRows(self._unbounded(context), decoder, self._type_info)
        parallelism = max(min(context.parallelism(), self._count), 1)
        frame = context.session.range(0, self._count, 1, parallelism).toDF("id")
        if is_streaming:
            frame = as_stream(frame, context)
        seconds = None if self._rate is None else parallelism / self._rate
        return SourceRows(frame, _Decoder(self._function, seconds), self._type_info)

    def _unbounded(self, context: Context) -> DataFrame:
        """Return the numbers of Spark's source of rows at a rate, which is a whole number."""
        from pyspark.sql import functions as F

        rate = self._rate or _ROWS_PER_SECOND
        # A slow source takes one of several numbers.
        each = max(round(1 / rate), 1)
        reader = context.session.readStream.format("rate")
        rows = reader.option("rowsPerSecond", max(math.floor(rate + 0.5), 1)).load()
        number = F.col("value")
        return rows.where(number % each == 0).select(F.floor(number / each).alias("id"))


@dataclass
class _Decoder:
    """Makes an element of a number, not before its time has come.

    Parameters
    ----------
    function : callable
    seconds : float or None
        Between two elements of a task; None for no time.
    """

    function: Callable[[int], Any]
    seconds: float | None

    def __call__(self, number: int) -> Iterable[tuple[Any, int | None]]:
        if self.seconds is not None:
            self._wait(self.seconds)
        return ((self.function(number), None),)

    def _wait(self, seconds: float) -> None:
        now = time.monotonic()
        due: float = self.__dict__.get("_due", now)
        if due > now:
            time.sleep(due - now)
        self.__dict__["_due"] = max(due, now) + seconds

    def __reduce__(self) -> tuple[Any, ...]:
        return _Decoder, (self.function, self.seconds)
