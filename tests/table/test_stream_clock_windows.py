"""Windows by the processing time end by the clock, whether rows come or not."""

from __future__ import annotations

import datetime
import itertools
import random
import time

import pytest
from pyspark.sql import Row

from comparison import settings
from pyflow.table.data_view import ListView
from pyflow.table.expressions import col, lit, row_interval
from pyflow.table.runtime.streams import aggregates
from pyflow.table.runtime.streams.clock_sessions import ClockSessionGroups, ClockSessionRows
from pyflow.table.runtime.streams.joins import Side
from pyflow.table.runtime.streams.ranks import SortColumn
from pyflow.table.runtime.streams.window_groups import SlidingNumberGroups, WindowGroups
from pyflow.table.runtime.streams.windows import WindowJoin, WindowRanks
from pyflow.table.types import DataTypes
from pyflow.table.udf import AggregateFunction, udaf
from pyflow.table.window import Session, Slide, Tumble
from pyflow.util.exceptions import TableException
from sessions import wait_until
from streams import Source, changes
from tws import TwsTester

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

    assert not kept(tester)


def kept(tester):
    """The names of states in which something is left, and timers."""
    handle = tester.handle
    states = {**handle.value_states, **handle.map_states, **handle.list_states}
    found = [name for name, each in states.items() if any(each.state.values())]
    return [*found, *handle._timers.getAllKeysWithTimers()]


def in_batches(processor, batches):
    """What an operator emits in batches, each with its time and a key's rows, and when they end."""
    tester = TwsTester(processor, timeMode="ProcessingTime")
    emitted = []
    for now, rows in [*batches, (1 << 40, [])]:
        # Spark has the timers of a batch behind its rows.
        tester._currentProcessingTimeMs = now
        found = tester.test("a", rows) if rows else []
        emitted += [(now, *row) for row in [*found, *tester._handleExpiredTimers()]]
    assert not kept(tester)
    return emitted


@pytest.mark.parametrize("grouped", [True, False])
def test_a_session_ends_some_time_after_its_last_row(grouped):
    gap = 5
    for trial in range(50):
        rng = random.Random(trial)
        times = list(itertools.accumulate(rng.randrange(1, 9) for _ in range(12)))
        places = itertools.count()
        batches = [
            (now, [Row(k="a", v=place, kind=0, place=place) for place, _ in
                   zip(places, range(rng.choice([0, 0, 1, 3])))])
            for now in times
        ]  # fmt: skip
        functions = [(aggregates.make("collect", False, ("BIGINT",), "bigint"), 1)]
        processor = (
            ClockSessionGroups(functions, gap, ["k", "start", "end", "v"])
            if grouped
            else ClockSessionRows((1, 2), gap, ["v", "start", "end"])
        )

        found = in_batches(processor, batches)

        if grouped:
            found = [(n, v, s, e) for n, _, s, e, values in found for v in sorted(values)]
        assert found == list(sessions_of(batches, gap))


def sessions_of(batches, gap):
    """Each row with its session, by the time of the batch in which it has ended."""
    session = []
    for now, rows in [*batches, (1 << 40, [])]:
        if session and session[-1][0] + gap <= now:
            start, end = session[0][0], session[-1][0] + gap
            yield from ((now, v, start * 1000, end * 1000) for _, v in session)
            session = []
        session += [(now, row.v) for row in rows]


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


IDLING = {
    "tumbling": "SELECT k, window_end, SUM(v) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(p), "
    "INTERVAL '8' SECOND)) GROUP BY k, window_start, window_end",
    "sessions": "SELECT k, SESSION_END(p, INTERVAL '8' SECOND), SUM(v) FROM t "
    "GROUP BY k, SESSION(p, INTERVAL '8' SECOND)",
    "ranks": "SELECT k, window_end, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY "
    "window_start, window_end, k ORDER BY v DESC) AS n FROM TABLE(TUMBLE(TABLE t, "
    "DESCRIPTOR(p), INTERVAL '8' SECOND))) WHERE n = 1",
}


