"""Programs of the DataStream API that run on PyFlink and, with other imports, on PyFlow.

Each is a function of an environment that returns a stream to be collected, or a list. This file is
read, not imported: `reference/stream_programs.py` runs its text for either package.
"""

import datetime
from decimal import Decimal

from pyflink.common import Row, RowKind, Time, Types
from pyflink.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from pyflink.datastream import (
    AggregateFunction,
    AsyncDataStream,
    AsyncFunction,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    OutputTag,
    ProcessFunction,
    ProcessWindowFunction,
    ReduceFunction,
    RuntimeExecutionMode,
    WindowFunction,
)
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
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

PROGRAMS = {}

STREAMING, BATCH = RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.BATCH


def program(
    *modes, ordered=False, key=None, printed=False, parallelism=1, differs=None, settings=None
):
    """Registers a program.

    Parameters
    ----------
    modes
        Execution modes to run it in; both if none are named.
    ordered
        Whether the results have one order.
    key
        What makes, of a result, that among which results have one order.
    printed
        Whether what it prints is compared, too.
    parallelism
        Of the environment.
    differs
        Why the documentation has it that PyFlow's results are others.
    settings
        Of the environment.
    """

    def register(function):
        PROGRAMS[function.__name__] = {
            "function": function,
            "modes": [mode.name for mode in modes or (STREAMING, BATCH)],
            "ordered": ordered,
            "key": key,
            "printed": printed,
            "parallelism": parallelism,
            "differs": differs,
            "settings": settings or {},
        }
        return function

    return register


def first(result):
    return result[0]


WORDS = ["to be", "or not", "", "to be that is"]
ORDERS = [("Alice", 5), ("Bob", 3), ("Alice", 7), ("Carol", 1), ("Bob", 3), ("Alice", -2)]
EVENTS = [
    *(("a", 1000, 1), ("b", 1500, 10), ("a", 4000, 2), ("a", 5000, 3), ("b", 9999, 20)),
    *(("a", 3000, 4), ("a", 12000, 5), ("b", 10000, 30)),
]
SALE = Types.TUPLE([Types.STRING(), Types.INT()])
EVENT = Types.TUPLE([Types.STRING(), Types.LONG(), Types.INT()])


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def timed(env, events=EVENTS, type_info=None):
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    stream = env.from_collection(events, type_info)
    return stream.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(SecondField()))


# --- Elements one by one ----------------------------------------------------------------------


@program(ordered=True, printed=True)
def elements_of_any_kind(env):
    elements = [1, 2.5, "a", None, True, (1, "x"), [1, None], {"k": (1,)}, Row(1, "a")]
    return env.from_collection([*elements, Row(a=1, b=None), Decimal("1.50"), {1}, frozenset()])


@program(ordered=True, printed=True)
def elements_of_a_row_type(env):
    type_info = Types.ROW_NAMED(["name", "price"], [Types.STRING(), Types.FLOAT()])
    rows = [Row("a", 1.1), Row(price=2.0, name="b"), ("c", 3.0), {"price": 4.0, "name": None}]
    return env.from_collection(rows, type_info)


@program(ordered=True, printed=True)
def elements_of_a_tuple_type(env):
    return env.from_collection([("a", 1), ["b", 2], Row("c", 3)], SALE)


@program(ordered=True)
def mapped_without_a_type(env):
    stream = env.from_collection([1, 2, 3])
    return stream.map(lambda i: None if i == 2 else {"n": i}).map(lambda d: (d, type(d).__name__))


@program(ordered=True)
def chained_functions_get_what_was_returned(env):
    """No coder between them, whatever their types."""
    stream = env.from_collection([1, 2]).map(lambda i: i / 10, Types.FLOAT())
    return stream.map(lambda f: repr(f), Types.STRING())


@program(
    ordered=True,
    differs="what a function returns becomes a value of its type, in a chain as elsewhere",
)
def chained_functions_get_values_of_another_type(env):
    stream = env.from_collection([1, 2]).map(lambda i: str(i), Types.INT())
    return stream.map(lambda text: text + "!", Types.STRING())


