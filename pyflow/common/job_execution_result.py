"""What a job left behind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pyflow.common.job_id import JobID

__all__ = ["JobExecutionResult"]


@dataclass(frozen=True)
class JobExecutionResult:
    """What a job left behind when it finished.

    Parameters
    ----------
    job_id : JobID
        The job.
    net_runtime : int
        Milliseconds that it ran.
    accumulators : dict
        Values that it counted, by name.
    """

    job_id: JobID
    net_runtime: int
    accumulators: dict[str, Any] = field(default_factory=dict)

    def get_job_id(self) -> JobID:
        """Return the job's name."""
        return self.job_id

    def get_net_runtime(self) -> int:
        """Return the milliseconds that the job ran."""
        return self.net_runtime

    def get_accumulator_result(self, accumulator_name: str) -> Any:
        """Return the value counted under this name; None if there is none."""
        return self.accumulators.get(accumulator_name)

    def get_all_accumulator_results(self) -> dict[str, Any]:
        """Return all counted values by name."""
        return dict(self.accumulators)

    def __str__(self) -> str:
        return (
            f"Program execution finished\nJob with JobID {self.job_id} has finished.\n"
            f"Job Runtime: {self.net_runtime} ms\n"
        )
