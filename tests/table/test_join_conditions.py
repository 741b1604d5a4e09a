"""Joins of unbounded tables take the conditions of WHERE, wherever these are written.

Each query is beside one with the same conditions in ON, or with none below the join: both have the
same keys of the same operators, and the same rows.
"""

from __future__ import annotations

import datetime
import re

import pytest

from comparison import settings
from pyflow.streaming.plan.clocks import clocks_of
from pyflow.table.expressions import col
from streams import Source, changes

TABLES = {
    "a": ("id INT; x INT; t TIMESTAMP(3)", ("t", 0)),
    "b": ("id INT; y INT; u TIMESTAMP(3)", ("u", 0)),
    "c": ("y INT; z INT; v TIMESTAMP(3)", ("v", 0)),
}

BOTH = "SELECT a.id, x, y FROM a JOIN b ON a.id = b.id"
FILTERED = """
    SELECT a.id, x, b.y FROM (SELECT * FROM a WHERE x > 1) a
    JOIN (SELECT * FROM b WHERE y < 9) b ON a.id = b.id AND x < y"""
THREE = "SELECT a.id, z FROM a JOIN b ON a.id = b.id JOIN c ON b.y = c.y"
INTERVAL = """
    SELECT a.id, y FROM a JOIN b
    ON a.id = b.id AND u BETWEEN t AND t + INTERVAL '1' MINUTE"""
WINDOWED = """
    SELECT l.id, x, y, l.window_end FROM {0} l {2} {1} r {3}
    l.window_start = r.window_start AND l.window_end = r.window_end AND l.id = r.id"""
WINDOWS = tuple(
    f"(SELECT * FROM TABLE(TUMBLE(TABLE {name}, DESCRIPTOR({time}), INTERVAL '1' MINUTE)))"
    for name, time in (("a", "t"), ("b", "u"))
)

