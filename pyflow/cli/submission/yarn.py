"""Programs whose driver runs on YARN, as YARN tells of them.

An application is found by a tag with the program's id, so that it is found whatever has become of
the spark-submit that has submitted it. YARN is asked by `YarnApplications.java`, with Spark's jars.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from pyflow.cli.submission.errors import SubmissionError
from pyflow.cli.submission.registry import Application, Job
from pyflow.cli.submission.targets import YARN_FOLDERS, yarn_tag
from pyflow.session.builder import jar_path

__all__ = ["Client", "client_of", "observed", "seen"]

_MAIN = "io.pyflow.cluster.YarnApplications"
_STARTS = ("NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED")
_ENDS = {"SUCCEEDED": "FINISHED", "FAILED": "FAILED", "KILLED": "CANCELED"}
_SECONDS = 60
_LINES = 3


class Client:
    """A client of a cluster.

    Parameters
    ----------
    spark_home : str
        The Spark whose jars have YARN's client.
    folders : mapping of str to str
        Where the cluster's configuration is, by the variables that name it.
    """

    def __init__(self, spark_home: str, folders: Mapping[str, str]) -> None:
        self._spark_home = spark_home
        self._folders = folders

    def find(self, program: str) -> Application | None:
        """Return the latest application of a program; None where YARN knows of none.

        Raises
        ------
        SubmissionError
            If the cluster does not answer.
        """
        found = json.loads(self._asked("find", yarn_tag(program)))
        if found is None:
            return None
        state, final = found["state"], found["final_state"]
        if state in _STARTS:
            shown = "CREATED"
        elif state == "RUNNING":
            shown = "RUNNING"
        else:
            shown = _ENDS.get(final if state == "FINISHED" else state, "FAILED")
        reason = found["diagnostics"].strip() or None
        return Application(found["id"], shown, found["url"], reason)

    def kill(self, application: Application) -> None:
        """End an application.

        Raises
        ------
        SubmissionError
            If the cluster does not answer, or refuses that.
        """
        self._asked("kill", application.id)

    def write_log(self, application: Application) -> None:
        """Write to standard output what the driver of an application that has ended has printed.

        Raises
        ------
        SubmissionError
            If the cluster does not have it, or not yet.
        """
        sys.stdout.flush()
        done = subprocess.run(self._command("log", application.id), stderr=subprocess.PIPE)
        if done.returncode:
            raise SubmissionError(
                f"YARN has no log of {application.id}, or not yet: it collects logs a little after "
                "the end of an application, with yarn.log-aggregation-enable=true"
            )

    def _asked(self, *words: str) -> str:
        where = ", ".join(self._folders.values()) or "no folder, HADOOP_CONF_DIR is not set"
        try:
            done = subprocess.run(
                self._command(*words),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_SECONDS,
                # Ctrl-C in a terminal ends the program, not what is asked to end it.
                start_new_session=True,
            )
        except subprocess.TimeoutExpired:
            raise SubmissionError(
                f"YARN does not answer within {_SECONDS} s; its configuration: {where}"
            ) from None
        except OSError as error:
            raise SubmissionError(f"YARN's client cannot be started: {error}") from None
        if done.returncode:
            said = "\n  ".join(done.stderr.strip().splitlines()[-_LINES:])
            raise SubmissionError(f"YARN's client failed; its configuration: {where}\n  {said}")
        return done.stdout

    def _command(self, *words: str) -> list[str]:
        home = os.environ.get("JAVA_HOME")
        java = str(Path(home) / "bin" / "java") if home else "java"
        jars = str(Path(self._spark_home) / "jars" / "*")
        classes = os.pathsep.join([*self._folders.values(), jar_path(), jars])
        return [java, "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", classes, _MAIN, *words]


def client_of(job: Job) -> Client | None:
    """Return a client of the cluster that the driver of a program is in; None if it is not YARN."""
    if not job.is_on_yarn:
        return None
    assert job.cluster is not None
    folders = {name: job.cluster[name] for name in YARN_FOLDERS if name in job.cluster}
    return Client(job.cluster["spark_home"], folders)


def observed(job: Job) -> Job:
    """Return a program as YARN knows it, unless it has ended.

    Raises
    ------
    SubmissionError
        If the cluster does not answer.
    """
    client = client_of(job)
    if client is None or job.ended is not None:
        return job
    application = client.find(job.id)
    if application is not None:
        # What waits for the end on this machine notes it.
        is_over = application.has_ended and not job.has_process
        return seen(job, application, time.time() if is_over else None)
    if job.has_process:
        return job  # it has not been submitted yet
    if job.application is None:
        return job.noted(ended=time.time())
    forgotten = Application(**{**job.application, "state": "FAILED"})
    return seen(job, forgotten, time.time())


def seen(job: Job, application: Application, ended: float | None) -> Job:
    """Note the application of a program as YARN knows it, and return the program."""
    return job.noted(application=asdict(application), ended=ended)
