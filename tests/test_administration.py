"""What who runs a cluster decides: which functions may run in thread mode, and whose."""

from __future__ import annotations

import getpass
import sys

import pytest

from deployments import PROGRAMS, connect_server, ended, run, submit

ALLOWED = "spark.pyflow.thread-mode.allowed"


@pytest.mark.parametrize(
    ("allowed", "where_runs", "shout_runs"),
    [
        ("other, wh?re", True, False),
        pytest.param("true", True, True, marks=pytest.mark.complete),
        pytest.param("FALSE", False, False, marks=pytest.mark.complete),
        pytest.param("shout", False, True, marks=pytest.mark.complete),
        pytest.param("s*,where.x", False, True, marks=pytest.mark.complete),
    ],
)
def test_only_what_is_allowed_runs_in_thread_mode(allowed, where_runs, shout_runs, tmp_path):
    """Unit tests try more lists."""
    output = run([*submit(f"{ALLOWED}={allowed}"), PROGRAMS / "application.py"], tmp_path)
    assert ("places ['java']" in output) == where_runs
    assert ("ThreadEvalPython" in output) == shout_runs
    assert "words ['WORD 0', 'WORD 1', 'WORD 2']" in output
    reason = f"{ALLOWED}={allowed}" if allowed != "FALSE" else f"{ALLOWED}=false"
    assert (f"({reason})" in output) == (not (where_runs and shout_runs))


@pytest.mark.complete
def test_what_is_not_allowed_is_an_error_where_process_mode_is_ruled_out(tmp_path):
    command = submit(f"{ALLOWED}=false", "spark.pyflow.fallback=false")
    done = ended([*command, PROGRAMS / "application.py"], tmp_path)
    assert done.returncode != 0
    assert f"thread mode is not allowed in this application ({ALLOWED}=false)" in done.stdout


@pytest.mark.complete
def test_an_application_with_a_senseless_list_does_not_start(tmp_path):
    done = ended([*submit(f"{ALLOWED}=where,,shout"), PROGRAMS / "application.py"], tmp_path)
    assert done.returncode != 0
    assert "a list of names without empty ones" in done.stdout


@pytest.fixture(scope="module")
def shared_server(request, tmp_path_factory):
    """A Spark Connect server that many can use: its address, and whether others may."""
    conf = ["spark.pyflow.execution-mode=thread"]
    if request.param == "allowed":
        conf.append(f"{ALLOWED}=where")
    with connect_server(tmp_path_factory.mktemp("connect"), *conf) as address:
        yield address, request.param == "allowed"


@pytest.mark.complete
@pytest.mark.parametrize(
    ("shared_server", "user"),
    [
        pytest.param("by default", getpass.getuser(), marks=pytest.mark.complete),
        ("by default", "alice"),
        pytest.param("by default", "", marks=pytest.mark.complete),
        pytest.param("allowed", getpass.getuser(), marks=pytest.mark.complete),
        pytest.param("allowed", "alice", marks=pytest.mark.complete),
        pytest.param("allowed", "", marks=pytest.mark.complete),
    ],
    indirect=["shared_server"],
)
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
