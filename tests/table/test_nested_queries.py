"""Queries inside queries give PyFlink's rows, and SQLite's where PyFlink's contradict SQL."""

from __future__ import annotations

import random
import sqlite3

import nested_queries
import pytest
import recordings
import sql_queries

from pyflow.util.exceptions import TableException

RECORDED = recordings.load("nested_queries")
# What a short run compares in batch mode: one of each kind.
SHORT = [
    "expressions_of_counts",
    "value_of_several_rows",
    "value_two_levels_out",
    "value_in_aggregate",
    "value_in_left_join",
    "in_group_having_of_each",
    "not_in_of_each",
    "exists_of_unknown_name",
    "not_in_two_columns",
    "not_in_as_column_of_each",
    "in_case",
    "in_beside_groups",
    "count_where_exists",
    "all_as_column",
    "lateral",
]
# Flink refuses these, or has other rows than SQL, as docs/table-api/sql.md tells. The rows are
# those of SQLite where it knows the query.
UNLIKE_FLINK: dict[str, list[tuple] | None] = {
    **dict.fromkeys(
        [
            "value_by_or",
            "value_of_outer_columns",
            "value_of_limit",
            "value_having",
            "value_skips_a_level",
            "value_of_union",
            "value_beside_groups",
            "value_of_each_in_having",
            "value_of_each_in_join",
            "value_of_each_in_left_join",
            "value_of_nulls",
            "in_limit",
            "not_in_aggregate",
            "exists_having",
            "exists_limit",
            "exists_union",
            "exists_in_exists",
            "in_with_value",
            "in_two_columns_as_column",
            "exists_in_having",
            "in_join",
            "exists_in_join",
            "in_left_join",
            "in_left_join_of_right_side",
        ]
    ),
    "exists_offset": [(1,), (2,), (3,)],
    "lateral_top_2": [
        *((1, 10), (1, 20), (2, 20), (2, 30), (3, 30), (5, 10), (5, 7), (6, 10), (6, 7)),
    ],
    "lateral_top_of_equal_keys": [(1, 12), (2, 20), (3, 20), (4, 30)],
    "left_lateral": [(1, 12), (2, 20), (3, 20), (4, 30), (5, None), (6, None)],
    "left_lateral_of_aggregate": [
        *((1, 3, 32), (2, 2, 20), (3, 2, 20), (4, 1, 30), (5, 0, None), (6, 0, None)),
    ],
    "lateral_of_aggregate": [
        *((1, 3, 32), (2, 2, 20), (3, 2, 20), (4, 1, 30), (5, 0, None), (6, 0, None)),
    ],
    "lateral_of_columns": [(1, 11), (2, 21), (3, 26), (4, None), (5, 8), (6, 2)],
    "lateral_union": [
        *((1, 10), (1, 10), (2, 20), (2, 20), (3, 20), (3, 25), (4, 30), (4, None), (5, 7), (6, 1)),
    ],
}
SHORT_UNLIKE = [
    ("batch", "value_having"),
    ("batch", "value_beside_groups"),
    ("batch", "in_limit"),
    ("batch", "in_left_join"),
    ("batch", "lateral_top_2"),
    ("batch", "lateral_of_aggregate"),
]
# In streaming mode the rows that are left at the end are those of batch mode.
STREAMED = [
    "max_of_each",
    "count_of_each",
    "more_than_average",
    "value_of_several_rows",
    "value_of_derived_table",
    "value_in_having",
    "in_aggregate",
    "not_in_of_each",
    "exists_under_or",
    "not_in_under_or",
    "in_as_column",
    "exists_as_column",
    "in_beside_groups",
    "greater_than_all",
    "any_as_column",
    "lateral",
    "lateral_of_groups",
]
CASES = [
    *(("batch", name) for name in nested_queries.ALL if name not in UNLIKE_FLINK),
    *(("streaming", name) for name in STREAMED),
]


@pytest.fixture
def tables(environment, tmp_path):
    """Environments with the tables of the recordings."""

    def made(mode):
        t_env = environment(mode)
        for statement in nested_queries.tables(tmp_path):
            t_env.execute_sql(statement)
        return t_env

    return made


