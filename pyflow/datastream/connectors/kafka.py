"""Topics of Kafka as sources and sinks, by Spark's connector.

Spark's module ``org.apache.spark:spark-sql-kafka-0-10_2.13`` has to be among the session's jars, as
for tables of topics. A streaming query keeps its offsets in its checkpoint, and no offsets are
committed for its group.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from pyflow.common.serialization import DeserializationSchema, SerializationSchema
from pyflow.connectors.kafka_client import (
    Brokers,
    Partition,
    check_brokers,
    client_options,
    load_records,
)
from pyflow.datastream.connectors.base import (
    Boundedness,
    DeliveryGuarantee,
    Sink,
    Source,
    SourceRows,
)
from pyflow.datastream.connectors.kafka_records import (
    ConsumerRecord,
    Header,
    KafkaTopicSelector,
    RecordDecoder,
    RecordEncoder,
    ValueDecoder,
)
from pyflow.session.streams import as_stream
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from pyflow.common.typeinfo import TypeInformation
    from pyflow.session.context import Context

__all__ = [
    "ConsumerRecord",
    "FlinkKafkaConsumer",
    "FlinkKafkaProducer",
    "KafkaOffsetResetStrategy",
    "KafkaOffsetsInitializer",
    "KafkaRecordSerializationSchema",
    "KafkaRecordSerializationSchemaBuilder",
    "KafkaSink",
    "KafkaSinkBuilder",
    "KafkaSource",
    "KafkaSourceBuilder",
    "KafkaTopicPartition",
    "KafkaTopicSelector",
    "Semantic",
]

_logger = logging.getLogger(__name__)

_SERVERS = "bootstrap.servers"
_GROUP = "group.id"
_HEADERS = "ARRAY<STRUCT<key: STRING, value: BINARY>>"

Consumer = TypeVar("Consumer", bound="FlinkKafkaConsumerBase")
Producer = TypeVar("Producer", bound="FlinkKafkaProducerBase")


class KafkaTopicPartition:
    """A partition of a topic.

    Parameters
    ----------
    topic : str
    partition : int
        Its number, from 0 on.
    """

    def __init__(self, topic: str, partition: int) -> None:
        self._topic = topic
        self._partition = partition

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KafkaTopicPartition):
            return False
        return (self._topic, self._partition) == (other._topic, other._partition)

    def __hash__(self) -> int:
        return hash((self._topic, self._partition))

    def __repr__(self) -> str:
        return f"KafkaTopicPartition({self._topic!r}, {self._partition})"


class KafkaOffsetResetStrategy(Enum):
    """Where a partition begins that has no offset."""

    LATEST = 0
    EARLIEST = 1
    NONE = 2


class _Position(Enum):
    EARLIEST = "earliest"
    LATEST = "latest"
    COMMITTED = "committed"
    TIMESTAMP = "timestamp"
    OFFSETS = "offsets"


class KafkaOffsetsInitializer:
    """Where a source starts, or stops; made by its static methods."""

    def __init__(
        self,
        position: _Position,
        reset: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.EARLIEST,
        timestamp: int = 0,
        offsets: Mapping[Partition, int] | None = None,
    ) -> None:
        self._position = position
        self._reset = reset
        self._timestamp = timestamp
        self._offsets = dict(offsets or {})

    @staticmethod
    def committed_offsets(
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.NONE,
    ) -> KafkaOffsetsInitializer:
        """Return the offsets that the source's group has committed.

        Queries of Spark commit none; these are of other consumers.

        Parameters
        ----------
        offset_reset_strategy : KafkaOffsetResetStrategy
            For partitions without such an offset. They are an error with NONE.
        """
        return KafkaOffsetsInitializer(_Position.COMMITTED, offset_reset_strategy)

    @staticmethod
    def timestamp(timestamp: int) -> KafkaOffsetsInitializer:
        """Return the offsets of the first records of a time or later.

        Parameters
        ----------
        timestamp : int
            In milliseconds since the epoch.
        """
        return KafkaOffsetsInitializer(_Position.TIMESTAMP, timestamp=timestamp)

    @staticmethod
    def earliest() -> KafkaOffsetsInitializer:
        """Return the offsets of the first records."""
        return KafkaOffsetsInitializer(_Position.EARLIEST)

    @staticmethod
    def latest() -> KafkaOffsetsInitializer:
        """Return the offsets of the records to come."""
        return KafkaOffsetsInitializer(_Position.LATEST)

    @staticmethod
    def offsets(
        offsets: Mapping[KafkaTopicPartition, int],
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.EARLIEST,
    ) -> KafkaOffsetsInitializer:
        """Return these offsets.

        Parameters
        ----------
        offsets : mapping of KafkaTopicPartition to int
        offset_reset_strategy : KafkaOffsetResetStrategy
            For partitions that are not among them, nor have an offset that the group has committed.

        Raises
        ------
        ValueError
            If an offset is negative.
        """
        found = {}
        for partition, offset in offsets.items():
            if offset < 0:
                raise ValueError(f"the offset of {partition!r} is negative: {offset}")
            found[partition._topic, partition._partition] = offset
        return KafkaOffsetsInitializer(_Position.OFFSETS, offset_reset_strategy, offsets=found)


@dataclass(frozen=True)
class _Reading:
    """What a source reads."""

    properties: Mapping[str, str] = field(default_factory=dict)
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    partitions: frozenset[Partition] = frozenset()
    start: KafkaOffsetsInitializer = field(default_factory=KafkaOffsetsInitializer.earliest)
    stop: KafkaOffsetsInitializer | None = None
    is_bounded: bool = False
    schema: DeserializationSchema | None = None
    function: Callable[[ConsumerRecord], Any] | None = None
    type_info: TypeInformation | None = None

    def subscription(self) -> dict[str, str]:
        """Return Spark's option that says what is read."""
        if self.pattern is not None:
            return {"subscribePattern": self.pattern}
        if self.partitions:
            return {"assign": _by_topic(self.partitions, lambda found: sorted(found))}
        return {"subscribe": ",".join(self.topics)}

    def produced_type(self) -> TypeInformation | None:
        """Return the type of the elements."""
        return self.type_info if self.schema is None else self.schema.produced_type()


