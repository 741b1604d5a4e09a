"""Unbounded programs in Spark's real-time mode, between topics of Kafka."""

from __future__ import annotations

import json
import re
import sys
import time

import pytest

import pyflow
from pyflow.common import Configuration, JobStatus, Time, Types, WatermarkStrategy
from pyflow.common.serialization import SimpleStringSchema
from pyflow.common.watermark_strategy import TimestampAssigner
from pyflow.datastream import (
    AsyncDataStream,
    AsyncFunction,
    KeyedProcessFunction,
    OutputTag,
    StreamExecutionEnvironment,
)
from pyflow.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from pyflow.datastream.connectors.number_seq import NumberSequenceSource
from pyflow.datastream.state import ValueStateDescriptor
from pyflow.datastream.window import TumblingEventTimeWindows
from pyflow.util.exceptions import TableException

pytest.importorskip("confluent_kafka", reason="there is no Kafka client for this Python")

from benchmarks.topics import Topic
from deployments import PROGRAMS, killed_at_the_end
from scripts.connector_jars import kafka_jars
from sessions import base_conf, wait_until

pytestmark = pytest.mark.since_spark("4.2")
# Spark 4.2 allows no operator with state there.
WITH_STATE = pytest.mark.since_spark("4.3")

NOTHING = WatermarkStrategy.no_watermarks()
STRINGS = SimpleStringSchema()
SECONDS = 60
#: The shortest that Spark has.
BATCH_MS = 5_000


@pytest.fixture
def topics(kafka, tmp_path):
    names = ("in", "out", "late")
    return [Topic(kafka.address, f"{tmp_path.name}-{name}") for name in names]


@pytest.fixture
def real_time(spark, tmp_path):
    """An environment whose query stays as it was left in its checkpoint."""

    def made(settings=(), mode="thread"):
        configuration = Configuration()
        configuration.set_string("python.execution-mode", mode)
        configuration.set_string("pyflow.datastream.real-time", "true")
        configuration.set_string("execution.checkpointing.dir", str(tmp_path / "checkpoint"))
        for key, value in dict(settings).items():
            configuration.set_string(key, value)
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(1)
        env.enable_checkpointing(BATCH_MS)
        return env

    return made


def source_of(topic):
    builder = KafkaSource.builder().set_bootstrap_servers(topic.address).set_topics(topic.name)
    builder = builder.set_starting_offsets(KafkaOffsetsInitializer.earliest())
    return builder.set_value_only_deserializer(STRINGS).build()


def sink_of(topic):
    records = KafkaRecordSerializationSchema.builder().set_topic(topic.name)
    records = records.set_value_serialization_schema(STRINGS).build()
    builder = KafkaSink.builder().set_bootstrap_servers(topic.address)
    return builder.set_record_serializer(records).build()


def sent(topic, *values):
    topic.send(map(json.dumps, values))
    topic.flush()


def awaited(topic, count, job):
    """Wait until a topic has some records; return their values."""
    end = time.monotonic() + SECONDS
    while topic.count() < count:
        status = job.get_job_status().result()
        assert status == JobStatus.RUNNING, job.get_job_execution_result().result()
        assert time.monotonic() < end, f"{topic.count()} records of {count}"
        time.sleep(0.05)
    return [json.loads(record.value) for record in topic.records()]


def read(env, topic):
    return env.from_source(source_of(topic), NOTHING, "topic").map(json.loads)


def written(stream, topic):
    stream.map(json.dumps, Types.STRING()).sink_to(sink_of(topic))


def stopped(job):
    job.cancel().result()


class Counting(KeyedProcessFunction):
    def open(self, runtime_context):
        self.opened = time.time_ns()
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield [*value, self.count.value(), self.opened]


def test_records_come_out_while_their_batch_goes_on(topics, real_time):
    here, there, _ = topics
    # A batch that would last longer than the test.
    env = real_time()
    env.enable_checkpointing(SECONDS * 10_000)
    written(read(env, here).map(lambda value: value * 2).filter(lambda value: value > 2), there)
    sent(here, 1, 2)
    job = env.execute_async("doubled")
    try:
        assert awaited(there, 1, job) == [4]
        sent(here, 3)
        assert awaited(there, 2, job) == [4, 6]
    finally:
        stopped(job)


