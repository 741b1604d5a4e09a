"""Functions that are interrupted leave what they share with others usable, wherever they are."""

from __future__ import annotations

import sys

import pytest

from deployments import PROGRAMS, run

pytestmark = pytest.mark.core

LONG = ["endless_import"]


@pytest.mark.parametrize(
    "cases",
    [
        ["synchronisers", "imports", "tracing", "closing", "dying_threads"],
        pytest.param(LONG, marks=pytest.mark.complete),
    ],
    ids="-".join,
)
def test_interrupted(tmp_path, cases):
    output = run([sys.executable, PROGRAMS / "interrupted.py", *cases], tmp_path, seconds=600)
    for name in cases:
        assert f"SURVIVED {name}\n" in output, output[-6000:]