#: Queries, and the same with conditions in ON.
CASES = {
    "comma": ("SELECT a.id, x, y FROM a, b WHERE a.id = b.id", BOTH),
    "cross": ("SELECT a.id, x, y FROM a CROSS JOIN b WHERE b.id = a.id", BOTH),
    "on_true": ("SELECT a.id, x, y FROM a JOIN b ON TRUE WHERE a.id = b.id", BOTH),
    "subquery": (
        """SELECT i, x, y FROM (SELECT a.id AS i, b.id AS j, x, y FROM a, b) WHERE i = j""",
        BOTH,
    ),
    "view": ("SELECT i, x, y FROM pairs WHERE i = j", BOTH),
    "common_table": (
        "WITH p (i, j, x, y) AS (SELECT a.id, b.id, x, y FROM a, b) SELECT i, x, y FROM p "
        "WHERE i = j",
        BOTH,
    ),
    "more_conditions": (
        "SELECT a.id, x, y FROM a, b WHERE a.id = b.id AND x > 1 AND y < 9 AND x < y",
        FILTERED,
    ),
    "some_in_on": (
        "SELECT a.id, x, y FROM a JOIN b ON x < y WHERE a.id = b.id AND x > 1 AND y < 9",
        FILTERED,
    ),
    "alternatives": (
        "SELECT a.id, x, y FROM a, b WHERE a.id = b.id AND x > 1 OR a.id = b.id AND y > 1",
        BOTH + " WHERE x > 1 OR y > 1",
    ),
    "changing_condition": (
        "SELECT a.id, x, y FROM a, b WHERE a.id = b.id AND RAND() < 2",
        BOTH + " WHERE RAND() < 2",
    ),
    "three": ("SELECT a.id, z FROM a, b, c WHERE a.id = b.id AND b.y = c.y", THREE),
    "three_apart": (
        "SELECT i, z FROM (SELECT a.id AS i, b.id AS j, y FROM a, b) p, c "
        "WHERE p.y = c.y AND i = j",
        THREE,
    ),
    "nested": (
        "SELECT a.id, x, w FROM a, b, UNNEST(ARRAY[y, 7]) AS e(w) WHERE a.id = b.id",
        "SELECT a.id, x, w FROM a JOIN b ON a.id = b.id CROSS JOIN UNNEST(ARRAY[y, 7]) AS e(w)",
    ),
    "semi": (
        "SELECT a.id, x, y FROM a, b WHERE a.id = b.id AND x IN (SELECT z FROM c)",
        "SELECT id, x, y FROM (" + BOTH + ") WHERE x IN (SELECT z FROM c)",
    ),
    "exists": (
        "SELECT id, z FROM c, (SELECT 1 AS id) o WHERE EXISTS "
        "(SELECT 1 FROM a, b WHERE a.id = b.id AND a.x = c.z)",
        "SELECT id, z FROM c, (SELECT 1 AS id) o WHERE EXISTS "
        "(SELECT 1 FROM a JOIN b ON a.id = b.id WHERE a.x = c.z)",
    ),
    "aggregated": (
        "SELECT s.id, n, y FROM (SELECT id, COUNT(*) AS n FROM a GROUP BY id) s, b "
        "WHERE s.id = b.id",
        "SELECT s.id, n, y FROM (SELECT id, COUNT(*) AS n FROM a GROUP BY id) s JOIN b "
        "ON s.id = b.id",
    ),
    "outer": (
        "SELECT a.id, z FROM a CROSS JOIN b LEFT JOIN c ON b.y = c.y WHERE a.id = b.id",
        "SELECT a.id, z FROM a JOIN b ON a.id = b.id LEFT JOIN c ON b.y = c.y",
    ),
    "above_outer": (
        "SELECT a.id, y FROM a LEFT JOIN b ON a.id = b.id WHERE x > 1 AND (y IS NULL OR y < x)",
        "SELECT a.id, y FROM (SELECT * FROM a WHERE x > 1) a LEFT JOIN b ON a.id = b.id "
        "WHERE y IS NULL OR y < x",
    ),
    "interval": (
        "SELECT a.id, y FROM a, b WHERE a.id = b.id AND u BETWEEN t AND t + INTERVAL '1' MINUTE",
        INTERVAL,
    ),
    "interval_with_filter": (
        "SELECT a.id, y FROM a, b WHERE a.id = b.id AND x > 1 "
        "AND u >= t AND u <= t + INTERVAL '1' MINUTE",
        INTERVAL.replace("FROM a ", "FROM (SELECT * FROM a WHERE x > 1) a "),
    ),
    "windows": (
        WINDOWED.format(*WINDOWS, ",", "WHERE"),
        WINDOWED.format(*WINDOWS, "JOIN", "ON"),
    ),
}  # fmt: skip
SHORT = ["comma", "view", "some_in_on", "three_apart", "interval"]

ROWS = {
    "a": lambda n, time: (n % 3, n, time),
    "b": lambda n, time: (n % 4, n + 1, time),
    "c": lambda n, time: (n, n % 5, time),
}


@pytest.fixture
def sources(spark, streaming, tmp_path):
    """The tables, as unbounded ones, and an environment with them and a view."""
    found = {}
    for name, (columns, watermark) in TABLES.items():
        found[name] = Source(spark, tmp_path, columns)
        table = found[name].table(streaming, watermark=watermark)
        streaming.create_temporary_view(name, table)
    streaming.execute_sql(
        "CREATE TEMPORARY VIEW pairs AS SELECT a.id AS i, b.id AS j, x, y FROM a, b"
    )
    return streaming, found


def at(second):
    return datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=second)


def fill(sources):
    """Two micro-batches, the second of which moves the watermarks past the rows of the first."""
    for first, late in ((0, 0), (4, 10_000)):
        for name, row in ROWS.items():
            sources[name].add([row(n, at(late + 9 * n)) for n in range(first, first + 4)])


