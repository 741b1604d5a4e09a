"""Types, rows, settings and builders answer as PyFlink's do.

``reference/settings.json`` has PyFlink's answers; ``reference/record_settings.py`` writes it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import configurations
import pytest
import recordings

import settings_cases as cases
from pyflow.common import Configuration
from pyflow.session.options import Effect, find
from pyflow.table.types import infer, infer_rows, parse, verifier
from pyflow.util.exceptions import TableException

HERE = Path(__file__).resolve().parent
REFERENCE = recordings.load("settings")


@pytest.fixture(scope="module")
def known():
    found = cases.names("pyflow")
    found["verifier"] = verifier
    return {**found, **cases.objects(found)}


@pytest.mark.parametrize("case", cases.TYPES)
def test_types_have_the_texts_of_flink(case, known):
    data_type = eval(case, known)
    expected = REFERENCE["types"][case]

    texts = {"text": data_type.sql, "repr": repr(data_type), "str": str(data_type)}
    assert texts == expected
    assert parse(expected["text"]) == data_type


@pytest.mark.parametrize("case", cases.TYPE_TEXTS)
def test_texts_are_read_as_flink_reads_them(case):
    expected = REFERENCE["type_texts"][case]

    if expected is None:
        with pytest.raises(TableException, match="column"):
            parse(case)
    else:
        assert parse(case).sql == expected


@pytest.mark.parametrize("case", cases.LITERALS)
def test_literals_have_the_types_of_flink(case, known):
    assert infer(eval(case, known)).sql == REFERENCE["literals"][case]


@pytest.mark.parametrize("case", cases.ROWS)
def test_rows_have_the_types_of_flink(case, known):
    try:
        found = infer_rows(*eval(f"({case},)", known)).sql
    except (TypeError, ValueError) as error:
        found = f"raises {type(error).__name__}"

    assert found == REFERENCE["rows"][case]


@pytest.mark.parametrize("case", cases.VERIFIED)
def test_values_are_checked_as_in_flink(case, known):
    assert cases.outcome(case, known) == REFERENCE["verified"][case]


@pytest.fixture(scope="module")
def answers():
    """Ours, of a process in the time zone of the reference."""
    program = (
        "import json, settings_cases as cases\n"
        "known = cases.names('pyflow')\n"
        "known.update(cases.objects(known))\n"
        "print(json.dumps({case: cases.outcome(case, known) for case in cases.VALUES}))"
    )
    path = os.pathsep.join([str(HERE), str(HERE.parents[1])])
    environment = {**os.environ, "TZ": cases.ZONE, "PYTHONPATH": path}
    run = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("case", cases.VALUES)
def test_values_are_those_of_flink(case, answers):
    assert answers[case] == REFERENCE["values"][case]


@pytest.mark.parametrize("key", REFERENCE["settings"])
def test_settings_of_flink_are_known(key):
    setting = find(key)

    if setting.effect is Effect.DEFAULT or setting.default is not None:
        assert setting.default == REFERENCE["settings"][key]


# What is not PyFlink's: bytes are no texts there, and values of another type are taken here.
def _differs(program, expected):
    return (
        any(mark in expected for mark in ("[B@", "!!binary", ".inf"))
        or program.startswith(("c.set_integer('k', 'a')", "c.set_integer('k', 1.5)"))
        or program.startswith(("c.set_integer('k', '3')", "c.set_boolean('k', 1)"))
        or program == "c.set_boolean('k', 'true')"
    )


def test_configurations_answer_as_those_of_flink():
    recorded = recordings.load("configurations")
    assert list(recorded) == configurations.PROGRAMS
    compared = {each: known for each, known in recorded.items() if not _differs(each, known)}
    assert len(compared) > 0.85 * len(recorded)
    found = {program: configurations.answer(program, Configuration) for program in compared}
    assert found == compared
