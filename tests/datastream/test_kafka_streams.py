"""Programs between topics of Kafka: unbounded ones, whole records, and where reading ends."""

from __future__ import annotations

import json
import time

import pytest
from pyspark import TaskContext

from pyflow.common import JobStatus, Row, Types, WatermarkStrategy
from pyflow.common.serialization import ByteArraySchema, SimpleStringSchema
from pyflow.connectors.kafka_client import client_options, load_records
from pyflow.datastream import KeyedProcessFunction, OutputTag
from pyflow.datastream.connectors.kafka import (
    FlinkKafkaConsumer,
    FlinkKafkaProducer,
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
from pyflow.datastream.graph.manifest import IncompatibleProgramError
from pyflow.datastream.state import ValueStateDescriptor
from pyflow.util.exceptions import TableException

pytest.importorskip("confluent_kafka", reason="there is no Kafka client for this Python")

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from benchmarks.topics import Topic
from sessions import wait_until

NOTHING = WatermarkStrategy.no_watermarks()
EARLIEST = KafkaOffsetsInitializer.earliest()
LATEST = KafkaOffsetsInitializer.latest()
STRINGS = SimpleStringSchema()
PAIR = Types.ROW_NAMED(["key", "n"], [Types.STRING(), Types.INT()])
READ_PAIRS = JsonRowDeserializationSchema.builder().type_info(PAIR).build()
WRITE_PAIRS = JsonRowSerializationSchema.builder().with_type_info(PAIR).build()
SECONDS = 90


@pytest.fixture
def topics(kafka, tmp_path):
    """Two topics of a test, of two partitions each."""
    return [Topic(kafka.address, f"{tmp_path.name}-{name}", partitions=2) for name in ("in", "out")]


def source_of(topic, schema=STRINGS):
    builder = KafkaSource.builder().set_bootstrap_servers(topic.address)
    return builder.set_topics(topic.name).set_value_only_deserializer(schema)


def sink_of(topic, schema=STRINGS):
    records = KafkaRecordSerializationSchema.builder().set_topic(topic.name)
    records = records.set_value_serialization_schema(schema).build()
    builder = KafkaSink.builder().set_bootstrap_servers(topic.address)
    return builder.set_record_serializer(records).build()


def sent(topic, *values, key=None):
    topic.send(values, key)
    topic.flush()


def values_in(topic):
    return sorted(record.value for record in topic.records())


class BatchOf(KeyedProcessFunction):
    """The number of the micro-batch that an element is in."""

    def process_element(self, value, ctx):
        yield TaskContext.get().getLocalProperty("streaming.sql.batchId")


def elements_of(env, source):
    with env.from_source(source, NOTHING, "topic").execute_and_collect() as found:
        return sorted(found)


def at_least(topic, count):
    """Wait until a topic has some records; return their values."""
    end = time.monotonic() + SECONDS
    while topic.count() < count:
        assert time.monotonic() < end, f"{topic.count()} records of {count}"
        time.sleep(0.2)
    return values_in(topic)


def cancelled(job):
    job.cancel().result()
    return job.get_job_status().result()


def test_a_bounded_program_writes_what_it_reads(env, topics):
    source, target = topics
    sent(source, "a", "b", "c")

    stream = env.from_source(source_of(source).set_bounded(LATEST).build(), NOTHING, "topic")
    stream.map(str.upper, Types.STRING()).sink_to(sink_of(target))
    env.execute()

    assert values_in(target) == ["A", "B", "C"]


class Sums(KeyedProcessFunction):
    """The sum of a key until each of its elements."""

    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.INT()))

    def process_element(self, value, ctx):
        self.sum.update((self.sum.value() or 0) + value.n)
        yield Row(key=value.key, n=self.sum.value())


def summed(env, source, target):
    builder = source_of(source, READ_PAIRS).set_starting_offsets(EARLIEST)
    stream = env.from_source(builder.build(), NOTHING, "topic").key_by(lambda row: row.key)
    stream.process(Sums(), PAIR).sink_to(sink_of(target, WRITE_PAIRS))
    return env.execute_async("sums")


