"""Topics of Kafka as sources."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyflow.common.serialization import DeserializationSchema
from pyflow.connectors.kafka_client import (
    Brokers,
    Partition,
    client_options,
    load_records,
    subscribed_pattern,
)
from pyflow.datastream.connectors.base import LATEST, Boundedness, Source, SourceRows
from pyflow.datastream.connectors.kafka_offsets import (
    KafkaOffsetsInitializer,
    KafkaTopicPartition,
    Position,
    known_offsets,
    numbers_as_json,
    offsets_as_json,
    offsets_from_json,
)
from pyflow.datastream.connectors.kafka_properties import (
    GROUP,
    SERVERS,
    check_reachable,
    checked_properties,
)
from pyflow.datastream.connectors.kafka_records import (
    ConsumerRecord,
    RecordDecoder,
    ValueDecoder,
    ValueOf,
)
from pyflow.datastream.output_tag import OutputTag
from pyflow.session.streams import as_stream
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pyflow.common.typeinfo import TypeInformation
    from pyflow.session.context import Context

__all__ = ["KafkaSource", "KafkaSourceBuilder", "Reading", "TopicSource"]


@dataclass(frozen=True)
class Reading:
    """What a source reads."""

    properties: Mapping[str, str] = field(default_factory=dict)
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    partitions: frozenset[Partition] = frozenset()
    start: KafkaOffsetsInitializer = field(default_factory=KafkaOffsetsInitializer.earliest)
    stop: KafkaOffsetsInitializer | None = None
    is_bounded: bool = False
    schema: DeserializationSchema | None = None
    function: Callable[[ConsumerRecord], Any] | None = None
    type_info: TypeInformation | None = None
    failed: OutputTag | None = None

    def subscription(self) -> dict[str, str]:
        """Return Spark's option that says what is read."""
        if self.pattern is not None:
            return subscribed_pattern(self.pattern)
        if self.partitions:
            return {"assign": numbers_as_json(self.partitions)}
        return {"subscribe": ",".join(self.topics)}

    def produced_type(self) -> TypeInformation | None:
        """Return the type of the elements."""
        return self.type_info if self.schema is None else self.schema.get_produced_type()

    def end(self) -> str:
        """Return in words where an unbounded source ends; empty where it does not."""
        stop = self.stop
        if stop is None or self.is_bounded:
            return ""
        if stop.position == Position.TIMESTAMP:
            return f"timestamp {stop.milliseconds}"
        if stop.position == Position.LATEST:
            return LATEST
        committed = f"committed by {self.properties.get(GROUP)!r}, else {stop.reset.name}"
        return f"offsets {offsets_as_json(stop.by_partition)}, {committed}"

    def decoder(self) -> ValueDecoder | RecordDecoder:
        """Return what makes elements of records."""
        if self.failed is None and self.schema is not None:
            return ValueDecoder(self.schema)
        function = self.function if self.schema is None else ValueOf(self.schema)
        assert function is not None
        return RecordDecoder(function, None if self.failed is None else self.failed.tag_id)


