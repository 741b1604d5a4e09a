"""Elements, keys and state of classes that the program itself defines, which no module has."""

from __future__ import annotations

import pytest

from pyflow.common import WatermarkStrategy
from pyflow.datastream.testing import TestStream

NOTHING = WatermarkStrategy.no_watermarks()

PROGRAM = '''
from dataclasses import dataclass
from enum import Enum

from pyflow.common import Types
from pyflow.datastream import KeyedProcessFunction
from pyflow.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor


class Kind(Enum):
    BOUGHT = 1
    SOLD = 2


@dataclass(frozen=True)
class Trade:
    symbol: str
    kind: Kind
    at: int


@dataclass(frozen=True)
class Symbol:
    name: str


def symbol_of(trade):
    return Symbol(trade.symbol)


class Kept(KeyedProcessFunction):
    """Keeps elements in state of each kind, and shows them when a timer fires."""

    def open(self, runtime_context):
        pickled = Types.PICKLED_BYTE_ARRAY()
        self.last = runtime_context.get_state(ValueStateDescriptor("last", pickled))
        self.all = runtime_context.get_list_state(ListStateDescriptor("all", pickled))
        self.kinds = runtime_context.get_map_state(MapStateDescriptor("kinds", pickled, pickled))

    def process_element(self, value, ctx):
        assert isinstance(value, Trade)
        assert value.kind in Kind
        before = self.last.value()
        self.last.update(value)
        self.all.add(value)
        self.kinds.put(value.kind, value)
        ctx.timer_service().register_event_time_timer(value.at + 10)
        yield value, before

    def on_timer(self, timestamp, ctx):
        assert isinstance(ctx.get_current_key(), Symbol)
        yield ctx.get_current_key(), list(self.all.get()), dict(self.kinds.items())
'''


@pytest.fixture
def program():
    names = {"__name__": "__main__"}
    exec(PROGRAM, names)
    return names


def collected(stream):
    with stream.execute_and_collect() as elements:
        return list(elements)


def trades(program):
    trade, kind = program["Trade"], program["Kind"]
    return [trade("x", kind.BOUGHT, 1), trade("x", kind.SOLD, 2), trade("y", kind.SOLD, 3)]


def check_pairs(program, found):
    one, two, three = trades(program)
    assert [each for each in found if len(each) == 2] == [(one, None), (two, one), (three, None)]


def check(program, found):
    one, two, three = trades(program)
    symbol, kind = program["Symbol"], program["Kind"]
    check_pairs(program, found)
    assert [each for each in found if len(each) == 3][-2:] == [
        (symbol("x"), [one, two], {kind.BOUGHT: one, kind.SOLD: two}),
        (symbol("y"), [three], {kind.SOLD: three}),
    ]


def test_bounded_elements_are_of_classes_of_the_program(env, program):
    ds = env.set_parallelism(1).from_collection(trades(program))

    found = collected(ds.key_by(program["symbol_of"]).process(program["Kept"]()))

    check(program, sorted(found, key=len))


def test_elements_leave_the_classes_of_the_program_as_they_are(env, program):
    trade = program["Trade"]
    trade.limit = 1
    made = env.from_collection(trades(program)).map(lambda value: value)

    with made.execute_and_collect() as elements:
        trade.limit = 2
        found = list(elements)

    assert sorted(each.at for each in found) == [1, 2, 3]
    assert trade.limit == 2


@pytest.mark.complete
def test_state_of_classes_of_the_program_is_there_after_a_restart(make_env, program, tmp_path):
    source, found = TestStream(), []
    for each in trades(program):
        source.add_elements([each], [each.at])
        env = make_env(parallelism=1, execution_checkpointing_dir=tmp_path.as_uri())
        ds = env.from_source(source, NOTHING, "trades").key_by(program["symbol_of"])
        found += collected(ds.process(program["Kept"]()))

    check_pairs(program, found)


@pytest.mark.complete("process")
def test_unbounded_elements_are_of_classes_of_the_program(env, program):
    source = TestStream()
    for each in trades(program):
        source.add_elements([each], [each.at])
    source.advance_watermark_to_infinity()
    ds = env.set_parallelism(1).from_source(source, NOTHING, "trades")

    found = collected(
        ds.map(lambda value: value).key_by(program["symbol_of"]).process(program["Kept"]())
    )

    check(program, found)
