"""Processors that keep state, in a stream and in a batch: the same as in process mode.

A query stops in one mode and goes on in the other: what one has written to the state store is what
the other reads.
"""

# ruff: noqa: N802, N803

from __future__ import annotations

import datetime
import decimal
import itertools
import sys

import pytest
from pyspark.errors import PythonException
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor

from comparison import exact, failure, settings
from deployments import PROGRAMS, run
from sessions import MODE
from stateful_streams import (
    BERLIN,
    MODES,
    STORE,
    TURNS,
    Failing,
    check_failure,
    check_stream,
    in_sequences,
    last_lines,
    rows,
)

pytest.importorskip("google.protobuf", reason="process mode sends requests for state with it")


class Everything(StatefulProcessor):
    """Uses all kinds of state, and shows what it is given."""

    def init(self, handle):
        self.count = handle.getValueState("count", "n long, price decimal(20,2)")
        self.seen = handle.getListState("seen", "n int, at timestamp, bytes binary")
        self.by_day = handle.getMapState(
            "by_day", "day date", "n short, pair struct<a: int, b: array<string>>"
        )

    def handleInputRows(self, key, rows, timerValues):
        told = []
        old = self.count.get()
        told.append((self.count.exists(), old))
        count, price = old or (0, decimal.Decimal(0))
        for row in rows:
            count += 1
            price += row.price
            told.append(row)
            self.seen.appendValue((row.n, row.at.replace(tzinfo=None), row.bytes))
            if not self.by_day.containsKey((row.day,)):
                self.by_day.updateValue((row.day,), (row.n, (1, [row.k, None])))
        self.count.update((count, price))
        told.append(list(self.seen.get()))
        if count > 4:
            self.seen.put([(-1, None, b"x"), (-2, datetime.datetime(2024, 10, 27, 2, 30), None)])
            self.seen.appendList([(-3, None, None)])
            self.by_day.removeKey((datetime.date(2024, 1, 1),))
        told += [self.by_day.iterator(), self.by_day.keys(), self.by_day.values()]
        told.append(self.by_day.getValue((datetime.date(2024, 1, 2),)))
        text = repr(
            [
                list(t)
                if isinstance(t, (type(iter([])), itertools.chain))
                else (t if not hasattr(t, "__next__") else list(t))
                for t in told
            ]
        )
        yield Row(k=key[0], n=count, told=text, price=price, none=None, list=[1, None], also="x")
        if count > 6:
            self.count.clear()
            self.by_day.clear()
            self.seen.clear()


def everything(source):
    return source.groupBy("k").transformWithState(
        Everything(),
        "told string, k string, n int, price decimal(20,2), none long, list array<int>",
        "append",
        "none",
    )


@in_sequences(MODES)
def test_all_kinds_of_state(spark, tmp_path, sequences):
    """A batch has more rows of a key than it takes to change state again."""
    check_stream(spark, tmp_path, everything, sequences, conf=BERLIN, per_batch=16)


class Inexact(StatefulProcessor):
    """Gives the state values that are not exactly of its types."""

    def init(self, handle):
        self.state = handle.getValueState("state", "a int, b string, c double, d long")

    def handleInputRows(self, key, rows, timerValues):
        import numpy

        before = self.state.get()
        self.state.update([numpy.int64(len(list(rows))), 5, 1, 2**70])
        yield Row(k=key[0], before=str(before), now=str(self.state.get()), n=numpy.int32(3))


def inexact(source):
    return source.groupBy("k").transformWithState(
        Inexact(), "k string, before string, now string, n long", "append", "none"
    )


@pytest.mark.complete
def test_values_of_other_types(spark, tmp_path):
    check_stream(spark, tmp_path, inexact)


