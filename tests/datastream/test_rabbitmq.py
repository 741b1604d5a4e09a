"""Queues of RabbitMQ: what is read from them and acknowledged, and what is published."""

from __future__ import annotations

import sys

import pika
import pytest
from pyspark.sql import SparkSession

from pyflow.common import JobStatus, SimpleStringSchema, Types, WatermarkStrategy
from pyflow.common.serialization import ByteArraySchema, DeserializationSchema
from pyflow.datastream import KeyedProcessFunction
from pyflow.datastream.connectors.rabbitmq import RMQConnectionConfig, RMQSink, RMQSource
from pyflow.datastream.connectors.rabbitmq_reader import QueueReader, Reading
from pyflow.datastream.state import ValueStateDescriptor
from pyflow.datastream.testing import TestStream
from pyflow.util.exceptions import TableException
from scripts import rabbitmq_server
from sessions import wait_until
from tcp_proxy import TcpProxy

TEXT = SimpleStringSchema()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with rabbitmq_server.RabbitMq(tmp_path_factory.mktemp("rabbitmq")) as server:
        yield server


@pytest.fixture
def config(server):
    """Makes configurations, some with settings of their own."""

    def make(url=server.url, **given):
        builder = RMQConnectionConfig.Builder().set_uri(url)
        for name, value in given.items():
            getattr(builder, f"set_{name}")(value)
        return builder.build()

    return make


class Queue:
    """A queue as other clients see it."""

    def __init__(self, channel, name):
        self.channel, self.name = channel, name
        channel.queue_declare(name, durable=True)

    def publish(self, *bodies):
        for body in bodies:
            self.channel.basic_publish("", self.name, body)

    def publish_with_ids(self, *bodies):
        for body in bodies:
            properties = pika.BasicProperties(correlation_id=f"id-{body}")
            self.channel.basic_publish("", self.name, body, properties)

    def count(self):
        """How many messages wait for a consumer."""
        return self.channel.queue_declare(self.name, passive=True).method.message_count

    def take(self, count):
        """Return so many messages when they have come, and acknowledge them."""
        found = []

        def take():
            while len(found) < count:
                method, _, body = self.channel.basic_get(self.name, auto_ack=True)
                if method is None:
                    return False
                found.append(body.decode())
            return True

        wait_until(take, f"{count} messages in {self.name}")
        return found

    def wait_for(self, count):
        """Wait until so many messages wait for a consumer."""
        wait_until(lambda: self.count() == count, f"{count} messages in {self.name}")

    def wait_for_consumers(self, count=1):
        """Wait until it has so many consumers."""

        def is_consumed():
            answer = self.channel.queue_declare(self.name, passive=True)
            return answer.method.consumer_count == count

        wait_until(is_consumed, f"{count} consumers of {self.name}")


@pytest.fixture
def channel(server):
    with pika.BlockingConnection(pika.URLParameters(server.url)) as connection:
        channel = connection.channel()
        channel.confirm_delivery()
        yield channel


@pytest.fixture
def queue(channel, request):
    """Makes queues of a test."""
    return lambda name="in": Queue(channel, f"{request.node.name}-{name}")


@pytest.fixture
def started():
    """Starts jobs, which end with the test."""
    clients = []

    def start(env):
        clients.append(env.execute_async("job"))
        return clients[-1]

    yield start
    for client in clients:
        if client.get_job_status().result() == JobStatus.RUNNING:
            client.cancel().result()


@pytest.fixture
def end(spark):
    """Ends a job when it has acknowledged so many messages."""

    def end(client, count):
        assert client.get_job_status().result() == JobStatus.RUNNING, failure_of(client)
        (query,) = spark.streams.active

        def is_done():
            return sum(batch.numInputRows for batch in query.recentProgress) >= count

        wait_until(is_done, f"{count} messages are processed")
        # Spark has asked for the next batch, and there is none.
        message = "Waiting for data to arrive"
        wait_until(lambda: query.status["message"] == message, "the query rests", every=0.01)
        client.cancel().result()

    return end


def failure_of(client):
    with pytest.raises(Exception) as failure:  # noqa: PT011
        client.get_job_execution_result().result()
    return str(failure.value)


# Jobs


