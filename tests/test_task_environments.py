"""Variables of a function's environment that C code of the process reads."""

from __future__ import annotations

import sys

import pytest

from deployments import PROGRAMS, run

PROGRAM = PROGRAMS / "task_environments.py"


@pytest.mark.parametrize(
    "master",
    ["local[2]", pytest.param("local-cluster[1,1,2048]", marks=pytest.mark.complete)],
)
def test_environments_of_functions(master, tmp_path):
    """They are honoured, or the functions run in workers and say why."""
    output = run([sys.executable, PROGRAM, master], tmp_path, TZ="America/New_York")
    assert "COMPARED" in output


@pytest.mark.complete
def test_imports_of_all_modules(tmp_path):
    """In tasks whose environment differs from the program's, and the modules work afterwards."""
    output = run([sys.executable, PROGRAMS / "imported.py"], tmp_path, 900, TZ="America/New_York")
    assert "COMPARED" in output
