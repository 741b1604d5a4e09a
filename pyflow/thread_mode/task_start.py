"""What the functions of a task find around them, whatever their kind."""

from __future__ import annotations

import os
from decimal import Decimal
from typing import Any

from pyspark.worker_message import TaskContextInfo

from pyflow.thread_mode import current_task, payload
from pyflow.thread_mode.session_log import SessionLog

__all__ = ["begin_task", "log_for_session"]


def begin_task(spec: dict[str, Any]) -> current_task.CurrentTask:
    """Make a task the current thread's, with its environment, files, broadcasts and context.

    Parameters
    ----------
    spec : dict
        What the JVM describes: ``functions`` (each with a ``name``), ``task``, ``broadcasts``,
        ``files_dir``, ``python_includes`` and ``environment``.
    """
    task = current_task.CurrentTask(_label(spec))
    current_task.enter(task)
    os.environ.update(spec["environment"])
    payload.set_up_files(spec["files_dir"], spec["python_includes"])
    payload.set_up_broadcasts(spec["broadcasts"])
    task.context = _task_context(spec["task"])
    return task


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


def _task_context(task: dict[str, Any]) -> Any:
    return TaskContextInfo(
        is_barrier=task["isBarrier"],
        conn_info=task["connInfo"],
        secret=task["secret"],
        stage_id=task["stageId"],
        partition_id=task["partitionId"],
        attempt_number=task["attemptNumber"],
        task_attempt_id=task["taskAttemptId"],
        cpus=task["cpus"],
        cpu_amount=Decimal(task["cpuAmount"]),
        resources={
            name: TaskContextInfo.ResourceInfo(name=each["name"], addresses=each["addresses"])
            for name, each in task["resources"].items()
        },
        local_properties=task["localProperties"],
    ).to_task_context()
