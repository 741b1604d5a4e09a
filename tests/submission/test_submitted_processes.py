"""What is known of programs that have not answered, were killed, or are another user's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import replace

import pytest
from submitted import PROGRAMS, User

from deployments import killed_at_the_end
from pyflow import cli
from pyflow.cli.submission.processes import Process
from pyflow.cli.submission.registry import Registry
from pyflow.cli.submission.supervision import run_attached, run_detached
from sessions import wait_until

SLEEPING = ("-py", str(PROGRAMS / "plain_sleeping.py"))


@pytest.fixture
def user(tmp_path):
    made = User(tmp_path)
    yield made
    made.end_all()


def driver_of(user, program):
    """The process of the Python program, and that of spark-submit."""
    file = user.home / "state" / "pyflow" / "jobs" / program / "job.json"
    submit = Process(**json.loads(file.read_text())["process"])
    return submit.drivers()[0], submit


def test_a_program_without_a_session_is_cancelled(user, tmp_path):
    program = user.started("local[2]", *SLEEPING, "how")
    user.wait_for_log(program, "sleeping")
    described = user.status(program)
    assert (described["state"], described["jobs"]) == ("RUNNING", [])
    assert described["reason"] == "it has no session yet that would tell of jobs"
    refused = user.ended("stop", program)
    assert refused.returncode == 1
    assert "`pyflow cancel` ends it" in refused.stdout

    user.did("cancel", program)

    assert user.status(program)["state"] == "CANCELED"
    assert (tmp_path / "how").read_text() == "interrupted"


def test_sigterm_ends_spark_submit_and_its_python(user, tmp_path):
    log = tmp_path / "program.log"
    with user.attached("local[2]", *SLEEPING, "how", log=log) as process:
        wait_until(lambda: "sleeping" in log.read_text(), "the program")
        (described,) = json.loads(user.did("list", "--json"))
        driver, submit = driver_of(user, described["id"])
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 143
    assert not driver.is_alive()
    assert not submit.is_alive()
    assert user.status(described["id"])["state"] == "CANCELED"


def test_a_spark_submit_that_is_killed_leaves_no_python(user):
    program = user.started("local[2]", *SLEEPING, "how")
    user.wait_for_log(program, "sleeping")
    driver, submit = driver_of(user, program)

    submit.send(signal.SIGKILL)

    user.wait_for_state(program, "FAILED")
    assert user.status(program)["exit_code"] == 137
    assert not driver.is_alive()


# Without a program


@pytest.fixture
def registry(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return Registry.of_user()


def note(registry, **changes):
    made = registry.create("app.py", ["spark-submit"], "local[2]", uuid.uuid4().hex)
    return made.noted(**changes)


def test_a_process_whose_number_another_has_now_is_gone(registry):
    own = Process.of(os.getpid())
    assert note(registry, process=own).state == "RUNNING"
    for other in (replace(own, started=own.started - 1), replace(own, boot="another")):
        assert note(registry, process=other, supervisor=None).state == "FAILED"


def test_a_program_without_an_end_or_a_process_was_killed(registry, capsys):
    gone = replace(Process.of(os.getpid()), boot="another")
    job = note(registry, process=gone, supervisor=gone)

    assert cli.main(["status", job.id]) == 0

    assert "it, or the `pyflow run` that waited for its end, was killed" in capsys.readouterr().out
    assert cli.main(["cancel", job.id]) == 1
    assert f"program {job.id} has ended: FAILED" in capsys.readouterr().err


def test_a_driver_on_kubernetes_is_not_said_to_be_cancelled(registry, capsys):
    cluster = {"master": "k8s://https://host:6443", "spark_home": "/spark"}
    job = note(registry, cluster=cluster, target=cluster["master"])

    assert cli.main(["cancel", job.id]) == 1

    said = f"end it with `spark-submit --master {job.target} --kill NAMESPACE:DRIVER_POD`"
    assert said in capsys.readouterr().err
    assert job.read().is_running
    assert cli.main(["stop", job.id]) == 1
    assert "its driver runs in the cluster" in capsys.readouterr().err


def test_unknown_and_ambiguous_ids(registry, capsys):
    first, second = note(registry), note(registry)
    for command in ("status", "cancel", "stop", "logs"):
        assert cli.main([command, "none"]) == 1
        assert "there is no program or job 'none'" in capsys.readouterr().err
    assert cli.main(["status", ""]) == 1
    directory = first.directory.rename(first.directory.with_name("a" * 32))
    second.directory.rename(directory.with_name("a" * 31 + "b"))
    assert cli.main(["status", "aaa"]) == 1
    assert "'aaa' begins several" in capsys.readouterr().err


def test_files_that_are_damaged_or_of_others(registry, capsys, monkeypatch):
    note(registry)
    damaged = note(registry)
    (damaged.directory / "job.json").write_text("{")

    assert cli.main(["list", "-a"]) == 0
    printed = capsys.readouterr()
    assert f"{damaged.directory}/job.json cannot be read" in printed.err
    assert printed.out.count("app.py") == 1

    own = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: own + 1)
    assert cli.main(["list", "-a"]) == 0
    printed = capsys.readouterr()
    assert printed.err.count("belongs to another user") == 2
    assert printed.out == "no programs\n"


def test_those_that_ended_first_are_forgotten(registry, monkeypatch):
    monkeypatch.setattr("pyflow.cli.submission.registry._KEPT", 2)
    long = note(registry, ended=10.0, exit_code=0, submitted=0.0)
    kept = [note(registry, ended=float(n), exit_code=0, submitted=5.0) for n in range(4)]
    running = note(registry, submitted=-1.0)

    left = {job.id for job in registry.jobs()}

    assert left == {running.id, long.id, kept[-1].id}


def test_a_program_killed_without_a_note_ended_when_it_last_printed(registry, monkeypatch):
    monkeypatch.setattr("pyflow.cli.submission.registry._KEPT", 1)
    gone = replace(Process.of(os.getpid()), boot="another")
    killed = note(registry, process=gone, supervisor=gone, submitted=0.0)
    ended = note(registry, ended=100.0, exit_code=0, submitted=1.0)
    running = note(registry)

    assert {job.id for job in registry.jobs()} == {killed.id, running.id}
    assert not ended.directory.exists()


@pytest.mark.parametrize("start", [run_attached, run_detached])
def test_a_program_that_cannot_be_noted_does_not_go_on(registry, tmp_path, capfd, start):
    words = ["sh", "-c", f"cd {tmp_path}; echo $$ > part; mv part pid; exec sleep 600"]
    job = registry.create("app.py", words, "local[2]", uuid.uuid4().hex)
    (job.directory / "job.json").unlink()

    assert start(job, os.environ) == 2

    assert "spark-submit could not be started" in capfd.readouterr().err
    number = tmp_path / "pid"
    if number.exists():
        with pytest.raises(ProcessLookupError):
            os.kill(int(number.read_text()), 0)


def test_a_program_goes_on_at_a_hangup_that_is_ignored(user, tmp_path):
    log = tmp_path / "program.log"
    command = ["nohup", *user.run_command("local[2]", *SLEEPING, "how")]
    with killed_at_the_end(command, tmp_path, log, **user.variables) as process:
        wait_until(lambda: "sleeping" in log.read_text(), "the program")
        (described,) = json.loads(user.did("list", "--json"))
        driver, _ = driver_of(user, described["id"])
        process.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(2)
        assert driver.is_alive()
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 143
    assert not driver.is_alive()


def test_all_that_a_program_prints_reaches_a_slow_reader(registry):
    """The reader begins when the program has ended long since."""
    words = ["sh", "-c", "seq 20000"]
    job = registry.create("app.py", words, "local[2]", uuid.uuid4().hex)
    code = f"""
import os, pathlib, sys
from pyflow.cli.submission import supervision
from pyflow.cli.submission.registry import Job
supervision._SECONDS = 1
sys.exit(supervision.run_attached(Job.of(pathlib.Path({str(job.directory)!r})), os.environ))
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        wait_until(lambda: job.read().ended is not None, "its end")
        time.sleep(3)
        printed = process.stdout.read()

    assert process.returncode == 0
    assert printed.split() == [str(n).encode() for n in range(1, 20001)]


def test_only_the_user_reads_what_is_noted(registry):
    job = note(registry)

    for path in (registry.folders.files.parent, job.directory):
        assert path.stat().st_mode & 0o777 == 0o700
    assert job.log.stat().st_mode & 0o777 == 0o600
    assert {path.name for path in job.directory.iterdir()} == {"log", "job.json"}


def test_a_directory_that_cannot_be_made_is_named(monkeypatch, tmp_path, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))

    assert cli.main(["run", *SLEEPING]) == 2

    assert f"Not a directory: '{tmp_path}/file" in capsys.readouterr().err
