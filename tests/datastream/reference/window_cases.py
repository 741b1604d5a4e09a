"""Programs with windows that both PyFlink and PyFlow run, over the same elements.

Elements are tuples of a key, a number and a timestamp. All of them come before the watermark moves,
to its end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

ELEMENTS = [
    ("a", 1, 1),
    ("b", 2, 4),
    ("a", 3, 12),
    ("a", 4, 7),
    ("a", 5, 25),
    ("b", 6, 14),
    ("a", 7, 21),
    ("a", 8, 40),
    ("b", 9, 39),
    ("a", 10, -3),
    ("a", 11, 41),
    ("b", 12, 24),
    ("a", 13, 10),
]

# PyFlink loses accumulators where an element makes one window of two; these only prolong windows.
IN_ORDER = sorted(ELEMENTS, key=lambda element: element[2])


def api(package: str) -> SimpleNamespace:
    """Return what the cases use of a package: ``pyflink`` or ``pyflow``."""
    from importlib import import_module

    names: dict[str, Any] = {}
    for module in ("common", "common.time", "common.typeinfo"):
        names.update(vars(import_module(f"{package}.{module}")))
    names["Time"] = import_module(f"{package}.common.time").Time
    names["Types"] = import_module(f"{package}.common.typeinfo").Types
    for module in ("functions", "output_tag", "state", "window"):
        names.update(vars(import_module(f"{package}.datastream.{module}")))
    return SimpleNamespace(**names)


@dataclass
class Case:
    """A program.

    Parameters
    ----------
    assigner : callable
        Makes the assigner, of the names of the API.
    kind : str
        The operation on the windows.
    trigger : callable, optional
        Makes the trigger.
    elements : list of tuple
    """

    assigner: Any
    kind: str
    trigger: Any = None
    elements: list[Any] = field(default_factory=lambda: ELEMENTS)


def sum_of(f: SimpleNamespace) -> Any:
    """A function that combines two elements, of the key of the first one."""
    return lambda one, other: (one[0], one[1] + other[1], max(one[2], other[2]))


def aggregate_of(f: SimpleNamespace) -> Any:
    """An aggregate function that makes the number of elements and their sum."""

    class CountAndSum(f.AggregateFunction):
        def create_accumulator(self):
            return (0, 0)

        def add(self, value, accumulator):
            return (accumulator[0] + 1, accumulator[1] + value[1])

        def get_result(self, accumulator):
            return accumulator

        def merge(self, acc_a, acc_b):
            return (acc_a[0] + acc_b[0], acc_a[1] + acc_b[1])

    return CountAndSum()


def partial_of(f: SimpleNamespace) -> Any:
    """An aggregate function without a result until there are three elements."""

    class Three(f.AggregateFunction):
        def create_accumulator(self):
            return 0

        def add(self, value, accumulator):
            return accumulator + 1

        def get_result(self, accumulator):
            return accumulator if accumulator >= 3 else None

        def merge(self, acc_a, acc_b):
            return acc_a + acc_b

    return Three()


def apply_of(f: SimpleNamespace) -> Any:
    """A window function that makes a list of what it is given."""

    class Listing(f.WindowFunction):
        def apply(self, key, window, inputs):
            yield ("apply", key, str(window), list(inputs))

    return Listing()


def apply_all_of(f: SimpleNamespace) -> Any:
    """The same, without keys."""

    class Listing(f.AllWindowFunction):
        def apply(self, window, inputs):
            yield ("apply", str(window), list(inputs))

    return Listing()


def apply_sorted_of(f: SimpleNamespace) -> Any:
    """A window function that makes a sorted list, as merged windows are in no order."""

    class Sorting(f.WindowFunction):
        def apply(self, key, window, inputs):
            yield ("apply", key, str(window), sorted(inputs))

    return Sorting()


def apply_all_sorted_of(f: SimpleNamespace) -> Any:
    """The same, without keys."""

    class Sorting(f.AllWindowFunction):
        def apply(self, window, inputs):
            yield ("apply", str(window), sorted(inputs))

    return Sorting()


def process_of(f: SimpleNamespace) -> Any:
    """A window function that counts how often it is called, by window and by key."""

    class Counting(f.ProcessWindowFunction):
        def process(self, key, context, elements):
            by_window = context.window_state().get_state(
                f.ValueStateDescriptor("calls", f.Types.LONG())
            )
            by_window.update((by_window.value() or 0) + 1)
            by_key = context.global_state().get_state(
                f.ValueStateDescriptor("calls-of-key", f.Types.LONG())
            )
            by_key.update((by_key.value() or 0) + 1)
            counts = (by_window.value(), by_key.value())
            yield (key, str(context.window()), counts, [each[1] for each in elements])

        def clear(self, context):
            context.window_state().get_state(
                f.ValueStateDescriptor("calls", f.Types.LONG())
            ).clear()

    return Counting()


def process_by_key_of(f: SimpleNamespace) -> Any:
    """A window function that counts how often it is called by key, for windows that merge."""

    class Counting(f.ProcessWindowFunction):
        def process(self, key, context, elements):
            by_key = context.global_state().get_state(
                f.ValueStateDescriptor("calls-of-key", f.Types.LONG())
            )
            by_key.update((by_key.value() or 0) + 1)
            yield (key, str(context.window()), by_key.value(), sorted(elements))

    return Counting()


def process_all_of(f: SimpleNamespace) -> Any:
    """A window function without keys, with state."""

    class Counting(f.ProcessAllWindowFunction):
        def process(self, context, elements):
            calls = context.global_state().get_state(
                f.ValueStateDescriptor("calls", f.Types.LONG())
            )
            calls.update((calls.value() or 0) + 1)
            yield (str(context.window()), calls.value(), list(elements))

    return Counting()


def every_second_trigger(f: SimpleNamespace) -> Any:
    """A trigger with state: it fires at each second element, and purges at each third."""

    class EverySecond(f.Trigger):
        def __init__(self):
            self.seen = f.ListStateDescriptor("seen", f.Types.LONG())
            self.last = f.AggregatingStateDescriptor(
                "count", aggregate_of(f), f.Types.PICKLED_BYTE_ARRAY()
            )

        def on_element(self, element, timestamp, window, ctx):
            seen = ctx.get_partitioned_state(self.seen)
            seen.add(element[1])
            ctx.get_partitioned_state(self.last).add(element)
            count, _ = ctx.get_partitioned_state(self.last).get()
            if len(list(seen.get())) != count:
                raise AssertionError("the states differ")
            if count % 3 == 0:
                return f.TriggerResult.PURGE
            return f.TriggerResult.FIRE if count % 2 == 0 else f.TriggerResult.CONTINUE

        def on_processing_time(self, time, window, ctx):
            return f.TriggerResult.CONTINUE

        def on_event_time(self, time, window, ctx):
            return f.TriggerResult.CONTINUE

        def can_merge(self):
            return True

        def on_merge(self, window, ctx):
            ctx.merge_partitioned_state(self.seen)
            ctx.merge_partitioned_state(self.last)

        def clear(self, window, ctx):
            ctx.get_partitioned_state(self.seen).clear()
            ctx.get_partitioned_state(self.last).clear()

    return EverySecond()


def even_gap(f: SimpleNamespace) -> Any:
    """A gap that is longer after even numbers."""

    class Gap(f.SessionWindowTimeGapExtractor):
        def extract(self, element):
            return 10 if element[1] % 2 == 0 else 3

    return Gap()


def own_sessions(f: SimpleNamespace) -> Any:
    """An assigner of the program's own, which merges windows of its own."""

    class OwnSessions(f.MergingWindowAssigner):
        def assign_windows(self, element, timestamp, context):
            return [f.TimeWindow(timestamp, timestamp + 6)]

        def merge_windows(self, windows, callback):
            f.TimeWindow.merge_windows(windows, callback)

        def get_default_trigger(self, env):
            return f.EventTimeTrigger.create()

        def get_window_serializer(self):
            return f.TimeWindowSerializer()

        def is_event_time(self):
            return True

    return OwnSessions()


