"""Timestamps where the process's zone has gaps and folds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "programs" / "time_zones.py"


@pytest.mark.parametrize(
    ("process_zone", "session_zone"),
    [
        ("Asia/Kathmandu", "Europe/Berlin"),
        pytest.param("America/New_York", "America/New_York", marks=pytest.mark.complete),
    ],
)
def test_gaps_and_folds(process_zone, session_zone, tmp_path):
    done = subprocess.run(
        [sys.executable, str(PROGRAM), session_zone],
        cwd=tmp_path,
        env={**os.environ, "TZ": process_zone},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    assert "COMPARED" in done.stdout
