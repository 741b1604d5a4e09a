"""Windows over a context in memory: assigners, triggers, merging, lateness, evictors and functions.

What is expected follows from how Flink's operator is defined, or was recorded of PyFlink.
"""

from __future__ import annotations

import random
from io import BytesIO

import pytest
import recordings
from memory_context import MemoryContext
from reference.window_cases import CASES, FUNCTIONS, api

from pyflow.common.constants import MAX_LONG_VALUE, MIN_LONG_VALUE
from pyflow.common.time import Duration, Time
from pyflow.common.typeinfo import Types
from pyflow.datastream.evictors import (
    CountEvictor,
    DeltaEvictor,
    DeltaFunction,
    Evictor,
    TimeEvictor,
)
from pyflow.datastream.functions import (
    AggregateFunction,
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    ReduceFunction,
    WindowFunction,
)
from pyflow.datastream.output_tag import OutputTag
from pyflow.datastream.runtime.builtin_windows import (
    AlignedWindowOperator,
    CountWindowOperator,
    SessionWindowOperator,
)
from pyflow.datastream.runtime.windows import WindowOperator, window_operator
from pyflow.datastream.state import MapStateDescriptor, ValueStateDescriptor
from pyflow.datastream.window import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    CountWindow,
    CountWindowSerializer,
    DynamicEventTimeSessionWindows,
    DynamicProcessingTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindow,
    GlobalWindows,
    GlobalWindowSerializer,
    MergingWindowAssigner,
    NeverTrigger,
    ProcessingTimeSessionWindows,
    ProcessingTimeTrigger,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TimeWindow,
    TimeWindowSerializer,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    Window,
    WindowAssigner,
)

RECORDED = recordings.load("datastream/windows")

LATE = OutputTag("late", Types.PICKLED_BYTE_ARRAY())


def ms(number):
    return Time.milliseconds(number)


def add(one, other):
    """Combines elements of a key and a number."""
    return (one[0], one[1] + other[1])


class Total(AggregateFunction):
    """Makes the number of elements and their sum."""

    def create_accumulator(self):
        return [0, 0]

    def add(self, value, accumulator):
        accumulator[0] += 1
        accumulator[1] += value[1]
        return accumulator

    def get_result(self, accumulator):
        return tuple(accumulator)

    def merge(self, acc_a, acc_b):
        return [one + other for one, other in zip(acc_a, acc_b)]


class Numbers(WindowFunction):
    """Makes a tuple of the window's bounds and the numbers of its elements."""

    def apply(self, key, window, inputs):
        yield (key, bounds(window), [each[1] for each in inputs])


def bounds(window):
    if isinstance(window, TimeWindow):
        return (window.start, window.end)
    return repr(window)


def values(emitted):
    return [value for value, _ in emitted]


def running(assigner, **options):
    return MemoryContext(window_operator(assigner, **options))


def tumbling(size=10, offset=0):
    return TumblingEventTimeWindows.of(ms(size), ms(offset))


# Windows and their serializers


def test_a_time_window_ends_before_its_end():
    assert TimeWindow(0, 10).max_timestamp() == 9


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [((0, 5), (4, 9), True), ((0, 5), (5, 9), True), ((0, 5), (6, 9), False)],
)
def test_time_windows_intersect_also_where_one_begins_at_the_other_s_end(one, other, expected):
    assert TimeWindow(*one).intersects(TimeWindow(*other)) is expected
    assert TimeWindow(*other).intersects(TimeWindow(*one)) is expected


def test_a_time_window_covers_another():
    assert TimeWindow(3, 5).cover(TimeWindow(1, 4)) == TimeWindow(1, 5)


@pytest.mark.parametrize(
    ("timestamp", "offset", "start"), [(12, 0, 10), (-1, 0, -10), (12, 3, 3), (12, -8, 12)]
)
def test_a_window_starts_at_a_multiple_of_its_size_and_the_offset(timestamp, offset, start):
    assert TimeWindow.get_window_start_with_offset(timestamp, offset, 10) == start


def test_time_windows_are_sorted_by_start_and_end():
    windows = [TimeWindow(2, 3), TimeWindow(1, 5), TimeWindow(1, 4)]

    assert sorted(windows) == [TimeWindow(1, 4), TimeWindow(1, 5), TimeWindow(2, 3)]
    assert TimeWindow(1, 4) <= TimeWindow(1, 4)
    with pytest.raises(TypeError, match="non-TimeWindow"):
        assert TimeWindow(1, 4) < 3


class Merges(MergingWindowAssigner.MergeCallback):
    def __init__(self):
        self.merged = []

    def merge(self, to_be_merged, merge_result):
        self.merged.append((sorted(to_be_merged), merge_result))


def test_windows_are_merged_that_intersect():
    merges = Merges()
    windows = [TimeWindow(8, 9), TimeWindow(0, 3), TimeWindow(2, 5), TimeWindow(5, 6)]

    TimeWindow.merge_windows(windows, merges)

    merged = [TimeWindow(0, 3), TimeWindow(2, 5), TimeWindow(5, 6)]
    assert merges.merged == [(merged, TimeWindow(0, 6))]


@pytest.mark.parametrize(
    ("serializer", "window", "expected"),
    [
        (TimeWindowSerializer(), TimeWindow(-1, 258), b"\xff" * 8 + b"\0" * 6 + b"\1\2"),
        (CountWindowSerializer(), CountWindow(258), b"\0" * 6 + b"\1\2"),
        (GlobalWindowSerializer(), GlobalWindow.get(), b"\0"),
    ],
)
def test_serializers_write_and_read_windows(serializer, window, expected):
    stream = BytesIO()
    serializer.serialize(window, stream)

    assert stream.getvalue() == expected
    assert serializer.deserialize(BytesIO(expected)) == window


