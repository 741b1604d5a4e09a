"""Sources and sinks of data streams, under the names of ``pyflink.datastream.connectors``.

What is imported comes from the module that has it, so that one connector is loaded and no others.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pyflow.datastream.connectors.base import DeliveryGuarantee, Sink, Source

__all__ = ["DeliveryGuarantee", "Sink", "Source"]

# What programs for older versions import from here.
_MODULES = {
    "number_seq": "NumberSequenceSource",
    "jdbc": "JdbcSink JdbcConnectionOptions JdbcExecutionOptions",
    "kafka": "FlinkKafkaConsumer FlinkKafkaProducer KafkaOffsetResetStrategy "
    "KafkaOffsetsInitializer KafkaRecordSerializationSchema KafkaSink KafkaSource "
    "KafkaTopicPartition Semantic",
    "dynamic_kafka": "DynamicKafkaSource DynamicKafkaSourceBuilder KafkaMetadataService "
    "KafkaRecordDeserializationSchema KafkaStreamSetSubscriber KafkaStreamSubscriber "
    "SingleClusterTopicMetadataService StreamPatternSubscriber",
    "pulsar": "PulsarSource PulsarSourceBuilder StartCursor StopCursor",
    "rabbitmq": "RMQSource RMQSink RMQConnectionConfig",
    "file_system": "BucketAssigner FileEnumeratorProvider FileSink FileSplitAssignerProvider "
    "FileSource FileSourceBuilder OutputFileConfig RollingPolicy StreamFormat StreamingFileSink",
}
_NAMES = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(import_module(f"{__name__}.{_NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAMES})
