"""Counts by key in real-time mode; of a broker, two topics, a checkpoint and a file.

It stops with a savepoint when the file is there.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from pyflow.common import Configuration, JobStatus, Types, WatermarkStrategy
from pyflow.common.serialization import SimpleStringSchema
from pyflow.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflow.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from pyflow.datastream.state import ValueStateDescriptor

STRINGS = SimpleStringSchema()


class Counting(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield json.dumps([value, self.count.value()])


def main(broker, here, there, checkpoint, file):
    configuration = Configuration()
    configuration.set_string("python.execution-mode", "thread")
    configuration.set_string("pyflow.datastream.real-time", "true")
    configuration.set_string("execution.checkpointing.dir", checkpoint)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1).enable_checkpointing(5_000)
    source = KafkaSource.builder().set_bootstrap_servers(broker).set_topics(here)
    source = source.set_starting_offsets(KafkaOffsetsInitializer.earliest())
    source = source.set_value_only_deserializer(STRINGS).build()
    records = KafkaRecordSerializationSchema.builder().set_topic(there)
    records = records.set_value_serialization_schema(STRINGS).build()
    sink = KafkaSink.builder().set_bootstrap_servers(broker).set_record_serializer(records).build()
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "topic")
    stream.key_by(lambda value: value).process(Counting(), Types.STRING()).sink_to(sink)
    job = env.execute_async("counts")
    while job.get_job_status().result() == JobStatus.RUNNING and not Path(file).exists():
        time.sleep(0.1)
    job.stop_with_savepoint(False, f"{checkpoint}-savepoint").result()


main(*sys.argv[1:])
