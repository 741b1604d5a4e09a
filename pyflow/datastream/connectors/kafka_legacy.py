"""Sources and sinks of Kafka's topics under the names of older programs."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, TypeVar

from pyflow.common.serialization import DeserializationSchema, SerializationSchema
from pyflow.datastream.connectors.kafka_offsets import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
)
from pyflow.datastream.connectors.kafka_properties import SERVERS, checked_properties
from pyflow.datastream.connectors.kafka_records import RecordEncoder
from pyflow.datastream.connectors.kafka_sink import (
    KafkaRecordSerializationSchema,
    TopicSink,
    checked_schema,
)
from pyflow.datastream.connectors.kafka_source import Reading, TopicSource

if TYPE_CHECKING:
    from pyflow.common.typeinfo import TypeInformation

__all__ = [
    "FlinkKafkaConsumer",
    "FlinkKafkaConsumerBase",
    "FlinkKafkaProducer",
    "FlinkKafkaProducerBase",
    "Semantic",
]

_logger = logging.getLogger(__name__)

Consumer = TypeVar("Consumer", bound="FlinkKafkaConsumerBase")
Producer = TypeVar("Producer", bound="FlinkKafkaProducerBase")


class FlinkKafkaConsumerBase(TopicSource):
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
        if SERVERS not in properties:
            raise ValueError(f"Property {SERVERS} is required but not provided")
        super().__init__(
            Reading(
                properties=checked_properties(properties),
                topics=(topics,) if isinstance(topics, str) else tuple(topics),
                schema=deserialization_schema,
                start=_group_offsets(properties),
            )
        )


class Semantic(Enum):
    """How often a `FlinkKafkaProducer` writes an element after a failure: at least once here."""

    EXACTLY_ONCE = (0,)
    AT_LEAST_ONCE = (1,)
    NONE = 2


class FlinkKafkaProducerBase(TopicSink):
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
        if SERVERS not in producer_config:
            raise ValueError(f"{SERVERS} must be supplied in the producer config properties.")
        encoder = RecordEncoder(checked_schema(serialization_schema), None, None, None)
        super().__init__(
            checked_properties(producer_config),
            KafkaRecordSerializationSchema(topic, encoder),
            semantic == Semantic.EXACTLY_ONCE,
        )

    def ignore_failures_after_transaction_timeout(self) -> FlinkKafkaProducer:
        """Return the sink, which has no transactions."""
        return self
