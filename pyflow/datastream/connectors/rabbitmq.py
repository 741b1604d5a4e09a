"""Queues of RabbitMQ as sources and sinks, through the client pika."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyflow.common.serialization import DeserializationSchema, SerializationSchema
from pyflow.datastream.connectors.base import Boundedness, Sink, Source, SourceRows
from pyflow.datastream.connectors.rabbitmq_connection import (
    BODY_SCHEMA,
    Address,
    pika,
    prepare_queue,
)
from pyflow.datastream.connectors.rabbitmq_consumer import Recovery, Subscription
from pyflow.datastream.runtime.errors import OperatorError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.datasource import DataSource
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from pyflow.common.typeinfo import TypeInformation
    from pyflow.session.context import Context

__all__ = ["RMQConnectionConfig", "RMQSink", "RMQSource"]

# How many messages a batch has at most, where the program does not say it.
_PREFETCH = 10_000
_LARGEST_PREFETCH = 65535
_RECOVERY_MILLISECONDS = 5000
_SHOWN_BYTES = 40


@dataclass(frozen=True)
class _Settings:
    """What a builder has been given; None for what it has not."""

    uri: str | None = None
    host: str | None = None
    port: int | None = None
    virtual_host: str | None = None
    user_name: str | None = None
    password: str | None = None
    network_recovery_interval: int | None = None
    automatic_recovery: bool | None = None
    topology_recovery: bool | None = None
    connection_timeout: int | None = None
    requested_channel_max: int | None = None
    requested_frame_max: int | None = None
    requested_heartbeat: int | None = None
    prefetch_count: int | None = None


class RMQConnectionConfig:
    """How a broker is reached; made by `RMQConnectionConfig.Builder`."""

    def __init__(self, settings: Any) -> None:
        self._settings: _Settings = settings

    def get_host(self) -> str | None:
        """Return the host; None where there is a URI."""
        return self._settings.host

    def get_port(self) -> int | None:
        """Return the port; None where there is a URI."""
        return self._settings.port

    def get_virtual_host(self) -> str | None:
        """Return the virtual host; None where there is a URI."""
        return self._settings.virtual_host

    def get_user_name(self) -> str | None:
        """Return the name of the user; None where there is a URI."""
        return self._settings.user_name

    def get_password(self) -> str | None:
        """Return the password; None where there is a URI."""
        return self._settings.password

    def get_uri(self) -> str | None:
        """Return the URI; None where there are a host and the like."""
        return self._settings.uri

    def get_network_recovery_interval(self) -> int | None:
        """Return how many milliseconds are between attempts to connect again; None for 5000."""
        return self._settings.network_recovery_interval

    def is_automatic_recovery(self) -> bool | None:
        """Return whether a source connects again; None for the default, which is to do so."""
        return self._settings.automatic_recovery

    def is_topology_recovery(self) -> bool | None:
        """Return whether a source makes its queue again; None for the default, to do so."""
        return self._settings.topology_recovery

    def get_connection_timeout(self) -> int | None:
        """Return how many milliseconds a connection may take; None for the client's own number."""
        return self._settings.connection_timeout

    def get_requested_channel_max(self) -> int | None:
        """Return how many channels a connection may have; None for the client's own number."""
        return self._settings.requested_channel_max

    def get_requested_frame_max(self) -> int | None:
        """Return how many bytes a frame may have; None for the client's own number."""
        return self._settings.requested_frame_max

    def get_requested_heartbeat(self) -> int | None:
        """Return the time-out of heartbeats in seconds; None for the broker's."""
        return self._settings.requested_heartbeat

    def address(self) -> Address:
        """Return the broker. PyFlow's own."""
        given = self._settings
        if given.uri is not None:
            address = Address.of_uri(given.uri)
        else:
            address = Address(
                str(given.host),
                int(given.port or 0),
                str(given.virtual_host),
                str(given.user_name),
                str(given.password),
            )
        return replace(
            address,
            connection_timeout=given.connection_timeout,
            channel_max=given.requested_channel_max,
            frame_max=given.requested_frame_max,
            heartbeat=given.requested_heartbeat,
        )

    def subscription(self, queue: str, is_exclusive: bool) -> Subscription:
        """Return how a queue is read. PyFlow's own."""
        given = self._settings
        interval = given.network_recovery_interval
        recovery = Recovery(
            given.automatic_recovery is not False,
            (_RECOVERY_MILLISECONDS if interval is None else interval) / 1000,
            given.topology_recovery is not False,
        )
        prefetch = given.prefetch_count or _PREFETCH
        return Subscription(self.address(), queue, prefetch, is_exclusive, recovery)

    class Builder:
        """Makes an `RMQConnectionConfig`.

        It needs a URI, or host, port, virtual host, user and password.
        """

        def __init__(self) -> None:
            self._settings = _Settings()

        def _set(self, **given: Any) -> RMQConnectionConfig.Builder:
            self._settings = replace(self._settings, **given)
            return self

        def set_port(self, port: int) -> RMQConnectionConfig.Builder:
            """Set the port."""
            return self._set(port=port)

        def set_host(self, host: str) -> RMQConnectionConfig.Builder:
            """Set the host."""
            return self._set(host=host)

        def set_virtual_host(self, vhost: str) -> RMQConnectionConfig.Builder:
            """Set the virtual host, which is ``/`` where a broker has one alone."""
            return self._set(virtual_host=vhost)

        def set_user_name(self, user_name: str) -> RMQConnectionConfig.Builder:
            """Set the name of the user."""
            return self._set(user_name=user_name)

        def set_password(self, password: str) -> RMQConnectionConfig.Builder:
            """Set the password."""
            return self._set(password=password)

        def set_uri(self, uri: str) -> RMQConnectionConfig.Builder:
            """Set the URI, such as ``amqp://user:password@host:5672/virtual-host``.

            It goes before host, port, virtual host, user and password. With ``amqps`` connections
            use TLS, and the broker's certificate is checked against those that the machine trusts.
            """
            return self._set(uri=uri)

        def set_topology_recovery_enabled(
            self, topology_recovery_enabled: bool
        ) -> RMQConnectionConfig.Builder:
            """Set whether a source that connects again makes its queue where it is gone."""
            return self._set(topology_recovery=topology_recovery_enabled)

        def set_requested_heartbeat(self, requested_heartbeat: int) -> RMQConnectionConfig.Builder:
            """Set the time-out of a source's heartbeats in seconds; 0 for none."""
            return self._set(requested_heartbeat=requested_heartbeat)

        def set_requested_frame_max(self, requested_frame_max: int) -> RMQConnectionConfig.Builder:
            """Set how many bytes a frame may have; 0, as more than 131072, for 131072."""
            return self._set(requested_frame_max=requested_frame_max)

        def set_requested_channel_max(
            self, requested_channel_max: int
        ) -> RMQConnectionConfig.Builder:
            """Set how many channels a connection may have; 0 for as many as it can."""
            return self._set(requested_channel_max=requested_channel_max)

        def set_network_recovery_interval(
            self, network_recovery_interval: int
        ) -> RMQConnectionConfig.Builder:
            """Set after how many milliseconds a source connects again; 5000 without it."""
            return self._set(network_recovery_interval=network_recovery_interval)

        def set_connection_timeout(self, connection_timeout: int) -> RMQConnectionConfig.Builder:
            """Set how many milliseconds a connection may take."""
            return self._set(connection_timeout=connection_timeout)

        def set_automatic_recovery(self, automatic_recovery: bool) -> RMQConnectionConfig.Builder:
            """Set whether a source that loses its connection connects again, or fails."""
            return self._set(automatic_recovery=automatic_recovery)

        def set_prefetch_count(self, prefetch_count: int) -> RMQConnectionConfig.Builder:
            """Set how many messages a batch of a source has at most.

            The broker delivers no more until they are acknowledged. 0, as nothing, is for 10000.

            Raises
            ------
            ValueError
                If the number is negative or greater than 65535.
            """
            if not 0 <= prefetch_count <= _LARGEST_PREFETCH:
                raise ValueError(
                    f"prefetch_count is between 0 and {_LARGEST_PREFETCH}, not {prefetch_count}"
                )
            return self._set(prefetch_count=prefetch_count)

        def build(self) -> RMQConnectionConfig:
            """Return the configuration.

            Raises
            ------
            ValueError
                If something is missing, or the URI is none of a broker.
            """
            given = self._settings
            if given.uri is not None:
                Address.of_uri(given.uri)
                return RMQConnectionConfig(given)
            for name in ("host", "port", "virtual_host", "user_name", "password"):
                if getattr(given, name) is None:
                    raise ValueError(f"{name} is required: call set_{name}(), or set_uri()")
            return RMQConnectionConfig(given)