@pytest.mark.parametrize("window", [CountWindow(3), GlobalWindow.get()])
def test_windows_without_time_have_the_largest_timestamp(window):
    assert window.max_timestamp() == MAX_LONG_VALUE


# Assigners


class Moment(WindowAssigner.WindowAssignerContext):
    def __init__(self, time):
        self.time = time

    def get_current_processing_time(self):
        return self.time

    def get_runtime_context(self):
        raise NotImplementedError


TIME_WINDOWS = [
    (TumblingEventTimeWindows, TumblingProcessingTimeWindows, (10,), 12, [(10, 20)]),
    (TumblingEventTimeWindows, TumblingProcessingTimeWindows, (10, 3), 12, [(3, 13)]),
    (TumblingEventTimeWindows, TumblingProcessingTimeWindows, (10,), -1, [(-10, 0)]),
    (SlidingEventTimeWindows, SlidingProcessingTimeWindows, (10, 5), 12, [(10, 20), (5, 15)]),
    (SlidingEventTimeWindows, SlidingProcessingTimeWindows, (10, 5, 1), 12, [(11, 21), (6, 16)]),
    (SlidingEventTimeWindows, SlidingProcessingTimeWindows, (5, 10), 12, [(10, 15)]),
    (SlidingEventTimeWindows, SlidingProcessingTimeWindows, (5, 10), 17, []),
]


@pytest.mark.parametrize(("by_event", "by_clock", "lengths", "time", "expected"), TIME_WINDOWS)
def test_time_windows_are_assigned(by_event, by_clock, lengths, time, expected):
    expected = [TimeWindow(*each) for each in expected]
    lengths = [ms(each) for each in lengths]

    assert by_event.of(*lengths).assign_windows("x", time, Moment(0)) == expected
    assert by_clock.of(*lengths).assign_windows("x", 0, Moment(time)) == expected


class GapOfNumber(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element[1]

    def __repr__(self):
        return "GapOfNumber()"


SESSIONS = [
    (EventTimeSessionWindows.with_gap(ms(4)), 12),
    (EventTimeSessionWindows.with_dynamic_gap(GapOfNumber()), 12),
    (DynamicEventTimeSessionWindows.with_dynamic_gap(GapOfNumber()), 12),
    (ProcessingTimeSessionWindows.with_gap(ms(4)), 50),
    (ProcessingTimeSessionWindows.with_dynamic_gap(GapOfNumber()), 50),
    (DynamicProcessingTimeSessionWindows.with_dynamic_gap(GapOfNumber()), 50),
]


@pytest.mark.parametrize(("assigner", "start"), SESSIONS)
def test_a_session_begins_with_each_element(assigner, start):
    assert assigner.assign_windows(("a", 4), 12, Moment(50)) == [TimeWindow(start, start + 4)]
    assert assigner.is_event_time() is (start == 12)
    assert isinstance(assigner.get_window_serializer(), TimeWindowSerializer)


def test_lengths_may_be_durations():
    assigner = TumblingEventTimeWindows.of(Duration.of_seconds(1), Duration.of_millis(5))

    assert repr(assigner) == "TumblingEventTimeWindows(1000, 5)"


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: TumblingEventTimeWindows(5, 5), "TumblingEventTimeWindows .* < size"),
        (lambda: TumblingProcessingTimeWindows(5, -5), "TumblingProcessingTimeWindows .* < size"),
        (lambda: SlidingEventTimeWindows(5, 2, 2), "SlidingEventTimeWindows .* < slide"),
        (lambda: SlidingProcessingTimeWindows(0, 2, 0), "size > 0"),
        (lambda: EventTimeSessionWindows(0), "EventTimeSessionWindows .* 0 < size"),
        (lambda: ProcessingTimeSessionWindows(-1), "ProcessingTimeSessionWindows .* 0 < size"),
        (
            lambda: SESSIONS[1][0].assign_windows(("a", 0), 1, Moment(0)),
            "Dynamic session time gap must satisfy 0 < gap",
        ),
    ],
)
def test_wrong_parameters_of_assigners_raise(made, message):
    with pytest.raises(ValueError, match=message):
        made()


@pytest.mark.parametrize(
    ("assigner", "trigger"),
    [
        (tumbling(), EventTimeTrigger),
        (SlidingEventTimeWindows.of(ms(10), ms(5)), EventTimeTrigger),
        (EventTimeSessionWindows.with_gap(ms(5)), EventTimeTrigger),
        (TumblingProcessingTimeWindows.of(ms(10)), ProcessingTimeTrigger),
        (SlidingProcessingTimeWindows.of(ms(10), ms(5)), ProcessingTimeTrigger),
        (ProcessingTimeSessionWindows.with_gap(ms(5)), ProcessingTimeTrigger),
        (GlobalWindows.create(), NeverTrigger),
    ],
)
def test_assigners_have_default_triggers(assigner, trigger):
    assert type(assigner.get_default_trigger(None)) is trigger


@pytest.mark.parametrize("trigger", [None, PurgingTrigger.of(EventTimeTrigger.create())])
def test_event_time_windows_need_timestamps(trigger):
    context = running(tumbling(), reduce=add, trigger=trigger)

    with pytest.raises(ValueError, match="has no timestamp"):
        context.process(("a", 1), None)


# As recorded of PyFlink


@pytest.mark.parametrize("name", CASES)
def test_windows_emit_what_pyflink_emits(name):
    case, names = CASES[name], api("pyflow")
    is_keyed = not case.kind.startswith("all")
    combine, function = (each and each(names) for each in FUNCTIONS[case.kind])
    operation = case.kind.removeprefix("all ").split()[0]
    options = {} if combine is None else {operation: combine}
    trigger = None if case.trigger is None else case.trigger(names)
    operator = window_operator(case.assigner(names), function=function, trigger=trigger, **options)
    context = MemoryContext(operator, lambda value: value[0] if is_keyed else 0)

    context.process_all(*[(element, element[2]) for element in case.elements])
    context.end()

    assert sorted(map(repr, values(context.emitted))) == RECORDED[name]