def pairs(*numbers, key):
    return [json.dumps({"key": key, "n": number}) for number in numbers]


def sums(*numbers, key):
    return {f'{{"key":"{key}","n":{number}}}' for number in numbers}


@pytest.mark.complete("process")
def test_an_unbounded_program_runs_until_it_is_cancelled(env, topics):
    source, target = topics
    sent(source, *pairs(1, 2, key="a"), key="a")
    job = summed(env, source, target)
    try:
        first = set(at_least(target, 2))
        sent(source, *pairs(5, key="b"), *pairs(4, key="a"), key="a")
        second = set(at_least(target, 4))
    finally:
        status = cancelled(job)

    assert first == sums(1, 3, key="a")
    assert second == first | sums(5, key="b") | sums(7, key="a")
    assert status == JobStatus.CANCELED


def slowly(value):
    time.sleep(0.02)
    return value


def started_from(env, source, target, function):
    builder = source_of(source).set_starting_offsets(EARLIEST)
    stream = env.from_source(builder.build(), NOTHING, "topic").map(function, Types.STRING())
    stream.sink_to(sink_of(target))
    return env.execute_async("copied")


@pytest.mark.complete("in a short batch")
@pytest.mark.parametrize("function", [slowly, str], ids=["in a batch", "in a short batch"])
def test_a_program_that_was_stopped_writes_no_result_again(make_env, topics, tmp_path, function):
    """The batch that runs when it is stopped ends before."""
    source, target = topics
    numbers = [f"{number:04}" for number in range(401)]
    settings = {"execution_checkpointing_dir": (tmp_path / "0").as_uri()}
    sent(source, *numbers[:100])
    for place in range(1, 5):
        job = started_from(make_env(**settings), source, target, function)
        try:
            at_least(target, 100 * (place - 1) + 10)
            for number in numbers[100 * place : 100 * (place + 1)]:
                source.send([number])
            source.flush()
            if place == 4:
                at_least(target, len(numbers))
        finally:
            path = job.stop_with_savepoint(False, (tmp_path / "savepoints").as_uri()).result()
        settings = {
            "execution_checkpointing_dir": (tmp_path / f"{place}").as_uri(),
            "execution_savepoint_path": path,
        }

    assert values_in(target) == numbers


@pytest.mark.complete
def test_a_program_that_fails_as_it_is_stopped_says_so(make_env, topics, tmp_path):
    source, target = topics
    settings = {"execution_checkpointing_dir": (tmp_path / "checkpoint").as_uri()}

    def fails_late(value):
        if value == "99":
            raise ValueError(f"no {value}")
        return slowly(value)

    sent(source, *map(str, range(100)))
    job = started_from(make_env(**settings), source, target, fails_late)
    at_least(target, 10)

    with pytest.raises(Exception, match="ValueError: no 99"):
        job.stop_with_savepoint(False, (tmp_path / "savepoints").as_uri()).result()

    assert job.get_job_status().result() == JobStatus.FAILED
    assert not (tmp_path / "savepoints").exists()


def test_a_program_goes_on_from_its_checkpoint_without_loss(make_env, topics, tmp_path):
    source, target = topics
    settings = {"execution_checkpointing_dir": (tmp_path / "checkpoints").as_uri()}

    def run(numbers, expected):
        env = make_env(**settings).enable_checkpointing(1000)
        job = summed(env, source, target)
        try:
            sent(source, *pairs(*numbers, key="a"), key="a")
            # A batch that was written and is not in the checkpoint is written again.
            wait_until(lambda: expected <= set(values_in(target)), f"{expected}", SECONDS)
            return set(values_in(target))
        finally:
            cancelled(job)

    run([1, 2], sums(1, 3, key="a"))
    sent(source, *pairs(3, 4, key="a"), key="a")
    found = run([5], sums(6, 10, 15, key="a"))

    assert found == sums(1, 3, 6, 10, 15, key="a")


def test_an_unbounded_source_that_stops_ends_its_program(make_env, topics):
    source, target = topics
    sent(source, "a", "b")
    env = make_env()
    builder = source_of(source).set_unbounded(LATEST)

    env.from_source(builder.build(), NOTHING, "topic").sink_to(sink_of(target))
    env.execute()

    assert values_in(target) == ["a", "b"]


