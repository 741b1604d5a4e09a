"""Processors that keep state in batches: timers and initial states in each time mode."""

# ruff: noqa: N802, N803

from __future__ import annotations

import itertools

import pandas as pd
import pytest
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor

from comparison import assert_process_plan, assert_thread_plan, exact, executed_plan, settings
from sessions import MODE
from stateful_streams import STORE, rows

pytest.importorskip("google.protobuf", reason="process mode sends requests for state with it")

#: Milliseconds from the current time; a batch has no watermark, and Spark gives -1 for it.
PAST, NOW, FUTURE = -5, 0, 10**12


class Timers(StatefulProcessor):
    """Registers, lists and deletes timers wherever it is called, and shows what comes of it.

    Parameters
    ----------
    time_mode : str
    frames : bool
        Whether it gets and returns data frames.
    """

    def __init__(self, time_mode, frames):
        self.time_mode = time_mode
        self.frames = frames

    def init(self, handle):
        self.handle = handle
        self.sum = handle.getValueState("sum", "n long")

    def handleInitialState(self, key, initialState, timerValues):
        start = initialState["start"]
        value = int(start.sum()) if self.frames else start
        self.sum.update(((self.sum.get() or (0,))[0] + value,))
        self._timers(timerValues, [FUTURE + 1, FUTURE + 2, PAST - 1], [FUTURE + 1])

    def handleInputRows(self, key, rows, timerValues):
        values = [int(n) for row in rows for n in ([row.n] if not self.frames else row.n)]
        self.sum.update(((self.sum.get() or (0,))[0] + sum(values),))
        timers = self._timers(timerValues, [PAST, NOW, FUTURE, FUTURE + 7], [FUTURE, FUTURE + 3])
        yield self._row(key, f"rows {values} {timers}", timerValues)

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
        expiry = expiredTimerInfo.getExpiryTimeInMs() - self._now(timerValues)
        timers = self._timers(timerValues, [FUTURE + 9])
        yield self._row(key, f"expired {expiry} {timers}", timerValues)

    def _now(self, times):
        return {
            "processingTime": times.getCurrentProcessingTimeInMs(),
            "eventTime": times.getCurrentWatermarkInMs(),
            "none": 0,
        }[self.time_mode]

    def _timers(self, times, register, delete=()):
        if self.time_mode == "none":
            return []
        now = self._now(times)
        for offset in register:
            self.handle.registerTimer(now + offset)
        for offset in delete:
            self.handle.deleteTimer(now + offset)
        return sorted(expiry - now for expiry in self.handle.listTimers())

    def _row(self, key, told, times):
        watermark = times.getCurrentWatermarkInMs()
        told = f"{told} {self.sum.get()} {watermark} {times.getCurrentProcessingTimeInMs() > 0}"
        if self.frames:
            return pd.DataFrame({"k": [key[0]], "told": [told]})
        return Row(k=key[0], told=told)


def query(spark, time_mode, frames, with_initial, watermark):
    source = spark.sql(rows(0, 8))
    if watermark:
        source = source.withWatermark("at", "1 second")
    keyed = source.groupBy("k")
    transform = keyed.transformWithStateInPandas if frames else keyed.transformWithState
    initial = spark.sql("SELECT * FROM VALUES ('k1', 100L), ('k9', 7L) AS t(k, start)")
    return transform(
        Timers(time_mode, frames),
        "k string, told string",
        "append",
        time_mode,
        initial.groupBy("k") if with_initial else None,
    )


# The workers of Spark 4.1 mix initial states with rows, as missing values.
FRAMES = pytest.mark.since_spark("4.2")


@pytest.mark.parametrize(
    ("time_mode", "frames"),
    [
        ("eventTime", False),
        pytest.param("eventTime", True, marks=FRAMES),
        ("processingTime", False),
        *(
            pytest.param(*case, marks=[pytest.mark.complete, *([FRAMES] if case[1] else [])])
            for case in [("processingTime", True), ("none", False), ("none", True)]
        ),
    ],
)
def test_timers_in_batches(spark, time_mode, frames):
    seen = {}
    for mode in ("process", "thread"):
        seen[mode] = []
        with settings(spark, {**STORE, MODE: mode}):
            for with_initial, watermark in itertools.product((False, True), repeat=2):
                if watermark and (time_mode != "eventTime" or with_initial):
                    continue
                frame = query(spark, time_mode, frames, with_initial, watermark)
                seen[mode].append(sorted(map(exact, frame.collect())))
                plan = executed_plan(frame)
                (assert_thread_plan if mode == "thread" else assert_process_plan)(plan)
    assert seen["thread"] == seen["process"]
    assert ("expired" in str(seen["thread"])) == (time_mode != "none")
