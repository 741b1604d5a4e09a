"""Kinesis as source and sink, which Spark has no connector for."""

from __future__ import annotations

from typing import Any

from pyflow.util.unsupported import unsupported

__all__ = [
    "FlinkKinesisConsumer",
    "KinesisDeserializationSchema",
    "KinesisFirehoseSink",
    "KinesisFirehoseSinkBuilder",
    "KinesisShardAssigner",
    "KinesisStreamsSink",
    "KinesisStreamsSinkBuilder",
    "PartitionKeyGenerator",
    "WatermarkTracker",
]

_REASON = (
    "Spark has no source and no sink for Kinesis of its own. Give the session the jar of a "
    "connector for Spark such as AWS's 'aws-kinesis', and write a subclass of "
    "pyflow.datastream.connectors.Source or Sink that reads or writes frames with it"
)


@unsupported(_REASON)
class KinesisShardAssigner:
    """Says which task reads a shard."""

    def __init__(self, j_kinesis_shard_assigner: Any) -> None: ...

    @staticmethod
    def default_shard_assigner() -> Any:
        """Return the default one."""

    @staticmethod
    def uniform_shard_assigner() -> Any:
        """Return the one for evenly used shards."""


@unsupported(_REASON)
class KinesisDeserializationSchema:
    """Makes elements of records."""

    def __init__(self, j_kinesis_deserialization_schema: Any) -> None: ...


@unsupported(_REASON)
class WatermarkTracker:
    """Has tasks wait for each other."""

    def __init__(self, j_watermark_tracker: Any) -> None: ...

    @staticmethod
    def job_manager_watermark_tracker(
        aggregate_name: Any, log_accumulator_interval_millis: Any = -1
    ) -> Any:
        """Return the one of the job manager."""


@unsupported(_REASON)
class FlinkKinesisConsumer:
    """Reads streams of Kinesis."""

    def __init__(self, streams: Any, deserializer: Any, config_props: Any) -> None: ...

    def set_shard_assigner(self, shard_assigner: Any) -> Any:
        """Set the shard assigner, and return the builder."""

    def set_periodic_watermark_assigner(self, periodic_watermark_assigner: Any) -> Any:
        """Set the periodic watermark assigner, and return the builder."""

    def set_watermark_tracker(self, watermark_tracker: Any) -> Any:
        """Set the watermark tracker, and return the builder."""


@unsupported(_REASON)
class PartitionKeyGenerator:
    """Makes the key of a record."""

    def __init__(self, j_partition_key_generator: Any) -> None: ...

    @staticmethod
    def fixed() -> Any:
        """Return the one of a fixed value."""

    @staticmethod
    def random() -> Any:
        """Return the one of random keys."""


@unsupported(_REASON)
class KinesisStreamsSink:
    """Writes into a stream of Kinesis."""

    def __init__(self, j_kinesis_streams_sink: Any) -> None: ...

    @staticmethod
    def builder() -> Any:
        """Return a builder."""


@unsupported(_REASON)
class KinesisStreamsSinkBuilder:
    """Builds a sink."""

    def __init__(self) -> None: ...

    def set_stream_name(self, stream_name: Any) -> Any:
        """Set the stream name, and return the builder."""

    def set_serialization_schema(self, serialization_schema: Any) -> Any:
        """Set the serialization schema, and return the builder."""

    def set_partition_key_generator(self, partition_key_generator: Any) -> Any:
        """Set the partition key generator, and return the builder."""

    def set_fail_on_error(self, fail_on_error: Any) -> Any:
        """Set the fail on error, and return the builder."""

    def set_kinesis_client_properties(self, kinesis_client_properties: Any) -> Any:
        """Set the kinesis client properties, and return the builder."""

    def set_max_batch_size(self, max_batch_size: Any) -> Any:
        """Set the max batch size, and return the builder."""

    def set_max_in_flight_requests(self, max_in_flight_requests: Any) -> Any:
        """Set the max in flight requests, and return the builder."""

    def set_max_buffered_requests(self, max_buffered_requests: Any) -> Any:
        """Set the max buffered requests, and return the builder."""

    def set_max_batch_size_in_bytes(self, max_batch_size_in_bytes: Any) -> Any:
        """Set the max batch size in bytes, and return the builder."""

    def set_max_time_in_buffer_ms(self, max_time_in_buffer_ms: Any) -> Any:
        """Set the max time in buffer milliseconds, and return the builder."""

    def set_max_record_size_in_bytes(self, max_record_size_in_bytes: Any) -> Any:
        """Set the max record size in bytes, and return the builder."""

    def build(self) -> Any:
        """Return what is built."""


@unsupported(_REASON)
class KinesisFirehoseSink:
    """Writes into a delivery stream of Firehose."""

    def __init__(self, j_kinesis_firehose_sink: Any) -> None: ...

    @staticmethod
    def builder() -> Any:
        """Return a builder."""


@unsupported(_REASON)
class KinesisFirehoseSinkBuilder:
    """Builds a sink."""

    def __init__(self) -> None: ...

    def set_delivery_stream_name(self, delivery_stream_name: Any) -> Any:
        """Set the delivery stream name, and return the builder."""

    def set_serialization_schema(self, serialization_schema: Any) -> Any:
        """Set the serialization schema, and return the builder."""

    def set_fail_on_error(self, fail_on_error: Any) -> Any:
        """Set the fail on error, and return the builder."""

    def set_firehose_client_properties(self, firehose_client_properties: Any) -> Any:
        """Set the firehose client properties, and return the builder."""

    def set_max_batch_size(self, max_batch_size: Any) -> Any:
        """Set the max batch size, and return the builder."""

    def set_max_in_flight_requests(self, max_in_flight_requests: Any) -> Any:
        """Set the max in flight requests, and return the builder."""

    def set_max_buffered_requests(self, max_buffered_requests: Any) -> Any:
        """Set the max buffered requests, and return the builder."""

    def set_max_batch_size_in_bytes(self, max_batch_size_in_bytes: Any) -> Any:
        """Set the max batch size in bytes, and return the builder."""

    def set_max_time_in_buffer_ms(self, max_time_in_buffer_ms: Any) -> Any:
        """Set the max time in buffer milliseconds, and return the builder."""

    def set_max_record_size_in_bytes(self, max_record_size_in_bytes: Any) -> Any:
        """Set the max record size in bytes, and return the builder."""

    def build(self) -> Any:
        """Return what is built."""