class Late(KafkaSource):
    """A topic that gets another record when it has been read for the query, which begins then."""

    def read(self, context, is_streaming):
        rows = super().read(context, is_streaming)
        topic = Topic(self.origin, self.reads.removeprefix("subscribe "))
        sent(topic, f"late {topic.count()}")
        return rows


def test_records_that_come_as_a_program_starts_are_not_lost(make_env, topics, tmp_path):
    source, target = topics
    settings = {"execution_checkpointing_dir": (tmp_path / "checkpoints").as_uri()}

    def run():
        env = make_env(**settings)
        stopping = Late(source_of(source).set_unbounded(LATEST).build()._reading)
        env.from_source(stopping, NOTHING, "topic").sink_to(sink_of(target))
        env.execute("copy")

    sent(source, "a")
    run()
    sent(source, "b")
    run()
    run()

    assert values_in(target) == values_in(source)


def test_a_source_that_stopped_does_not_go_on_to_another_end(make_env, topics, tmp_path):
    source, target = topics
    settings = {"execution_checkpointing_dir": (tmp_path / "checkpoints").as_uri()}

    def run(stop):
        env = make_env(**settings)
        builder = source_of(source)
        builder = builder if stop is None else builder.set_unbounded(stop)
        env.from_source(builder.build(), NOTHING, "topic").sink_to(sink_of(target))
        env.execute("copy")

    sent(source, "a", key="k")
    time.sleep(0.05)
    between = KafkaOffsetsInitializer.timestamp(int(time.time() * 1000))
    time.sleep(0.05)
    sent(source, "b", key="k")
    run(between)
    run(between)

    with pytest.raises(IncompatibleProgramError, match="cannot go on to another end: none"):
        run(None)
    assert values_in(target) == ["a"]


def test_a_program_resumes_although_its_group_has_no_offsets(make_env, topics, tmp_path):
    source, target = topics
    settings = {"execution_checkpointing_dir": (tmp_path / "checkpoints").as_uri()}
    group = f"{source.name}-group"
    committed = KafkaOffsetsInitializer.committed_offsets()

    def run():
        env = make_env(**settings)
        builder = source_of(source).set_group_id(group).set_starting_offsets(committed)
        stopping = builder.set_unbounded(LATEST).build()
        env.from_source(stopping, NOTHING, "topic").sink_to(sink_of(target))
        env.execute("copy")

    sent(source, "a", "b", key="k")
    partitions = [TopicPartition(source.name, each, 0) for each in range(2)]
    for record in source.records():
        partitions[record.partition].offset = record.offset + 1
    consumer = Consumer({"bootstrap.servers": source.address, "group.id": group})
    consumer.commit(offsets=partitions, asynchronous=False)
    consumer.close()
    sent(source, "c")
    run()
    admin = AdminClient({"bootstrap.servers": source.address})
    admin.delete_consumer_groups([group])[group].result(SECONDS)
    sent(source, "d")
    run()

    assert values_in(target) == ["c", "d"]


def test_an_unbounded_source_stops_beside_one_that_does_not(make_env, topics):
    source, target = topics
    sent(source, "a")
    env = make_env()
    stopping = env.from_source(source_of(source).set_unbounded(LATEST).build(), NOTHING, "one")
    other = env.from_source(source_of(source).build(), NOTHING, "other")
    stopping.map(lambda value: f"stopping {value}", Types.STRING()).union(
        other.map(lambda value: f"other {value}", Types.STRING())
    ).sink_to(sink_of(target))
    job = env.execute_async()
    try:
        at_least(target, 2)
        sent(source, "b")
        found = at_least(target, 3)
    finally:
        cancelled(job)

    assert found == ["other a", "other b", "stopping a"]


