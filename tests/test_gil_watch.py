"""C code that holds the GIL of the shared interpreter: others go to Spark's workers meanwhile."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import functions as F
from pyspark.sql.functions import PandasUDFType, pandas_udf, udf
from pyspark.sql.streaming import StatefulProcessor

from comparison import executed_plan, settings
from sessions import FALLBACK, FREE_THREADED, INTERPRETER, MODE
from stateful_streams import STORE

REASON = "C code has held the GIL of the shared interpreter"

SHARED = {MODE: "thread", INTERPRETER: "shared"}


@pytest.fixture
def held(spark, tmp_path):
    """Has a task hold the GIL in C until the fixture's function is called."""
    pipe, begun = str(tmp_path / "pipe"), str(tmp_path / "begun")
    os.mkfifo(pipe)

    def hold(n):
        Path(begun).touch()
        # Opening the pipe waits for its other end; a PyDLL keeps the GIL in its functions.
        ctypes.PyDLL(None).open(pipe.encode(), os.O_RDONLY)
        return n

    with settings(spark, SHARED):
        frame = spark.range(1, numPartitions=1).select(udf(hold, "long")("id"))
        executed_plan(frame)
    thread = threading.Thread(target=frame.collect)
    thread.start()
    while not os.path.exists(begun):
        time.sleep(0.01)
    ends = []

    def let_go():
        if not ends:
            ends.append(os.open(pipe, os.O_RDWR))
            thread.join()

    let_go.thread = thread
    yield let_go
    let_go()
    os.close(ends[0])


def place(n):
    return "java" if os.path.realpath("/proc/self/exe").endswith("java") else "worker"


KINDS = {
    "plain": lambda: udf(place),
    "pandas": lambda: pandas_udf(lambda n: n.map(place), "string", PandasUDFType.SCALAR),
}


@pytest.mark.skipif(FREE_THREADED, reason="there is no GIL")
def test_functions_leave_and_come_back(spark, held):
    def query(kind):
        frame = spark.range(2, numPartitions=1).select(KINDS[kind]()("id").alias("place"))
        plan = executed_plan(frame)
        return {row.place for row in frame.collect()}, plan

    with settings(spark, SHARED):
        # Planned when nobody knows yet.
        where, plan = query("plain")
        assert where == {"worker"}
        assert REASON not in plan
        for kind in KINDS:
            where, plan = query(kind)
            assert where == {"worker"}
            assert REASON in plan
        assert held.thread.is_alive()
        held()
        for kind in KINDS:
            where, plan = query(kind)
            assert where == {"java"}
            assert REASON not in plan


def placed_by_numpy(n):
    """It moves to the shared interpreter when it is loaded."""
    import numpy

    return place(numpy.int64(n))


@pytest.mark.complete("shared")
@pytest.mark.skipif(FREE_THREADED, reason="there is no GIL")
@pytest.mark.parametrize(
    ("function", "interpreter"), [(place, "shared"), (placed_by_numpy, "auto")]
)
def test_a_task_that_may_not_leave_can_be_cancelled(spark, held, function, interpreter):
    errors = []

    def collect(frame):
        spark.sparkContext.setJobGroup("waits", "waits")
        try:
            frame.collect()
        except Exception as error:
            errors.append(str(error))

    with settings(spark, {MODE: "thread", INTERPRETER: interpreter, FALLBACK: "false"}):
        frame = spark.range(1).select(udf(function)(F.col("id")))
        assert "Thread" in executed_plan(frame)
        waiting = threading.Thread(target=collect, args=(frame,))
        waiting.start()
        waiting.join(7)
        assert waiting.is_alive()
        spark.sparkContext.cancelJobGroup("waits")
        waiting.join(60)
    assert not waiting.is_alive()
    assert "cancelled" in errors[0]
    # The job ends before its task, whose core another task then gets.
    assert spark.range(1, numPartitions=1).selectExpr("sum(id)").collect() == [(0,)]
    assert held.thread.is_alive()


class Counting(StatefulProcessor):
    """It needs the shared interpreter, and has no place in a worker once its query is planned."""

    def init(self, handle):
        self.count = handle.getValueState("count", "n long")

    def handleInputRows(self, key, rows, timerValues):  # noqa: N802, N803
        self.count.update((sum(len(frame) for frame in rows),))
        yield pd.DataFrame({"k": [key[0]], "n": [self.count.get()[0]]})


@pytest.mark.complete
@pytest.mark.skipif(FREE_THREADED, reason="there is no GIL")
def test_a_processor_that_keeps_state_waits(spark, held):
    got = []
    with settings(spark, {**SHARED, **STORE, FALLBACK: "true"}):
        keyed = spark.range(6).selectExpr("id % 2 AS k").groupBy("k")
        frame = keyed.transformWithStateInPandas(Counting(), "k long, n long", "append", "none")
        assert "Thread" in executed_plan(frame)
        waiting = threading.Thread(target=lambda: got.extend(frame.collect()))
        waiting.start()
        waiting.join(7)
        assert waiting.is_alive()
        held()
        waiting.join(60)
    assert sorted(got) == [(0, 3), (1, 3)]
