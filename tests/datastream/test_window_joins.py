"""Joins of two streams over a context in memory."""

from __future__ import annotations

import pytest
from memory_context import MemoryContext

from pyflow.common.constants import MIN_LONG_VALUE
from pyflow.common.time import Time
from pyflow.common.typeinfo import Types
from pyflow.datastream.evictors import CountEvictor
from pyflow.datastream.join_functions import (
    CoGroupFunction,
    FlatJoinFunction,
    JoinFunction,
    ProcessJoinFunction,
)
from pyflow.datastream.output_tag import OutputTag
from pyflow.datastream.runtime.joins import CoGroup, IntervalJoin, TaggedUnion, WindowJoin
from pyflow.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    GlobalWindows,
    TumblingEventTimeWindows,
)

LEFT = OutputTag("left", Types.PICKLED_BYTE_ARRAY())
RIGHT = OutputTag("right", Types.PICKLED_BYTE_ARRAY())


def tumbling():
    return TumblingEventTimeWindows.of(Time.milliseconds(10))


def feed(context, *elements):
    """Process elements: their stream, key, number and timestamp."""
    for stream, key, number, timestamp in elements:
        context.process((key, number), timestamp, "lr".index(stream))


ELEMENTS = [
    ("l", "a", 1, 0),
    ("r", "a", 2, 1),
    ("l", "a", 3, 9),
    ("l", "b", 4, 5),
    ("r", "a", 5, 10),
]


class Groups(CoGroupFunction):
    def co_group(self, first, second):
        yield ([number for _, number in first], [number for _, number in second])


@pytest.mark.parametrize("function", [Groups(), lambda one, two: Groups().co_group(one, two)])
def test_a_group_has_the_elements_of_both_streams(function):
    context = MemoryContext(CoGroup(function, tumbling()))
    feed(context, *ELEMENTS)

    assert context.end() == [(([1, 3], [2]), 9), (([4], []), 9), (([], [5]), 19)]
    assert context.names_of_state() == []


class Pair(JoinFunction):
    def join(self, first, second):
        return (first[1], second[1])


class Pairs(FlatJoinFunction):
    def join(self, first, second):
        if first[1] > 1:
            yield (first[1], second[1])
            yield "again"


@pytest.mark.parametrize("function", [Pair(), lambda one, two: (one[1], two[1])])
def test_a_join_makes_an_element_of_each_pair(function):
    context = MemoryContext(WindowJoin(function, tumbling()))
    feed(context, *ELEMENTS)

    assert context.end() == [((1, 2), 9), ((3, 2), 9)]


def test_a_flat_join_makes_any_number_of_elements_of_a_pair():
    context = MemoryContext(WindowJoin(Pairs(), tumbling()))
    feed(context, *ELEMENTS)

    assert context.end() == [((3, 2), 9), ("again", 9)]


def test_joins_take_sessions_lateness_triggers_and_evictors():
    gap = EventTimeSessionWindows.with_gap(Time.milliseconds(10))
    context = MemoryContext(CoGroup(Groups(), gap, allowed_lateness=5))
    feed(context, ("l", "a", 1, 0), ("r", "a", 2, 8))
    assert context.advance_watermark(17) == [(([1], [2]), 17)]
    assert context.process(("a", 3), 4, 1) == [(([1], [2, 3]), 17)]

    context = MemoryContext(
        CoGroup(Groups(), GlobalWindows.create(), CountTrigger.of(2), CountEvictor.of(3))
    )
    feed(context, *[("lr"[number % 2], "a", number, None) for number in range(4)])
    assert [value for value, _ in context.emitted] == [([0], [1]), ([2], [1, 3])]


class Closed(Pair):
    def __init__(self):
        self.calls = []

    def open(self, runtime_context):
        self.calls.append("open")

    def close(self):
        self.calls.append("close")


def test_functions_of_joins_are_opened_and_closed():
    function = Closed()
    MemoryContext(WindowJoin(function, tumbling())).operator.close()

    assert function.calls == ["open", "close"]


def test_assigners_are_given_the_stream_of_an_element():
    left, right = TaggedUnion(0, "x"), TaggedUnion(1, "y")

    assert (left.is_one(), left.is_two(), left.get_one(), left.get_two()) == (
        True,
        False,
        "x",
        None,
    )
    assert (right.is_one(), right.get_one(), right.get_two()) == (False, None, "y")


