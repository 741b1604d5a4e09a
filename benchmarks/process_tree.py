"""CPU time and memory of a JVM with its Python workers, read from /proc."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

_TICK_NANOS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/<pid>/stat after the command name, which may hold spaces."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()


def process_tree(root: int) -> list[int]:
    """Return a process and all its living descendants, itself first."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parent = int(_stat(int(entry))[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
            children.setdefault(parent, []).append(int(entry))

    def walk(pid: int) -> Iterator[int]:
        yield pid
        for child in children.get(pid, []):
            yield from walk(child)

    return list(walk(root))


def busy_nanos() -> int:
    """Return the CPU time that all processes of the machine have used so far."""
    user, nice, system, _idle, _waiting, irq, softirq, *_ = map(
        int, Path("/proc/stat").read_text().split(maxsplit=9)[1:8]
    )
    return (user + nice + system + irq + softirq) * _TICK_NANOS


def cpu_nanos(root: int) -> int:
    """Return the CPU time a process tree has used so far, ended descendants included."""
    ticks = 0
    for pid in process_tree(root):
        try:
            # utime, stime, and the same of children already waited for
            ticks += sum(map(int, _stat(pid)[11:15]))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return ticks * _TICK_NANOS


def thread_cpu_nanos(pid: int, name: str) -> int:
    """Return the CPU time of the living threads of a process whose name begins so."""
    nanos = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        try:
            if (thread / "comm").read_text().startswith(name):
                # The clock of threads is finer than the ticks of `stat`.
                nanos += int((thread / "schedstat").read_text().split()[0])
        except (FileNotFoundError, ProcessLookupError):
            continue
    return nanos


def own_cpu_nanos(pid: int) -> int:
    """Return the CPU time that one process has used so far, without its descendants."""
    return sum(map(int, _stat(pid)[11:13])) * _TICK_NANOS


def memory_bytes(root: int) -> int:
    """Return the memory of a process tree.

    The root counts with its resident set, which is cheap to read even for a large heap; its
    descendants, forked from one another, with their proportional share of common pages.
    """
    total = int(Path(f"/proc/{root}/statm").read_text().split()[1]) * _PAGE_BYTES
    for pid in process_tree(root)[1:]:
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += sum(
            int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith("Pss:")
        )
    return total


class PeakMemory:
    """Watches the memory of a process tree inside a ``with`` block.

    Attributes
    ----------
    peak : int
        The largest number of bytes seen.
    """

    def __init__(self, root: int, interval: float = 0.02) -> None:
        self.peak = 0
        self._root = root
        self._interval = interval
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            self.peak = max(self.peak, memory_bytes(self._root))
            if self._done.wait(self._interval):
                return
