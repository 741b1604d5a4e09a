"""``pyflow archive``: an archive of Spark's classes, with which drivers start in less time."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyflow
from pyflow.session import builder as session

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from pyspark.sql import SparkSession

    from pyflow.cli.parsers import Parser

_MODE = "spark.pyflow.execution-mode"


def add_to(commands: _SubParsersAction[Parser]) -> None:
    """Add the subcommand to the command line."""
    parser = commands.add_parser(
        "archive",
        help="write an archive of Spark's classes, for drivers to start with",
        description="Runs a few queries and writes the classes that they needed beside the plugin "
        "jar (class data sharing). Drivers that Python starts through pyflow.configure() or the "
        "Table API then map them, with the Java and the Spark that have written it; others start "
        "as without it. Takes about 200 MB.",
    )
    parser.set_defaults(run=run)


def run(_arguments: argparse.Namespace) -> int:
    """Write the archive; the exit code is 1 where the JVM has written none."""
    archive = session.class_archive()
    if not os.access(archive.parent, os.W_OK):
        print(
            f"pyflow: {archive.parent} cannot be written: run this as the owner of the environment",
            file=sys.stderr,
        )
        return 1
    # Spark has it first on the class path of drivers, where Java shares no classes behind files.
    configuration = session.configuration_directory()
    if configuration is not None and configuration.is_dir() and any(configuration.iterdir()):
        print(
            "pyflow: Java shares no classes of drivers with a configuration directory, and "
            f"there are files in {configuration}: give the settings to the programs instead",
            file=sys.stderr,
        )
        return 1
    # Drivers that start meanwhile see the old one, or none.
    new = archive.with_name(f"{archive.name}.{os.getpid()}")
    try:
        write(new)
        if not new.exists():
            print("pyflow: the JVM has written no archive, see its messages", file=sys.stderr)
            return 1
        new.replace(archive)
    finally:
        new.unlink(missing_ok=True)
    print(archive)
    return 0


def write(archive: Path) -> None:
    """Have a JVM write the classes that a session has loaded, as it does when it ends.

    Parameters
    ----------
    archive : Path
        The file, which is replaced.
    """
    from pyspark.sql import SparkSession

    archive.unlink(missing_ok=True)
    option = f"-XX:ArchiveClassesAtExit={archive}"
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.extraJavaOptions", f"{shlex.quote(option)} -Xlog:cds*=error")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.ui.port", "0")
        .config("spark.ui.showConsoleProgress", "false")
    )
    with tempfile.TemporaryDirectory() as where:
        spark = pyflow.configure(builder).getOrCreate()
        for mode in ("process", "thread"):
            spark.conf.set(_MODE, mode)
            _run_queries(spark, f"{where}/{mode}")
        if find_spec("sqlglot"):
            _run_statements()
        gateway: Any = spark.sparkContext._gateway
        spark.stop()
        gateway.proc.stdin.close()
        gateway.proc.wait(300)


def _run_queries(spark: SparkSession, where: str) -> None:
    """Run queries of the kinds that most programs have."""
    from pyspark.sql import functions

    F: Any = functions  # noqa: N806  PySpark's type stubs leave some functions out.
    plain = F.udf(lambda n: n + 1, "long", useArrow=False)
    rows = spark.range(100, numPartitions=2).select("id", (F.col("id") % 3).alias("k"))
    rows.write.parquet(f"{where}/rows")
    stored = spark.read.parquet(f"{where}/rows")
    made = spark.createDataFrame([(1, "a"), (2, None)], "id long, s string")
    stored.join(made, "id").groupBy("k").agg(F.sum(plain("id"))).orderBy("k").collect()
    if find_spec("pandas") and find_spec("pyarrow"):
        optimised = F.udf(lambda n: n + 1, "long", useArrow=True)
        batches = F.pandas_udf(lambda n: n + 1, "long")
        stored.select(plain("id"), optimised("id"), batches("id")).collect()
        stored.mapInArrow(lambda parts: parts, stored.schema).collect()
        stored.groupBy("k").applyInPandas(lambda group: group, stored.schema).collect()
    stream = spark.readStream.schema(stored.schema).parquet(f"{where}/rows").select(plain("id"))
    writer = stream.writeStream.format("memory").queryName("made").trigger(availableNow=True)
    writer.start().awaitTermination()
    spark.catalog.dropTempView("made")


def _run_statements() -> None:
    """Run a statement of the Table API in each mode."""
    from pyflow.table import EnvironmentSettings, TableEnvironment

    for settings in (EnvironmentSettings.in_batch_mode(), EnvironmentSettings.in_streaming_mode()):
        environment = TableEnvironment.create(settings)
        environment.execute_sql(
            "CREATE TEMPORARY TABLE numbers (id BIGINT, k INT) "
            "WITH ('connector' = 'datagen', 'number-of-rows' = '10')"
        )
        for sql in (
            "SELECT a, UPPER(b) FROM (VALUES (1, 'x'), (2, 'y')) AS t(a, b) WHERE a > 1",
            "SELECT k, COUNT(*) FROM numbers GROUP BY k",
        ):
            with environment.execute_sql(sql).collect() as rows:
                list(rows)
