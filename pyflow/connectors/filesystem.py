"""The connector ``filesystem``: files in a directory, read and written by Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, ClassVar

from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from pyflow.connectors.connector import (
    Connector,
    DescribedTable,
    Metadata,
    Option,
    boolean,
    duration,
    integer,
    one_of,
    size,
)
from pyflow.connectors.formats import FORMATS, format_class, values_of
from pyflow.connectors.turns import turn_at
from pyflow.session.files import file_stream, holds_files, matches
from pyflow.table.changes.changelog import in_order, numbered, places
from pyflow.table.changes.relation import INSERT, KIND, SEQUENCE, column
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import MAX_LENGTH, VarCharType
from pyflow.types.spark_types import to_spark
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from pyflow.session.context import Context
    from pyflow.table.changes.relation import Relation
    from pyflow.types.logical_types import DataType

#: Of the column that Spark reads lines into and writes lines from.
_LINE = "$line"

#: The partition whose value is null or an empty string, in the name of its directory.
_DEFAULT_PARTITION = "__DEFAULT_PARTITION__"

#: Options of Flink that a table can be read with, but not written, and what to do instead.
_NOT_WRITTEN = {
    "sink.partition-commit.policy.kind": "Spark marks no partition as complete: readers see the "
    "files of a batch when all of it is written. Leave the option out, and write such marks in the "
    "program",
    "sink.partition-commit.policy.class": "there are no policies in Java. Leave the option out",
    "sink.partition-commit.policy.class.parameters": "there are no policies in Java. Leave the "
    "option out",
    "auto-compaction": "Spark merges no files. Set 'sink.parallelism' for fewer files of each "
    "batch, or 'table.exec.mini-batch.allow-latency' for fewer batches",
}


class FileSystem(Connector):
    """A table whose rows are in the files of a directory."""

    identifier = "filesystem"
    metadata: ClassVar[Mapping[str, DataType]] = {
        "file.path": DataTypes.STRING().not_null(),
        "file.name": DataTypes.STRING().not_null(),
        "file.size": DataTypes.BIGINT().not_null(),
        "file.modification-time": DataTypes.TIMESTAMP_LTZ(3).not_null(),
    }
    options = (
        Option("path", required=True),
        Option("format", required=True),
        Option("source.monitor-interval", duration, "a duration such as 10 s"),
        Option("source.path.regex-pattern"),
        Option("source.report-statistics", one_of("NONE", "ALL"), "NONE or ALL"),
        Option("partition.default-name", default=_DEFAULT_PARTITION),
        Option("partition.time-extractor.kind"),
        Option("partition.time-extractor.class"),
        Option("partition.time-extractor.timestamp-pattern"),
        Option("partition.time-extractor.timestamp-formatter"),
        Option("sink.parallelism", integer, "an integer"),
        Option("sink.shuffle-by-partition.enable", boolean, "true or false", default=False),
        Option("sink.rolling-policy.file-size", size, "a size such as 128 MB"),
        Option("sink.rolling-policy.rollover-interval", duration, "a duration such as 30 min"),
        Option("sink.rolling-policy.inactivity-interval", duration, "a duration such as 30 min"),
        Option("sink.rolling-policy.check-interval", duration, "a duration such as 1 min"),
        Option(
            "sink.partition-commit.trigger",
            one_of("process-time", "partition-time"),
            "process-time or partition-time",
        ),
        Option("sink.partition-commit.delay", duration, "a duration such as 1 h"),
        Option("sink.partition-commit.watermark-time-zone"),
        Option("sink.partition-commit.policy.kind"),
        Option("sink.partition-commit.policy.class"),
        Option("sink.partition-commit.policy.class.parameters"),
        Option("sink.partition-commit.success-file.name"),
        Option("auto-compaction", boolean, "true or false"),
        Option("compaction.file-size", size, "a size such as 128 MB"),
    )

    def __init__(self, table: DescribedTable) -> None:
        made = format_class(table, "format", FORMATS)
        self._format_options = made.named_options()
        super().__init__(table)
        self.format = made(table, values_of(made, "", self.values))
        self.takes_changes = self.format.has_changes
        for key in table.partition_keys:
            if key not in dict(table.columns):
                raise TableException(
                    f"Table {table.identifier} is partitioned by {key!r}, "
                    "which is none of its columns."
                )
        #: The columns whose values are in the files, not in the names of directories.
        self._inside = [each for each in table.columns if each[0] not in table.partition_keys]
        self.format.check(self._inside)

    def all_options(self) -> list[Option]:
        """Return the options of the connector and of the table's format."""
        return [*self.options, *self._format_options]

    def read(self, context: Context) -> DataFrame:
        """Return the rows in the files; with ``source.monitor-interval`` also of files to come."""
        session = context.session
        if self["source.path.regex-pattern"] is not None:
            raise TableException(
                f"Table {self.table.identifier}: option 'source.path.regex-pattern' is not "
                "supported. Write a pattern such as /data/*.csv as 'path'; Spark reads it as a glob"
            )
        monitored = self["source.monitor-interval"] is not None
        if not monitored and not matches(session, self["path"]):
            return self._missing(session)
        files = self.format.files
        reader = file_stream(session, files) if monitored else session.read.format(files)
        if not self.table.partition_keys:
            reader = reader.option("recursiveFileLookup", "true")
        names, keys = [name for name, _ in self.table.columns], self.table.partition_keys
        metadata = [each.name for each in self.table.metadata]
        of_files = [_of_file(each) for each in self.table.metadata]
        if files != "text":
            fields = [
                (n, VarCharType(MAX_LENGTH) if n in keys else t) for n, t in self.table.columns
            ]
            rows = self.format.loaded(reader, self["path"], fields, self._inside, of_files)
            return rows.select(*map(self._of_partition, names), *map(column, metadata))
        partitions = [StructField(name, StringType()) for name in names if name in keys]
        schema = StructType([StructField(_LINE, StringType()), *partitions])
        lines = reader.schema(schema).load(self["path"]).select("*", *of_files)
        kept = [*(part.name for part in partitions), *metadata]
        rows = self.format.decoded(lines, _LINE, self._inside, kept)
        columns = [*map(self._of_partition, names), *map(column, metadata)]
        if self.format.has_changes:
            columns += [column(KIND), places(rows).alias(SEQUENCE)]
        return rows.select(*columns)

    def _of_partition(self, name: str) -> Column:
        """Return a column of rows that were read, where partitions are strings."""
        value = column(name)
        if name not in self.table.partition_keys:
            return value
        known = F.when(value != self["partition.default-name"], value)
        return known.cast(to_spark(dict(self.table.columns)[name])).alias(name)

    def _partition(self, name: str) -> Column:
        """Return the partition of a row that is written, as a string."""
        text = column(name).cast("string")
        default = F.lit(self["partition.default-name"])
        return F.when(text != "", text).otherwise(default).alias(name)

    def _missing(self, session: SparkSession) -> DataFrame:
        """Return rows that fail when they are computed: plans and schemas need no files."""
        reason = (
            f"Table {self.table.identifier}: File {self['path']} does not exist, or did not when "
            "the table was named in the query."
        )
        columns = [
            F.lit(None).cast(to_spark(data_type)).alias(name)
            for name, data_type in (
                *self.table.columns,
                *((each.name, each.data_type) for each in self.table.metadata),
            )
        ]
        if self.format.has_changes:
            columns += [
                F.lit(INSERT).cast("tinyint").alias(KIND),
                F.lit(0).cast("bigint").alias(SEQUENCE),
            ]
        failing = F.raise_error(F.lit(reason)).cast("boolean")
        return session.range(1).filter(failing).select(*columns)

    def check_sink(self, overwrite: bool) -> None:
        """Files can be replaced; raise only for what Spark does not do with them."""
        for option, instead in _NOT_WRITTEN.items():
            ignored = "partition" in option and not self.table.partition_keys
            if self[option] and not ignored:
                raise TableException(
                    f"Table {self.table.identifier}: option {option!r} is not supported: {instead}."
                )

    def write(self, rows: Relation, overwrite: bool, context: Context) -> None:
        """Write the rows into new files."""
        if self._has_log(context):
            raise self._mixed("unbounded rows")
        frame = self._contents(in_order(numbered(rows)) if self.format.has_changes else rows.frame)
        if self["sink.shuffle-by-partition.enable"] and self.table.partition_keys:
            frame = frame.repartition(*map(column, self.table.partition_keys))
        frame = self._fewer(frame)
        replaces_all = overwrite and not self.table.partition_keys
        writer = frame.write.format(self.format.files)
        writer = writer.mode("overwrite" if overwrite else "append")
        if self.table.partition_keys:
            writer = writer.partitionBy(*self.table.partition_keys)
            if overwrite:
                writer = writer.option("partitionOverwriteMode", "dynamic")
        writer = writer.options(**self.format.file_options(self._inside))
        with turn_at(self["path"]), _computed(frame) if replaces_all else nullcontext():
            writer.save(self["path"])

    def stream_writer(self, rows: Relation, context: Context) -> DataStreamWriter:
        """Return Spark's writer of files, each of which is seen with all of its batch, once."""
        if rows.updating:
            raise TableException(
                f"Table {self.table.identifier}: unbounded changes cannot be written into files "
                "yet. Bound the input, or write into a table of another connector."
            )
        frame = rows.frame
        if self.format.has_changes:
            frame = frame.select("*", F.lit(INSERT).cast("tinyint").alias(KIND))
        writer = self._fewer(self._contents(frame)).writeStream.format(self.format.files)
        if self.table.partition_keys:
            writer = writer.partitionBy(*self.table.partition_keys)
        options = self.format.file_options(self._inside)
        return writer.options(**options).option("path", self["path"])

    def _contents(self, frame: DataFrame) -> DataFrame:
        """Return what Spark writes into files for the rows of a frame."""
        if self.format.files != "text":
            kept = map(self._partition, self.table.partition_keys)
            return frame.select(*self.format.file_columns(self._inside), *kept)
        line = self.format.encoded(self._inside).cast("string").alias(_LINE)
        return frame.select(line, *map(self._partition, self.table.partition_keys))

    def _fewer(self, frame: DataFrame) -> DataFrame:
        parallelism = self["sink.parallelism"]
        return frame if parallelism is None else frame.coalesce(parallelism)

    def checkpoint(self, chosen: str | None, context: Context) -> str:
        """Return the directory, or raise where batches would be taken for those of another job.

        The log of files in the directory counts batches as the checkpoint does.
        """
        path = self["path"].rstrip("/")
        if chosen is None:
            raise TableException(
                f"Table {self.table.identifier}: files of unbounded rows are finished with "
                "checkpoints. Set 'execution.checkpointing.dir'."
            )
        has_log = self._has_log(context)
        if has_log and not matches(context.session, f"{chosen}/metadata"):
            raise TableException(
                f"Table {self.table.identifier}: files of another job are in {path!r}, and the "
                f"checkpoint {chosen!r} of this one is new. Set 'execution.checkpointing.dir' "
                "and 'pipeline.name' as they were, or write into another directory."
            )
        if not has_log and holds_files(context.session, path):
            raise self._mixed("bounded rows")
        return chosen

    def _has_log(self, context: Context) -> bool:
        """Return whether Spark keeps a log of the files that a stream has written.

        Readers see no others in the directory.
        """
        return matches(context.session, f"{self['path'].rstrip('/')}/_spark_metadata/[0-9]*")

    def _mixed(self, other: str) -> TableException:
        return TableException(
            f"Table {self.table.identifier}: files of {other} are in {self['path']!r}. Bounded "
            "rows and unbounded rows cannot be written into one directory; use two."
        )


@contextmanager
def _computed(frame: DataFrame) -> Iterator[None]:
    """Have the rows of a frame kept by Spark.

    Spark removes the files that it replaces before it computes the rows: a query that reads them
    would fail, and one that fails would leave none.
    """
    frame.persist()
    try:
        frame.count()
        yield
    finally:
        frame.unpersist()


def _of_file(each: Metadata) -> Column:
    """Return a column of the metadata of the file that a row is from."""
    # As a URI, in which '+' stands for itself.
    uri = F.replace(F.col("_metadata.file_path"), F.lit("+"), F.lit("%2B"))
    path = F.regexp_replace(F.url_decode(uri), r"^[A-Za-z][A-Za-z0-9+.\-]*:(//[^/]*)?", "")
    value = {
        "file.path": path,
        "file.name": F.regexp_extract(path, "[^/]*$", 0),
        "file.size": F.col("_metadata.file_size"),
        "file.modification-time": F.col("_metadata.file_modification_time"),
    }[each.key]
    return value.cast(to_spark(each.data_type)).alias(each.name)
