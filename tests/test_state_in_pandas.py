"""Processors that keep state and take data frames: the same as in process mode."""

# ruff: noqa: N802, N803

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pyspark.sql.streaming import StatefulProcessor

from comparison import exact, executed_plan, operator, settings
from sessions import FALLBACK, MODE, SPARK
from stateful_streams import (
    BERLIN,
    STORE,
    Failing,
    check_failure,
    check_stream,
    in_sequences,
    rows,
    run_stream,
)

pytest.importorskip("google.protobuf", reason="process mode sends requests for state with it")

SEQUENCES = (("process", "process", "process"), ("thread", "process", "thread"))


class Everything(StatefulProcessor):
    """Uses all kinds of state, and shows what it is given."""

    def init(self, handle):
        self.count = handle.getValueState("count", "n long, last timestamp")
        self.seen = handle.getListState("seen", "n int, price decimal(10,2), bytes binary")
        self.by_day = handle.getMapState("by_day", "day date", "n short, list array<string>")

    def handleInputRows(self, key, rows, timerValues):
        count, last = self.count.get() or (0, None)
        told = [key, self.count.exists(), last]
        for frame in rows:
            told.append([(name, str(kind)) for name, kind in frame.dtypes.items()])
            for row in frame.itertuples(index=False):
                count += 1
                last = row.at
                self.seen.appendValue((row.n, row.price, row.bytes))
                self.by_day.updateValue((row.day,), (np.int64(row.n), [row.k, None]))
        self.count.update((count, last))
        told += [list(self.seen.get()), list(self.by_day.iterator())]
        told += [list(self.by_day.keys()), list(self.by_day.values())]
        told.append(self.by_day.containsKey((datetime.date(2024, 1, 2),)))
        if count > 4:
            self.seen.put([(1, None, b"x")])
            self.by_day.removeKey((datetime.date(2024, 1, 2),))
        yield pd.DataFrame({"told": [repr(told)], "k": [key[0]], "n": [count]})
        yield pd.DataFrame({"k": [key[0]] * 2, "n": [1, 2], "told": [None, "x"]})


def everything(source):
    return source.groupBy("k").transformWithStateInPandas(
        Everything(), "told string, k string, n int", "append", "none"
    )


@in_sequences(SEQUENCES)
def test_all_kinds_of_state(spark, tmp_path, sequences):
    """A batch has more rows of a key than it takes to change state again."""
    check_stream(spark, tmp_path, everything, sequences, conf=BERLIN, per_batch=16)


class Initial(StatefulProcessor):
    """With an initial state and timers of event time."""

    def init(self, handle):
        self.handle = handle
        self.sum = handle.getValueState("sum", "n long")

    def handleInitialState(self, key, initialState, timerValues):
        self._add(initialState["start"].sum())
        self.handle.registerTimer(11_000)

    def handleInputRows(self, key, rows, timerValues):
        last = 0
        for frame in rows:
            self._add(frame["n"].sum())
            last = int(frame["n"].max())
        self.handle.registerTimer(last * 10_000 + 5_000)
        self.handle.registerTimer(last * 10_000 + 10**9)
        self.handle.deleteTimer(last * 10_000 + 10**9)
        timers = str(sorted(self.handle.listTimers()))
        yield self._frame(key, f"rows {timers}", timerValues)

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
        yield self._frame(key, f"timer {expiredTimerInfo.getExpiryTimeInMs()}", timerValues)

    def _add(self, value):
        (old,) = self.sum.get() or (0,)
        self.sum.update((old + value,))

    def _frame(self, key, what, timerValues):
        told = f"{what} {self.sum.get()} {timerValues.getCurrentWatermarkInMs()}"
        return pd.DataFrame({"k": [key[0]], "told": [told]})


def summed(source, spark, time_mode="eventTime"):
    initial = spark.sql("SELECT * FROM VALUES ('k1', 100L), ('k9', 7L), ('k1', 1L) AS t(k, start)")
    return source.groupBy("k").transformWithStateInPandas(
        Initial(), "k string, told string", "append", time_mode, initial.groupBy("k")
    )


# The workers of Spark 4.1 mix initial states with rows, as missing values.
@pytest.mark.complete
@pytest.mark.since_spark("4.2")
@in_sequences(SEQUENCES)
def test_initial_state_and_timers_of_event_time(spark, tmp_path, sequences):
    def make(source):
        return summed(source.withWatermark("at", "1 second"), spark)

    check_stream(spark, tmp_path, make, sequences)


