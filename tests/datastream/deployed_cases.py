"""Programs of data streams that give the same wherever they run.

A case is a function of an environment and of `read`, which makes a stream of elements with their
timestamps: of a collection, or a micro-batch for each pair of elements.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import sys
import tempfile
import uuid
from pathlib import Path

from deployments import PROGRAMS, run
from pyflow.common import Configuration, Duration, Time, Types, WatermarkStrategy
from pyflow.common.watermark_strategy import TimestampAssigner
from pyflow.datastream import (
    AggregateFunction,
    AsyncDataStream,
    AsyncFunction,
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from pyflow.datastream.evictors import CountEvictor
from pyflow.datastream.join_functions import ProcessJoinFunction
from pyflow.datastream.state import MapStateDescriptor, ValueStateDescriptor
from pyflow.datastream.testing import TestStream
from pyflow.datastream.window import TumblingEventTimeWindows

KINDS = ("bounded", "unbounded")

#: By its name, each case and the kinds of its input.
CASES = {}


def case(*kinds):
    """Add a case under the name of its function."""

    def add(run):
        CASES[run.__name__] = (run, kinds or KINDS)
        return run

    return add


def environment(mode, **settings):
    configuration = Configuration()
    configuration.set_string("python.execution-mode", mode)
    for key, value in settings.items():
        configuration.set_string(key.replace("_", "."), value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    return env.set_parallelism(2)


class _First(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[0]


def reader(env, kind):
    """What makes a stream of elements that begin with their timestamp."""

    def read(elements):
        if kind == "bounded":
            strategy = WatermarkStrategy.for_monotonous_timestamps()
            ds = env.from_collection(elements)
            return ds.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(_First()))
        source = TestStream()
        for place in range(0, len(elements), 2):
            pair = elements[place : place + 2]
            source.add_elements(pair, [each[0] for each in pair])
        source.advance_watermark_to_infinity()
        return env.from_source(source, WatermarkStrategy.no_watermarks(), "test")

    return read


def outcome(name, kind, mode):
    """What comes of a case, or its error."""
    env = environment(mode)
    try:
        return {"found": CASES[name][0](env, reader(env, kind))}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def collected(stream):
    with stream.execute_and_collect() as elements:
        return sorted(elements, key=repr)


class _Sum(KeyedProcessFunction):
    """The sum of a key at its timer, and its elements in a side output."""

    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(1000)
        self.sum.update((self.sum.value() or 0) + value[2])
        yield OutputTag("elements"), list(value)

    def on_timer(self, timestamp, ctx):
        yield [ctx.get_current_key(), timestamp, self.sum.value()]


ELEMENTS = [(1, "a", 1), (2, "b", 2), (3, "a", 3), (4, "c", 4), (5, "a", 5), (6, "b", 6)]


@case()
def timers_and_side_outputs(env, read):
    sums = read(ELEMENTS).key_by(lambda value: value[1]).process(_Sum())
    elements = sums.get_side_output(OutputTag("elements")).key_by(lambda value: value[1])
    return collected(sums.union(elements.map(lambda value: ["side", *value])))


class _Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class _Window(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield [key, context.window().start, *elements]


@case()
def windows(env, read):
    keyed = read(ELEMENTS).key_by(lambda value: value[1])
    windowed = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(4)))
    return collected(windowed.aggregate(_Count(), _Window()))


class _Ruled(KeyedBroadcastProcessFunction):
    rules = MapStateDescriptor("rules", Types.STRING(), Types.INT())

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(self.rules).put("factor", value[1])

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(1000 + value[0])

    def on_timer(self, timestamp, ctx):
        factor = ctx.get_broadcast_state(self.rules).get("factor")
        yield [ctx.get_current_key(), timestamp, factor]


@case()
def broadcast_state(env, read):
    rules = read([(1, 10), (2, 20)]).broadcast(_Ruled.rules)
    ds = read(ELEMENTS).key_by(lambda value: value[1])
    return collected(ds.connect(rules).process(_Ruled()))


LEFT = [(1, "a", "l1"), (2, "b", "l2"), (5, "a", "l3"), (6, "a", "l4")]
RIGHT = [(1, "a", "r1"), (3, "a", "r2"), (6, "b", "r3"), (7, "a", "r4")]


def _key(value):
    return value[1]


@case()
def joined_windows(env, read):
    both = read(LEFT).join(read(RIGHT)).where(_key).equal_to(_key)
    windowed = both.window(TumblingEventTimeWindows.of(Time.milliseconds(4)))
    return collected(windowed.apply(lambda left, right: [left[2], right[2]]))


@case()
def grouped_windows(env, read):
    both = read(LEFT).co_group(read(RIGHT)).where(_key).equal_to(_key)
    windowed = both.window(TumblingEventTimeWindows.of(Time.milliseconds(4)))

    def together(lefts, rights):
        yield [sorted(left[2] for left in lefts), sorted(right[2] for right in rights)]

    return collected(windowed.apply(together))


class _Near(ProcessJoinFunction):
    def process_element(self, left, right, ctx):
        yield [left[2], right[2], ctx.get_right_timestamp() - ctx.get_left_timestamp()]
        if ctx.get_timestamp() == 7:
            yield OutputTag("last"), ["last", left[2]]


@case()
def joined_intervals(env, read):
    joined = read(LEFT).key_by(_key).interval_join(read(RIGHT).key_by(_key))
    pairs = joined.between(Time.milliseconds(-2), Duration.of_millis(2)).process(_Near())
    return collected(pairs.union(pairs.get_side_output(OutputTag("last"))))


class _Kept(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield [key, *(each[2] for each in elements)]


@case()
def evicted_elements(env, read):
    windowed = read(LEFT).key_by(_key).window(TumblingEventTimeWindows.of(Time.milliseconds(8)))
    return collected(windowed.evictor(CountEvictor.of(2)).process(_Kept()))


class _Later(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(0.01 * (6 - value[0]))
        return [value[0]]


@case()
def asynchronous_calls(env, read):
    return collected(AsyncDataStream.ordered_wait(read(ELEMENTS), _Later(), Time.seconds(10)))


@case()
def printed(env, read):
    read(ELEMENTS).key_by(lambda value: value[1]).map(lambda value: value[1] * 2).print()
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        env.execute(str(uuid.uuid4()))
    return sorted(line.split("> ")[1] for line in output.getvalue().splitlines())


@case()
def an_error(env, read):
    ds = read(ELEMENTS).key_by(lambda value: value[1])
    return collected(ds.map(lambda value: 1 // (value[0] - 4)).name("inverse"))


def _place(value):
    return Path("/proc/self/exe").resolve().name


@case()
def places(env, read):
    ds = read(ELEMENTS).map(_place).key_by(lambda value: value)
    return sorted(set(collected(ds.map(lambda value: f"{value} {_place(value)}"))))


class _Told(MapFunction):
    def __init__(self, file):
        self.file = file

    def open(self, runtime_context):
        self.say(f"open {os.getpid()}")

    def map(self, value):
        self.say(f"map {os.getpid()}")
        return value[1]

    def close(self):
        self.say(f"close {os.getpid()}")

    def say(self, what):
        with Path(self.file).open("a") as file:
            file.write(f"{what}\n")


@case()
def life_cycle(env, read):
    """Whether all that was opened has been closed there."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "calls"
        ds = read(ELEMENTS).map(_Told(str(file))).key_by(lambda value: value)
        collected(ds.map(lambda value: value).map(lambda value: (0, value)).map(_Told(str(file))))
        calls = file.read_text().splitlines()
    opened = sorted(each.split()[1] for each in calls if each.startswith("open"))
    closed = sorted(each.split()[1] for each in calls if each.startswith("close"))
    mapped = sum(each.startswith("map") for each in calls)
    return [mapped, len(opened) >= 2, opened == closed]