@pytest.mark.complete("process")
def test_messages_go_from_queue_to_queue(env, config, queue, started, end):
    source, target = queue("in"), queue("out")
    source.publish("one", "two", "drei ä")
    stream = env.add_source(RMQSource(config(), source.name, False, TEXT))
    stream.map(str.upper, Types.STRING()).add_sink(RMQSink(config(), target.name, TEXT))
    client = started(env)
    assert sorted(target.take(3)) == ["DREI Ä", "ONE", "TWO"]
    source.publish("four")
    assert target.take(1) == ["FOUR"]
    end(client, 4)
    assert source.count() == 0


@pytest.mark.complete
def test_one_subtask_keeps_the_order_of_the_queue(make_env, config, queue, started):
    source, target = queue("in"), queue("out")
    numbers = [str(number) for number in range(3000)]
    source.publish(*numbers)
    env = make_env(parallelism=1)
    stream = env.add_source(RMQSource(config(prefetch_count=500), source.name, False, TEXT))
    stream.add_sink(RMQSink(config(), target.name, TEXT))
    started(env)
    assert target.take(3000) == numbers


def test_bounded_elements_are_published_as_persistent_messages(env, config, queue):
    target = queue("out")
    bodies = [b"one", b"", b"\x00\xff" * 100_000]
    env.from_collection(bodies).add_sink(RMQSink(config(), target.name, ByteArraySchema()))
    env.execute()
    messages = [target.channel.basic_get(target.name, auto_ack=True) for _ in range(3)]
    assert sorted(body for _, _, body in messages) == sorted(bodies)
    assert {properties.delivery_mode for _, properties, _ in messages} == {2}
    assert target.count() == 0


def test_a_program_with_two_sinks_publishes_to_both(make_env, config, queue, spark):
    targets = queue("some"), queue("others")
    env = make_env()
    elements = TestStream().add_elements(["a"]).add_elements(["b"])
    stream = env.from_source(elements, WatermarkStrategy.no_watermarks(), "test")
    for target in targets:
        stream.add_sink(RMQSink(config(), target.name, TEXT))
    env.execute()
    assert [target.take(2) for target in targets] == [["a", "b"], ["a", "b"]]
    assert SparkSession.getActiveSession() is spark


class Refusing(DeserializationSchema):
    """Leaves out what is empty, and fails at a body."""

    def deserialize(self, message):
        if message == b"bad":
            raise ValueError("not that one")
        return message.decode() or None


def test_a_message_that_cannot_be_read_fails_the_job_and_stays_in_the_queue(
    make_env, config, queue, started
):
    source, target = queue("in"), queue("out")
    source.publish("good", "")
    env = make_env()
    stream = env.add_source(RMQSource(config(), source.name, False, Refusing()))
    stream.map(str, Types.STRING()).add_sink(RMQSink(config(), target.name, TEXT))
    client = started(env)
    assert target.take(1) == ["good"]
    source.publish("bad")
    assert "Refusing failed at a message of the queue" in failure_of(client)
    source.wait_for(1)


class Counting(KeyedProcessFunction):
    """How often each element has come; it fails at one, if there is one to fail at."""

    def __init__(self, fails_at=None):
        self.fails_at = fails_at

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        if value == self.fails_at:
            raise ValueError("not that one")
        self.count.update((self.count.value() or 0) + 1)
        yield f"{value} {self.count.value()}"


@pytest.mark.parametrize("uses_ids", [pytest.param(False, marks=pytest.mark.complete), True])
def test_a_job_goes_on_with_what_was_not_processed(
    make_env, config, queue, started, end, tmp_path, uses_ids
):
    source, target = queue("in"), queue("out")

    def run(fails_at=None):
        env = make_env(execution_checkpointing_dir=tmp_path.as_uri())
        stream = env.add_source(RMQSource(config(), source.name, uses_ids, TEXT))
        counted = stream.key_by(lambda value: value).process(Counting(fails_at), Types.STRING())
        counted.add_sink(RMQSink(config(), target.name, TEXT))
        return started(env)

    source.publish_with_ids("a", "b")
    client = run(fails_at="bad")
    assert sorted(target.take(2)) == ["a 1", "b 1"]
    source.publish_with_ids("bad", "c", "d")
    assert "not that one" in failure_of(client)

    client = run()
    source.publish_with_ids("e")
    expected = {"bad 1", "c 1", "d 1", "e 1"}
    # Tasks of the batch that has failed may have written theirs.
    results = set()
    while not results >= expected:
        results.update(target.take(1))
    end(client, 4)
    assert results == expected
    assert source.count() == target.count() == 0


