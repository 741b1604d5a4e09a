"""The formats ``debezium-json`` and ``canal-json``: changes from the logs of databases."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType as SparkArray
from pyspark.sql.types import StringType, StructField, StructType

from pyflow.connectors.connector import DescribedTable, Option, boolean
from pyflow.connectors.formats.format import PARSED, Format
from pyflow.connectors.formats.json import COMMON, PARSER, TEXT, JsonText
from pyflow.table.changes.relation import DELETE, INSERT, KIND, UPDATE_AFTER, UPDATE_BEFORE, column
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.connectors.formats.format import Fields

_CHANGES = "$changes"
_ROW = "$row"


class ChangeFormat(Format):
    """JSON objects, each with the changes of rows."""

    has_changes = True

    def __init__(self, table: DescribedTable, values: Mapping[str, Any]) -> None:
        super().__init__(table, values)
        self.json = JsonText(table, values)

    def check(self, fields: Fields) -> None:
        """Raise for types that JSON does not have."""
        for name, data_type in fields:
            self.json.shape(data_type, name)

    def decoded(
        self,
        frame: DataFrame,
        value: str,
        fields: Fields,
        kept: Sequence[str],
        nulls: bool = False,
    ) -> DataFrame:
        """Return a row for each change, with its KIND."""
        row = StructType([StructField(n, self.json.shape(t, n)) for n, t in fields])
        found = self.json.parsed(frame, value, self.shape(row), kept, nulls)
        changes = self.changes(fields)
        if self.json.lenient:
            whole = F.forall(changes, lambda change: change.getField(_ROW).isNotNull())
            changes = F.when(whole, changes)
        exploded = found.select(*map(column, kept), F.explode(changes).alias(_CHANGES))
        change = column(_CHANGES)
        columns = (change.getField(_ROW).getField(n).alias(n) for n, _ in fields)
        return exploded.select(*map(column, kept), *columns, change.getField(KIND).alias(KIND))

    @abstractmethod
    def shape(self, row: StructType) -> StructType:
        """Return the type of an object, made of that of a row."""

    @abstractmethod
    def changes(self, fields: Fields) -> Column:
        """Return the changes in the parsed object of a frame."""

    def row(self, parsed: Column, fields: Fields) -> Column:
        """Return the row of a parsed object; null if there is none."""
        columns = (self.json.value(parsed.getField(n), t, n).alias(n) for n, t in fields)
        return F.when(parsed.isNotNull(), F.struct(*columns))

    def needed(self, row: Column, what: str) -> Column:
        """Return a row, or an error where it is null."""
        if self.json.lenient:
            return row
        return F.when(row.isNull(), self.wrong(column(TEXT), what)).otherwise(row)

    def unknown(self, what: str) -> Column:
        """Return the changes of an object that cannot be understood."""
        if self.json.lenient:
            return F.lit(None)
        return self.wrong(column(TEXT), what)


def change(kind: int, row: Column) -> Column:
    """Return a change of a row."""
    return F.struct(F.lit(kind).cast("tinyint").alias(KIND), row.alias(_ROW))


class DebeziumJson(ChangeFormat):
    """Changes as Debezium tells them."""

    identifier = "debezium-json"
    options = (
        Option("schema-include", boolean, "true or false", default=False),
        *COMMON,
    )

    def shape(self, row: StructType) -> StructType:
        """Return the type of an object, made of that of a row."""
        payload = StructType(
            [
                StructField("before", row),
                StructField("after", row),
                StructField("op", StringType()),
            ]
        )
        if self.values["schema-include"]:
            return StructType([StructField("payload", payload)])
        return payload

    def changes(self, fields: Fields) -> Column:
        """Return the changes in the parsed object of a frame."""
        payload = column(PARSED)
        if self.values["schema-include"]:
            payload = payload.getField("payload")
        operation = payload.getField("op")
        before = self.row(payload.getField("before"), fields)
        after = self.row(payload.getField("after"), fields)
        full = (
            "a change without the row as it was ('before'), which PostgreSQL has when the "
            "table's REPLICA IDENTITY is FULL"
        )
        updated = F.array(
            change(UPDATE_BEFORE, self.needed(before, full)),
            change(UPDATE_AFTER, self.needed(after, "an update without 'after'")),
        )
        inserted = F.array(change(INSERT, self.needed(after, "an insertion without 'after'")))
        deleted = F.array(change(DELETE, self.needed(before, full)))
        return (
            F.when(operation.isin("c", "r"), inserted)
            .when(operation == "u", updated)
            .when(operation == "d", deleted)
            .otherwise(self.unknown("no change of Debezium, whose 'op' is c, r, u or d"))
        )

    def encoded(self, fields: Fields, source: Callable[[str], Column] = column) -> Column:
        """Return the JSON text of a change."""
        if self.values["schema-include"]:
            raise TableException(
                f"Table {self.table.identifier}: 'debezium-json.schema-include' is not supported "
                "when a table is written: the schema is not known. Set it to 'false'."
            )
        row = F.struct(*(self.json.written(source(n), t).alias(n) for n, t in fields))
        deleted = column(KIND).isin(UPDATE_BEFORE, DELETE)
        return self.json.object(
            [
                F.when(deleted, row).alias("before"),
                F.when(~deleted, row).alias("after"),
                F.when(deleted, "d").otherwise("c").alias("op"),
            ]
        )


class CanalJson(ChangeFormat):
    """Changes as Canal tells them."""

    identifier = "canal-json"
    options = (Option("database.include"), Option("table.include"), *COMMON)

    def shape(self, row: StructType) -> StructType:
        """Return the type of an object, made of that of a row."""
        return StructType(
            [
                StructField("data", SparkArray(row)),
                StructField("old", SparkArray(row)),
                StructField("type", StringType()),
                StructField("database", StringType()),
                StructField("table", StringType()),
            ]
        )

    def changes(self, fields: Fields) -> Column:
        """Return the changes in the parsed object of a frame."""
        told = column(PARSED)
        data, old, kind = (told.getField(name) for name in ("data", "old", "type"))
        # What an update has not changed is missing in `old`, which a null is not.
        texts = F.from_json(column(TEXT), "old array<map<string,string>>", PARSER).getField("old")

        def all_of(number: int) -> Column:
            return F.transform(data, lambda each: change(number, self.row(each, fields)))

        def updated(place: Column) -> Column:
            after = F.get(data, place)
            changed = F.get(old, place)
            members = F.get(texts, place)
            before = F.struct(
                *(
                    self.json.value(
                        F.when(
                            F.map_contains_key(members, F.lit(n)), changed.getField(n)
                        ).otherwise(after.getField(n)),
                        t,
                        n,
                    ).alias(n)
                    for n, t in fields
                )
            )
            row = self.needed(F.when(members.isNotNull(), before), "an update without 'old'")
            return F.array(
                change(UPDATE_BEFORE, row), change(UPDATE_AFTER, self.row(after, fields))
            )

        places = F.transform(data, lambda _, place: place)
        found = (
            F.when(kind == "INSERT", all_of(INSERT))
            .when(kind == "UPDATE", F.flatten(F.transform(places, updated)))
            .when(kind == "DELETE", all_of(DELETE))
            .when(kind == "CREATE", F.lit(None))
            .otherwise(
                self.unknown("no change of Canal, whose 'type' is INSERT, UPDATE, DELETE or CREATE")
            )
        )
        wanted = F.lit(True)
        for name in ("database", "table"):
            pattern = self.values[f"{name}.include"]
            if pattern is not None:
                wanted = wanted & told.getField(name).rlike(f"^(?:{pattern})$")
        return F.when(wanted, found)

    def encoded(self, fields: Fields, source: Callable[[str], Column] = column) -> Column:
        """Return the JSON text of a change."""
        row = F.struct(*(self.json.written(source(n), t).alias(n) for n, t in fields))
        kind = F.when(column(KIND).isin(UPDATE_BEFORE, DELETE), "DELETE").otherwise("INSERT")
        return self.json.object([F.array(row).alias("data"), kind.alias("type")])