# Time windows and their default triggers, also with triggers that only look like others: both
# operators have to do the same.


class OwnEventTimeTrigger(EventTimeTrigger):
    """Is asked at each element."""


class OwnProcessingTimeTrigger(ProcessingTimeTrigger):
    """Is asked at each element."""


@pytest.fixture(params=["aligned", "any"])
def on_tumbling(request):
    """Makes a context of windows of 10 ms, of either operator."""

    def make(**options):
        trigger = None if request.param == "aligned" else OwnEventTimeTrigger()
        operator = window_operator(tumbling(), trigger=trigger, **options)
        expected = AlignedWindowOperator if request.param == "aligned" else WindowOperator
        assert type(operator) is expected
        return MemoryContext(operator)

    return make


def test_a_window_fires_when_the_watermark_has_passed_it(on_tumbling):
    context = on_tumbling(reduce=add)
    context.process_all((("a", 1), 0), (("a", 2), 9), (("b", 3), 4), (("a", 4), 10))

    assert context.advance_watermark(8) == []
    assert context.advance_watermark(9) == [(("a", 3), 9), (("b", 3), 9)]
    assert context.end() == [(("a", 4), 19)]


@pytest.mark.parametrize(
    "contents", [{"reduce": add}, {"aggregate": Total()}, {"function": Numbers()}]
)
def test_nothing_is_left_of_a_window_that_is_over(on_tumbling, contents):
    context = on_tumbling(allowed_lateness=5, **contents)
    context.process_all((("a", 1), 0), (("b", 2), 9))

    context.advance_watermark(13)
    assert context.names_of_state() == ["window-contents"]
    context.advance_watermark(14)

    assert context.names_of_state() == []
    assert context.count_of_timers() == 0


def test_a_late_element_is_counted_and_dropped(on_tumbling):
    context = on_tumbling(reduce=add)
    context.advance_watermark(9)

    assert context.process(("a", 1), 9) == []
    assert context.process(("a", 2), 10) == []
    assert context.operator.late_records_dropped == 1
    assert context.metrics.counts == {"numLateRecordsDropped": 1}
    assert context.end() == [(("a", 2), 19)]


def test_late_elements_are_counted_without_metrics(on_tumbling):
    context = MemoryContext(on_tumbling(reduce=add).operator, metrics=False)
    context.advance_watermark(9)
    context.process(("a", 1), 9)

    assert context.operator.late_records_dropped == 1


def test_a_late_element_goes_to_the_side_output(on_tumbling):
    context = on_tumbling(reduce=add, late_data_tag=LATE)
    context.advance_watermark(9)
    context.process(("a", 1), 7)

    assert context.sides == {"late": [(("a", 1), 7)]}
    assert context.operator.late_records_dropped == 0


def test_a_window_fires_again_for_each_element_within_the_allowed_lateness(on_tumbling):
    context = on_tumbling(aggregate=Total(), allowed_lateness=5, late_data_tag=LATE)
    context.process(("a", 1), 3)

    assert context.advance_watermark(9) == [((1, 1), 9)]
    assert context.process(("a", 2), 4) == [((2, 3), 9)]
    context.advance_watermark(13)
    assert context.process(("a", 4), 9) == [((3, 7), 9)]
    assert context.process(("a", 5), 10) == []
    assert context.advance_watermark(14) == []
    assert context.process(("a", 6), 9) == []
    assert context.sides == {"late": [(("a", 6), 9)]}
    assert context.end() == [((1, 5), 19)]


def test_a_window_begins_within_the_allowed_lateness(on_tumbling):
    context = on_tumbling(function=Numbers(), allowed_lateness=5)
    context.advance_watermark(12)

    assert context.process(("a", 1), 3) == [(("a", (0, 10), [1]), 9)]
    assert context.process(("a", 2), 3) == [(("a", (0, 10), [1, 2]), 9)]
    assert context.advance_watermark(14) == []
    assert context.names_of_state() == []


def test_an_element_may_be_late_for_one_window_and_not_for_another():
    context = running(SlidingEventTimeWindows.of(ms(10), ms(5)), reduce=add, late_data_tag=LATE)
    context.advance_watermark(11)

    context.process(("a", 1), 8)
    context.process(("a", 2), 4)

    assert context.end() == [(("a", 1), 14)]
    assert context.sides == {"late": [(("a", 2), 4)]}


def test_an_element_between_windows_is_not_late():
    context = running(SlidingEventTimeWindows.of(ms(5), ms(10)), reduce=add, late_data_tag=LATE)
    context.process(("a", 1), 7)

    assert context.end() == []
    assert context.sides == {}


def test_an_element_between_windows_is_late_behind_the_watermark():
    context = running(SlidingEventTimeWindows.of(ms(5), ms(10)), reduce=add, late_data_tag=LATE)
    context.advance_watermark(7)
    context.process(("a", 1), 7)

    assert context.sides == {"late": [(("a", 1), 7)]}


def test_a_late_sliding_window_fires_the_last_start_first():
    assigner = SlidingEventTimeWindows.of(ms(10), ms(5))
    context = running(assigner, function=Numbers(), allowed_lateness=100)
    context.advance_watermark(50)

    emitted = context.process(("a", 1), 8)

    assert emitted == [(("a", (5, 15), [1]), 14), (("a", (0, 10), [1]), 9)]


def test_the_cleanup_time_stops_at_the_end_of_time(on_tumbling):
    context = on_tumbling(reduce=add, allowed_lateness=MAX_LONG_VALUE)
    context.process(("a", 1), 3)

    assert context.advance_watermark(9) == [(("a", 1), 9)]
    context.advance_watermark(MAX_LONG_VALUE - 1)
    assert context.names_of_state() == ["window-contents"]


