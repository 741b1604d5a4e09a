"""Plans of programs: each is run until its first job, which writes its plan and ends it."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
import uuid
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pyflow.cli.service import logs
from pyflow.cli.service.errors import RefusedError
from pyflow.cli.service.jobs import Jobs, Request
from pyflow.cli.service.launch import Launch
from pyflow.cli.submission.processes import Process, kill_session

# Programs at a time, and how long one may take to its first job.
_AT_ONCE = 2
_SECONDS = 120
_PROCESS = "process"
# Where a plan needs no cluster.
_TARGET = "local[1]"
_OF_CLUSTERS = ("spark.master", "spark.submit.deployMode")


class Plans:
    """Plans of programs.

    Parameters
    ----------
    directory : Path
    jobs : Jobs
    """

    def __init__(self, directory: Path, jobs: Jobs) -> None:
        self._work = directory / "plans"
        self._jobs = jobs
        self._free = threading.BoundedSemaphore(_AT_ONCE)
        self._is_ended = False

    def clean(self) -> None:
        """End the programs of a service that was killed."""
        for folder in self._work.iterdir() if self._work.is_dir() else ():
            with suppress(OSError, ValueError):
                process = Process(**json.loads((folder / _PROCESS).read_text()))
                if process.is_alive():
                    kill_session(process.pid)
        shutil.rmtree(self._work, ignore_errors=True)

    def end(self) -> None:
        """End the programs that are planned, and plan no others."""
        self._is_ended = True
        self.clean()

    def plan(self, request: Request) -> dict[str, Any]:
        """Return the plan of a program's first job.

        Raises
        ------
        RefusedError
            If it has none, or cannot be run to there.
        """
        identifier = uuid.uuid4().hex
        launch, _ = self._jobs.launch(identifier, request)
        if not self._free.acquire(blocking=False):
            raise RefusedError(429, f"{_AT_ONCE} plans are made already: wait")
        folder = self._work / identifier
        try:
            folder.mkdir(parents=True, mode=0o700)
            work = folder / "work"
            work.mkdir()
            file = folder / "plan.json"
            spark = {k: v for k, v in launch.spark.items() if k not in _OF_CLUSTERS}
            self._run(replace(launch, target=_TARGET, spark=spark, plan=str(file)), folder, work)
            plan: dict[str, Any] = json.loads(file.read_text())
        finally:
            self._free.release()
            shutil.rmtree(folder, ignore_errors=True)
        return plan

    def _run(self, launch: Launch, folder: Path, work: Path) -> None:
        log = folder / "log"
        with log.open("wb") as written:
            process = subprocess.Popen(
                launch.words(),
                stdin=subprocess.PIPE,
                stdout=written,
                stderr=written,
                cwd=work,
                start_new_session=True,
            )
        started = Process.of(process.pid)
        if started is not None:
            (folder / _PROCESS).write_text(json.dumps(asdict(started)))
        try:
            process.communicate(launch.text().encode(), _SECONDS)
        except subprocess.TimeoutExpired:
            raise RefusedError(400, f"the program has no job after {_SECONDS} s") from None
        finally:
            kill_session(process.pid)
            process.wait()
        if self._is_ended:
            raise RefusedError(503, "the service ends")
        if (folder / "plan.json").exists():
            return
        if process.returncode == 0:
            raise RefusedError(400, "the program has no job that has a plan")
        (_, reason), *_ = logs.exceptions(log, has_failed=True)
        raise RefusedError(400, f"the program has ended before its first job: {reason.strip()}")
