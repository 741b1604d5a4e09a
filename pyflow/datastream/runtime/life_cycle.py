"""How long operators live: for a query and subtask, over its batches.

Flink opens a function once for a subtask of a job; a task of Spark lasts a batch. So what has been
opened stays in the Python that ran a subtask's batch, for its next one. It is closed, and opened
anew, where that Python did not run the batch before to its end: another executor may have, or the
batch was run again. A worker process ends with a task that fails, and everything that waits in it
is closed before. What is open at the end of the query is closed then, and what a task gives back
later, when it does.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, MutableMapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from pyflow.streaming.runtime.life_cycle import (
    at_end_of_task,
    before_failed_worker_ends,
    classes_by_value,
    fail_task,
    in_thread_mode,
    report_metrics,
)

if TYPE_CHECKING:
    from pyspark import Accumulator

    from pyflow.streaming.runtime.metrics import TaskMetricGroup

__all__ = ["Opened", "close_all", "close_at_last", "close_run", "fail", "taken"]

_BATCH = "streaming.sql.batchId"
# The job group of a query's tasks is its run: a query that is started again has the same identity.
_RUN = "spark.jobGroup.id"
# How many runs are known to have ended, whose last tasks may end a little later.
_REMEMBERED_RUNS = 1000


class Opened(Protocol):
    """Operators of a subtask that are open."""

    #: Whether an exception has gone through them.
    failed: bool
    #: Of their functions.
    metric_groups: list[TaskMetricGroup]

    def close(self) -> None:
        """Close them."""


_O = TypeVar("_O", bound=Opened)


class _Waiting(NamedTuple):
    """What waits for its next batch, the batch before that, and the classes of the program."""

    operators: Opened
    batch: int
    classes: tuple[MutableMapping[Any, Any], ...]


# By run, job, stage and subtask.
_waiting: dict[tuple[str, str, int, int], _Waiting] = {}
_ended: deque[str] = deque(maxlen=_REMEMBERED_RUNS)
_lock = threading.Lock()


def taken(
    job: str,
    stage: int,
    opened: Callable[[], _O],
    metrics: Accumulator[Any] | None,
    skips_batches: bool = False,
) -> _O:
    """Return the operators of the current task, which are its own until its end.

    Parameters
    ----------
    job : str
        Of which a query may have several, by tables of streams.
    stage : int
    opened : callable
        Makes and opens them, where there are none from the batch before.
    metrics : Accumulator or None
        What takes the metrics of worker processes to the driver.
    skips_batches : bool
        Whether a subtask has no task in a batch without rows for it. Others that have not been
        there for a batch are of a store that another task has written since.
    """
    operators = _taken(job, stage, opened, skips_batches)
    report_metrics(operators.metric_groups, metrics)
    return operators


def _taken(job: str, stage: int, opened: Callable[[], _O], skips_batches: bool) -> _O:
    from pyspark import TaskContext

    task = TaskContext.get()
    assert task is not None
    run = str(task.getLocalProperty(_RUN))
    slot = (run, job, stage, task.partitionId())
    number = task.getLocalProperty(_BATCH)
    if number is None:
        found = _opened(opened)
        at_end_of_task(found.close)
        return found
    batch = int(number)
    with _lock:
        waiting = _waiting.pop(slot, None)
    if waiting is not None:
        is_next = waiting.batch < batch if skips_batches else waiting.batch == batch - 1
        if not is_next:
            close_at_last(waiting.operators)
            waiting = None
    if waiting is None:
        operators = _opened(opened)
    else:
        operators = waiting.operators  # type: ignore[assignment]
        for known, of_operators in zip(classes_by_value(), waiting.classes):
            known.update(of_operators)
    if in_thread_mode() and task.attemptNumber() > 0:
        # The next batch's task begins in the subtask's own interpreter, another attempt in the
        # shared one.
        at_end_of_task(operators.close)
        return operators

    def give_back() -> None:
        outdated: Opened | None = operators
        with _lock:
            if not operators.failed and run not in _ended:
                # Of another attempt of the task, which ended before this one.
                other = _waiting.get(slot)
                outdated = None if other is None else other.operators
                _waiting[slot] = _Waiting(operators, batch, classes_by_value())
        if outdated is not None:
            close_at_last(outdated)

    def discard() -> None:
        with _lock:
            kept = _waiting.get(slot)
            if kept is None or kept.operators is not operators:
                return
            del _waiting[slot]
        close_at_last(operators)

    at_end_of_task(give_back, discard)
    return operators


def _opened(opened: Callable[[], _O]) -> _O:
    try:
        return opened()
    except BaseException:
        fail_task()
        raise


def fail(operators: Opened) -> None:
    """Have operators closed, rather than kept, as their task fails in them."""
    operators.failed = True
    fail_task()


def close_run(run: str) -> None:
    """Close what is open of a run of a query in this Python; the first error is raised."""
    with _lock:
        _ended.append(run)
        slots = [slot for slot in _waiting if slot[0] == run]
        found = [_waiting.pop(slot).operators for slot in slots]
    close_all(found)


def _close_waiting() -> None:
    """Close what waits for its next batch, of any job: it would be gone with the worker process."""
    with _lock:
        found = [each.operators for each in _waiting.values()]
        _waiting.clear()
    for each in found:
        close_at_last(each)


before_failed_worker_ends(_close_waiting)


def close_all(opened: Iterable[Any]) -> None:
    """Close each of several things, also where some fail; the first error is raised."""
    errors = []
    for each in opened:
        try:
            each.close()
        except Exception as error:
            errors.append(error)
    if errors:
        raise errors[0]


def close_at_last(opened: Any) -> None:
    """Close something where another error is raised, or nobody could handle one."""
    try:
        opened.close()
    except Exception:
        print("An operator failed in close():", file=sys.stderr)
        traceback.print_exc()
