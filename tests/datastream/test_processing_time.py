"""Timers, windows and the time to live of state in the processing time, which a test advances."""

from __future__ import annotations

import pytest

from pyflow.common import Time, Types, WatermarkStrategy
from pyflow.datastream import KeyedProcessFunction, ProcessFunction, ProcessWindowFunction
from pyflow.datastream.testing import TestStream
from pyflow.datastream.window import (
    ContinuousProcessingTimeTrigger,
    CountTrigger,
    DynamicProcessingTimeSessionWindows,
    GlobalWindows,
    ProcessingTimeSessionWindows,
    ProcessingTimeTrigger,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    SlidingProcessingTimeWindows,
    TumblingProcessingTimeWindows,
)
from pyflow.util.exceptions import TableException

NOTHING = WatermarkStrategy.no_watermarks()


@pytest.fixture(params=["thread", pytest.param("process", marks=pytest.mark.complete)])
def mode(request):
    return request.param


def collected(stream):
    with stream.execute_and_collect() as elements:
        return list(elements)


def in_parts(make_env, mode, tmp_path, source, build):
    """Return what a program emits that is started again for each batch of its source."""
    found = []
    added, source._added = source._added, []
    for each in added:
        source._added.append(each)
        env = make_env(mode=mode, execution_checkpointing_dir=tmp_path.as_uri())
        found += collected(build(env.from_source(source, NOTHING, "test")))
    return found


