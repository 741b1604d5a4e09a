"""What `explain` says of programs."""

from __future__ import annotations

import json

import pytest

from pyflow.common import Types, WatermarkStrategy
from pyflow.datastream import OutputTag, ProcessFunction
from pyflow.datastream.connectors.number_seq import NumberSequenceSource
from pyflow.datastream.testing import TestStream

NOTHING = WatermarkStrategy.no_watermarks()


class Sorted(ProcessFunction):
    def process_element(self, value, ctx):
        yield value


def test_queries_stages_and_chains_are_named(make_env, tmp_path):
    env = make_env(parallelism=3, execution_checkpointing_dir=tmp_path.as_uri())
    source = TestStream()
    numbers = env.from_source(source, NOTHING, "Source: numbers").map(lambda value: value)
    sorted_ones = numbers.name("shift").process(Sorted()).name("sort")
    sums = sorted_ones.key_by(lambda value: value % 3).reduce(lambda a, b: a + b).name("sum")
    sums.filter(bool).name("not zero").print().name("sums")
    late = sorted_ones.get_side_output(OutputTag("late", Types.INT()))
    late.rebalance().map(str).name("as text").print().name("late ones")
    env.from_collection([1, 2]).map(lambda value: value).name("same").print().name("twos")

    assert env.explain().splitlines() == [
        "Query 1 of 2: unbounded, in micro-batches whose stages run in turn, functions in thread "
        f"mode, checkpoints in {tmp_path.as_uri()}/0",
        "  Stage 1: a subtask for a partition of a source",
        "    Source: numbers -> shift -> sort",
        "      HASH to 'sum'",
        "      side output 'late': REBALANCE to 'rebalance'",
        "  Stage 2: 3 subtasks",
        "    sum (state of keys) -> not zero",
        "      sink 'sums'",
        "    rebalance -> as text",
        "      sink 'late ones'",
        "Query 2 of 2: bounded, functions in thread mode",
        "  Stage 1: a subtask for a partition of a source",
        "    Collection Source -> same",
        "      sink 'twos'",
    ]


def test_operators_behind_one_are_a_tree(make_env):
    env = make_env()
    numbers = env.from_collection([1, 2]).map(lambda value: value).name("numbers")
    numbers.map(lambda value: -value).name("negative").print().name("negatives")
    numbers.print().name("all")

    assert env.explain().splitlines()[2:] == [
        "    Collection Source -> numbers",
        "      negative",
        "        sink 'negatives'",
        "      sink 'all'",
    ]


def test_a_program_without_sinks_has_nothing_to_explain(make_env):
    env = make_env()
    env.from_collection([1])
    with pytest.raises(RuntimeError, match="No operators defined in streaming topology"):
        env.explain()


def test_the_plan_is_that_of_pyflink(make_env):
    """What PyFlink 2.3 has for the same program, but for the numbers of nodes."""
    env = make_env()
    numbers = env.from_source(NumberSequenceSource(1, 10), NOTHING, "numbers")
    mapped = numbers.map(lambda value: value, Types.LONG()).name("mine")
    mapped.print().set_parallelism(2)

    nodes = json.loads(env.get_execution_plan())["nodes"]

    def node(name, pact, **before):
        common = {"type": name, "pact": pact, "contents": name, "parallelism": 2}
        return common | {"predecessors": [before]} if before else common

    ids = [each.pop("id") for each in nodes]
    forward = {"ship_strategy": "FORWARD", "side": "second"}
    assert nodes == [
        node("Source: numbers", "Data Source"),
        node("mine", "Operator", id=ids[0], **forward),
        node("Sink: Print to Std. Out", "Data Sink", id=ids[1], **forward),
    ]
    mapped.print().set_parallelism(1)
    assert json.loads(env.get_execution_plan())["nodes"][-1]["parallelism"] == 1