@pytest.mark.complete
@pytest.mark.parametrize(
    ("query", "mode"),
    [
        ("tumbling", "thread"),
        *(
            pytest.param(query, mode, marks=pytest.mark.complete)
            for query in IDLING
            for mode in ("thread", "process")
            if (query, mode) != ("tumbling", "thread")
        ),
    ],
)
def test_a_query_runs_a_batch_when_a_window_ends_and_none_before(
    spark, streaming, source, query, mode
):
    streaming.create_temporary_view("t", source.table(streaming, proctime="p"))
    others = {other.id for other in spark.streams.active}

    with settings(spark, {"spark.pyflow.execution-mode": mode}):
        result = streaming.sql_query(IDLING[query]).execute()
    with result.collect() as rows:
        found = [tuple(next(rows)) for _ in range(2)]
        (running,) = [each for each in spark.streams.active if each.id not in others]
        ends = sorted({end.replace(tzinfo=None) for _, end, _ in found})

        def batches():
            return {each["batchId"]: each for each in running.recentProgress}

        wait_until(lambda: len(batches()) > len(ends), "the last batch has ended")
        time.sleep(2)
        progress = batches()

    # One with the rows, and one for each end of a window.
    *before, last = [progress.pop(batch) for batch in range(1 + len(ends))]
    assert not progress
    begun, free = begin_of(last), begin_of(before[-1]) + duration_of(before[-1])
    assert begun - max(ends[-1], free) < datetime.timedelta(seconds=3)


def begin_of(batch):
    return datetime.datetime.fromisoformat(batch["timestamp"]).replace(tzinfo=None)


def duration_of(batch):
    return datetime.timedelta(milliseconds=batch["durationMs"]["triggerExecution"])


@pytest.mark.parametrize(("now", "ended"), [(4, 11), (10, 10)])
def test_top_n_and_joins_of_a_window_come_when_the_clock_has_passed_it(now, ended):
    ranks = WindowRanks([SortColumn(1, False, False)], 1, 2, (1, 2), True, 2, True, ["v", "n"])
    rows = [Row(k="a", v=v, end=10_000, kind=0, place=v) for v in (2, 1, 3)]
    assert in_batches(ranks, [(now, rows), (11, [])]) == [(ended, 3, 1), (ended, 2, 2)]

    join = WindowJoin("full", Side(2, 3, 1, ""), Side(3, 4, 1, ""), [], 1, 4, True, ["l", "r"])
    rows = [Row(k="a", left=left, l=1, r=2, end=10_000, kind=0, place=left) for left in (1, 0)]
    assert in_batches(join, [(now, rows), (11, [])]) == [(ended, 1, 2)]


SESSIONS = [
    "SELECT k, SESSION_START(p, INTERVAL '2' SECOND), SESSION_END(p, INTERVAL '2' SECOND), SUM(v) "
    "FROM t GROUP BY k, SESSION(p, INTERVAL '2' SECOND)",
    "SELECT k, window_start, window_end, SUM(v) FROM TABLE(SESSION(TABLE t PARTITION BY k, "
    "DESCRIPTOR(p), INTERVAL '2' SECOND)) GROUP BY k, window_start, window_end",
]


@pytest.mark.parametrize(
    "query", [SESSIONS[0], pytest.param(SESSIONS[1], marks=pytest.mark.complete)]
)
@pytest.mark.parametrize("mode", ["thread", pytest.param("process", marks=pytest.mark.complete)])
def test_sessions_of_a_query(spark, streaming, source, query, mode):
    streaming.create_temporary_view("t", source.table(streaming, proctime="p"))

    with settings(spark, {"spark.pyflow.execution-mode": mode}):
        found = first(streaming.sql_query(query), 2)

    assert sorted((k, total) for k, _, _, total in found) == [("a", 4), ("b", 5)]
    for _, start, end, _ in found:
        assert end - start == datetime.timedelta(seconds=2)


@pytest.mark.complete
def test_sessions_of_the_table_api(streaming, source):
    window = Session.with_gap(lit(2).seconds).on(col("p")).alias("w")
    table = source.table(streaming, proctime="p").window(window).group_by(col("w"))
    table = table.select(mean(col("v")), col("w").start, col("w").end)

    ((average, start, end),) = first(table, 1)

    assert (average, end - start) == (3.0, datetime.timedelta(seconds=2))


@pytest.mark.complete
def test_rows_of_sessions_without_a_partition(streaming, source):
    streaming.create_temporary_view("t", source.table(streaming, proctime="p"))
    table = streaming.sql_query(
        "SELECT k, v, window_time FROM TABLE(SESSION(TABLE t, DESCRIPTOR(p), INTERVAL '2' SECOND))"
    )

    found = first(table, 3)

    assert sorted((k, v) for k, v, _ in found) == sorted(ROWS)
    assert len({at for _, _, at in found}) == 1


