"""What user-defined functions of both APIs have, and what they learn of their task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyflow.metrics.metricbase import MetricGroup

__all__ = ["FunctionContext", "UserDefinedFunction"]


class FunctionContext:
    """What a function learns of the task that it runs in, and of its job.

    Parameters
    ----------
    base_metric_group : MetricGroup or None
        None where metrics are switched off.
    job_parameters : mapping of str to str
    task_name, task_name_with_subtasks : str, optional
    number_of_parallel_subtasks, max_number_of_parallel_subtasks : int, optional
    index_of_this_subtask, attempt_number : int, optional
    """

    def __init__(
        self,
        base_metric_group: MetricGroup | None,
        job_parameters: Mapping[str, str],
        task_name: str | None = None,
        task_name_with_subtasks: str | None = None,
        number_of_parallel_subtasks: int | None = None,
        max_number_of_parallel_subtasks: int | None = None,
        index_of_this_subtask: int | None = None,
        attempt_number: int | None = None,
    ) -> None:
        self._base_metric_group = base_metric_group
        self._job_parameters = job_parameters
        self._task_name = task_name
        self._task_name_with_subtasks = task_name_with_subtasks
        self._number_of_parallel_subtasks = number_of_parallel_subtasks
        self._max_number_of_parallel_subtasks = max_number_of_parallel_subtasks
        self._index_of_this_subtask = index_of_this_subtask
        self._attempt_number = attempt_number

    def get_metric_group(self) -> MetricGroup:
        """Return the group of the function's metrics in this task.

        Raises
        ------
        RuntimeError
            If ``python.metric.enabled`` is false.
        """
        if self._base_metric_group is None:
            raise RuntimeError(
                "metrics are switched off: set python.metric.enabled to true to have them"
            )
        return self._base_metric_group

    def get_job_parameter(self, key: str, default_value: str) -> str:
        """Return a value of ``pipeline.global-job-parameters``, or the default."""
        return self._job_parameters.get(key, default_value)

    def get_task_name(self) -> str | None:
        """Return the name of the task: that of the function, in PyFlink that of the operator."""
        return self._task_name

    def get_task_name_with_subtasks(self) -> str | None:
        """Return the name with the number of the task, from 1 on: ``f (3/6)``."""
        return self._task_name_with_subtasks

    def get_number_of_parallel_subtasks(self) -> int | None:
        """Return how many tasks the stage has; None on executors without PyFlow's plugin."""
        return self._number_of_parallel_subtasks

    def get_max_number_of_parallel_subtasks(self) -> int | None:
        """Return the same number: Spark cannot raise it while a query runs."""
        return self._max_number_of_parallel_subtasks

    def get_index_of_this_subtask(self) -> int | None:
        """Return the number of the task in its stage, from 0 on."""
        return self._index_of_this_subtask

    def get_attempt_number(self) -> int | None:
        """Return how many attempts at the task were made before."""
        return self._attempt_number


class UserDefinedFunction:
    """What all functions have. An object of it is used by one task at a time."""

    def open(self, function_context: FunctionContext) -> None:
        """Prepare for a task, before its first row."""

    def close(self) -> None:
        """Give back what the function holds, after a task's last row, also if the task failed."""

    def is_deterministic(self) -> bool:
        """Return whether the same arguments always give the same result."""
        return True