@program(ordered=True)
def functions_apart_get_values_of_the_type(env):
    stream = env.from_collection([1, 2]).map(lambda i: i / 10, Types.FLOAT())
    return stream.map(lambda f: repr(f), Types.STRING()).start_new_chain()


class Doubled(MapFunction):
    def __init__(self, factor):
        self.factor = factor

    def open(self, runtime_context):
        self.opened = 1
        self.seen = 0

    def map(self, value):
        self.seen += 1
        return value * self.factor, self.opened, self.seen


@program(ordered=True)
def mapped_by_a_class(env):
    return env.from_collection([1, 2, 3]).map(Doubled(2))


class Words(FlatMapFunction):
    def flat_map(self, value):
        yield from value.split()


@program(ordered=True)
def flat_mapped(env):
    stream = env.from_collection(WORDS)
    return stream.flat_map(Words(), Types.STRING()).flat_map(lambda word: [word, word.upper()])


@program(ordered=True)
def flat_mapped_to_other_iterables(env):
    stream = env.from_collection([(1, 2), "ab", {3: 4}, range(2), []])
    return stream.flat_map(lambda values: values)


@program()
def flat_mapped_to_none(env):
    return env.from_collection([1]).flat_map(lambda value: None)


class Even(FilterFunction):
    def filter(self, value):
        return value % 2 == 0


@program(ordered=True)
def filtered(env):
    stream = env.from_collection(list(range(10)))
    return stream.filter(Even()).filter(lambda value: value)


@program(ordered=True)
def filtered_by_what_is_no_boolean(env):
    stream = env.from_collection(["", "x", None, 0, 1, [], [0]])
    return stream.filter(lambda value: value)


class Processed(ProcessFunction):
    def process_element(self, value, ctx):
        if value == 1:
            return None
        if value == 2:
            return [value, value * 10]
        return (v for v in (value, None))


@program(ordered=True)
def processed_to_none_and_iterables(env):
    return env.from_collection([1, 2, 3]).process(Processed()).map(repr)


class Stamped(ProcessFunction):
    def process_element(self, value, ctx):
        yield value[0], ctx.timestamp()


@program(ordered=True)
def timestamps_of_elements(env):
    return timed(env).process(Stamped())


@program(ordered=True)
def elements_without_timestamps(env):
    return env.from_collection([("a", 1)]).process(Stamped())


@program(ordered=True)
def timestamps_behind_functions(env):
    mapped = timed(env).map(lambda event: (event[0], -event[1])).filter(lambda event: True)
    return mapped.process(Stamped())


@program(STREAMING)
def failing_function(env):
    return env.from_collection([1, 0]).map(lambda value: 1 // value)


@program(STREAMING)
def element_that_does_not_fit(env):
    return env.from_collection([1]).map(lambda value: ("a", "b"), SALE)


@program(ordered=True)
def row_kinds_stay(env):
    kinds = list(RowKind)
    stream = env.from_collection([0, 1, 2, 3])
    return stream.map(lambda i: Row.of_kind(kinds[i], i), Types.ROW([Types.INT()]))


@program(ordered=True)
def fields_by_name(env):
    type_info = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])
    stream = env.from_collection([1]).map(lambda i: Row(b="x", a=i), type_info)
    asked = stream.map(lambda row: (row.a, row["b"], row[0], list(row), row.as_dict()))
    return asked.start_new_chain()


@program(ordered=True)
def projected(env):
    type_info = Types.TUPLE([Types.INT(), Types.STRING(), Types.DOUBLE()])
    return env.from_collection([(1, "a", 2.5), (2, "b", 3.5)], type_info).project(2, 0)


@program(ordered=True)
def numbers_of_a_sequence(env):
    source = NumberSequenceSource(1, 5)
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    return stream.map(lambda n: n * n)


