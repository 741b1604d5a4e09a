"""The connector ``filesystem``: files in a directory, read and written by Spark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from pyflow.table.connectors.connector import (
    Connector,
    DescribedTable,
    Option,
    boolean,
    character,
    duration,
    integer,
)
from pyflow.table.files import holds_files, matches
from pyflow.table.planner.changelog import in_order, numbered
from pyflow.table.planner.relation import DELETE, INSERT, KIND, UPDATE_BEFORE, column
from pyflow.table.types import to_spark
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from pyflow.table.planner.relation import Relation
    from pyflow.table.table_environment import TableEnvironment


def _timestamp_format(text: str) -> str:
    if text not in ("SQL", "ISO-8601"):
        raise ValueError(text)
    return text


@dataclass(frozen=True)
class Format:
    """A format of files.

    Parameters
    ----------
    name
        Its name.
    source
        Spark's name of it.
    options
        Its options, under the format's name.
    reading, writing
        Spark's options made of the values of these.
    changes
        Makes the text of a change; None for formats that only keep rows.
    """

    name: str
    source: str
    options: tuple[Option, ...] = ()
    reading: Callable[[dict[str, Any]], dict[str, str]] = field(default=lambda _: {})
    writing: Callable[[dict[str, Any]], dict[str, str]] = field(default=lambda _: {})
    changes: Callable[[Relation], Column] | None = None


def _csv_options(values: dict[str, Any]) -> dict[str, str]:
    quote = "" if values["csv.disable-quote-character"] else values["csv.quote-character"]
    options = {
        "sep": values["csv.field-delimiter"],
        "quote": quote,
        "escape": values["csv.escape-character"] or quote or "\0",
        "ignoreLeadingWhiteSpace": "false",
        "ignoreTrailingWhiteSpace": "false",
        "mode": "PERMISSIVE" if values["csv.ignore-parse-errors"] else "FAILFAST",
        "timestampFormat": "yyyy-MM-dd HH:mm:ss[.SSSSSS]",
        "timestampNTZFormat": "yyyy-MM-dd HH:mm:ss[.SSSSSS]",
        "emptyValue": "",
    }
    if values["csv.null-literal"] is not None:
        options["nullValue"] = values["csv.null-literal"]
    if values["csv.allow-comments"]:
        options["comment"] = "#"
    return options


def _json_timestamps(values: dict[str, Any]) -> dict[str, str]:
    between = "'T'" if values["json.timestamp-format.standard"] == "ISO-8601" else " "
    pattern = f"yyyy-MM-dd{between}HH:mm:ss[.SSSSSS]"
    return {"timestampFormat": f"{pattern}[XXX]", "timestampNTZFormat": pattern}


def _json_reading(values: dict[str, Any]) -> dict[str, str]:
    mode = "PERMISSIVE" if values["json.ignore-parse-errors"] else "FAILFAST"
    return {**_json_timestamps(values), "mode": mode}


def _json_writing(values: dict[str, Any]) -> dict[str, str]:
    ignored = values["json.encode.ignore-null-fields"]
    return {**_json_timestamps(values), "ignoreNullFields": str(ignored).lower()}


def _canal(relation: Relation) -> Column:
    row = F.struct(*relation.columns)
    kind = F.when(column(KIND).isin(UPDATE_BEFORE, DELETE), "DELETE").otherwise("INSERT")
    return F.to_json(F.struct(F.array(row).alias("data"), kind.alias("type")), _KEEP_NULLS)


def _debezium(relation: Relation) -> Column:
    row = F.struct(*relation.columns)
    deleted = column(KIND).isin(UPDATE_BEFORE, DELETE)
    return F.to_json(
        F.struct(
            F.when(deleted, row).alias("before"),
            F.when(~deleted, row).alias("after"),
            F.when(deleted, "d").otherwise("c").alias("op"),
        ),
        _KEEP_NULLS,
    )


_KEEP_NULLS = {"ignoreNullFields": "false", "timestampNTZFormat": "yyyy-MM-dd HH:mm:ss[.SSSSSS]"}

_CSV = (
    Option("csv.field-delimiter", character, "one character", default=","),
    Option("csv.disable-quote-character", boolean, "true or false", default=False),
    Option("csv.quote-character", character, "one character", default='"'),
    Option("csv.allow-comments", boolean, "true or false", default=False),
    Option("csv.ignore-parse-errors", boolean, "true or false", default=False),
    Option("csv.escape-character", character, "one character"),
    Option("csv.null-literal"),
)
_JSON = (
    Option("json.fail-on-missing-field", boolean, "true or false", default=False),
    Option("json.ignore-parse-errors", boolean, "true or false", default=False),
    Option("json.timestamp-format.standard", _timestamp_format, "SQL or ISO-8601", default="SQL"),
    Option("json.encode.ignore-null-fields", boolean, "true or false", default=False),
)

FORMATS = {
    made.name: made
    for made in (
        Format("csv", "csv", _CSV, _csv_options, _csv_options),
        Format("json", "json", _JSON, _json_reading, _json_writing),
        Format("parquet", "parquet"),
        Format("orc", "orc"),
        Format("canal-json", "text", changes=_canal),
        Format("debezium-json", "text", changes=_debezium),
    )
}


class FileSystem(Connector):
    """A table whose rows are in the files of a directory."""

    identifier = "filesystem"
    options = (
        Option("path", required=True),
        Option("format", required=True),
        Option("source.monitor-interval", duration, "a duration such as 10 s"),
        Option("sink.parallelism", integer, "an integer"),
    )

    def __init__(self, table: DescribedTable) -> None:
        name = table.options.get("format")
        if name is not None and name not in FORMATS:
            raise TableException(
                f"Table {table.identifier}: option 'format' is {name!r}, expected one of "
                f"{', '.join(sorted(FORMATS))}."
            )
        self.format = FORMATS[name or "csv"]
        super().__init__(table)
        self.takes_changes = self.format.changes is not None
        for key in table.partition_keys:
            if key not in dict(table.columns):
                raise TableException(
                    f"Table {table.identifier} is partitioned by {key!r}, "
                    "which is none of its columns."
                )

    def all_options(self) -> list[Option]:
        """Return the options of the connector and of the table's format."""
        return [*self.options, *self.format.options]

    def read(self, environment: TableEnvironment) -> DataFrame:
        """Return the rows in the files; with ``source.monitor-interval`` also of files to come."""
        if self.format.changes is not None:
            raise TableException(
                f"Table {self.table.identifier} cannot be read: files of the format "
                f"{self.format.name!r} can only be written here."
            )
        if self.values.get("json.fail-on-missing-field"):
            raise TableException(
                f"Table {self.table.identifier}: option 'json.fail-on-missing-field' is not "
                "carried: Spark reads a missing field as null."
            )
        schema = StructType(
            [StructField(name, to_spark(data_type)) for name, data_type in self.table.columns]
        )
        session = environment._spark
        monitored = self["source.monitor-interval"] is not None
        reader = session.readStream if monitored else session.read
        reader = reader.format(self.format.source).schema(schema)
        reader = reader.options(**self.format.reading(self.values))
        return reader.load(self["path"]).select(*(column(name) for name, _ in self.table.columns))

    def check_sink(self, overwrite: bool) -> None:
        """Files can be replaced, so that nothing is to be refused."""

    def write(self, rows: Relation, overwrite: bool, environment: TableEnvironment) -> None:
        """Write the rows into new files."""
        if self._has_log(environment):
            raise self._mixed("rows without end")
        frame = self._texts(numbered(rows)) if self.format.changes is not None else rows.rows()
        writer = self._fewer(frame).write.format(self.format.source)
        writer = writer.mode("overwrite" if overwrite else "append")
        if self.table.partition_keys:
            writer = writer.partitionBy(*self.table.partition_keys)
            if overwrite:
                writer = writer.option("partitionOverwriteMode", "dynamic")
        writer.options(**self.format.writing(self.values)).save(self["path"])

    def stream_writer(self, rows: Relation, environment: TableEnvironment) -> DataStreamWriter:
        """Return Spark's writer of files, each of which is seen with all of its batch, once."""
        if rows.updating:
            raise TableException(
                f"Table {self.table.identifier}: changes without end cannot be written into files "
                "yet. Bound the input, or write into a table of another connector."
            )
        frame = rows.rows()
        if self.format.changes is not None:
            kind = F.lit(INSERT).cast("tinyint").alias(KIND)
            frame = frame.select("*", kind).select(self.format.changes(rows).alias("value"))
        writer = self._fewer(frame).writeStream.format(self.format.source)
        if self.table.partition_keys:
            writer = writer.partitionBy(*self.table.partition_keys)
        options = self.format.writing(self.values)
        return writer.options(**options).option("path", self["path"])

    def _texts(self, changes: Relation) -> DataFrame:
        assert self.format.changes is not None
        return in_order(changes).select(self.format.changes(changes).alias("value"))

    def _fewer(self, frame: DataFrame) -> DataFrame:
        parallelism = self["sink.parallelism"]
        return frame if parallelism is None else frame.coalesce(parallelism)

    def checkpoint(self, chosen: str | None, environment: TableEnvironment) -> str:
        """Return the directory, or raise where batches would be taken for those of another job.

        The log of files in the directory counts batches as the checkpoint does.
        """
        path = self["path"].rstrip("/")
        if chosen is None:
            raise TableException(
                f"Table {self.table.identifier}: files of rows without end are finished with "
                "checkpoints. Set 'execution.checkpointing.dir'."
            )
        has_log = self._has_log(environment)
        if has_log and not matches(environment._spark, f"{chosen}/metadata"):
            raise TableException(
                f"Table {self.table.identifier}: files of another job are in {path!r}, and the "
                f"checkpoint {chosen!r} of this one is new. Set 'execution.checkpointing.dir' "
                "and 'pipeline.name' as they were, or write into another directory."
            )
        if not has_log and holds_files(environment._spark, path):
            raise self._mixed("bounded rows")
        return chosen

    def _has_log(self, environment: TableEnvironment) -> bool:
        """Return whether Spark keeps a log of the files that a stream has written.

        Readers see no others in the directory.
        """
        return matches(environment._spark, f"{self['path'].rstrip('/')}/_spark_metadata/[0-9]*")

    def _mixed(self, other: str) -> TableException:
        return TableException(
            f"Table {self.table.identifier}: files of {other} are in {self['path']!r}. Bounded "
            "rows and rows without end cannot be written into one directory; use two."
        )
