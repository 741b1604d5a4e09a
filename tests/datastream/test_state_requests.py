"""State in Spark's workers, which do not wait until a key is the current one."""

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
        # More keys than responses are left unread.
        client = self._handle._statefulProcessorApiClient
        for n in range(100):
            client.set_implicit_key((1000 + n,))
        client.set_implicit_key(key)
        kept = [n for (n,) in self.list.get()]
        squares = sorted(square for _, (square,) in self.map.iterator())
        yield Row(key=key[0], text=f"{self.count.get()[0]} {kept} {squares}")


class Failing(StreamOperator):
    """Sets a key that there cannot be, reads, and ignores that this fails."""

    def init(self, handle):
        super().init(handle)
        self.count = handle.getValueState("count", "n BIGINT")

    def handleInputRows(self, key, rows, timerValues):
        self._handle._statefulProcessorApiClient.set_implicit_key(())
        for _ in range(3):
            with pytest.raises(RuntimeError, match=r"^the key could not be"):
                self.count.get()
        yield Row(key=key[0], text="")


def outcome(spark, operator):
    rows = spark.range(10).selectExpr("id % 2 AS key", "id AS n")
    made = rows.groupBy("key").transformWithState(
        operator, "key BIGINT, text STRING", "Append", "None"
    )
    return dict(map(tuple, made.collect()))


def test_state_is_that_of_the_key_that_was_set_last(spark):
    with settings(spark, PROCESS):
        found = outcome(spark, Counter(["key", "text"]))

    assert found == {
        0: "5 [0, 2, 4, 6, 8] [0, 4, 16, 36, 64]",
        1: "5 [1, 3, 5, 7, 9] [1, 9, 49, 81]",
    }


def test_a_key_that_cannot_be_set_fails_the_task(spark):
    with (
        settings(spark, PROCESS),
        pytest.raises(PythonException, match="RuntimeError: the key could not be"),
    ):
        outcome(spark, Failing(["key", "text"]))