class RMQSource(Source):
    """Reads the messages of a queue, for `StreamExecutionEnvironment.add_source`.

    A message is acknowledged when the batch that has it is committed, whether checkpoints are
    enabled or not. What was not acknowledged when a job ends is delivered again to the next one, so
    that elements come at least once.

    With correlation ids the state of a job with ``execution.checkpointing.dir`` has each message
    once. Messages that the broker delivers again are known by their ids and left out, by the job
    that goes on from the checkpoint, too, and a batch that was interrupted has the same messages
    when it runs again. The source must be the only consumer of the queue then; the broker refuses
    others. Ids of acknowledged messages are forgotten: what is sent twice with one id comes twice,
    unless both are in one batch.

    One consumer, beside the driver, takes the messages of a batch, and the tasks of the job's
    parallelism share them. With a parallelism of 1 they keep the order of the queue. The batch is
    in memory; `RMQConnectionConfig.Builder.set_prefetch_count` says how many messages it has at
    most. A batch must not take longer than the broker's ``consumer_timeout``, 30 minutes by
    default. A message that the schema fails at fails the job, and goes back into the queue.

    Parameters
    ----------
    connection_config : RMQConnectionConfig
    queue_name : str
        A durable queue of this name is made where there is none.
    use_correlation_id : bool
        Whether messages are known by their correlation ids, which all of them must have.
    deserialization_schema : DeserializationSchema
        Makes elements of the bodies of messages; None is left out.

    Raises
    ------
    TableException
        If the package pika is not installed.
    """

    def __init__(
        self,
        connection_config: RMQConnectionConfig,
        queue_name: str,
        use_correlation_id: bool,
        deserialization_schema: DeserializationSchema,
    ) -> None:
        if not isinstance(deserialization_schema, DeserializationSchema):
            raise TypeError(f"expected a DeserializationSchema, got {deserialization_schema!r}")
        pika()
        self._subscription = connection_config.subscription(queue_name, use_correlation_id)
        self.reads = queue_name
        self._uses_ids = use_correlation_id
        self._schema = deserialization_schema

    def boundedness(self) -> Boundedness:
        """Return that a queue has no end."""
        return Boundedness.CONTINUOUS_UNBOUNDED

    def produced_type(self) -> TypeInformation | None:
        """Return the type of the elements; None for any objects."""
        return self._schema.get_produced_type()

    def read(self, context: Context, is_streaming: bool) -> SourceRows:
        """Return the messages.

        Raises
        ------
        TableException
            If the broker cannot be reached, or refuses user or queue.
        """
        from pyflow.datastream.connectors.rabbitmq_reader import Reading

        at = self._subscription
        prepare_queue(at.address, at.queue, "RMQSource")
        reading = Reading(at, self._uses_ids, max(context.parallelism(), 1))
        session = _registered(context.session)
        reader = session.readStream.format(_data_source().name())
        frame = reader.options(**reading.options()).load()
        return SourceRows(frame, BodyDecoder(self._schema, at.queue), self.produced_type())


