"""Levels of loggers, sent to executors with the functions that they are for."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from typing import Any

from pyflow.streaming.runtime.life_cycle import at_end_of_task, in_thread_mode

__all__ = ["LogLevels"]

_FORMAT = "%(asctime)s %(levelname)s %(name)s: [%(task)s] %(message)s"
_TIME = "%y/%m/%d %H:%M:%S"


class LogLevels:
    """Levels of loggers, which hold for a task from when it unpickles them to its end.

    Parameters
    ----------
    default : int
        Of the root logger.
    of_loggers : mapping of str to int
        Of others, by name.
    """

    def __init__(self, default: int, of_loggers: Mapping[str, int]) -> None:
        self._levels = default, dict(of_loggers)

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, self._levels


def _received(default: int, of_loggers: dict[str, int]) -> LogLevels:
    """Unpickle levels, and let them take effect where functions run."""
    if in_thread_mode():
        sys.modules["pyflow.thread_mode.task_start"].set_log_levels(default, of_loggers)
    # By this Spark tells its worker processes where they find it.
    elif any(name.startswith("PYTHON_WORKER_FACTORY_") for name in os.environ):
        _set_in_worker(default, of_loggers)
    return LogLevels(default, of_loggers)


class _ToStandardError(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to what is standard error then, from where Spark brings it to that of the executor."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)
        self.setFormatter(_OfTask(_FORMAT, _TIME))

    @property
    def stream(self) -> Any:
        return sys.stderr


class _OfTask(logging.Formatter):
    """Names the task."""

    def format(self, record: logging.LogRecord) -> str:
        from pyspark import TaskContext

        task = TaskContext.get()
        record.task = "no task"
        if task is not None:
            record.task = (
                f"task {task.partitionId()}.{task.attemptNumber()} in stage {task.stageId()} "
                f"(TID {task.taskAttemptId()})"
            )
        return super().format(record)


_handler = _ToStandardError()


def _set_in_worker(default: int, of_loggers: dict[str, int]) -> None:
    """Set the levels of a worker process, until its task ends."""
    if _handler in logging.root.handlers:
        return
    loggers: dict[logging.Logger, int] = {logging.root: default}
    loggers.update((logging.getLogger(name), level) for name, level in of_loggers.items())
    before = {logger: logger.level for logger in loggers}
    for logger, level in loggers.items():
        logger.setLevel(level)
    captured = bool(logging.root.handlers)  # by PySpark, for python_worker_logs(), as is stderr
    if not captured:
        logging.root.addHandler(_handler)

    def restore() -> None:
        for logger, level in before.items():
            if logger.level == loggers[logger]:
                logger.setLevel(level)
        logging.root.removeHandler(_handler)

    at_end_of_task(restore)
