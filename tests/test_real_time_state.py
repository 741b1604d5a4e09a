"""Processors that keep state in Spark's real-time mode, with its check of operators on."""

# ruff: noqa: N802, N803

from __future__ import annotations

import pandas as pd
import pytest
from pyspark.errors import IllegalArgumentException
from pyspark.sql import Row
from pyspark.sql.functions import udf
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.streaming.state import GroupStateTimeout

from awaited import (
    BRIEF_BATCHES,
    LONG_BATCH,
    MICRO_BATCHES,
    PROCESS,
    THREAD,
    ToFile,
    failure_of,
    plan_of,
    rows_of,
    rows_of_runs,
    started,
    wait,
    wait_for_batches,
    wait_for_input,
    wait_for_rows,
)
from benchmarks.awaited_stream import AwaitedStream
from comparison import settings
from sessions import logged
from stateful_streams import ROCKSDB

pytestmark = pytest.mark.since_spark("4.3")

pytest.importorskip("google.protobuf", reason="PySpark asks a processor for its state with it")

FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"
STORE = {
    **ROCKSDB,
    # The tasks of both stages run at once, in the two slots of the tests' session.
    "spark.sql.shuffle.partitions": "1",
    FORMAT: "2",
}


class Counting(StatefulProcessor):
    """Counts, with all kinds of state."""

    def init(self, handle):
        self.count = handle.getValueState("count", "n long")
        self.seen = handle.getListState("seen", "n long")
        self.named = handle.getMapState("named", "name string", "n long")

    def handleInputRows(self, key, rows, timerValues):
        for row in rows:
            (n,) = self.count.get() or (0,)
            self.count.update((n + 1,))
            self.seen.appendValue((n,))
            self.named.updateValue((row.value * 2,), (n,))
            seen = [value for (value,) in self.seen.get()]
            named = [(name, value) for (name,), (value,) in self.named.iterator()]
            yield Row(text=f"{key[0]} {n + 1} {seen} {named}")


def keyed(frame, processor, time_mode="none", initial=None):
    return frame.groupBy("value").transformWithState(
        processor, "text string", "Update", time_mode, initial
    )


def counted(frame):
    return keyed(frame, Counting()).select(udf(str.upper)("text"))


def count(key, n):
    seen = list(range(n))
    return f"{key} {n} {seen} [({(key * 2)!r}, {n - 1})]".upper()


def test_each_row_changes_state_before_the_next_one_comes(spark, tmp_path):
    stream = AwaitedStream(spark)
    out = tmp_path / "out"
    with settings(spark, {**THREAD, **STORE}):
        query = started(counted(stream.frame), ToFile(out), tmp_path, LONG_BATCH)
        try:
            for n, key in enumerate(["a", "b", "a", "a"], 1):
                stream.add([key])
                wait_for_rows(query, out, n)
            plan = plan_of(query)
        finally:
            query.stop()
    assert rows_of(out) == [count("a", 1), count("b", 1), count("a", 2), count("a", 3)]
    assert "Sort [" not in plan


RUNS = [
    [
        (THREAD, MICRO_BATCHES),
        (THREAD, BRIEF_BATCHES),
        (PROCESS, MICRO_BATCHES),
        (THREAD, BRIEF_BATCHES),
    ],
    pytest.param(
        [
            (THREAD, BRIEF_BATCHES),
            (THREAD, BRIEF_BATCHES),
            (THREAD, MICRO_BATCHES),
            (PROCESS, MICRO_BATCHES),
            (THREAD, MICRO_BATCHES),
            (THREAD, BRIEF_BATCHES),
        ],
        marks=pytest.mark.complete,
    ),
]


@pytest.mark.parametrize("runs", RUNS, ids=["few", "many"])
def test_restart_from_the_checkpoint(spark, tmp_path, runs):
    """Between micro-batches and real-time mode, both ways, and by way of process mode."""
    stream = AwaitedStream(spark)
    written = rows_of_runs(spark, stream, counted(stream.frame), tmp_path, runs, STORE)
    assert written == [count("a", n) for n in range(1, len(runs) + 1)]


def test_checkpoints_of_format_1_are_refused(spark, tmp_path):
    stream = AwaitedStream(spark)
    checkpoint = tmp_path / "checkpoint"
    frame = counted(stream.frame)
    stream.add(["a"])
    with settings(spark, {**THREAD, **STORE, FORMAT: "1"}):
        query = started(frame, ToFile(tmp_path / "out"), tmp_path, MICRO_BATCHES, checkpoint)
        try:
            wait_for_batches(query, 1)
        finally:
            query.stop()
        with pytest.raises(IllegalArgumentException, match=f"{FORMAT} must be"):
            started(frame, ToFile(tmp_path / "out"), tmp_path, BRIEF_BATCHES, checkpoint)
    with settings(spark, {**THREAD, **STORE}):
        failure = failure_of(frame, tmp_path, BRIEF_BATCHES, checkpoint)
    assert "CHECKPOINT_FORMAT_V1_NOT_SUPPORTED" in failure


