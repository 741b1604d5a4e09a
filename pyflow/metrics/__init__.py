"""Metrics of user-defined functions, under the names of ``pyflink.metrics``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyflow.metrics.metricbase import Counter as Counter
    from pyflow.metrics.metricbase import Distribution as Distribution
    from pyflow.metrics.metricbase import Meter as Meter
    from pyflow.metrics.metricbase import Metric as Metric
    from pyflow.metrics.metricbase import MetricGroup as MetricGroup

__all__ = ["Counter", "Distribution", "Meter", "Metric", "MetricGroup"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("pyflow.metrics.metricbase"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