@program(STREAMING, ordered=True)
def types_of_streams(env):
    untyped = env.from_collection([1, 2])
    typed = env.from_collection([("a", 1)], SALE)
    named = Types.ROW_NAMED(["a"], [Types.INT()])
    keyed = typed.key_by(lambda sale: sale[0])
    tag = OutputTag("side", Types.STRING())
    streams = [
        *(untyped, typed, untyped.map(str), untyped.map(str, Types.STRING()), typed.map(first)),
        *(untyped.filter(bool), typed.filter(bool), typed.flat_map(list)),
        *(keyed.map(first), keyed.reduce(lambda a, b: a), keyed.sum(1), keyed.min_by(1)),
        *(untyped.union(untyped), typed.union(typed), typed.rebalance(), keyed.filter(bool)),
        typed.process(Processed()).get_side_output(tag),
        typed.process(Processed()).get_side_output(OutputTag("untyped")),
        untyped.map(lambda i: Row(i), named),
        untyped.map(lambda i: Row(i), named).filter(bool),
        untyped.map(lambda i: Row(i), Types.ROW([Types.INT()])),
        keyed.count_window(2).reduce(lambda a, b: a),
        keyed.count_window(2).apply(Counted(), SALE),
        typed.assign_timestamps_and_watermarks(WatermarkStrategy.no_watermarks()),
        typed.project(1),
        untyped.map(lambda i: i, Types.LIST(Types.INT())),
        untyped.map(lambda i: i, Types.MAP(Types.STRING(), Types.BIG_DEC())),
        untyped.map(lambda i: i, Types.OBJECT_ARRAY(Types.SQL_TIMESTAMP())),
        untyped.map(lambda i: i, Types.PRIMITIVE_ARRAY(Types.BYTE())),
        untyped.map(lambda i: i, Types.BASIC_ARRAY(Types.STRING())),
        untyped.map(lambda i: i, Types.INSTANT()),
    ]
    return [repr(stream.get_type()) for stream in streams]


# --- Several streams --------------------------------------------------------------------------


@program()
def united(env):
    one, two = env.from_collection([1, 2]), env.from_collection([3, 4])
    return one.union(two, one).map(lambda value: value * 10)


@program(STREAMING, parallelism=2)
def sent_to_all_subtasks(env):
    return env.from_collection([1, 2]).broadcast().map(lambda value: value)


@program(parallelism=2)
def sent_to_other_subtasks(env):
    stream = env.from_collection([1, 2, 3]).rebalance().map(lambda value: value * 2)
    return stream.shuffle().map(lambda value: value + 1).rescale().map(str)


@program(parallelism=2, differs="PyFlink's collector does not say how many subtasks there are")
def sent_where_a_function_says(env):
    stream = env.from_collection([(i, i % 2) for i in range(6)])
    sent = stream.partition_custom(lambda key, count: key % count, lambda value: value[1])
    return sent.map(lambda value: value[0])


class Tagged(CoMapFunction):
    def map1(self, value):
        return None if value == 2 else ("one", value)

    def map2(self, value):
        return "two", value


@program(key=first)
def connected_and_mapped(env):
    one, two = env.from_collection([1, 2, 3]), env.from_collection(["a", "b"])
    return one.connect(two).map(Tagged())


class TaggedAll(CoFlatMapFunction):
    def flat_map1(self, value):
        yield "one", value
        yield "one", -value

    def flat_map2(self, value):
        if value == "a":
            yield "two", value


@program(key=first)
def connected_and_flat_mapped(env):
    one, two = env.from_collection([1, 2, 3]), env.from_collection(["a", "b"])
    return one.connect(two).flat_map(TaggedAll())


SMALL, LARGE = OutputTag("small", Types.INT()), OutputTag("large")


class Split(ProcessFunction):
    def process_element(self, value, ctx):
        if value < 3:
            yield SMALL, value
        elif value > 5:
            yield LARGE, {"value": value}
        else:
            yield value


@program(ordered=True)
def main_output_beside_side_outputs(env):
    main = env.from_collection(list(range(8))).process(Split(), Types.INT())
    main.get_side_output(SMALL).map(lambda value: value)
    return main


@program(ordered=True)
def side_output_of_a_type(env):
    main = env.from_collection(list(range(8))).process(Split(), Types.INT())
    return main.get_side_output(SMALL).map(lambda value: (value, type(value).__name__))