class Expiring(StatefulProcessor):
    """State that is gone in the next batch, and timers that have expired by then."""

    def init(self, handle):
        self.handle = handle
        self.short = handle.getValueState("short", "n long", 1)
        self.long = handle.getMapState("long", "n long", "v long", 10**7)

    def handleInputRows(self, key, rows, timerValues):
        n = sum(len(frame) for frame in rows)
        seen = [self.short.get(), list(self.long.iterator())]
        self.short.update((n,))
        self.long.updateValue((n,), (n,))
        self.handle.registerTimer(timerValues.getCurrentProcessingTimeInMs() + 1)
        yield pd.DataFrame({"k": [key[0]], "seen": [str(seen)]})

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
        yield pd.DataFrame({"k": [key[0]], "seen": [f"timer {list(self.long.keys())}"]})


@pytest.mark.complete
def test_expiry_and_timers_of_processing_time(spark, tmp_path):
    def make(source):
        return source.groupBy("k").transformWithStateInPandas(
            Expiring(), "k string, seen string", "append", "processingTime"
        )

    def finished(rows, batches):
        timers = sum("timer" in row.seen for row in rows)
        return timers == len(rows) - timers == 3 * batches

    seen = [
        run_stream(spark, tmp_path / "-".join(modes), make, modes, finished=finished)
        for modes in SEQUENCES
    ]
    assert seen[0] == seen[1]


def test_bounded_frames_give_equal_rows_in_both_modes(spark):
    seen = {}
    conf = {"spark.sql.execution.arrow.maxRecordsPerBatch": "4"}
    for mode in ("process", "thread"):
        with settings(spark, {**STORE, **BERLIN, **conf, MODE: mode}):
            frames = [
                everything(spark.sql(rows(0, 20))),
                everything(spark.sql(rows(0, 20)).filter("n < 0")),
            ]
            if SPARK >= (4, 2):
                frames.append(summed(spark.sql(rows(0, 20)), spark, "processingTime"))
            seen[mode] = [sorted(exact(row) for row in frame.collect()) for frame in frames]
    assert seen["thread"] == seen["process"]
    assert seen["thread"][0]


def test_metrics(spark):
    """Those of the function beside those of the store."""
    with settings(spark, {**STORE, MODE: "thread"}):
        frame = everything(spark.sql(rows(0, 20)))
        made = len(frame.collect())
        plan = frame._jdf.queryExecution().executedPlan()
        metrics = operator(plan, "ThreadTransformWithStateInPandas").metrics()
    assert metrics.apply("numOutputRows").value() == made
    assert metrics.apply("batches").value() > 0
    assert metrics.apply("lentMemory").value() > 0
    assert metrics.apply("pythonNumRowsReceived").value() == made
    assert metrics.apply("pythonTime").value() > 0


def test_processors_that_cannot_run_in_thread_mode(spark):
    """They run in workers, and the plan says why."""
    reason = {"spark.sql.pyspark.udf.profiler": "memory"}
    seen = []
    for conf in ({MODE: "process"}, {MODE: "thread", FALLBACK: "true", **reason}):
        with settings(spark, {**STORE, **conf}):
            frame = everything(spark.sql(rows(0, 5)))
            seen.append(sorted(map(exact, frame.collect())))
            assert ("the memory profiler is on" in executed_plan(frame)) == (len(seen) == 2)
    assert seen[0] == seen[1]


#: What is no result, by how it is called.
RETURNED = {
    "result": [pd.DataFrame({"k": ["x"], "n": ["no number"]})],
    "no frame": [("x", 1)],
}


@pytest.mark.parametrize(
    "where",
    [
        *("rows", "jvm", "result", "close"),
        *(pytest.param(each, marks=pytest.mark.complete) for each in ("init", "twice", "no frame")),
    ],
)
def test_exceptions_of_processors_are_equal_in_both_modes(spark, where):
    def query(keyed):
        processor = Failing(where, RETURNED.get(where, ()))
        return keyed.transformWithStateInPandas(processor, "k string, n int", "append", "none")

    check_failure(spark, query)


@pytest.mark.parametrize("ending", ["limit", "error", "end"])
def test_the_store_of_a_batch_is_closed_with_its_task(spark, ending):
    """Also where the task has not taken all rows."""
    utils = spark._jvm.org.apache.spark.util.Utils
    local = Path(utils.getLocalDir(spark.sparkContext._jsc.sc().conf()))

    def directories():
        return set(local.glob("StateStoreId*"))

    before = directories()
    processor = Failing("rows") if ending == "error" else Everything()
    with settings(spark, {**STORE, **BERLIN, MODE: "thread"}):
        frame = (
            spark.sql(rows(0, 20))
            .groupBy("k")
            .transformWithStateInPandas(processor, "told string, k string, n int", "append", "none")
        )
        if ending == "error":
            with pytest.raises(Exception, match="in rows of"):
                frame.collect()
        else:
            found = (frame.limit(1) if ending == "limit" else frame).collect()
            assert bool(found)
    # Spark removes those of streams that have been stopped, some time later.
    assert directories() <= before