class EventTimers(StatefulProcessor):
    def init(self, handle):
        self.handle = handle
        self.last = handle.getValueState("last", "n long")

    def handleInputRows(self, key, rows, timerValues):
        last = max(row.n for row in rows)
        self.last.update((last,))
        self.handle.registerTimer(last * 10_000 + 5_000)
        self.handle.registerTimer(last * 10_000 + 10**9)
        self.handle.deleteTimer(last * 10_000 + 10**9)
        yield Row(
            k=key[0],
            what="rows",
            n=timerValues.getCurrentWatermarkInMs(),
            timers=str(sorted(self.handle.listTimers())),
        )

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
        yield Row(
            k=key[0],
            what=f"timer {expiredTimerInfo.getExpiryTimeInMs()} {self.last.get()}",
            n=timerValues.getCurrentWatermarkInMs(),
            timers=str(sorted(self.handle.listTimers())),
        )


@in_sequences(MODES)
def test_timers_of_event_time(spark, tmp_path, sequences):
    def make(source):
        return (
            source.withWatermark("at", "1 second")
            .groupBy("k")
            .transformWithState(
                EventTimers(), "k string, what string, n long, timers string", "append", "eventTime"
            )
        )

    seen = check_stream(spark, tmp_path, make, sequences)
    assert "timer" in str(seen)


class Expiring(StatefulProcessor):
    """State that is gone in the next batch, and timers that have expired by then."""

    def init(self, handle):
        self.handle = handle
        self.short = handle.getValueState("short", "n long", ttlDurationMs=1)
        self.long = handle.getValueState("long", "n long", ttlDurationMs=10**7)
        self.list = handle.getListState("list", "n long", 1)
        self.map = handle.getMapState("map", "n long", "v long", 10**7)

    def handleInputRows(self, key, rows, timerValues):
        n = len(list(rows))
        seen = [
            self.short.get(),
            self.long.get(),
            list(self.list.get()),
            list(self.map.iterator()),
            timerValues.getCurrentProcessingTimeInMs() > 10**12,
        ]
        self.short.update((n,))
        self.long.update((n,))
        self.list.put([(n,)])
        self.map.updateValue((n,), (n,))
        self.handle.registerTimer(timerValues.getCurrentProcessingTimeInMs() + 1)
        yield Row(k=key[0], seen=str(seen))

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
        yield Row(k=key[0], seen=f"timer {self.long.get()}")


@pytest.mark.complete
@in_sequences(MODES)
def test_expiry_and_timers_of_processing_time(spark, tmp_path, sequences):
    def make(source):
        return source.groupBy("k").transformWithState(
            Expiring(), "k string, seen string", "append", "processingTime"
        )

    def finished(rows, batches):
        timers = sum("timer" in row.seen for row in rows)
        return timers == len(rows) - timers == 3 * batches

    check_stream(spark, tmp_path, make, sequences, finished=finished)


class Initial(StatefulProcessor):
    def init(self, handle):
        self.sum = handle.getValueState("sum", "n long")

    def handleInitialState(self, key, initialState, timerValues):
        old = self.sum.get()
        self.sum.update(((old[0] if old else 0) + initialState.start,))

    def handleInputRows(self, key, rows, timerValues):
        old = self.sum.get()
        new = (old[0] if old else 0) + sum(row.n for row in rows)
        self.sum.update((new,))
        yield Row(k=key[0], sum=new)


def summed(source, spark):
    initial = spark.sql("SELECT * FROM VALUES ('k1', 100L), ('k9', 7L), ('k1', 1L) AS t(k, start)")
    return source.groupBy("k").transformWithState(
        Initial(), "k string, sum long", "append", "none", initial.groupBy("k")
    )


@pytest.mark.complete
def test_initial_state(spark, tmp_path):
    check_stream(spark, tmp_path, lambda source: summed(source, spark))


def test_bounded_frames_give_equal_rows_in_both_modes(spark):
    seen = {}
    for mode in ("process", "thread"):
        with settings(spark, {**STORE, **BERLIN, MODE: mode}):
            source = spark.sql(rows(0, 20))
            frames = [everything(source), inexact(source), summed(source, spark)]
            seen[mode] = [sorted(exact(row) for row in frame.collect()) for frame in frames]
    assert seen["thread"] == seen["process"]
    assert all(seen["thread"])


