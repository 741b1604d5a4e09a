"""Statements of programs in databases: those of MariaDB, and what is refused before it."""

from __future__ import annotations

import pickle
from decimal import Decimal

import pymysql
import pytest

from pyflow.common import Row, Types, WatermarkStrategy
from pyflow.datastream.connectors.jdbc import (
    JdbcConnectionOptions,
    JdbcExecutionOptions,
    JdbcSink,
)
from pyflow.datastream.testing import TestStream
from pyflow.util.exceptions import TableException
from scripts import mariadb_server

PAIR = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
INSERT = "INSERT INTO goods (id, name) VALUES (?, ?)"


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory):
    with mariadb_server.MariaDb(tmp_path_factory.mktemp("mariadb")) as server:
        yield server


@pytest.fixture
def goods(mariadb):
    """Runs statements in a database with an empty table."""
    connection = pymysql.connect(
        host=mariadb_server.HOST,
        port=mariadb.port,
        user=mariadb_server.USER,
        password=mariadb_server.PASSWORD,
        database=mariadb_server.DATABASE,
        autocommit=True,
    )

    def execute(statement="SELECT id, name FROM goods ORDER BY id"):
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    execute("DROP TABLE IF EXISTS goods")
    execute("CREATE TABLE goods (id INT PRIMARY KEY, name VARCHAR(9), moment DATETIME(6))")
    with connection:
        yield execute


@pytest.fixture
def written(mariadb, make_env):
    """Runs a program whose elements a statement writes."""

    def run(sql, *elements, type_info=PAIR, batch_size=5000, source=None, parallelism=1):
        builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(mariadb.url)
        builder.with_user_name(mariadb_server.USER).with_password(mariadb_server.PASSWORD)
        execution = JdbcExecutionOptions.builder().with_batch_size(batch_size).build()
        env = make_env(parallelism=parallelism)
        ds = (
            env.from_collection(list(elements))
            if source is None
            else env.from_source(source, WatermarkStrategy.no_watermarks(), "source")
        )
        ds.add_sink(JdbcSink.sink(sql, type_info, builder.build(), execution))
        env.execute()

    return run


def test_rows_are_inserted(written, goods):
    written(INSERT, Row(1, "one"), (2, None), {"id": 3, "name": "drei ä"}, parallelism=2)
    assert goods() == [(1, "one"), (2, None), (3, "drei ä")]


def test_rows_are_updated_by_their_key(written, goods):
    goods("INSERT INTO goods (id, name) VALUES (1, 'before')")
    upsert = f"{INSERT} ON DUPLICATE KEY UPDATE name = CONCAT(VALUES(name), '?')"
    written(upsert, (1, "one"), (2, "two"), (1, "uno"))
    assert goods() == [(1, "uno?"), (2, "two")]


def test_rows_are_deleted(written, goods):
    goods("INSERT INTO goods (id, name) VALUES (1, 'one'), (2, 'two')")
    written("DELETE FROM goods WHERE id = ?", (2,), type_info=Types.ROW([Types.INT()]))
    assert goods() == [(1, "one")]


@pytest.mark.parametrize(("size", "batches"), [(1, 5), (2, 3), (5000, 1)])
def test_statements_go_to_the_database_in_batches(written, goods, size, batches):
    """MariaDB's driver sends a batch at once, and all of its rows have one time."""
    insert = "INSERT INTO goods (id, name, moment) VALUES (?, ?, NOW(6))"
    written(insert, *((number, "x") for number in range(5)), batch_size=size)
    assert goods("SELECT COUNT(*), COUNT(DISTINCT moment) FROM goods") == [(5, batches)]


def test_what_the_database_refuses_names_the_statement_and_writes_nothing(written, goods):
    rows = [*((number, "x") for number in range(8)), (3, "y")]
    message = r"the statement 'INSERT INTO goods .*Duplicate entry '3' for key 'PRIMARY'"
    with pytest.raises(Exception, match=message):
        written(INSERT, *rows, batch_size=2)
    assert goods() == []


def test_a_value_that_does_not_fit_names_its_column(written, goods):
    with pytest.raises(TableException, match="Data too long for column 'name'"):
        written(INSERT, (1, "more than nine characters"))


def test_a_decimal_that_would_be_rounded_is_refused():
    types = Types.ROW_NAMED(["id", "price"], [Types.INT(), Types.BIG_DEC()])
    options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url("jdbc:mysql://host/db")
    sink = JdbcSink.sink("INSERT INTO t VALUES (?, ?)", types, options.build())
    encode = pickle.loads(pickle.dumps(sink.encoder(None)))

    price = Decimal("1.5")
    for element in ((1, price), Row(price=price, id=1), {"id": 1, "price": price}):
        assert encode(element, None) == (1, price)
    assert encode((1, None), None) == (1, None)
    with pytest.raises(ValueError, match="field price of the element is 1E-20, and a BIG_DEC has"):
        encode((1, Decimal("1e-20")), None)


def test_errors_of_functions_are_their_own(written, goods):
    with pytest.raises(Exception, match=r"field id of the element") as raised:
        written(INSERT, ("one", "one"))
    assert not isinstance(raised.value, TableException)


def test_micro_batches_are_written_one_after_the_other(written, goods):
    upsert = f"{INSERT} ON DUPLICATE KEY UPDATE name = CONCAT(name, VALUES(name))"
    source = TestStream().add_elements([(1, "a"), (2, "b")]).add_elements([(1, "c")])
    written(upsert, source=source)
    assert goods() == [(1, "ac"), (2, "b")]


SOME = JdbcConnectionOptions("jdbc:mysql://host/some")


@pytest.mark.parametrize(
    ("sql", "marks"),
    [
        ("INSERT INTO t VALUES (?)", 1),
        ("INSERT INTO t VALUES (?, ?, ?)", 3),
        ("INSERT INTO t VALUES (?, '?', \"?\", `?`) -- ?", 1),
        ("INSERT INTO t VALUES (?, 'it''s ?') /* ? */", 1),
        ("SELECT a ?? b FROM t", 0),
    ],
)
def test_a_statement_has_a_question_mark_for_each_field(sql, marks):
    with pytest.raises(ValueError, match=f"has {marks} question marks, and type_info 2 fields"):
        JdbcSink.sink(sql, PAIR, SOME)


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO t VALUES (?, ?)",
        "UPDATE t SET a = ?, b = '?' WHERE c = ? -- ?",
        r"INSERT INTO t VALUES (?, 'it\'s', '?', ?)",
    ],
)
def test_question_marks_may_stand_in_strings_and_comments(sql):
    assert isinstance(JdbcSink.sink(sql, PAIR, SOME), JdbcSink)


@pytest.mark.parametrize(
    "field", [Types.MAP(Types.STRING(), Types.INT()), PAIR, Types.TUPLE([Types.INT()])]
)
def test_types_are_those_of_databases(field):
    row = Types.ROW_NAMED(["id", "more"], [Types.INT(), field])
    with pytest.raises(TableException, match="field 'more' of type_info has the type"):
        JdbcSink.sink("INSERT INTO t VALUES (?, ?)", row, SOME)
