"""How often a job is begun again after a failure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import timedelta
from typing import Any

__all__ = ["RestartStrategies", "RestartStrategyConfiguration"]


class RestartStrategyConfiguration(ABC):
    """How often a job is begun again after a failure.

    A description: Spark repeats tasks, ``spark.task.maxFailures`` times, and not jobs.
    """

    @abstractmethod
    def get_description(self) -> str:
        """Return the strategy in words."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, self.__class__) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(self.get_description())


class RestartStrategies:
    """The strategies there are."""

    class NoRestartStrategyConfiguration(RestartStrategyConfiguration):
        """A job is not begun again."""

        def get_description(self) -> str:
            """Return the strategy in words."""
            return "Restart deactivated."

    class FixedDelayRestartStrategyConfiguration(RestartStrategyConfiguration):
        """A job is begun again so many times, each after a delay.

        Parameters
        ----------
        restart_attempts : int
            How many times.
        delay_between_attempts_interval : int or datetime.timedelta
            The delay; a number is milliseconds.
        """

        def __init__(
            self, restart_attempts: int, delay_between_attempts_interval: int | timedelta
        ) -> None:
            self._attempts = restart_attempts
            self._delay = _interval(
                "delay_between_attempts_interval", delay_between_attempts_interval
            )

        def get_restart_attempts(self) -> int:
            """Return how many times."""
            return self._attempts

        def get_delay_between_attempts_interval(self) -> timedelta:
            """Return the delay."""
            return self._delay

        def get_description(self) -> str:
            """Return the strategy in words."""
            return f"Restart with fixed delay ({self._delay}). #{self._attempts} restart attempts."

    class FailureRateRestartStrategyConfiguration(RestartStrategyConfiguration):
        """A job is begun again until it fails too often within a time.

        Parameters
        ----------
        max_failure_rate : int
            How often it may fail.
        failure_interval : int or datetime.timedelta
            Within which time; a number is milliseconds.
        delay_between_attempts_interval : int or datetime.timedelta
            The delay before it is begun again.
        """

        def __init__(
            self,
            max_failure_rate: int,
            failure_interval: int | timedelta,
            delay_between_attempts_interval: int | timedelta,
        ) -> None:
            self._rate = max_failure_rate
            self._interval = _interval("failure_interval", failure_interval)
            self._delay = _interval(
                "delay_between_attempts_interval", delay_between_attempts_interval
            )

        def get_max_failure_rate(self) -> int:
            """Return how often the job may fail."""
            return self._rate

        def get_failure_interval(self) -> timedelta:
            """Return within which time."""
            return self._interval

        def get_delay_between_attempts_interval(self) -> timedelta:
            """Return the delay before it is begun again."""
            return self._delay

        def get_description(self) -> str:
            """Return the strategy in words."""
            return (
                f"Failure rate restart with maximum of {self._rate} failures within interval"
                f" {self._interval} and fixed delay {self._delay}."
            )

    class FallbackRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The strategy of the cluster."""

        def get_description(self) -> str:
            """Return the strategy in words."""
            return "Cluster level default restart strategy"

    @staticmethod
    def no_restart() -> NoRestartStrategyConfiguration:
        """Return the strategy that begins no job again."""
        return RestartStrategies.NoRestartStrategyConfiguration()

    @staticmethod
    def fall_back_restart() -> FallbackRestartStrategyConfiguration:
        """Return the strategy of the cluster."""
        return RestartStrategies.FallbackRestartStrategyConfiguration()

    @staticmethod
    def fixed_delay_restart(
        restart_attempts: int, delay_between_attempts: int | timedelta
    ) -> FixedDelayRestartStrategyConfiguration:
        """Return the strategy of so many attempts, each after a delay (a number: milliseconds)."""
        return RestartStrategies.FixedDelayRestartStrategyConfiguration(
            restart_attempts, delay_between_attempts
        )

    @staticmethod
    def failure_rate_restart(
        failure_rate: int, failure_interval: int | timedelta, delay_interval: int | timedelta
    ) -> FailureRateRestartStrategyConfiguration:
        """Return the strategy of so many failures within a time (numbers: milliseconds)."""
        return RestartStrategies.FailureRateRestartStrategyConfiguration(
            failure_rate, failure_interval, delay_interval
        )


def _interval(parameter: str, value: Any) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if isinstance(value, int):
        return timedelta(milliseconds=value)
    raise TypeError(
        f"{parameter} must be a datetime.timedelta or a number of milliseconds, not {value!r}"
    )