def operators(table):
    """The operators with state of a query, with the types of their keys or their conditions."""
    found = []

    def walk(plan):
        children = plan.children()
        count = children.size()
        name = plan.nodeName()
        if name == "TransformWithStateInPySpark":
            columns = plan.child().output()
            keys = [columns.apply(n).dataType().sql() for n in range(plan.groupingAttributesLen())]
            found.append(keys)
        elif name == "Join" and all(children.apply(n).isStreaming() for n in range(count)):
            found.append(re.sub(r"#\d+", "", plan.condition().toString()))
        for place in range(count):
            walk(children.apply(place))

    walk(table._relation.frame._jdf.queryExecution().analyzed())
    return found


def applied(table, checkpoint):
    """The rows that changes leave, sorted."""
    left = []
    for batch in changes(table, checkpoint):
        for kind, *row in batch:
            left.append(row) if kind in ("+I", "+U") else left.remove(row)
    return sorted(left, key=repr)


def same_operators(sources, name):
    streaming, _ = sources
    written, same = (streaming.sql_query(query) for query in CASES[name])
    assert operators(written) == operators(same), name
    assert not clocks_of(written._relation.frame).joins_all_pairs, name


def test_conditions_of_where_are_those_of_the_join(sources):
    for name in SHORT:
        same_operators(sources, name)


@pytest.mark.complete
@pytest.mark.parametrize("name", [name for name in CASES if name not in SHORT])
def test_more_conditions_of_where_are_those_of_the_join(sources, name):
    same_operators(sources, name)


def test_rows_of_a_list_of_tables_are_those_of_its_conditions(spark, sources, tmp_path):
    streaming, found = sources
    fill(found)
    one, other = ([ROWS[name](n, None) for n in range(8)] for name in "ab")
    pairs = [[i, x, y] for i, x, _ in one for j, y, _ in other if i == j and x < y]
    query = "SELECT a.id, x, y FROM a, b WHERE a.id = b.id AND x < y"
    with settings(spark, {"spark.sql.shuffle.partitions": "1"}):
        assert applied(streaming.sql_query(query), tmp_path / "checkpoint") == sorted(pairs)


@pytest.mark.complete
@pytest.mark.parametrize("name", CASES)
def test_rows_are_those_of_the_join_with_conditions_in_on(spark, sources, tmp_path, name):
    streaming, found = sources
    fill(found)
    with settings(spark, {"spark.sql.shuffle.partitions": "1"}):
        with_where, with_on = (
            applied(streaming.sql_query(query), tmp_path / f"checkpoint{place}")
            for place, query in enumerate(CASES[name])
        )
    assert with_where
    assert with_where == with_on


def test_where_of_the_table_api_is_taken_by_the_join(sources):
    streaming, _ = sources
    left, right = (
        streaming.from_path("a"),
        streaming.from_path("b").rename_columns(col("id").alias("other")),
    )
    table = left.join(right).where(col("id") == col("other")).select(col("x"), col("y"))
    assert operators(table) == [["INT"]]
    later = left.join(right).select(col("id").alias("i"), col("other"), col("x") + col("y"))
    assert operators(later.filter(col("other") == col("i"))) == [["INT"]]


def test_a_join_of_all_pairs_is_named(sources, tmp_path):
    streaming, found = sources
    fill(found)
    table = streaming.sql_query("SELECT a.id, y FROM a, b WHERE x < y")
    assert "A join without an equality" in table.explain()
    inside = "SELECT id, COUNT(*) FROM (SELECT a.id FROM a, b WHERE x < y) GROUP BY id"
    assert "A join without an equality" in streaming.explain_sql(inside)
    assert "A join without an equality" not in streaming.explain_sql(CASES["comma"][0])
    named = streaming.sql_query("SELECT SUM(all_pairs0) FROM (SELECT x AS all_pairs0 FROM a)")
    assert "A join without an equality" not in named.explain()
    with pytest.warns(UserWarning, match="one task keeps all rows of both"):
        result = table.execute()
    result.get_job_client().cancel().result()
