"""Writes what functions print to the executor's log, with level, functions and task.

Each task has its own ``sys.stdin``, ``sys.stdout`` and ``sys.stderr``: a redirected stream gets the
output of its task's threads only. Standard input is empty, as in a worker process.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import io
import itertools
import logging
import os
import resource
import sys
import threading
from typing import Any

from pyflow.thread_mode import current_task, executor_log, session_log, task_globals
from pyflow.thread_mode.task_globals import TaskValue

__all__ = ["install"]

_MAX_NUMBER = 1 << 14
_numbers = itertools.count()


def install() -> None:
    """Send the interpreter's standard output and standard error to the executor's log."""
    streams = {
        "stdin": _Empty(open(os.devnull, "rb"), encoding="utf-8"),  # noqa: SIM115
        "stdout": _Text("stdout", logging.INFO, _Lines(1, logging.INFO), "surrogateescape"),
        "stderr": _Text("stderr", logging.ERROR, _Lines(2, logging.WARNING), "backslashreplace"),
    }
    values: dict[str, TaskValue[Any]] = {name: TaskValue(each) for name, each in streams.items()}
    for name, value in values.items():
        # What `print` and other C code finds.
        setattr(sys, name, _Current(value))
        setattr(sys, f"__{name}__", streams[name])
    task_globals.replace_attributes(sys, values)


class _Current:
    """Forwards to the standard stream of the current thread's task.

    Parameters
    ----------
    stream : TaskValue
    """

    def __init__(self, stream: TaskValue[Any]) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream.get(), name)

    def write(self, text: str) -> Any:
        stream = self._stream.get()
        return None if stream is None else stream.write(text)

    def flush(self) -> Any:
        stream = self._stream.get()
        return None if stream is None else stream.flush()


class _Number:
    """The number of a descriptor that a task gets in the place of one of the executor.

    A function may open it as a file, and close that. The number is another one then.

    Parameters
    ----------
    descriptor : int
        Of the executor.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._of_process: int | None = None

    def get(self) -> int:
        task = current_task.current()
        copy = self._of_process if task is None else task.own.get(self)
        if copy is None or not self._is_copy(copy):
            copy = _duplicate(self._descriptor)
            if task is None:
                self._of_process = copy
            else:
                if self not in task.own:
                    task.at_end.append(functools.partial(self._close, task.own))
                task.own[self] = copy
        return copy

    def _is_copy(self, number: int) -> bool:
        try:
            return os.path.samestat(os.fstat(number), os.fstat(self._descriptor))
        except OSError:
            return False

    def _close(self, own: dict[Any, Any]) -> None:
        """Close the last copy of a task, whose values these are."""
        copy = own[self]
        if self._is_copy(copy):
            os.close(copy)


def _duplicate(descriptor: int) -> int:
    """Return a copy whose number nothing else gets soon: one that is closed is not taken again."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    half = max(min(limit, _MAX_NUMBER) // 2, 1)
    with contextlib.suppress(OSError):
        return fcntl.fcntl(
            descriptor, fcntl.F_DUPFD_CLOEXEC, half + next(_numbers) % max(half - 1, 1)
        )
    return os.dup(descriptor)


class _Empty(io.TextIOWrapper):
    """Standard input."""

    def __init__(self, file: Any, encoding: str) -> None:
        super().__init__(file, encoding)
        self._number = _Number(super().fileno())

    def fileno(self) -> int:
        return self._number.get()

    def close(self) -> None:
        """Stay open: other tasks read too."""

    def detach(self) -> Any:
        """Return the bytes; the stream stays as it is, for others."""
        return open(os.devnull, "rb")


class _Text(io.TextIOWrapper):
    """A text stream over `_Lines`, which the log of the task's session gets, too.

    Parameters
    ----------
    logger : str
        Name of the logger that the session sees.
    level : int
        That the session sees.
    lines : _Lines
    errors : str
        What to do with lone surrogates.
    """

    def __init__(self, logger: str, level: int, lines: Any, errors: str) -> None:
        super().__init__(
            lines, encoding="utf-8", errors=errors, line_buffering=True, write_through=True
        )
        self._logger = logger
        self._level = level

    def detach(self) -> Any:
        """Return what takes bytes; the stream stays as it is, for others."""
        self.flush()
        return self.buffer

    def reconfigure(self, **options: Any) -> None:
        """Stay as it is: the log has lines, in its own encoding."""

    def write(self, text: str) -> int:
        log = session_log.current()
        if log is not None:
            log.add_text(self._logger, self._level, text)
        return super().write(text)


class _Lines(io.RawIOBase):
    """A binary stream that logs whole lines. Each thread has its own line.

    Parameters
    ----------
    descriptor : int
        Where subprocesses write that are given this stream.
    level : int
        Of the messages.
    """

    def __init__(self, descriptor: int, level: int) -> None:
        self._number = _Number(descriptor)
        self._level = level
        self._thread = threading.local()

    def fileno(self) -> int:
        return self._number.get()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        data = bytes(data)
        *lines, rest = (getattr(self._thread, "rest", b"") + data).split(b"\n")
        self._thread.rest = rest
        for line in lines:
            self._write(line)
        return len(data)

    def flush(self) -> None:
        """Log a line that has not ended yet, as a line."""
        rest = getattr(self._thread, "rest", b"")
        if rest:
            self._thread.rest = b""
            self._write(rest)

    def _write(self, line: bytes) -> None:
        executor_log.write(self._level, line.decode(errors="replace"))

    def close(self) -> None:
        """Stay open: other tasks print too."""
