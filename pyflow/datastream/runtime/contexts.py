"""Makes what functions are opened with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflow.datastream.functions import RuntimeContext
from pyflow.streaming.runtime.life_cycle import subtasks
from pyflow.streaming.runtime.metrics import TaskMetricGroup

if TYPE_CHECKING:
    from pyflow.datastream.runtime.clock import Clock
    from pyflow.datastream.state import State, StateDescriptor
    from pyflow.streaming.runtime.log_levels import LogLevels

__all__ = ["ContextFactory"]


@dataclass(frozen=True)
class ContextFactory:
    """What functions learn of their job.

    Parameters
    ----------
    job_parameters
    metrics
        Whether functions may have metrics.
    log_levels
        Of the loggers of functions.
    clock
        The processing time.
    """

    job_parameters: Mapping[str, str]
    metrics: bool
    log_levels: LogLevels
    clock: Clock

    @staticmethod
    def subtask() -> int:
        """Return the number of the task."""
        from pyspark import TaskContext

        task = TaskContext.get()
        return 0 if task is None else int(task.partitionId())

    def runtime_context(
        self,
        name: str,
        groups: list[TaskMetricGroup],
        state: Callable[[StateDescriptor], State] | None = None,
    ) -> RuntimeContext:
        """Return the context of an operator of a name in the current task.

        Parameters
        ----------
        name : str
        groups : list of TaskMetricGroup
            Gets the group of its metrics, if it may have some.
        state : callable, optional
            Returns the state of a descriptor; without it the stream has no keys.
        """
        from pyspark import TaskContext

        task = TaskContext.get()
        assert task is not None
        index, count = int(task.partitionId()), subtasks()
        group: Any = TaskMetricGroup((name,)) if self.metrics else None
        if group is not None:
            groups.append(group)
        return RuntimeContext(
            group,
            self.job_parameters,
            task_name=name,
            task_name_with_subtasks=f"{name} ({index + 1}/{'?' if count is None else count})",
            number_of_parallel_subtasks=count,
            max_number_of_parallel_subtasks=count,
            index_of_this_subtask=index,
            attempt_number=int(task.attemptNumber()),
            state=state,
        )
