"""Queries over unbounded tables: their start, results, checkpoints and end."""

from __future__ import annotations

import datetime
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlparse

import pytest
import recordings
import sql_queries

from deployments import PROGRAMS, killed_at_the_end
from pyflow.common import JobStatus
from pyflow.connectors import CONNECTORS
from pyflow.connectors.connector import Connector
from pyflow.table import DataTypes, Schema, TableDescriptor
from pyflow.table.changes.changelog import net_changes
from pyflow.table.changes.relation import (
    DELETE,
    INSERT,
    KIND,
    SEQUENCE,
    UPDATE_AFTER,
    UPDATE_BEFORE,
    Relation,
    column,
)
from pyflow.table.expressions import col, lit
from pyflow.table.udf import udf, udtf
from pyflow.table.window import Tumble
from pyflow.util.exceptions import TableException
from sessions import wait_until

WORDS = {"id": DataTypes.BIGINT(), "word": DataTypes.STRING()}


@pytest.fixture
def t_env(streaming, spark):
    yield streaming
    for query in spark.streams.active:
        query.stop()


@pytest.fixture
def source(tmp_path):
    """A directory of JSON files that an unbounded table reads."""
    folder = tmp_path / "source"
    folder.mkdir()
    return Files(folder)


class Files:
    def __init__(self, folder):
        self.folder = folder
        self.count = 0

    def append(self, *rows, modified=None):
        self.count += 1
        text = "".join(json.dumps(row) + "\n" for row in rows)
        hidden = self.folder / f".{self.count}"
        hidden.write_text(text)
        if modified is not None:
            os.utime(hidden, (modified.timestamp(),) * 2)
        hidden.rename(self.folder / f"{self.count:04}.json")

    def words(self, *words, modified=None):
        self.append(*({"id": len(word), "word": word} for word in words), modified=modified)

    def table(self, columns=WORDS, watermark=None, **computed):
        schema = Schema.new_builder()
        for name, data_type in columns.items():
            schema.column(name, data_type)
        for name, expression in computed.items():
            schema.column_by_expression(name, expression)
        if watermark is not None:
            schema.watermark(*watermark)
        return (
            TableDescriptor.for_connector("filesystem")
            .schema(schema.build())
            .option("path", str(self.folder))
            .option("source.monitor-interval", "1 s")
            .format("json")
            .build()
        )


def sink(connector, columns=WORDS, **options):
    schema = Schema.new_builder()
    for name, data_type in columns.items():
        schema.column(name, data_type)
    builder = TableDescriptor.for_connector(connector).schema(schema.build())
    for key, value in options.items():
        builder.option(key.replace("_", "-"), str(value))
    return builder.build()


def caught_up(spark):
    """Wait until all queries have read what there is."""
    for query in spark.streams.active:
        query.processAllAvailable()


def written(folder):
    """The rows in the files that Spark's log of a directory names."""
    files = set()
    for batch in (folder / "_spark_metadata").glob("[0-9]*"):
        if batch.suffix in ("", ".compact"):
            entries = [line for line in batch.read_text().splitlines() if line.startswith("{")]
            files.update(urlparse(json.loads(line)["path"]).path for line in entries)
    texts = [Path(file).read_text() for file in sorted(files)]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def test_files_that_come_later_are_read(t_env, source, spark, capsys):
    source.words("one", "three")
    result = t_env.from_descriptor(source.table()).execute_insert(sink("print"))
    caught_up(spark)
    assert capsys.readouterr().out == "+I[3, one]\n+I[5, three]\n"
    source.words("two")
    caught_up(spark)
    assert capsys.readouterr().out == "+I[3, two]\n"
    result.get_job_client().cancel().result()


def test_a_query_is_collected_until_it_is_closed(t_env, source, spark):
    source.words("one", "three")
    t_env.create_temporary_table("words", source.table())
    result = t_env.execute_sql("SELECT UPPER(word), id FROM words WHERE id > 3")
    with result.collect() as rows:
        assert tuple(next(rows)) == ("THREE", 5)
        source.words("seven")
        assert tuple(next(rows)) == ("SEVEN", 5)
        assert len(spark.streams.active) == 1
    assert spark.streams.active == []
    assert result.get_job_client().get_job_status().result() is JobStatus.CANCELED


