"""The tab "Python" in Spark's UI, of jobs of tables and data streams."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from sessions import ROOT, wait_until
from spark_ui import Shown

PROGRAM = ROOT / "tests" / "programs" / "observed_streams.py"


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """The program, as long as its jobs run."""
    folder = tmp_path_factory.mktemp("streams")
    with (folder / "log").open("wb") as log, (folder / "out").open("wb") as out:
        program = subprocess.Popen(
            [sys.executable, str(PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=log,
            cwd=folder,
            start_new_session=True,
        )
    try:

        def addresses():
            lines = (folder / "out").read_text().splitlines()
            return [line.split() for line in lines if "http://" in line]

        wait_until(lambda: bool(addresses()), "the jobs are started")
        application, ui = addresses()[0]
        yield Shown(ui, application)
    finally:
        program.stdin.close()
        try:
            program.wait(60)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)


def test_records_and_state_of_a_table_s_operator(running):
    """Each record but the first of a key takes a row back and adds one."""

    def totals():
        functions = {each["key"]: each["totals"] for each in running.answer("functions")}
        return functions.get("GroupAggregate", {"inputRows": 0})

    def are_counted():
        found = totals()
        # While a batch runs, its state is that of the tasks that have ended.
        return (
            found["inputRows"] > 30
            and found["rows"] == 2 * found["inputRows"] - 3
            and found["stateRows"] == 3
            and found["stateMemory"] > 0
        )

    wait_until(are_counted, "records in and out", every=0.5)
    assert totals()["pythonTime"] > 0


def test_records_of_a_data_stream_s_operator(running):
    """Under the name that the program gives it; each record makes one."""

    def totals():
        functions = {each["key"]: each["totals"] for each in running.answer("functions")}
        return functions.get("count thirds", {"inputRows": 0})

    def are_counted():
        found = totals()
        return (
            found["inputRows"] > 30
            and found["rows"] == found["inputRows"]
            and found["stateRows"] >= 3
        )

    wait_until(are_counted, "records in and out", every=0.5)


def test_late_records_of_a_data_stream_s_window(running):
    def are_counted():
        functions = {each["key"]: each["totals"] for each in running.answer("functions")}
        totals = functions.get("windows", {"lateRows": 0})
        return 0 < totals["lateRows"] < totals["inputRows"]

    wait_until(are_counted, "late records", every=0.5)


def test_the_page_has_both(running):
    parts = ("<h4>State</h4>", "<div>GroupAggregate</div>", "<div>count thirds</div>")

    def has_all():
        page = running.page()
        return all(part in page for part in parts)

    wait_until(has_all, "operators and their state", every=0.5)
