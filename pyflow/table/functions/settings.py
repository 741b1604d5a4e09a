"""What planning Python functions needs to know of the session and its configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyflow.session.options import value_of
from pyflow.streaming.runtime.life_cycle import TaskSettings
from pyflow.streaming.runtime.log_levels import LogLevels
from pyflow.streaming.runtime.metrics import to_driver
from pyflow.table.runtime.asynchronous import AsyncOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyflow.common.configuration import Configuration

__all__ = ["FunctionMetrics", "FunctionSettings"]


class FunctionMetrics:
    """The way of the metrics of functions to the driver, where they run in worker processes.

    Parameters
    ----------
    session : SparkSession
    """

    def __init__(self, session: SparkSession) -> None:
        self.accumulator = to_driver(session)


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
        configuration: Configuration,
        metrics: FunctionMetrics | None = None,
    ) -> FunctionSettings:
        """Read the settings from PyFlink's keys.

        Parameters
        ----------
        session : SparkSession
        configuration : Configuration
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
        return cls(
            session,
            value_of(configuration, "pipeline.global-job-parameters") or {},
            metrics if value_of(configuration, "python.metric.enabled") else None,
            _async_options(configuration),
            LogLevels(
                value_of(configuration, "python.logging.default.level"),
                value_of(configuration, "python.logging.level.overrides") or {},
            ),
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


def _async_options(configuration: Configuration) -> AsyncOptions:
    def value(key: str) -> Any:
        return value_of(configuration, f"table.exec.async-scalar.{key}")

    return AsyncOptions(
        value("max-concurrent-operations"),
        value("timeout").to_millis() / 1000,
        value("max-attempts") if value("retry-strategy") == "FIXED_DELAY" else 0,
        value("retry-delay").to_millis() / 1000,
    )
