"""Changes of rows that change are PyFlink's, through aggregates, Top-N, joins, set operations."""

from __future__ import annotations

from collections import Counter

import change_queries
import pytest
import recordings
from change_queries import CHAINS, SIDES, in_texts, normal

RECORDED = recordings.load("change_queries")
SHORT = {"numbers_of_some", "json_of_last", "sum_of_top", "quotients_of_last", "full_of_totals"}


@pytest.fixture
def moves(streaming, tmp_path):
    path = tmp_path / "moves.csv"
    path.write_text(change_queries.MOVES, encoding="utf-8")
    streaming.execute_sql(change_queries.SETUP.replace("{path}", str(path)))
    return streaming


def changes(t_env, query):
    table = t_env.sql_query(query)
    t_env.create_temporary_view("asked", table)
    texts = in_texts(table.get_resolved_schema().get_column_names(), "asked")
    with t_env.sql_query(texts).execute().collect() as rows:
        return [f"{row.get_row_kind()} {row[0]}" for row in rows]


def cases(queries):
    return [
        pytest.param(name, marks=[] if name in SHORT else pytest.mark.complete) for name in queries
    ]


def by_key(found):
    """The changes of each key, the first column, in their order."""
    keys = {}
    for change in found:
        keys.setdefault(change.split(" ", 1)[1].split(";")[0], []).append(normal(change))
    return keys


def left(found):
    """The rows that are left when all changes have been applied."""
    rows = Counter()
    for change in found:
        kind, row = normal(change).split(" ", 1)
        rows[row] += 1 if kind in ("+I", "+U") else -1
        assert rows[row] >= 0, f"{change} is of no row"
    return +rows


@pytest.mark.parametrize("name", cases(CHAINS))
def test_changes_of_each_key_are_those_of_pyflink(moves, name):
    assert by_key(changes(moves, CHAINS[name])) == by_key(RECORDED[name])


@pytest.mark.parametrize("name", cases(SIDES))
def test_rows_that_changes_leave_are_those_of_pyflink(moves, name):
    assert left(changes(moves, SIDES[name])) == left(RECORDED[name])
