"""What a job has printed, and the exceptions in it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

_CHUNK = 1 << 16
# How much of the end of a log is looked through.
_TAIL = 1 << 20
_LINES = 20
_TRACE = re.compile(
    r"^Traceback \(most recent call last\):\n(?:(?:[ \t].*)?\n)+(?P<name>[\w.]+).*$", re.MULTILINE
)


def content(log: Path, lines: int | None) -> Iterator[bytes]:
    """Yield what is in a log, as it is now, or its last lines."""
    with log.open("rb") as file:
        end = os.fstat(file.fileno()).st_size
        file.seek(0 if lines is None else _start_of(file.fileno(), end, lines))
        while (rest := end - file.tell()) > 0 and (data := file.read(min(_CHUNK, rest))):
            yield data


def _start_of(descriptor: int, end: int, lines: int) -> int:
    """Return where the last lines of a file begin."""
    if lines == 0 or end == 0:
        return end
    # The last character may end a line.
    place, missing = end - 1, lines
    while place > 0:
        start = max(place - _CHUNK, 0)
        chunk = os.pread(descriptor, place - start, start)
        while (found := chunk.rfind(b"\n")) >= 0:
            missing -= 1
            if missing == 0:
                return start + found + 1
            chunk = chunk[:found]
        place = start
    return 0


def exceptions(log: Path, has_failed: bool) -> list[tuple[str, str]]:
    """Return names and traces of the exceptions in a log, the last one first.

    Parameters
    ----------
    log : Path
    has_failed : bool
        Whether there has to be one: the last lines, if there is no trace.
    """
    with log.open("rb") as file:
        file.seek(max(os.fstat(file.fileno()).st_size - _TAIL, 0))
        text = file.read(_TAIL).decode(errors="replace")
    found = [(match["name"], match[0]) for match in _TRACE.finditer(text)]
    if not found and has_failed:
        found = [("exit", "\n".join(text.splitlines()[-_LINES:]))]
    return found[::-1]