@pytest.fixture(scope="module")
def sqlite():
    """Runs queries over the same rows."""
    with sqlite3.connect(":memory:") as connection:
        for name, rows in nested_queries.ROWS.items():
            connection.execute(f"CREATE TABLE {name} ({nested_queries.COLUMNS[name]})")
            places = ", ".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO {name} VALUES ({places})", rows)
        connection.execute(f"CREATE VIEW no_rows AS {nested_queries.NO_ROWS}")
        yield lambda query: sorted(map(repr, connection.execute(query)))


@pytest.mark.complete(
    "expressions_of_counts", "count_where_exists", "not_in_as_column", "in_group_having"
)
@pytest.mark.parametrize(
    ("mode", "name"),
    [
        pytest.param(
            mode,
            name,
            id=f"{mode}-{name}",
            marks=[] if mode == "batch" and name in SHORT else pytest.mark.complete,
        )
        for mode, name in CASES
    ],
)
def test_rows_are_those_of_pyflink(tables, mode, name):
    query, recorded = nested_queries.ALL[name], RECORDED["batch"][name]
    found = sql_queries.outcome(tables(mode), query, lambda table: "")
    if "error" in recorded:
        assert "error" in found, found
        return
    assert "error" not in found, found["error"]
    assert left(found["rows"]) == left(recorded["rows"])


def left(changes):
    """Return the rows that are left when all changes have been applied."""
    rows = []
    for kind, *row in changes:
        rows.append(row) if kind in ("+I", "+U") else rows.remove(row)
    return sorted(rows)


@pytest.mark.parametrize(
    ("mode", "name"),
    [
        pytest.param(
            mode,
            name,
            id=f"{mode}-{name}",
            marks=[] if (mode, name) in SHORT_UNLIKE else pytest.mark.complete,
        )
        for mode in ("batch", "streaming")
        for name in UNLIKE_FLINK
    ],
)
def test_rows_are_those_of_sql(tables, sqlite, mode, name):
    query, expected = nested_queries.ALL[name], UNLIKE_FLINK[name]
    wanted = sqlite(query) if expected is None else sorted(map(repr, expected))
    assert rows(tables(mode), query) == wanted


def rows(t_env, query):
    """Return the rows that are left, with numbers for booleans, as SQLite has them."""
    found = []
    with t_env.sql_query(query).execute().collect() as changes:
        for change in changes:
            row = repr(tuple(int(v) if isinstance(v, bool) else v for v in change))
            kind = str(change.get_row_kind())
            found.append(row) if kind in ("+I", "+U") else found.remove(row)
    return sorted(found)


SEEDS = [*range(2), *(pytest.param(seed, marks=pytest.mark.complete) for seed in range(2, 60))]


@pytest.mark.complete("1")
@pytest.mark.parametrize("seed", SEEDS)
def test_rows_of_generated_queries_are_those_of_sql(tables, sqlite, seed):
    query = generated(random.Random(seed))
    assert rows(tables("batch"), query) == sqlite(query), query


# Conditions of a query of u inside one of t.
_TIES = [
    "u.k = t.k",
    "u.b > t.a",
    "u.k <> t.k",
    "u.k = t.k AND u.b >= t.a",
    "u.k = t.k OR u.b = t.a",
    "u.k IS NOT DISTINCT FROM t.k",
    "u.b IS NOT NULL AND u.k < t.id",
    "EXISTS (SELECT 1 FROM v WHERE v.k = u.k AND v.b <> t.a)",
    "u.b NOT IN (SELECT v.b FROM v WHERE v.k = t.k)",
    "u.b >= (SELECT MIN(v.b) FROM v WHERE v.k >= t.k AND v.k <= u.k)",
    "u.b > 9",
]
_AGGREGATES = [
    "COUNT(*)",
    "COUNT(b)",
    "COUNT(DISTINCT b)",
    "MAX(b)",
    "MIN(u.k) + t.id",
    "COALESCE(SUM(b), -1)",
    "CASE WHEN COUNT(*) > 1 THEN MAX(b) END",
]


def generated(chosen):
    """Return a query of t with queries in its columns, WHERE or HAVING."""
    if chosen.random() < 0.2:
        having = f"SUM(a) {chosen.choice(['>', 'IN', 'NOT IN'])}"
        inner = "SELECT MAX(b) FROM u WHERE u.k = t.k" + chosen.choice(["", " AND u.b > 10"])
        condition = f"{having} ({inner}) OR {_mark(chosen, 'k')}"
        columns = "k, SUM(a), (SELECT COUNT(*) FROM u WHERE u.k = t.k)"
        return f"SELECT {columns} FROM t GROUP BY k HAVING {condition}"
    columns = [_value(chosen), f"CASE WHEN {_condition(chosen, 0)} THEN 'yes' ELSE 'no' END"]
    where = f" WHERE {_condition(chosen, 1)}" if chosen.random() < 0.5 else ""
    return f"SELECT id, {', '.join(columns)}, {_mark(chosen, 't.a')} FROM t{where}"