def test_reading_begins_and_ends_at_times_and_offsets(make_env, topics):
    env = make_env()
    source, _ = topics
    sent(source, "a", "b", key="k")
    time.sleep(0.05)
    between = KafkaOffsetsInitializer.timestamp(int(time.time() * 1000))
    time.sleep(0.05)
    sent(source, "c", "d", key="k")
    partition = next(record.partition for record in source.records())
    offset = KafkaOffsetsInitializer.offsets({KafkaTopicPartition(source.name, partition): 3})

    def values(start, stop, is_bounded=True):
        builder = source_of(source).set_starting_offsets(start)
        builder = builder.set_bounded(stop) if is_bounded else builder.set_unbounded(stop)
        return elements_of(env, builder.build())

    assert values(EARLIEST, LATEST) == ["a", "b", "c", "d"]
    assert values(between, LATEST) == ["c", "d"]
    assert values(EARLIEST, between) == ["a", "b"]
    assert values(between, offset) == ["c"]
    assert values(LATEST, LATEST) == []
    assert values(offset, between) == []
    assert values(EARLIEST, between, is_bounded=False) == ["a", "b"]
    assert values(offset, LATEST, is_bounded=False) == ["d"]


def test_reading_begins_with_the_records_to_come(make_env, topics):
    source, target = topics
    sent(source, "before")
    env = make_env()
    builder = source_of(source).set_starting_offsets(LATEST)
    env.from_source(builder.build(), NOTHING, "topic").sink_to(sink_of(target))
    job = env.execute_async()
    try:
        # When the query has begun is not known from outside.
        end = time.monotonic() + SECONDS
        while not target.count() and time.monotonic() < end:
            sent(source, "after")
            time.sleep(0.5)
    finally:
        cancelled(job)

    assert set(values_in(target)) == {"after"}


def test_a_batch_takes_as_many_records_as_the_source_says(env, topics):
    source, target = topics
    sent(source, *"abcdefg", key="k")
    builder = source_of(source).set_unbounded(LATEST)
    builder.set_property("spark.maxOffsetsPerTrigger", "3")
    stream = env.from_source(builder.build(), NOTHING, "topic")
    stream.key_by(lambda value: 0).process(BatchOf()).sink_to(sink_of(target))
    env.execute()

    assert values_in(target) == ["0", "0", "0", "1", "1", "1", "2"]
    builder.set_property("spark.maxOffsets", "3")
    with pytest.raises(ValueError, match=r"no property 'spark.maxOffsets'.*spark.maxOffsetsPer"):
        elements_of(env, builder.build())


def test_consumers_do_not_wait_long_at_the_end_of_a_partition(spark, topics):
    """Spark asks for offsets between fetches, over the same connection."""
    source, _ = topics
    options = {"kafka.bootstrap.servers": source.address, "subscribe": source.name}

    def waits(**more):
        frame = load_records(spark, True, {**options, **more}, False)
        relation = frame._jdf.queryExecution().analyzed().collectLeaves().head()
        return relation.extraOptions().get("kafka.fetch.max.wait.ms")

    assert waits() == "20"
    assert waits(**client_options({"fetch.max.wait.ms": "70"}, is_source=True)) == "70"


def test_topics_are_read_by_a_pattern_of_their_names(make_env, topics):
    for topic, value in zip(topics, "ab"):
        sent(topic, value)
    name = topics[0].name.removesuffix("-in")
    other = Topic(topics[0].address, f"{name}-in-not", partitions=1)
    sent(other, "c")
    builder = KafkaSource.builder().set_bootstrap_servers(topics[0].address)
    builder.set_topic_pattern(f"{name}-(in|out)").set_value_only_deserializer(STRINGS)

    assert elements_of(make_env(), builder.set_bounded(LATEST).build()) == ["a", "b"]
    assert elements_of(make_env(), builder.set_starting_offsets(LATEST).build()) == []


