"""How often an element counts in state after a failure."""

from __future__ import annotations

from enum import Enum

__all__ = ["CheckpointingMode"]


class CheckpointingMode(Enum):
    """How often an element counts in state after a failure.

    State is exact in both modes here: a batch of Spark has changed all state, or none.
    """

    #: Once.
    EXACTLY_ONCE = 0
    #: Once or more.
    AT_LEAST_ONCE = 1
