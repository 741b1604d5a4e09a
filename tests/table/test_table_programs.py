"""Programs of the Table API print what PyFlink prints for them."""

from __future__ import annotations

import pytest
import recordings
import table_programs
from example_programs import settled
from pyspark import cloudpickle
from table_programs import PROGRAMS, names_of

from pyflow.util.exceptions import TableException

cloudpickle.register_pickle_by_value(table_programs)

RECORDED = recordings.load("table_programs")

# The order of rows is Flink's own where the table has one, and so is the order of its changes.
ORDERED = {
    *("sorted_rows", "sorted_with_offset", "limited", "elements_inferred", "elements_of_types"),
    *("group_count", "group_aggregates", "distinct_items", "mapped", "mapped_call", "flat_mapped"),
    *("group_of_group", "sorted_and_fetched"),
}

# In streaming mode these change on the way to what is left at the end, as rows of two tables come.
CHANGING = {"left_join", "right_join", "full_join"}


# Flink refuses these, which run here.
MORE = {
    "batch": {
        *("sessions", "tumbling_rows", "over_rows", "over_range", "over_interval"),
        *("tumbling_rows_by_clock", "sliding_rows_by_clock", "sliding_rows_apart"),
    },
    "streaming": {"union_distinct", "minus", "minus_all", "intersect", "intersect_all"},
}


def printed(table, capsys):
    table.print_schema()
    table.execute().print()
    return capsys.readouterr().out


def compared(text, name, mode):
    """The lines of an output, as far as they are the same in both."""
    lines = text.rstrip().splitlines()
    if name in ORDERED:
        return lines
    if mode == "streaming" and name in CHANGING:
        changes = [line for line in lines if line[:4] in ("| +I", "| -U", "| +U", "| -D")]
        head = [line for line in lines if line not in changes and "in set" not in line]
        return [*head, *settled(changes)]
    return sorted(lines)


@pytest.mark.parametrize(
    ("mode", "name"), [(mode, name) for mode, answers in RECORDED.items() for name in answers]
)
def test_program_prints_what_pyflink_prints(environment, mode, name, capsys):
    recorded = RECORDED[mode][name]
    names = names_of("pyflow", environment(mode))
    if "error" in recorded and name in MORE[mode]:
        assert "rows in set" in printed(PROGRAMS[name](names), capsys)
        return
    if "error" in recorded:
        with pytest.raises((TableException, AttributeError)):
            printed(PROGRAMS[name](names), capsys)
        return
    output = printed(PROGRAMS[name](names), capsys)
    assert compared(output, name, mode) == compared(recorded["output"], name, mode)
