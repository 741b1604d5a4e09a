"""What programs are told that cannot run, before or when they fail."""

from __future__ import annotations

import threading

import pytest

from pyflow.common import Time, Types, WatermarkStrategy
from pyflow.datastream import (
    AsyncDataStream,
    AsyncFunction,
    BroadcastProcessFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessAllWindowFunction,
    ProcessFunction,
)
from pyflow.datastream.graph.pickling import UnpicklableFunctionError
from pyflow.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ValueStateDescriptor,
)
from pyflow.datastream.testing import TestStream
from pyflow.datastream.window import CountTumblingWindowAssigner


def collected(stream):
    with stream.execute_and_collect() as elements:
        return list(elements)


def test_a_function_that_fails_names_its_operator_and_the_element(env):
    ds = env.from_collection([1, 0]).map(lambda value: 1 // value).name("inverse")
    with pytest.raises(Exception, match=r"operator 'inverse' failed at 0 of type int"):
        collected(ds)


@pytest.mark.complete("process", "thread-1", "thread-7", "thread-38")
@pytest.mark.parametrize("at", [0, 1, 7, 32, 38, 39])
def test_each_operator_of_a_long_chain_is_named(env, at):
    def work(number):
        def apply(value):
            if number == at:
                raise ValueError("wanted")
            return value + 1

        return apply

    ds = env.from_collection([5])
    for number in range(0, 40, 2):
        ds = ds.map(work(number)).name(f"operator-{number}")
        ds = ds.filter(work(number + 1)).name(f"operator-{number + 1}")

    element = 5 + (at + 1) // 2
    message = rf"operator 'operator-{at}' failed at {element} of type int: ValueError: wanted"
    with pytest.raises(Exception, match=message):
        collected(ds)


def test_an_element_that_does_not_fit_is_that_which_came_to_its_operator(env):
    ds = env.from_collection([5]).map(lambda value: value + 1).name("before")
    ds = ds.map(lambda value: "text", Types.INT()).name("typed")
    with pytest.raises(Exception, match=r"operator 'typed' failed at 6 of type int.*expected INT"):
        collected(ds.key_by(lambda value: 1).map(lambda value: value))


def test_a_keyed_function_that_fails_names_its_operator_and_the_element(env):
    class Failing(KeyedProcessFunction):
        def process_element(self, value, ctx):
            yield value["x"]

    ds = env.from_collection([{"y": 1}]).key_by(lambda value: 1).process(Failing()).name("reads x")
    with pytest.raises(Exception, match=r"operator 'reads x' failed at \{'y': 1\} of type dict"):
        collected(ds)


def test_an_element_that_does_not_fit_its_type_names_the_field(env):
    rows = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
    ds = env.from_collection([1]).map(lambda value: (value, value), output_type=rows)
    with pytest.raises(Exception, match=r"expected STRING in field 'name', got 1 of type int"):
        collected(ds)


def test_a_collection_that_does_not_fit_its_type_is_refused_where_it_is_given(make_env):
    with pytest.raises(TypeError, match="expected INT, from -2147483648 to 2147483647, got"):
        make_env().from_collection([1 << 40], Types.INT())


NOTHING = WatermarkStrategy.no_watermarks()
RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


@pytest.mark.complete("True", "lambda>1", "lambda>2", "lambda>3")
@pytest.mark.parametrize(
    "write",
    [
        lambda state: state.put("x", 1),
        lambda state: state.put_all({"x": 1}),
        lambda state: state.__setitem__("x", 1),
        lambda state: state.remove("x"),
        lambda state: state.clear(),
    ],
)
@pytest.mark.parametrize("is_keyed", [False, True])
def test_broadcast_state_is_not_written_for_one_subtask(make_env, write, is_keyed):
    class Writing(KeyedBroadcastProcessFunction if is_keyed else BroadcastProcessFunction):
        def process_broadcast_element(self, value, ctx):
            ctx.get_broadcast_state(RULES).put(*value)

        def process_element(self, value, ctx):
            write(ctx.get_broadcast_state(RULES))
            yield value

    env = make_env()
    rules = env.from_collection([("a", 1)]).broadcast(RULES)
    ds = env.from_collection(["a"])
    ds = ds.key_by(lambda value: value) if is_keyed else ds
    with pytest.raises(Exception, match=r"written in process_broadcast_element\(\) alone"):
        collected(ds.connect(rules).process(Writing()))


KEYED = {
    "value": (ValueStateDescriptor("kept", Types.INT()), lambda state: state.value()),
    "list": (ListStateDescriptor("kept", Types.INT()), lambda state: state.add(1)),
    "map": (
        MapStateDescriptor("kept", Types.STRING(), Types.INT()),
        lambda state: state.put("x", 1),
    ),
}


@pytest.mark.complete("False-", "True-list", "True-map")
@pytest.mark.parametrize("kind", KEYED)
@pytest.mark.parametrize("is_bounded", [False, True])
def test_keyed_state_is_refused_for_elements_of_a_broadcast_stream(make_env, kind, is_bounded):
    descriptor, use = KEYED[kind]

    class Counting(KeyedBroadcastProcessFunction):
        def open(self, runtime_context):
            states = {"value": "get_state", "list": "get_list_state", "map": "get_map_state"}
            self.kept = getattr(runtime_context, states[kind])(descriptor)

        def process_broadcast_element(self, value, ctx):
            ctx.get_broadcast_state(RULES).put(*value)
            if value[0] == "wrong":
                use(self.kept)

        def process_element(self, value, ctx):
            use(self.kept)
            yield value, ctx.get_broadcast_state(RULES).get("right")

    def run(rule):
        env = make_env()
        if is_bounded:
            ds, rules = env.from_collection(["a"]), env.from_collection([(rule, 1)])
        else:
            ds, rules = (
                env.from_source(TestStream().add_elements(each), NOTHING, "test")
                for each in (["a"], [(rule, 1)])
            )
        keyed = ds.key_by(lambda value: value).connect(rules.broadcast(RULES))
        return collected(keyed.process(Counting()))

    assert run("right") == [("a", 1)]
    with pytest.raises(Exception, match="the elements of a broadcast stream have none"):
        run("wrong")


class CountsBoth(CoProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element1(self, value, ctx):
        yield value

    process_element2 = process_element1


class CountsByRule(BroadcastProcessFunction):
    open = CountsBoth.open

    def process_element(self, value, ctx):
        yield value

    process_broadcast_element = process_element


class CountsAnswers(AsyncFunction):
    open = CountsBoth.open

    async def async_invoke(self, value):
        return [value]


STATE_WITHOUT_KEYS = {
    "connected": lambda one, other: one.connect(other).process(CountsBoth()),
    "broadcast": lambda one, other: one.connect(other.broadcast(RULES)).process(CountsByRule()),
    "async": lambda one, other: AsyncDataStream.unordered_wait(
        one, CountsAnswers(), Time.seconds(5)
    ),
}


@pytest.mark.parametrize("name", STATE_WITHOUT_KEYS)
def test_state_without_keys_is_refused_behind_a_shuffle(make_env, name):
    env = make_env()
    ds = STATE_WITHOUT_KEYS[name](env.from_collection([1]), env.from_collection([2]))
    with pytest.raises(Exception, match="only accessible by functions executed on a KeyedStream"):
        collected(ds)


def test_functions_of_all_windows_have_state(make_env):
    class Numbered(ProcessAllWindowFunction):
        def open(self, runtime_context):
            self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

        def process(self, context, elements):
            self.count.update((self.count.value() or 0) + 1)
            yield self.count.value(), sorted(elements)

    ds = make_env().set_parallelism(1).from_collection([1, 2, 3, 4])
    windows = ds.window_all(CountTumblingWindowAssigner.of(2))
    assert collected(windows.process(Numbered())) == [(1, [1, 2]), (2, [3, 4])]


def test_a_captured_object_that_cannot_be_pickled_is_named(make_env):
    lock = threading.Lock()
    ds = make_env().from_collection([1]).map(lambda value: (lock, value)).name("locking")
    message = r"operator 'locking' cannot be sent to executors.*captured 'lock', a lock"
    with pytest.raises(UnpicklableFunctionError, match=message):
        collected(ds)


def test_a_captured_stream_is_named(make_env):
    ds = make_env().from_collection([1])
    with pytest.raises(UnpicklableFunctionError, match=r"captured 'ds', a DataStream"):
        collected(ds.map(lambda value: (ds, value)))


def test_a_captured_environment_is_named(make_env):
    env = make_env()
    with pytest.raises(UnpicklableFunctionError, match=r"'env', a StreamExecutionEnvironment"):
        collected(env.from_collection([1]).map(lambda value: (env, value)))


def test_a_program_that_writes_nothing_is_refused(make_env):
    env = make_env()
    env.from_collection([1])
    with pytest.raises(RuntimeError, match="No operators defined in streaming topology"):
        env.execute()


class WithState(MapFunction):
    def open(self, runtime_context):
        self.state = runtime_context.get_state(ValueStateDescriptor("n", Types.INT()))

    def map(self, value):
        return value


def test_state_without_keys_is_refused(make_env):
    with pytest.raises(Exception, match="only accessible by functions executed on a KeyedStream"):
        collected(make_env().from_collection([1]).map(WithState()))


class TwoTypes(KeyedProcessFunction):
    def open(self, runtime_context):
        runtime_context.get_state(ValueStateDescriptor("n", Types.INT()))
        runtime_context.get_state(ValueStateDescriptor("n", Types.STRING()))

    def process_element(self, value, ctx):
        yield value


def test_state_of_two_types_under_one_name_is_refused(make_env):
    with pytest.raises(Exception, match="state 'n' is declared twice, with different types"):
        collected(make_env().from_collection([1]).key_by(lambda value: value).process(TwoTypes()))


class Timer(ProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(1)
        yield value


def test_timers_without_keys_are_refused(make_env):
    with pytest.raises(Exception, match="timers are only supported on a keyed stream"):
        collected(make_env().from_collection([1]).process(Timer()))


def test_watermarks_behind_a_shuffle_are_refused_before_the_program_runs(make_env):
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    ds = make_env().from_collection([1]).key_by(lambda value: value).map(lambda value: value)
    with pytest.raises(Exception, match="assigns watermarks behind a shuffle"):
        collected(ds.assign_timestamps_and_watermarks(strategy))


def test_an_unbounded_source_is_refused_in_batch_mode(make_env):
    env = make_env(execution_runtime__mode="BATCH")
    ds = env.from_source(TestStream(), WatermarkStrategy.no_watermarks(), "test")
    with pytest.raises(ValueError, match="Detected an UNBOUNDED source"):
        collected(ds)


def test_windows_of_the_program_need_a_serializer(make_env):
    names = {"__name__": "__main__"}
    exec(WINDOWS_OF_THE_PROGRAM, names)
    ds = make_env().from_collection([1]).key_by(lambda value: value).window(names["Weeks"]())
    with pytest.raises(Exception, match=r"windows of Week cannot be pickled: have get_window_ser"):
        collected(ds.reduce(lambda one, other: one + other))


WINDOWS_OF_THE_PROGRAM = """
from pyflow.datastream.window import CountTrigger, Window, WindowAssigner


class Week(Window):
    def __init__(self, number):
        self.number = number

    def max_timestamp(self):
        return self.number

    def __eq__(self, other):
        return self.number == other.number

    def __hash__(self):
        return hash(self.number)


class Weeks(WindowAssigner):
    def assign_windows(self, element, timestamp, context):
        return [Week(element)]

    def get_default_trigger(self, env):
        return CountTrigger.of(1)

    def get_window_serializer(self):
        return None

    def is_event_time(self):
        return True
"""