@pytest.mark.parametrize(
    ("assigner", "trigger"),
    [
        (TumblingProcessingTimeWindows.of(ms(10)), None),
        (TumblingProcessingTimeWindows.of(ms(10)), OwnProcessingTimeTrigger()),
    ],
)
def test_windows_of_processing_time_fire_by_the_clock(assigner, trigger):
    context = running(assigner, aggregate=Total(), trigger=trigger)
    context.advance_time(5)
    context.process_all((("a", 1), None), (("a", 2), 7000))
    context.advance_watermark(5000)

    assert context.advance_time(8) == []
    assert context.advance_time(9) == [((2, 3), 9)]
    assert context.names_of_state() == []
    context.process(("a", 3))
    assert context.advance_time(10) == [((1, 3), 9)]
    context.process(("a", 4))
    assert context.advance_time(30) == [((1, 4), 19)]
    assert context.count_of_timers() == 0


def test_an_element_in_a_window_of_processing_time_is_never_late():
    context = running(TumblingProcessingTimeWindows.of(ms(10)), reduce=add, late_data_tag=LATE)
    context.advance_watermark(100)
    context.process(("a", 1), 3)

    assert context.sides == {}
    assert context.advance_time(9) == [(("a", 1), 9)]


# Sessions, of both operators


@pytest.fixture(params=["sessions", "any"])
def on_sessions(request):
    """Makes a context of sessions with a gap of 10 ms, or of an assigner, of either operator."""

    def make(assigner=None, **options):
        if assigner is None:
            assigner = EventTimeSessionWindows.with_gap(ms(10))
        by_event = assigner.is_event_time()
        own = OwnEventTimeTrigger() if by_event else OwnProcessingTimeTrigger()
        trigger = None if request.param == "sessions" else own
        operator = window_operator(assigner, trigger=trigger, **options)
        expected = SessionWindowOperator if request.param == "sessions" else WindowOperator
        assert type(operator) is expected
        return MemoryContext(operator)

    return make


def test_a_session_ends_after_the_gap(on_sessions):
    context = on_sessions(function=Numbers())
    context.process_all((("a", 1), 0), (("a", 2), 5), (("b", 3), 2), (("a", 4), 30))

    assert context.advance_watermark(14) == [
        (("b", (2, 12), [3]), 11),
        (("a", (0, 15), [1, 2]), 14),
    ]
    assert context.end() == [(("a", (30, 40), [4]), 39)]
    assert context.names_of_state() == []
    assert context.count_of_timers() == 0


@pytest.mark.parametrize("contents", ["reduce", "aggregate", "function"])
def test_an_element_makes_one_session_of_two(on_sessions, contents):
    function = {"reduce": add, "aggregate": Total(), "function": Numbers()}[contents]
    expected = {
        "reduce": ("a", 7),
        "aggregate": (3, 7),
        "function": ("a", (0, 26), [1, 2, 4]),
    }[contents]
    context = on_sessions(**{contents: function})
    context.process_all((("a", 1), 0), (("a", 2), 16), (("a", 4), 8))

    assert context.end() == [(expected, 25)]
    assert context.names_of_state() == []


def test_a_late_element_prolongs_a_session_that_is_not_over(on_sessions):
    context = on_sessions(function=Numbers(), late_data_tag=LATE)
    context.process(("a", 1), 20)
    context.advance_watermark(25)

    context.process(("a", 2), 12)
    context.process(("a", 3), 1)

    assert context.sides == {"late": [(("a", 3), 1)]}
    assert context.end() == [(("a", (12, 30), [1, 2]), 29)]


def test_an_element_for_a_session_that_is_over_is_late(on_sessions):
    context = on_sessions(reduce=add, late_data_tag=LATE)
    context.process(("a", 1), 0)
    context.advance_watermark(9)
    context.process(("a", 2), -1)

    assert context.sides == {"late": [(("a", 2), -1)]}
    assert context.names_of_state() == []


def test_sessions_fire_again_within_the_allowed_lateness_as_they_grow(on_sessions):
    context = on_sessions(function=Numbers(), allowed_lateness=20)
    context.process(("a", 1), 0)

    assert context.advance_watermark(12) == [(("a", (0, 10), [1]), 9)]
    # A session that is over, but not removed, takes in another one.
    assert context.process(("a", 2), -5) == [(("a", (-5, 10), [1, 2]), 9)]
    # With this one it is not over any more.
    assert context.process(("a", 3), 6) == []
    assert context.advance_watermark(15) == [(("a", (-5, 16), [1, 2, 3]), 15)]
    context.advance_watermark(35)
    assert context.names_of_state() == []
    assert context.count_of_timers() == 0


def test_merging_keeps_what_purging_left():
    trigger = PurgingTrigger.of(CountTrigger.of(2))
    context = running(EventTimeSessionWindows.with_gap(ms(10)), function=Numbers(), trigger=trigger)
    context.process_all((("a", 1), 0), (("a", 2), 30))

    # Each window has one element; the merged one has both and a third.
    assert context.process(("a", 3), 38) == [(("a", (30, 48), [2, 3]), 47)]
    assert context.process(("a", 4), 5) == [(("a", (0, 15), [1, 4]), 14)]
    assert context.end() == []
    assert context.names_of_state() == []


def test_counts_of_triggers_are_merged_with_their_windows():
    context = running(
        EventTimeSessionWindows.with_gap(ms(10)),
        function=Numbers(),
        trigger=CountTrigger.of(3),
    )

    emitted = context.process_all((("a", 1), 0), (("a", 2), 16), (("a", 3), 8))

    assert emitted == [(("a", (0, 26), [1, 2, 3]), 25)]


