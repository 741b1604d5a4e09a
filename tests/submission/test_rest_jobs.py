"""Jobs that are run, watched and ended through ``pyflow rest``."""

from __future__ import annotations

import io
import re
import signal
import threading
import zipfile
from contextlib import suppress
from http.client import HTTPException

import pytest

pytest.importorskip("fastapi")

from rest_client import serving
from submitted import PROGRAMS, User

from sessions import wait_until

PROGRAM = b"""
import sys

import helper
from pyspark.sql import SparkSession

import pyflow

session = pyflow.configure(SparkSession.builder).getOrCreate()
print("ROWS", session.range(helper.ROWS).count(), sys.argv[1:], flush=True)
raise LookupError("nothing is left")
"""
SLEEPING = (PROGRAMS / "plain_sleeping.py").read_bytes()


@pytest.fixture
def service(tmp_path):
    with serving(tmp_path) as started:
        yield started


def package(**modules):
    """The bytes of a zip file with the text of modules."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in modules.items():
            archive.writestr(f"{name}.py", text)
    return file.getvalue()


def test_a_program_runs_with_what_it_needs_and_its_failure_is_told(service):
    program = service.uploaded("program.py", PROGRAM)
    helper = service.uploaded("helpers.zip", package(helper="ROWS = 7"))

    job = service.ran(program, programArgsList=["a", "--", "b c"], pyFiles=[helper])

    status, reason = service.refused("DELETE", f"/artifacts/{helper}")
    assert (status, reason) == (409, f"job {job}, which runs, needs helpers.zip")
    service.wait_for_state(job, "FAILED")
    assert "ROWS 7 ['a', '--', 'b c']\n" in service.logs(job)
    assert service.logs(job, "?lines=1") == "LookupError: nothing is left\n"
    (entry,) = service.did("GET", f"/jobs/{job}/exceptions")["exceptionHistory"]["entries"]
    assert entry["exceptionName"] == "LookupError"
    assert entry["stacktrace"].startswith("Traceback (most recent call last):\n")
    described = service.did("GET", f"/jobs/{job}")
    assert (described["name"], described["exit_code"]) == ("program.py", 1)
    assert service.did("GET", "/overview")["jobs-failed"] == 1
    assert service.did("GET", "/jobs")["jobs"] == [{"id": job, "status": "FAILED"}]
    assert service.did("DELETE", f"/artifacts/{helper}") == {}


@pytest.mark.complete
def test_a_stream_outlives_the_service_and_goes_on_from_its_savepoint(service, tmp_path):
    text = (PROGRAMS / "counting_stream.py").read_text()
    program = service.uploaded("stream.zip", package(counting=text))
    settings = {"execution.checkpointing.dir": str(tmp_path / "checkpoints")}
    body = {"entryModule": "counting", "parallelism": 1, "flinkConfiguration": settings}
    job = service.ran(program, **body)
    service.wait_for_log(job, "count 3\n")

    service.end(signal.SIGKILL)
    service.start()

    assert service.state(job) == "RUNNING"
    (execution,) = service.did("GET", f"/jobs/{job}")["executions"]
    assert (execution["name"], execution["state"]) == ("counts", "RUNNING")
    metrics = {each["id"]: each["value"] for each in service.did("GET", f"/jobs/{job}/metrics")}
    assert int(metrics[f"{execution['id']}.0.batch"]) >= 0
    directory = {"targetDirectory": str(tmp_path / "savepoints")}
    trigger = service.did("POST", f"/jobs/{job}/stop", directory, 202)["request-id"]
    service.wait_for_state(job, "FINISHED")
    answer = service.did("GET", f"/jobs/{job}/savepoints/{trigger}")
    assert answer["status"] == {"id": "COMPLETED"}
    location = answer["operation"]["location"]
    assert location.startswith(f"{tmp_path}/savepoints/savepoint-")
    assert "executed\n" in service.logs(job)
    last = max(map(int, re.findall(r"count (\d+)", service.logs(job))))

    settings["execution.checkpointing.dir"] = str(tmp_path / "others")
    again = service.ran(program, **body, savepointPath=location)

    service.wait_for_log(again, f"count {last + 1}\n")
    assert "count 1\n" not in service.logs(again)
    assert service.did("PATCH", f"/jobs/{again}", status=202) == {}
    service.wait_for_state(again, "CANCELED")


def test_jobs_are_limited_outlive_the_service_and_are_seen_by_other_commands(tmp_path):
    user = User(tmp_path)
    with serving(tmp_path, "--max-running", "1") as service:
        program = service.uploaded("sleeping.py", SLEEPING)
        job = service.ran(program, programArgsList=[str(tmp_path / "how")])
        path = f"/artifacts/{program}/run"
        assert service.refused("POST", path) == (429, "1 jobs run already: wait, or cancel one")
        service.wait_for_log(job, "sleeping")
        assert user.status(job)["state"] == "RUNNING"
        assert "PYFLOW_REST_TOKEN" not in environment_of(user, job)

        service.end(signal.SIGKILL)
        service.start()
        assert service.state(job) == "RUNNING"

        service.did("PATCH", f"/jobs/{job}?mode=cancel", status=202)

        service.wait_for_state(job, "CANCELED")
        assert (tmp_path / "how").read_text() == "interrupted"
        relative = service.refused("POST", f"/jobs/{job}/stop", {"targetDirectory": "here"})
        assert relative == (400, "'here' is no absolute path and no address")
        status, reason = service.refused("PATCH", f"/jobs/{job}")
        assert (status, reason) == (409, f"job {job} has ended: CANCELED")
        assert service.refused("POST", f"/jobs/{job}/stop", {})[0] == 409


def environment_of(user, job):
    """The names of the variables of a job's program."""
    pid = user.registered(job)["process"]["pid"]
    with open(f"/proc/{pid}/environ") as file:
        return {variable.partition("=")[0] for variable in file.read().split("\0")}


