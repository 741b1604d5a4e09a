"""Elasticsearch as a sink, which Spark has no connector for."""

from __future__ import annotations

from enum import Enum
from typing import Any

from pyflow.util.unsupported import unsupported

__all__ = [
    "Elasticsearch6SinkBuilder",
    "Elasticsearch7SinkBuilder",
    "ElasticsearchEmitter",
    "ElasticsearchSink",
    "FlushBackoffType",
]

_REASON = (
    "Spark has no sink for Elasticsearch of its own. Give the session the jar of "
    "Elasticsearch for Spark, and write a subclass of pyflow.datastream.connectors.Sink "
    "whose write() calls frame.write.format('org.elasticsearch.spark.sql')"
)


class FlushBackoffType(Enum):
    """How the time before another attempt grows."""

    CONSTANT = 0
    EXPONENTIAL = 1
    NONE = 2


@unsupported(_REASON)
class ElasticsearchEmitter:
    """Says where an element becomes a document."""

    def __init__(self, j_emitter: Any) -> None: ...

    @staticmethod
    def static_index(index: Any, key_field: Any = None, doc_type: Any = None) -> Any:
        """Return the one for one index."""

    @staticmethod
    def dynamic_index(index_field: Any, key_field: Any = None, doc_type: Any = None) -> Any:
        """Return the one for the index in a field."""


@unsupported(_REASON)
class ElasticsearchSinkBuilderBase:
    """Builds sinks of all versions."""

    def __init__(self) -> None: ...

    def get_http_host_class(self) -> Any:
        """Return the http host class."""

    def set_emitter(self, emitter: Any) -> Any:
        """Set the emitter, and return the builder."""

    def set_hosts(self, hosts: Any) -> Any:
        """Set the hosts, and return the builder."""

    def set_delivery_guarantee(self, delivery_guarantee: Any) -> Any:
        """Set the delivery guarantee, and return the builder."""

    def set_bulk_flush_max_actions(self, num_max_actions: Any) -> Any:
        """Set the bulk flush max actions, and return the builder."""

    def set_bulk_flush_max_size_mb(self, max_size_mb: Any) -> Any:
        """Set the bulk flush max size megabytes, and return the builder."""

    def set_bulk_flush_interval(self, interval_millis: Any) -> Any:
        """Set the bulk flush interval, and return the builder."""

    def set_bulk_flush_backoff_strategy(
        self, flush_backoff_type: Any, max_retries: Any, delay_millis: Any
    ) -> Any:
        """Set the bulk flush backoff strategy, and return the builder."""

    def set_connection_username(self, username: Any) -> Any:
        """Set the connection username, and return the builder."""

    def set_connection_password(self, password: Any) -> Any:
        """Set the connection password, and return the builder."""

    def set_connection_path_prefix(self, prefix: Any) -> Any:
        """Set the connection path prefix, and return the builder."""

    def set_connection_request_timeout(self, timeout: Any) -> Any:
        """Set the connection request timeout, and return the builder."""

    def set_connection_timeout(self, timeout: Any) -> Any:
        """Set the connection timeout, and return the builder."""

    def set_socket_timeout(self, timeout: Any) -> Any:
        """Set the socket timeout, and return the builder."""

    def build(self) -> Any:
        """Return what is built."""


@unsupported(_REASON)
class Elasticsearch6SinkBuilder(ElasticsearchSinkBuilderBase):
    """Builds sinks of version 6."""

    def __init__(self) -> None: ...

    def get_http_host_class(self) -> Any:
        """Return the http host class."""


@unsupported(_REASON)
class Elasticsearch7SinkBuilder(ElasticsearchSinkBuilderBase):
    """Builds sinks of version 7."""

    def __init__(self) -> None: ...

    def get_http_host_class(self) -> Any:
        """Return the http host class."""


@unsupported(_REASON)
class ElasticsearchSink:
    """Writes elements as documents."""

    def __init__(self, j_elasticsearch_sink: Any) -> None: ...
