"""Keeps apart the files that functions name by the ID of their process.

Every worker has an ID of its own, so that the names of files with it are different for tasks that
run at once. Here all tasks find the ID of the executor. One that writes a file anew of which the
name has the ID, and which another running task has written, is refused.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable
from typing import Any

from pyflow.thread_mode import current_task
from pyflow.thread_mode.current_task import CurrentTask
from pyflow.thread_mode.module_imports import note_refusal

__all__ = ["install"]


def install(hold_name: Callable[..., bool]) -> None:
    """Watch the files that are written once a task has asked for the ID.

    Parameters
    ----------
    hold_name : callable
        Whether a task, by a number, holds a name among all tasks of the process; lets all of its
        names go if none is given.
    """
    of_process = os.getpid
    watching: list[bool] = []

    @functools.wraps(of_process)
    def getpid() -> int:
        if not watching and current_task.current() is not None:
            watching.append(True)
            sys.addaudithook(_Watch(of_process(), hold_name))
        return of_process()

    getpid.__module__ = os.__name__  # where pickle finds it, rather than in `posix`
    os.getpid = getpid


class _Watch:
    """An audit hook that refuses to write files which another task has written."""

    def __init__(self, process: int, hold_name: Callable[..., bool]) -> None:
        self._has_id = re.compile(rf"(?<!\d){process}(?!\d)".encode()).search
        self._hold_name = hold_name

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if not flags & os.O_TRUNC:
                return
        elif event == "sqlite3.connect":
            path = arguments[0]
        else:
            return
        task = current_task.current()
        if task is not None and not isinstance(path, int):
            self._hold(task, os.fsencode(path))

    def _hold(self, task: CurrentTask, path: bytes) -> None:
        if not self._has_id(path):
            return
        if self not in task.own:
            task.own[self] = True
            task.at_end.append(lambda: self._let_go(task))
        if not self._hold_name(id(task), os.path.realpath(path)):
            note_refusal()
            raise OSError(
                f"{os.fsdecode(path)!r} is written by another task, too: os.getpid() is the same "
                "for all tasks of the executor; name files with tempfile or "
                "TaskContext.get().taskAttemptId(), or run the function in process mode "
                "(spark.pyflow.execution-mode=process)"
            )

    def _let_go(self, task: CurrentTask) -> None:
        self._hold_name(id(task))
        task.own.pop(self, None)
