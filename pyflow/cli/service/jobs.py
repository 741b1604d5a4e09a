"""The jobs of the service: programs of artifacts, started, watched and ended.

A job is noted in the database before its program is started, under the id that the program has in
the registry of ``pyflow run``. Programs go on when the service ends, and are found again by it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pyflow.cli.service.database import Artifact, Database, JobRow
from pyflow.cli.service.errors import RefusedError
from pyflow.cli.service.launch import Launch
from pyflow.cli.service.limits import Limits
from pyflow.cli.service.store import Store
from pyflow.cli.submission import command
from pyflow.cli.submission.errors import SubmissionError
from pyflow.cli.submission.jobs import Found, cancel, current, jobs_of, stop
from pyflow.cli.submission.registry import Job, Registry
from pyflow.util.exceptions import TableException

# How long the process that starts a program may take until it has the lock of its directory.
_STARTING_SECONDS = 60


@dataclass(frozen=True)
class Request:
    """How an artifact is to be run.

    Parameters
    ----------
    artifact : str
    module : str, optional
        The module of the artifact that is run; the artifact itself without it.
    arguments : list of str
    settings : dict
        By Flink's names, and Spark's (``spark.``).
    target : str, optional
        As that of ``pyflow run -t``.
    files, archives, jars : list of str
        Artifacts that it needs.
    requirements : str, optional
        Likewise.
    """

    artifact: str
    module: str | None = None
    arguments: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    target: str | None = None
    files: list[str] = field(default_factory=list)
    archives: list[str] = field(default_factory=list)
    jars: list[str] = field(default_factory=list)
    requirements: str | None = None


class Jobs:
    """The jobs.

    Parameters
    ----------
    directory : Path
    database : Database
    store : Store
    limits : Limits
    target : str, optional
        Where they run unless they say otherwise.
    settings : mapping of str to str
        Which they have unless they say otherwise.
    """

    def __init__(
        self,
        directory: Path,
        database: Database,
        store: Store,
        limits: Limits,
        target: str | None,
        settings: Mapping[str, str],
    ) -> None:
        self._work = directory / "work"
        self._database = database
        self._store = store
        self._limits = limits
        self._target = target
        self._settings = dict(settings)
        self._registry = Registry.of_user()
        self._launching: set[str] = set()

    def clean(self) -> None:
        """Note what has happened since the service ended, and remove what is of no job."""
        self._database.fail_open_triggers("the service ended meanwhile; the job may have stopped")
        self.refresh()
        known = {job.id for job in self._database.jobs()}
        for folder in self._work.iterdir() if self._work.is_dir() else ():
            if folder.name not in known:
                shutil.rmtree(folder, ignore_errors=True)

    def refresh(self) -> None:
        """Note which jobs have ended, and forget those that ended first."""
        for row in self._database.jobs():
            if row.state is None:
                self._refreshed(row)
        ended = [row for row in self._database.jobs() if row.state is not None]
        ended.sort(key=lambda row: row.ended or row.submitted)
        for row in ended[: max(len(ended) - self._limits.ended, 0)]:
            self._forget(row.id)

    def _refreshed(self, row: JobRow) -> JobRow:
        if row.state is not None or row.id in self._launching:
            return row
        program = self._registry.job(row.id)
        if program is None:
            if time.time() - row.submitted < _STARTING_SECONDS or _is_locked(self._work / row.id):
                return row
            state, ended = "FAILED", row.submitted
        elif (program.is_on_yarn and program.has_process) or current(program).is_running:
            return row
        else:
            # Its end is noted after it has ended.
            program = program.read()
            state, ended = program.state, program.ended or time.time()
        self._database.end_job(row.id, state, ended)
        return replace(row, state=state, ended=ended)

    def _forget(self, identifier: str) -> None:
        self._database.remove_job(identifier)
        self._registry.forget(identifier)
        shutil.rmtree(self._work / identifier, ignore_errors=True)

    def all(self) -> list[tuple[JobRow, str]]:
        """Return the jobs with their states, the oldest first."""
        rows = [self._refreshed(row) for row in self._database.jobs()]
        return [(row, self._state(row)) for row in rows]

    def get(self, identifier: str) -> tuple[JobRow, str]:
        """Return a job with its state.

        Raises
        ------
        RefusedError
            If there is none.
        """
        row = self._database.job(identifier)
        if row is None:
            raise RefusedError(404, f"there is no job {identifier!r}")
        row = self._refreshed(row)
        return row, self._state(row)

    def _state(self, row: JobRow) -> str:
        if row.state is not None:
            return row.state
        program = self._registry.job(row.id)
        return "CREATED" if program is None else program.state

    def program(self, identifier: str) -> Job:
        """Return the program of a job.

        Raises
        ------
        RefusedError
            If there is none, or it is just being started.
        """
        _, state = self.get(identifier)
        program = self._registry.job(identifier)
        if program is None:
            reason = "is being started" if state == "CREATED" else "has left no log"
            raise RefusedError(409 if state == "CREATED" else 404, f"job {identifier} {reason}")
        return program

    def described(self, identifier: str) -> dict[str, Any]:
        """Return what the program of a job tells of itself and of what it executes."""
        program = self._registry.job(identifier)
        return {} if program is None else jobs_of(program)

    def run(self, request: Request) -> str:
        """Start a job, and return its id.

        Raises
        ------
        RefusedError
            If it cannot be run, as the request says.
        """
        identifier = uuid.uuid4().hex
        with self._database.transaction():
            running = sum(state in ("CREATED", "RUNNING") for _, state in self.all())
            if running >= self._limits.running:
                raise RefusedError(429, f"{running} jobs run already: wait, or cancel one")
            launch, artifacts = self.launch(identifier, request)
            needed = [each.id for each in artifacts]
            self._launching.add(identifier)
            self._database.add_job(JobRow(identifier, launch.name, needed, time.time(), None, None))
        try:
            self._start(launch)
        except BaseException:
            self._forget(identifier)
            raise
        finally:
            self._launching.discard(identifier)
        return identifier

    def launch(self, identifier: str, request: Request) -> tuple[Launch, list[Artifact]]:
        """Return what is to be run, and the artifacts that it needs.

        Raises
        ------
        RefusedError
            If there are none such, or they are used as what they are not.
        """
        main = self._store.get(request.artifact)
        needed = [main]

        def paths(identifiers: list[str], *kinds: str) -> list[str]:
            found = [self._store.get(each) for each in identifiers]
            for each in found:
                if each.kind not in kinds:
                    raise RefusedError(
                        400, f"{each.name} is no artifact of kind {' or '.join(kinds)}"
                    )
            needed.extend(found)
            return [str(self._store.path(each)) for each in found]

        files = paths(request.files, "python", "package")
        archives = paths(request.archives, "package", "archive")
        jars = paths(request.jars, "jar")
        requirements = paths([request.requirements] if request.requirements else [], "requirements")
        file = None
        if main.kind == "package" and request.module:
            files.insert(0, str(self._store.path(main)))
        elif main.kind == "python" and request.module in (None, main.name.removesuffix(".py")):
            file = str(self._store.path(main))
        elif main.kind == "package":
            raise RefusedError(400, f"{main.name} is a package: name its module by entryModule")
        else:
            raise RefusedError(
                400, f"{main.name} has no program that can be run: it is a {main.kind}"
            )
        asked = _names(request.settings)
        if request.target:
            asked |= {"spark.master", "spark.submit.deployMode"}
        defaults = {k: v for k, v in self._settings.items() if not _names({k: v}) & asked}
        given = {**defaults, **request.settings}
        settings = {key: value for key, value in given.items() if not key.startswith("spark.")}
        lists = {"python.files": files, "pipeline.jars": jars, "python.archives": archives}
        for key, values in lists.items():
            if values:
                separator = ";" if key == "pipeline.jars" else ","
                settings[key] = separator.join(filter(None, [settings.get(key), *values]))
        if requirements:
            settings["python.requirements"] = requirements[0]
        module = None if file is not None else request.module
        spark = {key: value for key, value in given.items() if key.startswith("spark.")}
        target = request.target or (None if "spark.master" in asked else self._target)
        name = module or main.name
        launch = Launch(identifier, name, file, module, target, request.arguments, settings, spark)
        return launch, needed

    def _start(self, launch: Launch) -> None:
        work = self._work / launch.id
        work.mkdir(parents=True, mode=0o700)
        done = subprocess.run(
            launch.words(),
            input=launch.text(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=work,
            start_new_session=True,
        )
        if done.returncode:
            reason = done.stderr.strip()
            is_full = os.strerror(errno.ENOSPC) in reason
            raise RefusedError(507 if is_full else 400, f"it cannot be started: {reason}")

    def cancel(self, identifier: str) -> None:
        """Begin to end a job.

        Raises
        ------
        RefusedError
            If there is none, or it has ended.
        """
        program = self.program(identifier)
        _check_runs(program)
        threading.Thread(target=_cancelled, args=(program,), daemon=True).start()

    def stop(self, identifier: str, directory: str | None) -> str:
        """Begin to end a job where it can go on; return the id of the request.

        Raises
        ------
        RefusedError
            If there is none, or it has ended.
        """
        if directory and not directory.startswith(("/", "file:")) and "://" not in directory:
            raise RefusedError(400, f"{directory!r} is no absolute path and no address")
        program = self.program(identifier)
        _check_runs(program)
        trigger = uuid.uuid4().hex
        self._database.add_trigger(trigger, identifier)
        arguments = (program, trigger, directory)
        threading.Thread(target=self._stopped, args=arguments, daemon=True).start()
        return trigger

    def _stopped(self, program: Job, trigger: str, directory: str | None) -> None:
        paths: list[str] = []
        try:
            for job in Found(program).running():
                paths += stop(program, job, directory)
        except Exception as error:
            reason = str(error) or type(error).__name__
            if paths:
                reason += f"; other jobs of the program have been stopped, with {', '.join(paths)}"
            self._database.end_trigger(trigger, None, reason)
        else:
            self._database.end_trigger(trigger, paths, None)

    def stopped(self, identifier: str, trigger: str) -> tuple[list[str] | None, str | None]:
        """Return from where a job goes on, or why it was not stopped; neither while it is.

        Raises
        ------
        RefusedError
            If there is no such request.
        """
        self.get(identifier)
        found = self._database.trigger(trigger, identifier)
        if found is None:
            raise RefusedError(404, f"there is no request {trigger!r} to stop job {identifier}")
        return found


def _names(settings: Mapping[str, str]) -> set[str]:
    """Return the names of settings, with those of Spark's that they become."""
    names = set(settings)
    for key, value in settings.items():
        # What is none is refused when the job is started.
        with contextlib.suppress(TableException):
            names |= command.spark_settings(key, value).keys()
    return names


def _is_locked(directory: Path) -> bool:
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _check_runs(program: Job) -> None:
    if not program.is_running:
        raise RefusedError(409, f"job {program.id} has ended: {program.read().state}")


def _cancelled(program: Job) -> None:
    try:
        cancel(program)
    except (SubmissionError, OSError) as error:
        # It may have ended meanwhile; its state says what has become of it.
        print(f"pyflow rest: {error}", file=sys.stderr)
