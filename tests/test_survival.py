"""Nothing that a function does ends or hangs the JVM, where process mode lives on.

Each case is a program of its own, so that a dead JVM is a failed test with its output shown.
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


@pytest.fixture
def survive(tmp_path):
    """Runs a case to its end and returns what it printed."""

    def run(*arguments, seconds=180):
        process = subprocess.Popen(
            [sys.executable, str(PROGRAM), *arguments],
            cwd=tmp_path,
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
            pytest.fail(f"no end after {seconds} s:\n{output[-8000:]}")
        assert process.returncode == 0, output[-8000:]
        assert "SURVIVED" in output, output[-8000:]
        return output

    return run


@pytest.mark.parametrize(
    "case",
    [
        "sys_exit",
        "base_exception",
        "unprintable_exception",
        "deep_result",
        "unfinished_generator",
        "python_threads_left",
        "cancelled_loops",
        "sleeping",
        "stop_while_running",
        "meddling",
    ],
)
def test_survives(survive, case):
    survive(case)


@pytest.mark.parametrize("stack", ["configured", "default"])
@pytest.mark.parametrize("case", ["deep_json", "deep_sorted", "deep_calls"])
def test_survives_deep_recursion(survive, case, stack):
    """With the stack that configure() sets, and with the JVM's own of 1 MiB."""
    survive(case, *(["--default-stack"] if stack == "default" else []))


def test_survives_printing(survive):
    output = survive("printing")
    origin = r"python: \[shout, task \d+\.0 in stage \d+ \(TID \d+\)\] "
    for level, text in (
        ("INFO", "printed by row 1"),
        ("WARN", "complained by row 1"),
        ("INFO", "one line in pieces"),
        ("INFO", "without an end"),
        ("INFO", "bytes ."),
        ("ERROR", "my.module: logged by row 1"),
        ("INFO", "in a thread"),
    ):
        assert re.search(f" {level} {origin}{text}\n", output), (level, text, output[-8000:])
    assert "from a subprocess" in output
    assert "not logged" not in output


def test_survives_huge_strings(survive):
    assert "one gigabyte" in survive("huge_string", seconds=300)


def test_survives_uninterruptible_code_and_says_so(survive):
    output = survive("uninterruptible")
    assert "has not ended" in output
    assert "count" in output.split("has not ended")[0].splitlines()[-1]


def test_the_jvm_ends_with_the_driver(survive):
    """Functions that never return do not keep the JVM of an ended application."""
    output = survive("exit_while_running")
    (pid,) = [line.split()[1] for line in output.splitlines() if line.startswith("jvm ")]
    end = time.monotonic() + 30
    while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
        time.sleep(0.2)
    assert not Path(f"/proc/{pid}").exists()