class Timing(StatefulProcessor):
    """A timer of processing time, and state that expires."""

    def init(self, handle):
        self.handle = handle
        self.short = handle.getValueState("short", "n long", ttlDurationMs=1500)
        self.long = handle.getValueState("long", "n long", ttlDurationMs=10**7)
        self.times = handle.getListState("times", "ms long")

    def handleInputRows(self, key, rows, timerValues):
        (row,) = rows
        now = timerValues.getCurrentProcessingTimeInMs()
        times = [ms for (ms,) in self.times.get()]
        self.times.appendValue((now,))
        known = (self.short.exists(), self.long.exists(), sorted({*times, now}) == [*times, now])
        if row.value == "timer":
            self.handle.registerTimer(now + 1500)
        self.short.update((1,))
        self.long.update((1,))
        yield Row(text=f"{row.value} {known}")

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
        late = timerValues.getCurrentProcessingTimeInMs() - expiredTimerInfo.getExpiryTimeInMs()
        yield Row(text=f"expired {key[0]} {late >= 0}")


@pytest.mark.complete
def test_timers_and_expiry_while_a_batch_runs(spark, tmp_path):
    """Expired timers are looked for after each row of the task."""
    stream = AwaitedStream(spark)
    out = tmp_path / "out"
    with settings(spark, {**THREAD, **STORE}):
        frame = keyed(stream.frame, Timing(), "processingTime")
        query = started(frame, ToFile(out), tmp_path, LONG_BATCH)
        try:
            stream.add(["timer"])
            wait_for_rows(query, out, 1)
            later = pd.Timestamp.now() + pd.Timedelta(seconds=2)
            wait(lambda: pd.Timestamp.now() > later, query)
            stream.add(["timer"])
            wait_for_rows(query, out, 3)
        finally:
            query.stop()
    assert rows_of(out) == [
        "timer (False, False, True)",
        "timer (False, True, True)",
        "expired timer True",
    ]


def test_timers_at_the_end_of_a_batch(spark, tmp_path):
    stream = AwaitedStream(spark)
    out = tmp_path / "out"
    with settings(spark, {**THREAD, **STORE}):
        frame = keyed(stream.frame, Timing(), "processingTime")
        query = started(frame, ToFile(out), tmp_path, BRIEF_BATCHES)
        try:
            stream.add(["timer"])
            wait(lambda: len(rows_of(out)) == 2, query)
        finally:
            query.stop()
    assert rows_of(out)[1] == "expired timer True"


class Initial(StatefulProcessor):
    def init(self, handle):
        self.sum = handle.getValueState("sum", "n long")

    def handleInitialState(self, key, initialState, timerValues):
        self.sum.update((initialState.start,))

    def handleInputRows(self, key, rows, timerValues):
        (old,) = self.sum.get() or (0,)
        new = old + len(list(rows))
        self.sum.update((new,))
        yield Row(text=f"{key[0]} {new}")


@pytest.mark.complete
def test_initial_state(spark, tmp_path):
    """Spark takes it in the first batch, and that of a Python processor in micro-batches only."""
    stream = AwaitedStream(spark)
    out, checkpoint = tmp_path / "out", tmp_path / "checkpoint"
    initial = spark.createDataFrame([("a", 100), ("c", 7)], "value string, start long")
    with settings(spark, {**THREAD, **STORE}):
        frame = keyed(stream.frame, Initial(), initial=initial.groupBy("value"))
        stream.add(["a"])
        assert "Run the first batch in micro-batches" in failure_of(frame, tmp_path)
        for n, trigger in enumerate([MICRO_BATCHES, LONG_BATCH], 1):
            query = started(frame, ToFile(out), tmp_path, trigger, checkpoint)
            try:
                wait_for_rows(query, out, n)
                if trigger == MICRO_BATCHES:
                    wait_for_input(query, 1)
            finally:
                query.stop()
            stream.add(["c"])
    assert rows_of(out) == ["a 101", "c 8"]


class Failing(StatefulProcessor):
    def init(self, handle):
        pass

    def handleInputRows(self, key, rows, timerValues):
        raise ValueError(f"no rows of {key[0]}")


def test_an_exception_of_a_processor_ends_the_query(spark, tmp_path):
    stream = AwaitedStream(spark)
    stream.add(["a"])
    with settings(spark, {**THREAD, **STORE}):
        failure = failure_of(keyed(stream.frame, Failing()), tmp_path)
    assert "ValueError: no rows of a" in failure


def in_pandas(frame):
    return frame.groupBy("value").transformWithStateInPandas(
        Counting(), "text string", "Update", "none"
    )


def with_group_state(frame):
    return frame.groupBy("value").applyInPandasWithState(
        lambda key, frames, state: frames,
        "value string",
        "n long",
        "update",
        GroupStateTimeout.NoTimeout,
    )


@pytest.mark.parametrize("kind", [in_pandas, with_group_state])
def test_functions_over_data_frames_are_refused(spark, tmp_path, kind):
    with settings(spark, {**THREAD, **STORE}):
        failure = failure_of(kind(AwaitedStream(spark).frame), tmp_path)
    assert "Write it as a processor for transformWithState" in failure


def test_process_mode_names_the_setting(spark, tmp_path):
    with settings(spark, {**PROCESS, **STORE}), logged(spark) as log:
        failure = failure_of(counted(AwaitedStream(spark).frame), tmp_path)
        assert "set spark.pyflow.execution-mode=thread" in log.toString()
    assert "PYFLOW" not in failure
