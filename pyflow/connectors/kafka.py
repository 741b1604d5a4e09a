"""The connector ``kafka``: records of topics, read and appended to by Spark's connector."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pyspark.sql import functions as F

from pyflow.connectors.connector import (
    Connector,
    DescribedTable,
    Metadata,
    Option,
    duration,
    integer,
    one_of,
)
from pyflow.connectors.formats import FORMATS, Format, format_class, values_of
from pyflow.connectors.formats.files import FileFormat
from pyflow.connectors.kafka_client import (
    check_brokers,
    client_options,
    load_records,
    subscribed_pattern,
)
from pyflow.table.changes.changelog import in_order, numbered, places
from pyflow.table.changes.relation import INSERT, KIND, SEQUENCE, column
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import DataType
from pyflow.types.spark_types import to_spark
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from pyflow.connectors.formats.format import Fields
    from pyflow.session.context import Context
    from pyflow.table.changes.relation import Relation

_KEY, _VALUE = "$key", "$value"

#: Formats of the bytes of records.
RECORDS = {name: made for name, made in FORMATS.items() if not issubclass(made, FileFormat)}
_APPENDED = {name: made for name, made in RECORDS.items() if not made.has_changes}

_STARTUP = ("earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets")
_BOUNDED = ("unbounded", "latest-offset", "group-offsets", "timestamp", "specific-offsets")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(";") if name.strip()]


def _offsets(text: str) -> dict[str, int]:
    """Read ``partition:0,offset:42;partition:1,offset:300``."""
    found = {}
    for part in filter(None, (each.strip() for each in text.split(";"))):
        match = re.fullmatch(r"partition:\s*(\d+)\s*,\s*offset:\s*(\d+)", part)
        if match is None:
            raise ValueError(text)
        found[match[1]] = int(match[2])
    if not found:
        raise ValueError(text)
    return found


_HEADERS = "array<struct<key:string,value:binary>>"
_WHERE = "offsets as partition:0,offset:42;partition:1,offset:300"


class KafkaRecords(Connector):
    """What the connectors of Kafka have in common: where topics are, and bytes of rows."""

    options: ClassVar[tuple[Option, ...]] = (
        Option("topic", _names, "names of topics with ; between them"),
        Option("properties.#"),
        Option("properties.bootstrap.servers", required=True),
        Option("key.format"),
        Option("key.fields-prefix", default=""),
        Option("value.format"),
        Option(
            "value.fields-include", one_of("ALL", "EXCEPT_KEY"), "ALL or EXCEPT_KEY", default="ALL"
        ),
        Option("sink.parallelism", integer, "an integer"),
        Option("sink.transactional-id-prefix"),
        Option(
            "sink.delivery-guarantee",
            one_of("none", "at-least-once", "exactly-once"),
            "none or at-least-once",
            default="at-least-once",
        ),
    )
    metadata: ClassVar[Mapping[str, DataType]] = {
        "topic": DataTypes.STRING().not_null(),
        "partition": DataTypes.INT().not_null(),
        "offset": DataTypes.BIGINT().not_null(),
        "timestamp": DataTypes.TIMESTAMP_LTZ(3).not_null(),
        "timestamp-type": DataTypes.STRING().not_null(),
        "headers": DataTypes.MAP(DataTypes.STRING().not_null(), DataTypes.BYTES()).not_null(),
    }
    written_metadata = ("headers",)

    def _format(self, option: str, known: dict[str, type[Format]], prefix: str) -> Format:
        made = format_class(self.table, option, known)
        return made(self.table, values_of(made, prefix, self.values))

    def prefix(self) -> str:
        """Return what the names of the key's columns begin with in the table alone."""
        return str(self["key.fields-prefix"])

    def fields(self, names: Sequence[str]) -> Fields:
        """Return columns of the table with their types."""
        types = dict(self.table.columns)
        return [(name, types[name]) for name in names]

    def key_fields(self, names: Sequence[str]) -> Fields:
        """Return the fields of the key, by their names in the record."""
        prefix = self.prefix()
        for name in names:
            if not name.startswith(prefix):
                raise TableException(
                    f"Table {self.table.identifier}: all fields in 'key.fields' must be prefixed "
                    f"with {prefix!r} when option 'key.fields-prefix' is set, but field {name!r} "
                    "is not."
                )
        return [(name.removeprefix(prefix), data_type) for name, data_type in self.fields(names)]

    def value_fields(self, key: Sequence[str]) -> Fields:
        """Return the fields of the value."""
        if self["value.fields-include"] == "ALL":
            if self.prefix():
                raise TableException(
                    f"Table {self.table.identifier}: a key prefix is not allowed when option "
                    "'value.fields-include' is set to 'ALL'. Set it to 'EXCEPT_KEY' instead to "
                    "avoid field overlaps."
                )
            return self.table.columns
        return [each for each in self.table.columns if each[0] not in key]

    def client(self, source: bool) -> dict[str, str]:
        """Return Spark's options of the clients."""
        given = {
            key.removeprefix("properties."): str(value)
            for key, value in self.values.items()
            if key.startswith("properties.") and value is not None
        }
        return client_options(given, source)

    def reach(self, context: Context) -> None:
        """Raise where no broker can be reached from the driver, which runs here."""
        if not hasattr(context.session, "_jsparkSession"):
            return
        option = "properties.bootstrap.servers"
        try:
            check_brokers(self[option])
        except ValueError:
            raise self.wrong(option, self[option], "addresses as host:port,host:port") from None
        except ConnectionError as error:
            raise TableException(
                f"Table {self.table.identifier}: no broker can be reached at option {option!r} = "
                f"{self[option]!r} ({error})."
            ) from error

    def check_delivery(self) -> None:
        """Raise for what Spark's Kafka sink does not do."""
        if self["sink.delivery-guarantee"] == "exactly-once":
            raise TableException(
                f"Table {self.table.identifier}: option 'sink.delivery-guarantee' is "
                "'exactly-once', which Spark's sink for Kafka does not have: after a failure "
                "records may be there twice. Set 'at-least-once', or use 'upsert-kafka'."
            )

    def sink_topic(self) -> str:
        """Return the topic to write into."""
        topics = self["topic"]
        if topics is None or len(topics) != 1:
            raise TableException(
                f"Table {self.table.identifier}: a sink has one topic, in option 'topic', which "
                f"is {';'.join(topics or []) or 'missing'}."
            )
        return str(topics[0])

    def load(self, context: Context, bounded: bool, options: Mapping[str, str]) -> DataFrame:
        """Return the records of topics as Spark has them, with headers if a column needs these."""
        options = {**self.client(source=True), **options}
        has_headers = any(each.key == "headers" for each in self.table.metadata)
        return load_records(context.session, not bounded, options, has_headers)

    def records(self, loaded: DataFrame) -> DataFrame:
        """Return key and value of records, and the table's columns of metadata."""
        columns = [_metadata(each).alias(each.name) for each in self.table.metadata]
        return loaded.select(F.col("key").alias(_KEY), F.col("value").alias(_VALUE), *columns)

    def headers(self) -> list[Column]:
        """Return the column of headers as Spark writes them, if the table has one."""
        return [
            F.transform(
                F.map_entries(column(each.name)),
                lambda entry: F.struct(
                    entry.getField("key").alias("key"), entry.getField("value").alias("value")
                ),
            ).alias("headers")
            for each in self.table.metadata
            if each.written
        ]

    def fewer(self, frame: DataFrame) -> DataFrame:
        """Return the frame with as many partitions as asked for."""
        parallelism = self["sink.parallelism"]
        return frame if parallelism is None else frame.coalesce(parallelism)

    def save(self, frame: DataFrame, context: Context) -> None:
        """Write records."""
        self.reach(context)
        writer = self.fewer(frame).write.format("kafka").options(**self.client(source=False))
        writer.option("topic", self.sink_topic()).save()


