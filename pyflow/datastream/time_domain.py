"""The two kinds of time."""

from __future__ import annotations

from enum import Enum

__all__ = ["TimeDomain"]


class TimeDomain(Enum):
    """By which time a timer fires."""

    #: The timestamps of elements: when the watermark passes it.
    EVENT_TIME = 0
    #: The clock of the machine.
    PROCESSING_TIME = 1
