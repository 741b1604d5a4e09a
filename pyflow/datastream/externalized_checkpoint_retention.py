"""What becomes of checkpoints when a job is cancelled."""

from __future__ import annotations

from enum import Enum

__all__ = ["ExternalizedCheckpointRetention"]


class ExternalizedCheckpointRetention(Enum):
    """What becomes of checkpoints when a job is cancelled."""

    #: They are deleted; those of a job that fails are not.
    DELETE_ON_CANCELLATION = 0
    #: They stay.
    RETAIN_ON_CANCELLATION = 1
    #: Flink writes none that outlive a job.
    NO_EXTERNALIZED_CHECKPOINTS = 2
