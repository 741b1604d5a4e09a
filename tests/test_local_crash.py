"""A crash in local mode, which nothing of the application survives but the notes of what ran."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import pyflow
from deployments import PROGRAMS, SPARK, ended, run

SETTING = "spark.pyflow.execution-mode=process"
TOLD = re.compile(r"PyFlow: the JVM of process (\d+) has ended while this ran in it .*: (.*?)\. .*")


PROGRAM = PROGRAMS / "local_crash.py"


@pytest.fixture
def temporary(tmp_path):
    """The temporary directory of the JVMs."""
    directory = tmp_path / "temporary"
    directory.mkdir()
    return directory


def told(output):
    """What the messages in an output name; each says what else it must."""
    messages = list(TOLD.finditer(output))
    for message in messages:
        assert SETTING in message[0]
        assert "spark.pyflow.thread-mode.allowed" in message[0]
        assert f"hs_err_pid{message[1]}.log" in message[0]
    return [message[2] for message in messages]


@pytest.mark.complete
def test_the_message_names_the_functions(tmp_path, temporary):
    """It comes with the crash, and once from the next session."""
    first = run([sys.executable, PROGRAM, "plain", temporary], tmp_path)
    assert "RAISED" in first, first
    assert told(first) == ["reads_nowhere"]
    (errors,) = re.findall(r"\S+hs_err_pid\d+\.log(?= names it)", first)
    assert "ctypes" in Path(errors).read_text(errors="replace")

    submit = [SPARK / "bin" / "spark-submit", "--jars", pyflow.jar_path(), "--conf"]
    options = f"spark.driver.extraJavaOptions=-Xss8m -Djava.io.tmpdir={temporary}"
    second = ended([*submit, options, PROGRAM, "pandas", temporary], tmp_path).stdout
    assert told(second) == ["reads_nowhere", "reads_nowhere_in_batches"]
    assert re.search(r"WARN PrivateDirectory: PyFlow: .*: reads_nowhere\.", second)

    third = run([sys.executable, PROGRAM, "interrupted", temporary], tmp_path)
    assert told(third) == ["reads_nowhere_in_batches"]
    assert "RUNNING ['slow']" in third
    assert not list(temporary.glob("pyflow-*")), "a normal end leaves a note"


def test_the_start_of_python(tmp_path, temporary):
    (tmp_path / "sitecustomize.py").write_text(
        "import ctypes, os\nif os.path.realpath('/proc/self/exe').endswith('java'):\n"
        "    ctypes.string_at(0)\n"
    )
    path = f"spark.executorEnv.PYTHONPATH={tmp_path}"
    done = ended([sys.executable, PROGRAM, "start", temporary, path], tmp_path)
    assert told(done.stdout) == ["the start of Python"]
