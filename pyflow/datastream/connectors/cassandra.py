"""Cassandra as a sink, which Spark has no connector for."""

from __future__ import annotations

from enum import Enum
from typing import Any

from pyflow.util.unsupported import unsupported

__all__ = [
    "CassandraCommitter",
    "CassandraFailureHandler",
    "CassandraSink",
    "ClusterBuilder",
    "ConsistencyLevel",
    "MapperOptions",
]

_REASON = (
    "Spark has no sink for Cassandra of its own. Give the session the jar of the Spark "
    "Cassandra Connector, and write a subclass of pyflow.datastream.connectors.Sink whose "
    "write() calls frame.write.format('org.apache.spark.sql.cassandra')"
)


class ConsistencyLevel(Enum):
    """How many replicas must have a write."""

    ANY = 0
    ONE = 1
    TWO = 2
    THREE = 3
    QUORUM = 4
    ALL = 5
    LOCAL_QUORUM = 6
    EACH_QUORUM = 7
    SERIAL = 8
    LOCAL_SERIAL = 9
    LOCAL_ONE = 10


@unsupported(_REASON)
class MapperOptions:
    """Options of the driver's mapper."""

    def __init__(self) -> None: ...

    def ttl(self, ttl: Any) -> Any:
        """Set how long rows live."""

    def timestamp(self, timestamp: Any) -> Any:
        """Set the time of writes."""

    def consistency_level(self, cl: Any) -> Any:
        """Set how many replicas must have a write."""

    def tracing(self, enabled: Any) -> Any:
        """Set whether writes are traced."""

    def save_null_fields(self, enabled: Any) -> Any:
        """Set whether nulls are written."""

    def if_not_exists(self, enabled: Any) -> Any:
        """Set whether rows that are there are kept."""


@unsupported(_REASON)
class ClusterBuilder:
    """Describes how the cluster is reached."""

    def __init__(self, j_cluster_builder: Any) -> None: ...


@unsupported(_REASON)
class CassandraCommitter:
    """Keeps what has been written."""

    def __init__(self, j_checkpoint_committer: Any) -> None: ...

    @staticmethod
    def default_checkpoint_committer(builder: Any, key_space: Any = None) -> Any:
        """Return the default one."""


@unsupported(_REASON)
class CassandraFailureHandler:
    """Says what a failed write leads to."""

    def __init__(self, j_cassandra_failure_handler: Any) -> None: ...

    @staticmethod
    def no_op() -> Any:
        """Return the one that does nothing more."""


@unsupported(_REASON)
class CassandraSink:
    """Writes elements by a query."""

    def __init__(self, j_cassandra_sink: Any) -> None: ...

    def name(self, name: Any) -> Any:
        """Set the name."""

    def uid(self, uid: Any) -> Any:
        """Set the identifier."""

    def set_uid_hash(self, uid_hash: Any) -> Any:
        """Set the uid hash, and return the builder."""

    def set_parallelism(self, parallelism: Any) -> Any:
        """Set the parallelism, and return the builder."""

    def disable_chaining(self) -> Any:
        """Return the sink."""

    def slot_sharing_group(self, slot_sharing_group: Any) -> Any:
        """Return the sink."""

    @staticmethod
    def add_sink(input: Any) -> Any:
        """Return a builder of a sink of a stream."""

    class CassandraSinkBuilder:
        """Builds a sink."""

        def __init__(self, j_cassandra_sink_builder: Any) -> None: ...

        def set_query(self, query: Any) -> Any:
            """Set the query, and return the builder."""

        def set_host(self, host: Any, port: Any = 9042) -> Any:
            """Set the host, and return the builder."""

        def set_cluster_builder(self, builder: Any) -> Any:
            """Set the cluster builder, and return the builder."""

        def enable_write_ahead_log(self, committer: Any = None) -> Any:
            """Keep a log of what is written."""

        def set_mapper_options(self, options: Any) -> Any:
            """Set the mapper options, and return the builder."""

        def set_failure_handler(self, failure_handler: Any) -> Any:
            """Set the failure handler, and return the builder."""

        def set_max_concurrent_requests(
            self, max_concurrent_requests: Any, duration: Any = None
        ) -> Any:
            """Set the max concurrent requests, and return the builder."""

        def enable_ignore_null_fields(self) -> Any:
            """Leave out nulls."""

        def build(self) -> Any:
            """Return what is built."""
