"""OVER windows of unbounded tables: rows come when the watermark has passed them."""

from __future__ import annotations

import datetime
import random

import pytest
from pyspark.sql import Row

from pyflow.streaming.runtime import state_ttl as lifetimes
from pyflow.streaming.runtime.state_ttl import FOREVER, Lifetime
from pyflow.table import AggregateFunction, DataTypes
from pyflow.table.expressions import CURRENT_ROW, col, lit, row_interval
from pyflow.table.runtime.streams import aggregates
from pyflow.table.runtime.streams.frames import Lag, Recomputed
from pyflow.table.runtime.streams.over import Frame, OverRows
from pyflow.table.udf import udaf
from pyflow.table.window import Over
from pyflow.util.exceptions import TableException
from streams import Source, changes
from tws import TwsTester

MS = 1000


def at(second):
    return datetime.datetime(2024, 1, 1, 10, 0, second)


# The operator, in PySpark's own tester of processors


def operator(frame, event_time=True, lifetime=FOREVER):
    """Rows are a key, a number, which is the argument as well, and a time."""
    changes_of = frame.preceding is not None
    made = [
        (aggregates.make("sum", changes_of, ("BIGINT",), "bigint"), 0),
        (aggregates.make("min", changes_of, ("ANY",), "bigint"), 0),
        (aggregates.make("count", changes_of, ("BIGINT",), ""), None),
    ]
    if frame.preceding is not None:
        made.append((Recomputed(aggregates.make("max", False, ("ANY",), "bigint")), 0))
    names = ["v", "sum", "min", "count", "max"][: len(made) + 1]
    return OverRows(made, frame, 1, 1, 2, event_time, names, lifetime)


def in_event_time(frame):
    return TwsTester(
        operator(frame), timeMode="EventTime", eventTimeExtractor=lambda row: row.t // MS
    )


def frame_of(rows, place, frame):
    """The values of the frame of one of sorted rows, each a time and a value."""
    time = rows[place][0]
    end = place
    if not frame.by_rows:
        end = max(i for i, (other, _) in enumerate(rows) if other == time)
    if frame.preceding is None:
        first = 0
    elif frame.by_rows:
        first = max(0, place - frame.preceding)
    else:
        first = min(i for i, (other, _) in enumerate(rows) if other >= time - frame.preceding)
    return [value for _, value in rows[first : end + 1]]


FRAMES = [
    *(Frame(by_rows, None) for by_rows in (True, False)),
    *(Frame(True, count) for count in (0, 1, 3)),
    *(Frame(False, length * MS) for length in (0, 2, 7)),
]


@pytest.mark.parametrize("frame", FRAMES, ids=str)
def test_rows_come_in_the_order_of_time_with_the_values_of_their_frames(frame):
    for trial in range(30):
        rng = random.Random(trial)
        made, watermark = in_event_time(frame), 0
        timely, emitted = [], []
        for place in range(rng.randrange(1, 8)):
            batch = [
                (max(1, watermark + rng.randrange(-1, 8)), rng.randrange(9))
                for _ in range(rng.randrange(0, 5))
            ]
            batch = [(time * MS, value) for time, value in batch]
            timely += [row for row in batch if row[0] > watermark * MS]
            rows = [Row(k="a", v=v, t=t, kind=0, place=place * 9 + i) for i, (t, v) in
                    enumerate(batch)]  # fmt: skip
            emitted += made.test("a", rows)
            watermark += rng.randrange(1, 6)
            emitted += made.setWatermark(watermark)
        emitted += made.setWatermark(1000)
        timely.sort(key=lambda row: row[0])
        expected = []
        for place, (_, value) in enumerate(timely):
            values = frame_of(timely, place, frame)
            results = (sum(values), min(values), len(values), max(values))
            expected.append((value, *results)[: len(emitted[0])])
        assert [tuple(row) for row in emitted] == expected


def test_what_no_later_row_can_need_is_not_kept():
    made = in_event_time(Frame(False, 5 * MS))
    made.test("a", [Row(k="a", v=1, t=10 * MS, kind=0, place=1)])
    made.setWatermark(12)
    states = [*made.handle.value_states.values(), *made.handle.map_states.values()]
    assert any(each.state for each in states)

    made.setWatermark(15)

    assert not any(each.state for each in states)
    assert not list(made.handle._timers.getAllKeysWithTimers())