@program()
def side_outputs_united(env):
    main = env.from_collection(list(range(8))).process(Split())
    small, large = main.get_side_output(SMALL), main.get_side_output(LARGE)
    return small.map(str).union(large.map(str), main.map(str))


class SideText(ProcessFunction):
    def process_element(self, value, ctx):
        yield SMALL, "text"


@program(STREAMING)
def side_output_that_does_not_fit(env):
    return env.from_collection([1]).process(SideText()).get_side_output(SMALL)


class CoSplit(CoProcessFunction):
    def process_element1(self, value, ctx):
        yield SMALL, value
        yield "one", value

    def process_element2(self, value, ctx):
        yield "two", value


@program()
def side_output_of_two_inputs(env):
    one, two = env.from_collection([1, 2]), env.from_collection(["a"])
    main = one.connect(two).process(CoSplit())
    return main.map(str).union(main.get_side_output(SMALL).map(str))


# --- Keys -------------------------------------------------------------------------------------


@program(key=first)
def sums_by_key(env):
    return env.from_collection(ORDERS, SALE).key_by(lambda sale: sale[0]).sum(1)


@program(key=first)
def sums_of_untyped_tuples(env):
    return env.from_collection(ORDERS).key_by(lambda sale: sale[0]).sum(1)


@program(key=first)
def least_by_key(env):
    return env.from_collection(ORDERS, SALE).key_by(lambda sale: sale[0]).min(1)


TRIPLES = [("a", 3, "x"), ("a", 1, "y"), ("b", 5, "z"), ("a", 1, "w"), ("a", 4, "v"), ("b", 5, "u")]


@program(key=first)
def least_of_wider_tuples(env):
    """Of the other fields those of the first or the last element stay."""
    return env.from_collection(TRIPLES).key_by(lambda t: t[0]).min(1)


@program(key=first)
def greatest_of_wider_tuples(env):
    return env.from_collection(TRIPLES).key_by(lambda t: t[0]).max(1)


@program(key=first)
def elements_with_the_least(env):
    return env.from_collection(TRIPLES).key_by(lambda t: t[0]).min_by(1)


@program(key=first)
def elements_with_the_greatest(env):
    return env.from_collection(TRIPLES).key_by(lambda t: t[0]).max_by(1)


NAMED = Types.ROW_NAMED(["who", "amount"], [Types.STRING(), Types.INT()])


@program(key=first)
def sums_by_name(env):
    return env.from_collection([Row(*order) for order in ORDERS], NAMED).key_by(first).sum("amount")


@program()
def sums_of_numbers(env):
    return env.from_collection([1, 2, 3, 4]).key_by(lambda i: i % 2).sum()


@program(key=first)
def reduced(env):
    keyed = env.from_collection(ORDERS, SALE).key_by(first, Types.STRING())
    return keyed.reduce(lambda a, b: (a[0], a[1] * 10 + b[1]))


class Merged(ReduceFunction):
    def reduce(self, value1, value2):
        return {**value1, **value2, "n": value1["n"] + value2["n"]}


@program(key=lambda result: result["k"])
def reduced_dicts(env):
    dicts = [{"k": "a", "n": 1}, {"k": "b", "n": 5}, {"k": "a", "n": 2, "x": 1}, {"k": "a", "n": 3}]
    return env.from_collection(dicts).key_by(lambda d: d["k"]).reduce(Merged())


class Name(KeySelector):
    def open(self, runtime_context):
        self.prefix = "key "

    def get_key(self, value):
        return self.prefix + value[0]


