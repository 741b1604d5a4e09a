"""Programs that read and write topics of Kafka, with a real broker."""

from __future__ import annotations

import pytest

from pyflow.common import Row, Types, WatermarkStrategy
from pyflow.common.serialization import SimpleStringSchema
from pyflow.datastream import StreamExecutionEnvironment
from pyflow.datastream.connectors.kafka import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    KafkaTopicPartition,
)
from pyflow.datastream.formats.json import (
    JsonRowDeserializationSchema,
    JsonRowSerializationSchema,
)

pytest.importorskip("confluent_kafka", reason="there is no Kafka client for this Python")

from confluent_kafka import Consumer, TopicPartition

from benchmarks.topics import Topic

PAIR = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
EARLIEST = KafkaOffsetsInitializer.earliest()
LATEST = KafkaOffsetsInitializer.latest()


@pytest.fixture
def environment(spark):
    return StreamExecutionEnvironment.get_execution_environment()


@pytest.fixture
def topics(kafka, tmp_path):
    """Two topics of a test, of two partitions each."""
    return [Topic(kafka.address, f"{tmp_path.name}-{name}", partitions=2) for name in ("in", "out")]


def source_of(topic, schema=None):
    return (
        KafkaSource.builder()
        .set_bootstrap_servers(topic.address)
        .set_group_id("some")
        .set_topics(topic.name)
        .set_value_only_deserializer(schema or SimpleStringSchema())
    )


def stream_of(environment, source):
    return environment.from_source(source, WatermarkStrategy.no_watermarks(), "topic")


def elements_of(environment, builder):
    with stream_of(environment, builder.set_bounded(LATEST).build()).execute_and_collect() as found:
        return sorted(found)


def sent(topic, *values):
    topic.send(values)
    topic.flush()


def test_rows_are_read_from_json_and_written_as_json(environment, topics):
    source, target = topics
    name = target.name
    sent(source, '{"id":1,"name":"one"}', '{"id":2}', '{"id":3,"name":"three"}')
    read = JsonRowDeserializationSchema.builder().type_info(PAIR).build()
    written = JsonRowSerializationSchema.builder().with_type_info(PAIR).build()
    records = (
        KafkaRecordSerializationSchema.builder()
        .set_topic_selector(lambda row: name)
        .set_key_serialization_schema(written)
        .set_value_serialization_schema(written)
        .build()
    )
    sink = KafkaSink.builder().set_bootstrap_servers(target.address)

    stream = stream_of(environment, source_of(source, read).set_bounded(LATEST).build())
    stream = stream.filter(lambda row: row.name is not None)
    stream.map(lambda row: Row(row.id + 1, row["name"]), PAIR).sink_to(
        sink.set_record_serializer(records).build()
    )
    environment.execute()

    assert sorted((record.key, record.value) for record in target.records()) == [
        ('{"id":2,"name":"one"}', '{"id":2,"name":"one"}'),
        ('{"id":4,"name":"three"}', '{"id":4,"name":"three"}'),
    ]


def test_an_unbounded_source_ends_where_it_is_told(environment, topics):
    source, _ = topics
    sent(source, "a", "b")

    stream = stream_of(environment, source_of(source).set_unbounded(LATEST).build())

    with stream.map(str.upper, Types.STRING()).execute_and_collect() as found:
        assert sorted(found) == ["A", "B"]


def test_the_time_of_an_element_is_that_of_its_record(environment, topics):
    from pyflow.datastream import ProcessFunction

    class Times(ProcessFunction):
        def process_element(self, value, ctx):
            yield ctx.timestamp()

    source, _ = topics
    sent(source, "a")
    (record,) = source.records()

    stream = stream_of(environment, source_of(source).set_bounded(LATEST).build())
    with stream.process(Times(), Types.LONG()).execute_and_collect() as found:
        (time,) = found

    assert abs(time - record.timestamp) <= 1000


@pytest.mark.complete
def test_reading_begins_at_offsets_of_partitions_and_of_the_group(environment, topics):
    source, _ = topics
    for number in range(40):
        source.send([str(number)], key=str(number))
    source.flush()
    by_partition = [[], []]
    for record in source.records():
        by_partition[record.partition].append(record.value)
    first, second = by_partition
    consumer = Consumer({"bootstrap.servers": source.address, "group.id": "some"})
    consumer.commit(offsets=[TopicPartition(source.name, 0, 3)], asynchronous=False)
    consumer.close()
    reset = KafkaOffsetResetStrategy

    def values(start):
        return elements_of(environment, source_of(source).set_starting_offsets(start))

    assert values(EARLIEST) == sorted(first + second)
    committed = KafkaOffsetsInitializer.committed_offsets
    assert values(committed(reset.EARLIEST)) == sorted(first[3:] + second)
    assert values(committed(reset.LATEST)) == sorted(first[3:])
    with pytest.raises(Exception, match="has committed no offset of partition 1"):
        values(committed())
    at = {KafkaTopicPartition(source.name, 1): 2}
    assert values(KafkaOffsetsInitializer.offsets(at)) == sorted(first[3:] + second[2:])


def test_partitions_are_read_alone(environment, topics):
    source, _ = topics
    for number in range(20):
        source.send([str(number)], key=str(number))
    source.flush()
    expected = sorted(record.value for record in source.records() if record.partition == 1)
    builder = KafkaSource.builder().set_bootstrap_servers(source.address)
    builder.set_partitions({KafkaTopicPartition(source.name, 1)})

    found = elements_of(environment, builder.set_value_only_deserializer(SimpleStringSchema()))

    assert found == expected


def test_an_error_names_the_record(environment, topics):
    source, _ = topics
    sent(source, '{"id":"x"}')
    read = JsonRowDeserializationSchema.builder().type_info(PAIR).build()

    with pytest.raises(Exception, match=rf"{source.name}'?, partition \d, offset 0.*id"):
        elements_of(environment, source_of(source, read))
