"""Watermarks that a chain gives its elements: built-in strategies, and generators of programs."""

from __future__ import annotations

import pytest

from pyflow.common import Duration, WatermarkStrategy
from pyflow.common.watermark_strategy import TimestampAssigner, Watermark, WatermarkGenerator
from pyflow.datastream import CoMapFunction, KeyedProcessFunction, ProcessFunction
from pyflow.datastream.functions import RuntimeContext
from pyflow.datastream.runtime.chain import Chain, Link, Node, Route
from pyflow.datastream.runtime.chained import AssignTimestamps, Process
from pyflow.datastream.runtime.clock import system_clock
from pyflow.datastream.runtime.errors import OperatorError
from pyflow.datastream.runtime.keys import ByKey
from pyflow.datastream.runtime.operator import MIN_WATERMARK
from pyflow.datastream.testing import TestStream
from pyflow.util.exceptions import TableException

TIMESTAMP, WATERMARK = 3, 5
NOTHING = WatermarkStrategy.no_watermarks()


class Itself(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Both(CoMapFunction):
    def map1(self, value):
        return value

    def map2(self, value):
        return value


class Running:
    """A source, a strategy, perhaps a function, and a shuffle."""

    def __init__(self, strategy, function=None, assigner=True):
        if assigner:
            strategy = strategy.with_timestamp_assigner(Itself())
        shuffle = Link(None, Route(1, 0, ByKey(lambda value: 0)))
        nodes = {
            0: Node("source", None, links=[Link(None, 1)]),
            1: Node("times", AssignTimestamps(strategy), links=[shuffle]),
        }
        if function is not None:
            nodes[1].links = [Link(None, 2)]
            nodes[2] = Node("function", Process(function), links=[shuffle])
        self.chain = Chain(nodes, 0, lambda name: RuntimeContext(None, {}), 0, system_clock)
        self.emit, _ = self.chain.outputs(0)

    def batch(self, *values, timestamp=None):
        """The timestamps and watermarks of the rows that come of elements."""
        for value in values:
            try:
                self.emit(value, timestamp)
            except Exception as error:
                self.chain.fail(error, value)
        return [(row[TIMESTAMP], row[WATERMARK]) for row in self.chain.take()]


class Bounded(WatermarkGenerator):
    """As the built-in strategy of a second, by periodic watermarks."""

    def __init__(self):
        self.latest = MIN_WATERMARK + 1001

    def on_event(self, value, timestamp, output):
        self.latest = max(self.latest, timestamp)

    def on_periodic_emit(self, output):
        output.emit_watermark(Watermark(self.latest - 1001))


class Punctuated(WatermarkGenerator):
    """A watermark at each odd element."""

    def on_event(self, value, timestamp, output):
        if value % 2:
            output.emit_watermark(timestamp)

    def on_periodic_emit(self, output):
        pass


STRATEGIES = [
    lambda: WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1)),
    lambda: WatermarkStrategy.for_generator(Bounded),
]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_last_row_of_a_batch_has_its_watermark(strategy):
    running = Running(strategy())
    assert running.batch(5000, 3000, 8000) == [(5000, 3999), (3000, 3999), (8000, 6999)]
    assert running.batch(1000) == [(1000, 6999)]


def test_an_element_may_say_the_watermark():
    found = Running(WatermarkStrategy.for_generator(Punctuated)).batch(2, 3, 4)
    assert found == [(2, MIN_WATERMARK), (3, 3), (4, 3)]


def test_a_watermark_before_the_last_one_has_no_effect():
    assert Running(WatermarkStrategy.for_generator(Punctuated)).batch(9, 5) == [(9, 9), (5, 9)]


def test_without_an_assigner_elements_keep_their_timestamps():
    running = Running(WatermarkStrategy.for_generator(Punctuated), assigner=False)
    assert running.batch(1, timestamp=70) == [(70, 70)]


def test_a_generator_sees_the_lowest_time_where_there_is_none():
    seen = []

    class Seeing(Punctuated):
        def on_event(self, value, timestamp, output):
            seen.append(timestamp)

    running = Running(WatermarkStrategy.for_generator(Seeing), assigner=False)
    assert running.batch(1) == [(None, MIN_WATERMARK)]
    assert seen == [MIN_WATERMARK]


def test_each_subtask_has_a_generator_that_lives_over_batches():
    made = []

    def make():
        made.append(Bounded())
        return made[-1]

    first, second = (Running(WatermarkStrategy.for_generator(make)) for _ in range(2))
    first.batch(9000)
    first.batch(1)
    assert second.batch(2000) == [(2000, 999)]
    assert len(made) == 2


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_functions_behind_a_strategy_see_its_watermark(strategy):
    seen = []

    class Watching(ProcessFunction):
        def process_element(self, value, ctx):
            seen.append(ctx.timer_service().current_watermark())
            yield value

    Running(strategy(), Watching()).batch(5000, 3000, 8000)
    assert seen == [3999, 3999, 6999]


def test_no_watermarks_are_the_lowest():
    running = Running(WatermarkStrategy.no_watermarks())
    assert running.batch(5000) == [(5000, MIN_WATERMARK)]


@pytest.mark.parametrize("method", ["on_event", "on_periodic_emit"])
def test_an_error_of_a_generator_names_its_operator_and_element(method):
    def fail(*arguments):
        raise ValueError("wrong")

    failing = type("Failing", (Bounded,), {method: fail})
    running = Running(WatermarkStrategy.for_generator(failing))
    with pytest.raises(OperatorError, match="operator 'times' failed at 7 of type int: ValueError"):
        running.batch(7)


def assigned(stream, delay):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(delay))
    return stream.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Itself()))


class Seen(KeyedProcessFunction):
    """The watermark at each element."""

    def process_element(self, value, ctx):
        yield value, ctx.timer_service().current_watermark()


def test_a_branch_to_a_sink_has_no_part_in_the_watermark(make_env, capsys):
    env = make_env(parallelism=1)
    stream = env.from_source(
        TestStream().add_elements([5000]).add_elements([6000]), NOTHING, "test"
    )
    assigned(stream, 1000).key_by(lambda value: 0).process(Seen()).print()
    assigned(stream, 0).filter(lambda value: False).print()
    env.execute()

    # The watermark of a batch is that of the elements before it.
    assert capsys.readouterr().out == f"(5000, {MIN_WATERMARK})\n(6000, 3999)\n"


def test_several_watermarks_behind_a_source_are_refused(make_env):
    env = make_env()
    stream = env.from_source(TestStream().add_elements([1]), NOTHING, "test")
    one, other = (assigned(stream, delay).key_by(lambda value: 0) for delay in (0, 60_000))
    one.connect(other).map(Both()).print()

    with pytest.raises(TableException, match="assigned in several branches behind one source"):
        env.execute()


def test_event_times_that_are_not_milliseconds_are_refused(make_env):
    env = make_env(parallelism=1)
    stream = env.from_source(TestStream().add_elements([1_700_000_000_000_000]), NOTHING, "test")
    keyed = assigned(stream, 0).key_by(lambda value: 0).process(Seen())

    with (
        pytest.raises(Exception, match="Event times are in milliseconds since the epoch"),
        keyed.execute_and_collect() as found,
    ):
        list(found)
