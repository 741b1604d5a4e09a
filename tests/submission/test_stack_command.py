"""``pyflow stack``: what Python code does, in all executors and whoever holds the GIL."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest
from submitted import PROGRAMS, User

from sessions import FREE_THREADED, OWN_GIL, wait_until
from spark_ui import read

PROGRAM = PROGRAMS / "held_functions.py"
UI = ("-D", "spark.ui.enabled=true")


@pytest.fixture
def user(tmp_path):
    made = User(tmp_path)
    yield made
    made.end_all()


class Held:
    """A program whose functions go on when it is let go."""

    def __init__(self, user, target, *flags):
        self.pipe, self.end = user.home / "pipe", user.home / "end"
        os.mkfifo(self.pipe)
        flags = [*flags, "-py", str(PROGRAM), str(self.pipe), str(self.end)]
        self.user, self.id = user, user.started(target, *flags)
        user.wait_for_log(self.id, "started")

    def executors(self):
        """Those that answer; those of a cluster may not be there yet."""
        found = self.user.ended("stack", "--json", self.id)
        listed = json.loads(found.stdout) if found.returncode == 0 else []
        return [each for each in listed if "error" not in each]

    def threads(self, kind, functions):
        """The executors, once threads of tasks or workers are in all of the functions."""
        found = []

        def are_there():
            found[:] = self.executors()
            named = {
                frame["function" if kind == "threads" else "name"]
                for executor in found
                for each in executor[kind]
                for thread in (each.get("threads", []) if kind == "workers" else [each])
                for frame in thread.get("frames", [])
            }
            return functions <= named

        wait_until(are_there, f"{functions} on the stacks", 120, every=0.5)
        return found

    def let_go(self):
        self.end.touch()
        writer = os.open(self.pipe, os.O_RDWR)
        try:
            self.user.wait_for_log(self.id, "ended")
        finally:
            os.close(writer)
        self.user.wait_for_state(self.id, "FINISHED")


def functions_of(thread):
    return [frame["function"] for frame in thread["frames"]]


@pytest.mark.skipif(not OWN_GIL, reason="the task that is in Python would wait for the GIL")
@pytest.mark.parametrize(
    "target", ["local[2]", pytest.param("standalone", marks=pytest.mark.complete)]
)
def test_tasks_are_shown_in_all_executors(user, request, target):
    master = request.getfixturevalue(target) if target == "standalone" else target
    held = Held(user, master, *UI)

    executors = held.threads("threads", {"hold", "wait"})

    threads = {functions_of(thread)[-2]: thread for each in executors for thread in each["threads"]}
    assert functions_of(threads["hold"]) == ["hold", "held"]
    assert functions_of(threads["wait"])[-2:] == ["wait", "held"]
    assert threads["hold"]["holds_gil"]
    line = PROGRAM.read_text().splitlines()[threads["hold"]["frames"][0]["line"] - 1]
    assert "PyDLL" in line
    for n, name in enumerate(["hold", "wait"]):
        assert threads[name]["task"].startswith(f"{n}.0 in stage ")
        assert threads[name]["functions"] == "held"
    assert sorted(each["executor"] for each in executors) == (
        ["driver"] if target == "local[2]" else ["0", "1"]
    )

    printed = user.did("stack")
    assert "held, isolated interpreter" in printed
    assert f"    hold ({PROGRAM}:{threads['hold']['frames'][0]['line']})\n    held (" in printed
    page = read(f"{user.status(held.id)['ui']}/python/stacks/")
    assert f"hold ({PROGRAM}:{threads['hold']['frames'][0]['line']})\nheld (" in page
    assert page.count("isolated") == 2
    # The other one has a GIL of its own, which it holds now and then.
    assert ", holds the GIL" in page
    held.let_go()
    ended = user.ended("stack", held.id)
    assert ended.returncode == 1
    assert f"program {held.id} has ended: FINISHED" in ended.stdout


@pytest.mark.complete
@pytest.mark.skipif(FREE_THREADED, reason="there is no GIL")
def test_a_task_that_waits_for_the_gil_is_shown(user):
    held = Held(user, "local[2]", "-D", "spark.pyflow.interpreter=shared")

    (executor,) = held.threads("threads", {"hold"})

    (holder,) = [each for each in executor["threads"] if each.get("holds_gil")]
    assert functions_of(holder) == ["hold", "held"]
    assert "holds the GIL" in user.did("stack", held.id)
    held.let_go()


@pytest.mark.complete
@pytest.mark.skipif(FREE_THREADED, reason="py-spy does not read them")
def test_workers_are_shown(user):
    held = Held(user, "local[2]", "-D", "python.execution-mode=process", *UI)

    (executor,) = held.threads("workers", {"hold", "wait"})

    assert executor["threads"] == []
    printed = user.did("stack", held.id)
    assert "worker process" in printed
    assert f"    wait ({PROGRAM}:" in printed
    page = read(f"{user.status(held.id)['ui']}/python/stacks/")
    assert "worker process" in page
    assert f"wait ({PROGRAM}:" in page
    held.let_go()


@pytest.mark.complete
def test_an_executor_that_does_not_answer(user):
    held = Held(user, "local-cluster[1,2,1024]")
    held.threads("threads", {"wait"})
    backend = "CoarseGrainedExecutorBackend"
    command = ["pgrep", "--full", f"{backend}.*--app-id {user.status(held.id)['application']}"]
    (executor,) = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()

    os.kill(int(executor), signal.SIGSTOP)
    try:
        found = user.ended("stack", held.id)
    finally:
        os.kill(int(executor), signal.SIGCONT)

    assert found.returncode == 1
    assert "executor 0 does not answer: " in found.stdout
    held.let_go()


def test_programs_are_named(user):
    found = user.ended("stack")
    assert found.returncode == 1
    assert "which program? Those that run: none" in found.stdout