@pytest.mark.complete
def test_a_source_without_correlation_ids_shares_its_queue(make_env, config, queue, started):
    source, target = queue("in"), queue("out")
    for _ in range(2):
        env = make_env()
        stream = env.add_source(RMQSource(config(prefetch_count=5), source.name, False, TEXT))
        stream.add_sink(RMQSink(config(), target.name, TEXT))
        started(env)
    source.wait_for_consumers(2)
    numbers = [str(number) for number in range(50)]
    source.publish(*numbers)
    assert sorted(target.take(50), key=int) == numbers


def test_a_message_without_a_correlation_id_is_refused(make_env, config, queue, started):
    source = queue()
    source.publish("no id")
    env = make_env()
    env.add_source(RMQSource(config(), source.name, True, TEXT)).print()
    assert "has no correlation id" in failure_of(started(env))
    source.wait_for(1)


# Connections


@pytest.fixture
def proxy(server):
    with TcpProxy(server.port) as proxy:
        yield proxy


def proxied(server, proxy):
    return server.url.replace(f":{server.port}/", f":{proxy.port}/")


def test_a_source_that_loses_its_connection_goes_on(
    make_env, config, queue, started, end, server, proxy
):
    source, target = queue("in"), queue("out")
    lossy = config(proxied(server, proxy), network_recovery_interval=100)
    env = make_env()
    stream = env.add_source(RMQSource(lossy, source.name, True, TEXT))
    stream.add_sink(RMQSink(config(), target.name, TEXT))
    client = started(env)
    source.publish_with_ids("a")
    assert target.take(1) == ["a"]
    proxy.cut()
    source.publish_with_ids("b", "c")
    assert sorted(target.take(2)) == ["b", "c"]
    end(client, 3)
    assert source.count() == target.count() == 0


def test_a_source_without_recovery_fails_with_its_connection(
    make_env, config, queue, started, server, proxy
):
    source = queue()
    lossy = config(proxied(server, proxy), automatic_recovery=False)
    env = make_env()
    env.add_source(RMQSource(lossy, source.name, False, TEXT)).print()
    client = started(env)
    source.wait_for_consumers()
    proxy.cut()
    assert f"the queue '{source.name}' of the broker" in failure_of(client)


def test_a_queue_that_is_deleted_fails_the_job(make_env, config, queue, started):
    source = queue()
    env = make_env()
    env.add_source(RMQSource(config(), source.name, False, TEXT)).print()
    client = started(env)
    source.wait_for_consumers()
    source.channel.queue_delete(source.name)
    assert "has been deleted while it was read" in failure_of(client)


@pytest.mark.complete
def test_a_sink_whose_queue_is_gone_fails_the_job(make_env, config, queue, started):
    source, target = queue("in"), queue("out")
    env = make_env()
    stream = env.add_source(RMQSource(config(), source.name, False, TEXT))
    stream.add_sink(RMQSink(config(), target.name, TEXT))
    client = started(env)
    source.publish("a")
    assert target.take(1) == ["a"]
    target.channel.queue_delete(target.name)
    source.publish("b")
    assert "there is no such queue" in failure_of(client)
    source.wait_for(1)


def test_a_broker_that_cannot_be_reached_is_named_without_the_password(make_env, config):
    url = "amqp://user:secret@127.0.0.1:1/some"
    env = make_env()
    env.from_collection(["a"]).add_sink(RMQSink(config(url), "q", TEXT))
    with pytest.raises(TableException, match=r"RMQSink: the broker at 127.0.0.1:1, .*'q'") as error:
        env.execute()
    assert "secret" not in str(error.value)


def test_a_password_that_is_wrong_is_refused(make_env, config, server):
    env = make_env()
    source = RMQSource(config(server.url.replace(":guest@", ":wrong@")), "q", False, TEXT)
    env.add_source(source).print()
    with pytest.raises(TableException, match=r"RMQSource: the broker .*ACCESS_REFUSED"):
        env.execute()


