"""Descriptions of the time of records, and of how late they may come.

PyFlink has no watermark generators in Python; those here are as Java's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pyflow.common.time import Duration
from pyflow.util.unsupported import unsupported


class TimestampAssigner(ABC):
    """Says when a record happened."""

    @abstractmethod
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        """Return when a record happened, in milliseconds since the epoch.

        Parameters
        ----------
        value
            The record.
        record_timestamp : int
            What was known before; negative if nothing was.
        """


@dataclass(frozen=True)
class Watermark:
    """The time up to which all records have come.

    Parameters
    ----------
    timestamp : int
        In milliseconds since the epoch.
    """

    timestamp: int


class WatermarkOutput(ABC):
    """Takes the watermarks that a generator emits."""

    @abstractmethod
    def emit_watermark(self, watermark: Watermark | int) -> None:
        """Emit a watermark, or one of so many milliseconds since the epoch.

        One that is not after the last one has no effect.
        """


class WatermarkGenerator(ABC):
    """Says from the records that have come how late others may still be."""

    @abstractmethod
    def on_event(self, value: Any, timestamp: int, output: WatermarkOutput) -> None:
        """Take a record, and emit a watermark if it says one.

        Parameters
        ----------
        value
            The record.
        timestamp : int
            When it happened, in milliseconds since the epoch.
        output : WatermarkOutput
        """

    @abstractmethod
    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit a watermark if there is a new one; called after each element."""


@dataclass(frozen=True)
class WatermarkAlignment:
    """How far one source of a group may be ahead of the others."""

    group: str
    max_drift: Duration
    update_interval: Duration


@dataclass
class WatermarkStrategy:
    """When records happened, and how late they may come.

    Made by `for_monotonous_timestamps`, `for_bounded_out_of_orderness`, `for_generator` and
    `no_watermarks`.

    Parameters
    ----------
    max_out_of_orderness : Duration, optional
        How much later than the latest record another may come; None for no watermarks, or those of
        a generator.
    timestamp_assigner : TimestampAssigner, optional
        Says when a record happened; its source does, if None.
    idle_timeout : Duration, optional
        After which time without records a source holds the watermark back no more.
    alignment : WatermarkAlignment, optional
        How far a source may be ahead.
    generator : callable, optional
        Returns a new `WatermarkGenerator`.
    """

    max_out_of_orderness: Duration | None = None
    timestamp_assigner: TimestampAssigner | None = None
    idle_timeout: Duration | None = None
    alignment: WatermarkAlignment | None = None
    generator: Callable[[], WatermarkGenerator] | None = None

    def with_timestamp_assigner(self, timestamp_assigner: TimestampAssigner) -> WatermarkStrategy:
        """Say when records happened, and return this strategy."""
        self.timestamp_assigner = timestamp_assigner
        return self

    def with_idleness(self, idle_timeout: Duration) -> WatermarkStrategy:
        """Return the strategy for sources that may fall silent.

        Raises
        ------
        ValueError
            If the time is not positive.
        """
        if idle_timeout == Duration(0) or idle_timeout.to_millis() < 0:
            raise ValueError("idleTimeout must be greater than zero")
        return replace(self, idle_timeout=idle_timeout)

    def with_watermark_alignment(
        self,
        watermark_group: str,
        max_allowed_watermark_drift: Duration,
        update_interval: Duration | None = None,
    ) -> WatermarkStrategy:
        """Return the strategy that lets sources of a group wait for each other.

        Parameters
        ----------
        watermark_group : str
            The group's name.
        max_allowed_watermark_drift : Duration
            How far one may be ahead.
        update_interval : Duration, optional
            How often they compare, a second by default.
        """
        interval = update_interval or Duration.of_seconds(1)
        alignment = WatermarkAlignment(watermark_group, max_allowed_watermark_drift, interval)
        return replace(self, alignment=alignment)

    @staticmethod
    def for_monotonous_timestamps() -> WatermarkStrategy:
        """Return the strategy for records in the order in which they happened."""
        return WatermarkStrategy(Duration.of_millis(0))

    @staticmethod
    def for_bounded_out_of_orderness(max_out_of_orderness: Duration) -> WatermarkStrategy:
        """Return the strategy for records that come at most so much later than others.

        Raises
        ------
        ValueError
            If the time is negative.
        """
        if max_out_of_orderness.to_millis() < 0:
            raise ValueError("maxOutOfOrderness cannot be negative")
        return WatermarkStrategy(max_out_of_orderness)

    @staticmethod
    def for_generator(generator_supplier: Callable[[], WatermarkGenerator]) -> WatermarkStrategy:
        """Return the strategy with watermarks of one's own. PyFlow's own; Java has it, too.

        Parameters
        ----------
        generator_supplier : callable
            Returns a new `WatermarkGenerator`, as a class of them does. It is called once in each
            subtask.
        """
        return WatermarkStrategy(generator=generator_supplier)

    @staticmethod
    def no_watermarks() -> WatermarkStrategy:
        """Return the strategy without watermarks."""
        return WatermarkStrategy()


@unsupported("it is a Java class of Flink; describe the watermarks by a WatermarkStrategy")
class AssignerWithPeriodicWatermarksWrapper:
    """The time of records, by a Java class of Flink."""

    def __init__(self, j_assigner_with_periodic_watermarks: Any) -> None: ...
