"""Writes what functions print and log for ``python_worker_logs()`` of their session.

While it evaluates functions, PySpark's worker has a handler on the root logger, and streams of its
own in place of standard output and error. Here tasks share these, so the handler is visible only to
tasks whose session has asked for the log.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from types import FrameType

from pyflow.thread_mode import current_task, pyspark_worker

__all__ = ["SessionLog", "current", "install"]

#: Writes a record, JSON in UTF-8, to the log of a number.
Write = Callable[[int, bytes], None]

_write: Write


def install(write: Write) -> None:
    """Have the logs of this interpreter's tasks written by `write`."""
    global _write
    _write = write


def current() -> SessionLog | None:
    """The log of the current thread's task, if its session wants one."""
    task = current_task.current()
    return None if task is None else task.session_log


class SessionLog:
    """The log of the functions of one task.

    Parameters
    ----------
    number : int
        By which the JVM knows it.

    Attributes
    ----------
    handler : logging.Handler
        For the root logger.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._formatter = pyspark_worker.log_formatter(_function_that_logs)
        # A PySparkLogger that finds such a handler makes none of its own.
        self.handler = logging.StreamHandler(self)
        self.handler.setFormatter(self._formatter)

    def write(self, record: str) -> None:
        """Write a record as the formatter makes it; a stream's method."""
        _write(self._number, record.removeprefix(pyspark_worker.LOG_PREFIX).rstrip("\n").encode())

    def flush(self) -> None:
        """Do nothing: every record is written at once; a stream's method."""

    def add_text(self, logger: str, level: int, text: str) -> None:
        """Add what is written to standard output or error, unless it is blank."""
        message = text.strip()
        if message:
            record = logging.LogRecord(logger, level, "", 0, message, None, None)
            self.write(self._formatter.format(record))


def _function_that_logs() -> dict[str, str]:
    """Name the outermost function that is not PySpark's or ours, and its class.

    Nothing in a thread that a function has started. See ``context_provider`` in PySpark's
    ``logger/worker_io.py``.
    """
    function: FrameType | None = None
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code is not current_task.call_out.__code__:
        if _is_internal(frame.f_back) and not _is_internal(frame):
            function = frame
        frame = frame.f_back
    if frame.f_globals.get("__name__") == "threading":
        return {}
    if not _is_internal(frame):  # called by the bridge
        function = frame
    if function is None:
        return {}
    context = {"func_name": function.f_code.co_name}
    if "self" in function.f_locals:
        context["class_name"] = type(function.f_locals["self"]).__name__
    elif "cls" in function.f_locals:
        context["class_name"] = function.f_locals["cls"].__name__
    return context


def _is_internal(frame: FrameType) -> bool:
    module = frame.f_globals.get("__name__", "")
    return module.startswith(("pyspark.", "pyflow.thread_mode.")) and ".tests." not in module