@pytest.mark.parametrize("frame", [Frame(True, 2), Frame(True, None), Frame(False, None)])
def test_a_partition_that_has_expired_goes_when_the_watermark_moves_on(frame, monkeypatch):
    now = 1000.0
    monkeypatch.setattr(lifetimes.time, "time", lambda: now)
    processor = operator(frame, lifetime=Lifetime(10))
    made = TwsTester(processor, timeMode="EventTime", eventTimeExtractor=lambda row: row.t // MS)
    states = [*made.handle.value_states.values(), *made.handle.map_states.values()]

    made.test("a", [Row(k="a", v=1, t=10 * MS, kind=0, place=1)])
    assert [row["sum"] for row in made.setWatermark(12)] == [1]
    for elapsed, watermark, is_kept in [(9, 10_013, True), (2, 10_014, True), (0, 20_014, False)]:
        now += elapsed
        made.setWatermark(watermark)
        assert any(any(each.state.values()) for each in states) == is_kept

    assert not list(made.handle._timers.getAllKeysWithTimers())


def test_rows_of_a_processing_time_come_at_once():
    made = TwsTester(operator(Frame(False, 5 * MS), event_time=False))
    first = made.test("a", [Row(k="a", v=v, t=10 * MS, kind=0, place=v) for v in (1, 2)])
    second = made.test("a", [Row(k="a", v=4, t=15 * MS, kind=0, place=1)])
    third = made.test("a", [Row(k="a", v=8, t=16 * MS, kind=0, place=1)])
    # A clock that has been set back.
    fourth = made.test("a", [Row(k="a", v=16, t=1 * MS, kind=0, place=1)])

    assert [row["sum"] for row in (*first, *second, *third, *fourth)] == [3, 3, 7, 12, 28]


def test_rows_of_a_processing_time_go_when_their_interval_is_over():
    processor = operator(Frame(False, 5 * MS), event_time=False, lifetime=Lifetime(0, sweeps=True))
    made = TwsTester(processor, timeMode="ProcessingTime")
    made.setProcessingTime(10)
    made.test("a", [Row(k="a", v=1, t=10 * MS, kind=0, place=1)])
    states = [*made.handle.value_states.values(), *made.handle.map_states.values()]
    made.setProcessingTime(14)
    assert any(each.state for each in states)

    made.setProcessingTime(15)

    assert not any(each.state for each in states)
    assert not list(made.handle._timers.getAllKeysWithTimers())


def test_lag_is_the_value_of_a_row_before():
    made = OverRows(
        [(Lag(2), (0, 1))], Frame(True, None), 1, 2, 3, False, ["v", "d", "lag"], FOREVER
    )
    rows = [Row(k="a", v=v, d=-v, t=1, kind=0, place=v) for v in range(1, 5)]

    assert [row["lag"] for row in TwsTester(made).test("a", rows)] == [-1, -2, 1, 2]


# Queries


class Total(AggregateFunction):
    """Retracts what has left the frame."""

    def create_accumulator(self):
        return [0]

    def accumulate(self, accumulator, value):
        accumulator[0] += value

    def retract(self, accumulator, value):
        accumulator[0] -= value

    def get_value(self, accumulator):
        return accumulator[0]

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.BIGINT())

    def get_result_type(self):
        return DataTypes.BIGINT()


class Product(Total):
    """Takes nothing back."""

    retract = AggregateFunction.retract

    def create_accumulator(self):
        return [1]

    def accumulate(self, accumulator, value):
        accumulator[0] *= value


@udaf(result_type="DOUBLE", func_type="pandas")
def mean(values):
    return values.mean()


# Keys, numbers, seconds; in the second batch a late row, too. The last of each goes on waiting.
BATCHES = [
    [("a", 1, 2), ("a", 2, 1), ("b", 7, 3), ("a", 3, 2), ("b", 0, 40)],
    [("a", 99, 20), ("a", 4, 41), ("b", 5, 36), ("b", 2, 59)],
]
FIRST = [
    ("a", 2, 2, 2, 2.0, 1),
    ("a", 1, 6, 6, 2.0, 3),
    ("a", 3, 6, 6, 2.0, 3),
    ("b", 7, 7, 7, 7.0, 1),
]
SECOND = [("b", 5, 5, 5, 5.0, 1), ("b", 0, 5, 0, 2.5, 2), ("a", 4, 4, 4, 4.0, 1)]