def _by_topic(partitions: Iterable[Partition], of_topic: Callable[[list[int]], Any]) -> str:
    found: dict[str, list[int]] = {}
    for topic, number in partitions:
        found.setdefault(topic, []).append(number)
    return json.dumps({topic: of_topic(numbers) for topic, numbers in sorted(found.items())})


def _offsets_as_json(offsets: Mapping[Partition, int]) -> str:
    found: dict[str, dict[str, int]] = {}
    for (topic, number), offset in sorted(offsets.items()):
        found.setdefault(topic, {})[str(number)] = offset
    return json.dumps(found)


class _Bounds:
    """Where a source starts and stops, as Spark's options.

    Spark knows the first and last offsets and those of a time. It takes other ones for all
    partitions or none, so that brokers are asked for the rest.
    """

    def __init__(self, reading: _Reading, context: Context) -> None:
        self._reading = reading
        self._session = context.session

    def start(self) -> dict[str, str]:
        """Return the options of the start."""
        start, is_bounded = self._reading.start, self._reading.is_bounded
        if start._position == _Position.EARLIEST:
            return {"startingOffsets": "earliest"}
        if start._position == _Position.LATEST and not is_bounded:
            return {"startingOffsets": "latest"}
        if start._position == _Position.TIMESTAMP:
            return {
                "startingTimestamp": str(start._timestamp),
                "startingOffsetsByTimestampStrategy": "latest",
            }
        return {"startingOffsets": _offsets_as_json(self._resolved(start))}

    def end(self) -> dict[str, str]:
        """Return the options of the end of a bounded source."""
        stop = self._reading.stop
        assert stop is not None
        if stop._position == _Position.LATEST:
            return {"endingOffsets": "latest"}
        if stop._position == _Position.TIMESTAMP:
            return {"endingTimestamp": str(stop._timestamp)}
        return {"endingOffsets": _offsets_as_json(self._resolved(stop))}

    def before_end(self, frame: DataFrame) -> DataFrame:
        """Return the records of a stream until the end of an unbounded source that has one."""
        from pyspark.sql import functions as F

        stop = self._reading.stop
        if stop is None or stop._position == _Position.LATEST:
            return frame
        condition = F.lit(False)
        for (topic, number), offset in self._resolved(stop).items():
            found = (F.col("topic") == topic) & (F.col("partition") == number)
            condition = condition | (found & (F.col("offset") < offset))
        return frame.filter(condition)

    def _resolved(self, offsets: KafkaOffsetsInitializer) -> dict[Partition, int]:
        """Return the offset of each partition."""
        reading = self._reading
        if not hasattr(self._session, "_jsparkSession"):
            raise TableException(
                "KafkaSource: over Spark Connect, offsets are earliest(), latest() or timestamp(), "
                f"not {offsets._position.value}."
            )
        with Brokers(self._session, reading.properties) as brokers:
            partitions = list(reading.partitions)
            if not partitions:
                topics: Iterable[str] = reading.topics
                if reading.pattern is not None:
                    topics = brokers.topics(reading.pattern)
                partitions = brokers.partitions(topics)
            return _known_offsets(offsets, partitions, brokers, reading.properties.get(_GROUP))