class _Counting(MapFunction):
    """Says how often it was opened and closed, and counts in a field."""

    def __init__(self, file):
        self.file = file

    def open(self, runtime_context):
        self.seen = 0
        self.say("open")

    def map(self, value):
        self.seen += 1
        return self.seen

    def close(self):
        self.say("close")

    def say(self, what):
        with Path(self.file).open("a") as file:
            file.write(f"{what}\n")


_MANY = 200


@case("unbounded")
def many_batches(env, read):
    """How often four subtasks open and close a function, and how much it has counted in each."""
    source = TestStream()
    for _ in range(_MANY):
        source.add_elements(range(64))
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "calls"
        env.set_parallelism(4)
        ds = env.from_source(source, WatermarkStrategy.no_watermarks(), "test")
        found = collected(ds.key_by(lambda value: value).map(_Counting(str(file))))
        calls = file.read_text().split()
    return [calls.count("open"), calls.count("close"), found.count(1), max(found) >= 8 * _MANY]


@case("unbounded")
def a_restart(env, read):
    """What a job finds, and what it finds when it is started again, in the other mode, too."""
    source, found = TestStream(), []
    with tempfile.TemporaryDirectory() as directory:
        for number, mode in enumerate(("thread", "process", "thread")):
            source.add_elements([(number, "a", 1), (number, "b", 1)], [number, number])
            settings = {"execution_checkpointing_dir": Path(directory).as_uri()}
            again = environment(mode, **settings)
            ds = again.from_source(source, WatermarkStrategy.no_watermarks(), "test")
            keyed = ds.key_by(lambda value: value[1])
            counts = keyed.map(lambda value: (value[1], value[2])).key_by(lambda value: value[0])
            found.append(collected(counts.sum(1).map(list)))
    return found


