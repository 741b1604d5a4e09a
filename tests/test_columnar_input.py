"""Functions that get Arrow batches in process mode and whose input comes in columns: Parquet files,
and what is cached.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import functions as F
from pyspark.sql.functions import arrow_udf, pandas_udf, udf
from pyspark.sql.types import LongType, StringType

from comparison import executed_plan, settings
from sessions import MODE, SPARK
from test_arrow_functions import COLUMNS, with_nulls

# A batch of Parquet's reader and a bit.
ROWS = 5000

# Parquet has no type for nulls alone; before 4.3 Spark makes no Arrow column of one of times.
WITHOUT = {"none"} if SPARK >= (4, 3) else {"none", "clock"}

TIMES = {"spark.sql.timeType.enabled": "true"}


@pytest.fixture
def parquet(spark, tmp_path):
    """A file with a column of every type that Parquet has, nulls in all of them."""
    path = str(tmp_path / "table")
    with settings(spark, TIMES):
        names = [name for name in COLUMNS if name not in WITHOUT]
        rows = spark.range(ROWS, numPartitions=1).selectExpr("id", *with_nulls(names))
        rows.write.parquet(path)
    return path


def of_type(data_type):
    """A function that returns what it gets."""

    @arrow_udf(data_type)
    def same(array: pa.Array) -> pa.Array:
        return array

    return same


@arrow_udf(LongType())
def size(array: pa.Array) -> pa.Array:
    return pa.array([len(array)] * len(array))


@pandas_udf(StringType())
def described(table: pd.DataFrame) -> pd.Series:
    return table.apply(lambda row: f"{row.id} {row.text}", axis=1)


def takes_columns(frame):
    plan = executed_plan(frame)
    assert "Thread" in plan
    return "ColumnarToRow" not in plan


def test_columns_of_every_type(arrow_lane, parquet):
    def program(spark):
        table = spark.read.parquet(parquet)
        return table.select("id", *(of_type(f.dataType)(f.name) for f in table.schema.fields))

    for conf in ({}, {"spark.sql.execution.arrow.useLargeVarTypes": "true"}):
        rows = arrow_lane(program, {**TIMES, **conf})
        assert len(rows) == ROWS


def test_functions_get_the_batches_of_their_input(arrow_lane, parquet):
    @pandas_udf("double")
    def from_mean(n: pd.Series) -> pd.Series:
        return n - n.mean()

    @pandas_udf("long")
    def number(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
        for index, batch in enumerate(batches):
            yield batch * 0 + index

    @arrow_udf("long")
    def total(n: pa.Array, m: pa.Array) -> pa.Array:
        return pa.array([pc.sum(pc.add(n, m)).as_py()] * len(n))

    def program(spark):
        table = spark.read.parquet(parquet)
        return [
            table.select(from_mean("id")),
            table.select("text", from_mean("id"), "list", number("id")),
            table.select(size("record"), "id"),
            table.select(size(F.col("id") + 1), "id"),
            table.select(total("id", m="id"), total(m=F.col("id") * 2, n="id")),
            table.where("id % 3 = 0").select(size("id")),
            table.select(described(F.struct("id", "text"))),
            table.select(size("id").alias("n")).groupBy("n").count().orderBy("n"),
            table.select("id", size("id").alias("n")).limit(4500),
            table.select(size(of_type("long")("id"))),
            table.select(size(from_mean("id")), "id"),
        ]

    arrow_lane(program, TIMES)
    arrow_lane(program, {**TIMES, "spark.sql.execution.arrow.maxRecordsPerBatch": "1000"})
    off = {"spark.sql.execution.arrow.pythonUDF.columnarInput.enabled": "false"}
    arrow_lane(program, {**TIMES, **off})


def plain_of_type(data_type):
    """The same row by row."""
    return udf(lambda value: value, data_type, useArrow=True)


@pytest.mark.core
def test_columns_of_every_type_row_by_row(both_modes, parquet):
    def program(spark):
        table = spark.read.parquet(parquet)
        names = [field.name for field in table.schema.fields]
        plain = [plain_of_type(table.schema[name].dataType)(name) for name in names]
        return [
            table.select("id", *plain),
            table.select(*names, plain_of_type("long")(F.col("id") + 1)),
            table.select(plain_of_type("long")("id")).limit(4500),
            table.where(plain_of_type("long")("id") > 4090).select("text"),
        ]

    both_modes(program, TIMES)


def test_an_input_that_takes_long_is_not_at_its_end(both_modes, parquet):
    """The first batch of a file takes longer than a bundle may."""

    def program(spark):
        return spark.read.parquet(parquet).select(plain_of_type("long")("id"))

    rows = both_modes(program, {**TIMES, "spark.pyflow.bundle.time": "1ms"})
    assert len(rows) == ROWS


@pytest.mark.core
@pytest.mark.since_spark("4.2")
def test_results_are_converted_with_their_batch(both_modes, parquet):
    """Of another type only after the first batch of the file; or of two in the first."""
    later = udf(lambda n: n if n < 4096 else str(n), "long", useArrow=True)
    both = udf(lambda n: n if n != 7 else 7.5, "long", useArrow=True)

    def program(spark):
        table = spark.read.parquet(parquet)
        return table.select(later("id").alias("later"), "id", both("id").alias("both"))

    rows = both_modes(program, {**TIMES, "spark.pyflow.bundle.size": "100"})
    assert len(rows) == ROWS
    off = {"spark.sql.execution.arrow.pythonUDF.columnarInput.enabled": "false"}
    both_modes.fail(program, {**TIMES, **off})


@pytest.mark.complete
def test_cached_columns(arrow_lane, spark):
    cached = spark.range(25_000, numPartitions=1).selectExpr(
        "id", "id % 3 = 0 as b", "if(id % 5 = 0, null, cast(id as int)) as i", "id / 7 as d"
    )
    cached.cache()
    try:
        names = cached.schema.names

        def program(spark):
            return [
                cached.select(*(of_type(cached.schema[name].dataType)(name) for name in names)),
                cached.select("d", size("i"), "b"),
                cached.select(
                    *(plain_of_type(cached.schema[name].dataType)(name) for name in names)
                ),
            ]

        arrow_lane(program)
        off = {"spark.sql.execution.arrow.pythonUDF.columnarInput.enabled": "false"}
        arrow_lane(program, off)
    finally:
        cached.unpersist()


@pytest.mark.since_spark("4.2")
def test_plans_have_no_rows_in_between(spark, parquet):
    with settings(spark, {MODE: "thread", **TIMES}):
        table = spark.read.parquet(parquet)
        assert takes_columns(table.select(size("id")))
        assert takes_columns(table.select(size("id"), "text"))
        assert not takes_columns(table.where("id > 7").select(size("id")))
        plain = udf(lambda n: n, "long", useArrow=True)
        assert takes_columns(table.select(plain("id"), "text"))
        assert not takes_columns(table.select(udf(lambda n: n, "long", useArrow=False)("id")))
        key = "spark.sql.execution.arrow.pythonUDF.columnarInput.enabled"
        with settings(spark, {key: "false"}):
            assert not takes_columns(table.select(size("id")))
            assert not takes_columns(table.select(plain("id")))


def test_failures_of_the_input(arrow_lane, spark, tmp_path):
    path = str(tmp_path / "broken")
    spark.range(ROWS, numPartitions=1).write.option("compression", "none").parquet(path)
    for file in (tmp_path / "broken").glob("*.parquet"):
        (tmp_path / "broken" / f".{file.name}.crc").unlink()
        data = bytearray(file.read_bytes())
        data[4:100] = b"\xff" * 96  # the header of the first page
        file.write_bytes(data)
    arrow_lane.fail(lambda spark: spark.read.parquet(path).select(size("id")))


@pytest.fixture
def files(spark, tmp_path):
    """Several files, which one task reads."""
    path = str(tmp_path / "files")
    spark.range(30, numPartitions=3).write.parquet(path)
    return path


def origin(which="*"):
    """What Spark tells of the file that a row comes from."""
    columns = [
        F.regexp_extract(F.input_file_name(), "part-[0-9]+", 0).alias("name"),
        F.expr("input_file_block_start()").alias("start"),
        F.expr("input_file_block_length() > 0").alias("length"),
    ]
    return columns if which == "*" else columns[which]


PLAIN = udf(lambda n: n + 1, LongType(), useArrow=False)
OPTIMISED = udf(lambda n: n + 1, LongType(), useArrow=True)


@pandas_udf(LongType())
def next_in_batch(n: pd.Series) -> pd.Series:
    return n + 1


FUNCTIONS = {"plain": PLAIN, "optimised": OPTIMISED, "batches": next_in_batch}
QUERIES = {
    "project": lambda table, f: table.select(f("id").alias("f"), *origin()),
    "filter above": lambda table, f: table.select("id", f("id").alias("f"), *origin()).where(
        "f % 2 = 0"
    ),
    "filter": lambda table, f: table.where(f("id") > F.length(F.input_file_name()) - 1000),
    "above a filter": lambda table, f: table.where(f("id") % 2 == 0).select("id", *origin()),
    "above a filter of its function": lambda table, f: table.where(f("id") % 2 == 0).select(
        f("id"), *origin()
    ),
    "above a filter of another function": lambda table, f: table.where(f("id") % 2 == 0).select(
        PLAIN("id"), next_in_batch("id"), *origin()
    ),
    "chain": lambda table, f: table.select(PLAIN(next_in_batch(f("id"))).alias("f"), *origin()),
    "chain and filter": lambda table, f: table.select("id", f("id").alias("f"), origin(0)).where(
        f("f") > F.expr("input_file_block_start()")
    ),
    "inside": lambda table, f: table.select(
        F.concat(origin(0), f("id").cast("string"), F.lit("!")).alias("both")
    ),
    "group": lambda table, f: table.groupBy(origin(0)).agg(F.sum(f("id"))).orderBy("name"),
}


@pytest.mark.complete("orc")
@pytest.mark.parametrize(
    ("query", "function"),
    [
        pytest.param(
            *(query, function),
            marks=() if function == "optimised" or query == "project" else pytest.mark.complete,
        )
        for query in QUERIES
        for function in FUNCTIONS
    ],
)
def test_the_file_that_rows_come_from(spark, files, query, function):
    def rows(path, conf):
        with settings(spark, conf):
            frame = QUERIES[query](spark.read.parquet(path), FUNCTIONS[function])
            return sorted(map(tuple, frame.collect())), executed_plan(frame)

    one_per_task = {
        "spark.sql.files.maxPartitionBytes": "1m",
        "spark.sql.files.openCostInBytes": "1m",
    }
    expected, _ = rows(files, {MODE: "process", **one_per_task})
    assert "part-0" in repr(expected) or len(expected[0]) == 1
    for conf in (one_per_task, {"spark.sql.files.minPartitionNum": "1"}):
        got, plan = rows(files, {MODE: "thread", **conf})
        assert "Thread" in plan
        assert got == expected
