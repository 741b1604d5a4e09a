"""Unbounded streams: what functions, state and timers do from batch to batch."""

from __future__ import annotations

import asyncio
import json
import uuid
from pathlib import Path

import pytest

from pyflow.common import Duration, Time, Types, WatermarkStrategy
from pyflow.common.watermark_strategy import TimestampAssigner, WatermarkGenerator
from pyflow.datastream import (
    AggregateFunction,
    AsyncDataStream,
    AsyncFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessFunction,
    ProcessWindowFunction,
)
from pyflow.datastream.graph.manifest import IncompatibleProgramError
from pyflow.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ValueStateDescriptor,
)
from pyflow.datastream.testing import TestStream
from pyflow.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows
from pyflow.session.queries import has_checkpoint_in_use
from pyflow.util.exceptions import TableException

NOTHING = WatermarkStrategy.no_watermarks()
START = -(1 << 63)
END = (1 << 63) - 1


@pytest.fixture(params=["thread", pytest.param("process", marks=pytest.mark.complete)])
def mode(request):
    return request.param


def collected(stream):
    with stream.execute_and_collect() as elements:
        return list(elements)


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Counted(KeyedProcessFunction):
    """The sum of a key, and a timer a second after each element."""

    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value, ctx):
        self.sum.update((self.sum.value() or 0) + value[1])
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 1000)
        yield "element", value[0], self.sum.value(), ctx.timer_service().current_watermark()

    def on_timer(self, timestamp, ctx):
        watermark = ctx.timer_service().current_watermark()
        yield "timer", ctx.get_current_key(), self.sum.value(), timestamp, watermark


def counted_source():
    return (
        TestStream()
        .add_elements([("a", 1), ("b", 2)], [100, 200])
        .add_elements([("a", 5)], [500])
        .advance_watermark_to(1200)
        .add_elements([("a", 7)], [1300])
        .advance_watermark_to(1500)
        .advance_watermark_to_infinity()
    )


def test_timers_fire_before_the_elements_behind_their_watermark(env):
    ds = env.from_source(counted_source(), NOTHING, "test")
    found = collected(ds.key_by(lambda value: value[0]).process(Counted()))
    assert [each for each in found if each[1] == "a"] == [
        ("element", "a", 1, START),
        ("element", "a", 6, START),
        ("timer", "a", 6, 1100, 1200),
        ("element", "a", 13, 1200),
        ("timer", "a", 13, 1500, 1500),
        ("timer", "a", 13, 2300, END),
    ]
    assert [each for each in found if each[1] == "b"] == [
        ("element", "b", 2, START),
        ("timer", "b", 2, 1200, 1200),
    ]


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class Window(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield key, window.start, window.end, list(elements)


@pytest.mark.complete
def test_windows_behind_windows_are_of_the_same_watermark(make_env):
    """The second window has what the first emits at the watermark at which it is evaluated."""
    env = make_env()
    times = [100, 900, 1100, 2500, 3600]
    source = TestStream().add_elements([("a", t) for t in times[:3]], times[:3])
    source.advance_watermark_to(1500).add_elements([("a", t) for t in times[3:]], times[3:])
    source.advance_watermark_to(3000).advance_watermark_to_infinity()
    second = TumblingEventTimeWindows.of(Time.seconds(1))
    found = collected(
        env.from_source(source, NOTHING, "test")
        .key_by(lambda value: value[0])
        .window(second)
        .aggregate(Count(), Window())
        .key_by(lambda value: value[0])
        .window(second)
        .process(Window())
    )
    assert [(start, elements[0][3]) for _, start, _, elements in found] == [
        (0, [2]),
        (1000, [1]),
        (2000, [1]),
        (3000, [1]),
    ]
    assert all(len(elements) == 1 for *_, elements in found)


class Clocked(KeyedProcessFunction):
    """A timer of the processing time a second after an element."""

    def process_element(self, value, ctx):
        now = ctx.timer_service().current_processing_time()
        ctx.timer_service().register_processing_time_timer(now + 1000)
        yield "element", value, now

    def on_timer(self, timestamp, ctx):
        yield "timer", ctx.get_current_key(), timestamp


def test_timers_of_the_processing_time_fire_though_no_elements_come(env):
    directory = TestStream().add_elements(["a", "b"])
    directory.ends = False
    ds = env.from_source(directory, NOTHING, "test")
    with ds.key_by(lambda value: value).process(Clocked()).execute_and_collect() as elements:
        found = [next(elements) for _ in range(4)]
    times = {value: now for kind, value, now in found[:2] if kind == "element"}
    fired = {value: at for kind, value, at in found[2:] if kind == "timer"}
    assert fired == {value: now + 1000 for value, now in times.items()}


@pytest.mark.complete
def test_sessions_merge_and_late_elements_go_aside(env):
    late = OutputTag("late", Types.PICKLED_BYTE_ARRAY())
    source = TestStream().add_elements([("a", 0), ("a", 50)], [0, 50])
    source.add_elements([("a", 140), ("b", 10)], [140, 10]).advance_watermark_to(400)
    source.add_elements([("a", 60), ("a", 500)], [60, 500]).advance_watermark_to_infinity()
    windows = (
        env.from_source(source, NOTHING, "test")
        .key_by(lambda value: value[0])
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(100)))
        .side_output_late_data(late)
        .process(Window())
    )
    found = collected(
        windows.map(lambda value: ("window", *value[:3])).union(
            windows.get_side_output(late).map(lambda value: ("late", *value))
        )
    )
    assert sorted(found) == [
        ("late", "a", 60),
        ("window", "a", 0, 240),
        ("window", "a", 500, 600),
        ("window", "b", 10, 110),
    ]


