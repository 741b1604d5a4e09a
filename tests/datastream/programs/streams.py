"""Several streams, side outputs, and what programs run in."""

import datetime
from decimal import Decimal

from program_parts import STREAMING, first, program
from pyflink.common import Row, Time, Types
from pyflink.datastream import (
    AsyncDataStream,
    AsyncFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    MapFunction,
    OutputTag,
    ProcessFunction,
)


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


@program(
    parallelism=2,
    differs="where results are collected, PyFlink does not know how many subtasks there are",
    results=[0, 1, 2, 3, 4, 5],
)
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


@program(STREAMING, fails="expected INT, got 'text' of type str")
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


@program(
    ordered=True,
    differs="a task of Spark has no name: it is that of the function",
    results=[(0, 1, 0, "asked", "d")],
)
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