def test_files_that_come_late_are_read_whatever_their_age(t_env, source, spark):
    source.words("one")
    t_env.create_temporary_table("words", source.table())
    with t_env.from_path("words").execute().collect() as rows:
        assert next(rows)[1] == "one"
        source.words("seven", modified=datetime.datetime(2020, 1, 1))
        assert next(rows)[1] == "seven"


def test_a_query_does_not_run_ahead_of_the_program(t_env, spark):
    t_env.create_temporary_table(
        "numbers", sink("datagen", {"n": DataTypes.INT()}, rows_per_second=2000)
    )
    result = t_env.from_path("numbers").execute()
    wait_until(lambda: result._make_rows()._rows.full(), "rows wait for the program")
    with result.collect() as rows:
        assert len([next(rows) for _ in range(3000)]) == 3000
    assert spark.streams.active == []


def test_a_closed_result_that_was_not_read_ends_its_query(t_env, source, spark):
    with t_env.from_descriptor(source.table()).execute().collect():
        pass
    assert spark.streams.active == []


def test_the_state_of_a_job(t_env, source, spark):
    result = t_env.from_descriptor(source.table()).execute_insert(sink("blackhole"))
    client = result.get_job_client()
    assert client.get_job_status().result() is JobStatus.RUNNING
    with pytest.raises(TimeoutError, match="has not ended in 10 ms"):
        result.wait(10)
    client.cancel().result()
    assert client.get_job_status().result() is JobStatus.CANCELED
    with pytest.raises(TableException, match="was cancelled"):
        result.wait()
    assert spark.streams.active == []


def test_an_error_of_a_function_comes_out_of_wait(t_env, source):
    @udf(result_type=DataTypes.INT())
    def fail(word):
        raise ValueError(f"no {word}")

    source.words("one")
    table = t_env.from_descriptor(source.table()).select(col("id"), fail(col("word")))
    result = table.execute_insert(
        sink("blackhole", {"id": DataTypes.BIGINT(), "n": DataTypes.INT()})
    )
    with pytest.raises(Exception, match="no one"):
        result.wait()
    assert result.get_job_client().get_job_status().result() is JobStatus.FAILED
    with pytest.raises(Exception, match="no one"):
        next(table.execute().collect())


def test_functions_of_streams(t_env, source, spark):
    @udf(result_type=DataTypes.STRING())
    def shout(word):
        return word.upper() + "!"

    @udtf(result_types=[DataTypes.STRING()])
    def letters(word):
        yield from word[:2]

    def rows(mode):
        t_env.get_config().set("python.execution-mode", mode)
        table = t_env.from_descriptor(source.table()).select(shout(col("word")).alias("loud"))
        table = table.join_lateral(letters(col("loud")).alias("letter"))
        plan = table.explain()
        with table.execute().collect() as found:
            return plan, [tuple(next(found)) for _ in range(4)]

    source.words("one", "two")
    plan, found = rows("thread")
    assert found == [("ONE!", "O"), ("ONE!", "N"), ("TWO!", "T"), ("TWO!", "W")]
    assert "thread" in plan.lower()
    assert rows("process")[1] == found


def test_a_query_goes_on_from_its_checkpoint(t_env, source, spark, tmp_path):
    t_env.get_config().set("execution.checkpointing.dir", (tmp_path / "checkpoints").as_uri())
    target = tmp_path / "target"
    for words in (("one", "three"), ("two",), ("four",)):
        source.words(*words)
        table = t_env.from_descriptor(source.table())
        result = table.execute_insert(sink("filesystem", path=target, format="json"))
        caught_up(spark)
        result.get_job_client().cancel().result()
    assert sorted(row["word"] for row in written(target)) == ["four", "one", "three", "two"]


