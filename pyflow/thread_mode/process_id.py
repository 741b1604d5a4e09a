"""Keeps apart the files that functions name by the ID of their process.

Every worker has an ID of its own, so that the names of files with it are different for tasks that
run at once. Here all tasks find the ID of the executor. A task that has asked for it, and then
writes a file anew of which the path has it, and which another such task has written, is refused.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from pyflow.thread_mode import current_task
from pyflow.thread_mode.current_task import CurrentTask
from pyflow.thread_mode.module_imports import note_refusal

__all__ = ["check_file", "install"]

_hold_file: Any = None

#: Of tasks that have asked for the ID: whether they hold no file.
_ASKED = object()

_id_in = re.compile(rf"(?<!\d){os.getpid()}(?!\d)".encode()).search


def install(hold_file: Callable[..., bool]) -> None:
    """Have files watched that are written once a task has asked for the ID.

    Parameters
    ----------
    hold_file : callable
        Whether a task, by a number, holds a file, by its path, among all tasks of the process;
        lets all of its files go if none is given; has `check_file` called if no task is given.
    """
    global _hold_file
    _hold_file = hold_file
    of_process = os.getpid
    watching: list[bool] = []

    @functools.wraps(of_process)
    def getpid() -> int:
        task = current_task.current()
        if task is not None and _ASKED not in task.own and not _is_standard(sys._getframe(1)):
            task.own[_ASKED] = True
            if not watching:
                watching.append(True)
                hold_file()
        return of_process()

    getpid.__module__ = os.__name__  # where pickle finds it, rather than in `posix`
    os.getpid = getpid


def _is_standard(caller: FrameType) -> bool:
    """Whether a module of the standard library asks, as `logging` does for each record."""
    name: str = caller.f_globals.get("__name__", "")
    return name.partition(".")[0] in sys.stdlib_module_names


def check_file(path: bytes) -> None:
    """Refuse that the current task writes a file which another running task has written."""
    task = current_task.current()
    if task is None or _ASKED not in task.own or not _id_in(path):
        return
    if task.own[_ASKED]:
        task.own[_ASKED] = False
        task.at_end.append(lambda: _let_go(task))
    if not _hold_file(id(task), os.path.realpath(path)):
        note_refusal()
        raise OSError(
            f"{os.fsdecode(path)!r} is written by another task, too: os.getpid() is the same "
            "for all tasks of the executor; name files with tempfile or "
            "TaskContext.get().taskAttemptId(), or run the function in process mode "
            "(spark.pyflow.execution-mode=process)"
        )


def _let_go(task: CurrentTask) -> None:
    _hold_file(id(task))
    task.own[_ASKED] = True
