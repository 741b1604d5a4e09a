"""Pipelines made by chance, which both PyFlink and PyFlow run over the same elements.

Elements are tuples of a key, a number and a timestamp, whatever a pipeline does. They come in
bursts, with a watermark behind each that some of the next are behind. A pipeline is a choice of
operators that is made of its number.
"""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

Element = tuple[str, int, int]

COUNT = 48
#: What watermarks are behind the latest timestamp.
DELAY = 5

_OF_THE_KEY = ["of the key", "of the key, typed"]
_KEYS = [*_OF_THE_KEY, "of numbers", "of tuples", "of lists"]
_STATELESS = ["map", "map typed", "filter", "flat_map", "process", "rows", "dicts"]
_ROLLING = ["reduce", "sum", "min", "max", "min_by", "max_by"]
_STATES = ["value", "list", "map", "reducing", "aggregating"]
_ASSIGNERS = ["tumbling", "tumbling with offset", "sliding", "session", "count", "count sliding"]
_TRIGGERS = [None, None, "count", "continuous", "purging"]
_ON_WINDOWS = ["reduce", "aggregate", "aggregate with function", "process", "apply"]


def bursts() -> list[list[Element]]:
    """Return the elements between two watermarks."""
    chance = random.Random(1)
    return [
        [
            (
                chance.choice("abc"),
                chance.randrange(-9, 10),
                chance.randrange(start - 30, start + 40),
            )
            for _ in range(9)
        ]
        for start in range(40, 200, 40)
    ]


def watermarks() -> list[int]:
    """Return the watermark behind each burst."""
    found, latest = [], 0
    for burst in bursts():
        latest = max(latest, *(timestamp for _, _, timestamp in burst))
        found.append(latest - DELAY - 1)
    return found


def pipeline(number: int) -> dict[str, Any]:
    """Return what a pipeline does."""
    chance = random.Random(number)
    kind = ("rolling", "state", "windows", "windows", "connected", "all windows")[number % 6]
    made: dict[str, Any] = {
        "kind": kind,
        "before": chance.choices(_STATELESS, k=chance.randrange(3)),
        "key": chance.choice(_KEYS),
        "after": chance.choices(_STATELESS, k=chance.randrange(3)),
        "again": chance.choice([None, None, *_ROLLING]),
    }
    # Rolling results are known where the elements of a key have one order.
    if kind == "connected" or (kind != "all windows" and made["key"] not in _OF_THE_KEY):
        made["again"] = None
    if kind in ("connected", "windows", "all windows"):
        # PyFlink does not give these elements the timestamps that Flink does.
        made["after"] = [each for each in made["after"] if each != "process"]
    if kind == "rolling":
        made["function"] = chance.choice(_ROLLING)
    elif kind == "state":
        made["state"] = chance.choice(_STATES)
        made["timers"] = chance.choice(["none", "register", "delete"])
    elif kind.endswith("windows"):
        made["assigner"] = chance.choice(_ASSIGNERS)
        made["function"] = chance.choice(_ON_WINDOWS)
        made["trigger"] = None if "count" in made["assigner"] else chance.choice(_TRIGGERS)
        if made["assigner"] == "session":
            # Where windows merge, PyFlink's trigger fails, and it loses accumulators.
            made["trigger"] = None if made["trigger"] == "continuous" else made["trigger"]
            made["function"] = chance.choice(["process", "apply"])
        made["lateness"] = 0 if "count" in made["assigner"] else chance.choice([0, 0, 25])
    return made


def stateless(f: SimpleNamespace, stream: Any, kind: str) -> Any:
    """Return a stream behind an operator without state."""
    typed = f.Types.TUPLE([f.Types.STRING(), f.Types.LONG(), f.Types.LONG()])
    if kind == "map":
        return stream.map(lambda v: (v[0], v[1] * 2, v[2]))
    if kind == "map typed":
        return stream.map(lambda v: (v[0], v[1] + 1, v[2]), output_type=typed)
    if kind == "filter":
        return stream.filter(lambda v: v[1] % 3 != 0)
    if kind == "flat_map":
        return stream.flat_map(lambda v: [v] if v[1] % 2 else [v, (v[0], 1 - v[1], v[2])])
    if kind == "process":

        class Timed(f.ProcessFunction):
            def process_element(self, value, ctx):
                if value[1] != 1:
                    yield value[0], value[1], ctx.timestamp()

        return stream.process(Timed())
    if kind == "rows":
        names = ["key", "number", "at"]
        types = [f.Types.STRING(), f.Types.LONG(), f.Types.LONG()]
        rows = stream.map(lambda v: f.Row(*v), output_type=f.Types.ROW_NAMED(names, types))
        return rows.map(lambda row: (row[0], row[1], row[2]))
    return stream.map(lambda v: {"k": v[0], "n": v[1], "at": [v[2]]}).map(
        lambda v: (v["k"], v["n"], v["at"][0])
    )


