"""PyFlink's own example programs run after their imports have been replaced.

PYFLINK_HOME is the directory of an installed package ``pyflink``; the programs are read there.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import example_programs
import pytest
from example_programs import EXAMPLES, settled, tables_in

RECORDED = json.loads(Path(example_programs.__file__).with_suffix(".json").read_text())


def replaced(file):
    """What a program defines, with ``pyflow`` in place of ``pyflink``."""
    home = os.environ.get("PYFLINK_HOME")
    if home is None:
        pytest.skip("PYFLINK_HOME names no installed PyFlink")
    text = (Path(home) / "examples" / "table" / file).read_text()
    text = re.sub(r"\bpyflink\b", "pyflow", text)
    program = {"__name__": "replaced_program"}
    exec(compile(text, file, "exec"), program)
    return program


@pytest.mark.parametrize("name", RECORDED)
def test_example_prints_the_same_tables(environment, capsys, name):
    file, function, arguments = EXAMPLES[name]
    program = replaced(file)
    environment()
    program[function](*arguments)
    alone, tables = tables_in(capsys.readouterr().out)
    recorded = RECORDED[name]
    assert settled(alone) == settled(recorded["rows"])
    assert len(tables) == len(recorded["tables"])
    for table, expected in zip(tables, recorded["tables"]):
        assert table[0] == expected[0], "the heads of the columns"
        assert settled(table[1:]) == settled(expected[1:])


def test_rows_of_pandas_come_back(environment, capsys):
    program = replaced("pandas/conversion_from_dataframe.py")
    environment()
    program["conversion_from_dataframe"]()
    assert "[1000 rows x 2 columns]" in capsys.readouterr().out