def test_what_cannot_be_started_is_refused_and_leaves_nothing(service):
    program = service.uploaded("program.py", SLEEPING)
    archive = service.uploaded("package.zip", package(module=""))
    path = f"/artifacts/{program}/run"
    refused = {
        "there is no artifact 'none'": (path, {"pyFiles": ["none"]}, 404),
        "program.py is no artifact of kind requirements": (path, {"pyRequirements": program}, 400),
        "package.zip is a package: name its module by": (f"/artifacts/{archive}/run", {}, 400),
        "body.parallelism: Input should be a valid": (path, {"parallelism": "many"}, 400),
        "characters that UTF-8 does not have": (path, {"pyFiles": ["\ud800"]}, 400),
        "spark-submit could not be started": (path, {"programArgsList": ["a\0b"]}, 400),
        "body.colour: Extra inputs are not permitted": (path, {"colour": "red"}, 400),
        "-t moon: there is no such target": (path, {"target": "moon"}, 400),
        "-D python.fn": (path, {"flinkConfiguration": {"python.fn-execution.no": 1}}, 400),
    }
    for reason, (where, body, status) in refused.items():
        found = service.refused("POST", where, body)
        assert found[0] == status
        assert reason in found[1]
    assert service.did("GET", "/jobs")["jobs"] == []
    assert list((service.directory / "work").iterdir()) == []
    jobs = service.home / "state" / "pyflow" / "jobs"
    assert not jobs.exists() or list(jobs.iterdir()) == []


@pytest.mark.complete
def test_a_job_is_found_whose_service_was_killed_as_it_started(service):
    program = service.uploaded("sleeping.py", SLEEPING)

    def run():
        with suppress(OSError, HTTPException):
            service.ask("POST", f"/artifacts/{program}/run")

    asking = threading.Thread(target=run)
    asking.start()
    # The directory is made after the job was noted, and before its program is started.
    wait_until(lambda: list(service.directory.glob("work/*")), "the job", 30, every=0.001)
    service.end(signal.SIGKILL)
    asking.join(30)
    service.start()

    (job,) = (each["id"] for each in service.did("GET", "/jobs")["jobs"])
    assert service.refused("DELETE", f"/artifacts/{program}")[0] == 409
    # It failed if the service was killed before the process that starts the program was there.
    service.wait_for_state(job, "RUNNING", "FAILED")
    if service.state(job) == "FAILED":
        service.did("DELETE", f"/artifacts/{program}")
        return
    service.did("PATCH", f"/jobs/{job}", status=202)
    service.wait_for_state(job, "CANCELED")