@pytest.mark.complete
def test_a_session_goes_on_from_batch_to_batch_and_ends_after_a_restart(
    streaming, source, tmp_path
):
    source.add([("a", 10)])
    streaming.create_temporary_view("t", source.table(streaming, proctime="p"))
    table = streaming.sql_query(
        "SELECT k, SUM(v), SESSION_START(p, INTERVAL '20' SECOND), SESSION_END(p, INTERVAL '20' "
        "SECOND) FROM t GROUP BY k, SESSION(p, INTERVAL '20' SECOND)"
    )
    rows = []

    def run(until):
        writer = table._relation.frame.writeStream.foreachBatch(
            lambda frame, _: rows.extend(map(tuple, frame.collect()))
        )
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
        query = writer.trigger(processingTime="1 second").start()
        try:
            deadline = time.monotonic() + 120
            while not until(query) and query.isActive and time.monotonic() < deadline:
                time.sleep(0.2)
        finally:
            query.stop()
        assert query.exception() is None

    def both_files_are_read(query):
        return (query.lastProgress or {"batchId": -1})["batchId"] >= 1

    run(both_files_are_read)
    assert rows == []
    # A query of Spark that goes on runs no batch without rows, unless it has to repeat one.
    source.add([("c", 1)])
    run(lambda query: {"a", "b"} <= {row[0] for row in rows})

    found = {k: (total, end - start) for k, total, start, end in rows if k != "c"}
    assert {k: total for k, (total, _) in found.items()} == {"a": 14, "b": 5}
    assert found["b"][1] == datetime.timedelta(seconds=20) < found["a"][1]


@udaf(result_type="DOUBLE", func_type="pandas")
def mean(values):
    return values.mean()


@pytest.mark.complete
def test_windows_of_so_many_bounded_rows_by_processing_time(streaming):
    streaming.create_temporary_view("t", streaming.from_elements(ROWS, ["k", "v"]))
    window = Tumble.over(row_interval(2)).on(col("p")).alias("w")
    table = streaming.sql_query("SELECT *, PROCTIME() AS p FROM t").window(window)

    assert first(table.group_by(col("w")).select(col("v").sum), 1) == [(6,)]


def test_windows_of_so_many_rows(streaming, source, tmp_path):
    source.add([("a", 7), ("b", 2), ("a", 9)])
    window = Tumble.over(row_interval(2)).on(col("p")).alias("w")
    table = source.table(streaming, proctime="p").window(window)
    distinct = col("v").count.distinct

    keys = table.group_by(col("k"), col("w")).select(col("k"), col("v").sum, distinct)
    found = changes(keys, tmp_path / "keys")
    assert [sorted(batch) for batch in found] == [
        [("+I", "a", 4, 2)],
        [("+I", "a", 16, 2), ("+I", "b", 7, 2)],
    ]
    everything = table.group_by(col("w")).select(col("v").sum)
    assert changes(everything, tmp_path / "all") == [[("+I", 6)], [("+I", 10), ("+I", 11)]]


@pytest.mark.parametrize(("size", "slide"), [(3, 1), (4, 2), (5, 3), (2, 3), (1, 1)])
def test_windows_of_so_many_rows_slide(size, slide):
    rng = random.Random(size)
    values = [rng.choice([None, 1, 2, 3]) for _ in range(17)]
    functions = [
        (aggregates.make("sum", False, ("BIGINT",), "bigint"), 1),
        (aggregates.Distinct(aggregates.make("count", False, ("BIGINT",), ""), "bigint"), 1),
    ]
    processor = SlidingNumberGroups(functions, size, slide, 1, ["k", "s", "n"])
    tester = TwsTester(processor)
    found, place = [], 0
    while place < len(values):
        batch = range(place, min(place + rng.choice([1, 2, 5]), len(values)))
        rows = [Row(k="a", v=values[each], kind=0, place=each) for each in reversed(batch)]
        found += [tuple(row) for row in tester.test("a", rows)]
        place = batch.stop

    windows = [values[at : at + size] for at in range(0, len(values) - size + 1, slide)]
    there = [[value for value in window if value is not None] for window in windows]
    assert found == [("a", sum(each) if each else None, len(set(each))) for each in there]
    kept_rows = tester.handle.map_states["rows"].state.values()
    assert sum(map(len, kept_rows)) < size


