"""Lookup joins: rows of a database as they are when a row is processed."""

from __future__ import annotations

import datetime
import json
import sqlite3
from decimal import Decimal

import pytest

from databases import LOGIN, created, run
from pyflow.util.exceptions import TableException


def orders(t_env, folder, columns, unbounded=True):
    """A table of the files of a folder, and what adds one."""
    folder.mkdir()
    options = {"connector": "filesystem", "path": folder, "format": "json"}
    if unbounded:
        options["source.monitor-interval"] = "1 s"
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    t_env.execute_sql(f"CREATE TABLE orders ({columns}, at AS PROCTIME()) WITH ({pairs})")

    def add(*rows):
        file = folder / f"{len(list(folder.iterdir()))}.json"
        hidden = file.with_name(f".{file.name}")
        hidden.write_text("".join(json.dumps(row) + "\n" for row in rows))
        hidden.rename(file)

    return add


def taken(rows, count):
    return sorted((tuple(next(rows)) for _ in range(count)), key=str)


@pytest.fixture
def users(mariadb):
    """A table of a database: users by their number."""
    run(
        mariadb,
        "DROP TABLE IF EXISTS users",
        "CREATE TABLE users (id BIGINT PRIMARY KEY, name VARCHAR(20), age INT)",
        "INSERT INTO users VALUES (1, 'Anna', 30), (2, 'Bert', 17)",
    )
    return mariadb


USERS = "id BIGINT, name STRING, age INT, adult AS age >= 18, PRIMARY KEY (id) NOT ENFORCED"
JOIN = "JOIN users FOR SYSTEM_TIME AS OF o.at AS u ON o.id = u.id"


def test_rows_are_looked_up_when_they_are_processed(streaming, tmp_path, users):
    add = orders(streaming, tmp_path / "in", "id BIGINT, least INT")
    created(streaming, "users", USERS, users.url, "users", **LOGIN)
    # What the condition says beside the key is checked on the rows that are found.
    query = f"SELECT o.id, u.name, u.adult FROM orders AS o LEFT {JOIN} AND u.age >= o.least"
    add({"id": 1, "least": 0}, {"id": 2, "least": 18}, {"id": 3, "least": 0}, {"least": 0})
    with streaming.execute_sql(query).collect() as rows:
        assert taken(rows, 4) == [
            (1, "Anna", True),
            (2, None, None),
            (3, None, None),
            (None, None, None),
        ]
        run(
            users,
            "UPDATE users SET name = 'Anne' WHERE id = 1",
            "DELETE FROM users WHERE id = 2",
            "INSERT INTO users VALUES (3, 'Cleo', 12)",
        )
        add({"id": 1, "least": 0}, {"id": 2, "least": 0}, {"id": 3, "least": 0})
        assert taken(rows, 3) == [(1, "Anne", True), (2, None, None), (3, "Cleo", False)]


def test_a_cache_keeps_what_was_found(streaming, tmp_path, users):
    add = orders(streaming, tmp_path / "in", "id BIGINT")
    cache = {"lookup.cache": "PARTIAL", "lookup.partial-cache.max-rows": "100"}
    created(streaming, "users", USERS, users.url, "users", **LOGIN, **cache)
    short = {
        "lookup.cache": "PARTIAL",
        "lookup.partial-cache.expire-after-write": "1 ms",
        "lookup.partial-cache.expire-after-access": "1 h",
        "lookup.partial-cache.cache-missing-key": "false",
    }
    created(streaming, "now", USERS, users.url, "users", **LOGIN, **short)
    query = (
        f"SELECT o.id, u.name, n.name FROM orders AS o LEFT {JOIN}"
        " LEFT JOIN now FOR SYSTEM_TIME AS OF o.at AS n ON n.id = o.id"
    )
    add({"id": 1}, {"id": 3})
    with streaming.execute_sql(query).collect() as rows:
        assert taken(rows, 2) == [(1, "Anna", "Anna"), (3, None, None)]
        run(
            users,
            "UPDATE users SET name = 'Anne' WHERE id = 1",
            "INSERT INTO users VALUES (3, 'Cleo', 12)",
        )
        add({"id": 1}, {"id": 3}, {"id": 2})
        assert taken(rows, 3) == [(1, "Anna", "Anne"), (2, "Bert", "Bert"), (3, None, "Cleo")]


@pytest.mark.complete
def test_times_of_rows_that_were_looked_up_are_those_of_windows(streaming, tmp_path, users):
    columns = "id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
    add = orders(streaming, tmp_path / "in", columns)
    created(streaming, "users", USERS, users.url, "users", **LOGIN)
    streaming.execute_sql(f"CREATE VIEW named AS SELECT u.name, o.ts FROM orders AS o {JOIN}")
    query = (
        "SELECT name, COUNT(*) FROM TABLE(TUMBLE(TABLE named, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
        " GROUP BY name, window_start, window_end"
    )
    add(*({"id": each, "ts": f"2024-01-01 00:00:0{place}"} for place, each in enumerate((1, 2, 1))))
    with streaming.execute_sql(query).collect() as rows:
        add({"id": 1, "ts": "2024-01-01 00:05:01"})
        assert taken(rows, 2) == [("Anna", 2), ("Bert", 1)]


