"""Sources and sinks of topics as they are built, without a broker."""

from __future__ import annotations

import json
import pickle

import pytest
from pyspark import cloudpickle

from pyflow.common import Row, Types
from pyflow.common.serialization import RowFieldExtractorSchema, SimpleStringSchema
from pyflow.connectors.kafka_client import client_options
from pyflow.datastream.connectors.base import Boundedness, DeliveryGuarantee
from pyflow.datastream.connectors.kafka import (
    FlinkKafkaConsumer,
    FlinkKafkaProducer,
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    KafkaTopicPartition,
    KafkaTopicSelector,
    Semantic,
)
from pyflow.datastream.connectors.kafka_records import ValueDecoder
from pyflow.datastream.formats.json import (
    JsonRowDeserializationSchema,
    JsonRowSerializationSchema,
)
from pyflow.datastream.runtime.errors import OperatorError

STRINGS = SimpleStringSchema()
PAIR = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
JSON = JsonRowDeserializationSchema.builder().type_info(PAIR).build()


def source():
    return KafkaSource.builder().set_bootstrap_servers("host:9092")


def records():
    return KafkaRecordSerializationSchema.builder()


def sink():
    return KafkaSink.builder().set_bootstrap_servers("host:9092")


def test_a_source_has_the_type_of_its_deserializer():
    built = source().set_topics("t").set_value_only_deserializer(JSON).build()

    assert built.produced_type() == PAIR
    assert built.boundedness() == Boundedness.CONTINUOUS_UNBOUNDED
    assert not built.ends


def test_a_source_ends_where_it_is_told():
    builder = source().set_topics("t").set_value_only_deserializer(STRINGS)
    unbounded = builder.set_unbounded(KafkaOffsetsInitializer.latest()).build()
    bounded = builder.set_bounded(KafkaOffsetsInitializer.latest()).build()

    assert (unbounded.boundedness(), unbounded.ends) == (Boundedness.CONTINUOUS_UNBOUNDED, True)
    assert (bounded.boundedness(), bounded.ends) == (Boundedness.BOUNDED, False)


@pytest.mark.parametrize(
    ("builder", "message"),
    [
        (KafkaSource.builder().set_topics("t"), "bootstrap.servers"),
        (source().set_value_only_deserializer(STRINGS), "subscribe mode"),
        (source().set_topics("t"), "Deserialization schema"),
        (
            source()
            .set_topics("t")
            .set_value_only_deserializer(STRINGS)
            .set_starting_offsets(KafkaOffsetsInitializer.committed_offsets()),
            "group.id",
        ),
        (KafkaSink.builder(), "bootstrap.servers"),
        (sink(), "recordSerializer"),
        (records().set_topic("t"), "value serializer"),
        (records().set_value_serialization_schema(STRINGS), "topic selector"),
    ],
)
def test_what_is_missing_is_said(builder, message):
    with pytest.raises(ValueError, match=message):
        builder.build()


def test_topics_are_said_once():
    with pytest.raises(ValueError, match="topics is already set"):
        source().set_topics("t").set_topic_pattern("t.*")
    with pytest.raises(ValueError, match="already set"):
        records().set_topic("t").set_topic_selector(lambda element: "t")


@pytest.mark.parametrize(
    ("build", "value"),
    [
        (source().set_value_only_deserializer, JsonRowSerializationSchema),
        (records().set_value_serialization_schema, "x"),
        (records().set_topic_selector, "x"),
        (sink().set_record_serializer, STRINGS),
        (lambda value: source().set_property("retries", value), 5),
    ],
)
def test_objects_of_other_kinds_are_refused(build, value):
    with pytest.raises(TypeError):
        build(value)


def test_partitions_are_equal_by_topic_and_number():
    same = {KafkaTopicPartition("t", 0), KafkaTopicPartition("t", 0), KafkaTopicPartition("t", 1)}

    assert len(same) == 2


def test_offsets_are_not_negative():
    with pytest.raises(ValueError, match="negative"):
        KafkaOffsetsInitializer.offsets({KafkaTopicPartition("t", 0): -1})


