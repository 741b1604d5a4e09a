"""Tables known by a key: changes made of upserts, and rows that meet under the key of a sink."""

from __future__ import annotations

import itertools
import random
from typing import ClassVar

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import Row

from pyflow.connectors import CONNECTORS
from pyflow.connectors.connector import Connector
from pyflow.streaming.runtime import state_ttl as lifetimes
from pyflow.streaming.runtime.state_ttl import FOREVER, Lifetime
from pyflow.table import DataTypes, Schema, TableDescriptor
from pyflow.table.changes.changelog import net_changes
from pyflow.table.changes.relation import DELETE, INSERT, KIND, UPDATE_AFTER, UPDATE_BEFORE, column
from pyflow.table.expressions import col
from pyflow.table.runtime.streams.upserts import Conflict, FirstRowOfKey, LatestRow, RowsOfKey
from streams import Source
from test_stream_operators import Applied, Clock, fed, generated
from tws import TwsTester


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(lifetimes, "time", made)
    return made


NAMES = ["k", "v", "kind", "place"]


def test_upserts_in_any_order_give_the_changes_of_the_newest_row():
    rng = random.Random(1)
    for _ in range(60):
        tester, applied = TwsTester(LatestRow(NAMES, FOREVER)), Applied()
        numbers = itertools.count()
        newest = None
        for _ in range(4):
            batch = []
            for _ in range(rng.randrange(1, 6)):
                newest = rng.choice([None, 1, 2, float("nan")])
                kind = DELETE if newest is None else UPDATE_AFTER
                batch.append(Row(k="a", v=newest, kind=kind, place=next(numbers)))
            rng.shuffle(batch)
            found = tester.test(("a",), batch)
            applied.take(found, 1)
            olds = [row.v for row in found if row.kind == UPDATE_BEFORE]
            news = [row.v for row in found if row.kind == UPDATE_AFTER]
            assert all(repr(old) != repr(new) for old, new in zip(olds, news))
            expected = {} if newest is None else {repr((newest,)): 1}
            assert applied.rows == expected


def test_an_upsert_that_changes_nothing_is_told_where_keys_are_forgotten(clock):
    found = fed(
        LatestRow(NAMES, Lifetime(10)),
        clock,
        [("a", 1, UPDATE_AFTER, 1)],
        [("a", 1, UPDATE_AFTER, 2)],
        [("b", None, DELETE, 3)],
        [("a", 1, UPDATE_AFTER, 4)],
    )
    assert found == [
        [(INSERT, "a", 1)],
        [(UPDATE_BEFORE, "a", 1), (UPDATE_AFTER, "a", 1)],
        [],
        [(INSERT, "a", 1)],
    ]


def test_of_the_rows_of_a_key_the_one_added_last_counts():
    rng = random.Random(2)
    for _ in range(60):
        tester = TwsTester(RowsOfKey(None, NAMES, FOREVER))
        numbers = itertools.count()
        live: list = []
        shown = None
        for _ in range(4):
            before = list(live)
            batch = [
                Row(k="a", v=value, kind=kind, place=next(numbers))
                for kind, value in generated(rng, lambda: rng.randrange(3), live)
            ]
            left = before
            for row in batch:
                # Of equal rows the first is the one that goes.
                left.append(row.v) if row.kind == INSERT else left.remove(row.v)
            live[:] = left
            rng.shuffle(batch)
            for row in tester.test(("a",), batch):
                shown = None if row.kind == DELETE else row.v
            assert shown == (left[-1] if left else None)


def test_a_row_with_a_key_of_its_own_replaces_itself(clock):
    names = ["k", "id", "v", "kind", "place"]
    found = fed(
        RowsOfKey([0], names, Lifetime(10)),
        clock,
        [("a", 1, "x", INSERT, 1), ("a", 2, "y", INSERT, 2), ("a", 1, "z", UPDATE_AFTER, 3)],
        [("a", 1, "what was it", DELETE, 4)],
        [("a", 2, "y", DELETE, 5), ("a", 2, "y", DELETE, 6)],
        [("b", 1, "x", INSERT, 7)],
        [("a", 3, "x", INSERT, 8)],
        [("b", 2, "y", INSERT, 9)],
    )
    assert found == [
        [(INSERT, "a", 1, "x"), (UPDATE_AFTER, "a", 2, "y"), (UPDATE_AFTER, "a", 1, "z")],
        [],
        [(DELETE, "a", 2, "y")],
        [(INSERT, "b", 1, "x")],
        [(INSERT, "a", 3, "x")],
        [(INSERT, "b", 2, "y")],
    ]


