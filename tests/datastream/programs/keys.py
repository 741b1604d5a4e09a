"""Keys, state and timers."""

from decimal import Decimal

from program_parts import BATCH, ORDERS, SALE, first, program, timed
from pyflink.common import Row, Types
from pyflink.datastream import AggregateFunction, KeyedProcessFunction, KeySelector, ReduceFunction
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)


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


@program()
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


@program(
    differs="equal numbers are one key, as in a dict; in PyFlink if their pickled bytes are equal",
    results=[(1, 1), (1, 2), (1, 3), (1, 4)],
)
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
    mapped = keyed.map(lambda sale: (sale[0], -sale[1]))
    flat = keyed.flat_map(lambda sale: [sale[1]] * 2)
    return mapped.union(flat, keyed.filter(lambda sale: sale[1] > 3))


@program()
def keyed_again(env):
    counted = env.from_collection(ORDERS).key_by(first).process(Counting())
    return counted.key_by(lambda pair: pair[1]).process(WithKey())


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


@program(key=first, reference="thread")
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
