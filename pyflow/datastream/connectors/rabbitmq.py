"""RabbitMQ as source and sink, which Spark has no connector for."""

from __future__ import annotations

from typing import Any

from pyflow.util.unsupported import unsupported

__all__ = ["RMQConnectionConfig", "RMQSink", "RMQSource"]

_REASON = (
    "Spark has no source and no sink for RabbitMQ. Write a subclass of "
    "pyflow.datastream.connectors.Source around a pyspark.sql.datasource.DataSource that "
    "uses a client of RabbitMQ, and publish with one in a ProcessFunction"
)


@unsupported(_REASON)
class RMQConnectionConfig:
    """How the broker is reached."""

    def __init__(self, j_rmq_connection_config: Any) -> None: ...

    def get_host(self) -> Any:
        """Return the host."""

    def get_port(self) -> Any:
        """Return the port."""

    def get_virtual_host(self) -> Any:
        """Return the virtual host."""

    def get_user_name(self) -> Any:
        """Return the user name."""

    def get_password(self) -> Any:
        """Return the password."""

    def get_uri(self) -> Any:
        """Return the URI."""

    def get_network_recovery_interval(self) -> Any:
        """Return the network recovery interval."""

    def is_automatic_recovery(self) -> Any:
        """Return whether connections are restored."""

    def is_topology_recovery(self) -> Any:
        """Return whether queues are restored."""

    def get_connection_timeout(self) -> Any:
        """Return the connection timeout."""

    def get_requested_channel_max(self) -> Any:
        """Return the requested channel max."""

    def get_requested_frame_max(self) -> Any:
        """Return the requested frame max."""

    def get_requested_heartbeat(self) -> Any:
        """Return the requested heartbeat."""

    class Builder:
        """Builds the configuration."""

        def __init__(self) -> None: ...

        def set_port(self, port: Any) -> Any:
            """Set the port, and return the builder."""

        def set_host(self, host: Any) -> Any:
            """Set the host, and return the builder."""

        def set_virtual_host(self, vhost: Any) -> Any:
            """Set the virtual host, and return the builder."""

        def set_user_name(self, user_name: Any) -> Any:
            """Set the user name, and return the builder."""

        def set_password(self, password: Any) -> Any:
            """Set the password, and return the builder."""

        def set_uri(self, uri: Any) -> Any:
            """Set the URI, and return the builder."""

        def set_topology_recovery_enabled(self, topology_recovery_enabled: Any) -> Any:
            """Set the topology recovery enabled, and return the builder."""

        def set_requested_heartbeat(self, requested_heartbeat: Any) -> Any:
            """Set the requested heartbeat, and return the builder."""

        def set_requested_frame_max(self, requested_frame_max: Any) -> Any:
            """Set the requested frame max, and return the builder."""

        def set_requested_channel_max(self, requested_channel_max: Any) -> Any:
            """Set the requested channel max, and return the builder."""

        def set_network_recovery_interval(self, network_recovery_interval: Any) -> Any:
            """Set the network recovery interval, and return the builder."""

        def set_connection_timeout(self, connection_timeout: Any) -> Any:
            """Set the connection timeout, and return the builder."""

        def set_automatic_recovery(self, automatic_recovery: Any) -> Any:
            """Set the automatic recovery, and return the builder."""

        def set_prefetch_count(self, prefetch_count: Any) -> Any:
            """Set the prefetch count, and return the builder."""

        def build(self) -> Any:
            """Return what is built."""


@unsupported(_REASON)
class RMQSource:
    """Reads a queue."""

    def __init__(
        self,
        connection_config: Any,
        queue_name: Any,
        use_correlation_id: Any,
        deserialization_schema: Any,
    ) -> None: ...


@unsupported(_REASON)
class RMQSink:
    """Publishes into a queue."""

    def __init__(
        self, connection_config: Any, queue_name: Any, serialization_schema: Any
    ) -> None: ...
