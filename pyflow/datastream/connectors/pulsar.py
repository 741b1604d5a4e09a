"""Pulsar as source and sink, which Spark has no connector for."""

from __future__ import annotations

from enum import Enum
from typing import Any

from pyflow.util.unsupported import unsupported

__all__ = [
    "MessageDelayer",
    "PulsarSink",
    "PulsarSinkBuilder",
    "PulsarSource",
    "PulsarSourceBuilder",
    "RangeGenerator",
    "StartCursor",
    "StopCursor",
    "TopicRoutingMode",
]

_REASON = (
    "Spark has no source and no sink for Pulsar of its own. Give the session the jar of "
    "StreamNative's pulsar-spark, and write a subclass of "
    "pyflow.datastream.connectors.Source or Sink that reads or writes frames of the format "
    "'pulsar'; or use Pulsar's protocol handler for Kafka with KafkaSource and KafkaSink"
)


@unsupported(_REASON)
class StartCursor:
    """Where reading begins."""

    def __init__(self, _j_start_cursor: Any) -> None: ...

    @staticmethod
    def default_start_cursor() -> Any:
        """Return the default one."""

    @staticmethod
    def earliest() -> Any:
        """Begin with the oldest message."""

    @staticmethod
    def latest() -> Any:
        """Begin or end with the newest message."""

    @staticmethod
    def from_message_id(message_id: Any, inclusive: Any = True) -> Any:
        """Begin with a message."""

    @staticmethod
    def from_publish_time(timestamp: Any) -> Any:
        """Begin at a time."""


@unsupported(_REASON)
class StopCursor:
    """Where reading ends."""

    def __init__(self, _j_stop_cursor: Any) -> None: ...

    @staticmethod
    def default_stop_cursor() -> Any:
        """Return the default one."""

    @staticmethod
    def never() -> Any:
        """Return the one of no end."""

    @staticmethod
    def latest() -> Any:
        """Begin or end with the newest message."""

    @staticmethod
    def at_event_time(timestamp: Any) -> Any:
        """End at an event time."""

    @staticmethod
    def after_event_time(timestamp: Any) -> Any:
        """End after an event time."""

    @staticmethod
    def at_publish_time(timestamp: Any) -> Any:
        """End at a time."""

    @staticmethod
    def after_publish_time(timestamp: Any) -> Any:
        """End after a time."""

    @staticmethod
    def at_message_id(message_id: Any) -> Any:
        """End before a message."""

    @staticmethod
    def after_message_id(message_id: Any) -> Any:
        """End after a message."""


@unsupported(_REASON)
class RangeGenerator:
    """Says which keys are read."""

    def __init__(self, j_range_generator: Any) -> None: ...

    @staticmethod
    def full() -> Any:
        """Return the one of all keys."""

    @staticmethod
    def fixed_key(
        support_null_key: Any = False,
        keys: Any = None,
        key_bytes: Any = None,
        ordering_key_bytes: Any = None,
    ) -> Any:
        """Return the one of some keys."""


@unsupported(_REASON)
class PulsarSource:
    """Reads topics of Pulsar."""

    def __init__(self, j_pulsar_source: Any) -> None: ...

    @staticmethod
    def builder() -> Any:
        """Return a builder."""


@unsupported(_REASON)
class PulsarSourceBuilder:
    """Builds a source."""

    def __init__(self) -> None: ...

    def set_admin_url(self, admin_url: Any) -> Any:
        """Set the admin URL, and return the builder."""

    def set_service_url(self, service_url: Any) -> Any:
        """Set the service URL, and return the builder."""

    def set_subscription_name(self, subscription_name: Any) -> Any:
        """Set the subscription name, and return the builder."""

    def set_topics(self, topics: Any) -> Any:
        """Set the topics, and return the builder."""

    def set_topic_pattern(self, topic_pattern: Any) -> Any:
        """Set the topic pattern, and return the builder."""

    def set_consumer_name(self, consumer_name: Any) -> Any:
        """Set the consumer name, and return the builder."""

    def set_range_generator(self, range_generator: Any) -> Any:
        """Set the range generator, and return the builder."""

    def set_start_cursor(self, start_cursor: Any) -> Any:
        """Set the start cursor, and return the builder."""

    def set_unbounded_stop_cursor(self, stop_cursor: Any) -> Any:
        """Set the unbounded stop cursor, and return the builder."""

    def set_bounded_stop_cursor(self, stop_cursor: Any) -> Any:
        """Set the bounded stop cursor, and return the builder."""

    def set_deserialization_schema(self, deserialization_schema: Any) -> Any:
        """Set the deserialization schema, and return the builder."""

    def set_authentication(self, auth_plugin_class_name: Any, auth_params_string: Any) -> Any:
        """Set the authentication, and return the builder."""

    def set_config(self, key: Any, value: Any) -> Any:
        """Set the config, and return the builder."""

    def set_config_with_dict(self, config: Any) -> Any:
        """Set the config with dict, and return the builder."""

    def set_properties(self, config: Any) -> Any:
        """Set the properties, and return the builder."""

    def build(self) -> Any:
        """Return what is built."""


class TopicRoutingMode(Enum):
    """How messages come to partitions."""

    ROUND_ROBIN = 0
    MESSAGE_KEY_HASH = 1
    CUSTOM = 2


@unsupported(_REASON)
class MessageDelayer:
    """Says how long a message is held back."""

    def __init__(self, _j_message_delayer: Any) -> None: ...

    @staticmethod
    def never() -> Any:
        """Return the one of no end."""

    @staticmethod
    def fixed(duration: Any) -> Any:
        """Return the one of a fixed value."""


@unsupported(_REASON)
class PulsarSink:
    """Writes into topics of Pulsar."""

    def __init__(self, j_pulsar_sink: Any) -> None: ...

    @staticmethod
    def builder() -> Any:
        """Return a builder."""


@unsupported(_REASON)
class PulsarSinkBuilder:
    """Builds a sink."""

    def __init__(self) -> None: ...

    def set_admin_url(self, admin_url: Any) -> Any:
        """Set the admin URL, and return the builder."""

    def set_service_url(self, service_url: Any) -> Any:
        """Set the service URL, and return the builder."""

    def set_producer_name(self, producer_name: Any) -> Any:
        """Set the producer name, and return the builder."""

    def set_topics(self, topics: Any) -> Any:
        """Set the topics, and return the builder."""

    def set_delivery_guarantee(self, delivery_guarantee: Any) -> Any:
        """Set the delivery guarantee, and return the builder."""

    def set_topic_routing_mode(self, topic_routing_mode: Any) -> Any:
        """Set the topic routing mode, and return the builder."""

    def set_topic_router(self, topic_router_class_name: Any) -> Any:
        """Set the topic router, and return the builder."""

    def set_serialization_schema(self, serialization_schema: Any) -> Any:
        """Set the serialization schema, and return the builder."""

    def set_authentication(self, auth_plugin_class_name: Any, auth_params_string: Any) -> Any:
        """Set the authentication, and return the builder."""

    def delay_sending_message(self, message_delayer: Any) -> Any:
        """Set how long messages are held back."""

    def set_config(self, key: Any, value: Any) -> Any:
        """Set the config, and return the builder."""

    def set_properties(self, config: Any) -> Any:
        """Set the properties, and return the builder."""

    def build(self) -> Any:
        """Return what is built."""
