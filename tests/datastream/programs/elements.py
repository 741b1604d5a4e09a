"""Elements one by one."""

from decimal import Decimal

from program_parts import (
    SALE,
    STREAMING,
    WORDS,
    Counted,
    Processed,
    SecondFieldAsInteger,
    Stamped,
    first,
    program,
    timed,
)
from pyflink.common import Configuration, Row, RowKind, Types
from pyflink.common.watermark_strategy import WatermarkStrategy
from pyflink.datastream import (
    BroadcastProcessFunction,
    CoProcessFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
)
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.state import MapStateDescriptor


@program(ordered=True, printed=True)
def elements_of_any_kind(env):
    elements = [1, 2.5, "a", None, True, (1, "x"), [1, None], {"k": (1,)}, Row(1, "a")]
    return env.from_collection([*elements, Row(a=1, b=None), Decimal("1.50"), {1}, frozenset()])


@program(ordered=True, printed=True)
def elements_of_a_row_type(env):
    type_info = Types.ROW_NAMED(["name", "price"], [Types.STRING(), Types.FLOAT()])
    rows = [Row("a", 1.1), Row(price=2.0, name="b"), ("c", 3.0), {"price": 4.0, "name": "d"}]
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
    return functions_of_one_chain(env)


@program(ordered=True)
def chained_functions_get_values_of_another_type(env):
    stream = env.from_collection([1, 2]).map(lambda i: str(i), Types.INT())
    return stream.map(lambda text: text + "!", Types.STRING())


@program(ordered=True)
def functions_apart_get_values_of_the_type(env):
    stream = env.from_collection([1, 2]).map(lambda i: i / 10, Types.FLOAT())
    return stream.map(lambda f: repr(f), Types.STRING()).start_new_chain()


@program(ordered=True)
def functions_get_what_was_returned_where_operators_are_not_chained(env):
    env.disable_operator_chaining()
    return functions_of_one_chain(env)


@program(ordered=True)
def functions_of_python_get_values_of_the_type_where_they_are_not_chained(env):
    configuration = Configuration()
    configuration.set_boolean("python.operator-chaining.enabled", False)
    env.configure(configuration)
    return functions_of_one_chain(env)


def functions_of_one_chain(env):
    stream = env.from_collection([1, 2]).map(lambda i: i / 10, Types.FLOAT())
    return stream.map(lambda f: repr(f), Types.STRING())


class Doubled(MapFunction):
    def __init__(self, factor):
        self.factor = factor

    def open(self, runtime_context):
        self.opened = 1
        self.seen = 0

    def map(self, value):
        self.seen += 1
        return value * self.factor, self.opened, self.seen


@program(ordered=True, printed=True)
def rows_that_are_printed_by_the_function_before(env):
    """What makes lines of rows is a function of the chain."""
    type_info = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.FLOAT()])
    return env.from_collection([1, 2]).map(lambda i: Row(b=i / 10, a=i), type_info)


@program(ordered=True)
def functions_of_two_branches_get_values_of_the_type(env):
    stream = env.from_collection([1, 2]).map(lambda i: i / 10, Types.FLOAT())
    stream.map(lambda f: f).print()
    return stream.map(lambda f: repr(f), Types.STRING())


@program(ordered=True)
def functions_behind_timestamps_get_values_of_the_type(env):
    stream = env.from_collection([1, 2]).map(
        lambda i: (i / 10, float(i)), Types.TUPLE([Types.FLOAT()] * 2)
    )
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    timed = stream.assign_timestamps_and_watermarks(
        strategy.with_timestamp_assigner(SecondFieldAsInteger())
    )
    return timed.map(repr)


@program(ordered=True)
def functions_behind_projections_get_values_of_the_type(env):
    kind = Types.TUPLE([Types.FLOAT(), Types.FLOAT()])
    return env.from_collection([1, 2]).map(lambda i: (i / 10, float(i)), kind).project(0).map(repr)


@program(ordered=True)
def functions_behind_keys_get_what_was_returned(env):
    keyed = env.from_collection([1, 2]).key_by(lambda i: 0)
    return keyed.map(lambda i: i / 10, Types.FLOAT()).map(repr)


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


@program(fails="flat_map\\(\\) returned None")
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


@program(ordered=True)
def processed_to_none_and_iterables(env):
    return env.from_collection([1, 2, 3]).process(Processed()).map(repr)


@program(ordered=True)
def timestamps_of_elements(env):
    return timed(env).process(Stamped())


@program(ordered=True)
def elements_without_timestamps(env):
    return env.from_collection([("a", 1)]).process(Stamped())


class StampedByKey(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value[0], ctx.timestamp()


@program(ordered=True)
def elements_of_keys_without_timestamps(env):
    return env.from_collection([("a", 1)]).key_by(lambda value: value[0]).process(StampedByKey())


class StampedOfTwo(CoProcessFunction):
    def process_element1(self, value, ctx):
        yield value, ctx.timestamp()

    def process_element2(self, value, ctx):
        yield value, ctx.timestamp()


@program()
def elements_of_two_inputs_without_timestamps(env):
    return env.from_collection([1]).connect(env.from_collection([2])).process(StampedOfTwo())


class StampedBroadcast(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp()

    def process_broadcast_element(self, value, ctx):
        yield value, ctx.timestamp()


@program()
def broadcast_elements_without_timestamps(env):
    rules = env.from_collection([2]).broadcast(
        MapStateDescriptor("rules", Types.INT(), Types.INT())
    )
    return env.from_collection([1]).connect(rules).process(StampedBroadcast())


@program(ordered=True)
def timestamps_behind_functions(env):
    mapped = timed(env).map(lambda event: (event[0], -event[1])).filter(lambda event: True)
    return mapped.process(Stamped())


@program(STREAMING, fails="ZeroDivisionError")
def failing_function(env):
    return env.from_collection([1, 0]).map(lambda value: 1 // value)


@program(STREAMING, fails="expected INT in field 'f1', got 'b' of type str")
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
