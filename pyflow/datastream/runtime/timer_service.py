"""What functions see of time."""

from __future__ import annotations

from typing import NoReturn

from pyflow.datastream.runtime.operator import OperatorTimes, Timers
from pyflow.datastream.timerservice import TimerService

__all__ = ["KeyedTimerService", "StatelessTimerService"]


class StatelessTimerService(TimerService):
    """Of a function on a stream without keys, which has the times, but no timers.

    Parameters
    ----------
    times : OperatorTimes
    """

    def __init__(self, times: OperatorTimes) -> None:
        self._times = times

    def current_processing_time(self) -> int:
        """Return the processing time."""
        return self._times.processing_time()

    def current_watermark(self) -> int:
        """Return the watermark."""
        return self._times.watermark()

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
    times : OperatorTimes
    timers : Timers
    """

    def __init__(self, times: OperatorTimes, timers: Timers) -> None:
        super().__init__(times)
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
