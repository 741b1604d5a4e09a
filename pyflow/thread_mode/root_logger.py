"""The root logger, whose handlers and level a task may have for itself.

In a worker process PySpark gives the root logger a handler, and PyFlink one and a level. Here
tasks of several sessions share an interpreter: what was configured for one of them must not apply
to another. What functions set themselves applies to all tasks, as it stays in a worker.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, MutableSequence
from typing import Any

from pyflow.thread_mode import current_task

__all__ = ["install"]


def install() -> None:
    """Let tasks have handlers of the root logger for themselves."""
    logging.root.__class__ = _RootLogger


class _RootLogger(logging.RootLogger):
    """The root logger, which stays one.

    Its own list of handlers, those of all tasks, is where it was: in the instance.
    """

    @property
    def handlers(self) -> Any:
        """Those of the current thread."""
        return _HandlersOfThread(vars(self)["handlers"])

    @handlers.setter
    def handlers(self, handlers: Iterable[logging.Handler]) -> None:
        self.handlers[:] = list(handlers)


_RootLogger.__name__ = logging.RootLogger.__name__


class _HandlersOfThread(MutableSequence[logging.Handler]):
    """The handlers of the root logger: those of all tasks, and those of the current thread's task.

    Parameters
    ----------
    handlers : list of logging.Handler
        Those of all tasks.
    """

    def __init__(self, handlers: list[logging.Handler]) -> None:
        self._of_all = handlers

    def _of_thread(self) -> list[logging.Handler]:
        task = current_task.current()
        return [*self._of_all, *(task.log_handlers if task else [])]

    def _set(self, handlers: list[logging.Handler]) -> None:
        task = current_task.current()
        own = task.log_handlers if task else []
        if task:
            task.log_handlers = [handler for handler in own if handler in handlers]
        self._of_all[:] = [handler for handler in handlers if handler not in own]

    def copy(self) -> list[logging.Handler]:
        """Return what it has now, as a list."""
        return self._of_thread()

    def sort(self, **options: Any) -> None:
        """Sort it as a list."""
        self._set(sorted(self._of_thread(), **options))

    def __eq__(self, other: object) -> bool:
        return self._of_thread() == (
            other.copy() if isinstance(other, _HandlersOfThread) else other
        )

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: list[logging.Handler]) -> list[logging.Handler]:
        return self._of_thread() + other

    def __repr__(self) -> str:
        return repr(self._of_thread())

    def __iter__(self) -> Iterator[logging.Handler]:
        return iter(self._of_thread())

    def __len__(self) -> int:
        return len(self._of_thread())

    def __getitem__(self, index: Any) -> Any:
        return self._of_thread()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        handlers = self._of_thread()
        handlers[index] = value
        self._set(handlers)

    def __delitem__(self, index: Any) -> None:
        handlers = self._of_thread()
        del handlers[index]
        self._set(handlers)

    def insert(self, index: int, value: logging.Handler) -> None:
        handlers = self._of_thread()
        handlers.insert(index, value)
        self._set(handlers)
