"""Partitioning and order of rows above a function: Spark shuffles and sorts them no more in thread
mode than in process mode, and not at all where a function changes neither.
"""

from __future__ import annotations

import re

import pandas as pd
import pytest
from pyspark.sql import Window
from pyspark.sql import functions as F
from pyspark.sql.functions import col, pandas_udf, udf
from pyspark.sql.types import DoubleType

from comparison import executed_plan, settings, thread_modes
from sessions import SPARK

PROCESS = {"spark.pyflow.execution-mode": "process"}
# Plans that show every exchange, and joins that need them.
FIXED = {"spark.sql.adaptive.enabled": "false", "spark.sql.autoBroadcastJoinThreshold": "-1"}


def plain(f):
    return udf(f, "long", useArrow=False)


def optimised(f):
    return udf(f, "long", useArrow=True)


def vectorised(f):
    return pandas_udf(lambda s: s.map(f), "long")


@pandas_udf(DoubleType())
def mean(v: pd.Series) -> float:
    return v.mean()


def partitioned(spark):
    """Rows that are partitioned by k and sorted by it."""
    rows = spark.range(20).select((col("id") % 3).alias("k"), col("id").alias("v"))
    return rows.repartition(2, "k").sortWithinPartitions("k")


def grouped(f, spark):
    return partitioned(spark).select("k", f("v").alias("f")).groupBy("k").agg(F.sum("f"))


def grouped_by_alias(f, spark):
    renamed = partitioned(spark).select(col("k").alias("key"), f("v").alias("f"))
    return renamed.groupBy("key").agg(F.sum("f"))


def joined(f, spark):
    left = partitioned(spark).select("k", f("v").alias("f"))
    right = partitioned(spark).select("k", f("k").alias("g"))
    return left.join(right, "k")


def over_windows(f, spark):
    rows = partitioned(spark).select("k", f("v").alias("f"))
    return rows.select("k", F.count("f").over(Window.partitionBy("k")).alias("n"))


def aggregated(spark):
    return partitioned(spark).groupBy("k").agg(mean("v").alias("m")).groupBy("k").agg(F.sum("m"))


def aggregated_and_joined(spark):
    left, right = (
        partitioned(spark).groupBy("k").agg(mean("v").alias(name)) for name in ("m", "n")
    )
    return left.join(right, "k")


def of_windows(spark):
    over = Window.partitionBy("k").orderBy("k")
    rows = partitioned(spark).select("k", mean("v").over(over).alias("m"))
    return rows.groupBy("k").agg(F.sum("m"))


def mapped(spark):
    rows = partitioned(spark).mapInPandas(lambda frames: frames, "k long, v long")
    return rows.groupBy("k").count()


def applied(spark):
    return partitioned(spark).groupBy("k").applyInPandas(lambda frame: frame, "k long, v long")


def cogrouped(spark):
    left, right = (partitioned(spark).groupBy("k") for _ in range(2))
    return left.cogroup(right).applyInPandas(lambda one, other: one, "k long, v long")


# The shuffles and sorts of the plan in thread mode. Spark drops a sort below a hash aggregation.
EVALUATIONS = [
    (grouped, 1, 0),
    (grouped_by_alias, 1, 0),
    (joined, 2, 2),
    (over_windows, 1, 1),
]
OTHERS = [
    (aggregated, 1, 1),
    (aggregated_and_joined, 2, 2),
    # Before 4.3 Spark sorts by a key twice that is in the order, too.
    (of_windows, 1, 1 if SPARK >= (4, 3) else 2),
    (mapped, 2, 1),
    (applied, 1, 1),
    (cogrouped, 2, 2),
]
CASES = [
    *[
        pytest.param(
            lambda spark, q=query, k=kind: q(k(lambda x: x + 1), spark),
            *counts,
            id=f"{query.__name__}-{kind.__name__}",
        )
        for query, *counts in EVALUATIONS
        for kind in (plain, optimised, vectorised)
    ],
    *[pytest.param(query, *counts, id=query.__name__) for query, *counts in OTHERS],
]


def shuffles_and_sorts(frame):
    plan = executed_plan(frame)
    return len(re.findall(r"\bExchange ", plan)), len(re.findall(r"\bSort \[", plan)), plan


@pytest.mark.parametrize(("query", "shuffles", "sorts"), CASES)
def test_no_more_shuffles_and_sorts_than_needed(spark, query, shuffles, sorts):
    with settings(spark, {**FIXED, **PROCESS}):
        in_process = shuffles_and_sorts(query(spark))
    with settings(spark, {**FIXED, **thread_modes()[0]}):
        frame = query(spark)
        in_thread = shuffles_and_sorts(frame)
        rows = sorted(frame.collect())
    with settings(spark, {**FIXED, **PROCESS}):
        assert rows == sorted(query(spark).collect())

    assert "Thread" in in_thread[2]
    assert in_thread[:2] == (shuffles, sorts), in_thread[2]
    assert in_thread[0] <= in_process[0], in_process[2]
    assert in_thread[1] <= in_process[1], in_process[2]


@pytest.mark.parametrize("kind", [plain, optimised, vectorised])
def test_shuffles_are_shared_by_the_same_results_only(spark, kind):
    double, square = kind(lambda x: 2 * x), kind(lambda x: x * x)

    def query(last):
        rows = spark.range(5).select(
            double("id").alias("a"), square("id").alias("b"), last("id").alias("c")
        )
        return rows.repartition(2, "a")

    with settings(spark, {**FIXED, **thread_modes()[0]}):
        same = query(square).union(query(square))
        other = query(double).union(query(square))
        plans = executed_plan(same), executed_plan(other)
        rows = other.collect()

    assert "ReusedExchange" in plans[0], plans[0]
    assert "ReusedExchange" not in plans[1], plans[1]
    assert sorted(rows) == sorted((2 * x, x * x, c) for x in range(5) for c in (2 * x, x * x))