def test_strategies_are_those_of_flink():
    assert [each.name for each in KafkaOffsetResetStrategy] == ["LATEST", "EARLIEST", "NONE"]
    assert [each.name for each in Semantic] == ["EXACTLY_ONCE", "AT_LEAST_ONCE", "NONE"]


def test_values_become_elements_with_the_time_of_their_record():
    decode = pickle.loads(pickle.dumps(ValueDecoder(JSON)))

    assert list(decode(b'{"id":1,"name":"x"}', 123, "t", 0, 7)) == [(Row(id=1, name="x"), 123)]
    assert list(decode(b"null", 123, "t", 0, 7)) == []


@pytest.mark.parametrize("value", [b'{"id":"x"}', None])
def test_an_error_says_which_record_it_is_of(value):
    with pytest.raises(OperatorError, match=r"topic 'some', partition 3, offset 42") as error:
        ValueDecoder(JSON)(value, 123, "some", 3, 42)

    assert repr(value) in str(error.value) or "no value" in str(error.value)


def encoded(schema, element, topics=False):
    built = sink().set_record_serializer(schema).build()
    columns = [each.split()[0] for each in built.schema(None).split(", ")]
    encoder = pickle.loads(cloudpickle.dumps(built.encoder(None)))
    return dict(zip(columns, encoder(element, 123)))


def test_elements_become_records():
    json_values = JsonRowSerializationSchema.builder().with_type_info(PAIR).build()
    schema = records().set_topic("t").set_value_serialization_schema(json_values).build()

    assert encoded(schema, Row(1, "x")) == {"value": b'{"id":1,"name":"x"}', "key": None}


def test_records_have_keys_and_topics_of_their_own():
    class Selector(KafkaTopicSelector):
        def apply(self, data):
            return f"topic-{data[2]}"

    for selector in (Selector(), lambda element: f"topic-{element[2]}"):
        schema = (
            records()
            .set_topic_selector(selector)
            .set_key_serialization_schema(RowFieldExtractorSchema(0))
            .set_value_serialization_schema(RowFieldExtractorSchema(1))
            .build()
        )
        found = encoded(schema, Row(b"k", b"v", "x"))
        assert found == {"value": b"v", "key": b"k", "topic": "topic-x"}


def test_exactly_once_is_at_least_once_and_says_so(caplog):
    schema = records().set_topic("t").set_value_serialization_schema(STRINGS).build()
    builder = sink().set_record_serializer(schema)
    builder.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)

    with pytest.raises(ValueError, match="transactionalIdPrefix"):
        builder.build()
    builder.set_transactional_id_prefix("some").build()
    assert "at least once" in caplog.text


def test_older_sources_and_sinks_are_the_same():
    properties = {"bootstrap.servers": "host:9092", "group.id": "g"}
    with pytest.warns(DeprecationWarning, match="KafkaSource"):
        consumer = FlinkKafkaConsumer(["a", "b"], JSON, properties)
    producer = FlinkKafkaProducer("t", STRINGS, properties)

    assert consumer.set_start_from_earliest().get_produced_type() == PAIR
    assert consumer.set_commit_offsets_on_checkpoints(True) is consumer
    assert producer.encoder(None)("x", None) == (b"x", None)
    assert producer.set_flush_on_checkpoint(True) is producer
    with pytest.raises(ValueError, match=r"bootstrap\.servers"):
        FlinkKafkaProducer("t", STRINGS, {})


def test_headers_are_made_of_elements():
    schema = (
        records()
        .set_topic("t")
        .set_value_serialization_schema(STRINGS)
        .set_header_provider(lambda element: [("length", json.dumps(len(element)).encode())])
        .build()
    )

    assert encoded(schema, "abc")["headers"] == [("length", b"3")]


def test_classes_are_named_as_they_are_without_flink_s_jars():
    shaded = "org.apache.flink.kafka.shaded.org.apache.kafka.common.security.plain.PlainLoginModule"

    options = client_options({"sasl.jaas.config": f'{shaded} required username="u";'}, True)

    plain = "org.apache.kafka.common.security.plain.PlainLoginModule"
    assert options == {"kafka.sasl.jaas.config": f'{plain} required username="u";'}