class _Bounds:
    """Where a source starts and stops, as Spark's options.

    Spark knows the first and last offsets and those of a time. It takes other ones for all
    partitions or none, so that brokers are asked for the rest.
    """

    def __init__(self, reading: Reading, context: Context) -> None:
        self._reading = reading
        self._session = context.session

    def options(self, is_resumed: bool) -> dict[str, str]:
        """Return the options of the start, and of the end of a bounded source.

        A query that is resumed starts where it stopped, and new partitions at their beginning.
        """
        reading = self._reading
        if is_resumed and not reading.is_bounded:
            return {"startingOffsets": "earliest"}
        stop = reading.stop
        if stop is None or not reading.is_bounded:
            return self._start()
        if stop.position == Position.LATEST:
            return {**self._start(), "endingOffsets": "latest"}
        if stop.position == Position.TIMESTAMP and not self._has_jvm():
            return {**self._start(), "endingTimestamp": str(stop.milliseconds)}
        starts, ends = self._resolved(reading.start, stop)
        # Spark refuses to start after the end, where there is nothing to read.
        starts = {each: min(offset, ends[each]) for each, offset in starts.items()}
        return {"startingOffsets": offsets_as_json(starts), "endingOffsets": offsets_as_json(ends)}

    def _start(self) -> dict[str, str]:
        start, is_bounded = self._reading.start, self._reading.is_bounded
        if start.position == Position.EARLIEST:
            return {"startingOffsets": "earliest"}
        if start.position == Position.LATEST and not is_bounded:
            return {"startingOffsets": "latest"}
        if start.position == Position.TIMESTAMP:
            return {
                "startingTimestamp": str(start.milliseconds),
                "startingOffsetsByTimestampStrategy": "latest",
            }
        (starts,) = self._resolved(start)
        return {"startingOffsets": offsets_as_json(starts)}

    def ends(self) -> dict[Partition, int]:
        """Return the offsets at which a source ends."""
        assert self._reading.stop is not None
        (ends,) = self._resolved(self._reading.stop)
        return ends

    def before_end(self, frame: DataFrame, stops_at: str | None) -> DataFrame:
        """Return the records of a stream until the end of an unbounded source that has one.

        Parameters
        ----------
        frame : DataFrame
        stops_at : str or None
            Its offsets as JSON; empty where the query ends by itself, and None where it is not
            known yet.
        """
        from pyspark.sql import functions as F

        if self._reading.stop is None or stops_at == "":
            return frame
        condition = F.lit(False)
        ends = self.ends() if stops_at is None else offsets_from_json(stops_at)
        for (topic, number), offset in ends.items():
            found = (F.col("topic") == topic) & (F.col("partition") == number)
            condition = condition | (found & (F.col("offset") < offset))
        return frame.filter(condition)

    def _has_jvm(self) -> bool:
        return hasattr(self._session, "_jsparkSession")

    def _resolved(self, *wanted: KafkaOffsetsInitializer) -> list[dict[Partition, int]]:
        """Return the offsets of the partitions, for each of what is wanted."""
        reading = self._reading
        if not self._has_jvm():
            raise TableException(
                "KafkaSource: over Spark Connect, offsets are earliest(), latest() or timestamp(), "
                f"not {' and '.join(each.position.value for each in wanted)}."
            )
        with Brokers(self._session, reading.properties) as brokers:
            partitions = list(reading.partitions)
            if not partitions:
                topics: Iterable[str] = reading.topics
                if reading.pattern is not None:
                    topics = brokers.topics(reading.pattern)
                partitions = brokers.partitions(topics)
            group = reading.properties.get(GROUP)
            return [known_offsets(each, partitions, brokers, group) for each in wanted]


