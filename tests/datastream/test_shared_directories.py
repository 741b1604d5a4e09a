"""Jobs that have one directory for checkpoints, and sources whose brokers or ends change."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from pyflow.common import WatermarkStrategy
from pyflow.common.serialization import Encoder, SimpleStringSchema
from pyflow.datastream.connectors.file_system import FileSink
from pyflow.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    KafkaTopicPartition,
)
from pyflow.datastream.graph.components import components
from pyflow.datastream.graph.fitting import fitted, places_of
from pyflow.datastream.graph.manifest import IncompatibleProgramError

NOTHING = WatermarkStrategy.no_watermarks()


def read(env, topic, servers="localhost:9", stop=None, uid=None):
    builder = KafkaSource.builder().set_bootstrap_servers(servers).set_topics(topic)
    builder = builder.set_value_only_deserializer(SimpleStringSchema())
    builder = builder if stop is None else builder.set_unbounded(stop)
    stream = env.from_source(builder.build(), NOTHING, "source")
    return stream if uid is None else stream.uid(uid)


def write(stream, topic):
    records = KafkaRecordSerializationSchema.builder().set_topic(topic)
    records = records.set_value_serialization_schema(SimpleStringSchema()).build()
    builder = KafkaSink.builder().set_bootstrap_servers("localhost:9")
    stream.sink_to(builder.set_record_serializer(records).build())


def fit(env, before=None, job="job"):
    (component,) = components(env._sinks)
    return fitted(component, 1, before, job=job)


def manifest_of(env, job="job"):
    return fit(env, job=job).manifest


@pytest.fixture
def alerts(make_env):
    env = make_env()
    write(read(env, "orders"), "alerts")
    return manifest_of(env, "alerts")


def test_a_job_of_another_name_does_not_take_a_checkpoint_over(make_env, alerts):
    env = make_env()
    write(read(env, "orders"), "enriched")
    program = manifest_of(env, "enriched")

    with pytest.raises(
        IncompatibleProgramError,
        match="the job 'enriched', and the checkpoint is of the job 'alerts' with the same sources",
    ):
        places_of({0: program}, {}, [], False, others={0: alerts})


def test_jobs_of_other_sources_have_checkpoints_beside_each_other(make_env, alerts):
    env = make_env()
    write(read(env, "clicks"), "visits")
    program = manifest_of(env, "visits")

    assert places_of({0: program}, {}, [], False, others={0: alerts}) == {0: 1}
    # Its own checkpoint is known, whatever others there are.
    assert places_of({0: program}, {1: program}, [1], False, others={0: alerts}) == {0: 1}


@pytest.mark.parametrize("name", ["alerts", None])
def test_a_job_of_the_same_name_with_other_sinks_is_refused(make_env, alerts, name):
    env = make_env()
    write(read(env, "orders"), "enriched")

    with pytest.raises(
        IncompatibleProgramError, match=r"writes to KafkaSink alerts, and this one.*enriched"
    ):
        fit(env, alerts, name)


def both_sinks(env):
    orders = read(env, "orders")
    write(orders, "alerts")
    write(orders, "enriched")


def one_sink(env):
    write(read(env, "orders"), "enriched")


def with_uid(env):
    write(read(env, "orders", uid="orders"), "alerts")


def other_sink_with_uid(env):
    write(read(env, "orders", uid="orders"), "enriched")


def with_state(env):
    write(read(env, "orders").key_by(len).reduce(max), "alerts")


def other_sink_with_state(env):
    write(read(env, "orders").key_by(len).reduce(max), "enriched")


@pytest.mark.parametrize(
    ("build", "changed"),
    [
        (both_sinks, one_sink),
        (with_uid, other_sink_with_uid),
        (with_state, other_sink_with_state),
    ],
)
def test_a_job_may_change_its_sinks(make_env, build, changed):
    before, now = make_env(), make_env()
    build(before)
    changed(now)

    assert fit(now, manifest_of(before)).manifest.sinks == ("KafkaSink enriched",)


def test_sinks_are_known_by_where_they_write(make_env):
    env = make_env()
    stream = read(env, "orders")
    stream.print()
    stream.sink_to(FileSink.for_row_format("file:///out", Encoder.simple_string_encoder()).build())
    assert manifest_of(env).sinks == ("FileSink file:///out", "PrintSink")


def test_equal_sources_are_known_by_their_brokers(make_env):
    def program(*servers):
        env = make_env()
        streams = [read(env, "orders", each) for each in servers]
        streams[0].union(*streams[1:]).print()
        names = {each._transformation.number: server for each, server in zip(streams, servers)}
        return env, names

    env, names = program("one:9", "other:9")
    before = fit(env)
    assert [names[number] for number in before.sources] == ["one:9", "other:9"]

    env, names = program("other:9", "one:9")
    again = fit(env, before.manifest)
    assert [names[number] for number in again.sources] == ["one:9", "other:9"]

    env, _ = program("other:9", "third:9")
    with pytest.raises(IncompatibleProgramError, match="or it is not known which"):
        fit(env, before.manifest)


def test_a_source_of_other_brokers_is_warned_of(make_env, caplog):
    before, now = make_env(), make_env()
    read(before, "orders", "one:9").print()
    read(now, "orders", "other:9").print()

    with caplog.at_level(logging.WARNING):
        fit(now, manifest_of(before))

    assert "read from one:9 and reads from other:9 now" in caplog.text


@pytest.mark.parametrize(
    ("stop", "error"),
    [
        (KafkaOffsetsInitializer.timestamp(5), None),
        (KafkaOffsetsInitializer.timestamp(6), "ends at: timestamp 5.*another end: timestamp 6"),
        (KafkaOffsetsInitializer.latest(), "another end: latest"),
        (
            KafkaOffsetsInitializer.offsets({KafkaTopicPartition("orders", 0): 7}),
            'another end: offsets {"orders": {"0": 7}}',
        ),
    ],
)
def test_a_source_keeps_its_end(make_env, stop, error):
    before, now = make_env(), make_env()
    read(before, "orders", stop=KafkaOffsetsInitializer.timestamp(5)).print()
    read(now, "orders", stop=stop).print()
    kept = manifest_of(before)
    position = '{"orders": {"0": 3}}'
    kept = replace(kept, sources=(replace(kept.sources[0], stops_at=position),))

    if error is None:
        assert fit(now, kept).manifest.sources[0].stops_at == position
    else:
        with pytest.raises(IncompatibleProgramError, match=error):
            fit(now, kept)
