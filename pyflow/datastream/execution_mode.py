"""How a program is run: with its results at the end, or as its input comes."""

from __future__ import annotations

from enum import Enum

__all__ = ["RuntimeExecutionMode"]


class RuntimeExecutionMode(Enum):
    """How a program is run."""

    #: Results follow the input.
    STREAMING = 0
    #: Results are computed once, from bounded input.
    BATCH = 1
    #: BATCH if all input is bounded, STREAMING otherwise.
    AUTOMATIC = 2