class TopicSource(Source):
    """What sources of topics have in common."""

    supports_real_time = True
    kind = "KafkaSource"

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._stops_at: str | None = None
        ((how, what),) = reading.subscription().items()
        self.reads = f"{how} {what}"

    @property
    def origin(self) -> str:  # type: ignore[override]
        """The addresses of the brokers."""
        return self._reading.properties.get(SERVERS, "")

    @property
    def stop(self) -> str:  # type: ignore[override]
        """What an unbounded source ends at, in words."""
        return self._reading.end()

    def stops_at(self, context: Context) -> str:
        """Return the offsets at which an unbounded source ends, as JSON."""
        check_reachable(context, self._reading.properties, "KafkaSource")
        return offsets_as_json(_Bounds(self._reading, context).ends())

    def stopping_at(self, position: str) -> TopicSource:
        """Return the same source that ends at these offsets."""
        made = copy.copy(self)
        made._stops_at = position
        return made

    def continues(self, reads: str) -> bool:
        """Return whether it reads the same topics and more."""
        how, _, what = reads.partition(" ")
        if how == "subscribe" and self._reading.topics:
            return set(what.split(",")) <= set(self._reading.topics)
        return how != "assign" and self._reading.pattern is not None

    @property
    def ends(self) -> bool:  # type: ignore[override]
        """Whether it is unbounded and ends."""
        return self._reading.stop is not None and not self._reading.is_bounded

    @property
    def side_outputs(self) -> tuple[str, ...]:  # type: ignore[override]
        """The side output of failed records, if there is one."""
        failed = self._reading.failed
        return () if failed is None else (failed.tag_id,)

    def boundedness(self) -> Boundedness:
        """Return whether the source ends, as `KafkaSourceBuilder.set_bounded` says."""
        is_bounded = self._reading.is_bounded
        return Boundedness.BOUNDED if is_bounded else Boundedness.CONTINUOUS_UNBOUNDED

    def produced_type(self) -> TypeInformation | None:
        """Return the type of the elements; None for any objects."""
        return self._reading.produced_type()

    def read(self, context: Context, is_streaming: bool) -> SourceRows:
        """Return the records.

        Raises
        ------
        TableException
            If no broker can be reached, or partitions have no offset to start from.
        """
        from pyspark.sql import functions as F

        reading = self._reading
        check_reachable(context, reading.properties, "KafkaSource")
        bounds = _Bounds(reading, context)
        options = {
            **client_options(reading.properties, is_source=True),
            **reading.subscription(),
            **bounds.options(context.kept_rows is not None and context.kept_rows.is_read),
        }
        columns = [
            F.col("value"),
            F.unix_millis("timestamp").alias("timestamp"),
            *map(F.col, ("topic", "partition", "offset")),
        ]
        decoder = reading.decoder()
        has_all = isinstance(decoder, RecordDecoder)
        if has_all:
            columns += map(F.col, ("key", "timestampType", "headers"))
        frame = load_records(context.session, not reading.is_bounded, options, has_all)
        frame = frame if reading.is_bounded else bounds.before_end(frame, self._stops_at)
        frame = frame.select(*columns)
        if reading.is_bounded and is_streaming:
            frame = as_stream(frame, context)
        return SourceRows(frame, decoder, reading.produced_type())


class KafkaSource(TopicSource):
    """Reads records of topics; made by a `KafkaSourceBuilder`."""

    @staticmethod
    def builder() -> KafkaSourceBuilder:
        """Return a builder of a source."""
        return KafkaSourceBuilder()


