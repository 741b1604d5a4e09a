"""Keeps apart the files that functions name by the ID of their process.

Every worker has an ID of its own, so that the names of files with it are different for tasks that
run at once. Here all tasks find the ID of the executor. Once something has asked for it, a task
that writes a file anew of which the path has it, and which another running task has written, is
refused.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable
from typing import Any

from pyflow.thread_mode import current_task
from pyflow.thread_mode.containment import replace_function
from pyflow.thread_mode.current_task import CurrentTask
from pyflow.thread_mode.module_imports import note_refusal

__all__ = ["check_file", "install"]

#: Modules that ask for the ID themselves, and do not name files by it.
_OTHER_CALLERS = {"logging", "multiprocessing.util", "random", "tempfile", "uuid"}

#: IDs below, as they are usual in containers, are looked for between characters that are neither
#: letters nor digits.
_SHORT = 1000

_HOLDS = object()


def install(hold_file: Callable[..., bool]) -> None:
    """Have files watched that are written once a function, or a library, has asked for the ID.

    Parameters
    ----------
    hold_file : callable
        Whether a task, by a number, holds a file, by its path, among all tasks of the process, or
        takes it; lets all of its files go if none is given; has `check_file` called if no task is
        given.
    """
    global _hold_file
    of_process = os.getpid

    @functools.wraps(of_process)
    def getpid() -> int:
        if not _watching and _running_task() is not None and _asks_for_names():
            _watching.append(True)
            hold_file()
        return of_process()

    _hold_file = hold_file
    replace_function(os, "getpid", getpid)


_hold_file: Any = None
_watching: list[bool] = []
_outside = rb"\d" if os.getpid() >= _SHORT else rb"\da-zA-Z"
_id_in = re.compile(rb"(?<![%b])%d(?![%b])" % (_outside, os.getpid(), _outside)).search


def _running_task() -> CurrentTask | None:
    task = current_task.current()
    return None if task is None or task.ended else task


def _asks_for_names() -> bool:
    try:
        caller = sys._getframe(2)
    except ValueError:  # C code has called it
        return True
    return caller.f_globals.get("__name__") not in _OTHER_CALLERS


def check_file(path: bytes) -> None:
    """Refuse that the current task writes a file which another running task has written."""
    task = _running_task()
    if not _watching or task is None or not _id_in(path):
        return
    if _HOLDS not in task.own:
        task.at_end.append(lambda: _let_go(task))
        task.own[_HOLDS] = True
    found = os.path.realpath(path)
    if _hold_file(id(task), found):
        return
    if not os.path.isfile(found):  # it has been renamed, say
        _hold_file(id(task), found, True)
        return
    note_refusal()
    raise OSError(
        f"{os.fsdecode(path)!r} is written by another task, too: os.getpid() is the same "
        "for all tasks of the executor; name files with tempfile or "
        "TaskContext.get().taskAttemptId(), or run the function in process mode "
        "(spark.pyflow.execution-mode=process)"
    )


def _let_go(task: CurrentTask) -> None:
    task.own.pop(_HOLDS, None)
    _hold_file(id(task))
