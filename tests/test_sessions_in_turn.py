"""Sessions of one JVM, one after another and beside each other, which all use the same names."""

from __future__ import annotations

import sys

import pytest

from deployments import PROGRAMS, connect_server, own_url, run


@pytest.mark.core
def test_classic_sessions_in_turn(tmp_path):
    assert "ALL RIGHT" in run([sys.executable, PROGRAMS / "sessions_in_turn.py"], tmp_path)


@pytest.mark.complete
def test_connect_sessions_at_once(tmp_path):
    with connect_server(tmp_path) as address:
        program = [sys.executable, PROGRAMS / "sessions_at_once.py", own_url(address)]
        assert "ALL RIGHT" in run(program, tmp_path)
