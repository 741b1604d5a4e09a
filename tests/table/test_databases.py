"""Tables of databases: MariaDB, SQLite, and PostgreSQL in complete runs."""

from __future__ import annotations

import datetime
import glob
import os
import shutil
import sqlite3
import subprocess
import tempfile
from decimal import Decimal
from pathlib import Path

import pytest

from databases import LOGIN, created, run
from pyflow.util.exceptions import TableException
from scripts import local_server

COLUMNS = (
    "id BIGINT, name STRING, price DECIMAL(10, 2), ratio DOUBLE, flag BOOLEAN, day DATE, "
    "moment TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED"
)
MYSQL = (
    "id BIGINT PRIMARY KEY, name VARCHAR(50), price DECIMAL(10, 2), ratio DOUBLE, flag BOOLEAN, "
    "day DATE, moment DATETIME(3)"
)
VALUES = (
    "(1, 'a \"quoted\" name', 2.50, 0.5E0, TRUE, DATE '2020-01-02', "
    "TIMESTAMP '2020-01-02 03:04:05.678'), "
    "(2, 'ä', CAST(NULL AS DECIMAL(10, 2)), -1.0E0, FALSE, DATE '1969-12-31', "
    "TIMESTAMP '1969-12-31 23:59:59')"
)
ROWS = [
    (
        1,
        'a "quoted" name',
        Decimal("2.50"),
        0.5,
        True,
        datetime.date(2020, 1, 2),
        datetime.datetime(2020, 1, 2, 3, 4, 5, 678000),
    ),
    (
        2,
        "ä",
        None,
        -1.0,
        False,
        datetime.date(1969, 12, 31),
        datetime.datetime(1969, 12, 31, 23, 59, 59),
    ),
]


def read(t_env, query):
    with t_env.execute_sql(query).collect() as rows:
        return sorted((tuple(row) for row in rows), key=str)


def test_rows_are_written_to_mariadb_and_read(batch, mariadb):
    run(mariadb, f"CREATE TABLE goods ({MYSQL})")
    created(batch, "goods", COLUMNS, mariadb.url, "goods", **LOGIN)
    batch.execute_sql(f"INSERT INTO goods VALUES {VALUES}").wait()
    batch.execute_sql(f"INSERT INTO goods VALUES {VALUES}").wait()
    assert read(batch, "SELECT * FROM goods") == ROWS
    assert run(mariadb, "SELECT * FROM goods ORDER BY id") == [
        tuple(int(value) if isinstance(value, bool) else value for value in row) for row in ROWS
    ]
    # The address by which MariaDB's own driver is known.
    own = mariadb.url.replace("mysql", "mariadb")
    parts = {
        "scan.partition.column": "id",
        "scan.partition.num": 2,
        "scan.partition.lower-bound": 2,
        "scan.partition.upper-bound": 9,
    }
    created(batch, "part", COLUMNS, own, "goods", **LOGIN, **parts)
    assert read(batch, "SELECT id FROM part") == [(2,)]


def test_changes_are_applied_by_key_in_mariadb(streaming, mariadb):
    run(mariadb, "CREATE TABLE words (word VARCHAR(9) PRIMARY KEY, n BIGINT, `odd ``name` INT)")
    run(mariadb, "INSERT INTO words VALUES ('b', 5, 1), ('c', 7, 1)")
    columns = "word STRING, n BIGINT, PRIMARY KEY (word) NOT ENFORCED"
    created(streaming, "words", columns, mariadb.url, "words", **LOGIN)
    table = streaming.from_elements([("a",), ("b",), ("a",)], ["word"])
    streaming.create_temporary_view("source", table)
    streaming.execute_sql(
        "INSERT INTO words SELECT word, COUNT(*) FROM source GROUP BY word"
    ).wait()
    found = run(mariadb, "SELECT word, n, `odd ``name` FROM words ORDER BY word")
    assert found == [("a", 2, None), ("b", 1, 1), ("c", 7, 1)]


def test_rows_are_deleted_by_key(streaming, tmp_path, mariadb):
    run(mariadb, "CREATE TABLE kept (id INT PRIMARY KEY, b VARCHAR(9))")
    run(mariadb, "INSERT INTO kept VALUES (1, 'old'), (2, 'old')")
    (tmp_path / "in").write_text(
        '{"before": null, "after": {"id": 1, "b": "x"}, "op": "c"}\n'
        '{"before": {"id": 2, "b": "old"}, "after": null, "op": "d"}\n'
        '{"before": null, "after": {"id": 3, "b": "z"}, "op": "c"}\n'
        '{"before": {"id": 3, "b": "z"}, "after": {"id": 3, "b": "y"}, "op": "u"}\n'
    )
    columns = "id INT, b STRING, PRIMARY KEY (id) NOT ENFORCED"
    streaming.execute_sql(
        f"CREATE TABLE log ({columns}) WITH ('connector' = 'filesystem', "
        f"'path' = '{tmp_path / 'in'}', 'format' = 'debezium-json')"
    )
    created(streaming, "kept", columns, mariadb.url, "kept", **LOGIN)
    streaming.execute_sql("INSERT INTO kept SELECT * FROM log").wait()
    assert run(mariadb, "SELECT * FROM kept ORDER BY id") == [(1, "x"), (3, "y")]


