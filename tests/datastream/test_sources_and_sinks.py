"""Programs that read sources and write sinks which are neither files nor topics."""

from __future__ import annotations

import datetime
import decimal
import logging
import sqlite3
import time

import pytest

from pyflow.common import Row, Types, WatermarkStrategy
from pyflow.datastream import StreamExecutionEnvironment
from pyflow.datastream.connectors.base import Boundedness
from pyflow.datastream.connectors.datagen import DataGeneratorSource
from pyflow.datastream.connectors.hybrid_source import HybridSource
from pyflow.datastream.connectors.jdbc import (
    JdbcConnectionOptions,
    JdbcExecutionOptions,
    JdbcSink,
)
from pyflow.datastream.connectors.number_seq import NumberSequenceSource
from sessions import wait_until

PAIR = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
INSERT = "INSERT INTO t (id, name) VALUES (?, ?)"


@pytest.fixture
def environment(spark):
    before = spark.conf.getAll
    yield StreamExecutionEnvironment.get_execution_environment()
    # A program whose elements are no longer wanted ends in the background, with queries that close
    # its functions.
    quiet = [spark.conf.getAll == before for _ in range(20) if not time.sleep(0.05)]
    if not all(quiet):
        wait_until(lambda: spark.conf.getAll == before, "the settings are as they were", 60)


@pytest.fixture
def database(tmp_path):
    """A database of SQLite, with a table."""
    file = tmp_path / "some.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, name TEXT)")
    return file


def connection_of(file):
    builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
    return builder.with_url(f"jdbc:sqlite:{file}").with_driver_name("org.sqlite.JDBC").build()


def rows_of(file, query="SELECT * FROM t ORDER BY 1"):
    with sqlite3.connect(file) as connection:
        return connection.execute(query).fetchall()


def collected(environment, source):
    stream = environment.from_source(source, WatermarkStrategy.no_watermarks(), "source")
    with stream.execute_and_collect() as found:
        return list(found)


def test_a_statement_runs_for_each_row(environment, database):
    rows = [Row(1, "one"), Row(2, None), Row(3, "three")]
    stream = environment.from_collection(rows, PAIR)

    stream.add_sink(JdbcSink.sink(INSERT, PAIR, connection_of(database)))
    environment.execute()

    assert rows_of(database) == [(1, "one"), (2, None), (3, "three")]


def test_a_statement_may_update_the_row_of_its_key(environment, database):
    upsert = f"{INSERT} ON CONFLICT (id) DO UPDATE SET name = excluded.name || '?'"
    rows = [(1, "one"), (1, "uno"), (2, "two")]
    environment.set_parallelism(1)

    stream = environment.from_collection(rows)
    stream.add_sink(JdbcSink.sink(upsert, PAIR, connection_of(database)))
    environment.execute()

    assert rows_of(database) == [(1, "uno?"), (2, "two")]


def test_databases_have_values_of_all_simple_types(environment, tmp_path):
    types = {
        "a": Types.BYTE(),
        "b": Types.LONG(),
        "c": Types.DOUBLE(),
        "d": Types.BIG_DEC(),
        "e": Types.SQL_DATE(),
        "f": Types.SQL_TIME(),
        "g": Types.SQL_TIMESTAMP(),
        "h": Types.PRIMITIVE_ARRAY(Types.BYTE()),
        "i": Types.BOOLEAN(),
    }
    row = Row(
        1,
        2,
        1.5,
        decimal.Decimal("1.5"),
        datetime.date(2020, 1, 2),
        datetime.time(1, 2, 3),
        datetime.datetime(2020, 1, 2, 3, 4, 5),
        b"ab",
        True,
    )
    file = tmp_path / "some.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE t (a, b, c, d, e, f, g, h, i)")
    row_type = Types.ROW_NAMED(list(types), list(types.values()))
    marks = ", ".join("?" for _ in types)

    stream = environment.from_collection([row, Row(*[None] * len(types))])
    insert = f"INSERT INTO t VALUES ({marks})"
    stream.add_sink(JdbcSink.sink(insert, row_type, connection_of(file)))
    environment.execute()

    ((a, b, c, d, e, f, g, h, i),) = rows_of(file, "SELECT * FROM t WHERE a = 1")
    assert (a, b, c, float(d), f, h, i) == (1, 2, 1.5, 1.5, "01:02:03", b"ab", 1)
    assert (e, g) != (None, None)
    assert rows_of(file, "SELECT count(*) FROM t WHERE a IS NULL AND h IS NULL") == [(1,)]


def test_what_the_database_refuses_fails_the_job(environment, database):
    stream = environment.from_collection([Row(1, "one"), Row(1, "uno")], PAIR)
    stream.add_sink(JdbcSink.sink(INSERT, PAIR, connection_of(database)))

    with pytest.raises(Exception, match="UNIQUE constraint failed"):
        environment.execute()