def test_a_continuous_trigger_goes_on_in_merged_windows():
    trigger = ContinuousEventTimeTrigger.of(ms(4))
    context = running(EventTimeSessionWindows.with_gap(ms(6)), aggregate=Total(), trigger=trigger)
    times = [-3, 1, 7, 10, 12]
    context.process_all(*[(("a", 1), time) for time in times])

    # The window is [-3, 18): at multiples of 4 from the first one on, and at its end.
    assert context.end() == [((5, 5), 17)] * 6
    assert context.names_of_state() == []


def test_sessions_of_processing_time_end_by_the_clock(on_sessions):
    context = on_sessions(ProcessingTimeSessionWindows.with_gap(ms(10)), function=Numbers())
    context.process(("a", 1))
    context.advance_time(6)
    context.process(("a", 2))

    assert context.advance_time(14) == []
    assert context.advance_time(15) == [(("a", (0, 16), [1, 2]), 15)]
    assert context.names_of_state() == []


def test_each_element_says_the_gap_of_its_session(on_sessions):
    context = on_sessions(
        EventTimeSessionWindows.with_dynamic_gap(GapOfNumber()), function=Numbers()
    )
    context.process_all((("a", 20), 0), (("a", 3), 5), (("a", 2), 24))

    assert context.end() == [(("a", (0, 20), [20, 3]), 19), (("a", (24, 26), [2]), 25)]


def test_an_equal_window_does_not_hide_what_a_session_has(on_sessions):
    context = on_sessions(
        EventTimeSessionWindows.with_dynamic_gap(GapOfNumber()), function=Numbers()
    )
    context.process_all((("a", 10), 0), (("a", 15), 5), (("a", 20), 0))

    assert context.end() == [(("a", (0, 20), [10, 15, 20]), 19)]


class Evens(Window):
    """A window of the program's own, which merges with those of the same parity."""

    def __init__(self, numbers):
        self.numbers = numbers

    def max_timestamp(self):
        return 10 * max(self.numbers)

    def __eq__(self, other):
        return self.numbers == other.numbers

    def __hash__(self):
        return hash(self.numbers)

    def __repr__(self):
        return f"Evens{self.numbers}"


class ByParity(MergingWindowAssigner):
    def assign_windows(self, element, timestamp, context):
        return [Evens((element[1],))]

    def merge_windows(self, windows, callback):
        for parity in (0, 1):
            found = {window for window in windows if window.numbers[0] % 2 == parity}
            if len(found) > 1:
                numbers = sorted({number for window in found for number in window.numbers})
                callback.merge(found, Evens(tuple(numbers)))

    def get_default_trigger(self, env):
        return EventTimeTrigger.create()

    def get_window_serializer(self):
        return None

    def is_event_time(self):
        return True


def test_windows_of_a_program_s_own_class_merge():
    context = running(ByParity(), function=Numbers())
    context.process_all(*[(("a", number), 0) for number in (2, 5, 4, 3, 2)])

    assert context.end() == [
        (("a", "Evens(2, 4)", [2, 4, 2]), 40),
        (("a", "Evens(3, 5)", [5, 3]), 50),
    ]
    assert context.names_of_state() == []


def test_windows_must_not_be_merged_to_one_that_is_over():
    context = running(ByParity(), function=Numbers())
    context.process(("a", 4), 0)
    context.advance_watermark(30)
    context.operator._assigner.merge_windows = lambda windows, callback: callback.merge(
        set(windows), Evens((1,))
    )

    with pytest.raises(RuntimeError, match=r"to Evens\(1,\), when the current watermark is 30"):
        context.process(("a", 6), 0)


# What the operators of known windows and that of any do with the same elements


def moving(operator, seed):
    """What comes of elements, watermarks and times by chance: sorted between two moves."""
    chance = random.Random(seed)
    context = MemoryContext(operator)
    found = []
    for _ in range(60):
        move = chance.random()
        emitted = []
        if move < 0.75:
            element = (chance.choice("ab"), chance.randint(1, 12))
            emitted = context.process(element, chance.randint(-5, 60))
        elif move < 0.9:
            watermark = max(context.current_watermark, chance.randint(0, 70))
            emitted = context.advance_watermark(watermark)
        else:
            emitted = context.advance_time(context.time + chance.randint(1, 15))
        found.append(sorted(emitted))
    found.append(sorted(context.end()))
    found.append(sorted(context.advance_time(context.time + 1000)))
    # What is left counts elements.
    return found, dict(context.sides), context.count_of_timers(), context.names_of_state()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("lateness", [0, 4, 15])
@pytest.mark.parametrize(
    "assigner",
    [
        tumbling(),
        SlidingEventTimeWindows.of(ms(10), ms(4), ms(1)),
        EventTimeSessionWindows.with_gap(ms(5)),
        EventTimeSessionWindows.with_dynamic_gap(GapOfNumber()),
        TumblingProcessingTimeWindows.of(ms(10)),
        SlidingProcessingTimeWindows.of(ms(10), ms(4)),
        ProcessingTimeSessionWindows.with_gap(ms(5)),
        ProcessingTimeSessionWindows.with_dynamic_gap(GapOfNumber()),
    ],
    ids=repr,
)
def test_known_windows_are_as_any_others(assigner, lateness, seed):
    by_event = assigner.is_event_time()
    own = OwnEventTimeTrigger() if by_event else OwnProcessingTimeTrigger()
    one, other = (
        window_operator(
            assigner,
            aggregate=Total(),
            trigger=trigger,
            allowed_lateness=lateness,
            late_data_tag=LATE,
        )
        for trigger in (None, own)
    )
    assert type(one) is not type(other)

    assert moving(one, seed) == moving(other, seed)


# Triggers


