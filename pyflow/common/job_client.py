"""A job that runs in the background."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from pyflow.common.completable_future import CompletableFuture
from pyflow.common.job_execution_result import JobExecutionResult
from pyflow.common.job_id import JobID
from pyflow.common.job_status import JobStatus
from pyflow.util.exceptions import TableException
from pyflow.util.unsupported import unsupported

__all__ = ["JobClient"]

_NO_SAVEPOINTS = (
    "Spark has no savepoints; a streaming query goes on from its checkpoint, which it writes with"
    " every batch under execution.checkpointing.dir"
)


class JobClient:
    """A job that runs in the background.

    Parameters
    ----------
    job_id : JobID
        Its name.
    result : concurrent.futures.Future of JobExecutionResult
        Done when the job has ended; cancelled when it was.
    cancel : callable
        Asks the job to end; `result` is done, and cancelled, when it has.
    savepoint : callable, optional
        Ends the job and copies its state into a directory; returns its path.
    interrupted : callable, optional
        Ends the job where Ctrl-C is pressed while the program waits for its result.
    """

    def __init__(
        self,
        job_id: JobID,
        result: Future[JobExecutionResult],
        cancel: Callable[[], None],
        savepoint: Callable[[str | None], str] | None = None,
        interrupted: Callable[[], None] | None = None,
    ) -> None:
        self._savepoint = savepoint
        self._interrupted = interrupted
        self._job_id = job_id
        self._result = result
        self._cancel = cancel

    def get_job_id(self) -> JobID:
        """Return the job's name."""
        return self._job_id

    def get_job_status(self) -> CompletableFuture[JobStatus]:
        """Return how far the job is: running, finished, failed or cancelled."""
        return CompletableFuture.completed(self._status())

    def _status(self) -> JobStatus:
        if not self._result.done():
            return JobStatus.RUNNING
        if self._result.cancelled():
            return JobStatus.CANCELED
        return JobStatus.FINISHED if self._result.exception() is None else JobStatus.FAILED

    def cancel(self) -> CompletableFuture[None]:
        """Ask the job to end, and return what is done when it has."""
        ended: Future[None] = Future()
        self._result.add_done_callback(lambda _: ended.set_result(None))
        self._cancel()
        return CompletableFuture(ended)

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None = None
    ) -> CompletableFuture[str]:
        """End a job of data streams after a batch, and return the path of a copy of its state.

        Parameters
        ----------
        advance_to_end_of_event_time : bool
            Whether all timers fire before; only False is supported.
        savepoint_directory : str, optional
            Where the copy is made; ``execution.checkpointing.savepoint-dir`` without it.

        Raises
        ------
        TableException
            For other jobs, where event time should end, and without a directory; the job goes on.
        """
        if self._savepoint is None:
            raise TableException(f"stop_with_savepoint() is not supported: {_NO_SAVEPOINTS}")
        if advance_to_end_of_event_time:
            raise TableException(
                "stop_with_savepoint(): the watermark of Spark is that of the sources; pass False"
            )
        return CompletableFuture.completed(self._savepoint(savepoint_directory))

    @unsupported(_NO_SAVEPOINTS)
    def trigger_savepoint(self, savepoint_directory: str | None = None) -> Any:
        """Keep the job's state in a directory."""

    def get_accumulators(self) -> CompletableFuture[dict[str, Any]]:
        """Return the values that the job counted so far, by name: those of its result."""
        finished = self._status() is JobStatus.FINISHED
        counted = self._result.result().get_all_accumulator_results() if finished else {}
        return CompletableFuture.completed(counted)

    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        """Return what the job leaves behind when it has finished."""
        return CompletableFuture(self._result, interrupted=self._interrupted)
