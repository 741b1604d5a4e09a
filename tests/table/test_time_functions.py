"""Times in SQL are those of Flink's own functions: long ago, and where clocks are changed.

``reference/time_functions.json`` has Flink's values; ``reference/record_time_functions.py`` writes
it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import time_functions
from time_functions import COLUMNS, ZONES, column_of, view

RECORDED = json.loads(
    (Path(time_functions.__file__).with_suffix(".json")).read_text(encoding="utf-8")
)
# One in so many is compared unless all are.
ONE_IN = 4

# Flink writes four digits of a year, rounds days before 1582-10-15 in the Julian calendar, and
# reads and writes them so with SimpleDateFormat.
_JULIAN = re.compile(r"(FLOOR|CEIL)\(.* TO (WEEK|MONTH|QUARTER|YEAR)\)")
_OF_SIMPLE_FORMAT = re.compile(
    r"TO_DATE\(s, |UNIX_TIMESTAMP|CONVERT_TZ|FROM_UNIXTIME|DATE_FORMAT\(s"
)
_FIRST_GREGORIAN = "1582-10-15"
_FIRST_SECOND = -12219292800


def _is_compared(expression: str, value: str, expected: str | None) -> bool:
    if column_of(expression) == "w":
        return not _OF_SIMPLE_FORMAT.match(expression) or int(value) >= _FIRST_SECOND
    if value.startswith("9999") and ("CEIL" in expression or "+" in expression):
        return False
    if value < "0013" and "- INTERVAL" in expression:
        return False
    julian = _JULIAN.match(expression) or _OF_SIMPLE_FORMAT.match(expression)
    return not julian or value >= _FIRST_GREGORIAN


@pytest.mark.parametrize("zone", ZONES)
def test_values_are_those_of_flink(environment, zone, pytestconfig):
    t_env = environment("batch")
    t_env.get_config().set("table.local-time-zone", zone)
    expected = RECORDED[zone]
    different = []
    for name, (_, values) in COLUMNS.items():
        chosen = [each for each in expected if column_of(each) == name]
        chosen = chosen if pytestconfig.getoption("--complete") else chosen[::ONE_IN]
        t_env.execute_sql(view(name))
        columns = ", ".join(f"CAST({each} AS STRING)" for each in chosen)
        with t_env.sql_query(f"SELECT id, {columns} FROM v_{name}").execute().collect() as found:
            rows = sorted((list(row) for row in found), key=lambda row: row[0])
        different += [
            f"{each} of {value!r}: {row[place]}, not {known}"
            for place, each in enumerate(chosen, 1)
            for value, row, known in zip(values, rows, expected[each])
            if row[place] != known and _is_compared(each, value, known)
        ]
    assert different == []
