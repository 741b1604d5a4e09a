"""Streams from Kafka through Python functions to Kafka, with a real broker.

Every record of the input is found at the sink, whatever happens on the way: the broker goes away
and comes back, the query or an executor is killed, a record is one that the function cannot take.
Spark's Kafka sink writes the batch that was interrupted again, and no other.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest
from pyspark.errors import StreamingQueryException

from comparison import assert_process_plan, assert_thread_plan, settings, thread_modes
from deployments import PROGRAMS, killed_at_the_end
from kafka_streams import BATCH, account, committed_records, read, started, through, upper
from scripts.kafka_broker import Broker
from sessions import INTERPRETER, MODE, ROOT, wait_until

pytest.importorskip("confluent_kafka", reason="there is no Kafka client for this Python")

from benchmarks.topics import Topic

PROCESS = {MODE: "process"}
THREAD = {MODE: "thread"}
MODES = [
    pytest.param(
        mode,
        id=f"{mode[MODE]}-{mode.get(INTERPRETER, 'workers')}",
        marks=pytest.mark.complete if mode in thread_modes()[1:] else (),
    )
    for mode in (PROCESS, *thread_modes())
]
BATCHES = {"processingTime": "0 seconds"}
REAL_TIME = {"realTime": "5 seconds"}
# Real-time mode takes no other, and a query has one format for ever.
CHECKPOINT = {"spark.sql.streaming.stateStore.checkpointFormatVersion": "2"}
WITH_REAL_TIME = [
    pytest.param(THREAD, BATCHES, id="thread"),
    pytest.param(PROCESS, BATCHES, id="process", marks=pytest.mark.complete),
    pytest.param(THREAD, REAL_TIME, id="real-time", marks=pytest.mark.complete),
]


@pytest.fixture
def topics(kafka, tmp_path):
    """Source and sink of a test."""
    return tuple(
        Topic(kafka.address, f"{tmp_path.name}-{name}", partitions=2) for name in ("in", "out")
    )


def send(topic, name, count):
    topic.send(f"{name} {number}" for number in range(count))
    topic.flush()


def wait_for(sink, count, seconds=120):
    wait_until(lambda: sink.count() >= count, f"{count} records in {sink.name}", seconds)


def wait_for_all(sink, count):
    """Until so many records of the source are at the sink, whether or not some are there twice."""
    wait_until(lambda: len({record.key for record in sink.records()}) == count, "all have arrived")


def assert_mode(query, mode):
    plan = query._jsq.streamingQuery().lastExecution().executedPlan().toString()
    (assert_process_plan if mode == PROCESS else assert_thread_plan)(plan)


def is_alive(pid):
    """Whether there is such a process, and it has not ended already."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_broker_ends_with_whoever_started_it(tmp_path):
    """Also where that one is killed and cannot end anything."""
    program = f"""
        from pathlib import Path
        from scripts.kafka_broker import Broker
        broker = Broker(Path({str(tmp_path)!r}))
        broker.start()
        print(broker.pid, flush=True)
        input()
    """
    starter = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with starter:
        pid = int(starter.stdout.readline())
        assert is_alive(pid)
        os.kill(starter.pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid), "the broker ends")


@pytest.mark.complete("process")
@pytest.mark.parametrize("mode", MODES)
def test_micro_batches(spark, kafka, topics, tmp_path, mode):
    """Of records that are there and of records that come."""
    source, sink = topics
    send(source, "there", 3 * BATCH)
    with settings(spark, mode):
        frame = through(read(spark, kafka.address, source.name), upper)
        query = started(frame, kafka.address, sink.name, tmp_path / "checkpoint", **BATCHES)
        try:
            wait_for(sink, 3 * BATCH)
            send(source, "comes", 10)
            wait_for(sink, 3 * BATCH + 10)
            assert_mode(query, mode)
        finally:
            query.stop()
    account(source, sink)


