"""Jobs of ``stream_cases`` as PySpark's own programs: ``python stream_plain.py pyspark``.

They run with PyFlow's plugin, so that the execution modes are the same.
``python stream_plain.py start`` runs a small keyed job without the plugin, and prints when its
first row was there.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor

from benchmarks.stream_cases import BATCHES, KEYS

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"


class Counter(StatefulProcessor):
    """Counts the rows of a key."""

    def init(self, handle: Any) -> None:
        """Declare the count."""
        self._count = handle.getValueState("count", "n BIGINT")

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[Row]:
        """Yield key and count for each row."""
        found = self._count.get()
        count = 0 if found is None else found[0]
        for _ in rows:
            count += 1
            yield Row(key=key[0], n=count)
        self._count.update((count,))

    def close(self) -> None:
        """Nothing is held."""


class Jobs:
    """Runs the cases that PySpark has, too."""

    def __init__(self) -> None:
        self._spark: SparkSession | None = None

    def seconds(self, request: dict[str, Any]) -> float:
        """Run a case."""
        spark = self._session(request)
        build = getattr(self, "_" + request["case"].replace("-", "_"))
        run = build(spark, request)
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    def _session(self, request: dict[str, Any]) -> SparkSession:
        if self._spark is None:
            import pyflow

            jars = request["jars"].replace(";", ",")
            builder = SparkSession.builder.master("local[2]").config("spark.jars", jars)
            self._spark = pyflow.configure(builder).getOrCreate()
        settings = {
            "spark.pyflow.execution-mode": request["mode"],
            "spark.sql.shuffle.partitions": "2",
            _PROVIDER: _ROCKSDB,
            _CHANGELOG: "true",
        }
        for key, value in settings.items():
            self._spark.conf.set(key, value)
        return self._spark

    def _typed_maps(self, spark: SparkSession, request: dict[str, Any]) -> Any:
        column = F.col("id")
        for _ in range(5):
            column = F.udf(lambda value: value + 1, "bigint")(column)
        none = F.udf(lambda _: False, "boolean")
        mapped = spark.range(1, request["rows"] + 1, 1, 2).select(column.alias("value"))
        return mapped.where(none("value")).collect

    def _counter(self, spark: SparkSession, request: dict[str, Any]) -> Any:
        keys = spark.range(1, request["rows"] + 1, 1, 2).select((F.col("id") % KEYS).alias("key"))
        none = F.udf(lambda _: False, "boolean")
        return _counted(keys).where(none("n")).collect

    def _topics(self, spark: SparkSession, request: dict[str, Any]) -> Any:
        records = spark.readStream.format("kafka").options(
            **{
                "kafka.bootstrap.servers": request["broker"],
                "subscribe": f"topics-{request['rows']}",
                "startingOffsets": "earliest",
                "maxOffsetsPerTrigger": str(request["rows"] // BATCHES + 1),
            }
        )
        key = F.udf(lambda value: int(value) % KEYS, "bigint")
        counted = _counted(records.load().select(key(F.col("value").cast("string")).alias("key")))
        text = F.udf(lambda key, n: f"{key} {n}", "string")
        writer = counted.select(text("key", "n").alias("value")).writeStream.format("kafka")
        writer = writer.option("kafka.bootstrap.servers", request["broker"])
        writer = writer.option("topic", "counts").trigger(availableNow=True)
        writer = writer.option("checkpointLocation", tempfile.mkdtemp(prefix="pyspark-"))
        return lambda: writer.start().awaitTermination()


def _counted(keys: DataFrame) -> DataFrame:
    return keys.groupBy("key").transformWithState(
        Counter(), "key BIGINT, n BIGINT", "Append", "None"
    )


def first_row() -> float:
    """Return when the first row of a small job was there."""
    spark = SparkSession.builder.master("local[2]").config(_PROVIDER, _ROCKSDB).getOrCreate()
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    _counted(spark.createDataFrame([(1,), (2,)], "key BIGINT")).collect()
    return time.monotonic()


def main() -> None:
    """Answer requests until standard input ends, or say when the first row was there."""
    if sys.argv[1] == "start":
        print(json.dumps({"first row": first_row()}))
        return
    jobs = Jobs()
    for line in sys.stdin:
        print(json.dumps({"seconds": jobs.seconds(json.loads(line))}), flush=True)


if __name__ == "__main__":
    main()
