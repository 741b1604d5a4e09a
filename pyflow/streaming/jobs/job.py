"""Jobs that run beside the program."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, wait
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import TYPE_CHECKING

from pyflow.common.job_client import JobClient
from pyflow.common.job_execution_result import JobExecutionResult
from pyflow.common.job_id import JobID
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Job:
    """Work that has been started on a thread of its own.

    The program does not end before the work has. Queries of Spark that it runs carry the job's
    name, by which :meth:`cancel` interrupts them.

    Parameters
    ----------
    session
        The session that the work's queries belong to.
    work
        What to do.
    stop
        Ends work that has no end of its own; without it the work's queries are interrupted.
    daemon
        Whether the program may end before the work has.
    ends
        Whether work that has `stop` ends of its own, too.
    """

    def __init__(
        self,
        session: SparkSession,
        work: Callable[[], None],
        stop: Callable[[], None] | None = None,
        daemon: bool = False,
        ends: bool = False,
    ) -> None:
        self._session = session
        self._ends = ends
        #: Copies the state of a job that has ended into a directory; returns its path.
        self.savepoint: Callable[[str | None], str] | None = None
        self._work = work
        self._stop = stop
        self._id = uuid.uuid4().hex
        self._cancelled = threading.Event()
        self._result: Future[JobExecutionResult] = Future()
        name = f"pyflow-job-{self._id}"
        threading.Thread(target=self._run, name=name, daemon=daemon).start()

    def _run(self) -> None:
        begun = time.monotonic()
        try:
            self._mark()
            self._work()
        except BaseException as error:
            if self._cancelled.is_set():
                self._set_cancelled()
            else:
                self._result.set_exception(error)
            return
        if self._stop is not None and (not self._ends or self._cancelled.is_set()):
            # It ended because it was stopped, here or through Spark.
            self._set_cancelled()
            return
        milliseconds = int((time.monotonic() - begun) * 1000)
        self._result.set_result(JobExecutionResult(JobID(self._id), milliseconds))

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
            JobID(self._id), self._result, self.cancel, self.savepoint, self.interrupted
        )
