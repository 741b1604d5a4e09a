"""When functions are opened and closed: once per task and function, whatever becomes of the task.

Thread mode opens the functions of a task when all are loaded, and closes them before the task sends
its accumulators, or where it fails or is cancelled. A worker process opens a function where it
unpickles it. Nothing of it is called at the end of a task, but it drops the task's context before
it sends the accumulators: the functions are closed when that goes. They are closed, too, when one
of them raises, and when the worker drops the function itself, as it does when anything else fails
or its task is cancelled while it waits for rows or sends some. A worker that Spark kills closes
nothing.

The driver of a query with state has a worker of its own, without a task, that asks an operator for
its state: it opens nothing.
"""

from __future__ import annotations

import sys
import traceback
import weakref
from collections.abc import Callable, Iterable, MutableMapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pyflow.streaming.runtime.functions import FunctionContext, UserDefinedFunction
from pyflow.streaming.runtime.metrics import TaskMetricGroup

if TYPE_CHECKING:
    from pyspark import Accumulator, TaskContext

__all__ = [
    "SUBTASKS_PROPERTY",
    "OpenFunction",
    "TaskSettings",
    "at_end_of_task",
    "before_failed_worker_ends",
    "classes_by_value",
    "fail_task",
    "in_isolated_interpreter",
    "in_thread_mode",
    "report_metrics",
    "subtasks",
]

#: Local property of a task, with the number of its stage behind it, that says how many tasks the
#: stage has: org.apache.spark.sql.pyflow.RunningTask sets it.
SUBTASKS_PROPERTY = "pyflow.subtasks.of.stage."


_before_end_of_worker: list[Callable[[], None]] = []


class TaskSettings(NamedTuple):
    """What functions have to know of the session.

    Attributes
    ----------
    job_parameters : dict of str to str
    metrics : bool
        Whether functions may have metrics.
    accumulator : Accumulator or None
        What takes the metrics of worker processes to the driver.
    arrow : bool
        Whether PySpark takes values of plain functions through Arrow.
    log_levels : LogLevels or None
        Of the loggers of functions.
    """

    job_parameters: dict[str, str]
    metrics: bool
    accumulator: Accumulator[Any] | None
    arrow: bool
    log_levels: Any = None