def test_the_row_that_a_key_has_stays_where_it_is_updated(clock):
    names = ["k", "id", "v", "kind", "place"]
    found = fed(
        FirstRowOfKey([0], names, Lifetime(10), ["k"], Conflict(Conflict.FIRST, "t")),
        clock,
        [("a", 1, "x", INSERT, 1), ("a", 2, "y", INSERT, 2)],
        [
            ("a", 3, "z", INSERT, 3),
            ("a", 1, "x", UPDATE_BEFORE, 4),
            ("a", 1, "new", UPDATE_AFTER, 5),
        ],
        [("a", 2, "y", DELETE, 6), ("a", 1, "new", DELETE, 7)],
        [("a", 3, "z", DELETE, 8), ("a", 4, "w", INSERT, 9)],
    )
    assert found == [
        [(INSERT, "a", 1, "x")],
        [(UPDATE_AFTER, "a", 1, "new")],
        [(DELETE, "a", 1, "new")],
        [(INSERT, "a", 4, "w")],
    ]


class Kept(Connector):
    """A table in the driver, whose rows are replaced and deleted by its key."""

    identifier = "kept"
    takes_changes = True
    applies_by_key = True
    rows: ClassVar = {}

    def write(self, rows, overwrite, context):
        net = net_changes(rows, self.table.primary_key)
        for row in net.frame.select(*net.columns, column(KIND)).collect():
            *values, kind = row
            if kind == DELETE:
                self.rows.pop(values[0], None)
            else:
                self.rows[values[0]] = values[1]


def kept_by_count(monkeypatch):
    monkeypatch.setitem(CONNECTORS, "kept", Kept)
    monkeypatch.setattr(Kept, "rows", {})
    schema = Schema.new_builder().column("n", DataTypes.BIGINT().not_null())
    schema.column("word", DataTypes.STRING()).primary_key("n")
    return TableDescriptor.for_connector("kept").schema(schema.build()).build()


def words_by_count(table):
    """For how often a word is there, a word: changes whose key is not that of the sink."""
    counted = table.group_by(col("word")).select(col("word"), col("word").count.alias("n"))
    return counted.select(col("n"), col("word"))


def test_rows_that_meet_under_the_key_of_a_sink_give_way_to_each_other(
    streaming, spark, tmp_path, monkeypatch
):
    sink = kept_by_count(monkeypatch)
    source = Source(spark, tmp_path, "word STRING")
    source.add([("a",), ("b",)])
    query = words_by_count(source.table(streaming)).execute_insert(sink).get_job_client()
    found = []
    for rows in ([("b",)], [("a",), ("c",)]):
        for each in spark.streams.active:
            each.processAllAvailable()
        found.append(dict(Kept.rows))
        source.add(rows)
    for each in spark.streams.active:
        each.processAllAvailable()
    query.cancel().result()
    assert found == [{1: "b"}, {1: "a", 2: "b"}]
    assert Kept.rows == {1: "c", 2: "a"}


@pytest.mark.parametrize("strategy", ["NOTHING", "ERROR"])
def test_what_becomes_of_rows_that_meet_can_be_chosen(
    streaming, spark, tmp_path, monkeypatch, strategy
):
    streaming.create_temporary_table("kept", kept_by_count(monkeypatch))
    source = Source(spark, tmp_path, "word STRING")
    streaming.create_temporary_view("counted", words_by_count(source.table(streaming)))
    insert = f"INSERT INTO kept SELECT n, word FROM counted ON CONFLICT DO {strategy}"
    query = streaming.execute_sql(insert).get_job_client()
    found = []
    # Words that meet within a batch alone do not count.
    for rows in ([("a",)], [("b",), ("b",)], [("a",), ("c",)]):
        source.add(rows)
        for each in spark.streams.active:
            if strategy == "ERROR" and ("c",) in rows:
                conflict = "Several rows of the query have the key .n=2. of table .*kept"
                with pytest.raises(StreamingQueryException, match=conflict):
                    each.processAllAvailable()
            else:
                each.processAllAvailable()
        found.append(dict(Kept.rows))
    if strategy == "NOTHING":
        query.cancel().result()
        # The word that was left out is not looked for again.
        assert found == [{1: "a"}, {1: "a", 2: "b"}, {1: "c", 2: "b"}]
    else:
        assert found[:2] == [{1: "a"}, {1: "a", 2: "b"}]


def test_bounded_rows_that_meet_under_the_key_of_a_sink(streaming, monkeypatch):
    sink = kept_by_count(monkeypatch)
    Kept.rows[3] = "of another query"
    words = [("a",), ("b",), ("b",), ("c",), ("c",)]
    words_by_count(streaming.from_elements(words, ["word"])).execute_insert(sink).wait()
    assert Kept.rows == {1: "a", 2: "c", 3: "of another query"}


@pytest.mark.parametrize(("how", "operators"), [("AUTO", 1), ("NONE", 0), ("FORCE", 1)])
def test_what_keeps_rows_for_a_sink_can_be_chosen(
    streaming, spark, tmp_path, monkeypatch, how, operators
):
    streaming.get_config().set("table.exec.sink.upsert-materialize", how)
    sink = kept_by_count(monkeypatch)
    table = words_by_count(Source(spark, tmp_path, "word STRING").table(streaming))
    plan = streaming.create_statement_set()
    plan.add_insert(sink, table)
    optimized = plan.explain().split("== Optimized Logical Plan ==")[1].split("==")[0]
    assert optimized.count("TransformWithState") == 1 + operators
