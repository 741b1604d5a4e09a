"""``pyflow list``, ``status``, ``cancel``, ``stop`` and ``logs``, and Ctrl-C, of streams."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest
from submitted import PROGRAMS, User

from sessions import wait_until

TARGET = "local[2]"
PROGRAM = ("-p", "1", "-py", str(PROGRAMS / "counting_stream.py"))


@pytest.fixture
def user(tmp_path):
    made = User(tmp_path)
    yield made
    made.end_all()


def counts(text):
    return [int(count) for count in re.findall(r"^count (\d+)$", text, re.MULTILINE)]


@pytest.mark.parametrize("target", [TARGET, pytest.param("standalone", marks=pytest.mark.complete)])
def test_a_stream_is_stopped_and_goes_on(user, tmp_path, request, target):
    target = request.getfixturevalue(target) if target == "standalone" else target
    checkpoints = ("-D", f"execution.checkpointing.dir=file://{tmp_path}/first")
    program = user.started(target, *checkpoints, *PROGRAM)
    user.wait_for_log(program, "count 3")
    (job,) = user.status(program)["jobs"]
    assert (job["name"], job["state"]) == ("counts", "RUNNING")
    assert job["id"] in user.did("list")
    refused = user.ended("stop", program)
    assert refused.returncode == 1
    assert "there is no directory for savepoints" in refused.stdout
    assert user.status(program)["state"] == "RUNNING"

    printed = user.did("stop", job["id"][:8], "-p", "savepoints")
    path = re.fullmatch(rf"Stopped job {job['id']}. It goes on from (.*)\n", printed)[1]
    assert Path(path).parent == tmp_path / "savepoints"
    user.wait_for_state(program, "FINISHED")
    before = user.did("logs", program)
    assert before.splitlines()[-1] == "executed"

    log = tmp_path / "again.log"
    checkpoints = ("-D", f"execution.checkpointing.dir=file://{tmp_path}/second")
    with user.attached(target, *checkpoints, "-s", path, *PROGRAM, log=log) as process:
        wait_until(lambda: len(counts(log.read_text())) > 2, "counts")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    after = log.read_text()
    # The batch that was not committed is repeated.
    assert 1 < counts(after)[0] <= counts(before)[-1] + 1
    assert "\ninterrupted\n" in after
    assert [each["state"] for each in json.loads(user.did("list", "-a", "--json"))] == [
        "FINISHED",
        "CANCELED",
    ]


@pytest.mark.complete
def test_jobs_of_one_program_are_ended_one_by_one(user):
    program = user.started(TARGET, *PROGRAM, "two")
    user.wait_for_log(program, "both started")
    first, second = user.status(program)["jobs"]
    assert [first["name"], second["name"]] == ["first", "second"]

    user.did("cancel", first["id"])
    assert [job["state"] for job in user.status(program)["jobs"]] == ["CANCELED", "RUNNING"]
    again = user.ended("cancel", first["id"])
    assert again.returncode == 1
    assert f"the job {first['id']} has ended: CANCELED" in again.stdout

    user.did("cancel", program)
    assert user.status(program)["state"] == "CANCELED"
    assert second["id"] not in user.did("list")
    again = user.ended("stop", program)
    assert again.returncode == 1
    assert f"program {program} has ended: CANCELED" in again.stdout
