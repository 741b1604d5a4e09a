"""One line on the console that says how far a run is."""

from __future__ import annotations

import sys
import time


class Progress:
    """Counts the steps of a run and shows them, in place on a terminal, else line by line.

    Parameters
    ----------
    total : float
        How many steps the run has.
    """

    def __init__(self, total: float) -> None:
        self._total = total
        self._done = 0.0
        self._start = time.monotonic()
        self._shown = ""
        self._width = 0

    def step(self, what: str, detail: str = "", steps: float = 1) -> None:
        """Count steps that have been made, and show what they were.

        Without a terminal a line appears only when `what` changes.
        """
        self._done += steps
        elapsed = time.monotonic() - self._start
        line = f"{min(self._done / self._total, 1):4.0%}  {_minutes(elapsed)} elapsed"
        # The first steps carry the start of a session.
        if 0.05 < self._done / self._total < 1:
            line += f", about {_minutes(elapsed * (self._total / self._done - 1))} left"
        if sys.stderr.isatty():
            line += f"  {what} {detail}"
            print(f"\r{line:<{self._width}}", end="", file=sys.stderr, flush=True)
            self._width = len(line)
        elif what != self._shown:
            print(f"{line}  {what}", file=sys.stderr, flush=True)
        self._shown = what

    def note(self, message: str) -> None:
        """Show a message on a line of its own."""
        start = "\n" if sys.stderr.isatty() and self._shown else ""
        print(start + message, file=sys.stderr, flush=True)


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
