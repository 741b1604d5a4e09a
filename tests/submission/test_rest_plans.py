"""``GET /artifacts/:id/plan``: programs are not run for it."""

from __future__ import annotations

import signal
import subprocess
import threading
from contextlib import suppress
from http.client import HTTPException

import pytest

pytest.importorskip("fastapi")

from rest_client import serving
from submitted import PROGRAMS

from sessions import wait_until

TABLE = b"""
import sys

from pyflow.table import EnvironmentSettings, TableEnvironment

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
t_env.execute_sql("CREATE TABLE seen (n BIGINT) WITH ('connector' = 'print')")
if "query" in sys.argv:
    t_env.execute_sql("SELECT 7 AS answer").print()
t_env.execute_sql("INSERT INTO seen VALUES (1)").wait()
raise AssertionError("it has been run")
"""
ENDLESS = b"""
import pathlib, sys, time

pathlib.Path(sys.argv[1]).touch()
time.sleep(600)
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("plans")) as started:
        yield started


def leaves_nothing(service):
    folder = service.directory / "plans"
    return service.did("GET", "/jobs")["jobs"] == [] and list(folder.iterdir()) == []


def test_the_plan_of_a_stream_has_its_graph(service):
    program = service.uploaded("stream.py", (PROGRAMS / "counting_stream.py").read_bytes())

    plan = service.plan(program, "?parallelism=3")

    assert plan["name"] == "counts"
    assert "numbers" in plan["nodes"][0]["type"]
    assert {node["parallelism"] for node in plan["nodes"]} <= {1, 3}
    assert leaves_nothing(service)


@pytest.mark.complete
def test_the_plan_of_tables_says_how_rows_are_computed(service):
    program = service.uploaded("table.py", TABLE)

    plan = service.plan(program)
    assert plan["name"] == "insert into default_catalog.default_database.seen"
    assert "== Spark's Plan of the Rows for" in plan["text"]
    assert "answer" in service.plan(program, "?programArg=query")["text"]
    assert leaves_nothing(service)


@pytest.mark.complete
def test_a_program_without_a_job_has_no_plan(service):
    for text, reason in {
        b"print('hello')\n": "the program has no job that has a plan",
        b"raise ValueError('no')\n": "ended before its first job: Traceback",
    }.items():
        program = service.uploaded("program.py", text)
        status, told = service.refused("GET", f"/artifacts/{program}/plan")
        assert status == 400
        assert reason in told
    assert service.refused("GET", "/artifacts/none/plan")[0] == 404
    assert leaves_nothing(service)


@pytest.mark.complete
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_program_that_is_planned_ends_with_the_service(service, tmp_path, number):
    program = service.uploaded("endless.py", ENDLESS)
    began = tmp_path / "began"
    path = f"/artifacts/{program}/plan?programArg={began}"

    answers = []

    def ask():
        with suppress(OSError, HTTPException):
            answers.append(service.refused("GET", path))

    asking = threading.Thread(target=ask)
    asking.start()
    wait_until(began.exists, "the program", 60)

    service.end(number)
    service.start()

    asking.join(30)
    assert answers == ([(503, "the service ends")] if number == signal.SIGTERM else [])
    ours = ["pgrep", "-f", f"endless.py {began}"]
    wait_until(lambda: subprocess.run(ours).returncode == 1, "its end", 20)
    assert not (service.directory / "plans").exists()
