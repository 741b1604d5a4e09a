"""The surroundings of a task's functions: environment, files, broadcasts, task context, logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyflow.thread_mode import (
    application,
    bootstrap,
    current_task,
    debugger,
    environment,
    executor_log,
    imported_settings,
    pyspark_worker,
    task_globals,
)
from pyflow.thread_mode.log_levels import levels_of
from pyflow.thread_mode.session_log import SessionLog

__all__ = ["begin_task", "log_for_session", "set_log_levels"]

_TO_EXECUTOR = executor_log.Handler()


@contextmanager
def begin_task(spec: dict[str, Any]) -> Iterator[current_task.CurrentTask]:
    """Make a task the current thread's, with its environment, files, broadcasts and context.

    If the body raises, the task ends. Otherwise the owner of the functions ends it.

    Parameters
    ----------
    spec : dict
        What the JVM describes: ``functions`` (each with a ``name``), ``application`` (its id),
        ``task``, ``broadcasts`` (ids and files), ``files_dir``, ``files_of_session`` (whether only
        one of the application's sessions has them), ``modules_of_session`` (whether there are
        modules among these), ``python_includes``, ``environment``
        (variables, None for those that the process has and the task has not), ``log_fields`` and
        ``log_levels`` (``default`` and ``of_loggers``, or None).
    """
    task = current_task.CurrentTask(_label(spec), spec["application"], task_globals.new_context)
    task.log_fields = spec["log_fields"]
    current_task.enter(task)
    try:
        if spec["log_levels"] is not None:
            set_log_levels(**spec["log_levels"])
        environment.begin(task, spec["environment"])
        of_task = application.current(spec["application"])
        if not spec["files_of_session"]:
            of_task.add_files(spec["files_dir"], spec["python_includes"])
        if bootstrap.is_isolated():
            of_session = spec["files_dir"] if spec["modules_of_session"] else None
            of_task.use_files_of_session(of_session, spec["python_includes"])
        task.files_root = spec["files_dir"]
        task.broadcasts = of_task.broadcasts(spec["task"]["taskAttemptId"], spec["broadcasts"])
        task.context = pyspark_worker.task_context(spec["task"])
        task.context_variables.run(imported_settings.begin)
        debugger.wait_for_client()
        yield task
    except BaseException:
        task.end()
        raise


def set_log_levels(default: int, of_loggers: Mapping[str, int]) -> None:
    """Give loggers levels for the current task, and write what they let through to the log.

    Parameters
    ----------
    default : int
        Of the root logger.
    of_loggers : mapping of str to int
        Of others, by name.
    """
    task = current_task.current()
    assert task is not None
    task.log_levels = levels_of(default, of_loggers)
    if _TO_EXECUTOR not in task.log_handlers:
        task.log_handlers.append(_TO_EXECUTOR)


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
        task.log_handlers.append(task.session_log.handler)


def _label(spec: dict[str, Any]) -> str:
    names = ", ".join(function["name"] for function in spec["functions"])
    task = spec["task"]
    return (
        f"{names}, task {task['partitionId']}.{task['attemptNumber']} in stage {task['stageId']} "
        f"(TID {task['taskAttemptId']})"
    )
