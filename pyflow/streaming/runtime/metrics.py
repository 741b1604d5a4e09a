"""Metrics of the functions of a task, and how they are reported when it has succeeded.

Thread mode reports them to the JVM that it runs in. A worker process has no way there: an
accumulator of PySpark's, which a task sends when it has ended, takes them to the Python of the
driver, which tells its JVM. The accumulator's value reads the metrics when it is pickled.

Functions of data streams stay open from one task to the next. So a report says what has been
counted and measured since the last one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from pyflow.metrics.metricbase import Counter, Distribution, Meter, MetricGroup

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import SparkSession

__all__ = ["Report", "TaskMetricGroup", "TaskReports", "ToDriver", "to_driver"]

#: The metrics of a function by name, each a list of its kind and its numbers; as
#: org.apache.spark.sql.pyflow.FunctionMetric reads them.
Report = dict[str, list[Any]]


class _Counter(Counter):
    def __init__(self) -> None:
        self._count = 0
        self._reported: int | None = None

    def inc(self, n: int = 1) -> None:
        self._count += n

    def dec(self, n: int = 1) -> None:
        self._count -= n

    def get_count(self) -> int:
        return self._count

    def report(self) -> list[Any] | None:
        before, self._reported = self._reported, self._count
        return None if before == self._count else ["counter", int(self._count - (before or 0))]


class _Meter(Meter):
    def __init__(self) -> None:
        self._count = 0
        self._reported: int | None = None

    def mark_event(self, value: int = 1) -> None:
        self._count += value

    def get_count(self) -> int:
        return self._count

    def report(self) -> list[Any] | None:
        before, self._reported = self._reported, self._count
        return None if before == self._count else ["meter", int(self._count - (before or 0))]


class _Distribution(Distribution):
    def __init__(self) -> None:
        self._count = 0
        self._sum: Any = 0
        self._min: Any = None
        self._max: Any = None

    def update(self, value: Any) -> None:
        first = self._count == 0
        self._count += 1
        self._sum += value
        self._min = value if first else min(self._min, value)
        self._max = value if first else max(self._max, value)

    def report(self) -> list[Any] | None:
        if self._count == 0:
            return None
        count, numbers = self._count, map(_number, (self._sum, self._min, self._max))
        self._count = self._sum = 0
        return ["distribution", count, *numbers]


class _Gauge:
    def __init__(self, ask: Callable[[], Any]) -> None:
        self._ask = ask

    def report(self) -> list[Any]:
        return ["gauge", _number(self._ask())]


def _number(value: Any) -> int | float | str:
    """Return a number for JSON; for NaN and the infinities, their names in Java."""
    if isinstance(value, int):
        return int(value)
    number = float(value)
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


class TaskMetricGroup(MetricGroup):
    """A group of the metrics of one function, open in a task or from one to the next.

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
        return cast(Counter, self._metric(name, _Counter))

    def gauge(self, name: str, obj: Callable[[], int]) -> None:
        """Have a value asked for at the end of the task."""
        self._metrics[self._full(name)] = _Gauge(obj)

    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        """Return the meter of this name."""
        return cast(Meter, self._metric(name, _Meter))

    def distribution(self, name: str) -> Distribution:
        """Return the distribution of this name."""
        return cast(Distribution, self._metric(name, _Distribution))

    def report(self) -> Report:
        """Return the values of the metrics since the last report.

        Raises
        ------
        TypeError or ValueError
            If a gauge or a distribution has another value than a number.
        """
        report = {}
        for name, metric in self._metrics.items():
            try:
                said = metric.report()
            except (TypeError, ValueError) as error:
                raise type(error)(f"metric {name!r} is no number: {error}") from error
            if said is not None:
                report[name] = said
        return report

    def _metric(self, name: str, kind: type) -> Any:
        metric = self._metrics.setdefault(self._full(name), kind())
        if not isinstance(metric, kind):
            raise ValueError(f"metric {self._full(name)!r} is there already, of another kind")
        return metric

    def _full(self, name: str) -> str:
        return ".".join((*self._path, name))


class TaskReports:
    """The value of the accumulator, in a worker and on its way to the driver.

    Parameters
    ----------
    text : str
        The reports of a task that has ended, as JSON.
    """

    def __init__(self, text: str = "[]") -> None:
        self.text = text
        self._groups: list[TaskMetricGroup] = []

    def watch(self, group: TaskMetricGroup) -> None:
        """Report the metrics of a group, as they are when the value is read."""
        self._groups.append(group)

    def __reduce__(self) -> tuple[Any, ...]:
        reports = [group.report() for group in self._groups]
        return TaskReports, (json.dumps([each for each in reports if each]),)


class ToDriver:
    """What PySpark does with values of the accumulator; an ``AccumulatorParam``."""

    def zero(self, value: TaskReports) -> TaskReports:
        """Return a value without metrics."""
        return TaskReports()

    def addInPlace(self, value1: TaskReports, value2: Any) -> TaskReports:  # noqa: N802
        """Watch a group that will have metrics; on the driver, tell the JVM of those of a task."""
        if isinstance(value2, TaskMetricGroup):
            value1.watch(value2)
        elif value2.text != "[]":
            from pyspark import SparkContext

            jvm: Any = SparkContext._jvm
            jvm.org.apache.spark.sql.pyflow.FunctionMetricsSource.addJson(value2.text)
        return value1


def to_driver(session: SparkSession) -> Accumulator[Any] | None:
    """Return what takes the metrics of worker processes to the driver.

    Over Spark Connect there is none: PySpark has no accumulators there.
    """
    if not hasattr(session, "_jsparkSession"):
        return None
    param: Any = ToDriver()
    return session.sparkContext.accumulator(TaskReports(), param)