class WithKey(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield ctx.get_current_key(), value


@program(key=first)
def keys_of_a_selector(env):
    return env.from_collection(ORDERS).key_by(Name(), Types.STRING()).process(WithKey())


@program(key=lambda result: str(result[0]))
def keys_of_many_kinds(env):
    keys = ["a", None, (1, "x"), 2.5, 7, b"b", ("a", ("b",)), "a", None, (1, "x"), 2.5, 7, b"b"]
    elements = [(key, n) for n, key in enumerate(keys)]
    return env.from_collection(elements).key_by(first).process(WithKey())


class Counting(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield ctx.get_current_key(), count


@program(differs="equal numbers are one key")
def keys_that_are_equal_numbers(env):
    return env.from_collection([1, 1.0, True, Decimal(1)]).key_by(lambda n: n).process(Counting())


@program(key=lambda result: result[0][0])
def keys_that_are_lists(env):
    stream = env.from_collection([(1, "a"), (2, "b"), (1, "c")])
    return stream.key_by(lambda value: [value[0], "k"]).process(Counting())


@program(key=lambda result: str(result[0]))
def keys_of_a_row_type(env):
    stream = env.from_collection(ORDERS, SALE)
    keyed = stream.key_by(lambda sale: Row(sale[0], 1), Types.ROW([Types.STRING(), Types.INT()]))
    return keyed.process(Counting())


@program()
def functions_of_keyed_streams(env):
    keyed = env.from_collection(ORDERS).key_by(first)
    mapped = keyed.map(lambda sale: None if sale[1] == 1 else sale)
    flat = keyed.flat_map(lambda sale: [sale[1]] * 2)
    return mapped.union(flat, keyed.filter(lambda sale: sale[1] > 3))


@program(key=first)
def keyed_again(env):
    counted = env.from_collection(ORDERS).key_by(first).process(Counting())
    return counted.key_by(lambda pair: pair[1]).process(WithKey())


# --- State ------------------------------------------------------------------------------------


class AllStates(KeyedProcessFunction):
    def open(self, runtime_context):
        number = Types.INT()
        self.value = runtime_context.get_state(ValueStateDescriptor("value", Types.STRING()))
        self.values = runtime_context.get_list_state(ListStateDescriptor("list", number))
        self.map = runtime_context.get_map_state(
            MapStateDescriptor("map", Types.STRING(), Types.LIST(number))
        )
        self.product = runtime_context.get_reducing_state(
            ReducingStateDescriptor("product", lambda a, b: a * b, number)
        )
        self.mean = runtime_context.get_aggregating_state(
            AggregatingStateDescriptor("mean", Mean(), Types.TUPLE([number, number]))
        )

    def process_element(self, value, ctx):
        name, amount = value
        before = self.value.value()
        self.value.update(f"{before}{amount}")
        self.values.add(amount)
        self.product.add(amount)
        self.mean.add(amount)
        entry = f"k{amount % 2}"
        known = entry in self.map
        self.map.put(entry, [*(self.map.get(entry) or []), amount])
        yield (
            *(name, before, list(self.values.get()), self.product.get(), self.mean.get(), known),
            *(sorted(self.map.items()), sorted(self.map.keys()), self.map.is_empty()),
        )
        if amount == 7:
            self.value.clear()
            self.values.update([100])
            self.values.add_all([200, 300])
            self.map.remove("k1")
            self.product.clear()
            self.mean.clear()


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


@program(key=first)
def states_of_every_kind(env):
    return env.from_collection(ORDERS).key_by(first).process(AllStates())


class EmptyStates(KeyedProcessFunction):
    def open(self, runtime_context):
        untyped = Types.PICKLED_BYTE_ARRAY()
        self.value = runtime_context.get_state(ValueStateDescriptor("value", untyped))
        self.values = runtime_context.get_list_state(ListStateDescriptor("list", untyped))
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", untyped, untyped))
        self.product = runtime_context.get_reducing_state(
            ReducingStateDescriptor("product", lambda a, b: a, untyped)
        )
        self.mean = runtime_context.get_aggregating_state(
            AggregatingStateDescriptor("mean", Mean(), untyped)
        )

    def process_element(self, value, ctx):
        yield self.value.value(), self.values.get() and list(self.values.get())
        yield self.map.get("a"), self.map.contains("a"), self.map.is_empty(), list(self.map)
        yield self.product.get(), self.mean.get()
        self.values.add_all([])
        self.value.update({"any": (1, None)})
        self.map.put((1, "a"), None)
        yield (
            self.value.value(),
            self.map.get((1, "a")),
            (1, "a") in self.map,
            list(self.map.items()),
        )


@program(ordered=True)
def states_that_are_empty(env):
    return env.from_collection([1]).key_by(lambda value: value).process(EmptyStates())


class TypedState(KeyedProcessFunction):
    def open(self, runtime_context):
        kind = Types.TUPLE([Types.FLOAT(), Types.INT()])
        self.value = runtime_context.get_state(ValueStateDescriptor("value", kind))

    def process_element(self, value, ctx):
        yield repr(self.value.value())
        self.value.update((0.1, value))


@program(ordered=True)
def state_of_a_type_between_elements(env):
    return env.from_collection([1, 2]).key_by(lambda value: 0).process(TypedState())


# --- Timers -----------------------------------------------------------------------------------


class Timed(KeyedProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.INT()))

    def process_element(self, value, ctx):
        self.seen.add(value[2])
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 2000)
        ctx.timer_service().register_event_time_timer(20000)
        yield value[0], "element", ctx.timestamp(), value[2]

    def on_timer(self, timestamp, ctx):
        seen = sorted(self.seen.get())
        yield (
            ctx.get_current_key(),
            "timer",
            timestamp,
            ctx.timestamp(),
            ctx.time_domain().name,
            seen,
        )


