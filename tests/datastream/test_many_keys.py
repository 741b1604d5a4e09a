"""Many keys in a batch, whose state is read and written together."""

from __future__ import annotations

from collections import Counter, defaultdict

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
        ("process", 2),
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


@pytest.mark.complete("thread")
@pytest.mark.parametrize("mode", ["thread", "process"])
def test_keys_and_state_may_be_larger_than_the_buffers_of_a_socket(make_env, mode):
    size = 300_000
    keys = [letter * size for letter in "abcdefgh"] + list("abcdefgh")
    source = TestStream()
    for _ in range(BATCHES):
        source = source.add_elements(keys)
    env = make_env(1, mode)
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "test")
    counted = stream.key_by(lambda value: value, Types.STRING()).process(Growing())
    with counted.execute_and_collect() as found:
        assert Counter(found) == Counter(
            (key[0], len(key), n * size) for key in keys for n in range(1, BATCHES + 1)
        )


class Growing(KeyedProcessFunction):
    """Keeps a value that each element of a key makes longer."""

    def open(self, runtime_context):
        self.text = runtime_context.get_state(ValueStateDescriptor("text", Types.STRING()))

    def process_element(self, value, ctx):
        text = (self.text.value() or "") + "x" * 300_000
        self.text.update(text)
        yield value[0], len(value), len(text)
