"""The process of a program, from its start to its end.

spark-submit runs in a session of its own, so that Ctrl-C reaches this command alone, which asks the
program to end: Spark's JVM, which would end at once, is still there when the program's jobs end.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import FrameType
from typing import IO, Any

from pyflow.cli.submission import yarn
from pyflow.cli.submission.errors import SubmissionError
from pyflow.cli.submission.processes import Process, kill_session
from pyflow.cli.submission.registry import Job
from pyflow.session import operation

# How long what a program prints is waited for when it has ended, and its Python.
_SECONDS = 5
# How long YARN may take to end an application.
_KILLED_SECONDS = 60
#: The exit code after Ctrl-C.
_INTERRUPTED = 130
# At most.
_PIPE_BYTES = 1 << 20
_NOT_STARTED = "spark-submit could not be started"


def run_attached(job: Job, environment: Mapping[str, str]) -> int:
    """Run a program, pass on what it prints and the signals that come; return its exit code."""
    with job.log.open("ab", buffering=0) as log:
        with _Signals(job) as signals:
            try:
                process = _started(job, environment, subprocess.PIPE, subprocess.PIPE)
            except (OSError, SubmissionError) as error:
                print(f"pyflow run: {_NOT_STARTED}: {error}", file=sys.stderr)
                return 2
            signals.pass_to(process)
            copies = [
                _Copy(process.stdout, sys.stdout.fileno(), log),
                _Copy(process.stderr, sys.stderr.fileno(), log),
            ]
            exit_code = _ended(job, process)
        with suppress(KeyboardInterrupt):
            for copy in copies:
                copy.finish()
    return exit_code


def run_detached(job: Job, environment: Mapping[str, str]) -> int:
    """Start a program that goes on when this command has ended; return when it is started."""
    started, tell = os.pipe()
    if os.fork() > 0:
        os.close(tell)
        with open(started, encoding="utf-8") as told:
            reason = told.read()
        if not reason and _is_noted(job):
            return 0
        print(f"pyflow run: {_NOT_STARTED}: {reason or 'its supervisor ended'}", file=sys.stderr)
        return 2
    try:
        os.setsid()
        with open(os.devnull, "r+b") as nothing, job.log.open("ab") as log:
            for number in (0, 1, 2):
                os.dup2(nothing.fileno(), number)
            # A shell has background processes ignore it, and all that they start.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            try:
                job = job.noted(supervisor=Process.of(os.getpid()))
                process = _started(job, environment, log, subprocess.STDOUT)
            except (OSError, SubmissionError) as error:
                os.write(tell, str(error).encode())
                raise
            os.close(tell)
            _ended(job, process)
    finally:
        os._exit(0)


def _is_noted(job: Job) -> bool:
    with suppress(SubmissionError):
        return job.read().process is not None
    return False


def _started(
    job: Job, environment: Mapping[str, str], stdout: Any, stderr: Any
) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        job.words,
        env={**environment, operation.DIRECTORY: str(job.directory)},
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    )
    try:
        job.noted(process=Process.of(process.pid))
    except (OSError, SubmissionError):
        # Nobody would know of it.
        kill_session(process.pid)
        process.wait()
        raise
    return process


def _ended(job: Job, process: subprocess.Popen[bytes]) -> int:
    """Wait for a program, end what is left of it, and note its end."""
    code = process.wait()
    # Spark's JVM may have been killed, which its Python does not notice by itself.
    drivers = Process(process.pid, 0, "").drivers()
    for number in (signal.SIGTERM, signal.SIGKILL):
        for each in drivers:
            each.send(number)
        wait_until(lambda: not any(each.is_alive() for each in drivers), _SECONDS)
    exit_code = code if code >= 0 else 128 - code
    try:
        if job.is_on_yarn:
            return _submitted(job.noted(exit_code=exit_code), exit_code)
        job.noted(ended=time.time(), exit_code=exit_code)
    except (OSError, SubmissionError) as error:
        print(f"pyflow run: the end of the job cannot be noted: {error}", file=sys.stderr)
    return exit_code


def _submitted(job: Job, exit_code: int) -> int:
    """Note what has become of a program on YARN, which goes on without what has submitted it."""
    client = yarn.client_of(job)
    assert client is not None
    try:
        application = client.find(job.id)
        if application is None:
            job.noted(ended=time.time())
            return exit_code
        if job.is_cancelled and not application.has_ended:
            client.kill(application)
            wait_until(lambda: _has_ended(client, job), _KILLED_SECONDS)
            application = client.find(job.id) or application
        yarn.seen(job, application, time.time() if application.has_ended else None)
    except SubmissionError as error:
        # It is asked for again by whoever wants to know.
        print(f"pyflow run: {error}", file=sys.stderr)
    return _INTERRUPTED if job.is_cancelled else exit_code


def _has_ended(client: yarn.Client, job: Job) -> bool:
    application = client.find(job.id)
    return application is None or application.has_ended


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Return whether a condition has become true in this time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


class _Copy(threading.Thread):
    """Copies a stream to a file and to the log as it comes."""

    def __init__(self, stream: IO[bytes] | None, target: int, log: IO[bytes]) -> None:
        super().__init__(daemon=True)
        assert stream is not None
        self._source = stream.fileno()
        self._target = target
        self._log = log
        self._is_writing = False
        self._copied = 0
        self.start()

    def run(self) -> None:
        """Copy until the stream ends."""
        while data := os.read(self._source, 1 << 16):
            self._is_writing = True
            # The program goes on where nobody reads it any more, or the disk is full.
            with suppress(OSError):
                self._log.write(data)
            with suppress(OSError):
                _write(self._target, data)
            self._copied += len(data)
            self._is_writing = False

    def finish(self) -> None:
        """Wait until all is copied; what the program has started may keep the stream open.

        It may write on, too: what the program has left is no more than a pipe holds.
        """
        before, last = self._copied, -1
        while self.is_alive() and (self._is_writing or self._copied != last):
            last = self._copied
            self.join(_SECONDS)
            if last - before > _PIPE_BYTES:
                break


def _write(target: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(target, rest) :]


class _Signals:
    """Passes signals on to a program; those that come before it is started, when it is."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []
        self._interrupts = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Signals:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            before = signal.getsignal(number)
            if before is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._come)
            elif number == signal.SIGINT:
                # In the background of a shell; the program does not ignore it: it can be cancelled.
                self._before[number] = signal.signal(number, _ignore)
        return self

    def pass_to(self, process: subprocess.Popen[bytes]) -> None:
        """Pass signals on to a process from now on."""
        self._process = process
        for number in self._early:
            self._come(number, None)

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _come(self, number: int, _frame: FrameType | None) -> None:
        if self._process is None:
            self._early.append(number)
            return
        if number != signal.SIGINT:
            if self._job.is_on_yarn:
                self._job.noted(is_cancelled=True)
            self._process.send_signal(number)
            return
        self._interrupts += 1
        if self._interrupts == 1:
            threading.Thread(target=end, args=(self._job.read(),), daemon=True).start()
        else:
            self._process.send_signal(signal.SIGTERM if self._interrupts == 2 else signal.SIGKILL)


def _ignore(_number: int, _frame: FrameType | None) -> None:
    pass


def end(job: Job) -> None:
    """Ask a program to end, as Ctrl-C in a terminal does."""
    if job.is_on_yarn:
        job = job.noted(is_cancelled=True)
        # With its end, what has submitted it ends, and notes whether the application has.
        if job.process is not None:
            job.process.send(signal.SIGTERM)
        return
    try:
        operation.ask(job.directory, {"action": "end"})
    except OSError:
        # It has no session of ours that would answer.
        if job.process is not None:
            drivers = job.process.drivers()
            asked = drivers[0] if drivers else job.process
            asked.send(signal.SIGINT)
