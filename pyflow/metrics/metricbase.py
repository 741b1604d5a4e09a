"""What a function counts and measures, by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

__all__ = ["Counter", "Distribution", "Meter", "Metric", "MetricGroup"]


class MetricGroup(ABC):
    """A named place for metrics and for further groups.

    A function has it from :meth:`~pyflow.table.udf.FunctionContext.get_metric_group`. A metric that
    is asked for by the same name again is the same metric.
    """

    @abstractmethod
    def add_group(self, name: str, extra: str | None = None) -> MetricGroup:
        """Return the group of this name below this one.

        Parameters
        ----------
        name : str
        extra : str, optional
            The value of a pair, of which `name` is the key: the group of the value, below that of
            the key, is returned.
        """

    @abstractmethod
    def counter(self, name: str) -> Counter:
        """Return the counter of this name."""

    @abstractmethod
    def gauge(self, name: str, obj: Callable[[], int]) -> None:
        """Have a value asked for at the end of a task.

        Parameters
        ----------
        name : str
        obj : callable
            Returns the value.
        """

    @abstractmethod
    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        """Return the meter of this name.

        Parameters
        ----------
        name : str
        time_span_in_seconds : int
            In PyFlink the time over which the rate is an average. Here the number of events is
            reported, of which Spark's metrics make rates; the time span has no effect.
        """

    @abstractmethod
    def distribution(self, name: str) -> Distribution:
        """Return the distribution of this name."""


class Metric:
    """Something that is counted or measured."""


class Counter(Metric, ABC):
    """A number that goes up and down."""

    @abstractmethod
    def inc(self, n: int = 1) -> None:
        """Add `n`."""

    @abstractmethod
    def dec(self, n: int = 1) -> None:
        """Subtract `n`."""

    @abstractmethod
    def get_count(self) -> int:
        """Return what this task has counted so far."""


class Meter(Metric, ABC):
    """A number of events."""

    @abstractmethod
    def mark_event(self, value: int = 1) -> None:
        """Add `value` events."""

    @abstractmethod
    def get_count(self) -> int:
        """Return the events of this task so far."""


class Distribution(Metric, ABC):
    """How many values there were, their sum, the least and the greatest."""

    @abstractmethod
    def update(self, value: Any) -> None:
        """Add a value."""