class KafkaSourceBuilder:
    """Makes a `KafkaSource`. It needs brokers, topics and a deserializer."""

    def __init__(self) -> None:
        self._reading = Reading()
        self._subscription: str | None = None

    def build(self) -> KafkaSource:
        """Return the source.

        Raises
        ------
        ValueError
            If something is missing.
        """
        reading = self._reading
        if SERVERS not in reading.properties:
            raise ValueError(f"Property {SERVERS} is required but not provided")
        if self._subscription is None:
            raise ValueError(
                "No subscribe mode is specified, should be one of topics, topic pattern and "
                "partition set."
            )
        if reading.schema is None and reading.function is None:
            raise ValueError("Deserialization schema is required but not provided.")
        self._check_group(reading)
        return KafkaSource(reading)

    @staticmethod
    def _check_group(reading: Reading) -> None:
        if GROUP in reading.properties:
            return
        for offsets in (reading.start, reading.stop):
            if offsets is not None and offsets.position == Position.COMMITTED:
                raise ValueError(
                    f"Property {GROUP} is required when using committed offset for offsets "
                    "initializer"
                )
        if reading.properties.get("commit.offsets.on.checkpoint") == "true":
            raise ValueError(f"Property {GROUP} is required when offset commit is enabled")

    def set_bootstrap_servers(self, bootstrap_servers: str) -> KafkaSourceBuilder:
        """Set the addresses of brokers, as ``host:port,host:port``."""
        return self.set_property(SERVERS, bootstrap_servers)

    def set_group_id(self, group_id: str) -> KafkaSourceBuilder:
        """Set the group, whose name those of Spark's consumers begin with."""
        return self.set_property(GROUP, group_id)

    def set_topics(self, *topics: str) -> KafkaSourceBuilder:
        """Read these topics.

        Raises
        ------
        ValueError
            If what is read has been set already; so do `set_topic_pattern` and `set_partitions`.
        """
        return self._subscribed("topics", topics=topics)

    def set_topic_pattern(self, topic_pattern: str) -> KafkaSourceBuilder:
        """Read the topics whose whole names a regular expression of Java matches."""
        return self._subscribed("topic pattern", pattern=topic_pattern)

    def set_partitions(self, partitions: set[KafkaTopicPartition]) -> KafkaSourceBuilder:
        """Read these partitions alone."""
        found = frozenset((each.topic, each.partition) for each in partitions)
        return self._subscribed("partition set", partitions=found)

    def _subscribed(self, kind: str, **what: Any) -> KafkaSourceBuilder:
        if self._subscription is not None:
            raise ValueError(
                f"Cannot use {kind} for consumption because a {self._subscription} is already set "
                "for consumption."
            )
        self._subscription = kind
        return self._with(**what)

    def set_starting_offsets(
        self, starting_offsets_initializer: KafkaOffsetsInitializer
    ) -> KafkaSourceBuilder:
        """Set where a source starts that has no checkpoint: at the earliest offsets by default."""
        return self._with(start=starting_offsets_initializer)

    def set_unbounded(
        self, stopping_offsets_initializer: KafkaOffsetsInitializer
    ) -> KafkaSourceBuilder:
        """Set where an unbounded source stops, among the records that there are when it starts."""
        return self._stopped(stopping_offsets_initializer, False)

    def set_bounded(
        self, stopping_offsets_initializer: KafkaOffsetsInitializer
    ) -> KafkaSourceBuilder:
        """Set where the source stops, which becomes a bounded one."""
        return self._stopped(stopping_offsets_initializer, True)

    def _stopped(self, stop: KafkaOffsetsInitializer, is_bounded: bool) -> KafkaSourceBuilder:
        if stop.position == Position.EARLIEST:
            raise ValueError("a source that stops at the earliest offsets reads nothing")
        return self._with(stop=stop, is_bounded=is_bounded)

    def set_value_only_deserializer(
        self, deserialization_schema: DeserializationSchema
    ) -> KafkaSourceBuilder:
        """Set what makes elements of the values of records."""
        if not isinstance(deserialization_schema, DeserializationSchema):
            raise TypeError(f"expected a DeserializationSchema, got {deserialization_schema!r}")
        return self._with(schema=deserialization_schema, function=None)

    def set_record_deserializer(
        self,
        function: Callable[[ConsumerRecord], Any],
        type_info: TypeInformation | None = None,
    ) -> KafkaSourceBuilder:
        """Set what makes elements of whole records. PyFlow's own.

        Parameters
        ----------
        function : callable
            Of a `ConsumerRecord`: topic, partition, offset, timestamp, key, value and headers. It
            returns None for records that are left out.
        type_info : TypeInformation, optional
            Of the elements.
        """
        if not callable(function):
            raise TypeError(f"expected a callable, got {function!r}")
        return self._with(schema=None, function=function, type_info=type_info)

    def set_failed_records_output(self, output_tag: OutputTag) -> KafkaSourceBuilder:
        """Send records that the deserializer fails at to a side output. PyFlow's own.

        Without it, such a record fails the job. The side output is read by
        ``env.from_source(...).get_side_output(output_tag)``; its elements are `FailedRecord`.

        Parameters
        ----------
        output_tag : OutputTag
            Of any objects.
        """
        if not isinstance(output_tag, OutputTag):
            raise TypeError(f"expected an OutputTag, got {output_tag!r}")
        return self._with(failed=output_tag)

    def set_client_id_prefix(self, prefix: str) -> KafkaSourceBuilder:
        """Set what names of clients begin with. Spark names them itself."""
        return self.set_property("client.id.prefix", prefix)

    def set_property(self, key: str, value: str) -> KafkaSourceBuilder:
        """Set a property of Kafka's consumers. Those that Spark sets itself have no effect."""
        return self.set_properties({key: value})

    def set_properties(self, props: Mapping[str, str]) -> KafkaSourceBuilder:
        """Set properties of Kafka's consumers."""
        return self._with(properties={**self._reading.properties, **checked_properties(props)})

    def _with(self, **changed: Any) -> KafkaSourceBuilder:
        self._reading = replace(self._reading, **changed)
        return self
