"""A keyed job from Kafka to Kafka in a package: ``stream_latency_job.py PACKAGE OPTIONS``.

Options are a JSON object with ``broker``, ``source``, ``sink`` (topics), ``jars`` (of the
connector), ``settings`` (of the configuration) and ``buffer_timeout`` (in milliseconds, or null).
The job runs until its standard input ends.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any

KEYS = 100


def main(package: str, options: dict[str, Any]) -> None:
    """Run the job of a package."""
    common = import_module(f"{package}.common")
    api = import_module(f"{package}.datastream")
    functions = import_module(f"{package}.datastream.functions")
    state = import_module(f"{package}.datastream.state")
    kafka = import_module(f"{package}.datastream.connectors.kafka")
    strings = import_module(f"{package}.common.serialization").SimpleStringSchema()
    types = common.Types

    class Counter(functions.KeyedProcessFunction):  # type: ignore[misc, name-defined]
        def open(self, runtime_context: Any) -> None:
            descriptor = state.ValueStateDescriptor("count", types.LONG())
            self.count = runtime_context.get_state(descriptor)

        def process_element(self, value: str, ctx: Any) -> Any:
            count = (self.count.value() or 0) + 1
            self.count.update(count)
            yield f"{value} {count}"

    configuration = common.Configuration()
    for key, value in {**options["settings"], "pipeline.jars": options["jars"]}.items():
        configuration.set_string(key, value)
    env = api.StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    if options["buffer_timeout"] is not None:
        env.set_buffer_timeout(options["buffer_timeout"])
    source = kafka.KafkaSource.builder().set_bootstrap_servers(options["broker"])
    source = source.set_topics(options["source"]).set_group_id(options["source"])
    source = source.set_starting_offsets(kafka.KafkaOffsetsInitializer.earliest())
    source = source.set_value_only_deserializer(strings).build()
    records = kafka.KafkaRecordSerializationSchema.builder().set_topic(options["sink"])
    records = records.set_value_serialization_schema(strings).build()
    sink = kafka.KafkaSink.builder().set_bootstrap_servers(options["broker"])
    sink = sink.set_record_serializer(records).build()
    stream = env.from_source(source, common.WatermarkStrategy.no_watermarks(), "source")
    keyed = stream.key_by(lambda value: int(value.split(" ")[0]) % KEYS, types.INT())
    keyed.process(Counter(), types.STRING()).sink_to(sink)
    job = env.execute_async("counts")
    sys.stdin.read()
    job.cancel().result()


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