class OpenFunction:
    """A function that is open from its first row on, until its task ends.

    Parameters
    ----------
    function : UserDefinedFunction or callable
        What the user wrote; a callable has nothing to open.
    name : str
    settings : TaskSettings
    """

    def __init__(self, function: Any, name: str, settings: TaskSettings) -> None:
        self._close: Callable[[], None] | None = None
        self.name = name
        if not isinstance(function, UserDefinedFunction):
            return
        task = _task_in_thread_mode()
        if task is not None:
            task.at_start.append(lambda: self._open(function, settings))
            task.at_end.append(self.close)
        elif _context_of_worker() is not None:
            self._open(function, settings)
            _closings().append(_Closing(self))

    def _open(self, function: UserDefinedFunction, settings: TaskSettings) -> None:
        group = TaskMetricGroup((self.name,)) if settings.metrics else None
        function.open(_context(self.name, group, settings.job_parameters))
        self._close = function.close
        if group is not None:
            report_metrics([group], settings.accumulator)

    def close(self) -> None:
        """Close the function, once, however often this is called."""
        close, self._close = self._close, None
        if close is not None:
            close()

    def fail(self) -> None:
        """Close all functions of the task in a worker process, where this one has raised."""
        fail_task()

    def watch(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that closes all functions of the task if it raises."""

        def watched(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except BaseException:
                self.fail()
                raise

        return watched

    def close_at_last(self) -> None:
        """Close the function where nobody could handle an error."""
        try:
            self.close()
        except Exception:
            print(f"Function {self.name} failed in close():", file=sys.stderr)
            traceback.print_exc()

    __del__ = close_at_last


class _AtEnd:
    """Does something when the context of a worker process's task goes."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work: Callable[[], None] | None = work

    def close(self) -> None:
        work, self._work = self._work, None
        if work is not None:
            try:
                work()
            except Exception:
                print("The end of a task failed:", file=sys.stderr)
                traceback.print_exc()

    __del__ = close


def at_end_of_task(work: Callable[[], None], failed: Callable[[], None] | None = None) -> None:
    """Do something when the current task has ended, whatever becomes of it.

    Parameters
    ----------
    work : callable
    failed : callable, optional
        What thread mode does afterwards if the task failed or was cancelled; a worker process ends
        with it.
    """
    task = _task_in_thread_mode()
    if task is not None:
        task.at_end.append(work)
        if failed is not None:
            task.at_failure.append(failed)
    else:
        _closings().append(_AtEnd(work))


def report_metrics(groups: Iterable[TaskMetricGroup], accumulator: Accumulator[Any] | None) -> None:
    """Report metrics of functions when the current task has succeeded.

    Parameters
    ----------
    groups : iterable of TaskMetricGroup
    accumulator : Accumulator or None
        What takes those of worker processes to the driver.
    """
    task = _task_in_thread_mode()
    for group in groups:
        if task is not None:
            task.metric_reports.append(group.report)
        elif accumulator is not None:
            accumulator.add(group)


def before_failed_worker_ends(work: Callable[[], None]) -> None:
    """Do something in a worker process before it ends, as it does with a task that fails."""
    _before_end_of_worker.append(work)


def fail_task() -> None:
    """Do in a worker process what is done at the end of its task, which fails, and at its own."""
    if in_thread_mode():
        return
    for closing in _closings():
        closing.close()
    for work in _before_end_of_worker:
        work()


def subtasks() -> int | None:
    """Return how many tasks the stage of the current one has; None where nobody says it."""
    task = _context_of_worker()
    assert task is not None
    told = task.getLocalProperty(f"{SUBTASKS_PROPERTY}{task.stageId()}")
    return None if told is None else int(told)


class _Closing:
    """Closes a function of a worker process when the context of the task goes."""

    def __init__(self, function: OpenFunction) -> None:
        self._function = weakref.ref(function)

    def close(self) -> None:
        function = self._function()
        if function is not None:
            function.close_at_last()

    __del__ = close


def _closings() -> list[_Closing | _AtEnd]:
    """Return the closings of the worker's task; thread mode has none."""
    context = _context_of_worker()
    if context is None:
        return []
    of_task: list[_Closing | _AtEnd] = vars(context).setdefault("pyflow_closings", [])
    return of_task


def _context_of_worker() -> TaskContext | None:
    from pyspark import TaskContext

    return TaskContext.get()


def _task_in_thread_mode() -> Any:
    """Return the task that thread mode runs on this thread, None in a worker process."""
    current_task = sys.modules.get("pyflow.thread_mode.current_task")
    return None if current_task is None else current_task.current()


def classes_by_value() -> tuple[MutableMapping[Any, Any], ...]:
    """Return where cloudpickle finds the classes of the current task that it has unpickled.

    Thread mode has that for each task, so that two of them do not share a class. What stays from
    one task to the next needs the classes, too. A worker process keeps them by itself.
    """
    task = _task_in_thread_mode()
    return () if task is None else (task.classes, task.class_ids)


def in_thread_mode() -> bool:
    """Return whether thread mode runs the task on this thread."""
    return _task_in_thread_mode() is not None


def in_isolated_interpreter() -> bool:
    """Return whether this is an interpreter with a GIL of its own."""
    bootstrap = sys.modules.get("pyflow.thread_mode.bootstrap")
    return bootstrap is not None and bootstrap.is_isolated()


def _context(
    name: str, group: TaskMetricGroup | None, job_parameters: dict[str, str]
) -> FunctionContext:
    task = _context_of_worker()
    assert task is not None
    index = task.partitionId()
    number = subtasks()
    return FunctionContext(
        group,
        job_parameters,
        task_name=name,
        task_name_with_subtasks=f"{name} ({index + 1}/{'?' if number is None else number})",
        number_of_parallel_subtasks=number,
        max_number_of_parallel_subtasks=number,
        index_of_this_subtask=index,
        attempt_number=task.attemptNumber(),
    )
