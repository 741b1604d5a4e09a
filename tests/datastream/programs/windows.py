"""Windows."""

from program_parts import (
    EVENT,
    EVENTS,
    ORDERS,
    SALE,
    STREAMING,
    Counted,
    Stamped,
    first,
    program,
    timed,
)
from pyflink.common import Time, Types
from pyflink.datastream import AggregateFunction, ProcessWindowFunction
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.datastream.window import (
    ContinuousEventTimeTrigger,
    CountTrigger,
    CountTumblingWindowAssigner,
    EventTimeSessionWindows,
    GlobalWindows,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    SlidingEventTimeWindows,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
)


class Shown(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield key, window.start, window.end, [element[2] for element in elements]


@program(key=first)
def tumbling_windows(env):
    windows = timed(env).key_by(first).window(TumblingEventTimeWindows.of(Time.seconds(5)))
    return windows.process(Shown())


@program(key=first)
def tumbling_windows_with_an_offset(env):
    windows = TumblingEventTimeWindows.of(Time.seconds(5), Time.seconds(1))
    return timed(env).key_by(first).window(windows).process(Shown())


@program(key=first)
def sliding_windows(env):
    windows = SlidingEventTimeWindows.of(Time.seconds(4), Time.seconds(2))
    return timed(env).key_by(first).window(windows).process(Shown())


@program(key=first)
def session_windows(env):
    windows = EventTimeSessionWindows.with_gap(Time.seconds(2))
    return timed(env).key_by(first).window(windows).process(Shown())


class Gap(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element[2] * 1000


@program(key=first)
def session_windows_of_gaps_that_vary(env):
    windows = EventTimeSessionWindows.with_dynamic_gap(Gap())
    return timed(env).key_by(first).window(windows).process(Shown())


@program(key=first)
def windows_reduced(env):
    windows = timed(env).key_by(first).window(TumblingEventTimeWindows.of(Time.seconds(5)))
    return windows.reduce(lambda a, b: (a[0], b[1], a[2] + b[2]))


@program(key=first)
def windows_reduced_and_processed(env):
    windows = timed(env).key_by(first).window(TumblingEventTimeWindows.of(Time.seconds(5)))
    return windows.reduce(lambda a, b: (a[0], b[1], a[2] + b[2]), Shown())


class Total(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value[2]

    def get_result(self, accumulator):
        return accumulator * 10

    def merge(self, a, b):
        return a + b


class Enclosed(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().max_timestamp(), context.current_watermark(), list(elements)


@program(key=first)
def windows_aggregated_and_processed(env):
    windows = timed(env).key_by(first).window(TumblingEventTimeWindows.of(Time.seconds(5)))
    return windows.aggregate(Total(), Enclosed())


@program()
def windows_aggregated(env):
    windows = timed(env, EVENTS, EVENT).key_by(first, Types.STRING())
    sliding = SlidingEventTimeWindows.of(Time.seconds(10), Time.seconds(5))
    return windows.window(sliding).aggregate(Total(), output_type=Types.INT())


@program(
    STREAMING,
    key=first,
    differs="PyFlink merges accumulators of sessions twice, or not at all",
    results=[
        *(("a", 6999, 2**63 - 1, [100]), ("a", 13999, 2**63 - 1, [50])),
        *(("b", 3499, 2**63 - 1, [100]), ("b", 11999, 2**63 - 1, [500])),
    ],
)
def sessions_aggregated(env):
    windows = timed(env).key_by(first).window(EventTimeSessionWindows.with_gap(Time.seconds(2)))
    return windows.aggregate(Total(), Enclosed())


@program(key=first)
def windows_applied(env):
    windows = timed(env).key_by(first).window(TumblingEventTimeWindows.of(Time.seconds(5)))
    return windows.apply(Counted(), SALE)


class Everything(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield context.window().start, sorted(element[2] for element in elements)


@program(ordered=True)
def windows_of_all_keys(env):
    return timed(env).window_all(TumblingEventTimeWindows.of(Time.seconds(5))).process(Everything())


class CountShown(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, [element[1] for element in elements]


@program(key=first)
def windows_of_so_many(env):
    return env.from_collection(ORDERS).key_by(first).count_window(2).process(CountShown())


@program(key=first)
def sliding_windows_of_so_many(env):
    return env.from_collection(ORDERS).key_by(first).count_window(2, 1).process(CountShown())


@program()
def windows_of_so_many_of_all_keys(env):
    stream = env.from_collection([1, 2, 3, 4, 5])
    return stream.window_all(CountTumblingWindowAssigner.of(2)).reduce(lambda a, b: a * 10 + b)


@program(key=first)
def global_windows_with_a_trigger(env):
    windows = env.from_collection(ORDERS).key_by(first).window(GlobalWindows.create())
    return windows.trigger(CountTrigger.of(2)).process(CountShown())


@program(key=first)
def global_windows_that_are_purged(env):
    windows = env.from_collection(ORDERS).key_by(first).window(GlobalWindows.create())
    return windows.trigger(PurgingTrigger.of(CountTrigger.of(2))).process(CountShown())


@program(key=first, reference="thread")
def windows_that_fire_by_the_clock_of_events(env):
    windows = timed(env).key_by(first).window(TumblingEventTimeWindows.of(Time.seconds(10)))
    return windows.trigger(ContinuousEventTimeTrigger.of(Time.seconds(2))).process(Shown())


class Eager(Trigger):
    """Fires for each even number, and at the end."""

    def on_element(self, element, timestamp, window, ctx):
        ctx.register_event_time_timer(window.max_timestamp())
        seen = ctx.get_partitioned_state(ValueStateDescriptor("seen", Types.INT()))
        seen.update((seen.value() or 0) + 1)
        return TriggerResult.FIRE if seen.value() == 2 else TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return (
            TriggerResult.FIRE_AND_PURGE
            if time == window.max_timestamp()
            else TriggerResult.CONTINUE
        )

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        ctx.delete_event_time_timer(window.max_timestamp())
        ctx.get_partitioned_state(ValueStateDescriptor("seen", Types.INT())).clear()


@program(key=first)
def windows_with_a_trigger_of_ones_own(env):
    windows = timed(env).key_by(first).window(TumblingEventTimeWindows.of(Time.seconds(5)))
    return windows.trigger(Eager()).process(Shown())


class StatefulWindows(ProcessWindowFunction):
    def __init__(self, name_of_global_state):
        self.total = ValueStateDescriptor(name_of_global_state, Types.INT())
        self.own = ValueStateDescriptor("count", Types.INT())

    def process(self, key, context, elements):
        total = context.global_state().get_state(self.total)
        own = context.window_state().get_state(self.own)
        total.update((total.value() or 0) + 1)
        own.update((own.value() or 0) + 1)
        yield key, context.window().start, total.value(), own.value()

    def clear(self, context):
        context.window_state().get_state(self.own).clear()


@program(key=first)
def state_of_windows_and_of_keys(env):
    windows = timed(env).key_by(first).window(TumblingEventTimeWindows.of(Time.seconds(5)))
    return windows.process(StatefulWindows("total"))


@program(
    key=first,
    differs="PyFlink has one state of a name, for windows and for their key",
    results=[
        *(("a", 0, 1, 1), ("a", 5000, 2, 1), ("a", 10000, 3, 1)),
        *(("b", 0, 1, 1), ("b", 5000, 2, 1), ("b", 10000, 3, 1)),
    ],
)
def state_of_one_name_of_windows_and_of_keys(env):
    windows = timed(env).key_by(first).window(TumblingEventTimeWindows.of(Time.seconds(5)))
    return windows.process(StatefulWindows("count"))


@program(key=first)
def windows_then_windows_again(env):
    windows = timed(env).key_by(first).window(TumblingEventTimeWindows.of(Time.seconds(5)))
    sums = windows.reduce(lambda a, b: (a[0], b[1], a[2] + b[2]))
    longer = sums.key_by(first).window(TumblingEventTimeWindows.of(Time.seconds(20)))
    return longer.process(Shown())


@program(STREAMING, key=first)
def timestamps_of_windows(env):
    windows = timed(env).key_by(first).window(TumblingEventTimeWindows.of(Time.seconds(5)))
    return windows.reduce(lambda a, b: a).process(Stamped())
