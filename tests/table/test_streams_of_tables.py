"""Tables that become data streams, and data streams that become tables."""

from __future__ import annotations

import pytest

from pyflow.common import Configuration, Row, RowKind, Types, WatermarkStrategy
from pyflow.datastream import MapFunction, StreamExecutionEnvironment
from pyflow.datastream.testing import TestStream
from pyflow.table import ChangelogMode, DataTypes, Schema, StreamTableEnvironment
from pyflow.table.expressions import col
from pyflow.util.exceptions import TableException

PAIR = Types.ROW_NAMED(["name", "number"], [Types.STRING(), Types.INT()])
ROWS = [("a", 1), ("b", 2), ("a", 3)]


@pytest.fixture
def streams(environment):
    # Which gives the session its settings back.
    environment()
    configuration = Configuration()
    configuration.set_string("python.execution-mode", "thread")
    return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)


@pytest.fixture
def tables(streams):
    return StreamTableEnvironment.create(streams)


def collected(stream):
    with stream.execute_and_collect() as elements:
        return list(elements)


def rows_of(table):
    with table.execute().collect() as rows:
        return [tuple(row) for row in rows]


def test_what_a_program_computes_becomes_a_table(streams, tables):
    ds = streams.from_collection(ROWS).map(lambda v: Row(v[0] * 2, v[1] + 1), PAIR)
    table = tables.from_data_stream(ds).where(col("number") > 2)
    assert rows_of(table) == [("bb", 3), ("aa", 4)]


def test_state_is_kept_before_a_table(streams, tables):
    ds = streams.from_collection(ROWS, PAIR).key_by(lambda v: v[0]).sum(1)
    assert sorted(rows_of(tables.from_data_stream(ds))) == [("a", 1), ("a", 4), ("b", 2)]


def test_an_unbounded_stream_becomes_a_table(streams, tables):
    source = TestStream(PAIR).add_elements([Row(*each) for each in ROWS])
    ds = streams.from_source(source, WatermarkStrategy.no_watermarks(), "test")
    table = tables.from_data_stream(ds.map(lambda row: row, PAIR))
    found = []
    with table.execute().collect() as rows:
        for row in rows:
            found.append(tuple(row))
            if len(found) == 3:
                break
    assert found == ROWS


class Told(MapFunction):
    """Writes to a file when it is opened and closed."""

    def __init__(self, file):
        self.file = file

    def open(self, runtime_context):
        self.say("open")

    def close(self):
        self.say("close")

    def say(self, what):
        with self.file.open("a") as file:
            file.write(f"{what}\n")

    def map(self, value):
        return value


def test_functions_of_an_unbounded_stream_are_closed_with_the_query_of_its_table(
    streams, tables, tmp_path
):
    calls = tmp_path / "calls"
    source = TestStream(Types.INT()).add_elements([1, 2]).add_elements([3])
    ds = streams.from_source(source, WatermarkStrategy.no_watermarks(), "test")
    ds = ds.map(Told(calls), Types.INT()).key_by(lambda value: value)
    ds = ds.map(Told(calls), Types.INT())
    with tables.from_data_stream(ds).execute().collect() as rows:
        assert sorted(next(rows)[0] for _ in range(3)) == [1, 2, 3]
        before = calls.read_text().split()
    assert set(before) == {"open"}
    assert calls.read_text().split() == before + ["close"] * len(before)


def test_rows_of_a_table_become_a_stream(streams, tables):
    table = tables.from_elements(
        ROWS,
        DataTypes.ROW(
            [
                DataTypes.FIELD("name", DataTypes.STRING()),
                DataTypes.FIELD("number", DataTypes.INT()),
            ]
        ),
    )
    ds = tables.to_data_stream(table.where(col("number") > 1))
    found = collected(ds.map(lambda row: (row.name, row.number, type(row).__name__)))
    assert found == [("b", 2, "Row"), ("a", 3, "Row")]


def test_rows_that_change_are_refused_as_a_stream_and_become_a_changelog(streams, tables):
    table = tables.from_elements(ROWS, ["name", "number"])
    sums = table.group_by(col("name")).select(col("name"), col("number").sum.alias("sum"))
    with pytest.raises(TableException, match="doesn't support consuming update"):
        tables.to_data_stream(sums)
    found = collected(tables.to_changelog_stream(sums))
    left = {}
    for row in found:
        if row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER):
            left[row[0]] = row[1]
        else:
            assert left.pop(row[0]) == row[1]
    assert left == {"a": 4, "b": 2}


def test_a_stream_of_changes_becomes_a_table(streams, tables):
    changes = [
        Row.of_kind(RowKind.INSERT, "a", 1),
        Row.of_kind(RowKind.INSERT, "b", 2),
        Row.of_kind(RowKind.UPDATE_BEFORE, "a", 1),
        Row.of_kind(RowKind.UPDATE_AFTER, "a", 5),
        Row.of_kind(RowKind.DELETE, "b", 2),
    ]
    table = tables.from_changelog_stream(streams.from_collection(changes, PAIR))
    found = collected(
        tables.to_retract_stream(table.select(col("number").sum), Types.ROW([Types.INT()]))
    )
    assert found[-1] == (True, Row(f0=5))


def test_a_stream_without_a_type_is_refused(streams, tables):
    with pytest.raises(TableException, match="has no type"):
        tables.from_data_stream(streams.from_collection(ROWS).map(lambda value: value))


UPSERTS = [
    Row.of_kind(RowKind.INSERT, "a", 12),
    Row.of_kind(RowKind.INSERT, "b", 5),
    Row.of_kind(RowKind.UPDATE_AFTER, "a", 100),
    Row.of_kind(RowKind.INSERT, "c", 1),
    Row.of_kind(RowKind.DELETE, "b", 5),
]


@pytest.mark.parametrize("is_bounded", [True, False])
def test_the_newest_rows_of_keys_become_a_table(streams, tables, is_bounded):
    ds = streams.from_collection(UPSERTS, PAIR)
    if not is_bounded:
        source = TestStream(PAIR).add_elements(UPSERTS[:2]).add_elements(UPSERTS[2:])
        ds = streams.from_source(source, WatermarkStrategy.no_watermarks(), "test")
    schema = Schema.new_builder().column("number", "BIGINT").column("name", "STRING")
    table = tables.from_changelog_stream(
        ds, schema.primary_key("name").build(), ChangelogMode.upsert()
    )
    sums = table.select(col("number").sum.alias("sum"), col("number").count.alias("rows"))
    last = None
    with sums.execute().collect() as rows:
        for row in rows:
            if row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER):
                last = tuple(row)
            if last == (101, 2):
                break
    assert last == (101, 2)


def test_changes_without_a_key_have_rows_before_updates(streams, tables):
    with pytest.raises(TableException, match="primary key is fields of its rows"):
        tables.from_changelog_stream(
            streams.from_collection(UPSERTS, PAIR), None, ChangelogMode.upsert()
        )
