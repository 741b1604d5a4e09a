"""The processing time: that of the machine, or one that a test advances."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["Clock", "ManualClock", "system_clock"]

#: Returns the processing time, in milliseconds since the epoch.
Clock = Callable[[], int]


def system_clock() -> int:
    """Return the time of this machine."""
    return int(time.time() * 1000)


class ManualClock:
    """A clock that is set, in all processes that see its file; it begins at 0.

    Parameters
    ----------
    file : str
    """

    def __init__(self, file: str) -> None:
        self._file = Path(file)

    def __call__(self) -> int:
        """Return the time that was set last."""
        try:
            return int(self._file.read_text())
        except FileNotFoundError:
            return 0

    def set(self, moment: int) -> None:
        """Set the time, in milliseconds since the epoch."""
        written = self._file.with_name(f"{self._file.name}.{os.getpid()}")
        written.write_text(str(moment))
        written.replace(self._file)