def test_rows_are_written_to_sqlite_and_read(batch, tmp_path):
    file = tmp_path / "some.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)")
        connection.execute("CREATE TABLE logs (id INTEGER, name TEXT)")
    url = f"jdbc:sqlite:{file}"
    created(batch, "t", "id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED", url, "t")
    created(batch, "logs", "id BIGINT, name STRING", url, "logs")
    for name in ("first", "second"):
        batch.execute_sql(f"INSERT INTO t VALUES (5000000000, '{name}'), (2, 'x')").wait()
        batch.execute_sql(f"INSERT INTO logs VALUES (1, '{name}')").wait()
    assert read(batch, "SELECT * FROM t") == [(2, "x"), (5000000000, "second")]
    assert read(batch, "SELECT * FROM logs") == [(1, "first"), (1, "second")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "x"}, "'url' is 'x', expected an address such as jdbc:mysql:"),
        ({"url": "jdbc:derby:x"}, "'url' is 'jdbc:derby:x', expected an address of one of: mysql"),
        (
            {"url": "jdbc:mysql://127.0.0.1:1/x"},
            "'table-name' is 'goods', option 'url' is 'jdbc:mysql://127.0.0.1:1/x'",
        ),
        ({"scan_partition_num": "2"}, "either all or none of the following options"),
        ({"sink_buffer-flush_max-rows": "x"}, "'sink.buffer-flush.max-rows' is 'x'"),
        ({"table-name": "nothing"}, "'table-name' is 'nothing'.*nothing"),
    ],
)
def test_what_is_wrong_is_said_with_table_option_and_value(batch, tmp_path, options, message):
    sqlite3.connect(tmp_path / "some.db").close()
    given = {"url": f"jdbc:sqlite:{tmp_path / 'some.db'}", "table-name": "goods"}
    given |= {key.replace("_", "."): value for key, value in options.items()}
    created(batch, "t", "id INT", given.pop("url"), given.pop("table-name"), **given)
    with pytest.raises(TableException, match=f"(?s)database.t.*{message}"):
        read(batch, "SELECT * FROM t")


def test_a_database_that_refuses_rows(batch, tmp_path):
    with sqlite3.connect(tmp_path / "some.db") as connection:
        connection.execute("CREATE TABLE t (id INTEGER CHECK (id > 0))")
    created(batch, "t", "id INT", f"jdbc:sqlite:{tmp_path / 'some.db'}", "t")
    with pytest.raises(TableException, match=r"(?s)database.t.* cannot be written.*CHECK"):
        batch.execute_sql("INSERT INTO t VALUES (-1)").wait()


def test_a_table_without_key_takes_no_changes(streaming, tmp_path):
    created(streaming, "t", "word STRING, n BIGINT", f"jdbc:sqlite:{tmp_path / 'some.db'}", "t")
    streaming.create_temporary_view("source", streaming.from_elements([("a",)], ["word"]))
    with pytest.raises(TableException, match="doesn't support consuming update and delete"):
        streaming.execute_sql("INSERT INTO t SELECT word, COUNT(*) FROM source GROUP BY word")


@pytest.fixture
def postgresql():
    """The address of a server that runs, as another user where the tests run as root."""
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not programs:
        pytest.skip("no PostgreSQL here: install Debian's package postgresql")
    # Not below the directory of tests, which no other user may look into.
    folder = Path(tempfile.mkdtemp(prefix="pyflow-postgresql-"))
    as_user = []
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    port = local_server.free_port()

    def program(name, *arguments):
        command = [*as_user, f"{programs[-1]}/{name}", *arguments]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)

    data = str(folder / "data")
    program("initdb", "-D", data, "-U", "pyflow", "--auth=trust", "--encoding=UTF8")
    options = f"-c listen_addresses=127.0.0.1 -p {port} -k {folder}"
    program("pg_ctl", "-D", data, "-o", options, "-l", str(folder / "log"), "-w", "start")
    yield f"jdbc:postgresql://127.0.0.1:{port}/postgres"
    program("pg_ctl", "-D", data, "-m", "immediate", "stop")
    shutil.rmtree(folder)


@pytest.mark.complete
def test_rows_are_written_to_postgresql_and_read(batch, spark, postgresql):
    jvm = spark._jvm
    jvm.java.lang.Class.forName(
        "org.postgresql.Driver", True, jvm.java.lang.Thread.currentThread().getContextClassLoader()
    )
    properties = jvm.java.util.Properties()
    properties.setProperty("user", "pyflow")
    connection = jvm.org.postgresql.Driver().connect(postgresql, properties)
    columns = MYSQL.replace("DOUBLE", "DOUBLE PRECISION").replace("DATETIME", "TIMESTAMP")
    connection.createStatement().execute(f"CREATE TABLE goods ({columns}, l INT[])")
    connection.close()
    created(
        batch, "goods", COLUMNS.replace(", PRIMARY", ", l ARRAY<INT>, PRIMARY"), postgresql,
        "public.goods", username="pyflow",
    )  # fmt: skip
    rows = VALUES.replace("678'", "678', ARRAY[1, 2]").replace("59:59'", "59:59', ARRAY[3]")
    for _ in range(2):
        batch.execute_sql(f"INSERT INTO goods VALUES {rows}").wait()
    found = read(batch, "SELECT * FROM goods")
    assert [row[:-1] for row in found] == ROWS
    assert [row[-1] for row in found] == [[1, 2], [3]]
