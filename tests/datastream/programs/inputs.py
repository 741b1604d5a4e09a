"""Two inputs with keys."""

from program_parts import BATCH, ORDERS, first, program, timed
from pyflink.common import Types
from pyflink.datastream import (
    BroadcastProcessFunction,
    CoMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
)
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor


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