class Near(ProcessJoinFunction):
    def process_element(self, left, right, ctx):
        yield (left[1], right[1])
        times = (ctx.get_left_timestamp(), ctx.get_right_timestamp(), ctx.get_timestamp())
        yield OutputTag("times", Types.PICKLED_BYTE_ARRAY()), times


def interval(lower, upper, *inclusive, **options):
    return MemoryContext(IntervalJoin(Near(), lower, upper, *inclusive, **options))


AROUND_TEN = [("r", "a", number, number) for number in (7, 8, 9, 10, 11, 12, 13)]


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ((-2, 1), [8, 9, 10, 11]),
        ((-2, 1, False, True), [9, 10, 11]),
        ((-2, 1, True, False), [8, 9, 10]),
        ((-2, 1, False, False), [9, 10]),
        ((1, 3), [11, 12, 13]),
        ((-3, -2), [7, 8]),
        ((0, 0), [10]),
        ((0, 0, False, True), []),
    ],
)
@pytest.mark.parametrize("left_first", [True, False])
def test_elements_are_joined_whose_times_are_in_the_interval(bounds, expected, left_first):
    context = interval(*bounds)
    left = [("l", "a", 10, 10)]
    feed(context, *(left + AROUND_TEN if left_first else AROUND_TEN + left))

    assert context.emitted == [((10, number), max(10, number)) for number in expected]
    assert [times for times, _ in context.sides["times"]] == [
        (10, number, max(10, number)) for number in expected
    ]


def test_elements_of_other_keys_are_not_joined():
    context = interval(-5, 5)
    feed(context, ("l", "a", 1, 0), ("r", "b", 2, 0))

    assert context.emitted == []


def test_elements_of_one_time_are_joined_in_the_order_in_which_they_came():
    context = interval(0, 1)
    feed(context, ("r", "a", 1, 5), ("r", "a", 2, 4), ("r", "a", 3, 5), ("l", "a", 4, 4))

    assert [value for value, _ in context.emitted] == [(4, 2), (4, 1), (4, 3)]


@pytest.mark.parametrize(
    ("bounds", "left_until", "right_until"),
    [((-2, 3), 13, 12), ((2, 3), 13, 10), ((-3, -2), 10, 13)],
)
def test_elements_are_kept_until_no_partner_can_come(bounds, left_until, right_until):
    for stream, until in (("l", left_until), ("r", right_until)):
        context = interval(*bounds)
        feed(context, (stream, "a", 1, 10), (stream, "a", 2, 10))
        context.advance_watermark(until - 1)
        assert context.names_of_state() != []
        context.advance_watermark(until)
        assert context.names_of_state() == []
        assert context.count_of_timers() == 0


def test_an_element_behind_the_watermark_is_not_joined():
    context = interval(-5, 5, left_late_data_tag=LEFT)
    feed(context, ("r", "a", 1, 10))
    context.advance_watermark(9)
    feed(context, ("l", "a", 2, 8), ("r", "a", 3, 8), ("l", "a", 4, 9))

    assert [value for value, _ in context.emitted] == [(4, 1)]
    assert context.sides["left"] == [(("a", 2), 8)]
    assert context.operator.late_records_dropped == 1


@pytest.mark.parametrize("operator", [CoGroup(Groups(), tumbling()), WindowJoin(max, tumbling())])
def test_late_elements_of_windows_are_counted(operator):
    context = MemoryContext(operator)
    context.advance_watermark(20)
    feed(context, ("l", "a", 1, 10), ("r", "a", 2, 25), ("r", "b", 3, 9))

    assert operator.late_records_dropped == 2


def test_late_elements_of_the_right_stream_have_a_side_output():
    context = interval(0, 0, right_late_data_tag=RIGHT)
    context.advance_watermark(9)
    feed(context, ("r", "a", 1, 8))

    assert context.sides["right"] == [(("a", 1), 8)]


@pytest.mark.parametrize("timestamp", [None, MIN_LONG_VALUE])
def test_interval_joins_need_timestamps(timestamp):
    with pytest.raises(ValueError, match="has no timestamp"):
        interval(0, 1).process(("a", 1), timestamp)


def test_the_lower_bound_is_not_above_the_upper_one():
    with pytest.raises(ValueError, match="got 2 and 1 ms"):
        interval(2, 1)