# Spark 4.1's source fails in its metrics where such a query goes on from an uncommitted batch.
@pytest.mark.since_spark("4.2")
@pytest.mark.parametrize("mode", MODES)
def test_a_poison_record(spark, kafka, topics, tmp_path, mode):
    """It ends the query with its error. After a change of the function nothing is missing."""
    source, sink = topics

    def strict(value):
        if value == "poison":
            raise ValueError(f"not {value}")
        return value.upper()

    send(source, "before", 2 * BATCH)
    source.send(["poison"])
    send(source, "after", 2 * BATCH)
    with settings(spark, mode):
        for function in (strict, upper):
            frame = through(read(spark, kafka.address, source.name), function)
            checkpoint = tmp_path / "checkpoint"
            query = started(frame, kafka.address, sink.name, checkpoint, availableNow=True)
            if function is strict:
                with pytest.raises(StreamingQueryException, match="ValueError: not poison"):
                    query.awaitTermination()
            else:
                query.awaitTermination()
    account(source, sink, duplicates=BATCH)


@pytest.mark.complete
@pytest.mark.parametrize(("mode", "trigger"), WITH_REAL_TIME)
def test_a_broker_that_is_stopped_and_started(spark, tmp_path, mode, trigger):
    folder = tmp_path / "broker"
    folder.mkdir()
    with Broker(folder) as broker, settings(spark, mode):
        source, sink = (Topic(broker.address, name, partitions=2) for name in ("in", "out"))
        real_time = trigger is REAL_TIME
        frame = through(read(spark, broker.address, source.name, real_time=real_time), upper)
        query = started(frame, broker.address, sink.name, tmp_path / "checkpoint", **trigger)
        try:
            send(source, "before", BATCH)
            wait_for(sink, BATCH // 2)
            send(source, "unread", BATCH)
            broker.stop()
            source.send(f"meanwhile {number}" for number in range(BATCH))
            broker.start()
            source.flush()
            send(source, "after", BATCH)
            wait_for(sink, 4 * BATCH)
            assert query.isActive, query.exception()
            if not real_time:
                assert_mode(query, mode)
        finally:
            query.stop()
        account(source, sink, duplicates=BATCH)


def program(where, master, mode, kafka, topics, trigger="processingTime=0 seconds"):
    """A program whose stream runs until it is killed."""
    names = (*(topic.name for topic in topics), where / "checkpoint")
    stream = [sys.executable, PROGRAMS / "kafka_stream.py", master, mode, trigger, kafka.address]
    return killed_at_the_end([*stream, *names], where, where / "program.log")


def processes(sink):
    """Those in which the records at the sink were made."""
    return {int(record.value.partition("@")[2]) for record in sink.records()}


@pytest.mark.complete
@pytest.mark.parametrize("mode", [THREAD, PROCESS], ids=["thread", "process"])
def test_a_query_that_is_killed(kafka, topics, tmp_path, mode):
    source, sink = topics
    send(source, "before", 50 * BATCH)
    with program(tmp_path, "local[2]", mode[MODE], kafka, topics):
        wait_for(sink, BATCH + 1)
    assert sink.count() < 50 * BATCH
    send(source, "meanwhile", BATCH)
    with program(tmp_path, "local[2]", mode[MODE], kafka, topics):
        wait_for_all(sink, 51 * BATCH)
    account(source, sink, duplicates=BATCH)


@pytest.mark.complete
def test_an_executor_that_is_killed(kafka, topics, tmp_path, standalone):
    source, sink = topics
    send(source, "record", 50 * BATCH)
    with program(tmp_path, standalone, "thread", kafka, topics):
        wait_for(sink, BATCH)
        os.kill(min(processes(sink)), signal.SIGKILL)
        assert sink.count() < 50 * BATCH
        wait_for_all(sink, 50 * BATCH)
    assert "Lost executor" in (tmp_path / "program.log").read_text()
    account(source, sink, duplicates=BATCH)


def running_tasks(spark):
    executors = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
    return sum(each.numRunningTasks() for each in executors)


@pytest.mark.since_spark("4.2")
def test_records_in_real_time_do_not_wait_for_others(spark, kafka, topics, tmp_path):
    """Each is at the sink before the next one is sent; what a stopped batch had comes again."""
    source, sink = topics
    with settings(spark, THREAD):
        for count in (5, 6):
            frame = through(read(spark, kafka.address, source.name, real_time=True), upper)
            checkpoint = tmp_path / "checkpoint"
            query = started(frame, kafka.address, sink.name, checkpoint, realTime="10 minutes")
            try:
                while source.count() < count:
                    send(source, "record", 1)
                    wait_for_all(sink, source.count())
                assert query.lastProgress is None, "the batch has ended"
            finally:
                query.stop()
            # They end after it, and might write what comes next.
            wait_until(lambda: running_tasks(spark) == 0, "no task runs")
    account(source, sink, duplicates=5)


@pytest.mark.since_spark("4.2")
def test_from_micro_batches_in_process_mode_to_real_time(spark, kafka, topics, tmp_path):
    """With the same checkpoint: what is committed is not written again."""
    source, sink = topics
    checkpoint = tmp_path / "checkpoint"
    steps = ((PROCESS, BATCHES), (THREAD, REAL_TIME), (PROCESS, BATCHES))
    for number, (mode, trigger) in enumerate(steps, 1):
        send(source, f"step {number}", BATCH)
        with settings(spark, {**mode, **CHECKPOINT}):
            frame = read(spark, kafka.address, source.name, real_time=trigger is REAL_TIME)
            frame = through(frame, upper)
            query = started(frame, kafka.address, sink.name, checkpoint, **trigger)
            try:
                wait_until(
                    lambda n=number: committed_records(checkpoint) == n * BATCH,
                    "all records are in committed batches",
                )
            finally:
                query.stop()
            # A task may take records for a while after its query has been stopped.
            wait_until(lambda: running_tasks(spark) == 0, "no task runs")
    account(source, sink)


# In real-time mode a batch is what has come since the last commit.


@pytest.mark.complete
def test_a_poison_record_in_real_time(spark, kafka, topics, tmp_path):
    source, sink = topics
    checkpoint = tmp_path / "checkpoint"

    def strict(value):
        if value == "poison":
            raise ValueError(f"not {value}")
        return value.upper()

    def query_of(function):
        frame = through(read(spark, kafka.address, source.name, real_time=True), function)
        return started(frame, kafka.address, sink.name, checkpoint, **REAL_TIME)

    send(source, "committed", BATCH)
    with settings(spark, THREAD):
        query = query_of(strict)
        wait_until(lambda: committed_records(checkpoint) == BATCH, "a batch is committed")
        send(source, "before", BATCH)
        source.send(["poison"])
        with pytest.raises(StreamingQueryException, match="ValueError: not poison"):
            query.awaitTermination()
        send(source, "after", BATCH)
        query = query_of(upper)
        try:
            wait_for_all(sink, 3 * BATCH + 1)
        finally:
            query.stop()
    account(source, sink, duplicates=BATCH)


@pytest.mark.complete
@pytest.mark.since_spark("4.2")
def test_a_query_in_real_time_that_is_killed(kafka, topics, tmp_path):
    source, sink = topics
    real_time = "realTime=5 seconds"
    send(source, "committed", BATCH)
    with program(tmp_path, "local[2]", "thread", kafka, topics, real_time):
        wait_until(
            lambda: committed_records(tmp_path / "checkpoint") == BATCH, "a batch is committed"
        )
        send(source, "interrupted", BATCH)
        wait_for(sink, BATCH + 1)
    send(source, "meanwhile", BATCH)
    with program(tmp_path, "local[2]", "thread", kafka, topics, real_time):
        wait_for_all(sink, 3 * BATCH)
    account(source, sink, duplicates=BATCH)


@pytest.mark.complete
@pytest.mark.since_spark("4.2")
def test_an_executor_that_is_killed_in_real_time(kafka, topics, tmp_path, standalone):
    """The function is in quarantine then, for which there is no worker here. It is told so."""
    source, sink = topics
    real_time = "realTime=5 seconds"
    send(source, "committed", BATCH)
    with program(tmp_path, standalone, "thread", kafka, topics, real_time) as process:
        wait_until(
            lambda: committed_records(tmp_path / "checkpoint") == BATCH, "a batch is committed"
        )
        send(source, "interrupted", BATCH)
        wait_for(sink, BATCH + 1)
        os.kill(min(processes(sink)), signal.SIGKILL)
        send(source, "meanwhile", BATCH)
        process.wait(120)
    log = (tmp_path / "program.log").read_text()
    assert "PYFLOW_REAL_TIME_MODE_UNAVAILABLE" in log, log[-8000:]
    assert "quarantined to process mode" in log
    with program(tmp_path, standalone, "thread", kafka, topics, real_time):
        wait_for_all(sink, 3 * BATCH)
    account(source, sink, duplicates=2 * BATCH)