def keyed(f: SimpleNamespace, stream: Any, key: str) -> Any:
    """Return a keyed stream."""
    if key == "of the key, typed":
        return stream.key_by(lambda v: v[0], f.Types.STRING())
    selectors = {
        "of the key": lambda v: v[0],
        "of numbers": lambda v: v[1] % 3,
        "of tuples": lambda v: (v[0], v[1] % 2),
        "of lists": lambda v: [v[0]],
    }
    return stream.key_by(selectors[key])


def rolling(f: SimpleNamespace, stream: Any, kind: str) -> Any:
    """Return a stream of rolling results of a keyed stream."""
    if kind == "reduce":
        return stream.reduce(lambda one, other: (one[0], one[1] + other[1], other[2]))
    return getattr(stream, kind)(1)


def stateful(f: SimpleNamespace, state: str, timers: str) -> Any:
    """Return a function with state, and maybe with timers."""

    class Stateful(f.KeyedProcessFunction):
        def open(self, runtime_context):
            number = f.Types.LONG()
            descriptor = {
                "value": lambda: f.ValueStateDescriptor("kept", number),
                "list": lambda: f.ListStateDescriptor("kept", number),
                "map": lambda: f.MapStateDescriptor("kept", number, number),
                "reducing": lambda: f.ReducingStateDescriptor("kept", lambda a, b: a + b, number),
                "aggregating": lambda: f.AggregatingStateDescriptor(
                    "kept", totals(f), f.Types.PICKLED_BYTE_ARRAY()
                ),
            }[state]()
            get = "get_state" if state == "value" else f"get_{state}_state"
            self.kept = getattr(runtime_context, get)(descriptor)
            self.timer = runtime_context.get_state(f.ValueStateDescriptor("timer", number))

        def total(self):
            if state == "value":
                return self.kept.value() or 0
            if state == "list":
                return sum(self.kept.get())
            if state == "map":
                return sum(self.kept.values())
            return self.kept.get() or 0

        def process_element(self, value, ctx):
            if state == "value":
                self.kept.update(self.total() + value[1])
            elif state == "map":
                self.kept.put(value[1], value[2])
            else:
                self.kept.add(value[1])
            service = ctx.timer_service()
            if timers != "none":
                before = self.timer.value()
                if timers == "delete" and before is not None:
                    service.delete_event_time_timer(before)
                service.register_event_time_timer(value[2] + 20)
                self.timer.update(value[2] + 20)
            yield value[0], self.total(), value[2]

        def on_timer(self, timestamp, ctx):
            yield f"{ctx.get_current_key()}", self.total(), -timestamp
            if self.total() > 20:
                self.kept.clear()

    return Stateful()


def totals(f: SimpleNamespace) -> Any:
    """Return an aggregate function of numbers."""

    class Total(f.AggregateFunction):
        def create_accumulator(self):
            return 0

        def add(self, value, accumulator):
            return accumulator + value

        def get_result(self, accumulator):
            return accumulator

        def merge(self, acc_a, acc_b):
            return acc_a + acc_b

    return Total()


def windows(f: SimpleNamespace, stream: Any, made: dict[str, Any]) -> tuple[Any, Any]:
    """Return what windows emit, and their late elements if there may be some."""
    is_keyed = made["kind"] == "windows"
    window = stream.window if is_keyed else stream.window_all
    ms = f.Time.milliseconds
    windowed = window(
        {
            "tumbling": lambda: f.TumblingEventTimeWindows.of(ms(20)),
            "tumbling with offset": lambda: f.TumblingEventTimeWindows.of(ms(20), ms(7)),
            "sliding": lambda: f.SlidingEventTimeWindows.of(ms(30), ms(15)),
            "session": lambda: f.EventTimeSessionWindows.with_gap(ms(8)),
            "count": lambda: f.CountTumblingWindowAssigner.of(3),
            "count sliding": lambda: f.CountSlidingWindowAssigner.of(4, 2),
        }[made["assigner"]]()
    )
    if made["trigger"] is not None:
        windowed = windowed.trigger(
            {
                "count": lambda: f.CountTrigger.of(2),
                "continuous": lambda: f.ContinuousEventTimeTrigger.of(ms(10)),
                "purging": lambda: f.PurgingTrigger.of(f.EventTimeTrigger.create()),
            }[made["trigger"]]()
        )
    tag = None
    if "count" not in made["assigner"]:
        tag = f.OutputTag("late", f.Types.PICKLED_BYTE_ARRAY())
        windowed = windowed.allowed_lateness(made["lateness"]).side_output_late_data(tag)
    emitted = on_windows(f, windowed, made["function"], is_keyed)
    return emitted, None if tag is None else emitted.get_side_output(tag)


