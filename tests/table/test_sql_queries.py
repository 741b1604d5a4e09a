"""Queries in SQL give PyFlink's columns and rows, in batch and in streaming mode."""

from __future__ import annotations

import re

import pytest
import recordings
import sql_queries

RECORDED = recordings.load("sql_queries")
CASES = [(mode, name) for mode, queries in sql_queries.QUERIES.items() for name in queries]
# What a short run compares: all that batch mode has more, and what streaming mode does by itself.
STREAMED = [
    "group",
    "having",
    "filter",
    "distinct",
    "aggregate_of_aggregate",
    "group_window",
    "session_group_window",
    "tumble",
    "hop",
    "cumulate",
    "session",
    "window_grouping_sets",
    "window_join",
    "window_top_n",
    "over_rows",
    "over_range",
    "limit_of_order",
    "inner_join",
    "in_query",
    "unnest",
    "top_2_with_places",
    "order_with_offset",
    "groups_of_counts",
    "aggregates_of_totals",
    "join_of_totals",
    "except_of_rows",
]
SHORT = {("batch", name) for name in sql_queries.BATCH} | {("streaming", n) for n in STREAMED}


@pytest.mark.parametrize(
    ("mode", "name"),
    [
        pytest.param(
            mode, name, id=f"{mode}-{name}", marks=[] if case in SHORT else pytest.mark.complete
        )
        for case in CASES
        for mode, name in [case]
    ],
)
def test_rows_are_those_of_pyflink(environment, tmp_path, mode, name):
    t_env = environment(mode)
    for statement in sql_queries.tables(tmp_path):
        t_env.execute_sql(statement)
    query = sql_queries.QUERIES[mode][name]
    found = sql_queries.outcome(t_env, query, lambda table: str(table.get_resolved_schema()))
    recorded = RECORDED[mode][name]
    if "error" in recorded:
        assert "error" in found, found
        return
    assert "error" not in found, found["error"]
    assert _columns(found["schema"]) == _columns(recorded["schema"])
    one, other = found["rows"], recorded["rows"]
    if mode == "streaming" and name in sql_queries.SETTLED:
        one, other = _settled(one), _settled(other)
    elif name in sql_queries.ROLLING or sql_queries.ordered(query):
        assert one == other
    assert sorted(one) == sorted(other)


def _settled(changes):
    """The rows that are left when all changes have been applied."""
    left = []
    for kind, *row in changes:
        left.append(row) if kind in ("+I", "+U") else left.remove(row)
    return left


def _columns(schema):
    """Names and types, without what Spark does not know: lengths of texts, and who has nulls."""
    text = re.sub(r" NOT NULL| \*ROWTIME\*|\s", "", schema)
    text = re.sub(r",WATERMARKFOR.*", ")", text)
    return re.sub(r"(VAR)?CHAR\(\d+\)", "STRING", text)
