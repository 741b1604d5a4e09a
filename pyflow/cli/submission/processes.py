"""Processes of this machine, told apart from later ones with the same number."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
# Set by spark-submit for the program that it starts.
_OF_DRIVER = b"PYSPARK_GATEWAY_PORT="


@dataclass(frozen=True)
class Process:
    """A process.

    Parameters
    ----------
    pid : int
    started : int
        When it was started, in ticks of the clock since the machine was.
    boot : str
        Which start of the machine that is.
    """

    pid: int
    started: int
    boot: str

    @classmethod
    def of(cls, pid: int) -> Process | None:
        """Return the process that has a number now, or None."""
        fields = _fields(pid)
        return None if fields is None else cls(pid, int(fields[19]), _boot())

    def is_alive(self) -> bool:
        """Return whether it runs."""
        return Process.of(self.pid) == self

    def send(self, number: signal.Signals) -> None:
        """Send it a signal, if it runs."""
        if self.is_alive():
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def drivers(self) -> list[Process]:
        """Return the Python programs that a spark-submit has started, the first one first."""
        found = []
        for each in _of_session(self.pid):
            with suppress(OSError):
                variables = (_PROC / str(each.pid) / "environ").read_bytes().split(b"\0")
                if any(variable.startswith(_OF_DRIVER) for variable in variables):
                    found.append(each)
        return sorted(found, key=lambda each: each.started)


def kill_session(leader: int) -> None:
    """End what a process has started that leads a session of its own, and the process."""
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def _of_session(leader: int) -> Iterator[Process]:
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            fields = _fields(int(entry.name))
            if fields is not None and int(fields[3]) == leader:
                yield Process(int(entry.name), int(fields[19]), _boot())


def _fields(pid: int) -> list[str] | None:
    """Return what /proc tells of a process, from its state on; None where it has ended."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else fields


def _boot() -> str:
    return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
