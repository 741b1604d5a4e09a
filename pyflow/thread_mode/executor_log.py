"""Writes to the executor's log, with fields of the task as Spark's structured logs have them."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

from pyflow.thread_mode import current_task, session_log

__all__ = ["Handler", "install", "write"]

#: Writes a line, JSON in UTF-8, with a level of :mod:`logging`.
Log = Callable[[int, bytes], None]

_log: Log


def install(log: Log) -> None:
    """Write by `log`, also the log records that no handler of a function's own takes."""
    global _log
    _log = log
    logging.lastResort = _LastResort(logging.WARNING)


def write(
    level: int, message: str, logger: str | None = None, fields: dict[str, Any] | None = None
) -> None:
    """Write a message, with the functions and the task in front.

    Parameters
    ----------
    level : int
        Of :mod:`logging`.
    message : str
    logger : str, optional
        The name of the logger in Python.
    fields : dict, optional
        Besides those of the task.
    """
    task = current_task.current()
    line: dict[str, Any] = {"message": message}
    if task is not None:
        line = {"message": f"[{task.label}] {message}", "fields": task.log_fields}
    if fields:
        line["fields"] = {**line.get("fields", {}), **{key: str(fields[key]) for key in fields}}
    if logger is not None:
        # Patterns often show the last part of a logger's name alone.
        line["logger"] = logger
        line["fields"] = {**line.get("fields", {}), "logger_name": logger}
    _log(level, json.dumps(line).encode())


class Handler(logging.Handler):
    """Writes records, with what a ``PySparkLogger`` was given besides the message as fields."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        context = vars(record).get("context")
        fields = context if isinstance(context, dict) else None
        try:
            write(record.levelno, self.format(record), record.name, fields)
        except Exception:
            self.handleError(record)


class _LastResort(Handler):
    """What a worker would write to its standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        log = session_log.current()
        if log is not None:
            log.add_text("stderr", logging.ERROR, self.format(record))
        super().emit(record)
