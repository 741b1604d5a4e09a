"""Jobs that run beside the program."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, wait
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import TYPE_CHECKING

from pyflow.common.job_client import JobClient
from pyflow.common.job_execution_result import JobExecutionResult
from pyflow.common.job_id import JobID
from pyflow.session.operation import register
from pyflow.session.queries import checkpoint_of, end_after_batches
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["Job", "end_after_error"]

_logger = logging.getLogger(__name__)


def end_after_error(end: Callable[[], None]) -> None:
    """End a job after an error; a further error is logged, and does not hide the first."""
    try:
        end()
    except Exception:
        _logger.exception("The end of a job failed, too.")


class Job:
    """Work that has been started on a thread of its own.

    The program does not end before the work has. Its Spark queries are tagged with the job's name,
    by which :meth:`cancel` interrupts them.

    Parameters
    ----------
    session
        The session that the work's queries belong to.
    work
        What to do.
    stop
        Ends unbounded work; without it the work's queries are interrupted.
    daemon
        Whether the program may end before the work has.
    ends
        Whether work with `stop` may also end by itself.
    name
        What the job is called.
    queries
        Streams of Spark that run for it.
    """

    def __init__(
        self,
        session: SparkSession,
        work: Callable[[], None],
        stop: Callable[[], None] | None = None,
        daemon: bool = False,
        ends: bool = False,
        name: str = "",
        queries: Sequence[StreamingQuery] = (),
    ) -> None:
        self.name = name
        self.queries = list(queries)
        self._session = session
        self._ends = ends
        #: Checks, before the job ends, whether its state can be copied into a directory, and
        #: returns what copies it afterwards and returns the path.
        self.savepoint: Callable[[str | None], Callable[[], str]] | None = None
        self._work = work
        self._stop = stop
        self._id = uuid.uuid4().hex
        self._cancelled = threading.Event()
        self._stopped = threading.Event()
        self._copy: Callable[[], str] | None = None
        #: That of the copy of the state, which is made before the job has ended.
        self._path: Future[str] = Future()
        self._result: Future[JobExecutionResult] = Future()
        register(self._id, self)
        thread = f"pyflow-job-{self._id}"
        threading.Thread(target=self._run, name=thread, daemon=daemon).start()

    def _run(self) -> None:
        begun = time.monotonic()
        failure: BaseException | None = None
        try:
            self._mark()
            self._work()
        except BaseException as error:
            failure = error
        is_cancelled, is_stopped = self._cancelled.is_set(), self._stopped.is_set()
        # A function may also have failed in close(), when its last batch was committed.
        if self._copy is not None and is_stopped and not is_cancelled and not self._has_failed():
            self._save(self._copy)
        has_end = self._stop is None or self._ends or is_stopped
        if is_cancelled or (failure is None and not has_end):
            # It ended because it was stopped, here or through Spark.
            self._set_cancelled()
            return
        if failure is not None:
            self._result.set_exception(failure)
            return
        milliseconds = int((time.monotonic() - begun) * 1000)
        self._result.set_result(JobExecutionResult(JobID(self._id), milliseconds))

    def _has_failed(self) -> bool:
        return any(query.exception() is not None for query in self.queries)

    def _save(self, copy: Callable[[], str]) -> None:
        try:
            self._path.set_result(copy())
        except BaseException as error:
            self._path.set_exception(error)

    def _set_cancelled(self) -> None:
        self._result.cancel()
        self._result.set_running_or_notify_cancel()

    def wait(self, timeout_ms: int | None) -> None:
        """Return when the work has ended.

        Raises
        ------
        TimeoutError
            If it has not ended in this many milliseconds.
        TableException
            If it was cancelled. An error of the work is raised as it is.
        KeyboardInterrupt
            On Ctrl-C; the work is cancelled, and has ended.
        """
        seconds = None if timeout_ms is None else timeout_ms / 1000
        try:
            self._result.result(seconds)
        except KeyboardInterrupt:
            self.interrupted()
            raise
        except CancelledError:
            raise TableException(f"Job {self._id} was cancelled.") from None
        except FutureTimeoutError:
            if self._result.done():
                raise
            raise TimeoutError(f"Job {self._id} has not ended in {timeout_ms} ms.") from None

    def _mark(self) -> None:
        """Let the queries of this thread be found by the job's name.

        A tag of a classic session is known to the thread alone that has set it; a group is not.
        """
        if hasattr(self._session, "_jsparkSession"):
            self._session.sparkContext.setJobGroup(self._id, f"job {self._id}", True)
        else:
            self._session.addTag(self._id)

    def cancel(self) -> None:
        """Stop the work, or interrupt its queries."""
        self._cancelled.set()
        if self._stop is not None:
            self._stop()
        elif hasattr(self._session, "_jsparkSession"):
            self._session.sparkContext.cancelJobGroup(self._id)
        else:
            self._session.interruptTag(self._id)

    def status(self) -> str:
        """Return how far the work is, by Flink's names."""
        return str(self.client().get_job_status().result().name)

    def stopped(self, directory: str | None) -> list[str]:
        """End work over unbounded input so that it can go on; return from which paths.

        Parameters
        ----------
        directory : str, optional
            Where the state is copied to, of a job that has savepoints.

        Raises
        ------
        TableException
            If it cannot go on. The work goes on then.
        StreamingQueryException
            If its last batch fails, and the work with it.
        """
        if self.savepoint is not None:
            return [self._stopped_with_savepoint(directory)]
        if directory is not None:
            raise TableException(
                "a job of tables goes on from its checkpoint: stop it without a directory"
            )
        if not self.queries:
            raise TableException("a job over bounded input has nothing to go on from: cancel it")
        try:
            paths = [checkpoint_of(query) for query in self.queries]
        except ValueError as error:
            raise TableException(f"the job cannot go on: {error}") from None
        self._end()
        return paths

    def _stopped_with_savepoint(self, directory: str | None) -> str:
        assert self.savepoint is not None
        copy = self.savepoint(directory)
        self._copy = copy
        self._end()
        if self._cancelled.is_set():
            raise TableException(f"Job {self._id} was cancelled.")
        # Work that had ended before copies nothing.
        return self._path.result() if self._path.done() else copy()

    def _end(self) -> None:
        """End the work in order, and return when it has ended."""
        self._stopped.set()
        try:
            end_after_batches(self.queries)
        finally:
            if self._stop is not None:
                self._stop()
            wait([self._result])

    def interrupted(self) -> None:
        """Cancel the work where Ctrl-C ends the program that waits for it; return when it ended."""
        self.cancel()
        wait([self._result])

    def on_end(self, told: Callable[[BaseException | None], None]) -> None:
        """Have a function told of the end of the work, and of the error that ended it, if any."""

        def ended(result: Future[JobExecutionResult]) -> None:
            told(None if result.cancelled() else result.exception())

        self._result.add_done_callback(ended)

    def client(self) -> JobClient:
        """Return what programs see of the job."""
        return JobClient(
            JobID(self._id),
            self._result,
            self.cancel,
            None if self.savepoint is None else self._stopped_with_savepoint,
            self.interrupted,
        )
