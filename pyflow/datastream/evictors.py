"""Evictors: they remove elements from windows that fire, as Flink's Java API has them.

PyFlink has none. They are set by ``WindowedStream.evictor``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyflow.common.time import Duration, Time, milliseconds_of

if TYPE_CHECKING:
    from pyflow.datastream.window import Window
    from pyflow.metrics.metricbase import MetricGroup

__all__ = [
    "CountEvictor",
    "DeltaEvictor",
    "DeltaFunction",
    "Evictor",
    "TimeEvictor",
    "TimestampedValue",
]


class TimestampedValue:
    """An element in a window.

    Parameters
    ----------
    value : object
    timestamp : int, optional
        In milliseconds since the epoch.
    """

    __slots__ = ("_timestamp", "_value")

    def __init__(self, value: Any, timestamp: int | None = None) -> None:
        self._value = value
        self._timestamp = timestamp

    def get_value(self) -> Any:
        """Return the element."""
        return self._value

    def get_timestamp(self) -> int:
        """Return the timestamp.

        Raises
        ------
        ValueError
            If there is none.
        """
        if self._timestamp is None:
            raise ValueError(
                "an element has no timestamp; call assign_timestamps_and_watermarks() on the stream"
            )
        return self._timestamp

    def has_timestamp(self) -> bool:
        """Return whether there is a timestamp."""
        return self._timestamp is not None

    def as_tuple(self) -> tuple[Any, int | None]:
        """Return the element, and its timestamp or None."""
        return self._value, self._timestamp

    def __repr__(self) -> str:
        return f"TimestampedValue({self._value!r}, {self._timestamp})"


class Evictor(ABC):
    """Removes elements from a window that fires, before or after the window function."""

    class EvictorContext(ABC):
        """What an evictor may ask for."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """Return the time of the machine, in milliseconds since the epoch."""

        @abstractmethod
        def get_metric_group(self) -> MetricGroup:
            """Return the metrics of the operator."""

        @abstractmethod
        def get_current_watermark(self) -> int:
            """Return the watermark of event time, in milliseconds since the epoch."""

    @abstractmethod
    def evict_before(
        self,
        elements: list[TimestampedValue],
        size: int,
        window: Window,
        evictor_context: Evictor.EvictorContext,
    ) -> None:
        """Remove elements before the window function is given them.

        Parameters
        ----------
        elements : list of TimestampedValue
            In the order in which they came. It is changed in place.
        size : int
            How many there are.
        window : Window
        evictor_context : Evictor.EvictorContext
        """

    @abstractmethod
    def evict_after(
        self,
        elements: list[TimestampedValue],
        size: int,
        window: Window,
        evictor_context: Evictor.EvictorContext,
    ) -> None:
        """Remove elements after the window function was given them."""


class _OneSided(Evictor):
    """Evicts the same elements either before or after the window function."""

    def __init__(self, do_evict_after: bool) -> None:
        self._do_evict_after = do_evict_after

    def evict_before(
        self,
        elements: list[TimestampedValue],
        size: int,
        window: Window,
        evictor_context: Evictor.EvictorContext,
    ) -> None:
        if not self._do_evict_after:
            self._evict(elements)

    def evict_after(
        self,
        elements: list[TimestampedValue],
        size: int,
        window: Window,
        evictor_context: Evictor.EvictorContext,
    ) -> None:
        if self._do_evict_after:
            self._evict(elements)

    def _evict(self, elements: list[TimestampedValue]) -> None:
        raise NotImplementedError


class CountEvictor(_OneSided):
    """Keeps the last elements. Made by `of`.

    Parameters
    ----------
    max_count : int
        How many.
    do_evict_after : bool
        Whether others are removed after the window function.
    """

    def __init__(self, max_count: int, do_evict_after: bool = False) -> None:
        super().__init__(do_evict_after)
        self._max_count = max_count

    @staticmethod
    def of(max_count: int, do_evict_after: bool = False) -> CountEvictor:
        """Return the evictor that keeps so many elements."""
        return CountEvictor(max_count, do_evict_after)

    def _evict(self, elements: list[TimestampedValue]) -> None:
        del elements[: max(len(elements) - self._max_count, 0)]


class TimeEvictor(_OneSided):
    """Keeps elements that are not much older than the latest. Made by `of`.

    Where elements have no timestamps, it keeps all.

    Parameters
    ----------
    window_size : int
        How many milliseconds before the largest timestamp an element is removed.
    do_evict_after : bool
        Whether elements are removed after the window function.
    """

    def __init__(self, window_size: int, do_evict_after: bool = False) -> None:
        super().__init__(do_evict_after)
        self._window_size = window_size

    @staticmethod
    def of(window_size: Time | Duration, do_evict_after: bool = False) -> TimeEvictor:
        """Return the evictor that keeps elements of such a time."""
        return TimeEvictor(milliseconds_of(window_size), do_evict_after)

    def _evict(self, elements: list[TimestampedValue]) -> None:
        if not elements or not elements[0].has_timestamp():
            return
        oldest = max(each.get_timestamp() for each in elements) - self._window_size
        elements[:] = [each for each in elements if each.get_timestamp() > oldest]


class DeltaFunction(ABC):
    """Says how much two elements differ."""

    @abstractmethod
    def get_delta(self, old_data_point: Any, new_data_point: Any) -> float:
        """Return how much an element differs from a later one."""


class DeltaEvictor(_OneSided):
    """Keeps elements that differ little from the last one. Made by `of`.

    Parameters
    ----------
    threshold : float
        The difference from which on an element is removed.
    delta_function : DeltaFunction or callable
        Takes an element and the last one, and returns their difference.
    do_evict_after : bool
        Whether elements are removed after the window function.
    """

    def __init__(
        self,
        threshold: float,
        delta_function: DeltaFunction | Callable[[Any, Any], float],
        do_evict_after: bool = False,
    ) -> None:
        super().__init__(do_evict_after)
        self._threshold = threshold
        self._delta_function = delta_function

    @staticmethod
    def of(
        threshold: float,
        delta_function: DeltaFunction | Callable[[Any, Any], float],
        do_evict_after: bool = False,
    ) -> DeltaEvictor:
        """Return the evictor of a threshold and of what says how much elements differ."""
        return DeltaEvictor(threshold, delta_function, do_evict_after)

    def _evict(self, elements: list[TimestampedValue]) -> None:
        if not elements:
            return
        last = elements[-1].get_value()
        elements[:] = [
            each for each in elements if self._delta(each.get_value(), last) < self._threshold
        ]

    def _delta(self, old: Any, new: Any) -> float:
        if isinstance(self._delta_function, DeltaFunction):
            return self._delta_function.get_delta(old, new)
        return self._delta_function(old, new)
