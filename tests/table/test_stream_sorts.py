"""Unbounded tables in the order of a time attribute, as whole rows."""

from __future__ import annotations

import datetime
import random

import pytest
from pyspark.sql import Row

from pyflow.table.expressions import col
from pyflow.table.runtime.streams.ranks import SortColumn
from pyflow.table.runtime.streams.sorts import SortedRows
from pyflow.util.exceptions import TableException
from streams import Source, changes
from tws import TwsTester

MS = 1000


def test_rows_come_in_the_order_of_time_when_the_watermark_has_passed_them():
    for trial in range(30):
        rng = random.Random(trial)
        operator = SortedRows([SortColumn(1, False, False)], (1, 3), 3, ["v", "n"])
        tester = TwsTester(operator, timeMode="EventTime", eventTimeExtractor=lambda r: r.t // MS)
        timely, found, watermark, number = [], [], 0, 0
        for _ in range(5):
            batch = []
            for _ in range(rng.randrange(5)):
                t = watermark + rng.randrange(-1, 9)
                batch.append(Row(k=True, v=rng.randrange(3), n=number, t=t * MS, kind=0, s=number))
                number += 1
            timely += [row for row in batch if row.t > watermark * MS]
            found += tester.test(True, rng.sample(batch, len(batch))) if batch else []
            watermark += rng.randrange(1, 6)
            found += tester.setWatermark(watermark)
        found += tester.setWatermark(10_000)

        ordered = sorted(timely, key=lambda row: (row.t, -row.v, row.n))
        assert [row.n for row in found] == [row.n for row in ordered]
        states = [*tester.handle.value_states.values(), *tester.handle.map_states.values()]
        assert not any(any(each.state.values()) for each in states)


def at(second):
    return datetime.datetime(2024, 1, 1, 10, 0, second)


@pytest.mark.parametrize("mode", ["thread", pytest.param("process", marks=pytest.mark.complete)])
def test_an_order_by_event_time_goes_on_from_a_checkpoint(spark, streaming, tmp_path, mode):
    source = Source(spark, tmp_path, "k STRING; v BIGINT; at TIMESTAMP(3)")
    streaming.create_temporary_view("t", source.table(streaming, watermark=("at", 5)))
    table = streaming.sql_query("SELECT k, v FROM t ORDER BY at, v DESC")
    source.add([("a", 1, at(2)), ("b", 2, at(1)), ("c", 3, at(2)), ("d", 4, at(40))])

    first = changes(table, tmp_path / "checkpoint", mode)
    # One row is late.
    source.add([("e", 5, at(59)), ("f", 6, at(20)), ("g", 7, at(36))])
    second = changes(table, tmp_path / "checkpoint", mode)

    assert [row[1] for batch in first for row in batch] == ["b", "c", "a"]
    assert [row[1] for batch in second for row in batch] == ["g", "d"]


@pytest.mark.complete
def test_an_order_by_processing_time_orders_the_rows_of_a_batch(spark, streaming, tmp_path):
    source = Source(spark, tmp_path, "k STRING; v BIGINT")
    source.add([("b", 2), ("a", 1), ("c", 2)])
    source.add([("d", 0)])
    table = source.table(streaming, proctime="p").order_by(col("p"), col("v").desc)

    batches = changes(table.select(col("k")), tmp_path / "checkpoint")

    assert [[row[1] for row in batch] for batch in batches if batch] == [["b", "c", "a"], ["d"]]


def test_an_order_inside_a_query_means_nothing(spark, streaming, tmp_path):
    source = Source(spark, tmp_path, "v BIGINT; at TIMESTAMP(3)")
    streaming.create_temporary_view("t", source.table(streaming, watermark=("at", 5)))

    table = streaming.sql_query("SELECT v FROM (SELECT * FROM t ORDER BY at) WHERE v > 1")

    assert "TransformWithState" not in table.explain()


def test_rows_that_change_have_no_order_by_time(spark, streaming, tmp_path):
    source = Source(spark, tmp_path, "v BIGINT; at TIMESTAMP(3)")
    table = source.table(streaming, watermark=("at", 5), updating=True).order_by(col("at"))

    with pytest.raises(TableException, match="Sort doesn't support consuming update"):
        table.execute()
