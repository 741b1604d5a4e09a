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
from types import ModuleType
from typing import Any

from pyflow.thread_mode import current_task
from pyflow.thread_mode.containment import replace_function
from pyflow.thread_mode.current_task import CurrentTask
from pyflow.thread_mode.module_imports import note_refusal

__all__ = ["check_file", "install", "leave_file"]

#: Modules that ask for the ID themselves, and do not name files by it.
_OTHER_CALLERS = {"logging", "multiprocessing.util", "random", "tempfile", "uuid"}

#: IDs below, as they are usual in containers, are looked for between characters that are neither
#: letters nor digits.
_SHORT = 1000

_HOLDS = object()


def install(written_files: ModuleType) -> None:
    """Have files watched that are written once a function, or a library, has asked for the ID.

    Parameters
    ----------
    written_files : module
        Of the bridge. ``watch()`` has `check_file` and `leave_file` called; ``hold(task, path,
        exists)`` returns whether no other task writes a file, which one that is gone does not
        count for once its task has left it by ``leave(task, path)``; ``let_go(task)`` lets all of
        a task's go.
    """
    global _files
    of_process = os.getpid

    @functools.wraps(of_process)
    def getpid() -> int:
        if not _watching and _running_task() is not None and _asks_for_names():
            _watching.append(True)
            written_files.watch()
        return of_process()

    _files = written_files
    replace_function(os, "getpid", getpid)


_files: Any = None
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
    task = _watched_task(path)
    if task is None:
        return
    exists = os.path.exists(path)
    if exists and not os.path.isfile(path):  # a pipe, say
        return
    if _HOLDS not in task.own:
        task.at_end.append(lambda: _let_go(task))
        task.own[_HOLDS] = True
    if _files.hold(id(task), os.path.realpath(path), exists):
        return
    note_refusal()
    raise OSError(
        f"{os.fsdecode(path)!r} is written by another task, too: os.getpid() is the same "
        "for all tasks of the executor; name files with tempfile or "
        "TaskContext.get().taskAttemptId(), or run the function in process mode "
        "(spark.pyflow.execution-mode=process)"
    )


def leave_file(path: bytes) -> None:
    """Let other tasks write a file when the current task, which has written it, moves it away."""
    task = _watched_task(path)
    if task is not None and _HOLDS in task.own:
        _files.leave(id(task), os.path.realpath(path))


def _watched_task(path: bytes) -> CurrentTask | None:
    """The current task, if files of such a path are watched."""
    return _running_task() if _watching and _id_in(path) else None


def _let_go(task: CurrentTask) -> None:
    task.own.pop(_HOLDS, None)
    _files.let_go(id(task))