def test_several_tables_are_written_by_one_query(t_env, source, spark, tmp_path, capsys):
    t_env.get_config().set("execution.checkpointing.dir", str(tmp_path / "checkpoints"))
    t_env.get_config().set("pipeline.name", "words and lengths")
    t_env.create_temporary_table("words", source.table())
    t_env.create_temporary_table("printed", sink("print", print_identifier="all"))
    t_env.create_temporary_table(
        "lengths", sink("print", {"n": DataTypes.BIGINT()}, print_identifier="long")
    )
    for words in (("one", "three"), ("two", "seven")):
        source.words(*words)
        statements = t_env.create_statement_set()
        statements.add_insert("printed", t_env.from_path("words"))
        statements.add_insert_sql("INSERT INTO lengths SELECT id FROM words WHERE id > 3")
        assert "- printed, lengths: each reads its sources" in names_alone(statements.explain())
        result = statements.execute()
        assert [query.name for query in spark.streams.active] == ["words and lengths"]
        caught_up(spark)
        result.get_job_client().cancel().result()
    assert sorted(capsys.readouterr().out.splitlines()) == [
        "all> +I[3, one]",
        "all> +I[3, two]",
        "all> +I[5, seven]",
        "all> +I[5, three]",
        "long> +I[5]",
        "long> +I[5]",
    ]
    assert len(list((tmp_path / "checkpoints").iterdir())) == 1


def names_alone(text):
    """A text without the catalog and database of names."""
    return text.replace("default_catalog.default_database.", "")


def test_two_jobs_of_one_checkpoint_are_refused(t_env, source, tmp_path):
    t_env.get_config().set("execution.checkpointing.dir", str(tmp_path / "checkpoints"))
    table = t_env.from_descriptor(source.table())
    table.execute_insert(sink("blackhole"))
    with pytest.raises(TableException, match=r"runs already.*'pipeline.name'"):
        table.execute_insert(sink("blackhole"))


def test_bounded_and_endless_rows_are_not_written_into_one_directory(
    t_env, source, spark, tmp_path
):
    files = sink("filesystem", path=tmp_path / "target", format="json")
    bounded = t_env.from_elements(
        [(1, "a")],
        DataTypes.ROW(
            [DataTypes.FIELD("id", DataTypes.BIGINT()), DataTypes.FIELD("word", DataTypes.STRING())]
        ),
    )
    endless = t_env.from_descriptor(source.table())
    source.words("one")
    with pytest.raises(TableException, match=r"Set 'execution.checkpointing.dir'"):
        endless.execute_insert(files)
    t_env.get_config().set("execution.checkpointing.dir", str(tmp_path / "checkpoints"))
    endless.execute_insert(files)
    caught_up(spark)
    with pytest.raises(TableException, match="files of unbounded rows are in"):
        bounded.execute_insert(files).wait()
    other = sink("filesystem", path=tmp_path / "other", format="json")
    bounded.execute_insert(other).wait()
    t_env.get_config().set("pipeline.name", "another")
    with pytest.raises(TableException, match="files of bounded rows are in"):
        endless.execute_insert(other)
    with pytest.raises(TableException, match=r"files of another job are in .*'pipeline.name'"):
        endless.execute_insert(files)


def test_datagen_without_a_number_of_rows_has_no_end(t_env):
    columns = {
        "n": DataTypes.INT(),
        "word": DataTypes.STRING(),
        "at": DataTypes.TIMESTAMP_LTZ(3),
        "parts": DataTypes.ARRAY(DataTypes.DOUBLE()),
    }
    options = {"rows_per_second": 5, "fields.n.min": 1, "fields.n.max": 3, "fields.word.length": 4}
    with t_env.from_descriptor(sink("datagen", columns, **options)).execute().collect() as rows:
        found = [next(rows) for _ in range(8)]
    assert {row[0] for row in found} <= {1, 2, 3}
    assert {len(row[1]) for row in found} == {4}
    assert len({row[1] for row in found}) > 1
    assert len({row[2] for row in found}) == 8


