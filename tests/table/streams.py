"""Unbounded tables of files, one micro-batch each, and the changes that come of them."""

from __future__ import annotations

import itertools
import os
from collections import Counter

from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from comparison import settings
from pyflow.table.changes.changelog import places
from pyflow.table.changes.relation import KIND, SEQUENCE, Relation, TimeAttribute
from pyflow.table.relations.data_streams import with_processing_time
from pyflow.table.relations.tables import watched
from pyflow.table.table import Table
from pyflow.table.types import parse, to_spark

KINDS = ("+I", "-U", "+U", "-D")
_numbers = itertools.count()


class Source:
    """A folder that gets a file per micro-batch.

    Parameters
    ----------
    spark : SparkSession
    folder : Path
    columns : str
        As ``k STRING, v BIGINT``.
    """

    def __init__(self, spark, folder, columns):
        self._spark = spark
        self._folder = folder / f"source{next(_numbers)}"
        self._folder.mkdir()
        pairs = [column.strip().split(" ", 1) for column in columns.split(";")]
        self.fields = tuple((name, parse(text)) for name, text in pairs)
        self._schema = spark_types.StructType(
            [spark_types.StructField(name, to_spark(each)) for name, each in self.fields]
        )
        self._files = 0

    def add(self, rows, kinds=False):
        """Write a file; with `kinds` the first of each row is its kind."""
        schema = self._schema
        if kinds:
            rows = [(*row[1:], KINDS.index(row[0])) for row in rows]
            schema = spark_types.StructType(
                [*schema, spark_types.StructField("kind", spark_types.IntegerType())]
            )
        frame = self._spark.createDataFrame(rows, schema).coalesce(1)
        written = self._folder.with_name(f"{self._folder.name}-{self._files}")
        frame.write.parquet(str(written))
        (file,) = written.glob("*.parquet")
        place = self._folder / f"{self._files:04}.parquet"
        os.utime(file, (1_700_000_000 + self._files, 1_700_000_000 + self._files))
        file.rename(place)
        self._files += 1

    def table(self, t_env, updating=False, watermark=None, proctime=None):
        """The table of the files to come.

        Parameters
        ----------
        t_env : TableEnvironment
        updating : bool
            Whether files have kinds of changes.
        watermark : tuple of str and int
            The time attribute, and by how many seconds its watermark is behind.
        proctime : str
            The name of a column more, with the processing time.
        """
        schema = self._schema
        if updating:
            kind = spark_types.StructField("kind", spark_types.IntegerType())
            schema = spark_types.StructType([*schema, kind])
        reader = self._spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        frame = reader.parquet(str(self._folder))
        times = {}
        if watermark is not None:
            name, seconds = watermark
            times[name] = TimeAttribute("rowtime", seconds * 1000)
            frame = watched(frame, dict(self.fields), times)
        if not updating:
            relation = Relation(frame, self.fields, time_attributes=times)
            if proctime is not None:
                relation = with_processing_time(relation, proctime)
            return Table(relation, t_env._context)
        frame = frame.select(
            *(name for name, _ in self.fields),
            F.col("kind").cast("tinyint").alias(KIND),
            places(frame).alias(SEQUENCE),
        )
        return Table(
            Relation(frame, self.fields, time_attributes=times, updating=True), t_env._context
        )


def changes(table, checkpoint, mode="thread"):
    """Run a query over what its sources have, and return its changes, a list per micro-batch."""
    relation = table._relation
    spark = relation.frame.sparkSession
    batches = []

    def take(frame, number):
        rows = frame.collect()
        if relation.updating:
            rows = sorted(rows, key=lambda row: row[SEQUENCE])
            batches.append([(KINDS[row[KIND]], *row[:-2]) for row in rows])
        else:
            batches.append([("+I", *row) for row in rows])

    with settings(spark, {"spark.pyflow.execution-mode": mode, "spark.pyflow.fallback": "false"}):
        writer = relation.frame.writeStream.foreachBatch(take).outputMode("append")
        writer = writer.option("checkpointLocation", str(checkpoint))
        query = writer.trigger(availableNow=True).start()
        try:
            query.awaitTermination(300)
        finally:
            query.stop()
    return batches


def applied(batches):
    """The rows that are left of changes, with how often each is there."""
    rows = Counter()
    for kind, *row in itertools.chain(*batches):
        rows[repr(tuple(row))] += 1 if kind in ("+I", "+U") else -1
    assert all(count >= 0 for count in rows.values()), rows
    return +rows
