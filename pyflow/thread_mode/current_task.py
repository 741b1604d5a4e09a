"""What PySpark keeps once per worker process, for tasks that share a process.

Several tasks run at once here, each on a thread of its own. The task context and the variables of
``os.environ`` are therefore the thread's; a thread that a function starts has its starter's.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterator, MutableMapping
from typing import TYPE_CHECKING, Any, TypeVar

from pyspark.taskcontext import TaskContext

if TYPE_CHECKING:
    from pyflow.thread_mode.session_log import SessionLog

__all__ = ["CurrentTask", "call_out", "current", "enter", "install"]

T = TypeVar("T")
R = TypeVar("R")

_thread = threading.local()


class CurrentTask:
    """A task as its functions see it.

    Attributes
    ----------
    label : str
        Names the functions and the task, for the log.
    context : pyspark.TaskContext or None
        What ``TaskContext.get()`` returns.
    variables : dict of bytes to bytes
        The environment, the one of the process to begin with.
    session_log : SessionLog or None
        Where the session sees what the functions print and log, besides the executor's log.
    """

    def __init__(self, label: str) -> None:
        self.label = label
        self.context: TaskContext | None = None
        self.variables = dict(_variables.process)
        self.session_log: SessionLog | None = None


def current() -> CurrentTask | None:
    """The current thread's task."""
    return getattr(_thread, "task", None)


def enter(task: CurrentTask) -> None:
    """Make `task` the current thread's until the next call."""
    _thread.task = task


def call_out(task: CurrentTask, work: Callable[[T], R], argument: T) -> R:
    """Call what may run functions of other operators on this thread, and come back to `task`."""
    try:
        return work(argument)
    finally:
        enter(task)


def install() -> None:
    """Make PySpark, ``os.environ`` and new threads look up the current thread's task."""
    task_context: Any = TaskContext
    task_context._taskContext = _ContextOfThread()
    task_context.__new__ = staticmethod(_new_context)
    task_context._setTaskContext = classmethod(lambda cls, context: _set_context(context))

    environments: list[Any] = [os.environ, os.environb]
    for environment in environments:
        environment._data = _variables

    thread_class: Any = threading.Thread
    start = thread_class.start

    @functools.wraps(start)
    def start_in_task(thread: threading.Thread) -> None:
        task = current()
        if task is not None:
            run = thread.run

            def run_in_task() -> None:
                enter(task)
                try:
                    run()
                finally:
                    del thread.run

            thread.run = run_in_task  # type: ignore[method-assign]
        start(thread)

    thread_class.start = start_in_task


class _ContextOfThread:
    """Class attribute that reads as the current thread's task context."""

    def __get__(self, instance: Any, owner: Any) -> TaskContext | None:
        task = current()
        return None if task is None else task.context


def _new_context(cls: Any, **kwargs: Any) -> Any:
    """As ``TaskContext.__new__``: the context that is already there, or a new one."""
    task = current()
    if task is None:
        return object.__new__(cls)
    if task.context is None:
        task.context = object.__new__(cls)
    return task.context


def _set_context(context: TaskContext | None) -> None:
    task = current()
    if task is not None:
        task.context = context


class _VariablesOfThread(MutableMapping[bytes, bytes]):
    """The data of ``os.environ``."""

    def __init__(self) -> None:
        environ: Any = os.environ
        self.process: dict[bytes, bytes] = environ._data

    def _of_thread(self) -> dict[bytes, bytes]:
        task = current()
        return self.process if task is None else task.variables

    def __getitem__(self, name: bytes) -> bytes:
        return self._of_thread()[name]

    def __setitem__(self, name: bytes, value: bytes) -> None:
        self._of_thread()[name] = value

    def __delitem__(self, name: bytes) -> None:
        del self._of_thread()[name]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._of_thread())

    def __len__(self) -> int:
        return len(self._of_thread())


_variables = _VariablesOfThread()