# Batches, as Spark asks for them


@pytest.fixture
def reader(config, queue):
    """Makes readers of the test's queue, as each start of a query has one."""
    name = queue().name
    made = []

    def make(uses_ids=True, **given):
        made.append(QueueReader(Reading(config(**given).subscription(name, uses_ids), uses_ids, 1)))
        return made[-1]

    yield make
    for each in made:
        each.stop()


def batch_of(reader, start, end):
    return [row[0] for part in reader.partitions(start, end) for row in reader.read(part)]


def next_batch(reader, start):
    """Return the next batch that has messages, and its end."""
    end = start
    while end == start:
        end = reader.latestOffset(start)
    return batch_of(reader, start, end), end


@pytest.mark.parametrize("uses_ids", [False, True])
def test_a_batch_is_acknowledged_when_the_next_one_is_asked_for(queue, reader, uses_ids):
    queue().publish_with_ids("a", "b")
    first = reader(uses_ids)
    batch, end = next_batch(first, first.initialOffset())
    assert batch == batch_of(first, first.initialOffset(), end) == [b"a", b"b"]
    assert first.latestOffset(end) == end
    first.stop()
    assert queue().count() == 0


def test_messages_of_a_committed_batch_are_left_out_when_they_come_again(queue, reader):
    queue().publish_with_ids("a", "b")
    first = reader()
    _, end = next_batch(first, first.initialOffset())
    first.stop()
    assert queue().count() == 2

    queue().publish_with_ids("c")
    second = reader()
    batch, end = next_batch(second, end)
    assert batch == [b"c"]
    assert second.latestOffset(end) == end
    second.stop()
    assert queue().count() == 0


def test_ids_are_kept_until_their_messages_have_come_again(queue, reader):
    """A restart after the other, while the broker has not delivered them."""
    queue().publish_with_ids("a", "b", "c")
    first = reader()
    _, end = next_batch(first, first.initialOffset())
    first.stop()
    second = reader(prefetch_count=2)
    end = second.latestOffset(end)
    second.stop()
    third = reader()
    queue().publish_with_ids("d")
    batch, _ = next_batch(third, end)
    assert batch == [b"d"]


def test_ids_are_forgotten_when_the_queue_is_empty(queue, reader):
    queue().publish_with_ids("a")
    first = reader()
    _, end = next_batch(first, first.initialOffset())
    assert first.latestOffset(end) == end
    first.stop()
    second = reader()
    assert second.latestOffset(end) == end
    queue().publish_with_ids("a")
    batch, end = next_batch(second, end)
    assert (batch, end["processed"]) == ([b"a"], [])


@pytest.mark.parametrize(("uses_ids", "again"), [(False, []), (True, [b"a", b"b"])])
def test_a_batch_that_was_not_committed_runs_again(queue, reader, uses_ids, again):
    queue().publish_with_ids("a", "b")
    first = reader(uses_ids)
    start = first.initialOffset()
    _, end = next_batch(first, start)
    first.stop()

    queue().publish_with_ids("c")
    second = reader(uses_ids)
    batch = batch_of(second, start, end)
    assert batch == again
    behind, end = next_batch(second, end)
    assert batch + behind == [b"a", b"b", b"c"]
    assert second.latestOffset(end) == end
    second.stop()
    assert queue().count() == 0


def test_a_batch_runs_again_without_what_is_gone_from_the_queue(queue, reader):
    queue().publish_with_ids("a", "b")
    first = reader()
    start = first.initialOffset()
    _, end = next_batch(first, start)
    first.stop()
    assert queue().take(1) == ["a"]
    assert batch_of(reader(), start, end) == [b"b"]


def test_spark_4_1_does_not_say_where_a_query_goes_on(queue, reader):
    """It says it when the first batch begins, which is empty then."""
    queue().publish_with_ids("a")
    first = reader()
    start = first.latestOffset()
    assert batch_of(first, first.initialOffset(), start) == []
    batch, end = next_batch(first, start)
    assert batch == [b"a"]
    first.stop()

    queue().publish_with_ids("b")
    second = reader()
    start = second.latestOffset()
    second.commit(end)
    assert batch_of(second, end, start) == []
    batch, _ = next_batch(second, start)
    assert batch == [b"b"]