def _known_offsets(
    offsets: KafkaOffsetsInitializer,
    partitions: list[Partition],
    brokers: Brokers,
    group: str | None,
) -> dict[Partition, int]:
    if offsets._position == _Position.EARLIEST:
        return brokers.earliest(partitions)
    if offsets._position == _Position.LATEST:
        return brokers.latest(partitions)
    if offsets._position == _Position.TIMESTAMP:
        return brokers.at(partitions, offsets._timestamp)
    found = {each: offsets._offsets[each] for each in partitions if each in offsets._offsets}
    missing = [each for each in partitions if each not in found]
    if missing and group is not None:
        committed = brokers.committed(group)
        found.update({each: committed[each] for each in missing if each in committed})
        missing = [each for each in missing if each not in found]
    if not missing:
        return found
    if offsets._reset == KafkaOffsetResetStrategy.NONE:
        topic, number = missing[0]
        raise TableException(
            f"KafkaSource: group {group!r} has committed no offset of partition {number} of topic "
            f"'{topic}'. Name a KafkaOffsetResetStrategy, EARLIEST or LATEST, for such partitions."
        )
    is_latest = offsets._reset == KafkaOffsetResetStrategy.LATEST
    return {**found, **(brokers.latest if is_latest else brokers.earliest)(missing)}


class _TopicSource(Source):
    """What sources of topics have in common."""

    def __init__(self, reading: _Reading) -> None:
        self._reading = reading

    @property
    def ends(self) -> bool:  # type: ignore[override]
        """Whether it is unbounded and ends."""
        return self._reading.stop is not None and not self._reading.is_bounded

    def boundedness(self) -> Boundedness:
        """Return whether the source ends, as `KafkaSourceBuilder.set_bounded` says."""
        is_bounded = self._reading.is_bounded
        return Boundedness.BOUNDED if is_bounded else Boundedness.CONTINUOUS_UNBOUNDED

    def produced_type(self) -> TypeInformation | None:
        """Return the type of the elements; None for any objects."""
        return self._reading.produced_type()

    def read(self, context: Context, is_streaming: bool) -> SourceRows:
        """Return the records.

        Raises
        ------
        TableException
            If no broker can be reached, or partitions have no offset to start from.
        """
        from pyspark.sql import functions as F

        reading = self._reading
        _reach(context, reading.properties, "KafkaSource")
        bounds = _Bounds(reading, context)
        options = {
            **client_options(reading.properties, is_source=True),
            **reading.subscription(),
            **bounds.start(),
            **(bounds.end() if reading.is_bounded else {}),
        }
        columns = [
            F.col("value"),
            F.unix_millis("timestamp").alias("timestamp"),
            *map(F.col, ("topic", "partition", "offset")),
        ]
        decoder: ValueDecoder | RecordDecoder
        if reading.function is None:
            assert reading.schema is not None
            decoder = ValueDecoder(reading.schema)
        else:
            decoder = RecordDecoder(reading.function)
            columns += map(F.col, ("key", "timestampType", "headers"))
        frame = load_records(
            context.session, not reading.is_bounded, options, reading.function is not None
        )
        frame = frame if reading.is_bounded else bounds.before_end(frame)
        frame = frame.select(*columns)
        if reading.is_bounded and is_streaming:
            frame = as_stream(frame, context)
        return SourceRows(frame, decoder, reading.produced_type())


