"""Time, and timers."""

from __future__ import annotations

from abc import ABC, abstractmethod

__all__ = ["TimerService"]


class TimerService(ABC):
    """Tells the time, and registers timers of the current key.

    Times are in milliseconds since the epoch. A timer fires once, however often it is registered.
    """

    @abstractmethod
    def current_processing_time(self) -> int:
        """Return the time of the machine."""

    @abstractmethod
    def current_watermark(self) -> int:
        """Return the watermark of event time; ``-2**63`` before the first one."""

    @abstractmethod
    def register_processing_time_timer(self, timestamp: int) -> None:
        """Register a timer that fires when the time of the machine reaches this one."""

    @abstractmethod
    def register_event_time_timer(self, timestamp: int) -> None:
        """Register a timer that fires when the watermark reaches this time."""

    def delete_processing_time_timer(self, timestamp: int) -> None:  # noqa: B027
        """Delete a timer of processing time, if there is one that has not fired."""

    def delete_event_time_timer(self, timestamp: int) -> None:  # noqa: B027
        """Delete a timer of event time, if there is one that has not fired."""