def test_options_of_databases_are_those_that_were_set():
    builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
    builder.with_url("jdbc:mysql://host/name").with_driver_name("driver")
    connection = builder.with_user_name("some").with_password("secret").build()
    execution = (
        JdbcExecutionOptions.builder()
        .with_batch_size(7)
        .with_batch_interval_ms(8)
        .with_max_retries(9)
        .build()
    )

    assert connection.get_db_url() == "jdbc:mysql://host/name"
    assert connection.get_driver_name() == "driver"
    assert (connection.get_user_name(), connection.get_password()) == ("some", "secret")
    assert "secret" not in repr(connection)
    assert execution.get_batch_size() == 7
    assert execution.get_batch_interval_ms() == 8
    assert execution.get_max_retries() == 9
    assert JdbcExecutionOptions.defaults().get_batch_size() == 5000


@pytest.mark.parametrize("url", ["", "http://host", "jdbc:"])
def test_an_address_is_one_of_jdbc(url):
    builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(url)

    with pytest.raises(ValueError, match="address"):
        builder.build()


def test_a_sequence_has_both_of_its_ends(environment):
    assert sorted(collected(environment, NumberSequenceSource(3, 7))) == [3, 4, 5, 6, 7]
    with pytest.raises(ValueError, match="must be <="):
        NumberSequenceSource(3, 2)


def test_a_function_makes_elements_of_numbers(environment):
    source = DataGeneratorSource(lambda number: f"number {number}", 3, type_info=Types.STRING())

    assert sorted(collected(environment, source)) == ["number 0", "number 1", "number 2"]
    assert source.produced_type() == Types.STRING()


def test_no_elements_are_made(environment):
    assert collected(environment, DataGeneratorSource(str, 0)) == []


def test_elements_are_made_without_end(environment):
    source = DataGeneratorSource(lambda number: number, rate=100)
    stream = environment.from_source(source, WatermarkStrategy.no_watermarks(), "source")

    with stream.execute_and_collect() as found:
        first = {next(found) for _ in range(20)}

    assert len(first) == 20
    assert min(first) == 0


@pytest.mark.complete
def test_less_than_one_element_is_made_in_a_second(environment):
    source = DataGeneratorSource(lambda number: number, rate=0.5)
    stream = environment.from_source(source, WatermarkStrategy.no_watermarks(), "source")

    start = time.monotonic()
    with stream.execute_and_collect() as found:
        numbers = [next(found) for _ in range(4)]

    # However late they come, the last one is not made before.
    assert time.monotonic() - start > 5
    assert numbers == [0, 1, 2, 3]


def test_wrong_numbers_are_refused():
    with pytest.raises(ValueError, match="negative"):
        DataGeneratorSource(str, -1)
    with pytest.raises(ValueError, match="rate must be positive"):
        DataGeneratorSource(str, rate=0)


def test_sources_are_read_one_after_the_other(environment):
    environment.set_parallelism(1)
    source = (
        HybridSource.builder(DataGeneratorSource(lambda number: f"a{number}", 2))
        .add_source(NumberSequenceSource(5, 6))
        .add_source(DataGeneratorSource(lambda number: f"b{number}", 1))
        .build()
    )

    assert source.boundedness() == Boundedness.BOUNDED
    assert collected(environment, source) == ["a0", "a1", 5, 6, "b0"]


def test_the_last_source_may_be_unbounded(environment):
    source = (
        HybridSource.builder(NumberSequenceSource(-3, -1))
        .add_source(DataGeneratorSource(lambda number: number, rate=100))
        .build()
    )
    stream = environment.from_source(source, WatermarkStrategy.no_watermarks(), "source")

    with stream.execute_and_collect() as found:
        first = {next(found) for _ in range(10)}

    assert source.boundedness() == Boundedness.CONTINUOUS_UNBOUNDED
    assert len(first) == 10
    assert first > {-3, -2, -1, 0}


def test_no_source_comes_after_an_unbounded_one():
    builder = HybridSource.builder(DataGeneratorSource(str))

    with pytest.raises(ValueError, match="need to be bounded"):
        builder.add_source(NumberSequenceSource(1, 2))


def test_collecting_runs_its_own_stream_alone(env, capfd, caplog):
    numbers = env.from_collection([1, 2], Types.INT())
    numbers.print("printed")
    with numbers.map(lambda number: number * 10).execute_and_collect() as found:
        assert list(found) == [10, 20]
    assert "begins without what is written to 'Print to Std. Out'" in caplog.text
    with pytest.raises(RuntimeError, match="No operators defined"):
        env.execute()
    assert "printed" not in capfd.readouterr().out


def test_hints_without_effect_are_logged(env, caplog):
    caplog.set_level(logging.INFO, "pyflow.datastream.graph.hints")
    ds = env.from_collection([1]).map(str).name("one").start_new_chain().slot_sharing_group("a")
    ds.map(str).name("two").disable_chaining().set_parallelism(1).execute_and_collect().close()
    (record,) = [each for each in caplog.records if each.name == "pyflow.datastream.graph.hints"]
    assert record.getMessage() == (
        "Spark has no counterpart of: start_new_chain() and disable_chaining() ('one', 'two'); "
        "slot_sharing_group() ('one'); set_parallelism() of operators without state ('two')."
    )