def test_a_count_trigger_fires_and_keeps_the_elements():
    context = running(tumbling(), function=Numbers(), trigger=CountTrigger.of(2))

    emitted = context.process_all(*[(("a", number), 1) for number in range(5)])

    assert values(emitted) == [("a", (0, 10), [0, 1]), ("a", (0, 10), [0, 1, 2, 3])]
    assert context.end() == []
    assert context.names_of_state() == []


def test_a_purging_trigger_removes_the_elements():
    trigger = PurgingTrigger.of(CountTrigger.of(2))
    context = running(tumbling(), function=Numbers(), trigger=trigger)

    emitted = context.process_all(*[(("a", number), 1) for number in range(5)])

    assert values(emitted) == [("a", (0, 10), [0, 1]), ("a", (0, 10), [2, 3])]


def test_a_purging_trigger_empties_windows_at_their_end_before_late_elements():
    trigger = PurgingTrigger.of(EventTimeTrigger.create())
    context = running(tumbling(), function=Numbers(), trigger=trigger, allowed_lateness=5)
    context.process(("a", 1), 3)

    assert context.advance_watermark(10) == [(("a", (0, 10), [1]), 9)]
    assert context.process(("a", 2), 3) == [(("a", (0, 10), [2]), 9)]


def test_an_accumulator_without_result_is_neither_emitted_nor_purged_at_an_element():
    class Three(Total):
        def get_result(self, accumulator):
            return tuple(accumulator) if accumulator[0] >= 3 else None

    trigger = PurgingTrigger.of(CountTrigger.of(2))
    context = running(GlobalWindows.create(), aggregate=Three(), trigger=trigger)

    emitted = context.process_all(*[(("a", 1), 0)] * 6)

    assert values(emitted) == [(4, 4)]


def test_a_continuous_trigger_fires_when_the_watermark_passes_its_interval():
    trigger = ContinuousEventTimeTrigger.of(ms(4))
    context = running(tumbling(), aggregate=Total(), trigger=trigger, allowed_lateness=5)
    context.process(("a", 1), 1)

    assert context.advance_watermark(3) == []
    assert context.advance_watermark(4) == [((1, 1), 9)]
    context.process(("a", 2), 2)
    assert context.advance_watermark(8) == [((2, 3), 9)]
    # At 9, which is also the end of the interval from 8 on.
    assert context.advance_watermark(9) == [((2, 3), 9)]
    assert context.process(("a", 4), 2) == [((3, 7), 9)]
    context.advance_watermark(14)
    assert context.names_of_state() == []


def test_a_continuous_trigger_fires_by_the_clock():
    trigger = ContinuousProcessingTimeTrigger.of(ms(4))
    context = running(TumblingProcessingTimeWindows.of(ms(10)), aggregate=Total(), trigger=trigger)
    context.advance_time(1)
    context.process(("a", 1))

    assert context.advance_time(3) == []
    assert context.advance_time(4) == [((1, 1), 9)]
    context.process(("a", 2))
    assert context.advance_time(9) == [((2, 3), 9), ((2, 3), 9)]
    assert context.advance_time(100) == []
    assert context.names_of_state() == []
    assert context.count_of_timers() == 0


def test_a_global_window_has_all_elements():
    context = running(GlobalWindows.create(), aggregate=Total(), trigger=CountTrigger.of(2))

    emitted = context.process_all(*[((key, 1), at) for at, key in enumerate("aabaa")])

    assert emitted == [((2, 2), 1), ((4, 4), 4)]


def test_a_global_window_never_fires_by_itself():
    context = running(GlobalWindows.create(), aggregate=Total())
    context.process(("a", 1), 5)

    assert context.end() == []
    assert context.advance_time(1000) == []


class Recording(Trigger):
    """Writes down its calls, has timers of both kinds, and purges without firing."""

    def __init__(self):
        self.calls = []

    def on_element(self, element, timestamp, window, ctx):
        self.calls.append(("element", element[1], timestamp, bounds(window)))
        ctx.register_event_time_timer(4)
        ctx.register_processing_time_timer(6)
        ctx.register_event_time_timer(3)
        ctx.delete_event_time_timer(3)
        ctx.register_processing_time_timer(5)
        ctx.delete_processing_time_timer(5)
        ctx.get_partitioned_state(ValueStateDescriptor("x", Types.LONG())).update(element[1])
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        self.calls.append(("clock", time, ctx.get_current_processing_time()))
        return TriggerResult.PURGE

    def on_event_time(self, time, window, ctx):
        self.calls.append(("event", time, ctx.get_current_watermark()))
        ctx.get_metric_group().counter("fired").inc()
        return TriggerResult.FIRE

    def on_merge(self, window, ctx):
        raise NotImplementedError

    def clear(self, window, ctx):
        state = ctx.get_partitioned_state(ValueStateDescriptor("x", Types.LONG()))
        self.calls.append(("clear", state.value()))
        state.clear()


def test_a_trigger_has_timers_and_state_of_its_window():
    trigger = Recording()
    context = running(tumbling(), function=Numbers(), trigger=trigger)
    context.process(("a", 7), 1)

    assert context.advance_watermark(5) == [(("a", (0, 10), [7]), 9)]
    assert context.advance_time(20) == []
    assert context.names_of_state() == ["x"]
    assert context.advance_watermark(9) == [], "the window has been purged"
    assert trigger.calls == [
        ("element", 7, 1, (0, 10)),
        ("event", 4, 5),
        ("clock", 6, 20),
        ("event", 9, 9),
        ("clear", 7),
    ]
    assert context.metrics.counts == {"fired": 2}
    assert context.names_of_state() == []


def test_a_trigger_that_cannot_merge_is_refused_for_sessions():
    with pytest.raises(ValueError, match="Recording does not support that"):
        window_operator(EventTimeSessionWindows.with_gap(ms(5)), reduce=add, trigger=Recording())


class MergesMaps(CountTrigger):
    def on_merge(self, window, ctx):
        ctx.merge_partitioned_state(MapStateDescriptor("m", Types.LONG(), Types.LONG()))


