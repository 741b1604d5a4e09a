"""PyFlink's own example programs print the same after their imports have been replaced."""

from __future__ import annotations

import logging
import re
import sys

import pytest
import recordings
from stream_examples import EXAMPLES, lines_of

from comparison import settings

RECORDED = recordings.load("datastream/examples")


@pytest.mark.parametrize(
    "execution_mode", ["thread", pytest.param("process", marks=pytest.mark.complete)]
)
@pytest.mark.parametrize("name", EXAMPLES)
def test_example_prints_the_same_lines(
    spark, pyflink_examples, capsys, monkeypatch, name, execution_mode
):
    file = pyflink_examples / "datastream" / EXAMPLES[name]
    text = re.sub(r"\bpyflink\b", "pyflow", file.read_text(encoding="utf-8"))
    monkeypatch.setattr(sys, "argv", [str(file)])
    monkeypatch.setattr(logging, "basicConfig", lambda **_: None)

    with settings(spark, {"spark.pyflow.execution-mode": execution_mode}):
        exec(compile(text, str(file), "exec"), {"__name__": "__main__"})

    assert lines_of(capsys.readouterr().out) == RECORDED[name]
