"""The surroundings of a task's functions: environment, files, broadcast variables, task context."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyflow.thread_mode import application, current_task, pyspark_worker, task_globals
from pyflow.thread_mode.session_log import SessionLog

__all__ = ["begin_task", "log_for_session"]


@contextmanager
def begin_task(spec: dict[str, Any]) -> Iterator[current_task.CurrentTask]:
    """Make a task the current thread's, with its environment, files, broadcasts and context.

    If the body raises, the task ends. Otherwise the owner of the functions ends it.

    Parameters
    ----------
    spec : dict
        What the JVM describes: ``functions`` (each with a ``name``), ``application`` (its id),
        ``task``, ``broadcasts`` (ids and files), ``files_dir``, ``files_of_session`` (whether only
        one of the application's sessions has them), ``python_includes`` and ``environment``
        (variables, None for those that the process has and the task has not).
    """
    task = current_task.CurrentTask(_label(spec), task_globals.new_context())
    current_task.enter(task)
    try:
        for name, value in spec["environment"].items():
            if value is None:
                task.variables.pop(os.fsencode(name), None)
            else:
                task.variables[os.fsencode(name)] = os.fsencode(value)
        of_task = application.current(spec["application"])
        if not spec["files_of_session"]:
            of_task.add_files(spec["files_dir"], spec["python_includes"])
        task.files_root = spec["files_dir"]
        task.broadcasts = of_task.broadcasts(spec["task"]["taskAttemptId"], spec["broadcasts"])
        task.context = pyspark_worker.task_context(spec["task"])
        yield task
    except BaseException:
        task.end()
        raise


def log_for_session(task: current_task.CurrentTask, spec: dict[str, Any]) -> None:
    """Let the session see what the functions print and log from now on, if it wants to.

    Parameters
    ----------
    task : CurrentTask
    spec : dict
        ``session_log``: the number of the log, or None.
    """
    if spec["session_log"] is not None:
        task.session_log = SessionLog(spec["session_log"])


def _label(spec: dict[str, Any]) -> str:
    names = ", ".join(function["name"] for function in spec["functions"])
    task = spec["task"]
    return (
        f"{names}, task {task['partitionId']}.{task['attemptNumber']} in stage {task['stageId']} "
        f"(TID {task['taskAttemptId']})"
    )