def _metadata(each: Metadata) -> Column:
    if each.key == "timestamp-type":
        kinds = {-1: "NoTimestampType", 0: "CreateTime", 1: "LogAppendTime"}
        value = F.lit(None)
        for number, name in kinds.items():
            value = F.when(F.col("timestampType") == number, name).otherwise(value)
    elif each.key == "headers":
        headers = F.coalesce(F.col("headers"), F.array().cast(_HEADERS))
        # Of several with one key the last, as in Flink.
        value = F.map_from_entries(
            F.filter(
                headers,
                lambda entry, place: (
                    ~F.exists(
                        F.slice(headers, place + 2, F.size(headers)),
                        lambda later: later.getField("key") == entry.getField("key"),
                    )
                ),
            )
        )
    else:
        value = F.col(each.key)
    return value.cast(to_spark(each.data_type))


class Kafka(KafkaRecords):
    """A table of the records of topics."""

    identifier = "kafka"
    options = (
        *KafkaRecords.options,
        Option("topic-pattern"),
        Option("format"),
        Option("key.fields", _names, "names of columns with ; between them"),
        Option(
            "scan.startup.mode",
            one_of(*_STARTUP),
            f"one of {', '.join(_STARTUP)}",
            default="group-offsets",
        ),
        Option("scan.startup.specific-offsets", _offsets, _WHERE),
        Option("scan.startup.timestamp-millis", integer, "an integer"),
        Option(
            "scan.bounded.mode",
            one_of(*_BOUNDED),
            f"one of {', '.join(_BOUNDED)}",
            default="unbounded",
        ),
        Option("scan.bounded.specific-offsets", _offsets, _WHERE),
        Option("scan.bounded.timestamp-millis", integer, "an integer"),
        Option("scan.topic-partition-discovery.interval", duration, "a duration such as 10 s"),
        Option("sink.partitioner", one_of("default"), "default", default="default"),
    )

    def __init__(self, table: DescribedTable) -> None:
        option = "value.format" if "value.format" in table.options else "format"
        made = format_class(table, option, RECORDS)
        prefix = "value." if option == "value.format" else ""
        self._format_options = made.named_options(prefix)
        key = None
        if "key.format" in table.options:
            key = format_class(table, "key.format", _APPENDED)
            self._format_options += key.named_options("key.")
        super().__init__(table)
        self.format = made(table, values_of(made, prefix, self.values))
        self.takes_changes = self.format.has_changes
        self._key = self["key.fields"] or []
        self.key_format = None if key is None else key(table, values_of(key, "key.", self.values))
        self._check_key()
        if (self["topic"] is None) == (self["topic-pattern"] is None):
            raise TableException(
                f"Table {table.identifier}: exactly one of the options 'topic' and "
                "'topic-pattern' must be set."
            )
        self.format.check(self.value_fields(self._key))
        if self.key_format is not None:
            self.key_format.check(self.key_fields(self._key))

    def _check_key(self) -> None:
        name = self.table.identifier
        if bool(self._key) != (self.key_format is not None):
            raise TableException(
                f"Table {name}: the options 'key.format' and 'key.fields' must be set together."
            )
        for each in self._key:
            if each not in dict(self.table.columns):
                raise TableException(
                    f"Table {name}: could not find the field {each!r} of option 'key.fields' in "
                    "the table schema for usage in the key format. A key field must be a regular, "
                    "physical column."
                )
        if self.table.primary_key and not self.format.has_changes:
            raise TableException(
                f"Table {name}: the Kafka table with the format {self.format.identifier!r} "
                "doesn't support defining PRIMARY KEY constraint on the table, because it can't "
                "guarantee the semantic of primary key. Use 'upsert-kafka'."
            )

    def all_options(self) -> list[Option]:
        """Return the options of the connector and of the table's formats."""
        return [*self.options, *self._format_options]

    def read(self, context: Context) -> DataFrame:
        """Return the rows of the records; they are unbounded unless the table has a bound."""
        self.reach(context)
        records = self.records(self._load(context))
        kept = [each.name for each in self.table.metadata]
        values = self.value_fields(self._key)
        if self.key_format is not None and len(values) < len(self.table.columns):
            keys = self.key_fields(self._key)
            records = self.key_format.decoded(records, _KEY, keys, [_VALUE, *kept])
            named = {name: f"{_KEY}.{name}" for name, _ in keys}
            renamed = (column(name).alias(to) for name, to in named.items())
            records = records.select(column(_VALUE), *map(column, kept), *renamed)
        else:
            named = {}
        rows = self.format.decoded(records, _VALUE, values, [*kept, *named.values()])
        prefix = self.prefix()
        columns = [
            column(named[name.removeprefix(prefix)]).alias(name)
            if name in self._key and named
            else column(name)
            for name, _ in self.table.columns
        ]
        if self.format.has_changes:
            columns += [column(KIND), places(rows).alias(SEQUENCE)]
        return rows.select(*columns, *map(column, kept))

    def _load(self, context: Context) -> DataFrame:
        bounded = self["scan.bounded.mode"] != "unbounded"
        options = self._start(bounded)
        if bounded:
            options.update(self._end())
        if self["topic-pattern"] is not None:
            options.update(subscribed_pattern(self["topic-pattern"]))
        else:
            options["subscribe"] = ",".join(self["topic"])
        return self.load(context, bounded, options)

    def _needed(self, mode: str, option: str) -> Any:
        if self[option] is None:
            raise TableException(
                f"Table {self.table.identifier}: option {option!r} is missing, which "
                f"{mode!r} = {self[mode]!r} needs."
            )
        return self[option]

    def _by_partition(self, option: str, offsets: dict[str, int]) -> str:
        if self["topic"] is None or len(self["topic"]) != 1:
            raise TableException(
                f"Table {self.table.identifier}: option {option!r} needs one topic, in option "
                "'topic'."
            )
        return json.dumps({self["topic"][0]: offsets})

    def _start(self, bounded: bool) -> dict[str, str]:
        option = "scan.startup.mode"
        mode = self[option]
        if mode == "group-offsets":
            mode = self._without_group_offsets()
        if mode == "timestamp":
            time = self._needed(option, "scan.startup.timestamp-millis")
            return {
                "startingTimestamp": str(time),
                "startingOffsetsByTimestampStrategy": "latest",
            }
        if mode == "specific-offsets":
            where = "scan.startup.specific-offsets"
            return {"startingOffsets": self._by_partition(where, self._needed(option, where))}
        if mode == "latest-offset" and bounded:
            raise TableException(
                f"Table {self.table.identifier}: {option!r} = 'latest-offset' together with "
                f"'scan.bounded.mode' = {self['scan.bounded.mode']!r} leaves no records."
            )
        return {"startingOffsets": mode.removesuffix("-offset")}

    def _without_group_offsets(self) -> str:
        """Return where to start without offsets of a group.

        A query of Spark keeps its offsets in its checkpoint. It has none when it is first started,
        nor does a group that has committed nothing in Kafka.
        """
        option = "properties.auto.offset.reset"
        reset = self.values.get(option)
        if reset not in ("earliest", "latest"):
            raise TableException(
                f"Table {self.table.identifier}: 'scan.startup.mode' = 'group-offsets' starts from "
                "offsets that a group has committed. Spark keeps the offsets of a query in its "
                f"checkpoint instead; say where it begins by {option!r} = 'earliest' or 'latest', "
                "or by another 'scan.startup.mode'."
            )
        return f"{reset}-offset"

    def _end(self) -> dict[str, str]:
        option = "scan.bounded.mode"
        mode = self[option]
        if mode == "timestamp":
            time = self._needed(option, "scan.bounded.timestamp-millis")
            return {"endingTimestamp": str(time)}
        if mode == "specific-offsets":
            where = "scan.bounded.specific-offsets"
            return {"endingOffsets": self._by_partition(where, self._needed(option, where))}
        if mode == "group-offsets":
            raise TableException(
                f"Table {self.table.identifier}: {option!r} = 'group-offsets' is not supported: "
                "Spark keeps the offsets of a query in its checkpoint. Use 'specific-offsets'."
            )
        return {"endingOffsets": "latest"}

    def check_sink(self, overwrite: bool) -> None:
        """Raise for several topics, and for delivery guarantees that Spark does not support."""
        super().check_sink(overwrite)
        self.sink_topic()
        self.check_delivery()

    def write(self, rows: Relation, overwrite: bool, context: Context) -> None:
        """Append records; changes in their order."""
        changes = self.format.has_changes
        frame = in_order(numbered(rows)).coalesce(1) if changes else rows.frame
        self.save(self._records_of(frame), context)

    def stream_writer(self, rows: Relation, context: Context) -> DataStreamWriter | None:
        """Return Spark's writer of records; changes are written by the batch, in their order."""
        if rows.updating:
            return None
        self.reach(context)
        frame = rows.frame
        if self.format.has_changes:
            frame = frame.select("*", F.lit(INSERT).cast("tinyint").alias(KIND))
        writer = self.fewer(self._records_of(frame)).writeStream.format("kafka")
        return writer.options(**self.client(source=False)).option("topic", self.sink_topic())

    def _records_of(self, frame: DataFrame) -> DataFrame:
        columns = [self.format.encoded(self.value_fields(self._key)).alias("value")]
        if self.key_format is not None:
            prefix = self.prefix()
            key = self.key_format.encoded(
                self.key_fields(self._key), lambda name: column(prefix + name)
            )
            columns.append(key.alias("key"))
        return frame.select(*columns, *self.headers())
