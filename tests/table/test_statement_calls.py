"""No statement makes more calls of the JVM than it did: they are most of its planning.

The calls are recorded by ``python benchmarks/table_statements.py pyflow calls``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sessions import ROOT

RECORDED = Path(__file__).with_name("reference") / "statement_calls.json"


@pytest.mark.since_spark("4.3")
def test_no_statement_makes_more_calls_than_recorded(tmp_path):
    program = ROOT / "benchmarks" / "table_statements.py"
    # The settings of an application are counted, too: those of a user alone.
    environment = {**os.environ, "SPARK_CONF_DIR": str(tmp_path)}
    environment.pop("PYSPARK_SUBMIT_ARGS", None)
    done = subprocess.run(
        [sys.executable, program, "pyflow", "calls"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    recorded = json.loads(RECORDED.read_text())

    calls = json.loads(done.stdout[done.stdout.index("{") :])

    assert calls.keys() == recorded.keys()
    more = {name: (n, recorded[name]) for name, n in calls.items() if n > recorded[name]}
    assert not more, f"calls, and so many recorded: {more}"
