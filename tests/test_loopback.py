"""Functions in the driver's own Python process (`python.debug.loopback`)."""

from __future__ import annotations

import json
import os
import re
import sys

import pytest

from deployments import PROGRAMS, run
from pyflow.session import loopback
from sessions import MODULES, ROOT


def answers(tmp_path, wanted):
    path = os.pathsep.join([str(MODULES), str(ROOT / "tests")])
    printed = run([sys.executable, PROGRAMS / "loopback.py", wanted], tmp_path, PYTHONPATH=path)
    return json.loads(re.search(r"^ANSWERS (.*)$", printed, re.MULTILINE)[1])


def test_functions_run_in_the_program_with_the_results_of_workers(tmp_path):
    here = answers(tmp_path, "true")
    in_workers = answers(tmp_path, "false")

    assert here.pop("stopped") == [str(n) for n in range(6)]
    lines = here.pop("lines")
    assert [n for _, n in lines] == list(range(6))
    (line,) = {line for line, _ in lines}
    source = (PROGRAMS / "loopback.py").read_text().splitlines()
    assert source[line - 1].strip() in ("breakpoint()", "return n")
    assert here.pop("seen") == list(range(6))
    for kind in ("where", "arrow", "pandas", "after"):
        assert {text.split()[0] for text in here[kind]} == {"True"}
        assert {text.split()[0] for text in in_workers[kind]} == {"False"}
        here[kind] = [text.split()[1] for text in here[kind]]
        in_workers[kind] = [text.split()[1] for text in in_workers[kind]]
    assert here == in_workers


@pytest.mark.parametrize("master", ["spark://host:7077", "local-cluster[1,1,1024]", "yarn"])
def test_other_masters_are_refused(master):
    with pytest.raises(ValueError, match=r"python\.debug\.loopback needs a local master"):
        loopback.settings(master)


@pytest.mark.complete
def test_the_setting_is_one_of_flinks(tmp_path):
    printed = run([sys.executable, PROGRAMS / "loopback_table.py"], tmp_path)
    assert "table True" in printed
    assert "stream True" in printed
