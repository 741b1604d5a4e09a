"""State that has not been used for `table.exec.state.ttl` goes, whether its key comes or not."""

from __future__ import annotations

import time

import pytest
from pyspark.sql import Row

from pyflow.streaming.runtime import state_ttl as lifetimes
from pyflow.streaming.runtime.state_ttl import Lifetime
from pyflow.table.expressions import col
from pyflow.table.runtime.streams import aggregates
from pyflow.table.runtime.streams.groups import GroupAggregate
from pyflow.table.runtime.streams.joins import Join, SetOperation, Side
from pyflow.table.runtime.streams.over import Frame, OverRows
from pyflow.table.runtime.streams.ranks import FirstRows, SortColumn
from pyflow.table.runtime.streams.upserts import LatestRow, RowsOfKey
from streams import Source
from tws import TwsTester

SECONDS = 10
LIFETIME = Lifetime(SECONDS, sweeps=True)
NAMES = ["k", "v", "kind", "place"]
ROW = "struct<f0:bigint>"


class Clock:
    """In place of the module ``time`` of operators."""

    now = 1000.0

    def time(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(lifetimes, "time", made)
    return made


def group():
    functions = [(aggregates.make("max", True, ("ANY",), "bigint"), 1)]
    return GroupAggregate(
        functions, NAMES, changes=True, per_record=True, repeats=True, lifetime=LIFETIME
    )


def first_rows():
    order = [SortColumn(1, True, True)]
    return FirstRows(order, 1, 2, (0, 2), 2, False, True, NAMES, False, False, LIFETIME)


def join():
    both = Side(1, 2, 1, ROW), Side(2, 3, 1, ROW)
    return Join("full", *both, [], ["l", "r", "kind", "place"], 0, LIFETIME)


def intersection():
    return SetOperation("intersect", True, ["k", "kind", "place"], LIFETIME)


def latest_row():
    return LatestRow(NAMES, LIFETIME)


def rows_of_key():
    return RowsOfKey(None, NAMES, LIFETIME)


def over_rows(in_event_time=False):
    functions = [(aggregates.make("max", True, ("ANY",), "bigint"), 0)]
    lifetime = Lifetime(SECONDS, sweeps=not in_event_time)
    return OverRows(functions, Frame(True, 1), 1, 1, 2, in_event_time, ["v", "max"], lifetime)


OPERATORS = {
    "group": (group, lambda v: {"k": "a", "v": v}),
    "first_rows": (first_rows, lambda v: {"k": "a", "v": v}),
    "join": (join, lambda v: {"left": True, "l": v, "r": None}),
    "intersection": (intersection, lambda v: {"k": "a", "left": True}),
    "latest_row": (latest_row, lambda v: {"k": "a", "v": v}),
    "rows_of_key": (rows_of_key, lambda v: {"k": "a", "v": v}),
    "over_rows": (over_rows, lambda v: {"k": "a", "v": v, "moment": v}),
}


class Swept:
    """An operator at a clock that its timers follow."""

    def __init__(self, name, clock):
        make, self._row = OPERATORS[name]
        self._clock = clock
        self._tester = TwsTester(make(), timeMode="ProcessingTime")
        self._place = 0

    def add(self, value, kind=0):
        self._place += 1
        row = Row(**self._row(value), kind=kind, place=self._place)
        self._tester.test("a", [row])

    def wait(self, seconds):
        self._clock.now += seconds
        assert self._tester.setProcessingTime(int(self._clock.now * 1000)) == []

    @property
    def is_empty(self):
        handle = self._tester.handle
        states = [*handle.value_states.values(), *handle.map_states.values()]
        return not any(any(each.state.values()) for each in states)

    @property
    def timers(self):
        return list(self._tester.handle._timers.getAllKeysWithTimers())


@pytest.mark.parametrize("name", OPERATORS)
def test_state_goes_when_it_has_not_been_used(name, clock):
    swept = Swept(name, clock)
    swept.add(1)
    assert not swept.is_empty

    swept.wait(SECONDS)

    assert swept.is_empty
    assert not swept.timers


@pytest.mark.parametrize("name", OPERATORS)
def test_state_stays_as_long_as_it_is_used(name, clock):
    swept = Swept(name, clock)
    for value in range(1, 4):
        swept.add(value)
        swept.wait(SECONDS * 0.6)
        assert not swept.is_empty

    swept.wait(2 * SECONDS)

    assert swept.is_empty
    assert not swept.timers


@pytest.mark.parametrize("name", ["group", "intersection"])
def test_a_key_whose_rows_are_taken_back_has_no_timer(name, clock):
    swept = Swept(name, clock)
    swept.add(1)

    swept.add(1, kind=3)

    assert swept.is_empty
    assert not swept.timers


def test_a_query_keeps_no_state_of_keys_that_do_not_come(spark, environment, tmp_path):
    t_env = environment("streaming", **{"table_exec_state_ttl": "1 s"})
    source = Source(spark, tmp_path, "k STRING; v BIGINT")
    source.add([(str(number), number) for number in range(50)])
    table = source.table(t_env).group_by(col("k")).select(col("k"), col("v").sum)
    result = table.execute()
    (query,) = spark.streams.active
    try:
        query.processAllAvailable()
        before = query.lastProgress
        time.sleep(1.5)
        source.add([("0", 1)])
        query.processAllAvailable()
        after = query.lastProgress
    finally:
        result.collect().close()

    rows = [progress["stateOperators"][0]["numRowsTotal"] for progress in (before, after)]
    assert rows[0] >= 50
    assert rows[1] < 10
    # Between the two there was none without rows.
    assert after["batchId"] == before["batchId"] + 1