def _reach(context: Context, properties: Mapping[str, str], name: str) -> None:
    """Raise where no broker can be reached from the driver, which runs here."""
    if not hasattr(context.session, "_jsparkSession"):
        return
    servers = properties[_SERVERS]
    try:
        check_brokers(servers)
    except (ValueError, ConnectionError) as error:
        raise TableException(f"{name}: no broker can be reached at {servers!r}: {error}") from error


class KafkaSource(_TopicSource):
    """Reads records of topics; made by a `KafkaSourceBuilder`."""

    @staticmethod
    def builder() -> KafkaSourceBuilder:
        """Return a builder of a source."""
        return KafkaSourceBuilder()


class KafkaSourceBuilder:
    """Makes a `KafkaSource`. It needs brokers, topics and a deserializer."""

    def __init__(self) -> None:
        self._reading = _Reading()
        self._subscription: str | None = None

    def build(self) -> KafkaSource:
        """Return the source.

        Raises
        ------
        ValueError
            If something is missing.
        """
        reading = self._reading
        if _SERVERS not in reading.properties:
            raise ValueError(f"Property {_SERVERS} is required but not provided")
        if self._subscription is None:
            raise ValueError(
                "No subscribe mode is specified, should be one of topics, topic pattern and "
                "partition set."
            )
        if reading.schema is None and reading.function is None:
            raise ValueError("Deserialization schema is required but not provided.")
        self._check_group(reading)
        return KafkaSource(reading)

    @staticmethod
    def _check_group(reading: _Reading) -> None:
        if _GROUP in reading.properties:
            return
        for offsets in (reading.start, reading.stop):
            if offsets is not None and offsets._position == _Position.COMMITTED:
                raise ValueError(
                    f"Property {_GROUP} is required when using committed offset for offsets "
                    "initializer"
                )
        if reading.properties.get("commit.offsets.on.checkpoint") == "true":
            raise ValueError(f"Property {_GROUP} is required when offset commit is enabled")

    def set_bootstrap_servers(self, bootstrap_servers: str) -> KafkaSourceBuilder:
        """Set the addresses of brokers, as ``host:port,host:port``."""
        return self.set_property(_SERVERS, bootstrap_servers)

    def set_group_id(self, group_id: str) -> KafkaSourceBuilder:
        """Set the group, whose name those of Spark's consumers begin with."""
        return self.set_property(_GROUP, group_id)

    def set_topics(self, *topics: str) -> KafkaSourceBuilder:
        """Read these topics.

        Raises
        ------
        ValueError
            If what is read has been set already; so do `set_topic_pattern` and `set_partitions`.
        """
        return self._subscribed("topics", topics=topics)

    def set_topic_pattern(self, topic_pattern: str) -> KafkaSourceBuilder:
        """Read the topics whose whole names a regular expression of Java matches."""
        return self._subscribed("topic pattern", pattern=topic_pattern)

    def set_partitions(self, partitions: set[KafkaTopicPartition]) -> KafkaSourceBuilder:
        """Read these partitions alone."""
        found = frozenset((each._topic, each._partition) for each in partitions)
        return self._subscribed("partition set", partitions=found)

    def _subscribed(self, kind: str, **what: Any) -> KafkaSourceBuilder:
        if self._subscription is not None:
            raise ValueError(
                f"Cannot use {kind} for consumption because a {self._subscription} is already set "
                "for consumption."
            )
        self._subscription = kind
        return self._with(**what)

    def set_starting_offsets(
        self, starting_offsets_initializer: KafkaOffsetsInitializer
    ) -> KafkaSourceBuilder:
        """Set where a source starts that has no checkpoint: at the earliest offsets by default."""
        return self._with(start=starting_offsets_initializer)

    def set_unbounded(
        self, stopping_offsets_initializer: KafkaOffsetsInitializer
    ) -> KafkaSourceBuilder:
        """Set where an unbounded source stops, among the records that there are when it starts."""
        return self._stopped(stopping_offsets_initializer, False)

    def set_bounded(
        self, stopping_offsets_initializer: KafkaOffsetsInitializer
    ) -> KafkaSourceBuilder:
        """Set where the source stops, which becomes a bounded one."""
        return self._stopped(stopping_offsets_initializer, True)

    def _stopped(self, stop: KafkaOffsetsInitializer, is_bounded: bool) -> KafkaSourceBuilder:
        if stop._position == _Position.EARLIEST:
            raise ValueError("a source that stops at the earliest offsets reads nothing")
        return self._with(stop=stop, is_bounded=is_bounded)

    def set_value_only_deserializer(
        self, deserialization_schema: DeserializationSchema
    ) -> KafkaSourceBuilder:
        """Set what makes elements of the values of records."""
        if not isinstance(deserialization_schema, DeserializationSchema):
            raise TypeError(f"expected a DeserializationSchema, got {deserialization_schema!r}")
        return self._with(schema=deserialization_schema, function=None)

    def set_record_deserializer(
        self,
        function: Callable[[ConsumerRecord], Any],
        type_info: TypeInformation | None = None,
    ) -> KafkaSourceBuilder:
        """Set what makes elements of whole records. PyFlow's own.

        Parameters
        ----------
        function : callable
            Of a `ConsumerRecord`: topic, partition, offset, timestamp, key, value and headers. It
            returns None for records that are left out.
        type_info : TypeInformation, optional
            Of the elements.
        """
        if not callable(function):
            raise TypeError(f"expected a callable, got {function!r}")
        return self._with(schema=None, function=function, type_info=type_info)

    def set_client_id_prefix(self, prefix: str) -> KafkaSourceBuilder:
        """Set what names of clients begin with. Spark names them itself."""
        return self.set_property("client.id.prefix", prefix)

    def set_property(self, key: str, value: str) -> KafkaSourceBuilder:
        """Set a property of Kafka's consumers. Those that Spark sets itself have no effect."""
        return self.set_properties({key: value})

    def set_properties(self, props: Mapping[str, str]) -> KafkaSourceBuilder:
        """Set properties of Kafka's consumers."""
        return self._with(properties={**self._reading.properties, **_strings(props)})

    def _with(self, **changed: Any) -> KafkaSourceBuilder:
        self._reading = replace(self._reading, **changed)
        return self


