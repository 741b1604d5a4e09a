"""Sequences of numbers as rows of Spark, each of which stands for many."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any

from pyflow.session.streams import as_stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pyflow.session.context import Context

__all__ = ["Number", "Numbers", "ranges"]

_NUMBERS_OF_ROW = 1024


def ranges(count: int, context: Context, is_streaming: bool) -> tuple[DataFrame, int]:
    """Return the numbers of parts of a sequence, and how many numbers a part has.

    A partition for each subtask has parts that follow each other.

    Parameters
    ----------
    count : int
        How long the sequence is.
    context : Context
    is_streaming : bool
        Whether the frame must be a streaming one.
    """
    parallelism = max(context.parallelism(), 1)
    size = min(_NUMBERS_OF_ROW, -(-count // parallelism) or 1)
    frame = context.session.range(0, -(-count // size), 1, parallelism)
    return (as_stream(frame.coalesce(1), context) if is_streaming else frame), size


@dataclass(frozen=True)
class Numbers:
    """Makes the numbers of a part of a sequence, or what a function makes of them.

    Parameters
    ----------
    start : int
        The first number.
    count : int
        How many there are.
    size : int
        How many a part has.
    function : callable or None
    """

    start: int
    count: int
    size: int
    function: Callable[[int], Any] | None = None

    def __call__(self, part: int) -> Iterable[tuple[Any, int | None]]:
        """Return the elements of a part."""
        first = part * self.size
        last = min(first + self.size, self.count)
        numbers = range(self.start + first, self.start + last)
        if self.function is None:
            return zip(numbers, repeat(None))
        return ((self.function(number), None) for number in numbers)


@dataclass(frozen=True)
class Number:
    """Makes what a function makes of a number.

    Parameters
    ----------
    function : callable
    """

    function: Callable[[int], Any]

    def __call__(self, number: int) -> Iterable[tuple[Any, int | None]]:
        """Return the element."""
        return ((self.function(number), None),)
