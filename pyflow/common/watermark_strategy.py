"""Descriptions of the time of records, and of how late they may come."""

from __future__ import annotations

from abc import ABC, abstractmethod
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
class WatermarkAlignment:
    """How far one source of a group may be ahead of the others."""

    group: str
    max_drift: Duration
    update_interval: Duration


@dataclass
class WatermarkStrategy:
    """When records happened, and how late they may come.

    Made by `for_monotonous_timestamps`, `for_bounded_out_of_orderness` and `no_watermarks`.

    Parameters
    ----------
    max_out_of_orderness : Duration, optional
        How much later than the latest record another may come; None for no watermarks.
    timestamp_assigner : TimestampAssigner, optional
        Says when a record happened; its source does, if None.
    idle_timeout : Duration, optional
        After which time without records a source holds the watermark back no more.
    alignment : WatermarkAlignment, optional
        How far a source may be ahead.
    """

    max_out_of_orderness: Duration | None = None
    timestamp_assigner: TimestampAssigner | None = None
    idle_timeout: Duration | None = None
    alignment: WatermarkAlignment | None = None

    def with_timestamp_assigner(self, timestamp_assigner: TimestampAssigner) -> WatermarkStrategy:
        """Say when records happened, and return this strategy."""
        self.timestamp_assigner = timestamp_assigner
        return self

    def with_idleness(self, idle_timeout: Duration) -> WatermarkStrategy:
        """Return the strategy for sources that may fall silent."""
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
        """Return the strategy for records that come at most so much later than others."""
        return WatermarkStrategy(max_out_of_orderness)

    @staticmethod
    def no_watermarks() -> WatermarkStrategy:
        """Return the strategy without watermarks."""
        return WatermarkStrategy()


@unsupported("it is a Java class of Flink; describe the watermarks by a WatermarkStrategy")
class AssignerWithPeriodicWatermarksWrapper:
    """The time of records, by a Java class of Flink."""

    def __init__(self, j_assigner_with_periodic_watermarks: Any) -> None: ...