def on_windows(f: SimpleNamespace, windowed: Any, kind: str, is_keyed: bool) -> Any:
    """Return what a function of windows emits."""

    def summary(window, elements):
        values = list(elements)
        end = getattr(window, "end", 0)
        return min(v[0] for v in values), sum(v[1] for v in values), end + 1000 * len(values)

    class Total(f.AggregateFunction):
        def create_accumulator(self):
            return ("~", 0, 0)

        def add(self, value, accumulator):
            key, total, count = accumulator
            return min(key, value[0]), total + value[1], count + 1

        def get_result(self, accumulator):
            return accumulator

        def merge(self, acc_a, acc_b):
            return min(acc_a[0], acc_b[0]), acc_a[1] + acc_b[1], acc_a[2] + acc_b[2]

    class Processed(f.ProcessWindowFunction if is_keyed else f.ProcessAllWindowFunction):
        if is_keyed:

            def process(self, key, context, elements):
                yield summary(context.window(), elements)

        else:

            def process(self, context, elements):
                yield summary(context.window(), elements)

    class Applied(f.WindowFunction if is_keyed else f.AllWindowFunction):
        if is_keyed:

            def apply(self, key, window, inputs):
                yield summary(window, inputs)

        else:

            def apply(self, window, inputs):
                yield summary(window, inputs)

    if kind == "reduce":
        return windowed.reduce(
            lambda one, other: (min(one[0], other[0]), one[1] + other[1], max(one[2], other[2]))
        )
    if kind == "aggregate":
        return windowed.aggregate(Total())
    if kind == "aggregate with function":
        return windowed.aggregate(Total(), Processed())
    return windowed.process(Processed()) if kind == "process" else windowed.apply(Applied())


def connected(f: SimpleNamespace, one: Any, other: Any) -> Any:
    """Return what a function of two inputs emits, at timers: the inputs have no common order."""

    class Both(f.KeyedCoProcessFunction):
        def open(self, runtime_context):
            number = f.Types.LONG()
            self.left = runtime_context.get_list_state(f.ListStateDescriptor("left", number))
            self.right = runtime_context.get_map_state(
                f.MapStateDescriptor("right", number, number)
            )

        def process_element1(self, value, ctx):
            self.left.add(value[1])
            ctx.timer_service().register_event_time_timer(value[2] // 30 * 30 + 30)

        def process_element2(self, value, ctx):
            self.right.put(value[2], value[1])
            ctx.timer_service().register_event_time_timer(value[2] // 30 * 30 + 31)

        def on_timer(self, timestamp, ctx):
            yield f"{ctx.get_current_key()}", sum(self.left.get()), timestamp
            yield "right", sum(self.right.values()), len(list(self.right.keys()))

    return one.connect(other).process(Both())


def build(f: SimpleNamespace, stream: Any, number: int) -> Any:
    """Return the stream of a pipeline behind that of its elements."""
    made = pipeline(number)
    late = None
    for kind in made["before"]:
        stream = stateless(f, stream, kind)
    if made["kind"] == "rolling":
        stream = rolling(f, keyed(f, stream, made["key"]), made["function"])
    elif made["kind"] == "state":
        function = stateful(f, made["state"], made["timers"])
        stream = keyed(f, stream, made["key"]).process(function)
    elif made["kind"] == "connected":
        even = keyed(f, stream.filter(lambda v: v[1] % 2 == 0), made["key"])
        stream = connected(f, keyed(f, stream, made["key"]), even)
    else:
        source = keyed(f, stream, made["key"]) if made["kind"] == "windows" else stream
        stream, late = windows(f, source, made)
    for kind in made["after"]:
        stream = stateless(f, stream, kind)
    if made["again"] is not None:
        stream = rolling(f, keyed(f, stream, "of the key"), made["again"])
    stream = stream.map(lambda v: ("main", v[0], v[1], v[2]))
    return stream if late is None else stream.union(late.map(lambda v: ("late", *v)))


def answers(number: int, found: list[Any]) -> Any:
    """Return the elements that a pipeline emits as they are compared.

    Those of a key have an order where one operator makes them by this key. Timers and windows of
    different keys have none.
    """
    made = pipeline(number)
    if made["key"] not in _OF_THE_KEY or made["kind"] in ("connected", "all windows"):
        return sorted(map(repr, found))
    of_keys: dict[str, list[str]] = {}
    for each in found:
        of_keys.setdefault(repr(each[:2]), []).append(repr(each))
    return dict(sorted(of_keys.items()))