@dataclass(frozen=True)
class BodyDecoder:
    """Makes the element of a message.

    Parameters
    ----------
    schema : DeserializationSchema
    queue : str
        For errors.
    """

    schema: DeserializationSchema
    queue: str

    def __call__(self, body: bytes) -> Iterable[tuple[Any, None]]:
        """Return the element of a body; none where there is None."""
        try:
            element = self.schema.deserialize(bytes(body))
        except Exception as error:
            raise OperatorError(
                f"{type(self.schema).__name__} failed at a message of the queue {self.queue!r}: "
                f"{type(error).__name__}: {error} (its {len(body)} bytes begin with "
                f"{bytes(body[:_SHOWN_BYTES])!r})"
            ) from error
        return () if element is None else ((element, None),)


class RMQSink(Sink):
    """Publishes elements into a queue, for `DataStream.add_sink`.

    They go through the default exchange, as persistent messages, and a task ends when the broker
    has confirmed them. Elements are written at least once: a task or a batch that is repeated after
    a failure publishes its elements again.

    Parameters
    ----------
    connection_config : RMQConnectionConfig
    queue_name : str
        A durable queue of this name is made where there is none.
    serialization_schema : SerializationSchema
        Makes the bodies of messages.

    Raises
    ------
    TableException
        If the package pika is not installed.
    """

    def __init__(
        self,
        connection_config: RMQConnectionConfig,
        queue_name: str,
        serialization_schema: SerializationSchema,
    ) -> None:
        if not isinstance(serialization_schema, SerializationSchema):
            raise TypeError(f"expected a SerializationSchema, got {serialization_schema!r}")
        pika()
        self._address = connection_config.address()
        self._queue = self.writes = queue_name
        self._schema = serialization_schema

    def encoder(self, type_info: TypeInformation | None) -> Callable[[Any, int | None], tuple[Any]]:
        """Return what makes the body of an element."""
        return BodyEncoder(self._schema)

    def schema(self, type_info: TypeInformation | None) -> str:
        """Return the column of bodies."""
        return BODY_SCHEMA

    def write(self, frame: DataFrame, context: Context, batch_id: int | None) -> None:
        """Publish the rows, at least once.

        Raises
        ------
        TableException
            If the broker cannot be reached, or refuses user or queue.
        """
        if batch_id is None:
            self._check()
            _registered(context.session)
        else:
            # Of the query, whose thread this is.
            frame.sparkSession.dataSource.register(_data_source())
        frame.write.format(_data_source().name()).options(**self._options()).mode("append").save()

    def writer(self, frame: DataFrame, context: Context) -> DataStreamWriter:
        """Return what publishes the rows of a stream, at least once.

        Raises
        ------
        TableException
            If the broker cannot be reached, or refuses user or queue.
        """
        self._check()
        _registered(context.session)
        return frame.writeStream.format(_data_source().name()).options(**self._options())

    def _check(self) -> None:
        prepare_queue(self._address, self._queue, "RMQSink")

    def _options(self) -> dict[str, str]:
        return {**self._address.options(), "queue": self._queue}


@dataclass(frozen=True)
class BodyEncoder:
    """Makes the body of an element's message.

    Parameters
    ----------
    schema : SerializationSchema
    """

    schema: SerializationSchema

    def __call__(self, element: Any, timestamp: int | None) -> tuple[bytes]:
        """Return the body.

        Raises
        ------
        ValueError
            If there is none.
        """
        body = self.schema.serialize(element)
        if body is None:
            raise ValueError(
                f"{type(self.schema).__name__} returned None for {element!r}; a message of "
                "RabbitMQ has bytes"
            )
        return (body,)


def _data_source() -> type[DataSource]:
    from pyflow.datastream.connectors.rabbitmq_reader import QueueSource

    return QueueSource


def _registered(session: SparkSession) -> SparkSession:
    """Return the session, in which Spark finds the data source."""
    session.dataSource.register(_data_source())
    # Spark looks in the active session of its thread, which this makes of the session.
    session.createDataFrame([], "nothing int")
    return session
