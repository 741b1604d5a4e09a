"""Prints items with rules that were broadcast, and with those of their key, in real-time mode.

Of a broker, the topic of the items and that of the rules.
"""

from __future__ import annotations

import json
import sys

from pyflow.common import Configuration, Types, WatermarkStrategy
from pyflow.common.serialization import SimpleStringSchema
from pyflow.datastream import (
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    StreamExecutionEnvironment,
)
from pyflow.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaSource
from pyflow.datastream.state import MapStateDescriptor, ValueStateDescriptor

RULES = MapStateDescriptor("rules", Types.STRING(), Types.LONG())
SUM = ValueStateDescriptor("sum", Types.LONG())


class Ruled(KeyedBroadcastProcessFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_state(SUM)

    def process_element(self, value, ctx):
        self.sum.update((self.sum.value() or 0) + value[1])
        rules = dict(ctx.get_broadcast_state(RULES).items())
        yield f"ruled {value[0]} {self.sum.value()} {sorted(rules.items())}"

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(value[0], value[1])
        yield f"rule {value[0]}"


class Latest(KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.latest = runtime_context.get_state(SUM)

    def process_element1(self, value, ctx):
        yield f"connected {value[0]} {value[1]} {self.latest.value()}"

    def process_element2(self, value, ctx):
        self.latest.update(value[1])
        yield f"latest {value[0]}"


def main(broker, items, rules):
    configuration = Configuration()
    configuration.set_string("python.execution-mode", "thread")
    configuration.set_string("pyflow.datastream.real-time", "true")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1).enable_checkpointing(5_000)

    def read(topic):
        source = KafkaSource.builder().set_bootstrap_servers(broker).set_topics(topic)
        source = source.set_starting_offsets(KafkaOffsetsInitializer.earliest())
        source = source.set_value_only_deserializer(SimpleStringSchema()).build()
        return env.from_source(source, WatermarkStrategy.no_watermarks(), topic).map(json.loads)

    def keyed(stream):
        return stream.key_by(lambda value: value[0], Types.STRING())

    of_items, of_rules = read(items), read(rules)
    keyed(of_items).connect(of_rules.broadcast(RULES)).process(Ruled()).print("input")
    keyed(of_items).connect(keyed(of_rules)).process(Latest()).print("input")
    env.execute("inputs")


main(*sys.argv[1:])
