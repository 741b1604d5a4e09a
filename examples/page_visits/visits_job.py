"""The stream program: visits of a site, made of page views that come through Kafka.

It is a program for PyFlink but for its imports. A visit is a session: views of a user with less
than a gap between them. Views that come after their visit has ended go to a topic of their own, so
that each view is in a visit or there. Started again, the program goes on from its checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from pyflow.common import Duration, Time, Types, WatermarkStrategy
from pyflow.common.serialization import SimpleStringSchema
from pyflow.common.watermark_strategy import TimestampAssigner
from pyflow.datastream import (
    DataStream,
    OutputTag,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from pyflow.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from pyflow.datastream.window import EventTimeSessionWindows, TimeWindow

LATE = OutputTag("late", Types.PICKLED_BYTE_ARRAY())
GAP = Time.seconds(5)
OUT_OF_ORDER = Duration.of_seconds(2)


class ViewTime(TimestampAssigner):
    """The time at which a page was viewed."""

    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        """Return it in milliseconds."""
        return value["at"]


class Visit(ProcessWindowFunction[Any, Any, str, TimeWindow]):
    """Makes a visit of the views of a session."""

    def process(
        self,
        key: str,
        context: ProcessWindowFunction.Context[TimeWindow],
        elements: Iterable[Any],
    ) -> Iterator[Any]:
        """Return who has viewed which pages, and for how long."""
        views = sorted(elements, key=lambda view: view["at"])
        yield {
            "user": key,
            "start": views[0]["at"],
            "seconds": (views[-1]["at"] - views[0]["at"]) / 1000,
            "pages": [view["page"] for view in views],
            "views": [view["id"] for view in views],
        }


def build(
    env: StreamExecutionEnvironment, servers: str, views: str, visits: str, late: str
) -> None:
    """Define the program.

    Parameters
    ----------
    env
        The environment, whose `execute()` runs it.
    servers
        Addresses of brokers, as ``127.0.0.1:9092``.
    views, visits, late
        The topics.
    """
    source = (
        KafkaSource.builder()
        .set_bootstrap_servers(servers)
        .set_topics(views)
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_value_only_deserializer(SimpleStringSchema())
        .build()
    )
    watermarks = WatermarkStrategy.for_bounded_out_of_orderness(OUT_OF_ORDER)
    found = (
        env.from_source(source, WatermarkStrategy.no_watermarks(), "page views")
        .map(json.loads)
        .assign_timestamps_and_watermarks(watermarks.with_timestamp_assigner(ViewTime()))
        .key_by(lambda view: view["user"])
        .window(EventTimeSessionWindows.with_gap(GAP))
        .side_output_late_data(LATE)
        .process(Visit())
        .uid("visits")
    )
    _write(found, servers, visits)
    _write(found.get_side_output(LATE), servers, late)


def _write(stream: DataStream, servers: str, topic: str) -> None:
    records = KafkaRecordSerializationSchema.builder().set_topic(topic)
    records.set_value_serialization_schema(SimpleStringSchema())
    sink = KafkaSink.builder().set_bootstrap_servers(servers)
    stream.map(json.dumps, Types.STRING()).sink_to(
        sink.set_record_serializer(records.build()).build()
    ).name(topic)
