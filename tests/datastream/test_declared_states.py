"""Programs that go on from a checkpoint and declare its states otherwise."""

from __future__ import annotations

import pytest

from pyflow.common import Time, Types, WatermarkStrategy
from pyflow.datastream import (
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    ProcessWindowFunction,
)
from pyflow.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from pyflow.datastream.testing import TestStream
from pyflow.datastream.window import TumblingEventTimeWindows

NOTHING = WatermarkStrategy.no_watermarks()


def with_ttl(descriptor):
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.days(1)).build())
    return descriptor


class Stateful(KeyedProcessFunction):
    """Has a state of a descriptor, which it declares when it is opened, or at an element."""

    def __init__(self, descriptor, use, is_late=False):
        self.descriptor = descriptor
        self.use = use
        self.is_late = is_late

    def open(self, runtime_context):
        self.context = runtime_context
        if not self.is_late:
            self.state()

    def state(self):
        kinds = {
            ValueStateDescriptor: self.context.get_state,
            ListStateDescriptor: self.context.get_list_state,
            MapStateDescriptor: self.context.get_map_state,
        }
        return kinds[type(self.descriptor)](self.descriptor)

    def process_element(self, value, ctx):
        yield value, self.use(self.state(), value)


def counted(state, value):
    state.update((state.value() or 0) + 1)
    return state.value()


def added(state, value):
    state.add(value)
    return list(state)


def put(state, value):
    state.put(value, 1)
    return dict(state.items())


INT = ValueStateDescriptor("seen", Types.INT())
BEFORE = (INT, counted)
MAP = (MapStateDescriptor("seen", Types.STRING(), Types.INT()), put)


@pytest.fixture
def job(make_env, tmp_path):
    """Runs a program over more elements, from its checkpoint."""
    source = TestStream()

    def run(program, *elements, mode="thread"):
        env = make_env(mode=mode, execution_checkpointing_dir=tmp_path.as_uri())
        source.add_elements(elements, [0] * len(elements))
        ds = program(env.from_source(source, NOTHING, "test").key_by(lambda value: value))
        with ds.execute_and_collect() as found:
            return sorted(found)

    return run


def processed(*function):
    return lambda ds: ds.process(Stateful(*function)).name("counts").uid("counts")


@pytest.mark.complete("declared")
@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        pytest.param(
            BEFORE,
            (ListStateDescriptor("seen", Types.INT()), added),
            r"ListState\(ListTypeInfo<Integer>\), .* has it as ValueState\(Integer\)",
            id="value to list",
        ),
        pytest.param(
            BEFORE,
            (ValueStateDescriptor("seen", Types.STRING()), counted),
            r"ValueState\(String\), .* has it as ValueState\(Integer\)",
            id="integer to string",
            marks=pytest.mark.complete,
        ),
        pytest.param(
            MAP,
            (MapStateDescriptor("seen", Types.STRING(), Types.LONG()), put),
            r"MapTypeInfo<String, Long>\), .* has it as MapState\(MapTypeInfo<String, Integer>\)",
            id="values of a map",
            marks=pytest.mark.complete,
        ),
        pytest.param(
            BEFORE,
            (with_ttl(ValueStateDescriptor("seen", Types.INT())), counted),
            r"with a time to live, .* has it as ValueState\(Integer\)\. ",
            id="time to live",
            marks=pytest.mark.complete,
        ),
        pytest.param(
            BEFORE,
            (ValueStateDescriptor("seen", Types.STRING()), counted, True),
            r"ValueState\(String\), .* has it as ValueState\(Integer\)",
            id="declared at an element",
        ),
    ],
)
def test_a_state_of_another_type_is_refused_and_the_program_before_goes_on(
    job, before, after, message
):
    job(processed(*before), "a")
    with pytest.raises(Exception, match=rf"'counts' declares the state 'seen' as .*{message}"):
        job(processed(*after), "a")
    # The element that the other program did not process is there.
    assert job(processed(*before)) == [("a", {"a": 1} if before is MAP else 2)]


@pytest.mark.complete
def test_worker_processes_refuse_it_too(job):
    job(processed(*BEFORE), "a", mode="process")
    with pytest.raises(Exception, match=r"'counts' declares the state 'seen' as ListState"):
        job(processed(ListStateDescriptor("seen", Types.INT()), added), "a", mode="process")
    assert job(processed(*BEFORE), mode="thread") == [("a", 2)]


@pytest.mark.complete
def test_states_of_other_names_may_have_any_type(job):
    assert job(processed(*BEFORE), "a") == [("a", 1)]
    others = ListStateDescriptor("others", Types.STRING())
    assert job(processed(others, added), "a") == [("a", ["a"])]
    assert job(processed(*BEFORE), "a") == [("a", 2)]


class Ruled(KeyedBroadcastProcessFunction):
    """Has a broadcast state and one of keys, of the same name."""

    def __init__(self, value_type):
        self.rules = MapStateDescriptor("rules", Types.STRING(), value_type)

    def open(self, runtime_context):
        self.seen = runtime_context.get_state(ValueStateDescriptor("rules", Types.INT()))

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(self.rules).put(*value)

    def process_element(self, value, ctx):
        self.seen.update(1)
        yield value


@pytest.mark.complete
def test_a_broadcast_state_of_another_type_is_refused(make_env, tmp_path):
    elements, rules = TestStream(), TestStream()

    def run(value_type):
        env = make_env(execution_checkpointing_dir=tmp_path.as_uri())
        elements.add_elements(["a"])
        rules.add_elements([("x", 1)])
        function = Ruled(value_type)
        broadcast = env.from_source(rules, NOTHING, "rules").broadcast(function.rules)
        ds = env.from_source(elements, NOTHING, "elements").key_by(lambda value: value)
        with ds.connect(broadcast).process(function).execute_and_collect() as found:
            return list(found)

    assert run(Types.INT()) == ["a"]
    with pytest.raises(Exception, match=r"the state 'rules \(broadcast\)' as MapState.*Long"):
        run(Types.LONG())


class Elements(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield from elements


@pytest.mark.complete
def test_windows_that_keep_something_else_are_refused(job):
    def windows(ds):
        return ds.window(TumblingEventTimeWindows.of(Time.seconds(1)))

    assert job(lambda ds: windows(ds).reduce(max).name("w").uid("w"), "a") == []
    match = r"Operator 'w' \(uid w\) is of another operation .*elements\), where .*reduced value"
    with pytest.raises(Exception, match=match):
        job(lambda ds: windows(ds).process(Elements()).name("w").uid("w"), "a")