def test_what_has_no_end_is_refused_where_all_rows_are_needed(t_env, source, batch):
    table = t_env.from_descriptor(source.table())
    with pytest.raises(TableException, match=r"to_pandas\(\) over unbounded tables"):
        table.to_pandas()
    with pytest.raises(TableException, match=r"unbounded table .* in batch mode is not allowed"):
        batch.from_descriptor(source.table())


def test_frames_of_spark_lead_in_and_out(t_env, spark):
    frame = spark.readStream.format("rate").load().withWatermark("timestamp", "3 seconds")
    table = t_env.from_spark(frame)
    assert table._relation.time_attributes["timestamp"].delay_ms == 3000
    assert table.select(col("value")).to_spark().isStreaming


# Windows

AT = {"k": DataTypes.STRING(), "n": DataTypes.INT(), "at": DataTypes.TIMESTAMP(3)}
COUNTED = {
    "k": DataTypes.STRING(),
    "begin": DataTypes.TIMESTAMP(3),
    "until": DataTypes.TIMESTAMP(3),
    "total": DataTypes.INT(),
}
DELAY = ("at", "at - INTERVAL '5' SECOND")


def at(k, n, clock):
    return {"k": k, "n": n, "at": f"2024-03-31 {clock}"}


@pytest.fixture
def events(source):
    source.append(at("a", 1, "10:00:01"), at("b", 2, "10:00:07"), at("a", 3, "10:00:09"))
    source.append(at("a", 10, "10:00:12"), at("a", 0, "10:01:00"))
    return source


def printed(table, columns, spark, capsys):
    """What a query prints until it has read its files."""
    capsys.readouterr()
    result = table.execute_insert(sink("print", columns))
    caught_up(spark)
    result.get_job_client().cancel().result()
    return sorted(capsys.readouterr().out.splitlines())


TUMBLED = [
    "+I[a, 2024-03-31T10:00, 2024-03-31T10:00:10, 4]",
    "+I[a, 2024-03-31T10:00:10, 2024-03-31T10:00:20, 10]",
    "+I[b, 2024-03-31T10:00, 2024-03-31T10:00:10, 2]",
]


def test_windows_close_when_the_watermark_passes_their_end(t_env, events, spark, capsys):
    window = Tumble.over(lit(10).seconds).on(col("at")).alias("w")
    table = t_env.from_descriptor(events.table(AT, DELAY)).window(window)
    table = table.group_by(col("k"), col("w")).select(
        col("k"), col("w").start, col("w").end, col("n").sum
    )
    assert printed(table, COUNTED, spark, capsys) == TUMBLED


# Queries over the bounded clicks of the recordings that close their windows when a row comes late.
RECORDED_WINDOWS = ["group_window", "session_group_window", "hop", "cumulate"]
MORE_RECORDED_WINDOWS = [
    *("hop_group_window", "tumble", "tumble_rows", "tumble_offset", "window_grouping_sets"),
]


@pytest.mark.parametrize(
    "names",
    [RECORDED_WINDOWS, pytest.param(MORE_RECORDED_WINDOWS, marks=pytest.mark.complete)],
    ids=["some", "more"],
)
def test_windows_are_those_of_pyflink_over_bounded_rows(t_env, spark, tmp_path, names):
    recorded = recordings.load("sql_queries")["streaming"]
    (tmp_path / "clicks.csv").write_text(f"{sql_queries.CLICKS}7,zed,2024-01-02 00:00:00,0\n")
    statement = sql_queries.SETUP[-1].replace("{path}", str(tmp_path))
    t_env.execute_sql(statement.replace("'format'", "'source.monitor-interval' = '1 s', 'format'"))
    queries = sql_queries.QUERIES["streaming"]
    results = {name: t_env.sql_query(queries[name]).execute() for name in names}
    caught_up(spark)
    found, expected = {}, {}
    for name, result in results.items():
        rows = [[str(row.get_row_kind()), *map(repr, row)] for row in waiting(result)]
        found[name] = sorted(row for row in rows if "2024, 1, 2" not in " ".join(row))
        expected[name] = sorted(recorded[name]["rows"])
    assert found == expected


def waiting(result):
    """The rows that have come and that the program has not taken."""
    with result.collect() as rows:
        for _ in range(result._make_rows()._rows.qsize()):
            yield next(rows)


