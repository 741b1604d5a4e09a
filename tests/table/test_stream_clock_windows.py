"""Windows by the processing time end by the clock, whether rows come or not."""

from __future__ import annotations

import datetime

import pytest
from pyspark.sql import Row
from pyspark.sql.streaming import TwsTester

from comparison import settings
from pyflow.table.expressions import col, lit
from pyflow.table.runtime.streams import aggregates
from pyflow.table.runtime.streams.window_groups import WindowGroups
from pyflow.table.udf import udaf
from pyflow.table.window import Session, Slide
from pyflow.util.exceptions import TableException
from streams import Source

ROWS = [("a", 1), ("b", 5), ("a", 3)]


@pytest.fixture
def source(spark, tmp_path):
    made = Source(spark, tmp_path, "k STRING; v BIGINT")
    made.add(ROWS)
    return made


def first(table, count):
    """The first rows that a query gives."""
    with table.execute().collect() as rows:
        return [tuple(next(rows)) for _ in range(count)]


def test_a_window_gives_its_groups_when_the_clock_has_passed_it():
    functions = [
        (aggregates.make("sum", False, ("BIGINT",), "bigint"), 1),
        (aggregates.Distinct(aggregates.make("count", False, ("BIGINT",), ""), "bigint"), 1),
    ]
    tester = TwsTester(WindowGroups(functions, 2, ["k", "s", "n"]), timeMode="ProcessingTime")
    for place, value in enumerate((1, 2, 2)):
        row = Row(k="a", v=value, end=10_000, kind=0, place=place)
        assert tester.test("a", [row]) == []
    assert tester.setProcessingTime(9) == []

    assert [tuple(row) for row in tester.setProcessingTime(10)] == [("a", 5, 2)]

    states = [*tester.handle.value_states.values(), *tester.handle.map_states.values()]
    assert not any(any(each.state.values()) for each in states)


@pytest.mark.parametrize("mode", ["thread", pytest.param("process", marks=pytest.mark.complete)])
def test_windows_of_a_table_function(spark, streaming, source, mode):
    streaming.create_temporary_view("t", source.table(streaming, proctime="p"))
    table = streaming.sql_query(
        "SELECT k, window_start, window_end, SUM(v) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(p), "
        "INTERVAL '2' SECOND)) GROUP BY k, window_start, window_end"
    )

    with settings(spark, {"spark.pyflow.execution-mode": mode}):
        found = first(table, 2)

    assert sorted((k, total) for k, _, _, total in found) == [("a", 4), ("b", 5)]
    for _, start, end, _ in found:
        assert end - start == datetime.timedelta(seconds=2)
        assert start.second % 2 == 0


@udaf(result_type="DOUBLE", func_type="pandas")
def mean(values):
    return values.mean()


@pytest.mark.complete
def test_sliding_group_windows_of_a_table(streaming, source):
    window = Slide.over(lit(4).seconds).every(lit(2).seconds).on(col("p")).alias("w")
    table = source.table(streaming, proctime="p").window(window).group_by(col("w"))
    table = table.select(mean(col("v")), col("w").start, col("w").end)

    found = sorted(first(table, 2), key=lambda row: row[1])

    assert [row[0] for row in found] == [3.0, 3.0]
    assert found[1][1] - found[0][1] == datetime.timedelta(seconds=2)


def test_what_windows_of_the_processing_time_cannot_be(streaming, source):
    table = source.table(streaming, proctime="p")
    streaming.create_temporary_view("t", table)
    session = "SELECT k FROM TABLE(SESSION(TABLE t, DESCRIPTOR(p), INTERVAL '2' SECOND))"
    top = (
        "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end "
        "ORDER BY v) AS n FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(p), INTERVAL '2' SECOND))) "
        "WHERE n = 1"
    )
    with pytest.raises(TableException, match="SESSION by processing time is not carried"):
        streaming.sql_query(session)
    with pytest.raises(TableException, match="Top-N and joins in them are not carried"):
        streaming.sql_query(top)
    window = Session.with_gap(lit(1).seconds).on(col("p")).alias("w")
    with pytest.raises(TableException, match="not carried for sessions"):
        table.window(window).group_by(col("w")).select(col("v").sum)
