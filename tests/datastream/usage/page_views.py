"""Page views from Kafka, counted per page and ten seconds, go back to Kafka."""

from pyflow.common import Duration, Row, Time, Types, WatermarkStrategy
from pyflow.common.watermark_strategy import TimestampAssigner
from pyflow.datastream import AggregateFunction, ProcessWindowFunction
from pyflow.datastream.connectors.base import DeliveryGuarantee
from pyflow.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from pyflow.datastream.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema
from pyflow.datastream.window import TumblingEventTimeWindows

VIEW = Types.ROW_NAMED(["page", "user", "at"], [Types.STRING(), Types.STRING(), Types.LONG()])
COUNT = Types.ROW_NAMED(
    ["page", "start", "views", "users"],
    [Types.STRING(), Types.LONG(), Types.LONG(), Types.LONG()],
)


class ViewTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value.at


class Views(AggregateFunction):
    """The number of views, and who has viewed."""

    def create_accumulator(self):
        return 0, set()

    def add(self, value, accumulator):
        views, users = accumulator
        return views + 1, users | {value.user}

    def get_result(self, accumulator):
        views, users = accumulator
        return views, len(users)

    def merge(self, acc_a, acc_b):
        return acc_a[0] + acc_b[0], acc_a[1] | acc_b[1]


class WithWindow(ProcessWindowFunction):
    def process(self, key, context, elements):
        for views, users in elements:
            yield Row(page=key, start=context.window().start, views=views, users=users)


def build(env, servers, views_topic, counts_topic, is_bounded):
    read = JsonRowDeserializationSchema.builder().type_info(VIEW).build()
    source = (
        KafkaSource.builder()
        .set_bootstrap_servers(servers)
        .set_topics(views_topic)
        .set_group_id("page-views")
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_value_only_deserializer(read)
    )
    if is_bounded:
        source.set_bounded(KafkaOffsetsInitializer.latest())
    write = JsonRowSerializationSchema.builder().with_type_info(COUNT).build()
    sink = (
        KafkaSink.builder()
        .set_bootstrap_servers(servers)
        .set_record_serializer(
            KafkaRecordSerializationSchema.builder()
            .set_topic(counts_topic)
            .set_value_serialization_schema(write)
            .build()
        )
        .set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
        .build()
    )
    watermarks = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(2))
    (
        env.from_source(source.build(), watermarks.with_timestamp_assigner(ViewTime()), "views")
        .key_by(lambda view: view.page, key_type=Types.STRING())
        .window(TumblingEventTimeWindows.of(Time.seconds(10)))
        .aggregate(Views(), WithWindow(), output_type=COUNT)
        .sink_to(sink)
    )