def _value(chosen):
    tie = chosen.choice(_TIES)
    aggregate = chosen.choice(_AGGREGATES)
    return chosen.choice(
        [
            f"(SELECT {aggregate} FROM u WHERE {tie})",
            f"(SELECT {aggregate} FROM u WHERE {tie} HAVING COUNT(*) < 3)",
            f"(SELECT b FROM u WHERE {tie} ORDER BY b DESC LIMIT 1)",
            f"(SELECT SUM(x) FROM (SELECT DISTINCT b AS x FROM u WHERE {tie}) AS d)",
            f"(SELECT MAX(x) FROM (SELECT b AS x FROM u WHERE {tie} UNION ALL SELECT t.a) AS d)",
        ]
    )


def _mark(chosen, value):
    tie = chosen.choice(_TIES) if value == "t.a" else "u.k = t.k"
    inner = chosen.choice(
        [
            f"SELECT b FROM u WHERE {tie}",
            f"SELECT MAX(b) FROM u WHERE {tie}",
            f"SELECT MAX(b) FROM u WHERE {tie} GROUP BY u.k HAVING COUNT(*) > 1",
            f"SELECT b FROM u WHERE {tie} EXCEPT SELECT b FROM v WHERE v.k = t.k",
            "SELECT b FROM v",
            "SELECT b FROM no_rows",
        ]
    )
    if chosen.random() < 0.5:
        return f"{value} {chosen.choice(['IN', 'NOT IN'])} ({inner})"
    return f"{chosen.choice(['', 'NOT '])}EXISTS ({inner})"


def _condition(chosen, depth):
    if depth and chosen.random() < 0.7:
        parts = [_condition(chosen, depth - 1) for _ in range(2)]
        return f"({parts[0]}) {chosen.choice(['AND', 'OR', 'OR'])} NOT ({parts[1]})"
    return chosen.choice(
        [
            _mark(chosen, "t.a"),
            f"({_mark(chosen, 't.a')}) IS NULL",
            f"{_value(chosen)} {chosen.choice(['<', '=', '>='])} t.a",
            "t.id > 2",
        ]
    )


def test_more_than_one_row_of_one_value_is_an_error(tables):
    t_env = tables("batch")
    for query in (
        "SELECT (SELECT b FROM u) FROM t",
        "SELECT (SELECT b FROM u WHERE k = t.k) FROM t",
    ):
        with pytest.raises(Exception, match="more than one row"):
            rows(t_env, query)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT id FROM t WHERE EXISTS (SELECT COUNT(x) FROM u)", "column 45.*'x' not found"),
        ("SELECT id FROM t WHERE EXISTS (SELECT x FROM u WHERE u.k = t.k)", "'x' not found"),
        ("SELECT (SELECT MAX(b) FROM u WHERE u.k = t.x) FROM t", "column 42.*'t.x' not found"),
        (
            "SELECT k FROM t GROUP BY k HAVING 1 > (SELECT b FROM u WHERE b = t.a)",
            "'t.a' not found",
        ),
        ("SELECT 1 FROM t GROUP BY k IN (SELECT k FROM u)", "not supported as a value here"),
        ("SELECT (id, k) IN (SELECT k FROM u) FROM t", "IN with 2 values and a query of 1 columns"),
        ("SELECT (id, k) > ANY (SELECT k, b FROM u) FROM t", "= ANY and <> ALL only"),
        (
            "SELECT 1 FROM t LEFT JOIN v ON EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.b = v.b)",
            "names columns of both sides",
        ),
        (
            "SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM u FULL JOIN ("
            "SELECT b FROM v WHERE v.k = t.k) x ON u.b = x.b)",
            "FULL JOIN with a table that refers",
        ),
    ],
)
def test_what_is_wrong_or_not_supported_is_named(tables, query, message):
    with pytest.raises(TableException, match=message):
        tables("batch").sql_query(query)