def _strings(properties: Mapping[str, Any]) -> dict[str, str]:
    for key, value in properties.items():
        if not isinstance(value, str):
            raise TypeError(f"property {key!r} is to be a str, not {value!r}")
    return dict(properties)


class FlinkKafkaConsumerBase(_TopicSource):
    """What sources of topics of older programs have in common."""

    def set_commit_offsets_on_checkpoints(self: Consumer, commit_on_checkpoints: bool) -> Consumer:
        """Return the source. Offsets are in the query's checkpoint, and not committed."""
        return self

    def set_start_from_earliest(self: Consumer) -> Consumer:
        """Start at the earliest offsets."""
        return self._start(KafkaOffsetsInitializer.earliest())

    def set_start_from_latest(self: Consumer) -> Consumer:
        """Start with the records to come."""
        return self._start(KafkaOffsetsInitializer.latest())

    def set_start_from_timestamp(self: Consumer, startup_offsets_timestamp: int) -> Consumer:
        """Start at the first records of a time or later.

        Parameters
        ----------
        startup_offsets_timestamp : int
            In milliseconds since the epoch.
        """
        return self._start(KafkaOffsetsInitializer.timestamp(startup_offsets_timestamp))

    def set_start_from_group_offsets(self: Consumer) -> Consumer:
        """Start at what the group has committed, as sources do by default.

        Other partitions start where the property ``auto.offset.reset`` says, by default at the
        records to come.
        """
        return self._start(_group_offsets(self._reading.properties))

    def disable_filter_restored_partitions_with_subscribed_topics(self: Consumer) -> Consumer:
        """Return the source. Spark reads the topics that it is asked for."""
        return self

    def get_produced_type(self) -> TypeInformation | None:
        """Return the type of the elements; None for any objects."""
        return self.produced_type()

    def _start(self: Consumer, start: KafkaOffsetsInitializer) -> Consumer:
        self._reading = replace(self._reading, start=start)
        return self


