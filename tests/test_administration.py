"""What who runs a cluster decides: which functions may run in thread mode, and whose."""

from __future__ import annotations

import getpass
import sys
import zipfile

import pytest

import pyflow
from deployments import PROGRAMS, connect_server, ended, run, submit
from sessions import OWN_GIL

ALLOWED = "spark.pyflow.thread-mode.allowed"


@pytest.mark.parametrize(
    ("allowed", "where_runs", "shout_runs"),
    [
        pytest.param("true", True, True, marks=pytest.mark.complete),
        ("FALSE", False, False),
        pytest.param("shout", False, True, marks=pytest.mark.complete),
        ("other, wh?re", True, False),
        ("s*,where.x", False, True),
    ],
)
def test_only_what_is_allowed_runs_in_thread_mode(allowed, where_runs, shout_runs, tmp_path):
    output = run([*submit(f"{ALLOWED}={allowed}"), PROGRAMS / "application.py"], tmp_path)
    assert ("places ['java']" in output) == where_runs
    assert ("ThreadEvalPython" in output) == shout_runs
    assert "words ['WORD 0', 'WORD 1', 'WORD 2']" in output
    reason = f"{ALLOWED}={allowed}" if allowed != "FALSE" else f"{ALLOWED}=false"
    assert (f"({reason})" in output) == (not (where_runs and shout_runs))


def test_sparks_metrics_report_memory_and_interpreters(tmp_path):
    sink = "spark.metrics.conf.*.sink.csv"
    reports = tmp_path / "metrics"
    reports.mkdir()
    command = submit(
        f"{sink}.class=org.apache.spark.metrics.sink.CsvSink", f"{sink}.directory={reports}"
    )
    run([*command, PROGRAMS / "application.py"], tmp_path)

    def last(gauge):
        (report,) = reports.glob(f"*plugin.io.pyflow.PyFlowPlugin.{gauge}.csv")
        return int(report.read_text().splitlines()[-1].split(",")[1])

    assert last("pythonMemory") > 1_000_000
    assert last("memoryLentToPython") == 0
    assert (last("isolatedInterpreters") > 0) == OWN_GIL


def test_what_is_not_allowed_is_an_error_where_process_mode_is_ruled_out(tmp_path):
    command = submit(f"{ALLOWED}=false", "spark.pyflow.fallback=false")
    done = ended([*command, PROGRAMS / "application.py"], tmp_path)
    assert done.returncode != 0
    assert f"thread mode is not allowed in this application ({ALLOWED}=false)" in done.stdout


def test_an_application_with_a_senseless_list_does_not_start(tmp_path):
    done = ended([*submit(f"{ALLOWED}=where,,shout"), PROGRAMS / "application.py"], tmp_path)
    assert done.returncode != 0
    assert "a list of names without empty ones" in done.stdout


@pytest.fixture(scope="module", params=["by default", "allowed"])
def shared_server(request, tmp_path_factory):
    """A Spark Connect server that many can use: its address, and whether others may."""
    conf = ["spark.pyflow.execution-mode=thread"]
    if request.param == "allowed":
        conf.append(f"{ALLOWED}=where")
    with connect_server(tmp_path_factory.mktemp("connect"), *conf) as address:
        yield address, request.param == "allowed"


@pytest.mark.parametrize("user", [getpass.getuser(), "alice", ""])
def test_users_of_a_connect_server_run_in_it_only_if_allowed(shared_server, user, tmp_path):
    address, others_allowed = shared_server
    url = f"sc://{address}/;user_id={user}" if user else f"sc://{address}"
    output = run([sys.executable, PROGRAMS / "connect_user.py", url], tmp_path)
    in_thread = others_allowed or user == getpass.getuser()
    assert ("query ['java']" in output) == in_thread
    assert ("stream ['java']" in output) == in_thread
    assert ("ThreadEvalPython" in output) == in_thread
    whose = f"the user {user}," if user else "no known user,"
    assert (f"a Spark Connect session of {whose}" in output) == (not in_thread)


def test_a_changed_native_library_is_not_loaded(tmp_path):
    jar = tmp_path / "changed.jar"
    with zipfile.ZipFile(pyflow.jar_path()) as original, zipfile.ZipFile(jar, "w") as changed:
        for entry in original.infolist():
            content = original.read(entry)
            changed.writestr(
                entry, content + b"\0" if "libpyflow-cp" in entry.filename else content
            )
    command = [*submit("spark.pyflow.fallback=false", jar=jar), PROGRAMS / "application.py"]
    done = ended(command, tmp_path)
    assert done.returncode != 0
    assert "changed.jar is not the one that was built with it" in done.stdout
    assert "Replace the jar by an intact one" in done.stdout