FUNCTIONS = {
    "reduce": (sum_of, None),
    "reduce apply": (sum_of, apply_of),
    "reduce process": (sum_of, process_of),
    "aggregate": (aggregate_of, None),
    "aggregate apply": (aggregate_of, apply_of),
    "aggregate partial": (partial_of, None),
    "apply": (None, apply_of),
    "apply sorted": (None, apply_sorted_of),
    "process": (None, process_of),
    "process by key": (None, process_by_key_of),
    "all reduce": (sum_of, None),
    "all aggregate": (aggregate_of, None),
    "all aggregate apply": (aggregate_of, apply_all_of),
    "all apply": (None, apply_all_of),
    "all apply sorted": (None, apply_all_sorted_of),
    "all process": (None, process_all_of),
}


def tumbling(f):
    return f.TumblingEventTimeWindows.of(f.Time.milliseconds(10))


def sliding(f):
    return f.SlidingEventTimeWindows.of(f.Time.milliseconds(20), f.Time.milliseconds(10))


def sessions(f):
    return f.EventTimeSessionWindows.with_gap(f.Time.milliseconds(6))


def dynamic_sessions(f):
    return f.EventTimeSessionWindows.with_dynamic_gap(even_gap(f))


def globally(f):
    return f.GlobalWindows.create()


