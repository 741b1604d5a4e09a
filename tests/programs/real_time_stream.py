"""Prints sums of windows, and sums of these, in real-time mode; of a broker and a topic."""

from __future__ import annotations

import json
import sys

from pyflow.common import Configuration, Time, WatermarkStrategy
from pyflow.common.serialization import SimpleStringSchema
from pyflow.common.watermark_strategy import TimestampAssigner
from pyflow.datastream import StreamExecutionEnvironment
from pyflow.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaSource
from pyflow.datastream.window import TumblingEventTimeWindows


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def added(one, other):
    return [one[0], max(one[1], other[1]), one[2] + other[2]]


def main(broker, topic):
    configuration = Configuration()
    configuration.set_string("python.execution-mode", "thread")
    configuration.set_string("pyflow.datastream.real-time", "true")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1).enable_checkpointing(5_000)
    source = KafkaSource.builder().set_bootstrap_servers(broker).set_topics(topic)
    source = source.set_starting_offsets(KafkaOffsetsInitializer.earliest())
    source = source.set_value_only_deserializer(SimpleStringSchema()).build()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    records = env.from_source(source, WatermarkStrategy.no_watermarks(), "topic").map(json.loads)
    records = records.assign_timestamps_and_watermarks(strategy)
    windows = records.key_by(lambda value: value[0]).window(
        TumblingEventTimeWindows.of(Time.seconds(1))
    )
    sums = windows.reduce(added)
    sums.print("sum")
    totals = sums.window_all(TumblingEventTimeWindows.of(Time.seconds(2)))
    totals.reduce(lambda one, other: ["all", *added(one, other)[1:]]).print("total")
    env.execute("sums")


main(*sys.argv[1:])