class Window(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield (
            key,
            getattr(window, "start", None),
            getattr(window, "end", None),
            [value for _, value in elements],
        )


class Gap(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return 300 if element[1] == 3 else 700


def clicks():
    return (
        TestStream()
        .advance_processing_time(100)
        .add_elements([("a", 1), ("b", 2)])
        .advance_processing_time(400)
        .add_elements([("a", 3)])
        .advance_processing_time(600)
        .add_elements([("a", 5)])
        .advance_processing_time(1500)
        .add_elements([("b", 7)])
        .advance_processing_time(10_000)
    )


WINDOWS = {
    "tumbling": (
        lambda keyed: keyed.window(TumblingProcessingTimeWindows.of(Time.seconds(1))),
        [
            ("a", 0, 1000, [1, 3]),
            ("a", 1000, 2000, [5]),
            ("b", 0, 1000, [2]),
            ("b", 2000, 3000, [7]),
        ],
    ),
    "tumbling with an offset": (
        lambda keyed: keyed.window(
            TumblingProcessingTimeWindows.of(Time.seconds(1), Time.milliseconds(300))
        ),
        [
            ("a", -700, 300, [1]),
            ("a", 300, 1300, [3, 5]),
            ("b", -700, 300, [2]),
            ("b", 2300, 3300, [7]),
        ],
    ),
    "sliding": (
        lambda keyed: keyed.window(
            SlidingProcessingTimeWindows.of(Time.seconds(2), Time.seconds(1))
        ),
        [
            ("a", -1000, 1000, [1, 3]),
            ("a", 0, 2000, [1, 3, 5]),
            ("a", 1000, 3000, [5]),
            ("b", -1000, 1000, [2]),
            ("b", 0, 2000, [2]),
            ("b", 1000, 3000, [7]),
            ("b", 2000, 4000, [7]),
        ],
    ),
    "sessions": (
        lambda keyed: keyed.window(ProcessingTimeSessionWindows.with_gap(Time.milliseconds(700))),
        [
            ("a", 100, 1800, [1, 3, 5]),
            ("b", 100, 800, [2]),
            ("b", 2600, 3300, [7]),
        ],
    ),
    "sessions of gaps that vary": (
        lambda keyed: keyed.window(DynamicProcessingTimeSessionWindows.with_dynamic_gap(Gap())),
        [
            ("a", 100, 800, [1, 3]),
            ("a", 1100, 1800, [5]),
            ("b", 100, 800, [2]),
            ("b", 2600, 3300, [7]),
        ],
    ),
    "a trigger that fires on and on": (
        lambda keyed: keyed.window(TumblingProcessingTimeWindows.of(Time.seconds(5))).trigger(
            ContinuousProcessingTimeTrigger.of(Time.seconds(1))
        ),
        [
            ("a", 0, 5000, [1, 3]),
            *4 * [("a", 0, 5000, [1, 3, 5])],
            *2 * [("b", 0, 5000, [2])],
            *3 * [("b", 0, 5000, [2, 7])],
        ],
    ),
    "a trigger that purges": (
        lambda keyed: keyed.window(TumblingProcessingTimeWindows.of(Time.seconds(2))).trigger(
            PurgingTrigger.of(ProcessingTimeTrigger.create())
        ),
        [("a", 0, 2000, [1, 3, 5]), ("b", 0, 2000, [2]), ("b", 2000, 4000, [7])],
    ),
    "a global window": (
        lambda keyed: keyed.window(GlobalWindows.create()).trigger(CountTrigger.of(2)),
        [("a", None, None, [1, 3]), ("b", None, None, [2, 7])],
    ),
}


def all_windows(ds):
    """Return what all windows emit, each element with their name."""
    keyed = ds.key_by(lambda value: value[0])
    emitted = [
        windows(keyed).process(Window()).map(lambda value, name=name: (name, *value))
        for name, (windows, _) in WINDOWS.items()
    ]
    return emitted[0].union(*emitted[1:])


def check_windows(found):
    by_name = {name: sorted(each[1:] for each in found if each[0] == name) for name in WINDOWS}
    assert by_name == {name: expected for name, (_, expected) in WINDOWS.items()}


@pytest.mark.complete
def test_windows_are_those_of_the_time_that_is_advanced(env):
    check_windows(collected(all_windows(env.from_source(clicks(), NOTHING, "test"))))


@pytest.mark.complete
def test_windows_go_on_after_restarts(make_env, mode, tmp_path):
    check_windows(in_parts(make_env, mode, tmp_path, clicks(), all_windows))


class Timed(KeyedProcessFunction):
    """Timers that an element registers, and deletes."""

    def process_element(self, value, ctx):
        service = ctx.timer_service()
        for action, moment in value[1:]:
            getattr(service, f"{action}_processing_time_timer")(moment)
        yield "element", value[0], service.current_processing_time()

    def on_timer(self, timestamp, ctx):
        if timestamp == 500:
            # One that is due already, and one that is not.
            ctx.timer_service().register_processing_time_timer(600)
            ctx.timer_service().register_processing_time_timer(1500)
        now = ctx.timer_service().current_processing_time()
        yield "timer", ctx.get_current_key(), timestamp, now, ctx.time_domain().name


def timers():
    return (
        TestStream()
        .add_elements([("a", ("register", 900), ("register", 500), ("register", 500))])
        .add_elements([("b", ("register", 700), ("register", 800))])
        .advance_processing_time(600)
        .add_elements([("b", ("delete", 700), ("register", 100))])
        .advance_processing_time(400)
        .advance_processing_time(400)
        .advance_processing_time(400)
    )


def check_timers(found):
    assert [each for each in found if each[1] == "a"] == [
        ("element", "a", 0),
        ("timer", "a", 500, 600, "PROCESSING_TIME"),
        ("timer", "a", 600, 600, "PROCESSING_TIME"),
        ("timer", "a", 900, 1000, "PROCESSING_TIME"),
        ("timer", "a", 1500, 1800, "PROCESSING_TIME"),
    ]
    assert [each for each in found if each[1] == "b"] == [
        ("element", "b", 0),
        ("element", "b", 600),
        ("timer", "b", 100, 600, "PROCESSING_TIME"),
        ("timer", "b", 800, 1000, "PROCESSING_TIME"),
    ]


def test_timers_fire_once_the_time_has_been_advanced(env):
    ds = env.from_source(timers(), NOTHING, "test").key_by(lambda value: value[0])

    check_timers(collected(ds.process(Timed())))


def test_timers_go_on_after_restarts(make_env, mode, tmp_path):
    def build(ds):
        return ds.key_by(lambda value: value[0]).process(Timed())

    check_timers(in_parts(make_env, mode, tmp_path, timers(), build))


class Stamped(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timer_service().current_processing_time()


def test_functions_without_keys_see_the_time(env):
    source = TestStream().add_elements(["x"]).advance_processing_time(7).add_elements(["y"])

    assert collected(env.from_source(source, NOTHING, "test").process(Stamped())) == [
        ("x", 0),
        ("y", 7),
    ]


def test_the_time_begins_anew_with_each_job_without_a_checkpoint(make_env):
    source = TestStream().add_elements(["x"]).advance_processing_time(7).add_elements(["y"])

    for _ in range(2):
        ds = make_env().from_source(source, NOTHING, "test").process(Stamped())
        assert collected(ds) == [("x", 0), ("y", 7)]


def test_one_source_of_a_job_advances_the_time(make_env):
    env = make_env()
    one, other = (
        env.from_source(TestStream(Types.INT()).advance_processing_time(1), NOTHING, name)
        for name in ("one", "other")
    )

    with pytest.raises(TableException, match="more than one source of the job advances"):
        collected(one.union(other))


def test_the_time_does_not_go_back():
    with pytest.raises(ValueError, match="cannot go back, by -1 milliseconds"):
        TestStream().advance_processing_time(-1)
