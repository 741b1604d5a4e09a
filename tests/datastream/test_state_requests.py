"""Writes of state in Spark's workers, which do not wait for their responses."""

# ruff: noqa: N802, N803

from __future__ import annotations

import pytest
from pyspark.errors import PythonException
from pyspark.sql import Row

from comparison import settings
from pyflow.streaming.runtime.processor import StreamOperator
from sessions import MODE
from stateful_streams import STORE

pytest.importorskip("google.protobuf", reason="process mode sends requests for state with it")

PROCESS = {**STORE, MODE: "process"}


class Counter(StreamOperator):
    """Counts the rows of a key, and keeps each of them in a list and in a map."""

    def init(self, handle):
        super().init(handle)
        self.count = handle.getValueState("count", "n BIGINT")
        self.list = handle.getListState("list", "n BIGINT")
        self.map = handle.getMapState("map", "n BIGINT", "square BIGINT")

    def handleInputRows(self, key, rows, timerValues):
        for row in rows:
            self.count.update(((self.count.get() or (0,))[0] + 1,))
            self.list.appendValue((row.n,))
            self.map.updateValue((row.n,), (row.n**2,))
        self.map.removeKey((5,))
        # More writes than responses are left unread.
        for n in range(100):
            self.map.updateValue((1000 + n,), (n,))
        kept = [n for (n,) in self.list.get()]
        squares = sorted(square for (n,), (square,) in self.map.iterator() if n < 1000)
        others = len([key for key in list(self.map.keys()) if key[0] >= 1000])
        yield Row(key=key[0], text=f"{self.count.get()[0]} {kept} {squares} {others}")


class Failing(StreamOperator):
    """Writes where there is no key, and goes on.

    Parameters
    ----------
    reads : bool
        Whether it reads afterwards, and ignores that this fails.
    """

    def __init__(self, reads):
        super().__init__(["key", "text"])
        self.reads = reads

    def init(self, handle):
        super().init(handle)
        self.count = handle.getValueState("count", "n BIGINT")

    def handleInputRows(self, key, rows, timerValues):
        self._handle._statefulProcessorApiClient.remove_implicit_key()
        self.count.update((1,))
        for _ in range(3 if self.reads else 0):
            with pytest.raises(RuntimeError, match="state was not written"):
                self.count.get()
        yield Row(key=key[0], text="")


def outcome(spark, operator):
    rows = spark.range(10).selectExpr("id % 2 AS key", "id AS n")
    made = rows.groupBy("key").transformWithState(
        operator, "key BIGINT, text STRING", "Append", "None"
    )
    return dict(map(tuple, made.collect()))


def test_what_is_written_is_read_after_it(spark):
    with settings(spark, PROCESS):
        found = outcome(spark, Counter(["key", "text"]))

    assert found == {
        0: "5 [0, 2, 4, 6, 8] [0, 4, 16, 36, 64] 100",
        1: "5 [1, 3, 5, 7, 9] [1, 9, 49, 81] 100",
    }


@pytest.mark.parametrize("reads", [False, True])
def test_a_write_that_fails_fails_the_task(spark, reads):
    with settings(spark, PROCESS), pytest.raises(PythonException, match="state was not written"):
        outcome(spark, Failing(reads))
