"""Topics of Kafka as sinks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from pyspark.sql import functions as F

from pyflow.common.serialization import SerializationSchema
from pyflow.connectors.kafka_client import client_options
from pyflow.datastream.connectors.base import DeliveryGuarantee, Sink
from pyflow.datastream.connectors.kafka_properties import (
    SERVERS,
    check_reachable,
    checked_properties,
)
from pyflow.datastream.connectors.kafka_records import (
    FunctionTopicSelector,
    Header,
    KafkaTopicSelector,
    RecordEncoder,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from pyflow.common.typeinfo import TypeInformation
    from pyflow.session.context import Context

__all__ = [
    "KafkaRecordSerializationSchema",
    "KafkaRecordSerializationSchemaBuilder",
    "KafkaSink",
    "KafkaSinkBuilder",
    "TopicSink",
    "checked_schema",
]

_logger = logging.getLogger(__name__)

_HEADERS = "ARRAY<STRUCT<key: STRING, value: BINARY>>"


@dataclass(frozen=True)
class KafkaRecordSerializationSchema:
    """How elements become records; made by a `KafkaRecordSerializationSchemaBuilder`."""

    topic: str | None
    encoder: RecordEncoder

    @staticmethod
    def builder() -> KafkaRecordSerializationSchemaBuilder:
        """Return a builder of a schema."""
        return KafkaRecordSerializationSchemaBuilder()

    def columns(self) -> dict[str, str]:
        """Return the columns that the encoder makes, with their types."""
        columns = {"value": "BINARY", "key": "BINARY"}
        if self.encoder.topic_selector is not None:
            columns["topic"] = "STRING"
        if self.encoder.headers is not None:
            columns["headers"] = _HEADERS
        return columns


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
            topic_selector = FunctionTopicSelector(topic_selector)
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
        self._key = checked_schema(key_serialization_schema)
        return self

    def set_value_serialization_schema(
        self, value_serialization_schema: SerializationSchema
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Set what makes the values of records."""
        if self._value is not None:
            _already("Value serializer")
        self._value = checked_schema(value_serialization_schema)
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


def checked_schema(schema: SerializationSchema) -> SerializationSchema:
    """Return a schema; raise a TypeError where it is none."""
    if not isinstance(schema, SerializationSchema):
        raise TypeError(f"expected a SerializationSchema, got {schema!r}")
    return schema


class TopicSink(Sink):
    """What sinks of topics have in common."""

    def __init__(
        self, properties: Mapping[str, str], schema: KafkaRecordSerializationSchema, once: bool
    ) -> None:
        self._properties = properties
        self._schema = schema
        self.writes = schema.topic or ""
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
        return ", ".join(f"{name} {each}" for name, each in self._schema.columns().items())

    def write(self, frame: DataFrame, context: Context, batch_id: int | None) -> None:
        """Append records, at least once."""
        if batch_id is None:
            check_reachable(context, self._properties, type(self).__name__)
        frame.write.format("kafka").options(**self._options()).save()

    def writer(
        self, frame: DataFrame, context: Context, has_topics: bool = False
    ) -> DataStreamWriter:
        """Return what appends records, at least once.

        Parameters
        ----------
        frame : DataFrame
        context : Context
        has_topics : bool
            Whether a column says the topic of each record.
        """
        check_reachable(context, self._properties, type(self).__name__)
        options = self.place() if has_topics else self._options()
        return frame.writeStream.format("kafka").options(**options)

    def place(self) -> dict[str, str]:
        """Return the options that sinks of several topics can have in common."""
        return client_options(self._properties, is_source=False)

    def columns_of(self, row: Column) -> dict[str, Column]:
        """Return the columns of a record, with its topic, of what the encoder makes."""
        columns = {name: row.getField(name) for name in self._schema.columns()}
        if self._schema.topic is not None:
            columns["topic"] = F.lit(self._schema.topic)
        return columns

    def _options(self) -> dict[str, str]:
        options = self.place()
        return options if self._schema.topic is None else {**options, "topic": self._schema.topic}


class KafkaSink(TopicSink):
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
        if SERVERS not in self._properties:
            raise ValueError(f"Property {SERVERS} is required but not provided")
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
        return self.set_property(SERVERS, bootstrap_servers)

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
        self._properties = {**self._properties, **checked_properties({key: value})}
        return self