class Total(AggregateFunction):
    """A sum that keeps its rows, in a view."""

    def create_accumulator(self):
        return [ListView()]

    def accumulate(self, accumulator, value):
        accumulator[0].add(value)

    def get_value(self, accumulator):
        return sum(accumulator[0].get())

    def get_accumulator_type(self):
        return DataTypes.ROW([DataTypes.FIELD("f", DataTypes.LIST_VIEW(DataTypes.BIGINT()))])

    def get_result_type(self):
        return DataTypes.BIGINT()


@pytest.mark.parametrize("mode", ["thread", pytest.param("process", marks=pytest.mark.complete)])
def test_sliding_windows_of_so_many_rows(streaming, source, tmp_path, mode):
    source.add([("a", 7), ("b", 2), ("a", 9), ("a", 2)])
    window = Slide.over(row_interval(3)).every(row_interval(1)).on(col("p")).alias("w")
    table = source.table(streaming, proctime="p").window(window)
    kept_sum, distinct = udaf(Total()), col("v").count.distinct

    keys = table.group_by(col("k"), col("w"))
    keys = keys.select(col("k"), col("v").sum, distinct, kept_sum(col("v")), mean(col("v")))
    assert changes(keys, tmp_path / "keys", mode) == [
        [],
        [("+I", "a", total, 3, total, total / 3) for total in (11, 19, 18)],
    ]


TUMBLE = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(p), INTERVAL '2' SECOND))"


@pytest.mark.complete
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param(
            "SELECT k, total, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, "
            "window_end ORDER BY total) AS n FROM (SELECT window_start, window_end, k, SUM(v) AS "
            f"total FROM {TUMBLE} GROUP BY k, window_start, window_end)) WHERE n <= 2",
            [("a", 4, 1), ("b", 5, 2)],
            id="ranks of groups",
        ),
        pytest.param(
            "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, "
            f"k ORDER BY window_time) AS n FROM {TUMBLE}) WHERE n = 1",
            [("a", 1), ("b", 5)],
            id="the first to come",
        ),
        pytest.param(
            "SELECT window_end > window_start, COUNT(*) FROM (SELECT *, ROW_NUMBER() OVER ("
            f"PARTITION BY window_start, window_end ORDER BY v DESC) AS n FROM {TUMBLE}) "
            "WHERE n <= 2 GROUP BY window_start, window_end",
            [(True, 2)],
            id="groups of ranks",
        ),
        pytest.param(
            f"SELECT l.k, l.v, r.total FROM {TUMBLE} l JOIN (SELECT k, window_start, window_end, "
            f"SUM(v) AS total FROM {TUMBLE} GROUP BY k, window_start, window_end) r ON l.k = r.k "
            "AND l.window_start = r.window_start AND l.window_end = r.window_end",
            [("a", 1, 4), ("a", 3, 4), ("b", 5, 5)],
            id="join of rows and groups",
        ),
        pytest.param(
            f"SELECT l.k, r.v FROM {TUMBLE} l LEFT JOIN {TUMBLE} r ON l.v = r.v + 2 "
            "AND l.window_start = r.window_start AND l.window_end = r.window_end",
            [("a", None), ("a", 1), ("b", 3)],
            id="outer join",
        ),
    ],
)
def test_ranks_and_joins_in_windows(streaming, source, query, expected):
    streaming.create_temporary_view("t", source.table(streaming, proctime="p"))

    found = first(streaming.sql_query(query), len(expected))

    assert sorted(found, key=repr) == sorted(expected, key=repr)


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
    last = (
        "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end "
        f"ORDER BY window_time DESC) AS n FROM {TUMBLE}) WHERE n = 1"
    )
    with pytest.raises(TableException, match="last rows of a window in the order"):
        streaming.sql_query(last)
    for wrong, message in [
        (Slide.over(row_interval(2)).every(lit(1).seconds), "the same type of size and slide"),
        (Slide.over(row_interval(2)).every(row_interval(0)), "must be positive, but was 0 rows"),
        (Tumble.over(row_interval(0)), "must be positive, but was 0 rows"),
    ]:
        grouped = table.window(wrong.on(col("p")).alias("w")).group_by(col("w"))
        with pytest.raises(TableException, match=message):
            grouped.select(col("v").sum)
    window = Tumble.over(row_interval(2)).on(col("v")).alias("w")
    with pytest.raises(TableException, match="Event-time grouping windows on row intervals"):
        table.window(window).group_by(col("w")).select(col("v").sum)
