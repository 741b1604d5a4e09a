"""Sessions of one JVM that follow each other and use the same names for everything."""

from __future__ import annotations

import sys

import pytest

from deployments import PROGRAMS, run


@pytest.mark.core
def test_classic_sessions_in_turn(tmp_path):
    assert "ALL RIGHT" in run([sys.executable, PROGRAMS / "sessions_in_turn.py"], tmp_path)
