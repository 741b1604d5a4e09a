"""What modules set while they are imported, for tasks that have begun before.

Each worker process that imports a module runs it. Here the task that imports it first does, and
what the module sets applies to all tasks that begin later. A task that has begun before finds the
module imported when it imports it, too, and then gets what modules have set since it began, unless
it has set that itself.
"""

from __future__ import annotations

import builtins
import importlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from pyflow.thread_mode import current_task
from pyflow.thread_mode.module_imports import being_imported, changes

__all__ = ["SetByModules", "change_running_tasks", "forget", "install"]

T = TypeVar("T")

_and_then: Callable[[Callable[..., Any], Callable[[], None]], Any]

_watches_imports = False


class SetByModules(Generic[T]):
    """What modules have set while they were imported, for tasks that begin, in this order."""

    def __init__(self) -> None:
        self._values: list[tuple[frozenset[str], T]] = []
        _all.append(self)

    def add(self, value: T) -> None:
        """Add what the module has set whose import ends in the current thread."""
        self._values.append((frozenset(being_imported()), value))

    def __iter__(self) -> Iterator[T]:
        return iter([value for _, value in self._values])

    def last(self, default: T) -> T:
        """The last value, or `default` if there is none."""
        return self._values[-1][1] if self._values else default

    def forget(self, modules: set[str]) -> None:
        """Forget what was set in imports of any of these modules."""
        self._values = [each for each in self._values if not modules & each[0]]


_all: list[SetByModules[Any]] = []


def forget(modules: Iterable[str]) -> None:
    """Forget what modules have set which are to be imported anew."""
    for each in _all:
        each.forget(set(modules))


def install(and_then: Callable[[Callable[..., Any], Callable[[], None]], Any]) -> None:
    """Prepare this interpreter.

    Parameters
    ----------
    and_then : callable
        Returns a function that calls a first one, and a second one after each success.
    """
    global _and_then
    _and_then = and_then
    bootstrap: Any = importlib._bootstrap
    for name in ("_find_and_load", "_lock_unlock_module"):  # where a task waits for another
        setattr(bootstrap, name, and_then(getattr(bootstrap, name), _catch_up))


def change_running_tasks(change: Callable[[], None]) -> None:
    """Have each running task call `change` once it imports a module.

    Parameters
    ----------
    change : callable
        Sets for the current thread's task what a module has set, unless the task has set it.
    """
    _catch_up()
    changes.append(change)
    _watch_imports()
    task = current_task.current()
    if task is not None and task.changes_seen == len(changes) - 1:
        task.changes_seen += 1


def _watch_imports() -> None:
    """Watch all imports from now on, also of what is imported already; few modules set anything."""
    global _watches_imports
    if not _watches_imports:
        _watches_imports = True
        builtins.__import__ = _and_then(builtins.__import__, _catch_up)


def _catch_up() -> None:
    task = getattr(current_task.of_thread, "task", None)
    if task is None or task.changes_seen == len(changes) or not current_task.is_main_thread():
        return
    missed, task.changes_seen = changes[task.changes_seen :], len(changes)
    for change in missed:
        change()
