"""Nothing that a function does ends or hangs the JVM, where process mode lives on.

The cases run in programs of their own, so that a dead JVM is a failed test with its output shown.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.core

PROGRAM = Path(__file__).parent / "programs" / "survival.py"


DEEP = ["deep_json", "deep_sorted", "deep_calls"]

# Cases that take long: in one form of thread mode each, see test_survives_in_every_interpreter.
LONG = ["cancelled_loops", "huge_string", "uninterruptible"]

# Threads that are left over come late, so that they slow no other case down.
CASES = [
    "sys_exit",
    "base_exception",
    "unprintable_exception",
    "deep_result",
    *DEEP,
    "unfinished_generator",
    "sleeping",
    "printing",
    "meddling",
    *LONG,
    "python_threads_left",
]


def survive(where, *arguments, seconds=180):
    """Runs cases to their end and returns what was printed."""
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), *arguments],
        cwd=where,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="backslashreplace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        output, _ = process.communicate()
        output += f"\nno end after {seconds} s"
    return f"{output}\nexit code {process.returncode}"


def assert_ended(output):
    assert output.endswith("\nexit code 0"), output[-8000:]
    assert "\nENDED\n" in output, output[-8000:]


@pytest.fixture(scope="module")
def configured_stack(tmp_path_factory):
    """What the cases print with the stack that configure() sets, and at the session's end."""
    where = tmp_path_factory.mktemp("configured")
    return survive(where, *CASES, "stop_while_running", seconds=600)


@pytest.fixture(scope="module")
def default_stack(tmp_path_factory):
    """What the deep ones print with the JVM's own stack of 1 MiB, and when Python just ends."""
    where = tmp_path_factory.mktemp("default")
    return survive(where, *DEEP, "exit_while_running", "--default-stack", seconds=300)


@pytest.mark.parametrize("case", CASES)
def test_survives(configured_stack, case):
    assert f"SURVIVED {case}\n" in configured_stack, configured_stack[-8000:]


@pytest.mark.complete
@pytest.mark.parametrize("case", DEEP)
def test_survives_deep_recursion_on_a_small_stack(default_stack, case):
    assert f"SURVIVED {case}\n" in default_stack, default_stack[-8000:]


def test_the_session_ends_after_all_that_while_functions_run(configured_stack):
    assert_ended(configured_stack)


def test_printing_is_logged(configured_stack):
    origin = r"(python|module): \[shout, task \d+\.0 in stage \d+ \(TID \d+\)\] "
    for level, text in (
        ("INFO", "printed by row 1"),
        ("WARN", "complained by row 1"),
        ("INFO", "one line in pieces"),
        ("INFO", "without an end"),
        ("INFO", "bytes ."),
        ("ERROR", "logged by row 1"),
        ("INFO", "in a thread"),
    ):
        pattern = f" {level} {origin}{text}\n"
        assert re.search(pattern, configured_stack), (level, text, configured_stack[-8000:])
    assert "from a subprocess" in configured_stack
    assert "not logged" not in configured_stack


def test_survives_uninterruptible_code_and_says_so(configured_stack):
    assert re.search(r"Python function count\b.* has not ended", configured_stack)


@pytest.mark.complete
def test_the_jvm_ends_with_the_driver(default_stack):
    """Functions that never return do not keep the JVM of an ended application."""
    assert_ended(default_stack)
    (pid,) = [line.split()[1] for line in default_stack.splitlines() if line.startswith("jvm ")]
    end = time.monotonic() + 30
    while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
        time.sleep(0.2)
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.complete
def test_survives_in_every_interpreter(tmp_path):
    assert_ended(survive(tmp_path, *LONG, "--complete", seconds=300))