def test_windows_of_windows(t_env, events, spark, capsys):
    t_env.create_temporary_table("events", events.table(AT, DELAY))
    table = t_env.sql_query(
        "SELECT k, TUMBLE_START(t, INTERVAL '20' SECOND), TUMBLE_END(t, INTERVAL '20' SECOND), "
        "SUM(n) FROM (SELECT k, window_time AS t, SUM(n) AS n FROM TABLE(TUMBLE(TABLE events, "
        "DESCRIPTOR(at), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end, window_time)"
        " GROUP BY k, TUMBLE(t, INTERVAL '20' SECOND)"
    )
    assert printed(table, COUNTED, spark, capsys) == [
        "+I[a, 2024-03-31T10:00, 2024-03-31T10:00:20, 14]",
        "+I[b, 2024-03-31T10:00, 2024-03-31T10:00:20, 2]",
    ]


def test_windows_follow_the_wall_clock_of_the_time_zone(t_env, source, spark, capsys):
    t_env.get_config().set("table.local-time-zone", "Asia/Kolkata")
    columns = {**AT, "at": DataTypes.TIMESTAMP_LTZ(3)}
    t_env.create_temporary_table("events", source.table(columns, DELAY))
    hours = (
        "SELECT k, window_start, window_end, SUM(n) FROM TABLE(TUMBLE(TABLE events, "
        "DESCRIPTOR(at), INTERVAL '1' {})) GROUP BY k, window_start, window_end"
    )
    # In JSON such a time is one of UTC: 10:00:07 and midnight of the second of April in Kolkata.
    source.append({"k": "b", "n": 2, "at": "2024-03-31 04:30:07Z"})
    source.append({"k": "z", "n": 0, "at": "2024-04-01 18:30:00Z"})
    found = printed(t_env.sql_query(hours.format("HOUR")), COUNTED, spark, capsys)
    assert "+I[b, 2024-03-31T10:00, 2024-03-31T11:00, 2]" in found
    t_env.get_config().set("table.local-time-zone", "Europe/Berlin")
    with pytest.raises(TableException, match="a time zone whose clock is not changed"):
        t_env.sql_query(hours.format("DAY"))


def test_what_windows_without_end_cannot_be(t_env, events):
    t_env.create_temporary_table("events", events.table(AT, DELAY))
    t_env.create_temporary_table("timeless", events.table(AT))
    tumble = "SELECT SUM(n) FROM {} GROUP BY TUMBLE({}, INTERVAL '1' MINUTE)"
    with pytest.raises(TableException, match="declare a watermark"):
        t_env.sql_query(tumble.format("timeless", "at"))
    with pytest.raises(TableException, match=r"'at' is \"at \+ INTERVAL"):
        t_env.from_descriptor(events.table(AT, ("at", "at + INTERVAL '5' SECOND")))


# Joins and unions

ORDERS = {"id": DataTypes.INT(), "ordered": DataTypes.TIMESTAMP(3)}
PARCELS = {"parcel": DataTypes.INT(), "sent": DataTypes.TIMESTAMP(3)}


@pytest.fixture
def shop(t_env, tmp_path):
    for name, columns, clock in (("orders", ORDERS, "ordered"), ("parcels", PARCELS, "sent")):
        folder = tmp_path / name
        folder.mkdir()
        files = Files(folder)
        key = next(iter(columns))
        times = ("10:00:00", "10:05:00") if name == "orders" else ("10:10:00", "11:30:00")
        for n, each in enumerate(times):
            files.append({key: n, clock: f"2024-03-31 {each}"})
        files.append({key: 9, clock: "2024-03-31 23:00:00"})
        t_env.create_temporary_table(name, files.table(columns, (clock, clock)))
    return t_env


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        pytest.param("JOIN", [], marks=pytest.mark.complete),
        ("LEFT JOIN", ["+I[1, 2024-03-31T10:05, null, null]"]),
    ],
)
def test_tables_are_joined_within_an_interval_of_time(shop, spark, capsys, kind, more):
    table = shop.sql_query(
        f"SELECT id, ordered, parcel, sent FROM orders {kind} parcels ON id + 1 = parcel + 1 "
        "AND sent BETWEEN ordered AND ordered + INTERVAL '1' HOUR"
    )
    found = printed(table, {**ORDERS, **PARCELS}, spark, capsys)
    assert found == [
        "+I[0, 2024-03-31T10:00, 0, 2024-03-31T10:10]",
        *more,
        "+I[9, 2024-03-31T23:00, 9, 2024-03-31T23:00]",
    ]


