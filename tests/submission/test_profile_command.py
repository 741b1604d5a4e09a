"""``pyflow profile``: where functions spend their time, in all executors."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from xml.etree import ElementTree

import pytest
from submitted import PROGRAMS, User

from sessions import FREE_THREADED, wait_until

PROGRAM = PROGRAMS / "profiled_functions.py"
INPUT = PROGRAMS / "profiled_input.py"
#: What its input is computed with.
DIGEST = "java.security.MessageDigest.digest"


@pytest.fixture
def user(tmp_path):
    made = User(tmp_path)
    yield made
    made.end_all()


def is_in_function(thread_or_worker):
    threads = thread_or_worker.get("threads", [thread_or_worker])
    frames = [frame for thread in threads for frame in thread.get("frames", [])]
    return any("profiled" in (each.get("function"), each.get("name")) for each in frames)


@contextmanager
def profiled(user, target, kind, *flags):
    """The id of a program while the threads or workers of both tasks are in its functions."""
    end = user.home / "end"
    identifier = user.started(target, *flags, "-py", str(PROGRAM), str(end))
    user.wait_for_log(identifier, "started")

    def runs():
        found = user.ended("stack", "--json", identifier)
        executors = json.loads(found.stdout) if found.returncode == 0 else []
        return (
            sum(map(is_in_function, (one for each in executors for one in each.get(kind, ())))) == 2
        )

    wait_until(runs, "the functions of both tasks on the stacks", 120, every=0.5)
    try:
        yield identifier
    finally:
        end.touch()
    user.wait_for_state(identifier, "FINISHED")


def shares(printed):
    """Self and total of each function of a table, in percent."""
    row = re.compile(r" *([\d.]+)% +([\d.]+)% +(?:[\d.]+% +)?(\S.*?)(?: \(/.*\))?")
    found = [row.fullmatch(line) for line in printed.splitlines()]
    return {each[3]: (float(each[1]), float(each[2])) for each in found if each}


def stacks_in(file):
    """The stacks of a file for speedscope, the outermost function first."""
    document = json.loads(file.read_text())
    frames = document["shared"]["frames"]
    for each in document["profiles"]:
        for sample in each["samples"]:
            yield tuple(frames[number]["name"] for number in sample)


@pytest.mark.parametrize(
    "target", ["local[2]", pytest.param("standalone", marks=pytest.mark.complete)]
)
def test_functions_of_all_executors_are_measured(user, request, target):
    master = request.getfixturevalue(target) if target == "standalone" else target
    with profiled(user, master, "threads") as identifier:
        command = ["profile", "--seconds", "2", "--by-task", identifier]
        files = ["--flame-graph", "graph.svg", "--speedscope", "profile.json"]
        printed = user.did(*command, *files)

    found = shares(printed)
    assert found["profiled"][1] > 70
    assert found["calculate.<locals>.<genexpr>"][0] > 3
    assert found["rest"][1] > 5

    document = json.loads((user.home / "profile.json").read_text())
    executors = ["driver"] if target == "local[2]" else ["0", "1"]
    names = sorted(each["name"] for each in document["profiles"])
    assert names == [f"executor {each}" for each in executors]
    stacks = set(stacks_in(user.home / "profile.json"))
    for task in (0, 1):
        begin = rf"executor \w+;task {task}\.0 in stage .*;operator of profiled;profiled;calculate"
        assert any(re.match(begin, ";".join(each)) for each in stacks)
    seconds = sum(each["endValue"] for each in document["profiles"])
    assert 3 < seconds < 5

    graph = ElementTree.parse(user.home / "graph.svg")
    titles = [each.text for each in graph.iter("{http://www.w3.org/2000/svg}title")]
    line = PROGRAM.read_text().splitlines().index("def calculate():") + 1
    assert any(each.startswith(f"calculate ({PROGRAM}:{line}): ") for each in titles)


@pytest.mark.complete
def test_methods_of_the_jvm_that_functions_wait_for_are_measured(user):
    end = user.home / "end"
    identifier = user.started("local[2]", "-py", str(INPUT), str(end))
    user.wait_for_log(identifier, "started")

    def runs():
        return '"passed"' in user.did("stack", "--json", identifier)

    wait_until(runs, "the function on a stack", 120, every=0.5)
    user.did("profile", "--seconds", "2", "--speedscope", "profile.json", identifier)
    end.touch()

    stacks = list(stacks_in(user.home / "profile.json"))
    waiting = [stack for stack in stacks if DIGEST in stack]
    assert len(waiting) > len(stacks) / 10, stacks[:3]
    # The method is above the function, as what that has called.
    assert all("passed" in stack[: stack.index(DIGEST)] for stack in waiting)
    user.wait_for_state(identifier, "FINISHED")


@pytest.mark.complete
@pytest.mark.skipif(FREE_THREADED, reason="py-spy does not read them")
def test_workers_are_measured(user):
    with profiled(user, "local[2]", "workers", "-D", "python.execution-mode=process") as identifier:
        printed = user.did("profile", "--seconds", "2", identifier)

    found = shares(printed)
    assert found["Python workers"][1] > 90
    assert found["profiled"][1] > 50


def test_limits_are_named(user):
    found = user.ended("profile", "--rate", "100000")
    assert found.returncode == 2
    assert "at most 1000" in found.stdout
