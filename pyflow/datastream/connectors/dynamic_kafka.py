"""Topics of Kafka whose clusters change while a program runs."""

from __future__ import annotations

from typing import Any

from pyflow.util.unsupported import unsupported

__all__ = [
    "DynamicKafkaSource",
    "DynamicKafkaSourceBuilder",
    "KafkaMetadataService",
    "KafkaRecordDeserializationSchema",
    "KafkaStreamSetSubscriber",
    "KafkaStreamSubscriber",
    "SingleClusterTopicMetadataService",
    "StreamPatternSubscriber",
]

_REASON = (
    "the topics and brokers of a query of Spark stay as they are while it runs. Read each "
    "cluster with a KafkaSource, whose set_topic_pattern() finds new topics, and union() "
    "the streams"
)


@unsupported(_REASON)
class KafkaMetadataService:
    """Says which clusters a stream is on."""

    def __init__(self, j_metadata_service: Any) -> None: ...


@unsupported(_REASON)
class SingleClusterTopicMetadataService(KafkaMetadataService):
    """The topics of one cluster."""

    def __init__(self, kafka_cluster_id: Any, properties: Any) -> None: ...


@unsupported(_REASON)
class KafkaStreamSubscriber:
    """Says which streams are read."""

    def __init__(self, j_kafka_stream_subscriber: Any) -> None: ...


@unsupported(_REASON)
class KafkaStreamSetSubscriber(KafkaStreamSubscriber):
    """The streams of a set."""

    def __init__(self, stream_ids: Any) -> None: ...


@unsupported(_REASON)
class StreamPatternSubscriber(KafkaStreamSubscriber):
    """The streams whose names match a pattern."""

    def __init__(self, stream_pattern: Any) -> None: ...


@unsupported(_REASON)
class KafkaRecordDeserializationSchema:
    """Makes elements of records."""

    def __init__(self, j_deserialization_schema: Any) -> None: ...

    @staticmethod
    def value_only(deserialization_schema: Any) -> Any:
        """Return the one of values alone."""


@unsupported(_REASON)
class DynamicKafkaSource:
    """Reads streams on clusters that change."""

    def __init__(self, j_dynamic_kafka_source: Any) -> None: ...

    @staticmethod
    def builder() -> Any:
        """Return a builder."""


@unsupported(_REASON)
class DynamicKafkaSourceBuilder:
    """Builds a source."""

    def __init__(self) -> None: ...

    def build(self) -> Any:
        """Return what is built."""

    def set_stream_ids(self, stream_ids: Any) -> Any:
        """Set the stream ids, and return the builder."""

    def set_stream_pattern(self, stream_pattern: Any) -> Any:
        """Set the stream pattern, and return the builder."""

    def set_kafka_stream_subscriber(self, kafka_stream_subscriber: Any) -> Any:
        """Set the kafka stream subscriber, and return the builder."""

    def set_kafka_metadata_service(self, kafka_metadata_service: Any) -> Any:
        """Set the kafka metadata service, and return the builder."""

    def set_deserializer(self, deserializer: Any) -> Any:
        """Set the deserializer, and return the builder."""

    def set_value_only_deserializer(self, deserialization_schema: Any) -> Any:
        """Set the value only deserializer, and return the builder."""

    def set_starting_offsets(self, starting_offsets_initializer: Any) -> Any:
        """Set the starting offsets, and return the builder."""

    def set_bounded(self, stopping_offsets_initializer: Any) -> Any:
        """Set the bounded, and return the builder."""

    def set_properties(self, props: Any) -> Any:
        """Set the properties, and return the builder."""

    def set_property(self, key: Any, value: Any) -> Any:
        """Set the property, and return the builder."""

    def set_group_id(self, group_id: Any) -> Any:
        """Set the group ID, and return the builder."""

    def set_client_id_prefix(self, prefix: Any) -> Any:
        """Set the client ID prefix, and return the builder."""