@program(key=first)
def timers_at_the_end(env):
    return timed(env).key_by(first).process(Timed())


class Alarms(KeyedProcessFunction):
    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        for time in (5000, 5000, 3000, 100, 7000, -5):
            timers.register_event_time_timer(time)
        timers.delete_event_time_timer(3000)
        timers.delete_event_time_timer(9999)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, ctx.timer_service().current_watermark()
        if timestamp < 5000 * 3:
            ctx.timer_service().register_event_time_timer(timestamp + 5000)


@program(key=first)
def timers_that_set_others(env):
    return timed(env, [("a", 1000, 1), ("b", 2000, 1)]).key_by(first).process(Alarms())


class Clock(KeyedProcessFunction):
    def process_element(self, value, ctx):
        now = ctx.timer_service().current_processing_time()
        ctx.timer_service().register_processing_time_timer(now + 3_600_000)
        ctx.timer_service().register_processing_time_timer(now - 1000)
        yield value, "element"

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), "timer", ctx.time_domain().name


@program(BATCH)
def processing_time_timers_at_the_end(env):
    return env.from_collection(["a", "b"]).key_by(lambda value: value).process(Clock())


# --- Windows ----------------------------------------------------------------------------------


class Shown(ProcessWindowFunction):
    def process(self, key, context, elements):
        window = context.window()
        yield key, window.start, window.end, [element[2] for element in elements]


class Counted(WindowFunction):
    def apply(self, key, window, inputs):
        yield key, len(list(inputs))


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


@program(key=first)
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


@program(key=first)
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
    def process(self, key, context, elements):
        descriptor = ValueStateDescriptor("count", Types.INT())
        total = context.global_state().get_state(descriptor)
        own = context.window_state().get_state(descriptor)
        total.update((total.value() or 0) + 1)
        own.update((own.value() or 0) + 1)
        yield key, context.window().start, total.value(), own.value()

    def clear(self, context):
        context.window_state().get_state(ValueStateDescriptor("count", Types.INT())).clear()


@program(key=first)
def state_of_windows_and_of_keys(env):
    windows = timed(env).key_by(first).window(TumblingEventTimeWindows.of(Time.seconds(5)))
    return windows.process(StatefulWindows())


@program(key=first)
def windows_then_windows_again(env):
    windows = timed(env).key_by(first).window(TumblingEventTimeWindows.of(Time.seconds(5)))
    sums = windows.reduce(lambda a, b: (a[0], b[1], a[2] + b[2]))
    longer = sums.key_by(first).window(TumblingEventTimeWindows.of(Time.seconds(20)))
    return longer.process(Shown())


@program(key=first)
def timestamps_of_windows(env):
    windows = timed(env).key_by(first).window(TumblingEventTimeWindows.of(Time.seconds(5)))
    return windows.reduce(lambda a, b: a).process(Stamped())


# --- Two inputs with keys ---------------------------------------------------------------------