def _group_offsets(properties: Mapping[str, str]) -> KafkaOffsetsInitializer:
    name = properties.get("auto.offset.reset", "latest").upper()
    if name not in KafkaOffsetResetStrategy.__members__:
        raise ValueError(
            f"property 'auto.offset.reset' is {name.lower()!r}, not earliest or latest"
        )
    return KafkaOffsetsInitializer.committed_offsets(KafkaOffsetResetStrategy[name])


class FlinkKafkaConsumer(FlinkKafkaConsumerBase):
    """Reads topics, for `StreamExecutionEnvironment.add_source`. Prefer `KafkaSource`.

    Parameters
    ----------
    topics : str or list of str
    deserialization_schema : DeserializationSchema
        Makes elements of the values of records.
    properties : dict of str to str
        Of Kafka's consumers: ``bootstrap.servers``, ``group.id`` and others.

    Raises
    ------
    ValueError
        If there are no ``bootstrap.servers``.
    """

    def __init__(
        self,
        topics: str | list[str],
        deserialization_schema: DeserializationSchema,
        properties: dict[str, str],
    ) -> None:
        warnings.warn(
            "FlinkKafkaConsumer is deprecated; use KafkaSource", DeprecationWarning, stacklevel=2
        )
        if _SERVERS not in properties:
            raise ValueError(f"Property {_SERVERS} is required but not provided")
        super().__init__(
            _Reading(
                properties=_strings(properties),
                topics=(topics,) if isinstance(topics, str) else tuple(topics),
                schema=deserialization_schema,
                start=_group_offsets(properties),
            )
        )


@dataclass(frozen=True)
class KafkaRecordSerializationSchema(SerializationSchema):
    """How elements become records; made by a `KafkaRecordSerializationSchemaBuilder`."""

    topic: str | None
    encoder: RecordEncoder

    @staticmethod
    def builder() -> KafkaRecordSerializationSchemaBuilder:
        """Return a builder of a schema."""
        return KafkaRecordSerializationSchemaBuilder()

    def columns(self) -> str:
        """Return the columns that the encoder makes."""
        columns = ["value BINARY", "key BINARY"]
        if self.encoder.topic_selector is not None:
            columns.append("topic STRING")
        if self.encoder.headers is not None:
            columns.append(f"headers {_HEADERS}")
        return ", ".join(columns)