@WITH_STATE
def test_state_of_keys_goes_on_after_restarts_with_and_without_the_mode(topics, real_time):
    here, there, _ = topics

    def started(is_real_time):
        env = real_time({"pyflow.datastream.real-time": str(is_real_time).lower()})
        keyed = read(env, here).key_by(lambda value: value[0])
        written(keyed.process(Counting()), there)
        return env.execute_async("counts")

    def goes_on(is_real_time, expected):
        """Start the program, and wait for a result: the batch that was stopped is run again."""
        before = there.count()
        job = started(is_real_time)
        try:
            end = time.monotonic() + SECONDS
            while expected not in [each[:3] for each in awaited(there, before + 1, job)]:
                assert time.monotonic() < end, awaited(there, before + 1, job)
                time.sleep(0.1)
        finally:
            stopped(job)

    sent(here, ["a", 1], ["b", 2], ["a", 3])
    job = started(is_real_time=True)
    try:
        awaited(there, 3, job)
        time.sleep(2 * BATCH_MS / 1000)
        sent(here, ["a", 4])
        found = awaited(there, 4, job)
    finally:
        stopped(job)
    counts = sorted(each[:3] for each in found)
    assert counts == [["a", 1, 1], ["a", 3, 2], ["a", 4, 3], ["b", 2, 1]]
    assert len({each[3] for each in found}) == 1, "functions stay open over batches"
    for value, is_real_time in [(5, False), (6, True), (7, False)]:
        sent(here, ["a", value])
        goes_on(is_real_time, ["a", value, value - 1])


class Reminding(KeyedProcessFunction):
    """Says when an element has had no other behind it for so long."""

    def open(self, runtime_context):
        self.timer = runtime_context.get_state(ValueStateDescriptor("timer", Types.LONG()))

    def process_element(self, value, ctx):
        service = ctx.timer_service()
        if self.timer.value() is not None:
            service.delete_processing_time_timer(self.timer.value())
        at = service.current_processing_time() + value[1]
        service.register_processing_time_timer(at)
        self.timer.update(at)

    def on_timer(self, timestamp, ctx):
        yield [ctx.get_current_key(), timestamp == self.timer.value()]


@WITH_STATE
def test_timers_of_processing_time_fire_while_the_batch_goes_on(topics, real_time):
    here, there, _ = topics
    env = real_time()
    env.enable_checkpointing(SECONDS * 10_000)
    written(read(env, here).key_by(lambda value: value[0]).process(Reminding()), there)
    sent(here, ["a", 10], ["a", 200], ["b", 500_000])
    job = env.execute_async("reminders")
    try:
        for _ in range(SECONDS * 2):
            # Timers are looked for after a row of their partition.
            sent(here, ["b", 500_000])
            if there.count():
                break
            time.sleep(0.5)
        assert awaited(there, 1, job) == [["a", True]]
    finally:
        stopped(job)


class Alarming(KeyedProcessFunction):
    """Registers the timer of the first element of a key with each one."""

    def open(self, runtime_context):
        self.deadline = runtime_context.get_state(ValueStateDescriptor("deadline", Types.LONG()))

    def process_element(self, value, ctx):
        deadline = self.deadline.value()
        if deadline is None:
            deadline = ctx.timer_service().current_processing_time() + 500
            self.deadline.update(deadline)
        ctx.timer_service().register_processing_time_timer(deadline)
        yield ["seen"]

    def on_timer(self, timestamp, ctx):
        yield ["alarm"]


@WITH_STATE
def test_a_timer_that_is_due_and_registered_again_fires_once(topics, real_time):
    here, there, _ = topics
    env = real_time()
    env.enable_checkpointing(SECONDS * 10_000)
    written(read(env, here).key_by(lambda value: value[0]).process(Alarming()), there)
    sent(here, ["a"])
    job = env.execute_async("alarms")
    try:
        awaited(there, 1, job)
        time.sleep(1)
        sent(here, ["a"])
        awaited(there, 3, job)
        # Timers are looked for after a row.
        sent(here, ["b"])
        assert awaited(there, 4, job) == [["seen"], ["seen"], ["alarm"], ["seen"]]
    finally:
        stopped(job)


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


