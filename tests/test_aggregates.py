"""Aggregates of groups and windows by pandas and Arrow functions, in both modes."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import Window
from pyspark.sql import functions as F
from pyspark.sql.functions import arrow_udf, col, lit, pandas_udf
from pyspark.sql.types import ArrayType, DoubleType, LongType, StringType

from comparison import executed_plan, settings
from sessions import MODE

SMALL_BATCHES = {"spark.sql.execution.arrow.maxRecordsPerBatch": "7"}


def numbers(spark, rows=500):
    return spark.range(rows, numPartitions=3).select(
        (col("id") % 7).alias("k"),
        F.concat(lit("g"), col("id") % 3).alias("g"),
        (col("id") * 7919 % 1000).alias("n"),
        (col("id") / 4).alias("x"),
    )


@pandas_udf(DoubleType())
def mean(series: pd.Series) -> float:
    return series.mean()


@pandas_udf(DoubleType())
def weighted(values: pd.Series, weights: pd.Series) -> float:
    return float((values * weights).sum())


@pandas_udf(ArrayType(StringType()))
def distinct(series: pd.Series) -> list[str]:
    return sorted(series.unique())


@arrow_udf(LongType())
def arrow_max(values: pa.Array) -> pa.Scalar:
    return pc.max(values)


@arrow_udf(StringType())
def arrow_text(values: pa.Array) -> str:
    return f"{len(values)} values"


def of_iterators():
    """Aggregates of a group batch by batch, and of one that does not read to the end."""

    @pandas_udf(LongType())
    def rows_in_batches(batches: Iterator[pd.Series]) -> int:
        return sum(len(batch) for batch in batches)

    @pandas_udf(LongType())
    def first_batch_only(batches: Iterator[pd.Series]) -> int:
        return int(next(batches).iloc[0])

    @arrow_udf(LongType())
    def arrow_rows(batches: Iterator[pa.Array]) -> int:
        return sum(len(batch) for batch in batches)

    return rows_in_batches, first_batch_only, arrow_rows


@pytest.mark.parametrize("conf", [{}, SMALL_BATCHES], ids=["", "small batches"])
def test_grouped(arrow_lane, conf):
    def program(spark):
        frame = numbers(spark)
        grouped = frame.groupBy("k")
        return [
            grouped.agg(mean("x")),
            grouped.agg(mean("x").alias("m"), weighted("x", "n"), distinct("g")),
            grouped.agg(weighted(weights="n", values="x"), (mean("x") + 1).alias("more")),
            grouped.agg(arrow_max("n"), arrow_max("k"), arrow_text("x")),
            frame.groupBy("g", (col("n") % 2).alias("odd")).agg(mean("x")),
            frame.agg(mean("x"), mean("n")),
            frame.where("n < 0").agg(mean("x")),
            frame.where("n < 0").groupBy("k").agg(arrow_max("n")),
            frame.rollup("k", "g").agg(mean("x")),
            grouped.agg(mean("x").alias("m")).where("m > 60").orderBy("m"),
        ]

    arrow_lane(program, conf)


@pytest.mark.since_spark("4.2")
@pytest.mark.parametrize("conf", [{}, SMALL_BATCHES], ids=["", "small batches"])
def test_grouped_batch_by_batch(arrow_lane, conf):
    rows_in_batches, first_batch_only, arrow_rows = of_iterators()

    def program(spark):
        grouped = numbers(spark).groupBy("k")
        return [
            grouped.agg(rows_in_batches("n")),
            grouped.agg(first_batch_only("n") >= 0),
            grouped.agg(arrow_rows("n")),
        ]

    arrow_lane(program, conf)


@pytest.mark.complete
def test_windows(arrow_lane):
    whole = Window.partitionBy("k")
    ordered = Window.partitionBy("k").orderBy("n", "x")
    sliding = ordered.rowsBetween(-2, 1)
    growing = ordered.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    near = Window.partitionBy("k").orderBy("n").rangeBetween(-50, 50)

    def program(spark):
        frame = numbers(spark, 200)
        return [
            frame.withColumn("m", mean("x").over(whole)),
            frame.withColumn("m", mean("x").over(ordered)),
            frame.withColumn("m", mean("x").over(sliding)),
            frame.withColumn("m", mean("x").over(near)),
            frame.select(
                "g",
                weighted("x", "n").over(sliding).alias("a"),
                weighted(weights="x", values="n").over(growing).alias("b"),
                mean("n").over(whole).alias("c"),
                mean("n").over(sliding).alias("d"),
            ),
            frame.select("n", arrow_max("n").over(whole), arrow_max("k").over(sliding) + 1),
            frame.withColumn("m", mean("x").over(Window.partitionBy())),
            frame.where("n < 0").withColumn("m", mean("x").over(whole)),
        ]

    arrow_lane(program)
    arrow_lane(program, SMALL_BATCHES)


def test_windows_that_spill(arrow_lane):
    conf = {
        "spark.sql.windowExec.buffer.in.memory.threshold": "8",
        "spark.sql.windowExec.buffer.spill.threshold": "16",
    }
    window = Window.partitionBy("k").orderBy("n").rowsBetween(-1, 1)
    arrow_lane(lambda spark: numbers(spark).withColumn("m", mean("x").over(window)), conf)


def test_sessions_of_events(arrow_lane):
    def program(spark):
        events = spark.range(100).selectExpr(
            "id % 3 as user", "timestamp_seconds(id * id) as at", "id as n"
        )
        gap = F.session_window("at", "2 minutes")
        hours = F.window("at", "10 minutes")
        return [
            events.groupBy("user", gap).agg(mean("n"), mean("user")),
            events.groupBy(gap).agg(arrow_max("n")),
            events.groupBy("user", hours).agg(mean("n")),
        ]

    arrow_lane(program)


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_next_to_other_functions(arrow_lane, adaptive):
    plus_one = F.udf(lambda n: n + 1, "long")

    def program(spark):
        frame = numbers(spark)
        sums = frame.groupBy(plus_one("k").alias("k1")).agg(mean(plus_one("n").cast("double")))
        joined = frame.groupBy("k").agg(F.sum("n").alias("total")).join(sums, col("k1") == col("k"))
        return [sums, joined, sums.select(plus_one("k1"))]

    arrow_lane(program, {"spark.sql.adaptive.enabled": adaptive})


@pytest.mark.complete
def test_collations_and_nulls_as_keys(arrow_lane):
    def program(spark):
        frame = spark.createDataFrame(
            [(None, 1.0), ("a", 2.0), ("A", 3.0), (None, 4.0), ("b", float("nan"))],
            "t string, x double",
        )
        folded = frame.selectExpr("t collate UTF8_LCASE as t", "x").coalesce(1)
        return [
            frame.groupBy("t").agg(mean("x")),
            folded.groupBy(F.lower("t")).agg(mean("x")),
            frame.groupBy("x").agg(distinct(F.coalesce("t", lit("?")))),
            frame.withColumn("m", mean("x").over(Window.partitionBy("t"))),
        ]

    arrow_lane(program)


def test_what_spark_refuses(arrow_lane):
    def kinds_mixed(spark):
        return numbers(spark).groupBy("k").agg(mean("x"), arrow_max("n"))

    def with_sparks_own(spark):
        return numbers(spark).groupBy("k").agg(mean("x"), F.sum("n"))

    def pivoted(spark):
        return numbers(spark).groupBy("k").pivot("g", ["g0", "g1"]).agg(mean("x"))

    for program in (kinds_mixed, with_sparks_own, pivoted):
        arrow_lane.refuse(program)


FAILURES = {
    "an exception": lambda spark: (
        numbers(spark)
        .groupBy("k")
        .agg(pandas_udf(lambda series: 1 / 0, "double", F.PandasUDFType.GROUPED_AGG)("x"))
    ),
    "a wrong type": lambda spark: (
        numbers(spark)
        .groupBy("k")
        .agg(pandas_udf(lambda series: "text", "double", F.PandasUDFType.GROUPED_AGG)("x"))
    ),
    "in a window": lambda spark: numbers(spark).withColumn(
        "m",
        pandas_udf(lambda series: 1 / (len(series) - 3), "double", F.PandasUDFType.GROUPED_AGG)(
            "x"
        ).over(Window.partitionBy("k").orderBy("n").rowsBetween(-1, 1)),
    ),
}


@pytest.mark.parametrize("what", FAILURES)
def test_exceptions_of_aggregates_are_equal_in_both_modes(arrow_lane, what):
    arrow_lane.fail(lambda spark: FAILURES[what](spark).coalesce(1))


def test_plans_and_fallback(spark):
    with settings(spark, {MODE: "thread"}):
        frame = numbers(spark, 10)
        grouped = frame.groupBy("k").agg(mean("x"))
        windowed = frame.withColumn("m", mean("x").over(Window.partitionBy("k")))
        assert "ThreadArrowAggregatePython [mean(" in executed_plan(grouped)
        assert "ThreadArrowWindowPython [mean(" in executed_plan(windowed)
        with settings(spark, {"spark.sql.pyspark.udf.profiler": "memory"}):
            for each in (frame.groupBy("k").agg(mean("x")), windowed.select("m")):
                plan = executed_plan(each)
                assert "ProcessMode [mean(" in plan
                assert "memory profiler" in plan
                assert each.count() > 0
