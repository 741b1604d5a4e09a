"""Ctrl-C in programs that wait for an unbounded data stream."""

from __future__ import annotations

import os
import re
import signal
import sys

import pytest

from deployments import PROGRAMS, killed_at_the_end
from sessions import base_conf, wait_until


@pytest.mark.complete
def test_ctrl_c_ends_a_job_that_the_program_waits_for(tmp_path):
    log, closed = tmp_path / "program.log", tmp_path / "closed"
    conf = " ".join(f"--conf {key}={value}" for key, value in base_conf().items())
    command = [sys.executable, PROGRAMS / "interrupted_stream.py", closed]
    ways = ["execute", "wait_for_the_result", "collect"]

    variables = {"PYSPARK_SUBMIT_ARGS": f"--master local[2] {conf} pyspark-shell"}
    with killed_at_the_end(command, tmp_path, log, **variables) as process:
        for way in ways:
            wait_until(lambda way=way: f"\n{way} " in log.read_text(), way)
            os.killpg(process.pid, signal.SIGINT)  # what Ctrl-C does
        status = process.wait(60)

    assert status == -signal.SIGINT
    assert re.findall(r"^interrupted .*", log.read_text(), re.MULTILINE) == [
        f"interrupted {way}, 0 queries go on" for way in ways
    ]
    assert closed.read_text().split() == ways
    assert re.search(r"connector-kafka\S+, add \S+spark-sql-kafka\S+ of", log.read_text())
