"""What functions see of time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NoReturn

from pyflow.datastream.runtime.operator import Timers
from pyflow.datastream.timerservice import TimerService

__all__ = ["KeyedTimerService", "StatelessTimerService"]


class StatelessTimerService(TimerService):
    """Of a function on a stream without keys, which has the times, but no timers."""

    def __init__(self, watermark: Callable[[], int]) -> None:
        self._watermark = watermark

    def current_processing_time(self) -> int:
        """Return the processing time."""
        return int(time.time() * 1000)

    def current_watermark(self) -> int:
        """Return the watermark."""
        return self._watermark()

    def register_processing_time_timer(self, timestamp: int) -> None:
        """Register a timer of the processing time."""
        self._refuse()

    def register_event_time_timer(self, timestamp: int) -> None:
        """Register a timer of the event time."""
        self._refuse()

    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Delete a timer of the processing time."""
        self._refuse()

    def delete_event_time_timer(self, timestamp: int) -> None:
        """Delete a timer of the event time."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise RuntimeError("timers are only supported on a keyed stream; call key_by() before")


class KeyedTimerService(StatelessTimerService):
    """Of a function on a keyed stream.

    Parameters
    ----------
    watermark : callable
    timers : Timers
    """

    def __init__(self, watermark: Callable[[], int], timers: Timers) -> None:
        super().__init__(watermark)
        self._timers = timers

    def register_processing_time_timer(self, timestamp: int) -> None:
        """Register a timer of the processing time."""
        self._timers.register_for_function(False, timestamp)

    def register_event_time_timer(self, timestamp: int) -> None:
        """Register a timer of the event time."""
        self._timers.register_for_function(True, timestamp)

    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Delete a timer of the processing time."""
        self._timers.delete(False, timestamp)

    def delete_event_time_timer(self, timestamp: int) -> None:
        """Delete a timer of the event time."""
        self._timers.delete(True, timestamp)
