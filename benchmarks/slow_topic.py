"""The latency of a topic with few records, in micro-batches: ``python -m benchmarks.slow_topic``.

A job of the DataStream API and a query of PySpark, both in thread mode, write into a topic what
they read from another one. Writes slow-topic.json and slow-topic.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import pyflow
from benchmarks.modes import BY_NAME as MODES
from benchmarks.modes import start_session
from benchmarks.page import Page, new_results
from benchmarks.report import table
from benchmarks.topics import Topic
from pyflow.common import SimpleStringSchema, Types, WatermarkStrategy
from pyflow.datastream import StreamExecutionEnvironment
from pyflow.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from scripts.connector_jars import kafka_jars
from scripts.kafka_broker import Broker

SYSTEMS = ("pyflow", "pyspark")

_SECONDS_BETWEEN = 0.9
_START_SECONDS = 5.0
_WARM_UP = 5


def _pyflow(_: SparkSession, source: Topic, target: Topic) -> Callable[[], Any]:
    """Start a job; return what ends it."""
    strings = SimpleStringSchema()
    reading = KafkaSource.builder().set_bootstrap_servers(source.address).set_topics(source.name)
    reading = reading.set_starting_offsets(KafkaOffsetsInitializer.earliest())
    reading = reading.set_value_only_deserializer(strings)
    records = KafkaRecordSerializationSchema.builder().set_topic(target.name)
    records = records.set_value_serialization_schema(strings)
    writing = KafkaSink.builder().set_bootstrap_servers(target.address)
    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
    stream = env.from_source(reading.build(), WatermarkStrategy.no_watermarks(), "topic")
    stream.map(lambda value: value, Types.STRING()).sink_to(
        writing.set_record_serializer(records.build()).build()
    )
    job = env.execute_async(target.name)
    return lambda: job.cancel().result()


def _pyspark(session: SparkSession, source: Topic, target: Topic) -> Callable[[], Any]:
    reader = session.readStream.format("kafka").option("subscribe", source.name)
    reader = reader.option("kafka.bootstrap.servers", source.address)
    records = reader.option("startingOffsets", "earliest").load()
    function = F.udf(lambda value: value, "string")
    values = records.select(function(F.col("value").cast("string")).alias("value"))
    writer = values.writeStream.format("kafka").option("topic", target.name)
    writer = writer.option("kafka.bootstrap.servers", target.address)
    query = writer.option("checkpointLocation", tempfile.mkdtemp(prefix="slow-")).start()
    return query.stop


def _milliseconds(
    session: SparkSession, address: str, system: str, name: str, records: int
) -> list[float]:
    """Return how long each record takes from one topic into the other."""
    source, target = Topic(address, f"{name}-in", partitions=2), Topic(address, f"{name}-out")
    end = {"pyflow": _pyflow, "pyspark": _pyspark}[system](session, source, target)
    time.sleep(_START_SECONDS)
    for _ in range(_WARM_UP + records):
        source.send([str(time.time() * 1000)])
        source.flush()
        time.sleep(_SECONDS_BETWEEN)
    while target.count() < _WARM_UP + records:
        time.sleep(_SECONDS_BETWEEN)
    end()
    return [each.timestamp - float(each.value or 0) for each in target.records()][_WARM_UP:]


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the latencies of all systems."""
    records = max(1, int(30 * options.scale))
    jars = ",".join([pyflow.jar_path(), *kafka_jars()])
    session = start_session("local[2]", MODES["thread"], {"spark.jars": jars})
    raw = new_results(session, options.rounds)
    raw["records"] = records
    with tempfile.TemporaryDirectory(prefix="slow-") as folder, Broker(Path(folder)) as broker:
        for number in range(options.rounds):
            for system in SYSTEMS if number % 2 else SYSTEMS[::-1]:
                name = f"{system}-{number}"
                found = _milliseconds(session, broker.address, system, name, records)
                raw["samples"].append({"system": system, "milliseconds": found})
                print(f"{name}: {median(found):.0f} ms", file=sys.stderr)
        session.stop()
    return raw


def _body(raw: dict[str, Any]) -> Iterator[str]:
    yield (
        "Micro-batches without an interval on `local[2]`, from a topic of two partitions into "
        f"another one, through a function in thread mode. A record comes each {_SECONDS_BETWEEN} "
        "s. The latency is from the time at which it is sent to the time of the record that is "
        f"written: of {raw['records']} records, in {raw['rounds']} rounds by turns. PySpark's "
        "query has the default options; PyFlow sets `fetch.max.wait.ms` of the consumers."
    )
    yield ""
    yield from table(
        ("", "median", "largest"),
        (
            (title, f"{median(found):.0f} ms", f"{max(found):.0f} ms")
            for title, system in (("PyFlow's DataStream API", "pyflow"), ("PySpark", "pyspark"))
            for found in [_of(raw, system)]
        ),
    )


def _of(raw: dict[str, Any], system: str) -> list[float]:
    return [
        latency
        for sample in raw["samples"]
        if sample["system"] == system
        for latency in sample["milliseconds"]
    ]


PAGE = Page("slow-topic", "benchmarks.slow_topic", "A topic with few records", _body)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the page of an earlier run."""
    PAGE.run(measure, arguments, rounds=3, scale=1.0)


if __name__ == "__main__":
    main()
