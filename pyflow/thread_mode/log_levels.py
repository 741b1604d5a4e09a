"""Levels of loggers that a session has configured for its functions.

Each task has its own: `logging` finds them where no level was set on a logger, by a module or a
function, which then holds for all tasks.
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Mapping
from typing import Any

from pyflow.thread_mode import current_task

__all__ = ["LogLevels", "install", "levels_of"]

_DEFAULT = logging.WARNING


class LogLevels:
    """The levels that loggers have for the tasks of a session.

    Attributes
    ----------
    default : int
        Of the root logger.
    of_loggers : dict of str to int
        Of others, by name.
    enabled : dict
        What `logging` remembers for each logger: which levels are enabled.
    """

    def __init__(self, default: int, of_loggers: Mapping[str, int]) -> None:
        self.default = default
        self.of_loggers = dict(of_loggers)
        self.enabled: dict[logging.Logger, dict[int, bool]] = {}
        for name in of_loggers:
            logging.getLogger(name)  # those below it find it


_known: weakref.WeakValueDictionary[Any, LogLevels] = weakref.WeakValueDictionary()


def levels_of(default: int, of_loggers: Mapping[str, int]) -> LogLevels:
    """Return these levels, as the same object while a task has them."""
    key = default, tuple(sorted(of_loggers.items()))
    return _known.setdefault(key, LogLevels(default, of_loggers))


def install() -> None:
    """Let loggers have levels by task."""
    vars(logging.root)["level"] = None
    for name, attribute in (("level", _Level()), ("_cache", _Cache())):
        setattr(logging.Logger, name, attribute)
    logging.Manager._clear_cache = _clear_cache  # type: ignore[attr-defined]


def _of_task() -> LogLevels | None:
    task = current_task.current()
    return None if task is None else task.log_levels


class _Level:
    """The level of a logger: that which was set, else that of the current thread's task."""

    def __get__(self, logger: logging.Logger | None, owner: type) -> Any:
        if logger is None:
            return self
        was_set: int | None = vars(logger)["level"]
        if was_set:
            return was_set
        levels = _of_task()
        if logger is not logging.root:
            return levels.of_loggers.get(logger.name, logging.NOTSET) if levels else logging.NOTSET
        if was_set is not None:
            return was_set
        return levels.default if levels else _DEFAULT

    def __set__(self, logger: logging.Logger, level: int) -> None:
        vars(logger)["level"] = level


class _Cache:
    """What `logging` remembers of the levels of a logger."""

    def __get__(self, logger: logging.Logger | None, owner: type) -> Any:
        if logger is None:
            return self
        levels = _of_task()
        return vars(logger)["_cache"] if levels is None else levels.enabled.setdefault(logger, {})

    def __set__(self, logger: logging.Logger, cache: dict[int, bool]) -> None:
        vars(logger)["_cache"] = cache


def _clear_cache(manager: logging.Manager) -> None:
    """Forget what is remembered of the levels of all loggers, for all tasks."""
    with logging._lock:  # type: ignore[attr-defined]
        for logger in (manager.root, *manager.loggerDict.values()):
            if isinstance(logger, logging.Logger):
                vars(logger)["_cache"].clear()
        for levels in list(_known.values()):
            levels.enabled.clear()