#: What is no result, by how it is called.
RETURNED = {
    "result": [Row(k="x", n="no number")],
    "not a row": [("x", 1)],
}


@pytest.mark.parametrize(
    "where",
    [
        *("init", "rows", "jvm", "result", "None"),
        *(pytest.param(each, marks=pytest.mark.complete) for each in ("length", "not a row")),
    ],
)
def test_exceptions_of_processors_are_equal_in_both_modes(spark, where):
    def query(keyed):
        processor = Failing(where, RETURNED.get(where))
        return keyed.transformWithState(processor, "k string, n int", "append", "none")

    check_failure(spark, query)


def test_many_rows_of_one_key(spark):
    """More than what crosses at a time, of rows and of state."""
    with settings(spark, {**STORE, MODE: "thread"}):
        frame = spark.range(0, 5000, 1, 1).selectExpr("'k' AS k", "id AS n").groupBy("k")
        made = frame.transformWithState(Many(), "n long, m long", "append", "none").collect()
    assert made == [Row(n=5000, m=sum(range(5000)))]


class Many(StatefulProcessor):
    def init(self, handle):
        self.list = handle.getListState("list", "n long")

    def handleInputRows(self, key, rows, timerValues):
        self.list.appendList([(row.n,) for row in rows])
        values = [n for (n,) in self.list.get()]
        yield Row(n=len(values), m=sum(values))


class First(StatefulProcessor):
    """Takes one row of a group, or fails in the middle of it."""

    def __init__(self, fails):
        self.fails = fails

    def init(self, handle):
        self.count = handle.getValueState("count", "n long")

    def handleInputRows(self, key, rows, timerValues):
        first = next(rows)
        self.count.update((first.n,))
        yield Row(k=key[0], n=self.count.get()[0])
        if self.fails:
            for row in rows:
                if row.n > 4000:
                    raise ValueError(f"row {row.n}")
                yield Row(k=key[0], n=row.n)


def test_groups_that_are_not_read_to_their_end(spark):
    seen = {}
    for mode in ("process", "thread"):
        with settings(spark, {**STORE, MODE: mode}):
            source = spark.range(0, 9000, 1, 1).selectExpr("concat('k', id % 2) AS k", "id AS n")
            made = [
                source.groupBy("k").transformWithState(
                    First(fails), "k string, n long", "append", "none"
                )
                for fails in (False, True)
            ]
            rows = [*sorted(made[0].collect()), *made[0].limit(1).collect()]
            with pytest.raises(PythonException) as caught:
                made[1].collect()
            seen[mode] = rows, last_lines(failure(caught.value))
    assert seen["thread"] == seen["process"]


class Evolving(StatefulProcessor):
    def __init__(self, schema):
        self.schema = schema

    def init(self, handle):
        self.value = handle.getValueState("value", self.schema)

    def handleInputRows(self, key, rows, timerValues):
        old = self.value.get()
        self.value.update((len(list(rows)),) if self.schema == "n int" else (2**40, "x"))
        yield Row(k=key[0], told=str(old))


@pytest.mark.complete
def test_evolution_of_a_value_schema(spark, tmp_path):
    """Of state in Avro, from one start of the query to the next."""
    schemas = itertools.cycle(["n int", "n long, s string"])

    def make(source):
        return source.groupBy("k").transformWithState(
            Evolving(next(schemas)), "k string, told string", "append", "none"
        )

    avro = {"spark.sql.streaming.stateStore.encodingFormat": "avro"}
    check_stream(spark, tmp_path, make, TURNS, conf=avro)


@pytest.mark.complete
@pytest.mark.parametrize("kind", ["rows", "frames", "groups"])
def test_a_crash_in_a_batch(tmp_path, kind):
    """Nothing of the batch is kept; the function goes on in process mode."""
    program = PROGRAMS / "stateful_crash.py"
    log = run([sys.executable, program, "local-cluster[2,1,1024]", kind], tmp_path)
    assert "STATE IS RIGHT" in log