def test_bounded_rows_are_looked_up_by_keys_of_all_types(t_env, tmp_path, mariadb):
    columns = (
        "a SMALLINT, b VARCHAR(9), c DECIMAL(10, 2), d DATE, e DATETIME(3), f BOOLEAN, "
        "g VARBINARY(4), h TIME, i DOUBLE"
    )
    values = "'x', 2.5, '2020-01-02', '2020-01-02 03:04:05.678', TRUE, X'00ff', '01:02:03', 0.5"
    run(
        mariadb,
        "DROP TABLE IF EXISTS kinds",
        f"CREATE TABLE kinds ({columns})",
        f"INSERT INTO kinds VALUES (1, {values}), (2, {values}), (3, {values})",
        "UPDATE kinds SET b = 'y' WHERE a = 3",
    )
    types = (
        "a SMALLINT, b STRING, c DECIMAL(10, 2), d DATE, e TIMESTAMP(3), f BOOLEAN, g BYTES, "
        "h TIME, i DOUBLE"
    )
    created(t_env, "kinds", types, mariadb.url, "kinds", **LOGIN)
    t_env.execute_sql(
        "CREATE VIEW given AS SELECT PROCTIME() AS at, 'x' AS b, CAST(2.5 AS DECIMAL(10, 2)) AS c,"
        " DATE '2020-01-02' AS d, TIMESTAMP '2020-01-02 03:04:05.678' AS e, TRUE AS f,"
        " CAST(X'00ff' AS BYTES) AS g, TIME '01:02:03' AS h, CAST(0.5 AS DOUBLE) AS i"
    )
    keys = " AND ".join(f"k.{name} = g.{name}" for name in "bcdefghi")
    query = (
        f"SELECT k.* FROM given AS g JOIN kinds FOR SYSTEM_TIME AS OF g.at AS k ON {keys}"
        " AND k.a < 9"
    )
    with t_env.execute_sql(query).collect() as rows:
        found = sorted(tuple(row) for row in rows)
    assert [row[0] for row in found] == [1, 2]
    assert found[0][1:6] == (
        "x",
        Decimal("2.50"),
        datetime.date(2020, 1, 2),
        datetime.datetime(2020, 1, 2, 3, 4, 5, 678000),
        True,
    )
    assert bytes(found[0][6]) == b"\x00\xff"
    assert found[0][7:] == (datetime.time(1, 2, 3), 0.5)


def test_changes_are_looked_up_one_by_one(streaming, tmp_path):
    with sqlite3.connect(tmp_path / "some.db") as connection:
        connection.execute("CREATE TABLE users (id INTEGER, name TEXT)")
        connection.execute("INSERT INTO users VALUES (2, 'two'), (2, 'zwei'), (1, 'one')")
    url = f"jdbc:sqlite:{tmp_path / 'some.db'}"
    created(streaming, "users", "id BIGINT, name STRING", url, "users")
    streaming.create_temporary_view(
        "words", streaming.from_elements([("a",), ("b",), ("a",)], ["word"])
    )
    counted = "SELECT word, COUNT(*) AS id, PROCTIME() AS at FROM words GROUP BY word"
    with streaming.execute_sql(f"SELECT word, name FROM ({counted}) AS o {JOIN}").collect() as rows:
        found = [(str(row.get_row_kind()), *row) for row in rows]
    assert sorted(found[:3]) == [("+I", "a", "one"), ("+I", "b", "one"), ("-U", "a", "one")]
    assert sorted(found[3:]) == [("+U", "a", "two"), ("+U", "a", "zwei")]


@pytest.fixture
def sqlite(batch, tmp_path):
    """An environment with orders, and users of a file."""
    orders(batch, tmp_path / "in", "id BIGINT, small INT", unbounded=False)({"id": 1, "small": 1})
    with sqlite3.connect(tmp_path / "some.db") as connection:
        connection.execute("CREATE TABLE users (id INTEGER, name TEXT)")
    url = f"jdbc:sqlite:{tmp_path / 'some.db'}"
    created(batch, "users", "id BIGINT, name STRING", url, "users")
    return batch


