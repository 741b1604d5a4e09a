"""Functions of joins, as Flink's Java API has them. PyFlink has no joins of streams."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from pyflow.datastream.functions import Function

__all__ = ["CoGroupFunction", "FlatJoinFunction", "JoinFunction", "ProcessJoinFunction"]


class JoinFunction(Function):
    """Makes one element of each pair of elements of two streams."""

    @abstractmethod
    def join(self, first: Any, second: Any) -> Any:
        """Return what becomes of two elements."""


class FlatJoinFunction(Function):
    """Makes any number of elements of each pair of elements of two streams."""

    @abstractmethod
    def join(self, first: Any, second: Any) -> Any:
        """Return what becomes of two elements, or yield it."""


class CoGroupFunction(Function):
    """Makes any number of elements of those of two streams that have a key in a window."""

    @abstractmethod
    def co_group(self, first: list[Any], second: list[Any]) -> Any:
        """Return what becomes of the elements of both streams, or yield it.

        Parameters
        ----------
        first, second : list
            One of them may be empty.
        """


class ProcessJoinFunction(Function):
    """Makes any number of elements of two whose timestamps differ little."""

    class Context(ABC):
        """The timestamps of both elements, in milliseconds since the epoch."""

        @abstractmethod
        def get_left_timestamp(self) -> int:
            """Return that of the element of the first stream."""

        @abstractmethod
        def get_right_timestamp(self) -> int:
            """Return that of the element of the second stream."""

        @abstractmethod
        def get_timestamp(self) -> int:
            """Return the later one, which the results have."""

    @abstractmethod
    def process_element(self, left: Any, right: Any, ctx: ProcessJoinFunction.Context) -> Any:
        """Return what becomes of two elements, or yield it.

        ``yield tag, element`` emits to a side output.
        """