def test_whole_records_are_written_and_read(env, topics):
    source, _ = topics
    records = KafkaRecordSerializationSchema.builder().set_topic(source.name)
    records.set_key_serialization_schema(STRINGS).set_value_serialization_schema(STRINGS)
    records.set_header_provider(lambda element: [("length", b"%d" % len(element)), ("none", None)])
    sink = KafkaSink.builder().set_bootstrap_servers(source.address)
    stream = env.from_collection(["abc"], Types.STRING())
    stream.sink_to(sink.set_record_serializer(records.build()).build())
    env.execute()
    (written,) = source.records()

    builder = KafkaSource.builder().set_bootstrap_servers(source.address).set_topics(source.name)
    builder.set_record_deserializer(tuple).set_bounded(LATEST)

    headers = (("length", b"3"), ("none", None))
    place = (source.name, written.partition, 0, written.timestamp, 0)
    assert elements_of(env, builder.build()) == [(*place, b"abc", b"abc", headers)]


def test_records_without_values_are_left_out_or_errors(make_env, topics):
    source, _ = topics
    sent(source, "x", None, '{"key":"a","n":1}')
    lenient = JsonRowDeserializationSchema.builder().type_info(PAIR).ignore_parse_errors().build()
    whole = source_of(source).set_record_deserializer(lambda record: record.value or b"none")

    assert elements_of(make_env(), source_of(source, lenient).set_bounded(LATEST).build()) == [
        Row(key="a", n=1)
    ]
    assert b"none" in elements_of(make_env(), whole.set_bounded(LATEST).build())
    with pytest.raises(Exception, match=r"partition \d, offset \d.*it has no value"):
        elements_of(make_env(), source_of(source).set_bounded(LATEST).build())


@pytest.mark.complete("process")
@pytest.mark.parametrize("strategy", [NOTHING, WatermarkStrategy.for_monotonous_timestamps()])
def test_records_that_cannot_be_read_go_to_a_side_output(env, topics, strategy):
    source, target = topics
    sent(source, '{"key":"a","n":1}', '{"n":"x"}', '{"key":"a","n":2}', key="k")
    tag = OutputTag("failed")
    builder = source_of(source, READ_PAIRS).set_failed_records_output(tag)
    stream = env.from_source(builder.set_unbounded(LATEST).build(), strategy, "topic")
    failed = stream.get_side_output(tag).map(
        lambda each: f"{each.record.offset} {each.record.key} {each.error}", Types.STRING()
    )
    failed.sink_to(sink_of(target))
    stream.map(lambda row: f"{row.n}", Types.STRING()).sink_to(sink_of(target))
    env.execute()

    assert values_in(target) == [
        "1",
        "1 b'k' ValueError: Failed to deserialize JSON '{\"n\":\"x\"}': 'x' is no integer",
        "2",
    ]


def test_a_side_output_of_failed_records_must_be_read(env, topics):
    source, _ = topics
    builder = source_of(source).set_failed_records_output(OutputTag("failed"))
    env.from_source(builder.set_bounded(LATEST).build(), NOTHING, "topic").print()

    with pytest.raises(TableException, match=r"nothing reads the side output .failed. of"):
        env.execute()
    with pytest.raises(TypeError, match="expected an OutputTag, got 'failed'"):
        source_of(source).set_failed_records_output("failed")


def test_an_unbounded_program_fails_at_a_record_that_it_cannot_read(env, topics):
    source, target = topics
    sent(source, *pairs(1, key="a"), key="a")
    job = summed(env, source, target)
    try:
        at_least(target, 1)
        sent(source, '{"n":"x"}', key="a")
        with pytest.raises(Exception, match=rf"{source.name}'?, partition \d, offset 1"):
            job.get_job_execution_result().result()
        status = job.get_job_status().result()
    finally:
        job.cancel().result()

    assert status == JobStatus.FAILED


def test_older_sources_and_sinks_read_and_write(make_env, topics):
    source, target = topics
    sent(source, "a", "b")
    properties = {"bootstrap.servers": source.address, "group.id": "older"}
    env = make_env()
    with pytest.warns(DeprecationWarning, match="KafkaSource"):
        consumer = FlinkKafkaConsumer(source.name, ByteArraySchema(), properties)

    stream = env.add_source(consumer.set_start_from_earliest())
    stream.add_sink(FlinkKafkaProducer(target.name, ByteArraySchema(), properties))
    job = env.execute_async()
    try:
        found = at_least(target, 2)
    finally:
        cancelled(job)

    assert found == ["a", "b"]
