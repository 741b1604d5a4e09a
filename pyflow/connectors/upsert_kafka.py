"""The connector ``upsert-kafka``: a table with a key in a topic, each record its row's newest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from pyflow.connectors.connector import DescribedTable, Option, duration, integer, one_of
from pyflow.connectors.formats import format_class, values_of
from pyflow.connectors.kafka import _APPENDED, _KEY, _VALUE, KafkaRecords
from pyflow.table.changes.changelog import net_changes, places
from pyflow.table.changes.relation import DELETE, DELETED, KIND, SEQUENCE, column
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pyflow.session.context import Context
    from pyflow.table.changes.relation import Relation


class UpsertKafka(KafkaRecords):
    """A table with a primary key: a record inserts or updates the row of its key, or deletes it."""

    identifier = "upsert-kafka"
    options = (
        *KafkaRecords.options,
        Option(
            "scan.bounded.mode",
            one_of("unbounded", "latest-offset"),
            "unbounded or latest-offset",
            default="unbounded",
        ),
        # The rows of a batch are written when it ends.
        Option("sink.buffer-flush.max-rows", integer, "an integer"),
        Option("sink.buffer-flush.interval", duration, "a duration such as 1 s"),
    )
    reads_upserts = True
    takes_changes = True
    applies_by_key = True

    def __init__(self, table: DescribedTable) -> None:
        key = format_class(table, "key.format", _APPENDED)
        value = format_class(table, "value.format", _APPENDED)
        self._format_options = [*key.named_options("key."), *value.named_options("value.")]
        super().__init__(table)
        if not table.primary_key:
            raise TableException(
                f"Table {table.identifier}: 'upsert-kafka' tables require to define a PRIMARY KEY "
                "constraint. The PRIMARY KEY specifies which columns should be read from or write "
                "to the Kafka message key."
            )
        self.key_format = key(table, values_of(key, "key.", self.values))
        self.format = value(table, values_of(value, "value.", self.values))
        self.key_format.check(self.key_fields(table.primary_key))
        self.format.check(self.value_fields(table.primary_key))

    def all_options(self) -> list[Option]:
        """Return the options of the connector and of the table's formats."""
        return [*self.options, *self._format_options]

    def read(self, context: Context) -> DataFrame:
        """Return each record as the newest row of its key."""
        self.reach(context)
        bounded = self["scan.bounded.mode"] != "unbounded"
        options = {"startingOffsets": "earliest", "subscribe": ",".join(self["topic"] or [])}
        if bounded:
            options["endingOffsets"] = "latest"
        loaded = self.load(context, bounded, options)
        records = self.records(loaded)
        kept = [each.name for each in self.table.metadata]
        marked = records.select(
            "*",
            column(_VALUE).isNull().alias(DELETED),
            places(records).alias(SEQUENCE),
        )
        primary = self.table.primary_key
        values = self.value_fields(primary)
        keys = self.key_fields(primary)
        beside = [DELETED, SEQUENCE, *kept]
        decoded = self.key_format.decoded(marked, _KEY, keys, [_VALUE, *beside])
        renamed = [column(short).alias(f"{_KEY}.{name}") for (short, _), name in zip(keys, primary)]
        named = decoded.select(column(_VALUE), *map(column, beside), *renamed)
        rows = self.format.decoded(
            named, _VALUE, values, [*beside, *(f"{_KEY}.{name}" for name in primary)], nulls=True
        )
        others = [name for name, _ in self.table.columns if name not in primary]
        return rows.select(
            *(column(f"{_KEY}.{name}").alias(name) for name in primary),
            *map(column, [*others, *beside]),
        )

    def check_sink(self, overwrite: bool) -> None:
        """Raise for several topics, and for delivery guarantees that Spark does not support."""
        super().check_sink(overwrite)
        self.sink_topic()
        self.check_delivery()

    def write(self, rows: Relation, overwrite: bool, context: Context) -> None:
        """Write a record for each key: the row that it has now, or none."""
        primary = self.table.primary_key
        changes = net_changes(rows, primary)
        prefix = self.prefix()
        key = self.key_format.encoded(self.key_fields(primary), lambda name: column(prefix + name))
        value = self.format.encoded(self.value_fields(primary))
        kept = F.when(column(KIND) != DELETE, value)
        frame = changes.frame.select(key.alias("key"), kept.alias("value"), *self.headers())
        self.save(frame, context)