def test_state_of_triggers_that_cannot_be_merged_is_refused():
    context = running(EventTimeSessionWindows.with_gap(ms(5)), reduce=add, trigger=MergesMaps(2))
    context.process(("a", 1), 0)

    with pytest.raises(TypeError, match="state 'm' of a trigger cannot be merged"):
        context.process(("a", 1), 3)


# Count windows


@pytest.fixture(params=["counted", "any"])
def on_counts(request):
    """Makes a context of count windows, of either operator."""

    def make(assigner, **options):
        trigger = None if request.param == "counted" else assigner.get_default_trigger(None)
        operator = window_operator(assigner, trigger=trigger, **options)
        expected = CountWindowOperator if request.param == "counted" else WindowOperator
        assert type(operator) is expected
        return MemoryContext(operator)

    return make


def test_count_windows_fire_when_they_are_full(on_counts):
    context = on_counts(CountTumblingWindowAssigner.of(2), function=Numbers())

    elements = [((key, number), number * 10) for number, key in enumerate("aabaab")]
    emitted = context.process_all(*elements)

    assert emitted == [
        (("a", "CountWindow(id=0)", [0, 1]), 10),
        (("a", "CountWindow(id=1)", [3, 4]), 40),
        (("b", "CountWindow(id=0)", [2, 5]), 50),
    ]
    assert context.names_of_state() == ["tumble-count-assigner"]


@pytest.mark.parametrize(
    ("size", "slide", "expected"),
    [
        (3, 2, [[0, 1, 2], [2, 3, 4], [4, 5, 6]]),
        (3, 1, [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 6]]),
        (2, 3, [[0, 1], [3, 4]]),
        (4, 4, [[0, 1, 2, 3]]),
    ],
)
def test_sliding_count_windows_begin_after_the_slide(on_counts, size, slide, expected):
    context = on_counts(CountSlidingWindowAssigner.of(size, slide), function=Numbers())

    emitted = context.process_all(*[(("a", number), None) for number in range(7)])

    assert [numbers for _, _, numbers in values(emitted)] == expected


def test_count_windows_have_state_of_their_own(on_counts):
    context = on_counts(CountTumblingWindowAssigner.of(1), function=Calls())

    emitted = context.process_all((("a", 1), None), (("a", 2), None))

    assert values(emitted) == [
        ("a", "CountWindow(id=0)", 1, 1),
        ("a", "CountWindow(id=1)", 1, 2),
    ]


def test_global_windows_with_an_evictor_are_flink_s_sliding_count_windows():
    context = running(
        GlobalWindows.create(),
        function=Numbers(),
        trigger=CountTrigger.of(2),
        evictor=CountEvictor.of(3),
    )

    emitted = context.process_all(*[(("a", number), None) for number in range(6)])

    assert [numbers for _, _, numbers in values(emitted)] == [[0, 1], [1, 2, 3], [3, 4, 5]]


# Evictors


def evicting(evictor, elements, **options):
    context = running(
        GlobalWindows.create(), evictor=evictor, trigger=CountTrigger.of(len(elements)), **options
    )
    emitted = context.process_all(*[(("a", number), time) for number, time in elements])
    kept = context.load(("window-contents", b"\0")) or []
    return values(emitted), [value[1] for value, _ in kept]


ELEMENTS = [(1, 10), (2, 3), (3, 14), (4, 12), (5, 11)]


class Difference(DeltaFunction):
    def get_delta(self, old_data_point, new_data_point):
        return abs(old_data_point[1] - new_data_point[1])


@pytest.mark.parametrize(
    ("evictor", "left"),
    [
        (CountEvictor.of(2), [4, 5]),
        (CountEvictor.of(9), [1, 2, 3, 4, 5]),
        (TimeEvictor.of(ms(3)), [3, 4]),
        (TimeEvictor.of(Duration.of_millis(4)), [3, 4, 5]),
        (DeltaEvictor.of(3, Difference()), [3, 4, 5]),
        (DeltaEvictor.of(2, lambda old, new: new[1] - old[1]), [4, 5]),
    ],
)
def test_evictors_leave_elements_to_the_function(evictor, left):
    assert evicting(evictor, ELEMENTS, function=Numbers()) == (
        [("a", "GlobalWindow", left)],
        left,
    )


@pytest.mark.parametrize(
    ("evictor", "left"),
    [
        (CountEvictor.of(2, True), [4, 5]),
        (TimeEvictor.of(ms(3), True), [3, 4]),
        (DeltaEvictor.of(3, Difference(), True), [3, 4, 5]),
    ],
)
def test_evictors_remove_elements_after_the_function(evictor, left):
    assert evicting(evictor, ELEMENTS, function=Numbers()) == (
        [("a", "GlobalWindow", [1, 2, 3, 4, 5])],
        left,
    )


def test_a_time_evictor_keeps_elements_without_timestamps():
    emitted, _ = evicting(TimeEvictor.of(ms(1)), [(1, None), (2, None)], function=Numbers())

    assert emitted == [("a", "GlobalWindow", [1, 2])]


def test_what_an_evictor_leaves_is_reduced():
    assert evicting(CountEvictor.of(2), ELEMENTS, reduce=add) == ([("a", 9)], [4, 5])


def test_what_an_evictor_leaves_is_aggregated():
    assert evicting(CountEvictor.of(3), ELEMENTS, aggregate=Total()) == ([(3, 12)], [3, 4, 5])


class All(Evictor):
    def evict_before(self, elements, size, window, evictor_context):
        assert size == len(elements)
        assert evictor_context.get_current_watermark() == MIN_LONG_VALUE
        assert evictor_context.get_current_processing_time() == 0
        elements.clear()

    def evict_after(self, elements, size, window, evictor_context):
        assert size == 0


