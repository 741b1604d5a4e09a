"""What planning Python functions needs to know of the session and its configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyflow.session.options import value_of_text
from pyflow.streaming.runtime.life_cycle import TaskSettings
from pyflow.streaming.runtime.log_levels import LogLevels
from pyflow.streaming.runtime.metrics import TaskReports, ToDriver
from pyflow.table.runtime.asynchronous import AsyncOptions
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import SparkSession

__all__ = ["FunctionMetrics", "FunctionSettings"]

_ASYNC = "table.exec.async-scalar."
_RETRIES = ("FIXED_DELAY", "NO_RETRY")


class FunctionMetrics:
    """The way of the metrics of functions to the driver, where they run in worker processes.

    Parameters
    ----------
    session : SparkSession
        Over Spark Connect there is none: PySpark has no accumulators there.
    """

    def __init__(self, session: SparkSession) -> None:
        self.accumulator: Accumulator[Any] | None = None
        if hasattr(session, "_jsparkSession"):
            param: Any = ToDriver()
            self.accumulator = session.sparkContext.accumulator(TaskReports(), param)


@dataclass(frozen=True)
class FunctionSettings:
    """The settings of a table environment that functions depend on.

    Attributes
    ----------
    session : SparkSession
    job_parameters : mapping of str to str
        What ``FunctionContext.get_job_parameter`` reads.
    metrics : FunctionMetrics or None
        None if functions may have none.
    async_options : AsyncOptions
    log_levels : LogLevels or None
    """

    session: SparkSession
    job_parameters: Mapping[str, str] = field(default_factory=dict)
    metrics: FunctionMetrics | None = None
    async_options: AsyncOptions = field(default_factory=AsyncOptions)
    log_levels: LogLevels | None = None

    @classmethod
    def of(
        cls,
        session: SparkSession,
        configuration: Mapping[str, str],
        metrics: FunctionMetrics | None = None,
    ) -> FunctionSettings:
        """Read the settings from PyFlink's keys.

        Parameters
        ----------
        session : SparkSession
        configuration : mapping of str to str
            ``pipeline.global-job-parameters``, ``python.logging.*`` and
            ``table.exec.async-scalar.*`` are read, and ``python.metric.enabled``, without which
            `metrics` are left out.
        metrics : FunctionMetrics, optional
            Those of the environment.

        Raises
        ------
        TableException
            If a value cannot be read.
        """
        enabled = configuration.get("python.metric.enabled", "true").lower() != "false"
        return cls(
            session,
            _job_parameters(configuration.get("pipeline.global-job-parameters", "")),
            metrics if enabled else None,
            _async_options(configuration),
            _log_levels(configuration),
        )

    @property
    def takes_arrow(self) -> bool:
        """Whether plain functions are Arrow-optimised, as the session's setting says."""
        setting = self.session.conf.get("spark.sql.execution.pythonUDF.arrow.enabled", "true")
        return setting == "true"

    def for_tasks(self) -> TaskSettings:
        """What executors have to know."""
        return TaskSettings(
            job_parameters=dict(self.job_parameters),
            metrics=self.metrics is not None,
            accumulator=None if self.metrics is None else self.metrics.accumulator,
            arrow=self.takes_arrow,
            log_levels=self.log_levels,
        )

    @property
    def time_zone(self) -> str:
        """The session's time zone."""
        zone = self.session.conf.get("spark.sql.session.timeZone")
        assert zone is not None
        return zone


def _job_parameters(text: str) -> dict[str, str]:
    """``key:value,key:value``; a value may be quoted, with quotes in it doubled."""
    parameters = {}
    for entry in re.findall(r"(?:'(?:[^']|'')*'|[^,])+", text):
        key, colon, value = _unquoted(entry).partition(":")
        if not colon:
            raise TableException(
                f"pipeline.global-job-parameters has {entry!r}: write key:value,key:value"
            )
        parameters[key.strip()] = _unquoted(value)
    return parameters


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text


def _log_levels(configuration: Mapping[str, str]) -> LogLevels:
    values = (
        value_of_text(key, configuration.get(key, default))
        for key, default in (
            ("python.logging.default.level", "INFO"),
            ("python.logging.level.overrides", ""),
        )
    )
    return LogLevels(*values)


def _async_options(configuration: Mapping[str, str]) -> AsyncOptions:
    default = AsyncOptions()

    def number(key: str, least: int, otherwise: int) -> int:
        text = configuration.get(_ASYNC + key)
        if text is None:
            return otherwise
        if not text.strip().isdigit() or int(text) < least:
            raise TableException(f"{_ASYNC}{key} is {text!r}: a number from {least} on is needed")
        return int(text)

    def seconds(key: str, otherwise: float) -> float:
        text = configuration.get(_ASYNC + key)
        return otherwise if text is None else _seconds(_ASYNC + key, text)

    strategy = configuration.get(_ASYNC + "retry-strategy", "FIXED_DELAY").upper()
    if strategy not in _RETRIES:
        raise TableException(
            f"{_ASYNC}retry-strategy is {strategy!r}: {' or '.join(_RETRIES)} is needed"
        )
    attempts = number("max-attempts", 1, default.max_attempts)
    return AsyncOptions(
        number("max-concurrent-operations", 1, default.max_concurrent_operations),
        seconds("timeout", default.timeout),
        attempts if strategy == "FIXED_DELAY" else 0,
        seconds("retry-delay", default.retry_delay),
    )


_UNITS = {
    **dict.fromkeys(("ms", "milli", "millis", "millisecond", "milliseconds", ""), 0.001),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86400.0),
}


def _seconds(key: str, text: str) -> float:
    """Flink's durations: a number and a unit, milliseconds without one."""
    found = re.fullmatch(r"\s*(\d+)\s*([a-z]*)\s*", text.lower())
    if found is None or found[2] not in _UNITS:
        raise TableException(f"{key} is {text!r}: a duration as '3 min' or '500 ms' is needed")
    return int(found[1]) * _UNITS[found[2]]