class Enriched(KeyedBroadcastProcessFunction):
    rules = MapStateDescriptor("rules", Types.STRING(), Types.INT())

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(self.rules).put(*value)

    def process_element(self, value, ctx):
        yield value, sorted(ctx.get_broadcast_state(self.rules).items())


def test_broadcast_state_is_there_in_later_batches(env):
    elements = TestStream().add_elements([1, 2]).add_elements([3]).add_elements([4])
    rules = TestStream().add_elements([("x", 1)]).add_elements([]).add_elements([("x", 2)])
    ds = env.from_source(elements, NOTHING, "elements")
    broadcast = env.from_source(rules, NOTHING, "rules").broadcast(Enriched.rules)
    found = collected(ds.key_by(lambda value: value).connect(broadcast).process(Enriched()))
    assert sorted(found) == [
        (1, [("x", 1)]),
        (2, [("x", 1)]),
        (3, [("x", 1)]),
        (4, [("x", 2)]),
    ]


class Joined(KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.left = runtime_context.get_list_state(ListStateDescriptor("left", Types.STRING()))

    def process_element1(self, value, ctx):
        self.left.add(value[1])

    def process_element2(self, value, ctx):
        yield value[0], list(self.left), value[1]


def test_connected_streams_share_state(env):
    left = TestStream().add_elements([(1, "a"), (2, "b")]).add_elements([(1, "c")])
    right = TestStream().add_elements([]).add_elements([]).add_elements([(1, "x"), (2, "y")])
    one = env.from_source(left, NOTHING, "left").key_by(lambda value: value[0])
    other = env.from_source(right, NOTHING, "right").key_by(lambda value: value[0])
    found = collected(one.connect(other).process(Joined()))
    assert sorted(found) == [(1, ["a", "c"], "x"), (2, ["b"], "y")]


CALLS = []


class Opened(MapFunction):
    """Says how often it was opened, and keeps a field."""

    def __init__(self, path):
        self.path = path

    def open(self, runtime_context):
        self.seen = 0
        self.write("open")

    def map(self, value):
        self.seen += 1
        return value, self.seen

    def close(self):
        self.write("close")

    def write(self, what):
        with Path(self.path).open("a") as file:
            file.write(f"{what}\n")


def test_functions_are_opened_once_and_keep_their_fields(make_env, tmp_path):
    env = make_env(parallelism=4)
    source = TestStream()
    for _ in range(8):
        source.add_elements(range(8))
    path = str(tmp_path / "calls")
    ds = env.from_source(source, NOTHING, "test").key_by(lambda value: value)
    found = collected(ds.map(Opened(path)))
    calls = Path(path).read_text().split()
    assert (calls.count("open"), calls.count("close")) == (4, 4)
    assert max(seen for _, seen in found) >= 16
    assert len(found) == 64


@pytest.mark.complete
def test_functions_of_a_job_that_is_started_again_are_opened_once(make_env, tmp_path):
    source, path = TestStream(), str(tmp_path / "calls")
    for start in range(1, 3):
        for _ in range(4):
            source.add_elements(range(8))
        env = make_env(execution_checkpointing_dir=(tmp_path / "checkpoints").as_uri())
        ds = env.from_source(source, NOTHING, "test").key_by(lambda value: value)
        found = collected(ds.map(Opened(path)))
        calls = Path(path).read_text().split()
        assert (calls.count("open"), calls.count("close")) == (2 * start, 2 * start)
        assert max(seen for _, seen in found) >= 16


class Again(KeyedProcessFunction):
    """A timer of ten seconds that sets itself again."""

    def process_element(self, value, ctx):
        if value == "start":
            ctx.timer_service().register_event_time_timer(10_000)
        yield value, ctx.timestamp()

    def on_timer(self, timestamp, ctx):
        if timestamp < 3_600_000:
            ctx.timer_service().register_event_time_timer(timestamp + 10_000)
        yield "timer", timestamp


@pytest.mark.parametrize("is_bounded", [False, True])
def test_timers_that_set_themselves_again_fire_in_order(make_env, is_bounded):
    env = make_env(parallelism=1)
    if is_bounded:
        ds = env.from_collection(["start"])
    else:
        source = TestStream().add_elements(["start"], [0]).advance_watermark_to(3_600_000)
        source.add_elements(["later"], [3_600_001])
        ds = env.from_source(source, NOTHING, "test")
    found = collected(ds.key_by(lambda value: 0).process(Again()))
    timers = [("timer", 10_000 * number) for number in range(1, 361)]
    assert found[1:361] == timers
    assert [each[0] for each in found[361:]] == ([] if is_bounded else ["later"])


class Tagged(ProcessFunction):
    """Three outputs."""

    def __init__(self, path):
        self.path = path

    def process_element(self, value, ctx):
        with Path(self.path).open("a") as file:
            file.write(f"{value}\n")
        yield value
        yield OutputTag("even"), value * 10
        if value % 2:
            yield OutputTag("odd"), value * 100


@pytest.mark.complete
def test_a_function_with_three_outputs_runs_once_for_an_element(make_env, tmp_path):
    env, path = make_env(), str(tmp_path / "calls")
    source = TestStream().add_elements(range(5)).add_elements(range(5, 10))
    main = env.from_source(source, NOTHING, "test").process(Tagged(path))
    even = main.get_side_output(OutputTag("even")).key_by(lambda value: value % 3)
    odd = main.get_side_output(OutputTag("odd"))
    found = collected(main.union(even.map(lambda value: value), odd))
    assert sorted(found) == sorted(
        [*range(10), *(10 * each for each in range(10)), *(100 * each for each in (1, 3, 5, 7, 9))]
    )
    assert sorted(map(int, Path(path).read_text().split())) == list(range(10))


def program(env, source, uid="sums"):
    return (
        env.from_source(source, NOTHING, "test")
        .key_by(lambda value: value[0])
        .process(Counted())
        .uid(uid)
    )


def test_a_job_goes_on_from_its_checkpoint(make_env, tmp_path, mode):
    settings = {"execution_checkpointing_dir": tmp_path.as_uri()}
    source = counted_source()
    whole = collected(program(make_env(mode=mode), counted_source()))
    found = []
    added, source._added = source._added, []
    for each in added:
        source._added.append(each)
        found += collected(program(make_env(mode=mode, **settings), source))
    assert sorted(found, key=str) == sorted(whole, key=str)


def test_a_changed_program_keeps_its_state_by_uid(make_env, tmp_path):
    settings = {"execution_checkpointing_dir": tmp_path.as_uri()}
    source = TestStream().add_elements([("a", 1)], [0])
    collected(program(make_env(**settings), source))
    source.add_elements([("a", 2)], [0])
    env = make_env(**settings)
    ds = env.from_source(source, NOTHING, "test").filter(lambda value: True)
    found = collected(
        ds.key_by(lambda value: value[0])
        .process(Counted())
        .uid("sums")
        .union(ds.key_by(lambda value: value[0]).sum(1).uid("other"))
    )
    assert ("element", "a", 3, START) in found
    assert ("a", 2) in found


@pytest.mark.complete
def test_windows_that_were_open_keep_the_size_that_they_had(make_env, tmp_path):
    source = TestStream().add_elements([1], [1000])

    def run(seconds):
        env = make_env(execution_checkpointing_dir=(tmp_path / "checkpoints").as_uri())
        keyed = env.from_source(source, NOTHING, "test").key_by(lambda value: 0)
        windows = keyed.window(TumblingEventTimeWindows.of(Time.seconds(seconds)))
        return collected(windows.process(Window()).uid("windows"))

    assert run(10) == []
    source.add_elements([2], [2000]).advance_watermark_to_infinity()
    assert sorted(run(20)) == [(0, 0, 10_000, [1]), (0, 0, 20_000, [2])]


def test_an_operator_with_a_uid_may_get_another_name(make_env, tmp_path):
    settings = {"execution_checkpointing_dir": tmp_path.as_uri()}
    source = TestStream().add_elements([("a", 1)], [0])
    collected(program(make_env(**settings), source))
    source.add_elements([("a", 2)], [0])
    found = collected(program(make_env(**settings), source).name("totals"))
    assert ("element", "a", 3, START) in found


def test_a_checkpoint_has_one_job_at_a_time(make_env, spark, tmp_path):
    settings = {"execution_checkpointing_dir": tmp_path.as_uri()}
    source = TestStream().add_elements([("a", 1)], [0])
    source.ends = False
    env = make_env(**settings)
    program(env, source).print()
    job = env.execute_async("first")
    try:
        again = make_env(**settings)
        program(again, source).print()
        with pytest.raises(TableException, match="a job runs whose checkpoint is"):
            again.execute_async("first")
        assert has_checkpoint_in_use(spark.newSession(), f"{tmp_path}/0/spark")
        assert job.get_job_status().result().name == "RUNNING"
    finally:
        job.cancel().result()


def files_of(directory):
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def test_a_program_that_lost_an_operator_is_refused_and_the_checkpoint_stays(make_env, tmp_path):
    settings = {"execution_checkpointing_dir": tmp_path.as_uri()}
    source = TestStream().add_elements([("a", 1)], [0])
    collected(program(make_env(**settings), source))
    before = files_of(tmp_path)
    source.add_elements([("a", 2)], [0])
    with pytest.raises(IncompatibleProgramError, match=r"uid sums.*ignore-unclaimed-state"):
        collected(program(make_env(**settings), source, "another"))
    assert files_of(tmp_path) == before
    found = collected(program(make_env(**settings), source))
    assert ("element", "a", 3, START) in found


def test_a_job_is_stopped_with_a_savepoint(make_env, tmp_path):
    checkpoints, savepoints = tmp_path / "checkpoints", tmp_path / "savepoints"
    settings = {"execution_checkpointing_dir": checkpoints.as_uri()}
    source = TestStream().add_elements([("a", 1)], [0])
    env = make_env(**settings)
    program(env, source).print()
    client = env.execute_async(str(uuid.uuid4()))
    client.get_job_execution_result().result()
    path = client.stop_with_savepoint(False, savepoints.as_uri()).result()
    assert json.loads(next(Path(path.removeprefix("file:")).rglob("*manifest.json")).read_text())
    source.add_elements([("a", 2)], [0])
    other = tmp_path / "others"
    env = make_env(execution_checkpointing_dir=other.as_uri(), execution_savepoint_path=path)
    assert ("element", "a", 3, START) in collected(program(env, source))


def test_settings_that_a_checkpoint_overrides_are_warned_of(make_env, tmp_path, caplog):
    checkpoints = (tmp_path / "checkpoints").as_uri()
    source = TestStream().add_elements([("a", 1)], [0])
    collected(program(make_env(execution_checkpointing_dir=checkpoints), source))
    source.add_elements([("a", 2)], [0])
    settings = {
        "execution_checkpointing_dir": checkpoints,
        "execution_savepoint_path": "/savepoints/older",
    }

    found = collected(program(make_env(parallelism=3, **settings), source))

    assert ("element", "a", 3, START) in found
    assert "and not from the savepoint /savepoints/older" in caplog.text
    assert "a parallelism of 2, which stays; 3 is without effect" in caplog.text


class Punctuated(WatermarkGenerator):
    """A watermark where an element says so."""

    def on_event(self, value, timestamp, output):
        if value[0] == "mark":
            output.emit_watermark(value[1])

    def on_periodic_emit(self, output):
        pass


def test_a_generator_of_the_program_says_the_watermarks(make_env):
    env = make_env(parallelism=1)
    source = TestStream().add_elements([("a", 5000)]).add_elements([("mark", 4000)])
    source.add_elements([("a", 1)])
    strategy = WatermarkStrategy.for_generator(Punctuated).with_timestamp_assigner(Second())
    ds = env.from_source(source, strategy, "test")
    found = collected(ds.key_by(lambda value: value[0]).process(Counted()))
    assert ("element", "a", 5001, 4000) in found
    assert ("element", "a", 5000, START) in found


def test_watermarks_follow_their_strategy(make_env):
    env = make_env(parallelism=1)
    source = TestStream().add_elements([("a", 5000)]).add_elements([("a", 3000)])
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
    ds = env.from_source(source, strategy.with_timestamp_assigner(Second()), "test")
    found = collected(ds.key_by(lambda value: value[0]).process(Counted()))
    assert found[0] == ("element", "a", 5000, START)
    assert found[1] == ("element", "a", 8000, 3999)


class Marked(ProcessWindowFunction):
    """The watermark at which a window is evaluated."""

    def process(self, key, context, elements):
        yield key, context.current_watermark()


def test_the_watermark_of_elements_that_are_filtered_goes_on(make_env):
    source = TestStream().add_elements([("a", 1000)]).add_elements([("b", 60_000)])
    source.add_elements([("b", 120_000)])
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    ds = make_env(parallelism=1).from_source(source, strategy, "test")
    kept = ds.filter(lambda value: value[0] == "a").key_by(lambda value: value[0])
    windows = kept.window(TumblingEventTimeWindows.of(Time.seconds(10)))
    assert collected(windows.process(Marked())) == [("a", 59_999)]


def sums_of_windows(env):
    """A sum at 10 s and one at 30 s, both with the timestamps of their windows."""
    source = TestStream().add_elements([1], [1000]).advance_watermark_to(10_000)
    source.add_elements([2], [12_000]).advance_watermark_to(30_000).advance_watermark_to_infinity()
    windows = env.from_source(source, NOTHING, "test").key_by(lambda value: 0)
    return windows.window(TumblingEventTimeWindows.of(Time.seconds(10))).reduce(
        lambda one, other: one + other
    )


class Debounced(KeyedProcessFunction):
    """A timer of 15 s, which the next element deletes."""

    def open(self, runtime_context):
        self.timer = runtime_context.get_state(ValueStateDescriptor("timer", Types.LONG()))

    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        if self.timer.value() is not None:
            timers.delete_event_time_timer(self.timer.value())
        self.timer.update(ctx.timestamp() + 15_000)
        timers.register_event_time_timer(self.timer.value())

    def on_timer(self, timestamp, ctx):
        yield timestamp


@pytest.mark.complete
def test_an_element_before_the_watermark_deletes_a_timer_that_is_due(env):
    found = collected(sums_of_windows(env).key_by(lambda value: 0).process(Debounced()))
    assert found == [34_999]


class Slow(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(0.05)
        return [value]


@pytest.mark.complete
def test_results_of_asynchronous_calls_come_before_the_watermark(env):
    results = AsyncDataStream.ordered_wait(sums_of_windows(env), Slow(), Time.seconds(30))
    windows = results.window_all(TumblingEventTimeWindows.of(Time.seconds(10)))
    assert collected(windows.reduce(lambda one, other: one + other)) == [1, 2]


def test_operators_with_the_same_uid_are_refused(make_env):
    keyed = make_env().from_source(counted_source(), NOTHING, "test").key_by(lambda value: value[0])
    one, other = (keyed.process(Counted()).name(name).uid("same") for name in ("one", "other"))
    with pytest.raises(TableException, match=r"'one', 'other' have the same uid\(\) 'same'"):
        collected(one.union(other))


@pytest.mark.parametrize("mode", ["thread", "process"])
def test_elements_keep_their_order_where_a_sort_spills(make_env, spark, mode):
    env = make_env(parallelism=1, mode=mode)
    stream = env.from_source(TestStream().add_elements(range(400)), NOTHING, "test")
    passed = stream.map(lambda value: ("passed", value))
    keyed = stream.key_by(lambda value: value % 2).map(lambda value: ("keyed", value))
    conf = spark._jsc.sc().conf()
    key = "spark.shuffle.spill.numElementsForceSpillThreshold"
    conf.set(key, "37")
    try:
        found = collected(passed.union(keyed))
    finally:
        conf.remove(key)

    assert [value for kind, value in found if kind == "passed"] == list(range(400))
    assert sorted(value for kind, value in found if kind == "keyed") == list(range(400))
