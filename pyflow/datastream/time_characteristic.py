"""What operators of older versions took for time. PyFlink dropped it in 2.0."""

from __future__ import annotations

from enum import Enum

__all__ = ["TimeCharacteristic"]


class TimeCharacteristic(Enum):
    """What operators take for time.

    Programs of today choose it with each window and timer; event time needs a `WatermarkStrategy`.
    """

    #: The clock of the machine.
    ProcessingTime = 0
    #: When an element came to its source.
    IngestionTime = 1
    #: The timestamps of elements.
    EventTime = 2
