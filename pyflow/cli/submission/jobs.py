"""Programs that ``pyflow run`` has started, and their jobs, as they are asked for and ended."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import Any

from pyflow.cli.submission import yarn
from pyflow.cli.submission.errors import SubmissionError
from pyflow.cli.submission.registry import Job, Registry
from pyflow.cli.submission.supervision import end, wait_until
from pyflow.session import operation

# How long a program may take to end after it was asked, and after a signal.
_ASKED_SECONDS = 60
_SIGNALLED_SECONDS = 15
# How long a job may take to end, and its state to be copied.
_ANSWER_SECONDS = 90
# A batch may last for long.
_STOP_SECONDS = 3600


@dataclass(frozen=True)
class Found:
    """What an identifier means.

    Parameters
    ----------
    program : Job
    job : str, optional
        The job of the program that was meant, if it was not the program.
    """

    program: Job
    job: str | None = None

    @property
    def id(self) -> str:
        """The whole identifier."""
        return self.job or self.program.id

    def running(self) -> list[str]:
        """Return the jobs of the program that run.

        Raises
        ------
        SubmissionError
            If there are none.
        """
        jobs = _asked(self.program, {"action": "describe"})["jobs"]
        running = [each["id"] for each in jobs if each["state"] == "RUNNING"]
        if not running:
            raise SubmissionError(f"program {self.program.id} has no jobs that run")
        return running


def find(identifier: str) -> Found:
    """Return what an identifier, or the beginning of one, means.

    Raises
    ------
    SubmissionError
        If it means nothing, or several.
    """
    programs = Registry.of_user().jobs()
    found = [Found(current(program)) for program in programs if program.id.startswith(identifier)]
    for program in programs:
        if program.is_running and program.cluster is None:
            jobs = jobs_of(program)["jobs"]
            found += [Found(program, j["id"]) for j in jobs if j["id"].startswith(identifier)]
    if not found or not identifier:
        raise SubmissionError(
            f"there is no program or job {identifier!r}; `pyflow list -a` has those that "
            "`pyflow run` has started on this machine"
        )
    if len(found) > 1:
        raise SubmissionError(
            f"{identifier!r} begins several: {', '.join(each.id for each in found)}"
        )
    return found[0]


def current(program: Job) -> Job:
    """Return a program as its cluster knows it, or as this machine does where that is silent."""
    return _observed(program)[0]


def _observed(program: Job) -> tuple[Job, str | None]:
    """Return a program as its cluster knows it, and why it does not tell."""
    try:
        return yarn.observed(program), None
    except SubmissionError as error:
        return program, str(error)


def jobs_of(program: Job) -> dict[str, Any]:
    """Return what is known of a program, and what it tells of its jobs if it runs."""
    answer: dict[str, Any] = {"application": None, "ui": None, "jobs": []}
    program, reason = _observed(program)
    if program.cluster is not None:
        if program.application is not None:
            answer["application"] = program.application["id"]
            answer["ui"] = program.application["url"]
            reason = reason or program.application["reason"]
        if program.is_running:
            reason = reason or _in_cluster(program)
    elif program.is_running:
        try:
            answer = operation.ask(program.directory, {"action": "describe"})
        except TimeoutError:
            reason = "it does not answer"
        except OSError:
            reason = "it has no session yet that would tell of jobs"
    elif program.ended is None:
        reason = "it, or the `pyflow run` that waited for its end, was killed"
    return {
        "id": program.id,
        "name": program.name,
        "state": program.state,
        "target": program.target,
        "submitted": program.submitted,
        "ended": program.ended,
        "exit_code": program.exit_code,
        "reason": reason,
        **answer,
    }


def cancel(program: Job) -> None:
    """End a program: it is asked first, and killed if it does not end.

    Raises
    ------
    SubmissionError
        If it has ended.
    """
    _check_runs(program)
    if program.cluster is not None:
        _cancel_in_cluster(program)
        return
    program = program.noted(is_cancelled=True)
    end(program)
    if wait_until(lambda: not program.read().is_running, _ASKED_SECONDS):
        return
    # It may not have had a process when it was asked.
    program = program.read()
    for number in (signal.SIGTERM, signal.SIGKILL):
        if program.process is not None:
            for each in (program.process, *program.process.drivers()):
                each.send(number)
        if wait_until(lambda: not program.read().is_running, _SIGNALLED_SECONDS):
            return
    raise SubmissionError(f"program {program.id} does not end")


def _cancel_in_cluster(program: Job) -> None:
    client = yarn.client_of(program)
    if client is None:
        raise SubmissionError(
            f"the driver of program {program.id} runs in the cluster: end it with "
            f"`spark-submit --master {program.target} --kill NAMESPACE:DRIVER_POD`"
        )
    program = program.noted(is_cancelled=True)

    def has_ended() -> bool:
        # What submits it may be about to, or not be there yet.
        known = program.read()
        if known.process is not None:
            known.process.send(signal.SIGTERM)
        application = client.find(known.id)
        if application is not None and not application.has_ended:
            client.kill(application)
        return not yarn.observed(known.read()).is_running

    if not wait_until(has_ended, _ASKED_SECONDS):
        raise SubmissionError(f"program {program.id} does not end")


def cancel_job(program: Job, job: str) -> None:
    """End a job of a program.

    Raises
    ------
    SubmissionError
        If it has ended.
    """
    _asked(program, {"action": "cancel", "job": job})


def stop(program: Job, job: str, directory: str | None) -> list[str]:
    """End a job so that it can go on; return from which paths.

    Raises
    ------
    SubmissionError
        If it cannot go on; it has not been ended then.
    """
    question = {"action": "stop", "job": job, "directory": directory}
    paths: list[str] = _asked(program, question, _STOP_SECONDS)["paths"]
    return paths


def stacks(program: Job) -> list[dict[str, Any]]:
    """Return what the Python code of a program does now, in each of its executors.

    Raises
    ------
    SubmissionError
        If it has ended, or has no session.
    """
    executors: list[dict[str, Any]] = _asked(program, {"action": "stacks"})["executors"]
    return executors


def profile(program: Job, seconds: float, rate: float) -> list[dict[str, Any]]:
    """Return where the Python code of a program spends its time, in each of its executors.

    Raises
    ------
    SubmissionError
        If it has ended, or has no session.
    """
    question = {"action": "profile", "seconds": seconds, "rate": rate}
    executors: list[dict[str, Any]] = _asked(program, question, seconds + _ANSWER_SECONDS)[
        "executors"
    ]
    return executors


def debug(
    program: Job, host: str, port: int, function: str | None, seconds: float
) -> list[dict[str, Any]]:
    """Let debuggers attach to the functions of a program; return where, in each of its executors.

    Raises
    ------
    SubmissionError
        If it has ended, or has no session.
    """
    question = {
        "action": "debug",
        "host": host,
        "port": port,
        "function": function,
        "seconds": seconds,
    }
    executors: list[dict[str, Any]] = _asked(program, question)["executors"]
    return executors


def end_debugging(program: Job) -> list[dict[str, Any]]:
    """Have functions of a program run where they would without a debugger.

    Raises
    ------
    SubmissionError
        If it has ended, or has no session.
    """
    executors: list[dict[str, Any]] = _asked(program, {"action": "end debugging"})["executors"]
    return executors


def running_program() -> Job:
    """Return the only program that runs.

    Raises
    ------
    SubmissionError
        If there are none, or several.
    """
    here = [program for program in Registry.of_user().jobs() if program.cluster is None]
    running = [program for program in here if program.is_running]
    if len(running) != 1:
        those = ", ".join(program.id for program in running) or "none"
        raise SubmissionError(f"which program? Those that run: {those}")
    return running[0]


def _asked(
    program: Job, question: dict[str, Any], seconds: float = _ANSWER_SECONDS
) -> dict[str, Any]:
    _check_runs(program)
    if program.cluster is not None:
        raise SubmissionError(f"program {program.id} cannot be asked: {_in_cluster(program)}")
    try:
        answer = operation.ask(program.directory, question, seconds)
    except FileNotFoundError:
        raise SubmissionError(
            f"program {program.id} cannot be asked: it has no session, or none that "
            "pyflow.configure() or an environment has started; `pyflow cancel` ends it"
        ) from None
    except OSError as error:
        raise SubmissionError(f"program {program.id} does not answer: {error}") from None
    if "error" in answer:
        raise SubmissionError(answer["error"])
    return answer


def _in_cluster(program: Job) -> str:
    return f"its driver runs in the cluster ({program.target}), where only Spark's UI tells of jobs"


def _check_runs(program: Job) -> None:
    if not program.is_running:
        raise SubmissionError(f"program {program.id} has ended: {program.state}")
