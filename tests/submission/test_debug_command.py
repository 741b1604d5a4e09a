"""``pyflow debug``: a debugger attaches to functions of a running program."""

from __future__ import annotations

import json
import socket
import sys
import time

import pytest
from dap_client import DapClient
from submitted import PROGRAMS, User

PROGRAM = PROGRAMS / "debugged_functions.py"
LINE = 1 + [line.endswith("# breakpoint") for line in PROGRAM.read_text().splitlines()].index(True)

since_monitoring = pytest.mark.skipif(sys.version_info < (3, 12), reason="needs sys.monitoring")


@pytest.fixture
def user(tmp_path):
    made = User(tmp_path)
    yield made
    made.end_all()


class Debugged:
    """A program whose functions are called until it is told to end."""

    def __init__(self, user, target, *flags):
        self.end, self.user = user.home / "end", user
        self.id = user.started(target, *flags, "-py", str(PROGRAM), str(self.end))
        user.wait_for_log(self.id, "started")

    def debug(self, *flags):
        return json.loads(self.user.did("debug", "--json", *flags, self.id))

    def let_go(self):
        self.end.touch()
        self.user.wait_for_state(self.id, "FINISHED")


def wait_until_refused(host, port, seconds=30):
    """Wait until nothing listens there: debugpy's adapter is a process of its own."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            socket.create_connection((host, port), timeout=1).close()
        except ConnectionRefusedError:
            return
        except TimeoutError:
            continue
        time.sleep(0.1)
    raise AssertionError(f"something listens on {host}:{port} still")


@pytest.mark.complete
@since_monitoring
def test_a_breakpoint_stops_in_a_function_of_a_running_program(user):
    debugged = Debugged(user, "local[2]")

    (executor,) = debugged.debug()

    host, port = executor["address"]
    assert host == "127.0.0.1"
    for _ in range(2):  # a debugger that has gone may come again
        with DapClient(host, port) as client:
            client.attach({PROGRAM: [LINE]})
            thread, frame, variables = client.stopped()
            assert (frame["name"], frame["line"]) == ("doubled", LINE)
            assert variables["n"] == "21"
            assert variables["twice"] == "42"
            client.ask("setBreakpoints", source={"path": str(PROGRAM)}, breakpoints=[])
            client.ask("continue", threadId=thread)
            client.ask("disconnect", terminateDebuggee=False)
    assert "functions run as before" in user.did("debug", "--end", debugged.id)
    debugged.let_go()
    wait_until_refused(host, port)


@pytest.mark.complete
@since_monitoring
def test_the_next_call_of_a_function_by_name_waits_for_a_debugger(user):
    debugged = Debugged(user, "local[2]")

    (executor,) = debugged.debug("--function", "doubled")

    with DapClient(*executor["address"]) as client:
        client.attach({})
        thread, frame, variables = client.stopped()
        assert frame["name"] == "doubled"
        assert variables["n"] == "21"
        assert "twice" not in variables
        client.ask("continue", threadId=thread)
        client.ask("disconnect", terminateDebuggee=False)
    debugged.let_go()


@pytest.mark.complete
def test_functions_in_workers_cannot_be_debugged(user):
    debugged = Debugged(user, "local[2]", "-D", "python.execution-mode=process")

    found = user.ended("debug", debugged.id)

    assert found.returncode == 1
    assert "executor driver cannot be debugged: no Python runs in its JVM" in found.stdout
    assert "python.debug.loopback" in found.stdout
    debugged.let_go()


@pytest.mark.complete
@since_monitoring
def test_a_missing_debugpy_is_named(user):
    hidden = user.home / "hidden"
    hidden.mkdir()
    (hidden / "debugpy.py").write_text("raise ImportError('no debugpy here')\n")
    user.variables["PYTHONPATH"] = str(hidden)
    debugged = Debugged(user, "local[2]")

    found = user.ended("debug", debugged.id)

    assert found.returncode == 1
    assert "no debugpy here: pip install 'pyflow[debug]'" in found.stdout
    debugged.let_go()
