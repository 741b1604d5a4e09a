"""Many keys in a batch, whose state thread mode reads and writes together."""

from __future__ import annotations

from collections import defaultdict

import pytest

from pyflow.common import Types, WatermarkStrategy
from pyflow.datastream import KeyedProcessFunction
from pyflow.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ValueStateDescriptor,
)
from pyflow.datastream.testing import TestStream

# More than a bundle has rows, of which one key has more than a bundle, too.
KEYS = 1500
OF_ONE = 2500
BATCHES = 3


class Everything(KeyedProcessFunction):
    """Keeps a value, which every third element of a key removes, a list, a map and timers."""

    def open(self, runtime_context):
        self.value = runtime_context.get_state(ValueStateDescriptor("value", Types.LONG()))
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", Types.LONG()))
        self.map = runtime_context.get_map_state(
            MapStateDescriptor("map", Types.LONG(), Types.LONG())
        )

    def process_element(self, value, ctx):
        key, number = value
        before = self.value.value()
        if number % 3 == 2:
            self.value.clear()
        else:
            self.value.update(number)
        if key % 7 == 0:
            self.list.add(number)
        self.map.put(number % 2, number)
        if key % 11 == 0:
            ctx.timer_service().register_event_time_timer(10)
        yield key, before, len(list(self.list.get())), sorted(self.map.items())

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), "timer", self.value.value()


def batches():
    """The elements of each batch: a key, and how many it has had before."""
    times = defaultdict(int)
    for _ in range(BATCHES):
        batch = []
        for key in [*range(KEYS), *[KEYS] * OF_ONE]:
            batch.append((key, times[key]))
            times[key] += 1
        yield batch


def expected():
    made = defaultdict(list)
    values, lists, maps = {}, defaultdict(list), defaultdict(dict)
    for batch in batches():
        for key, number in batch:
            before = values.pop(key, None)
            if number % 3 != 2:
                values[key] = number
            if key % 7 == 0:
                lists[key].append(number)
            maps[key][number % 2] = number
            made[key].append((key, before, len(lists[key]), sorted(maps[key].items())))
    for key in range(0, KEYS + 1, 11):
        made[key].append((key, "timer", values.get(key)))
    return made


@pytest.mark.parametrize(
    ("mode", "parallelism"),
    [
        ("thread", 2),
        pytest.param("thread", 1, marks=pytest.mark.complete),
        pytest.param("process", 2, marks=pytest.mark.complete),
    ],
)
def test_each_key_has_its_own_state(make_env, mode, parallelism):
    source = TestStream()
    for batch in batches():
        source = source.add_elements(batch)
    env = make_env(parallelism, mode)
    stream = env.from_source(
        source.advance_watermark_to_infinity(), WatermarkStrategy.no_watermarks(), "test"
    )
    keyed = stream.key_by(lambda value: value[0], Types.LONG())
    found = defaultdict(list)
    with keyed.process(Everything()).execute_and_collect() as elements:
        for each in elements:
            found[each[0]].append(each)
    assert found == expected()
