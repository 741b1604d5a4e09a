"""Metrics of the functions of a task, and how they reach the driver.

They travel with an accumulator of PySpark's, which a task sends when it has ended: a value that
reads the metrics when it is pickled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from pyflow.metrics.metricbase import Counter, Distribution, Meter, MetricGroup

__all__ = ["DistributionValue", "Gauged", "MetricSums", "MetricValues", "TaskMetricGroup"]


@dataclass(frozen=True)
class DistributionValue:
    """What is known of the values of a distribution."""

    count: int
    sum: Any
    min: Any
    max: Any


@dataclass(frozen=True)
class Gauged:
    """The value of a gauge: of several, the latest that came counts."""

    value: Any


#: Counts of counters and meters, `DistributionValue` and `Gauged`, by name.
Collected = dict[str, Any]


class _Count(Counter, Meter):
    def __init__(self) -> None:
        self._count = 0

    def inc(self, n: int = 1) -> None:
        self._count += n

    def dec(self, n: int = 1) -> None:
        self._count -= n

    def mark_event(self, value: int = 1) -> None:
        self._count += value

    def get_count(self) -> int:
        return self._count

    def collected(self) -> int:
        return self._count


class _Distribution(Distribution):
    def __init__(self) -> None:
        self._value: DistributionValue | None = None

    def update(self, value: Any) -> None:
        added = DistributionValue(1, value, value, value)
        self._value = added if self._value is None else _merged(self._value, added)

    def collected(self) -> DistributionValue | None:
        return self._value


class _Gauge:
    def __init__(self, ask: Callable[[], Any]) -> None:
        self._ask = ask

    def collected(self) -> Gauged:
        return Gauged(self._ask())


class TaskMetricGroup(MetricGroup):
    """A group of the metrics of one function in one task.

    Parameters
    ----------
    path : tuple of str
        The names of the groups from the function's on.
    metrics : dict
        All metrics of the function, by full name.
    """

    def __init__(self, path: tuple[str, ...], metrics: dict[str, Any] | None = None) -> None:
        self._path = path
        self._metrics: dict[str, Any] = {} if metrics is None else metrics

    def add_group(self, name: str, extra: str | None = None) -> TaskMetricGroup:
        """Return the group of this name, or of this key and value."""
        names = (name,) if extra is None else (name, extra)
        return TaskMetricGroup(self._path + names, self._metrics)

    def counter(self, name: str) -> Counter:
        """Return the counter of this name."""
        return cast(Counter, self._metric(name, _Count))

    def gauge(self, name: str, obj: Callable[[], int]) -> None:
        """Have a value asked for at the end of the task."""
        self._metrics[self._full(name)] = _Gauge(obj)

    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        """Return the meter of this name."""
        return cast(Meter, self._metric(name, _Count))

    def distribution(self, name: str) -> Distribution:
        """Return the distribution of this name."""
        return cast(Distribution, self._metric(name, _Distribution))

    def collected(self) -> Collected:
        """What the metrics say now."""
        return {
            name: value
            for name, metric in self._metrics.items()
            if (value := metric.collected()) is not None
        }

    def _metric(self, name: str, kind: type) -> Any:
        metric = self._metrics.setdefault(self._full(name), kind())
        if not isinstance(metric, kind):
            raise ValueError(f"metric {self._full(name)!r} is there already, of another kind")
        return metric

    def _full(self, name: str) -> str:
        return ".".join((*self._path, name))


class MetricValues:
    """The value of the accumulator.

    Parameters
    ----------
    sums : mapping
        What has been collected.
    """

    def __init__(self, sums: Mapping[str, Any] | None = None) -> None:
        self._sums: Collected = dict(sums or {})
        self._groups: list[TaskMetricGroup] = []

    def collected(self) -> Collected:
        """The sums over all tasks that have ended, on executors those of the task."""
        sums = dict(self._sums)
        for group in self._groups:
            _add(sums, group.collected())
        return sums

    def watch(self, group: TaskMetricGroup) -> None:
        """Count the metrics of a group, as they are when the value is read."""
        self._groups.append(group)

    def add(self, other: MetricValues) -> None:
        """Count what has been collected elsewhere."""
        _add(self._sums, other.collected())

    def __reduce__(self) -> tuple[Any, ...]:
        return MetricValues, (self.collected(),)


class MetricSums:
    """How PySpark adds values of the accumulator; an ``AccumulatorParam``."""

    def zero(self, value: MetricValues) -> MetricValues:
        """A value without metrics."""
        return MetricValues()

    def addInPlace(self, value1: MetricValues, value2: Any) -> MetricValues:  # noqa: N802
        """Add the metrics of a task, or a group that will have some."""
        if isinstance(value2, TaskMetricGroup):
            value1.watch(value2)
        else:
            value1.add(value2)
        return value1


def _add(sums: Collected, others: Collected) -> None:
    for name, value in others.items():
        sums[name] = _merged(sums[name], value) if name in sums else value


def _merged(one: Any, other: Any) -> Any:
    if isinstance(other, Gauged):
        return other
    if isinstance(other, DistributionValue):
        return DistributionValue(
            one.count + other.count,
            one.sum + other.sum,
            min(one.min, other.min),
            max(one.max, other.max),
        )
    return one + other