def test_a_message_that_comes_twice_in_a_batch_is_one(queue, reader):
    queue().publish_with_ids("a", "a", "b")
    only = reader()
    batch, end = next_batch(only, only.initialOffset())
    assert batch == [b"a", b"b"]
    only.latestOffset(end)
    only.stop()
    assert queue().count() == 0


def test_a_source_with_correlation_ids_is_the_only_consumer(queue, reader, monkeypatch):
    monkeypatch.setattr("pyflow.datastream.connectors.rabbitmq_consumer._PATIENCE_SECONDS", 0.5)
    first, second = reader(), reader()
    first.latestOffset(first.initialOffset())
    with pytest.raises(TableException, match="exclusive"):
        second.latestOffset(second.initialOffset())


def test_a_connection_lost_in_a_batch_loses_nothing(queue, config, server, proxy):
    queue().publish_with_ids("a", "b")
    lossy = config(proxied(server, proxy), network_recovery_interval=100)
    reading = Reading(lossy.subscription(queue().name, True), True, 1)
    only = QueueReader(reading)
    batch, end = next_batch(only, only.initialOffset())
    assert batch == [b"a", b"b"]
    proxy.cut()
    queue().publish_with_ids("c")
    batch, end = next_batch(only, end)
    assert batch == [b"c"]
    only.latestOffset(end)
    only.stop()
    assert queue().count() == 0


# Configurations


def builder():
    return RMQConnectionConfig.Builder()


def test_a_configuration_has_what_it_was_given():
    config = (
        builder()
        .set_host("host")
        .set_port(5673)
        .set_virtual_host("/")
        .set_user_name("user")
        .set_password("secret")
        .set_network_recovery_interval(1)
        .set_automatic_recovery(False)
        .set_topology_recovery_enabled(True)
        .set_connection_timeout(2)
        .set_requested_channel_max(3)
        .set_requested_frame_max(4)
        .set_requested_heartbeat(5)
        .set_prefetch_count(6)
        .build()
    )
    assert config.get_host() == "host"
    assert config.get_port() == 5673
    assert config.get_virtual_host() == "/"
    assert config.get_user_name() == "user"
    assert config.get_password() == "secret"
    assert config.get_uri() is None
    assert config.get_network_recovery_interval() == 1
    assert config.is_automatic_recovery() is False
    assert config.is_topology_recovery() is True
    assert config.get_connection_timeout() == 2
    assert config.get_requested_channel_max() == 3
    assert config.get_requested_frame_max() == 4
    assert config.get_requested_heartbeat() == 5


def test_a_uri_says_all_of_an_address():
    address = builder().set_uri("amqps://me:p%40ss@host/some%2Fwhere").build().address()
    assert (address.host, address.port, address.is_encrypted) == ("host", 5671, True)
    assert (address.user, address.password, address.virtual_host) == ("me", "p@ss", "some/where")


@pytest.mark.parametrize("missing", ["host", "port", "virtual_host", "user_name", "password"])
def test_a_configuration_without_a_uri_needs_all_of_an_address(missing):
    given = {
        "host": "host",
        "port": 5672,
        "virtual_host": "/",
        "user_name": "user",
        "password": "secret",
    }
    made = builder()
    for name in given.keys() - {missing}:
        getattr(made, f"set_{name}")(given[name])
    with pytest.raises(ValueError, match=f"{missing} is required"):
        made.build()


def test_what_is_no_uri_of_a_broker_is_refused():
    with pytest.raises(ValueError, match="amqp://"):
        builder().set_uri("http://host").build()


@pytest.mark.parametrize("count", [-1, 65536])
def test_the_broker_knows_few_prefetch_counts(count):
    with pytest.raises(ValueError, match="between 0 and 65535"):
        builder().set_prefetch_count(count)


@pytest.mark.parametrize(
    "made",
    [
        lambda config: RMQSource(config, "q", False, TEXT),
        lambda config: RMQSink(config, "q", TEXT),
    ],
)
def test_a_missing_client_names_the_extra(made, monkeypatch):
    monkeypatch.setitem(sys.modules, "pika", None)
    with pytest.raises(TableException, match=r"pip install 'pyflow\[rabbitmq\]'"):
        made(builder().set_uri("amqp://host").build())