def test_bounded_rows_are_joined_to_each_row(t_env, source, spark, capsys):
    source.words("one", "three", "seven")
    names = t_env.from_elements([(3, "short"), (5, "long")], ["size", "kind"])
    table = t_env.from_descriptor(source.table()).left_outer_join(names, col("id") == col("size"))
    table = table.filter(col("word") != "seven").select(col("id"), col("kind"))
    assert printed(table, WORDS, spark, capsys) == ["+I[3, short]", "+I[5, long]"]


def test_values_of_bounded_queries_stand_beside_rows_without_end(t_env, source, spark, capsys):
    source.words("one", "three", "seven")
    t_env.create_temporary_view("words", t_env.from_descriptor(source.table()))
    t_env.create_temporary_view("sizes", t_env.from_elements([(4,), (3,)], ["size"]))
    table = t_env.sql_query(
        "SELECT id, word FROM words WHERE id > (SELECT size FROM sizes WHERE size > 3)"
    )
    assert sorted(printed(table, WORDS, spark, capsys)) == ["+I[5, seven]", "+I[5, three]"]

    for query, message in {
        "SELECT id FROM words WHERE id > (SELECT MAX(size) FROM sizes)": "a value that changes",
        "SELECT size FROM sizes WHERE size > (SELECT MAX(id) FROM words)": "query as a value over",
        "SELECT id, id IN (SELECT size FROM sizes) FROM words": "IN.* with a query as a value over",
        "SELECT 1 FROM words w WHERE id > (SELECT MAX(size) FROM sizes WHERE size < w.id)": (
            "line 1, column 34: a correlated subquery of this kind over"
        ),
        "SELECT 1 FROM sizes s WHERE EXISTS ("
        "SELECT id FROM words WHERE id < s.size GROUP BY id)": "a correlated subquery of this kind",
    }.items():
        with pytest.raises(TableException, match=message):
            t_env.sql_query(query)


def test_rows_without_end_are_united(t_env, source, spark, capsys):
    source.words("one")
    table = t_env.from_descriptor(source.table())
    table = table.union_all(table.filter(col("id") == 3))
    assert printed(table, WORDS, spark, capsys) == ["+I[3, one]", "+I[3, one]"]
    with pytest.raises(TableException, match="union of a bounded and an unbounded table"):
        table.union_all(t_env.from_elements([(1, "a")], ["id", "word"]))


# Changes


def test_changes_of_a_batch_are_netted_by_key(spark):
    rows = [
        (1, "a", INSERT, 0),
        (1, "a", UPDATE_BEFORE, 1),
        (1, "b", UPDATE_AFTER, 2),
        (2, "x", DELETE, 3),
        (3, "y", UPDATE_BEFORE, 4),
        (4, "gone", INSERT, 5),
        (4, "gone", DELETE, 6),
        (5, "back", DELETE, 7),
        (5, "back", INSERT, 8),
    ]
    types = f"id int, data string, `{KIND}` tinyint, `{SEQUENCE}` bigint"
    fields = (("id", DataTypes.INT()), ("data", DataTypes.STRING()))
    for order in (rows, rows[::-1]):
        frame = spark.createDataFrame(order, types).repartition(3)
        net = net_changes(Relation(frame, fields, updating=True), ["id"])
        found = net.frame.select("id", "data", column(KIND)).collect()
        assert sorted(map(tuple, found)) == [
            (1, "b", UPDATE_AFTER),
            (2, "x", DELETE),
            (3, "y", DELETE),
            (4, "gone", DELETE),
            (5, "back", UPDATE_AFTER),
        ]


