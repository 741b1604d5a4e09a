"""A program that ``pyflow run`` has started, as it answers the commands beside that.

They ask over a socket in the program's directory: a line of JSON each for the question and for the
answer. A thread of the program answers; it sees the jobs that are registered, and Spark's queries
of the sessions that are.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import socketserver
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pyflow.session.queries import checkpoint_of, end_after_batches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["DIRECTORY", "ask", "register", "serve"]

#: The variable that names the program's directory.
DIRECTORY = "PYFLOW_JOB_DIRECTORY"
_SOCKET = "control"
_CANCEL_SECONDS = 60
# How many ended jobs are listed.
_ENDED = 100

_jobs: dict[str, Operated] = {}
_sessions: weakref.WeakSet[SparkSession] = weakref.WeakSet()
_lock = threading.Lock()


class Operated(Protocol):
    """A job of the program."""

    name: str
    queries: list[StreamingQuery]

    def status(self) -> str:
        """Return how far it is, by Flink's names."""

    def cancel(self) -> None:
        """End it."""

    def stopped(self, directory: str | None) -> list[str]:
        """End it where it can go on; return from which paths."""


def register(identifier: str, job: Operated) -> None:
    """Let a job be seen and ended from outside, under its identifier."""
    with _lock:
        ended = [key for key, each in _jobs.items() if each.status() != "RUNNING"]
        for key in ended[:-_ENDED]:
            del _jobs[key]
        _jobs[identifier] = job


def serve(session: SparkSession) -> None:
    """Answer what is asked of the program, where ``pyflow run`` has started it."""
    if not hasattr(session, "_jsparkSession"):
        return
    with _lock:
        _sessions.add(session)
        # Programs that this one starts are others.
        directory = os.environ.pop(DIRECTORY, None)
        if directory is None:
            return
        with _near(Path(directory)) as near:
            server = _Server(str(near / _SOCKET), _Answer)
            os.chmod(near / _SOCKET, 0o600)
    threading.Thread(target=server.serve_forever, name="pyflow-operation", daemon=True).start()


@contextmanager
def _near(directory: Path) -> Iterator[Path]:
    """Yield a directory under a short name: addresses of sockets are short."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield Path(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


def ask(directory: Path, question: dict[str, Any], seconds: float = 30) -> dict[str, Any]:
    """Return what a program answers.

    Raises
    ------
    OSError
        If it does not: it has no session yet, or has ended, or takes too long.
    """
    with _near(directory) as near, socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(seconds)
        connection.connect(str(near / _SOCKET))
        connection.sendall(json.dumps(question).encode() + b"\n")
        with connection.makefile("rb") as stream:
            line = stream.readline()
    if not line:
        raise ConnectionError("the program ended before it answered")
    answer: dict[str, Any] = json.loads(line)
    return answer


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Answers each question on a thread of its own: a job may take long to end."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: who asked has gone."""


class _Answer(socketserver.StreamRequestHandler):
    # The program's end waits for answers.
    timeout = 10

    def handle(self) -> None:
        question = json.loads(self.rfile.readline())
        try:
            answer = _ACTIONS[question.pop("action")](**question)
        except Exception as error:
            answer = {"error": f"{error}" or type(error).__name__}
        self.wfile.write(json.dumps(answer).encode() + b"\n")


def _described() -> dict[str, Any]:
    application: dict[str, Any] = {"application": None, "ui": None}
    for session in _living():
        context = session.sparkContext
        application = {"application": context.applicationId, "ui": context.uiWebUrl}
    jobs = [
        {
            "id": identifier,
            "name": job.name,
            "state": job.status(),
            "queries": [_progress(query) for query in job.queries],
        }
        for identifier, job in _known().items()
    ]
    return {**application, "jobs": jobs}


def _cancel(job: str) -> dict[str, Any]:
    running = _one(job)
    running.cancel()
    end = time.monotonic() + _CANCEL_SECONDS
    while running.status() == "RUNNING":
        if time.monotonic() > end:
            raise TimeoutError(f"the job {job} has not ended in {_CANCEL_SECONDS} s")
        time.sleep(0.05)
    return {}


def _stop(job: str, directory: str | None) -> dict[str, Any]:
    return {"paths": _one(job).stopped(directory)}


def _end() -> dict[str, Any]:
    """End the program as Ctrl-C does, and the jobs that run when its main thread has ended."""
    if threading.main_thread().is_alive():
        os.kill(os.getpid(), signal.SIGINT)
        return {}
    for job in _known().values():
        job.cancel()
    return {}


def _stacks() -> dict[str, Any]:
    return {"executors": json.loads(_executors().stacksOfAllExecutors())}


def _profile(seconds: float, rate: float) -> dict[str, Any]:
    return {"executors": json.loads(_executors().profileOfAllExecutors(seconds, rate))}


def _debug(**request: Any) -> dict[str, Any]:
    return {"executors": json.loads(_executors().debugAllExecutors(json.dumps(request)))}


def _end_debugging() -> dict[str, Any]:
    return {"executors": json.loads(_executors().endDebuggingOfAllExecutors())}


def _executors() -> Any:
    for session in _living():
        jvm: Any = session._jvm
        return jvm.io.pyflow.plugin.PythonRequests
    raise LookupError("the program has no session of Spark")


_ACTIONS: dict[str, Callable[..., dict[str, Any]]] = {
    "describe": _described,
    "cancel": _cancel,
    "stop": _stop,
    "stacks": _stacks,
    "profile": _profile,
    "debug": _debug,
    "end debugging": _end_debugging,
    "end": _end,
}


def _living() -> list[SparkSession]:
    return [each for each in list(_sessions) if each.sparkContext._jsc is not None]


def _known() -> dict[str, Operated]:
    """Return all jobs: those that are registered, and queries that belong to none of them."""
    with _lock:
        found = dict(_jobs)
    for session in _living():
        with suppress(Exception):  # The session ends meanwhile.
            taken = {query.runId for job in found.values() for query in job.queries}
            for query in session.streams.active:
                if query.runId not in taken:
                    found[query.id.replace("-", "")] = _Query(query)
    return found


def _one(identifier: str) -> Operated:
    found = _known().get(identifier)
    if found is None:
        raise LookupError(f"there is no job {identifier} in the program")
    if found.status() != "RUNNING":
        raise LookupError(f"the job {identifier} has ended: {found.status()}")
    return found


class _Query:
    """A query that the program has started through Spark."""

    def __init__(self, query: StreamingQuery) -> None:
        self.name = query.name or "query without a name"
        self.queries = [query]

    def status(self) -> str:
        return "RUNNING" if self.queries[0].isActive else "FINISHED"

    def cancel(self) -> None:
        self.queries[0].stop()

    def stopped(self, directory: str | None) -> list[str]:
        if directory is not None:
            raise ValueError("a query of Spark goes on from its checkpoint: stop it without -p")
        path = checkpoint_of(self.queries[0])
        end_after_batches(self.queries)
        return [path]


def _progress(query: StreamingQuery) -> dict[str, Any]:
    try:
        last = query.lastProgress
    except Exception:  # The session has ended.
        last = None
    if last is None:
        return {"batch": None, "rows_per_second": None}
    return {"batch": last["batchId"], "rows_per_second": last["processedRowsPerSecond"]}