def test_rows_behind_a_comma_are_looked_up_by_conditions_of_where(sqlite, tmp_path):
    with sqlite3.connect(tmp_path / "some.db") as connection:
        connection.execute("INSERT INTO users VALUES (1, 'one'), (1, 'eins'), (2, 'two')")
    time = "FOR SYSTEM_TIME AS OF o.at"
    query = (
        f"SELECT o.small, u.name, w.name FROM orders AS o, users {time} AS u, users {time} AS w "
        "WHERE o.id = u.id AND (u.id + 1 = w.id) AND u.name <> 'eins'"
    )

    with sqlite.execute_sql(query).collect() as rows:
        assert taken(rows, 1) == [(1, "one", "two")]

    from_ = f"FROM orders AS o, users {time} AS u, users AS w"
    with pytest.raises(TableException, match=r"(?s)line 1.*ambiguous"):
        sqlite.sql_query(f"SELECT 1 {from_} WHERE o.id = u.id AND name = 'one'")
    with pytest.raises(TableException, match=r"(?s)line 1.*requires an equality condition"):
        sqlite.sql_query(f"SELECT 1 {from_} WHERE o.small = o.id AND u.id = w.id")
    from_ = f"FROM orders AS o CROSS JOIN users {time} AS u RIGHT JOIN users AS w ON u.id = w.id"
    with pytest.raises(TableException, match=r"(?s)line 1.*requires an equality condition"):
        sqlite.sql_query(f"SELECT 1 {from_} WHERE o.id = u.id")


def test_a_database_that_fails_is_asked_again(sqlite, tmp_path):
    retries = {"lookup.max-retries": 1}
    created(sqlite, "u", "id BIGINT", f"jdbc:sqlite:{tmp_path / 'some.db'}", "users", **retries)
    table = sqlite.sql_query("SELECT o.id FROM orders o JOIN u FOR SYSTEM_TIME AS OF o.at ON "
                             "o.id = u.id")  # fmt: skip
    with sqlite3.connect(tmp_path / "some.db") as connection:
        connection.execute("DROP TABLE users")
    message = r"default_database.u'?: the lookup of \(1\) has failed 2 times.*no such table"
    with pytest.raises(Exception, match=f"(?s){message}"), table.execute().collect() as rows:
        list(rows)


def test_a_plan_shows_no_password(sqlite, tmp_path):
    url = f"jdbc:sqlite:{tmp_path / 'some.db'}"
    created(sqlite, "u", "id BIGINT", url, "users", username="me", password="hidden words")
    query = "SELECT o.id FROM orders o JOIN u FOR SYSTEM_TIME AS OF o.at ON o.id = u.id"
    plan = sqlite.explain_sql(query)
    assert "lookup('default_catalog.default_database.u'" in plan
    assert "hidden words" not in plan


@pytest.mark.parametrize(
    ("join", "message"),
    [
        ("RIGHT JOIN users {} ON o.id = u.id", "only supports INNER JOIN and LEFT JOIN"),
        ("JOIN users {} ON u.id > o.id", "requires an equality condition on fields of table"),
        ("JOIN users {} ON o.small + 1 = u.name", "requires an equality condition|small"),
        ("JOIN users {} ON CAST(u.id AS INT) = o.small", "requires an equality condition"),
        (
            "JOIN users FOR SYSTEM_TIME AS OF o.id AS u ON o.id = u.id",
            "column 41.*PROCTIME",
        ),
        ("JOIN orders {} ON o.id = u.id", "'filesystem' is no lookup source"),
        ("JOIN v {} ON o.id = u.id", "'v' is a view"),
        ("JOIN (SELECT 1 AS id) {} ON o.id = u.id", "only rows of a table"),
        ("JOIN nowhere {} ON o.id = u.id", "was not found"),
        ("JOIN away {} ON o.id = u.id", "'url' is 'jdbc:mysql://127.0.0.1:1/x'"),
        ("JOIN wrong {} ON o.id = u.id", "'lookup.max-retries' is -1"),
        ("JOIN endless {} ON o.id = u.id", "'PARTIAL' needs at least one of"),
        ("JOIN whole {} ON o.id = u.id", "'lookup.cache' is 'FULL', expected NONE or PARTIAL"),
    ],
)
def test_what_cannot_be_looked_up_is_said_at_planning(sqlite, tmp_path, join, message):
    url = f"jdbc:sqlite:{tmp_path / 'some.db'}"
    sqlite.execute_sql("CREATE VIEW v AS SELECT * FROM users")
    created(sqlite, "away", "id BIGINT", "jdbc:mysql://127.0.0.1:1/x", "users")
    created(sqlite, "wrong", "id BIGINT", url, "users", **{"lookup.max-retries": -1})
    created(sqlite, "endless", "id BIGINT", url, "users", **{"lookup.cache": "PARTIAL"})
    created(sqlite, "whole", "id BIGINT", url, "users", **{"lookup.cache": "FULL"})
    text = f"SELECT o.id FROM orders AS o {join.format('FOR SYSTEM_TIME AS OF o.at AS u')}"
    with pytest.raises(TableException, match=f"(?s)line 1.*({message})"):
        sqlite.sql_query(text)