def test_an_evictor_may_remove_all_elements():
    assert evicting(All(), ELEMENTS, function=Numbers()) == ([("a", "GlobalWindow", [])], [])
    assert evicting(All(), ELEMENTS, aggregate=Total()) == ([(0, 0)], [])
    assert evicting(All(), ELEMENTS, reduce=add) == ([], [])


def test_evictors_work_on_sessions():
    context = running(
        EventTimeSessionWindows.with_gap(ms(10)),
        function=Numbers(),
        evictor=CountEvictor.of(2),
        late_data_tag=LATE,
    )
    context.process_all((("a", 1), 0), (("a", 2), 16), (("a", 4), 8))

    assert context.end() == [(("a", (0, 26), [2, 4]), 25)]
    assert context.names_of_state() == []
    context.process(("a", 5), 3)
    assert context.sides == {"late": [(("a", 5), 3)]}


# Functions


class Opened(ReduceFunction):
    def __init__(self):
        self.calls = []

    def open(self, runtime_context):
        self.calls.append("open")

    def reduce(self, value1, value2):
        return add(value1, value2)

    def close(self):
        self.calls.append("close")


def test_functions_are_opened_and_closed():
    function = Opened()
    context = running(tumbling(), reduce=function)
    context.operator.close()

    assert function.calls == ["open", "close"]


class Calls(ProcessWindowFunction):
    """Counts its calls, and says what its context says."""

    def process(self, key, context, elements):
        by_window = context.window_state().get_state(ValueStateDescriptor("w", Types.LONG()))
        by_window.update((by_window.value() or 0) + 1)
        by_key = context.global_state().get_state(ValueStateDescriptor("g", Types.LONG()))
        by_key.update((by_key.value() or 0) + 1)
        yield (key, bounds(context.window()), by_window.value(), by_key.value())
        yield LATE, (context.current_watermark(), context.current_processing_time(), len(elements))

    def clear(self, context):
        context.window_state().get_state(ValueStateDescriptor("w", Types.LONG())).clear()


def test_a_process_function_has_state_of_the_window_and_of_the_key(on_tumbling):
    context = on_tumbling(function=Calls(), allowed_lateness=5)
    context.advance_time(77)
    context.process_all((("a", 1), 0), (("a", 2), 10), (("b", 3), 1))

    assert context.advance_watermark(9) == [
        (("a", (0, 10), 1, 1), 9),
        (("b", (0, 10), 1, 1), 9),
    ]
    assert context.process(("a", 4), 1) == [(("a", (0, 10), 2, 2), 9)]
    assert context.end() == [(("a", (10, 20), 1, 3), 19)]
    assert context.sides["late"][0] == ((9, 77, 1), 9)
    assert context.names_of_state() == ["g"]


def test_windows_that_merge_have_no_state_of_functions():
    context = running(EventTimeSessionWindows.with_gap(ms(5)), function=Calls())
    context.process(("a", 1), 0)

    with pytest.raises(RuntimeError, match="not allowed when using merging windows"):
        context.end()


def test_a_process_function_gets_the_result_of_an_aggregation():
    context = running(tumbling(), aggregate=Total(), function=Calls())
    context.process_all((("a", 1), 0), (("a", 2), 1))

    assert context.end() == [(("a", (0, 10), 1, 1), 9)]
    assert context.sides["late"] == [((MAX_LONG_VALUE, 0, 1), 9)]


class NumbersOfAll(AllWindowFunction):
    def apply(self, window, inputs):
        return [(bounds(window), [each[1] for each in inputs])]


class CallsOfAll(ProcessAllWindowFunction):
    def process(self, context, elements):
        state = context.window_state().get_state(ValueStateDescriptor("w", Types.LONG()))
        state.update((state.value() or 0) + 1)
        yield (bounds(context.window()), state.value(), len(elements))

    def clear(self, context):
        context.window_state().get_state(ValueStateDescriptor("w", Types.LONG())).clear()


@pytest.mark.parametrize(
    ("function", "expected"),
    [(NumbersOfAll(), ((0, 10), [1, 2])), (CallsOfAll(), ((0, 10), 1, 2))],
)
def test_functions_of_windows_without_keys_are_given_none(function, expected):
    operator = window_operator(tumbling(), function=function)
    context = MemoryContext(operator, key=lambda value: None)
    context.process_all((("a", 1), 0), (("b", 2), 1))

    assert context.end() == [(expected, 9)]
    assert context.names_of_state() == []


def test_windows_without_function_emit_their_elements():
    context = running(tumbling())
    context.process_all((("a", 1), 0), (("a", 2), 1))

    assert context.end() == [(("a", 1), 9), (("a", 2), 9)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reduce": add, "aggregate": Total()}, "not both"),
        ({"reduce": add, "allowed_lateness": -1}, "cannot be negative"),
    ],
)
def test_wrong_options_raise(options, message):
    with pytest.raises(ValueError, match=message):
        window_operator(tumbling(), **options)


def test_what_is_no_window_function_is_refused():
    with pytest.raises(TypeError, match="expected a WindowFunction"):
        running(tumbling(), function=len)


# An assigner of a program's own


class ByNumber(WindowAssigner):
    """As many windows as an element says."""

    class Serializer(TimeWindowSerializer):
        pass

    def assign_windows(self, element, timestamp, context):
        return [TimeWindow(0, number + 1) for number in range(element[1])]

    def get_default_trigger(self, env):
        return EventTimeTrigger.create()

    def get_window_serializer(self):
        return self.Serializer()

    def is_event_time(self):
        return True


def test_windows_are_those_of_a_program_s_own_assigner():
    context = running(ByNumber(), aggregate=Total())
    context.process_all((("a", 2), 0), (("a", 1), 0), (("a", 0), 0))

    assert context.end() == [((2, 3), 0), ((1, 2), 1)]
    assert context.names_of_state() == []