@pytest.mark.parametrize("mode", ["thread", pytest.param("process", marks=pytest.mark.complete)])
def test_aggregates_of_an_interval_go_on_from_a_checkpoint(spark, streaming, tmp_path, mode):
    source = Source(spark, tmp_path, "k STRING; v BIGINT; at TIMESTAMP(3)")
    add = lambda rows: source.add([(k, v, at(second)) for k, v, second in rows])  # noqa: E731
    window = Over.partition_by(col("k")).order_by(col("at")).preceding(lit(10).seconds).alias("w")
    calls = [
        udaf(Total())(col("v")),
        udaf(Product())(col("v")),
        mean(col("v")),
        col("v").count,
    ]
    table = source.table(streaming, watermark=("at", 5)).over_window(window)
    table = table.select(col("k"), col("v"), *(call.over(col("w")) for call in calls))

    add(BATCHES[0])
    first = changes(table, tmp_path / "checkpoint", mode)
    add(BATCHES[1])
    second = changes(table, tmp_path / "checkpoint", mode)

    assert sorted(row[1:] for batch in first for row in batch) == sorted(FIRST)
    assert sorted(row[1:] for batch in second for row in batch) == sorted(SECOND)


def test_rows_are_counted_in_the_order_of_their_arrival(spark, streaming, tmp_path):
    source = Source(spark, tmp_path, "k STRING; v BIGINT")
    streaming.create_temporary_view("t", source.table(streaming, proctime="p"))
    query = (
        "SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY p ROWS BETWEEN 1 PRECEDING AND "
        "CURRENT ROW), COUNT(*) OVER (PARTITION BY k ORDER BY p) "
        "FROM t"
    )
    source.add([("a", 1), ("b", 2), ("a", 3)])
    source.add([("a", 5)])
    table = streaming.sql_query(query)

    found = [row for batch in changes(table, tmp_path / "checkpoint") for row in batch]

    assert [row[1:] for row in found if row[1] == "a"] == [
        ("a", 1, 1, 1),
        ("a", 3, 4, 2),
        ("a", 5, 8, 3),
    ]
    assert [row[1:] for row in found if row[1] == "b"] == [("b", 2, 2, 1)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("SUM(v) OVER (ORDER BY v)", "must be defined on a time attribute"),
        ("SUM(v) OVER (ORDER BY at DESC)", "must be defined on a time attribute"),
        ("RANK() OVER (ORDER BY at)", "RANK Function is not supported in stream mode"),
        ("LEAD(v) OVER (ORDER BY at)", "LEAD Function is not supported in stream mode"),
        (
            "SUM(v) OVER (ORDER BY at ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING)",
            "OVER ROWS FOLLOWING windows are not supported yet",
        ),
        ("mean(v) OVER (ORDER BY at)", "pandas aggregate function mean needs an OVER window that"),
        ("PERCENTILE(v, 0.5) OVER (ORDER BY at)", "PERCENTILE.*not supported"),
    ],
)
def test_what_over_windows_cannot_be_is_named_at_planning(
    spark, streaming, tmp_path, call, message
):
    source = Source(spark, tmp_path, "v BIGINT; at TIMESTAMP(3)")
    streaming.create_temporary_view("t", source.table(streaming, watermark=("at", 5)))
    streaming.create_temporary_function("mean", mean)

    with pytest.raises(TableException, match=message):
        streaming.sql_query(f"SELECT {call} FROM t")


def test_changes_have_no_over_window(spark, streaming, tmp_path):
    source = Source(spark, tmp_path, "k STRING; at TIMESTAMP(3)")
    table = source.table(streaming, watermark=("at", 5), updating=True)
    window = Over.order_by(col("at")).preceding(row_interval(2)).following(CURRENT_ROW).alias("w")

    with pytest.raises(TableException, match="doesn't support consuming update and delete"):
        table.over_window(window).select(col("k").count.over(col("w")))