class _Clock(KeyedProcessFunction):
    def process_element(self, value, ctx):
        service = ctx.timer_service()
        service.register_processing_time_timer(service.current_processing_time() + 500)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key()


@case("unbounded")
def timers_of_the_clock(env, read):
    """They fire though nothing comes: executors say when the next one is due."""
    source = TestStream().add_elements(["a", "b"])
    source.ends = False
    ds = env.from_source(source, WatermarkStrategy.no_watermarks(), "test")
    with ds.key_by(lambda value: value).process(_Clock()).execute_and_collect() as elements:
        return sorted(next(elements) for _ in range(2))


_SUMS = [["a", 1000, 9], ["b", 1000, 8], ["c", 1000, 4]]
_RULED = [(1, "a"), (3, "a"), (5, "a"), (2, "b"), (6, "b"), (4, "c")]

#: The cases that do not take minutes.
SHORT = [name for name in CASES if name != "many_batches"]

#: What the cases give; an error as a part of its text.
EXPECTED = {
    "timers_and_side_outputs": [*_SUMS, *(["side", *each] for each in ELEMENTS)],
    "windows": [["a", 0, 2], ["a", 4, 1], ["b", 0, 1], ["b", 4, 1], ["c", 4, 1]],
    "broadcast_state": [[key, 1000 + at, 20] for at, key in _RULED],
    "joined_windows": [["l1", "r1"], ["l1", "r2"], ["l3", "r4"], ["l4", "r4"]],
    "grouped_windows": [
        [["l1"], ["r1", "r2"]],
        [["l2"], []],
        [["l3", "l4"], ["r4"]],
        [[], ["r3"]],
    ],
    "joined_intervals": [
        *(["l1", "r1", 0], ["l1", "r2", 2], ["l3", "r2", -2], ["l3", "r4", 2], ["l4", "r4", 1]),
        *(["last", "l3"], ["last", "l4"]),
    ],
    "evicted_elements": [["a", "l3", "l4"], ["b", "l2"]],
    "asynchronous_calls": [1, 2, 3, 4, 5, 6],
    "printed": ["aa", "aa", "aa", "bb", "bb", "cc"],
    "an_error": "operator 'inverse' failed at (4, 'c', 4) of type tuple: ZeroDivisionError",
    "life_cycle": [12, True, True],
    "many_batches": [4, 4, 4, True],
    "a_restart": [[["a", number], ["b", number]] for number in (1, 2, 3)],
    "timers_of_the_clock": ["a", "b"],
}


def assert_expected(found):
    """Compare what cases have given, by their mode, kind and name."""
    for where, made in found.items():
        mode, _, name = where.split(" ")
        if name == "places":
            (place,) = made["found"]
            assert (place == "java java") == (mode == "thread"), where
        elif isinstance(EXPECTED[name], str):
            assert EXPECTED[name] in made["error"], where
        else:
            assert made == {"found": EXPECTED[name]}, where


def found_in(master, folder, modes, names):
    """What cases give in a session of its own, by their mode, kind of input and name."""
    file = folder / "found.json"
    command = [sys.executable, PROGRAMS / "stream_cases.py", master, file, *modes, "--", *names]
    run(command, folder, seconds=1200)
    return json.loads(file.read_text())
