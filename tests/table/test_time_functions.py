"""Times in SQL are those of Flink's own functions: long ago, and where clocks are changed.

``reference/time_functions.json`` has Flink's values; ``reference/record_time_functions.py`` writes
it.
"""

from __future__ import annotations

import re

import pytest
import recordings
from time_functions import COLUMNS, ZONES, column_of, view

RECORDED = recordings.load("time_functions")
# One in so many is compared unless all are.
ONE_IN = 4

# Flink writes four digits of a year, rounds days before 1582-10-15 in the Julian calendar, and
# reads and writes them so with SimpleDateFormat, which also takes .9996 for 9,996 milliseconds.
_JULIAN = re.compile(r"(FLOOR|CEIL)\(.* TO (WEEK|MONTH|QUARTER|YEAR)\)")
_OF_SIMPLE_FORMAT = re.compile(
    r"TO_DATE\(s, |TO_TIMESTAMP\(s, |UNIX_TIMESTAMP|CONVERT_TZ|FROM_UNIXTIME|DATE_FORMAT\(s"
)
_FIRST_GREGORIAN = "1582-10-15"
# What its functions give for null, and for seconds that have too many nanoseconds for a BIGINT.
_NO_DATE = "5471-09-27"
_LAST_NANOSECOND = "2262-04-11 23:47:16.854"
# Listed in docs/table-api/sql.md.
_TIMES_OF_DAY = ("23:59:59.9996", "12:30:00+01:00")
# java.util.TimeZone has no local mean time.
_FIRST_ZONED = "1900"
_SECONDS_OF_ZONES = range(-2208988800, 253402214400)


def _is_compared(expression: str, value: str, expected: str | None) -> bool:
    if expected == _LAST_NANOSECOND:
        return False
    if column_of(expression) == "w":
        return not _OF_SIMPLE_FORMAT.match(expression) or int(value) in _SECONDS_OF_ZONES
    if value.startswith("9999") and ("CEIL" in expression or "+" in expression):
        return False
    if value < "0013" and "- INTERVAL" in expression:
        return False
    if "TIMESTAMP_LTZ" in expression and value < _FIRST_ZONED:
        return False
    if _OF_SIMPLE_FORMAT.match(expression):
        usual = re.match(r"\d{4}(?!\d)", value) and value >= _FIRST_GREGORIAN
        return bool(usual) and expected != _NO_DATE
    if column_of(expression) == "s" and value in _TIMES_OF_DAY:
        return False
    return not _JULIAN.match(expression) or value >= _FIRST_GREGORIAN


def _in_microseconds(text: str | None) -> str | None:
    """Return the text of a timestamp as Spark has it, without nanoseconds."""
    return text and re.sub(r"(\.[0-9]{6})[0-9]{3}$", r"\g<1>000", text)


@pytest.mark.complete("Berlin", "New_York")
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
            if row[place] != _in_microseconds(known) and _is_compared(each, value, known)
        ]
    assert different == []