class Joined(KeyedCoProcessFunction):
    """Keeps both inputs and joins them at the end, whichever came first."""

    def open(self, runtime_context):
        untyped = Types.PICKLED_BYTE_ARRAY()
        self.left = runtime_context.get_list_state(ListStateDescriptor("left", untyped))
        self.right = runtime_context.get_list_state(ListStateDescriptor("right", untyped))

    def process_element1(self, value, ctx):
        self.left.add(value)
        ctx.timer_service().register_event_time_timer(10**12)

    def process_element2(self, value, ctx):
        self.right.add(value)
        ctx.timer_service().register_event_time_timer(10**12)

    def on_timer(self, timestamp, ctx):
        for left in self.left.get():
            for right in self.right.get():
                yield ctx.get_current_key(), left[2], right[2]


@program()
def two_inputs_joined_at_the_end(env):
    left = timed(env).key_by(first)
    right = timed(env, [("a", 1, "x"), ("c", 2, "y"), ("a", 3, "z")]).key_by(first)
    return left.connect(right).process(Joined())


@program(key=lambda result: (result[0], result[1]))
def connected_by_key_and_mapped(env):
    one = env.from_collection(ORDERS)
    two = env.from_collection([("Bob", "x"), ("Dora", "y"), ("Bob", "z")])

    class Both(CoMapFunction):
        def map1(self, value):
            return None if value[1] < 0 else ("one", *value)

        def map2(self, value):
            return "two", *value

    return one.connect(two).key_by(first, first).map(Both())


RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class ByRule(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.get_broadcast_state(RULES).get(value)

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(*value)


@program(BATCH)
def rules_for_all(env):
    """In batch mode the rules come first."""
    rules = env.from_collection([("a", 1), ("b", 2), ("a", 3)]).broadcast(RULES)
    return env.from_collection(["a", "b", "c"]).connect(rules).process(ByRule())


class ByRuleAtTheEnd(KeyedBroadcastProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(10**12)

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(value[0], value[2])

    def on_timer(self, timestamp, ctx):
        rule = ctx.get_broadcast_state(RULES).get(ctx.get_current_key())
        yield ctx.get_current_key(), self.count.value(), rule


@program()
def rules_for_keys(env):
    rules = timed(env, [("a", 1, 5), ("c", 2, 6), ("a", 3, 7)]).broadcast(RULES)
    return timed(env).key_by(first).connect(rules).process(ByRuleAtTheEnd())


# --- Environments -----------------------------------------------------------------------------


class Looked(AsyncFunction):
    async def async_invoke(self, value):
        return [value, value * 10] if value != 2 else []


@program(ordered=True)
def looked_up_in_order(env):
    stream = env.from_collection([1, 2, 3])
    return AsyncDataStream.ordered_wait(stream, Looked(), Time.seconds(10), 2, Types.INT())


@program()
def looked_up(env):
    stream = env.from_collection([1, 2, 3])
    return AsyncDataStream.unordered_wait(stream, Looked(), Time.seconds(10), 2, Types.INT())


class Surroundings(MapFunction):
    def open(self, runtime_context):
        self.context = runtime_context

    def map(self, value):
        context = self.context
        return (
            *(context.get_index_of_this_subtask(), context.get_number_of_parallel_subtasks()),
            *(
                context.get_attempt_number(),
                context.get_task_name(),
                context.get_job_parameter("p", "d"),
            ),
        )


@program(ordered=True)
def context_of_functions(env):
    return env.from_collection([1]).map(Surroundings()).name("asked")


@program(ordered=True)
def not_more_than_a_limit(env):
    found = env.from_collection(list(range(10))).map(lambda i: i * i)
    return found.execute_and_collect(limit=3)


@program(ordered=True)
def dates_and_times_in_a_row(env):
    row = Row(
        datetime.date(2020, 1, 2), datetime.time(3, 4, 5), Decimal("1.50"), [1, 2], {"k": 1.5}
    )
    types = [
        *(Types.SQL_DATE(), Types.SQL_TIME(), Types.BIG_DEC(), Types.LIST(Types.INT())),
        Types.MAP(Types.STRING(), Types.DOUBLE()),
    ]
    return env.from_collection([0]).map(lambda _: row, Types.ROW(types))