def test_of_rows_that_do_not_change_the_last_of_a_key_is_left(spark):
    frame = spark.createDataFrame([(1, "a"), (2, "b"), (1, "c")], "id int, data string")
    fields = (("id", DataTypes.INT()), ("data", DataTypes.STRING()))
    net = net_changes(Relation(frame.coalesce(1), fields), ["id"])
    found = net.frame.select("id", "data", column(KIND)).collect()
    assert sorted(map(tuple, found)) == [(1, "c", UPDATE_AFTER), (2, "b", UPDATE_AFTER)]


class Upserts(Connector):
    """A table in the driver whose rows are replaced by their key."""

    identifier = "upserts"
    takes_changes = True
    applies_by_key = True
    rows: ClassVar = {}

    def write(self, rows, overwrite, context):
        raise AssertionError("unbounded rows come in batches")

    def write_batch(self, rows, batch, context):
        key = list(self.table.primary_key)
        net = net_changes(rows, key)
        for row in net.frame.select(*net.columns, column(KIND)).collect():
            values = row.asDict()
            kind = values.pop(KIND)
            place = tuple(values[name] for name in key)
            if kind == DELETE:
                self.rows.pop(place, None)
            else:
                self.rows[place] = values


def keyed(*key):
    schema = Schema.new_builder().column("word", DataTypes.STRING().not_null())
    schema.column("n", DataTypes.BIGINT().not_null()).primary_key(*key)
    return TableDescriptor.for_connector("upserts").schema(schema.build()).build()


def test_changes_are_applied_by_the_key_of_a_table(t_env, source, spark, monkeypatch):
    monkeypatch.setitem(CONNECTORS, "upserts", Upserts)
    monkeypatch.setattr(Upserts, "rows", {})
    t_env.create_temporary_table("words", source.table())
    counted = t_env.sql_query(
        "SELECT COALESCE(word, '') AS word, COUNT(*) AS n FROM words GROUP BY COALESCE(word, '')"
    )
    source.words("one", "two", "one")
    counted.execute_insert(keyed("word"))
    caught_up(spark)
    source.words("two", "two")
    caught_up(spark)
    assert Upserts.rows == {
        ("one",): {"word": "one", "n": 2},
        ("two",): {"word": "two", "n": 3},
    }
    files = sink(
        "filesystem", {"word": DataTypes.STRING(), "n": DataTypes.BIGINT()}, path="/x", format="csv"
    )
    with pytest.raises(TableException, match="doesn't support consuming update and delete changes"):
        counted.execute_insert(files)


@pytest.mark.complete
def test_a_program_that_is_killed_goes_on_and_loses_nothing(tmp_path):
    for name in ("source", "doubles", "sums"):
        (tmp_path / name).mkdir()
    files = Files(tmp_path / "source")
    program = [sys.executable, PROGRAMS / "table_job.py", tmp_path]
    log = tmp_path / "log"
    minutes = 12

    def wait_for(doubles, sums):
        def are_there():
            return (
                len(written(tmp_path / "doubles")) >= doubles
                and len(written(tmp_path / "sums")) >= sums
            )

        wait_until(are_there, f"{doubles} rows and {sums} sums", 600)

    for run in range(3):
        before, last = minutes * run, minutes * (run + 1)
        with killed_at_the_end(program, tmp_path, log):
            for minute in range(before, last):
                clock = f"2024-03-31 10:{minute:02}:00"
                files.append(*({"n": minute, "at": clock} for _ in range(10)))
                time.sleep(0.2)
            if run < 2:
                # It is killed while it writes.
                wait_for(10 * before + 1, 0)
            else:
                # The last minute stays open.
                wait_for(10 * last, last - 1)
    doubles, sums = (written(tmp_path / name) for name in ("doubles", "sums"))
    assert Counter(row["n"] for row in doubles) == {2 * n: 10 for n in range(3 * minutes)}
    assert sorted(row["n"] for row in sums) == [10 * n for n in range(3 * minutes - 1)]