class KafkaRecordSerializationSchemaBuilder:
    """Makes a `KafkaRecordSerializationSchema`. It needs a topic and a schema of values."""

    def __init__(self) -> None:
        self._topic: str | None = None
        self._selector: KafkaTopicSelector | None = None
        self._key: SerializationSchema | None = None
        self._value: SerializationSchema | None = None
        self._headers: Callable[[Any], Iterable[Header]] | None = None

    def build(self) -> KafkaRecordSerializationSchema:
        """Return the schema.

        Raises
        ------
        ValueError
            If there is no topic, or no schema of values.
        """
        if self._value is None:
            raise ValueError("No value serializer is configured.")
        if self._topic is None and self._selector is None:
            raise ValueError("No topic selector is configured.")
        encoder = RecordEncoder(self._value, self._key, self._selector, self._headers)
        return KafkaRecordSerializationSchema(self._topic, encoder)

    def set_topic(self, topic: str) -> KafkaRecordSerializationSchemaBuilder:
        """Write all elements to this topic.

        Raises
        ------
        ValueError
            If the topic has been set already; so do the other methods for what they set.
        """
        self._check_topic()
        self._topic = topic
        return self

    def set_topic_selector(
        self, topic_selector: Callable[[Any], str] | KafkaTopicSelector
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Write each element to the topic that a function of it returns."""
        if not isinstance(topic_selector, KafkaTopicSelector):
            if not callable(topic_selector):
                raise TypeError("topic_selector must be KafkaTopicSelector or a callable")
            topic_selector = _SelectorOf(topic_selector)
        self._check_topic()
        self._selector = topic_selector
        return self

    def _check_topic(self) -> None:
        if self._topic is not None or self._selector is not None:
            _already("Topic selector")

    def set_key_serialization_schema(
        self, key_serialization_schema: SerializationSchema
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Set what makes the keys of records, which have none without it."""
        if self._key is not None:
            _already("Key serializer")
        self._key = _checked(key_serialization_schema)
        return self

    def set_value_serialization_schema(
        self, value_serialization_schema: SerializationSchema
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Set what makes the values of records."""
        if self._value is not None:
            _already("Value serializer")
        self._value = _checked(value_serialization_schema)
        return self

    def set_header_provider(
        self, header_provider: Callable[[Any], Iterable[Header]]
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Set what makes the headers of records, as Flink's Java builder has it. PyFlow's own.

        Parameters
        ----------
        header_provider : callable
            Returns pairs of str and bytes for an element.
        """
        if not callable(header_provider):
            raise TypeError(f"expected a callable, got {header_provider!r}")
        if self._headers is not None:
            _already("Header provider")
        self._headers = header_provider
        return self


def _already(what: str) -> NoReturn:
    raise ValueError(f"{what} already set.")


def _checked(schema: SerializationSchema) -> SerializationSchema:
    if not isinstance(schema, SerializationSchema):
        raise TypeError(f"expected a SerializationSchema, got {schema!r}")
    return schema


class _SelectorOf(KafkaTopicSelector):
    def __init__(self, function: Callable[[Any], str]) -> None:
        self._function = function

    def apply(self, data: Any) -> str:
        return self._function(data)


class _TopicSink(Sink):
    """What sinks of topics have in common."""

    def __init__(
        self, properties: Mapping[str, str], schema: KafkaRecordSerializationSchema, once: bool
    ) -> None:
        self._properties = properties
        self._schema = schema
        if once:
            _logger.warning(
                "%s writes at least once: Spark's sink for Kafka has no transactions, so that "
                "records may be there twice after a failure",
                type(self).__name__,
            )

    def encoder(
        self, type_info: TypeInformation | None
    ) -> Callable[[Any, int | None], tuple[Any, ...] | None]:
        """Return what makes records of elements."""
        return self._schema.encoder

    def schema(self, type_info: TypeInformation | None) -> str:
        """Return the columns of records."""
        return self._schema.columns()

    def write(self, frame: DataFrame, context: Context, batch_id: int | None) -> None:
        """Append records, at least once."""
        if batch_id is None:
            _reach(context, self._properties, type(self).__name__)
        frame.write.format("kafka").options(**self._options()).save()

    def start(
        self, frame: DataFrame, context: Context, checkpoint: str, name: str
    ) -> StreamingQuery | None:
        """Start a query that appends records, at least once."""
        _reach(context, self._properties, type(self).__name__)
        writer = frame.writeStream.format("kafka").options(**self._options())
        return writer.option("checkpointLocation", checkpoint).queryName(name).start()

    def _options(self) -> dict[str, str]:
        options = client_options(self._properties, is_source=False)
        return options if self._schema.topic is None else {**options, "topic": self._schema.topic}


class KafkaSink(_TopicSink):
    """Appends records to topics; made by a `KafkaSinkBuilder`.

    Spark's sink waits for the brokers: elements are written at least once, whatever the
    `DeliveryGuarantee`. It does not write timestamps; records have the time at which they are
    written.
    """

    @staticmethod
    def builder() -> KafkaSinkBuilder:
        """Return a builder of a sink."""
        return KafkaSinkBuilder()

    def get_transformer(self) -> None:
        """Return None: a topic selector needs no other stream."""


class KafkaSinkBuilder:
    """Makes a `KafkaSink`. It needs brokers and a serializer of records."""

    def __init__(self) -> None:
        self._properties: dict[str, str] = {}
        self._guarantee = DeliveryGuarantee.NONE
        self._prefix: str | None = None
        self._serializer: KafkaRecordSerializationSchema | None = None

    def build(self) -> KafkaSink:
        """Return the sink.

        Raises
        ------
        ValueError
            If something is missing.
        """
        if _SERVERS not in self._properties:
            raise ValueError(f"Property {_SERVERS} is required but not provided")
        once = self._guarantee == DeliveryGuarantee.EXACTLY_ONCE
        if once and self._prefix is None:
            raise ValueError(
                "EXACTLY_ONCE delivery guarantee requires a transactionalIdPrefix to be set to "
                "provide unique transaction names across multiple KafkaSinks writing to the same "
                "Kafka cluster."
            )
        if self._serializer is None:
            raise ValueError("recordSerializer")
        return KafkaSink(self._properties, self._serializer, once)

    def set_bootstrap_servers(self, bootstrap_servers: str) -> KafkaSinkBuilder:
        """Set the addresses of brokers, as ``host:port,host:port``."""
        return self.set_property(_SERVERS, bootstrap_servers)

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> KafkaSinkBuilder:
        """Set how often an element is written after a failure: at least once in any case."""
        self._guarantee = delivery_guarantee
        return self

    def set_transactional_id_prefix(self, transactional_id_prefix: str) -> KafkaSinkBuilder:
        """Set what names of transactions begin with, of which Spark's sink has none.

        Raises
        ------
        ValueError
            If it has more than 64000 bytes.
        """
        if len(transactional_id_prefix.encode()) > 64000:
            raise ValueError(
                "The configured prefix is too long and the resulting transactionalId might exceed "
                "Kafka's transactionalIds size."
            )
        self._prefix = transactional_id_prefix
        return self

    def set_record_serializer(
        self, record_serializer: KafkaRecordSerializationSchema
    ) -> KafkaSinkBuilder:
        """Set what makes records of elements."""
        if not isinstance(record_serializer, KafkaRecordSerializationSchema):
            raise TypeError(f"expected a KafkaRecordSerializationSchema, got {record_serializer!r}")
        self._serializer = record_serializer
        return self

    def set_property(self, key: str, value: str) -> KafkaSinkBuilder:
        """Set a property of Kafka's producers. Those that Spark sets itself have no effect."""
        self._properties = {**self._properties, **_strings({key: value})}
        return self


class Semantic(Enum):
    """How often a `FlinkKafkaProducer` writes an element after a failure: at least once here."""

    EXACTLY_ONCE = (0,)
    AT_LEAST_ONCE = (1,)
    NONE = 2


class FlinkKafkaProducerBase(_TopicSink):
    """What sinks of topics of older programs have in common."""

    def set_log_failures_only(self: Producer, log_failures_only: bool) -> Producer:
        """Return the sink. A query always fails where records cannot be written."""
        if log_failures_only:
            _logger.warning("a query fails where records cannot be written; it does not go on")
        return self

    def set_flush_on_checkpoint(self: Producer, flush_on_checkpoint: bool) -> Producer:
        """Return the sink. A batch always waits until the brokers have its records."""
        return self

    def set_write_timestamp_to_kafka(self: Producer, write_timestamp_to_kafka: bool) -> Producer:
        """Return the sink. Records have the time at which they are written."""
        if write_timestamp_to_kafka:
            _logger.warning(
                "Spark's sink for Kafka does not write timestamps of elements; records have the "
                "time at which they are written"
            )
        return self


class FlinkKafkaProducer(FlinkKafkaProducerBase):
    """Appends records to a topic, for `DataStream.add_sink`. Prefer `KafkaSink`.

    Kafka's producer chooses the partition of a record, not the subtask that writes it.

    Parameters
    ----------
    topic : str
    serialization_schema : SerializationSchema
        Makes the values of records.
    producer_config : dict of str to str
        Properties of Kafka's producers: ``bootstrap.servers`` and others.
    kafka_producer_pool_size : int
        Spark has one producer per executor.
    semantic : Semantic

    Raises
    ------
    ValueError
        If there are no ``bootstrap.servers``.
    """

    def __init__(
        self,
        topic: str,
        serialization_schema: SerializationSchema,
        producer_config: dict[str, str],
        kafka_producer_pool_size: int = 5,
        semantic: Semantic = Semantic.AT_LEAST_ONCE,
    ) -> None:
        if _SERVERS not in producer_config:
            raise ValueError(f"{_SERVERS} must be supplied in the producer config properties.")
        encoder = RecordEncoder(_checked(serialization_schema), None, None, None)
        super().__init__(
            _strings(producer_config),
            KafkaRecordSerializationSchema(topic, encoder),
            semantic == Semantic.EXACTLY_ONCE,
        )

    def ignore_failures_after_transaction_timeout(self) -> FlinkKafkaProducer:
        """Return the sink, which has no transactions."""
        return self