@pytest.mark.complete
@WITH_STATE
def test_windows_end_with_the_watermarks_of_batches(topics, real_time):
    here, there, late = topics
    env = real_time()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    tag = OutputTag("late")
    sums = (
        read(env, here)
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda value: value[0])
        .window(TumblingEventTimeWindows.of(Time.seconds(1)))
        .side_output_late_data(tag)
        .reduce(lambda one, other: [one[0], one[1], one[2] + other[2]])
    )
    written(sums, there)
    written(sums.get_side_output(tag), late)
    sent(here, ["a", 100, 1], ["b", 200, 2], ["a", 300, 3], ["a", 9_000, 0])
    job = env.execute_async("windows")
    try:
        assert sorted(awaited(there, 2, job)) == [["a", 100, 4], ["b", 200, 2]]
        sent(here, ["b", 300, 7])
        assert awaited(late, 1, job) == [["b", 300, 7]]
    finally:
        stopped(job)


def printing(program, slots, tmp_path, *arguments):
    """A program that runs, with slots for all tasks of all stages, and its log.

    What functions print in thread mode is in the log.
    """
    log = tmp_path / "program.log"
    jars = ",".join(map(str, [pyflow.jar_path(), *kafka_jars()]))
    conf = {**base_conf(), "spark.plugins": "io.pyflow.PyFlowPlugin", "spark.jars": jars}
    options = " ".join(f"--conf {key}={value}" for key, value in conf.items())
    variables = {"PYSPARK_SUBMIT_ARGS": f"--master local[{slots}] {options} pyspark-shell"}
    command = [sys.executable, PROGRAMS / program, *arguments]
    return log, killed_at_the_end(command, tmp_path, log, **variables)


@pytest.mark.complete
def test_stages_behind_each_other_print_into_the_log(kafka, topics, tmp_path):
    sent(topics[0], ["a", 100, 1], ["b", 200, 2], ["a", 1_500, 3], ["a", 9_000, 0])
    arguments = (kafka.address, topics[0].name)
    log, running = printing("real_time_stream.py", 4, tmp_path, *arguments)

    with running as process:
        wait_until(lambda: "total> " in log.read_text() or process.poll() is not None, "the total")

    found = re.findall(r"(?:sum|total)> .*", log.read_text())
    assert sorted(found) == [
        "sum> ['a', 100, 1]",
        "sum> ['a', 1500, 3]",
        "sum> ['b', 200, 2]",
        "total> ['all', 1500, 6]",
    ]


@WITH_STATE
@pytest.mark.complete
def test_connected_and_broadcast_streams(kafka, topics, tmp_path):
    items, rules, _ = topics
    sent(rules, ["a", 7], ["c", 9])
    sent(items)
    arguments = (kafka.address, items.name, rules.name)
    log, running = printing("real_time_inputs.py", 6, tmp_path, *arguments)

    def found(word):
        return sorted(re.findall(rf"input> ({word} .*)", log.read_text()))

    with running as process:

        def wait_for(word, count):
            wait_until(lambda: len(found(word)) >= count or process.poll() is not None, word)

        wait_for("rule", 2)
        wait_for("latest", 2)
        sent(items, ["a", 1], ["b", 2], ["a", 3])
        wait_for("ruled", 3)
        wait_for("connected", 3)

    assert found("ruled") == [
        "ruled a 1 [('a', 7), ('c', 9)]",
        "ruled a 4 [('a', 7), ('c', 9)]",
        "ruled b 2 [('a', 7), ('c', 9)]",
    ]
    assert found("connected") == ["connected a 1 7", "connected a 3 7", "connected b 2 None"]


class Slow(AsyncFunction):
    async def async_invoke(self, value):
        return [value]


def asynchronous(env, topics):
    stream = AsyncDataStream.unordered_wait(read(env, topics[0]), Slow(), Time.seconds(1))
    written(stream, topics[1])


def numbers(env, topics):
    source = env.from_source(NumberSequenceSource(1, 3), NOTHING, "numbers").map(str)
    both = env.from_source(source_of(topics[0]), NOTHING, "topic").union(source)
    both.sink_to(sink_of(topics[1]))


def two_kinds_of_sinks(env, topics):
    stream = read(env, topics[0])
    stream.print()
    written(stream, topics[1])


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (asynchronous, "would wait for the calls"),
        (numbers, "operator 'numbers' cannot run"),
        (two_kinds_of_sinks, "one sink"),
    ],
)
def test_what_cannot_run_record_by_record_is_refused(topics, real_time, program, message):
    env = real_time()
    program(env, topics)
    with pytest.raises(TableException, match=message):
        env.execute_async("refused")


def test_process_mode_is_refused(topics, real_time):
    env = real_time(mode="process")
    written(read(env, topics[0]), topics[1])
    with pytest.raises(TableException, match="no Python workers"):
        env.execute_async("refused")
