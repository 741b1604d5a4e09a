"""Topics of Kafka as sources and sinks, by Spark's connector.

Spark's module ``org.apache.spark:spark-sql-kafka-0-10_2.13`` has to be among the session's jars, as
for tables of topics. A streaming query keeps its offsets in its checkpoint, and no offsets are
committed for its group.
"""

from __future__ import annotations

from pyflow.datastream.connectors.base import DeliveryGuarantee as DeliveryGuarantee
from pyflow.datastream.connectors.kafka_legacy import (
    FlinkKafkaConsumer,
    FlinkKafkaProducer,
    Semantic,
)
from pyflow.datastream.connectors.kafka_legacy import (
    FlinkKafkaConsumerBase as FlinkKafkaConsumerBase,
)
from pyflow.datastream.connectors.kafka_legacy import (
    FlinkKafkaProducerBase as FlinkKafkaProducerBase,
)
from pyflow.datastream.connectors.kafka_offsets import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaTopicPartition,
)
from pyflow.datastream.connectors.kafka_records import (
    ConsumerRecord,
    FailedRecord,
    KafkaTopicSelector,
)
from pyflow.datastream.connectors.kafka_sink import (
    KafkaRecordSerializationSchema,
    KafkaRecordSerializationSchemaBuilder,
    KafkaSink,
    KafkaSinkBuilder,
)
from pyflow.datastream.connectors.kafka_source import KafkaSource, KafkaSourceBuilder

__all__ = [
    "ConsumerRecord",
    "FailedRecord",
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
