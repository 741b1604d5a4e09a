"""What is noted on disk of the programs that ``pyflow run`` has started.

Each has a directory with a file of what is known of it, its log, and the socket by which it is
asked. A file is replaced as a whole. Nothing depends on a process that would have to run all the
time: a program whose file says that it runs is one that has ended if its process is gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pyflow.cli.submission.command import Folders
from pyflow.cli.submission.errors import SubmissionError
from pyflow.cli.submission.processes import Process

_FILE = "job.json"
_LOG = "log"
# How many programs that have ended are remembered.
_KEPT = 100
_INTERRUPTED = (130, 143, 129)


@dataclass(frozen=True)
class Application:
    """An application of YARN.

    Parameters
    ----------
    id : str
    state : str
        By Flink's names.
    url : str or None
        Of Spark's UI.
    reason : str or None
        What YARN tells of its end.
    """

    id: str
    state: str
    url: str | None
    reason: str | None

    @property
    def has_ended(self) -> bool:
        """Whether its state is its last one."""
        return self.state not in ("CREATED", "RUNNING")


@dataclass(frozen=True)
class Job:
    """A program that was started.

    Parameters
    ----------
    directory : Path
        Where it is noted; its name is the program's id.
    name : str
    words : list of str
        The command of spark-submit.
    target : str
    submitted : float
        When that was, in seconds since 1970.
    supervisor : Process, optional
        Which waits for the program's end.
    process : Process, optional
        That of spark-submit.
    ended : float, optional
    exit_code : int, optional
    is_cancelled : bool
        Whether it was asked to end.
    cluster : dict, optional
        Where the driver is, if it is not on this machine: ``master``, ``spark_home``, and the
        variables that say where the cluster's configuration is.
    application : dict, optional
        An :class:`Application`, of such a program on YARN, as it was when the cluster was last
        asked.
    """

    directory: Path
    name: str
    words: list[str]
    target: str
    submitted: float
    supervisor: Process | None = None
    process: Process | None = None
    ended: float | None = None
    exit_code: int | None = None
    is_cancelled: bool = False
    cluster: dict[str, str] | None = None
    application: dict[str, Any] | None = None

    @property
    def id(self) -> str:
        """By which it is asked for."""
        return self.directory.name

    @property
    def log(self) -> Path:
        """What it prints."""
        return self.directory / _LOG

    @property
    def is_running(self) -> bool:
        """Whether it has not ended, as far as this machine knows."""
        return self.ended is None and (self.has_process or self.is_on_yarn)

    @property
    def is_on_yarn(self) -> bool:
        """Whether its driver is."""
        return self.cluster is not None and self.cluster["master"] == "yarn"

    @property
    def has_process(self) -> bool:
        """Whether spark-submit runs, or what waits for its end."""
        alive = [each for each in (self.process, self.supervisor) if each is not None]
        return any(each.is_alive() for each in alive)

    @property
    def state(self) -> str:
        """How far it is, by Flink's names."""
        if self.application is not None:
            return str(self.application["state"])
        if self.is_running:
            return "CREATED" if self.process is None or self.is_on_yarn else "RUNNING"
        if self.is_cancelled or self.exit_code in _INTERRUPTED:
            return "CANCELED"
        return "FINISHED" if self.exit_code == 0 else "FAILED"

    def noted(self, **changes: object) -> Job:
        """Return it with changes, as the file has it then."""
        before = self.read()
        changed = replace(before, **changes)  # type: ignore[arg-type]
        if changed != before:
            changed.write()
        return changed

    def write(self) -> None:
        """Write the file."""
        content = asdict(self)
        del content["directory"]
        unfinished = self.directory / f"{_FILE}.{os.getpid()}.{threading.get_ident()}"
        try:
            unfinished.write_text(json.dumps(content, indent=2))
            unfinished.replace(self.directory / _FILE)
        except OSError:
            unfinished.unlink(missing_ok=True)
            raise

    def read(self) -> Job:
        """Return it as the file has it now."""
        return Job.of(self.directory)

    @classmethod
    def of(cls, directory: Path) -> Job:
        """Return what a directory has.

        Raises
        ------
        SubmissionError
            If it is another user's, or has no such file.
        """
        file = directory / _FILE
        try:
            if file.stat().st_uid != os.getuid():
                raise SubmissionError(f"{file} belongs to another user")
            content = json.loads(file.read_text())
            for key in ("supervisor", "process"):
                content[key] = content[key] and Process(**content[key])
            return cls(directory, **content)
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise SubmissionError(f"{file} cannot be read: {error}") from error


class Registry:
    """The programs that a user has started on this machine.

    Parameters
    ----------
    directory : Path
        Which the user alone can read.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        #: Where the shell and the SQL client keep what has been typed.
        self.history = directory / "history"
        self._jobs = directory / "jobs"
        #: Where `pyflow rest` keeps what it has.
        self.rest = directory / "rest"
        #: Where files are that are made for programs.
        self.folders = Folders(directory / "files", directory / "requirements")

    @classmethod
    def of_user(cls) -> Registry:
        """Return the registry of the user: ``$XDG_STATE_HOME/pyflow``."""
        home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        return cls(Path(home) / "pyflow")

    def create(
        self,
        name: str,
        words: Sequence[str],
        target: str,
        identifier: str,
        cluster: dict[str, str] | None = None,
    ) -> Job:
        """Note a program that is about to be started, and forget those that ended first.

        Parameters
        ----------
        name : str
        words : sequence of str
            The command of spark-submit.
        target : str
        identifier : str
            Of the program.
        cluster : dict, optional
            As :class:`Job` has it.
        """
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self._directory.stat().st_uid != os.getuid():
            raise SubmissionError(f"{self._directory} belongs to another user")
        self._forget()
        directory = self._jobs / identifier
        directory.mkdir(parents=True, mode=0o700)
        supervisor = Process.of(os.getpid())
        job = Job(directory, name, list(words), target, time.time(), supervisor, cluster=cluster)
        job.log.touch(0o600)
        job.write()
        return job

    def jobs(self) -> list[Job]:
        """Return the programs, the oldest first; what cannot be read is left out."""
        return sorted(self._readable(), key=lambda job: job.submitted)

    def job(self, identifier: str) -> Job | None:
        """Return a program by its whole identifier; None where it is not noted, or not readable."""
        with contextlib.suppress(SubmissionError):
            return Job.of(self._jobs / identifier)
        return None

    def forget(self, identifier: str) -> None:
        """Remove what is noted of a program that has ended."""
        shutil.rmtree(self._jobs / identifier, ignore_errors=True)

    def unreadable(self) -> list[str]:
        """Return what is wrong with directories that are no program's."""
        wrong = []
        for directory in self._directories():
            try:
                Job.of(directory)
            except SubmissionError as error:
                wrong.append(str(error))
        return wrong

    def _readable(self) -> Iterator[Job]:
        for directory in self._directories():
            with contextlib.suppress(SubmissionError):
                yield Job.of(directory)

    def _directories(self) -> list[Path]:
        return sorted(self._jobs.iterdir()) if self._jobs.is_dir() else []

    def _forget(self) -> None:
        ended = sorted((job for job in self.jobs() if not job.is_running), key=_end)
        for job in ended[:-_KEPT]:
            self.forget(job.id)


def _end(job: Job) -> float:
    """Return when a program that does not run has ended; about, where nobody has noted it."""
    if job.ended is not None:
        return job.ended
    try:
        return job.log.stat().st_mtime
    except OSError:
        return job.submitted
