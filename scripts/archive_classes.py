"""Writes an archive of Spark's classes, from which the JVMs of the tests start in less time.

    python archive_classes.py ARCHIVE

The JVM writes the classes that a session has loaded when it ends (-XX:ArchiveClassesAtExit). Other
JVMs map them (-XX:SharedArchiveFile), if they are the same Java with the same jars.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.functions import pandas_udf, udf

import pyflow

MODE = "spark.pyflow.execution-mode"


def run_queries(spark: SparkSession, where: str) -> None:
    """Queries of the kinds that most tests run."""
    plain = udf(lambda n: n + 1, "long", useArrow=False)
    optimised = udf(lambda n: n + 1, "long", useArrow=True)
    batches = pandas_udf(lambda n: n + 1, "long", F.PandasUDFType.SCALAR)
    rows = spark.range(100, numPartitions=2).select("id", (F.col("id") % 3).alias("k"))
    rows.write.parquet(f"{where}/rows")
    stored = spark.read.parquet(f"{where}/rows")
    made = spark.createDataFrame([(1, "a"), (2, None)], "id long, s string")
    stored.select(plain("id"), optimised("id"), batches("id")).collect()
    stored.join(made, "id").groupBy("k").agg(F.sum(plain("id"))).orderBy("k").collect()
    stored.mapInArrow(lambda parts: parts, stored.schema).collect()
    stored.groupBy("k").applyInPandas(lambda group: group, stored.schema).collect()
    stream = spark.readStream.schema(stored.schema).parquet(f"{where}/rows").select(plain("id"))
    writer = stream.writeStream.format("memory").queryName("made").trigger(availableNow=True)
    writer.start().awaitTermination()
    spark.catalog.dropTempView("made")


def main(archive: Path) -> None:
    archive.unlink(missing_ok=True)
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.extraJavaOptions", f"-XX:ArchiveClassesAtExit={archive}")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.ui.enabled", "false")
    )
    with tempfile.TemporaryDirectory() as where:
        spark = pyflow.configure(builder).getOrCreate()
        for mode in ("process", "thread"):
            spark.conf.set(MODE, mode)
            run_queries(spark, f"{where}/{mode}")
        jvm = spark.sparkContext._gateway.proc
        spark.stop()
        jvm.stdin.close()
        jvm.wait(300)


if __name__ == "__main__":
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1"
    main(Path(sys.argv[1]).resolve())
