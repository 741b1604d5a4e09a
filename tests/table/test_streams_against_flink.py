"""Programs over unbounded tables give the changes that PyFlink gave for the same rows.

``reference/table_programs.json`` has them, of bounded input in streaming mode with one task. Here
the rows come in micro-batches, and the query is stopped and started again between the first and the
second.
"""

from __future__ import annotations

import datetime
from collections import Counter

import pytest
import recordings
from table_programs import PROGRAMS, names_of

from comparison import settings
from pyflow.types.strings import cast_text
from streams import Source, changes

RECORDED = recordings.load("table_programs")["streaming"]

#: With one input the changes come in the same order.
EXACT = ["group_aggregates", "group_of_group", "sorted_and_fetched"]
EXACT_COMPLETE = ["group_count", "group_then_filter", "distinct_items", "limited"]
#: With two, what comes first is left to chance.
APPLIED_COMPLETE = ["inner_join", "left_join"]


class Streams:
    """A table environment whose elements are streams, of which half the rows come at first."""

    def __init__(self, spark, folder, t_env):
        self._spark, self._folder, self._t_env = spark, folder, t_env
        self._sources = []

    def __getattr__(self, name):
        return getattr(self._t_env, name)

    def from_elements(self, rows, row_type):
        columns = "; ".join(f"{each.name} {each.data_type.sql}" for each in row_type.fields)
        source = Source(self._spark, self._folder, columns)
        half = len(rows) // 2
        source.add(rows[:half])
        self._sources.append((source, rows[half:]))
        return source.table(self._t_env)

    def go_on(self):
        """Add the rest of the rows."""
        for source, rows in self._sources:
            source.add(rows)


def ours(spark, environment, tmp_path, name, mode):
    """The changes of a program as texts, of a query that is started twice."""
    streams = Streams(spark, tmp_path, environment("streaming"))
    table = PROGRAMS[name](names_of("pyflow", streams))
    with settings(spark, {"spark.sql.shuffle.partitions": "1"}):
        first = changes(table, tmp_path / "checkpoint", mode)
        streams.go_on()
        second = changes(table, tmp_path / "checkpoint", mode)
    types = [data_type for _, data_type in table._relation.fields]
    return [
        [kind, *(cast_text(v, t, datetime.timezone.utc, "<NULL>") for v, t in zip(row, types))]
        for batch in (*first, *second)
        for kind, *row in batch
    ]


def flinks(name):
    lines = RECORDED[name]["output"].splitlines()
    rows = [line for line in lines if line[:4] in ("| +I", "| -U", "| +U", "| -D")]
    return [[part.strip() for part in line.strip("|").split("|")] for line in rows]


def applied(rows):
    left = Counter()
    for kind, *row in rows:
        left[tuple(row)] += 1 if kind in ("+I", "+U") else -1
    return +left


@pytest.mark.parametrize(
    "name", [*EXACT, *(pytest.param(n, marks=pytest.mark.complete) for n in EXACT_COMPLETE)]
)
def test_programs_give_the_changes_of_flink(spark, environment, tmp_path, name):
    assert ours(spark, environment, tmp_path, name, "thread") == flinks(name)


@pytest.mark.complete
@pytest.mark.parametrize("name", [*EXACT, *EXACT_COMPLETE])
def test_programs_give_the_changes_of_flink_in_process_mode(spark, environment, tmp_path, name):
    assert ours(spark, environment, tmp_path, name, "process") == flinks(name)


@pytest.mark.complete
@pytest.mark.parametrize("mode", ["thread", "process"])
@pytest.mark.parametrize("name", APPLIED_COMPLETE)
def test_joins_leave_the_rows_of_flink(spark, environment, tmp_path, name, mode):
    found = ours(spark, environment, tmp_path, name, mode)

    assert applied(found) == applied(flinks(name))
