"""How long operators live: for a job and subtask, over the batches of a query.

Flink opens a function once for a subtask of a job; a task of Spark lasts a batch. So what has been
opened stays in the Python that ran a subtask's batch, for its next one. It is closed, and opened
anew, where that Python did not run the batch before to its end: another executor may have, or the
batch was run again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol, TypeVar

from pyflow.streaming.runtime.life_cycle import at_end_of_task

__all__ = ["Opened", "close_job", "taken"]

_BATCH = "streaming.sql.batchId"


class Opened(Protocol):
    """Operators of a subtask that are open."""

    @property
    def failed(self) -> bool:
        """Whether an exception has gone through them."""

    def close(self) -> None:
        """Close them."""


_O = TypeVar("_O", bound=Opened)

# By job, stage and subtask: what waits for its next batch, and the batch before that.
_waiting: dict[tuple[str, int, int], tuple[Opened, int]] = {}
_lock = threading.Lock()


def taken(job: str, stage: int, opened: Callable[[], _O]) -> _O:
    """Return the operators of the current task, which are its own until its end.

    Parameters
    ----------
    job : str
    stage : int
    opened : callable
        Makes and opens them, where there are none from the batch before.
    """
    from pyspark import TaskContext

    task = TaskContext.get()
    assert task is not None
    slot = (job, stage, task.partitionId())
    number = task.getLocalProperty(_BATCH)
    if number is None:
        found = opened()
        at_end_of_task(found.close)
        return found
    batch = int(number)
    with _lock:
        known, last = _waiting.pop(slot, (None, -1))
    if known is not None and (last != batch - 1 or known.failed):
        known.close()
        known = None
    operators: _O = opened() if known is None else known  # type: ignore[assignment]

    def give_back() -> None:
        if operators.failed:
            operators.close()
            return
        with _lock:
            _waiting[slot] = (operators, batch)

    at_end_of_task(give_back)
    return operators


def close_job(job: str) -> None:
    """Close what is open of a job in this Python."""
    with _lock:
        slots = [slot for slot in _waiting if slot[0] == job]
        found = [_waiting.pop(slot)[0] for slot in slots]
    for operators in found:
        operators.close()