def count(number):
    return lambda f: f.CountTrigger.of(number)


def purging_count(number):
    return lambda f: f.PurgingTrigger.of(f.CountTrigger.of(number))


def continuous(interval):
    return lambda f: f.ContinuousEventTimeTrigger.of(f.Time.milliseconds(interval))


CASES = {
    "tumbling reduce": Case(tumbling, "reduce"),
    "tumbling reduce apply": Case(tumbling, "reduce apply"),
    "tumbling reduce process": Case(tumbling, "reduce process"),
    "tumbling aggregate": Case(tumbling, "aggregate"),
    "tumbling aggregate apply": Case(tumbling, "aggregate apply"),
    "tumbling apply": Case(tumbling, "apply"),
    "tumbling process": Case(tumbling, "process"),
    "tumbling offset": Case(
        lambda f: f.TumblingEventTimeWindows.of(f.Time.milliseconds(10), f.Time.milliseconds(-4)),
        "apply",
    ),
    "tumbling all reduce": Case(tumbling, "all reduce"),
    "tumbling all aggregate": Case(tumbling, "all aggregate"),
    "tumbling all aggregate apply": Case(tumbling, "all aggregate apply"),
    "tumbling all apply": Case(tumbling, "all apply"),
    "tumbling all process": Case(tumbling, "all process"),
    "tumbling count trigger": Case(tumbling, "apply", count(2)),
    "tumbling purging count trigger": Case(tumbling, "apply", purging_count(2)),
    "tumbling continuous trigger": Case(tumbling, "process", continuous(4)),
    "tumbling own trigger": Case(tumbling, "apply", every_second_trigger),
    "sliding reduce": Case(sliding, "reduce"),
    "sliding aggregate apply": Case(sliding, "aggregate apply"),
    "sliding apply": Case(sliding, "apply"),
    "sliding aggregate partial": Case(sliding, "aggregate partial"),
    "sliding gaps": Case(
        lambda f: f.SlidingEventTimeWindows.of(f.Time.milliseconds(5), f.Time.milliseconds(10)),
        "apply",
    ),
    "sliding offset": Case(
        lambda f: f.SlidingEventTimeWindows.of(
            f.Time.milliseconds(15), f.Time.milliseconds(10), f.Time.milliseconds(3)
        ),
        "apply",
    ),
    "sessions reduce": Case(sessions, "reduce", elements=IN_ORDER),
    "sessions aggregate": Case(sessions, "aggregate", elements=IN_ORDER),
    "sessions apply": Case(sessions, "apply sorted"),
    "sessions process": Case(sessions, "process by key"),
    "sessions all apply": Case(sessions, "all apply sorted"),
    "sessions count trigger": Case(sessions, "aggregate", count(2), elements=IN_ORDER),
    "sessions purging count trigger": Case(
        sessions, "aggregate", purging_count(2), elements=IN_ORDER
    ),
    "sessions own trigger": Case(sessions, "aggregate", every_second_trigger, elements=IN_ORDER),
    "dynamic sessions apply": Case(dynamic_sessions, "apply sorted"),
    "dynamic sessions aggregate": Case(dynamic_sessions, "aggregate", elements=IN_ORDER),
    "own sessions apply": Case(own_sessions, "apply sorted"),
    "own sessions own trigger": Case(
        own_sessions, "aggregate", every_second_trigger, elements=IN_ORDER
    ),
    "count tumbling": Case(lambda f: f.CountTumblingWindowAssigner.of(3), "apply"),
    "count sliding": Case(lambda f: f.CountSlidingWindowAssigner.of(4, 2), "apply"),
    "count sliding gaps": Case(lambda f: f.CountSlidingWindowAssigner.of(2, 3), "apply"),
    "count sliding uneven": Case(lambda f: f.CountSlidingWindowAssigner.of(5, 2), "aggregate"),
    "count tumbling all": Case(lambda f: f.CountTumblingWindowAssigner.of(3), "all apply"),
    "global never": Case(globally, "apply"),
    "global count trigger": Case(globally, "apply", count(3)),
    "global purging count trigger": Case(globally, "reduce", purging_count(3)),
    "global partial": Case(globally, "aggregate partial", purging_count(2)),
    "global all count trigger": Case(globally, "all aggregate", count(4)),
}
