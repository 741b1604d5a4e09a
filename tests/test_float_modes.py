"""The floating-point modes that functions set, and what the JVM computes meanwhile."""

from __future__ import annotations

import platform

import pytest
from pyspark.sql.functions import pandas_udf, udf

from comparison import settings, thread_modes

pytestmark = pytest.mark.core

#: FE_DOWNWARD of C's <fenv.h>.
DOWNWARD = {"x86_64": 0x400, "aarch64": 0x800000}[platform.machine()]

#: 0.1 + 0.2 as it is rounded to the nearest number, and downward.
NEAREST, BELOW = 0.30000000000000004, 0.3


def rounds(mode):
    import ctypes

    assert ctypes.CDLL("libm.so.6").fesetround(mode) == 0


@pytest.fixture
def in_thread_mode(spark):
    """Runs a program in every form of thread mode. Workers would keep what functions have set."""

    def run(program):
        seen = []
        for mode in thread_modes():
            with settings(spark, mode):
                seen.append(program())
        assert all(each == seen[0] for each in seen), seen
        return seen[0]

    return run


def with_tenths(spark, rows=4):
    return spark.range(0, rows, 1, 1).selectExpr("id", "(id % 1 + 1) / 10 as tenth")


def test_columns_beside_a_function_that_changes_the_rounding(spark, in_thread_mode, make_udf):
    def adds(x):
        rounds(DOWNWARD)
        return x + 0.2

    def program():
        made = with_tenths(spark).select(make_udf(adds, "double")("tenth").alias("sum"), "tenth")
        beside = made.selectExpr("sum", "tenth + 0.2D").collect()
        return beside, with_tenths(spark).selectExpr("tenth + 0.2D").collect()

    assert in_thread_mode(program) == ([(BELOW, NEAREST)] * 4, [(NEAREST,)] * 4)


def test_input_of_a_function_that_changes_the_rounding(spark, in_thread_mode):
    def adds(it):
        for batch in it:
            rounds(DOWNWARD)
            yield batch.assign(sum=batch["tenth"] + 0.2)

    def program():
        made = with_tenths(spark).selectExpr("tenth", "tenth + 0.2D as of_jvm")
        return made.mapInPandas(adds, "tenth double, of_jvm double, sum double").collect()

    with settings(spark, {"spark.sql.execution.arrow.maxRecordsPerBatch": "1"}):
        assert in_thread_mode(program) == [(0.1, NEAREST, BELOW)] * 4


def test_the_rounding_stays_as_a_task_has_set_it(spark):
    def adds(n):
        if n == 1:
            rounds(DOWNWARD)
        return 0.1 * (n / n if n else 1) + 0.2

    def adds_only(x):
        return x + 0.2

    frame = spark.range(0, 3, 1, 1).selectExpr("id", "id / 10 as of_jvm")
    for mode in thread_modes():
        with settings(spark, mode):
            made = frame.select(udf(adds, "double", useArrow=False)("id")).collect()
            assert [row[0] for row in made] == [NEAREST, BELOW, BELOW]
            others = with_tenths(spark).select(udf(adds_only, "double", useArrow=False)("tenth"))
            assert others.collect() == [(NEAREST,)] * 4


def test_functions_that_follow_each_other_round_as_each_has_set(spark, in_thread_mode):
    @pandas_udf("double")
    def below(x):
        rounds(DOWNWARD)
        return x + 0.2

    @udf("double", useArrow=False)
    def nearest(sum, x):
        return x + 0.2 if sum else None

    def program():
        made = with_tenths(spark).select(below("tenth").alias("below"), "tenth")
        return made.select("below", nearest("below", "tenth")).collect()

    with settings(spark, {"spark.sql.execution.arrow.maxRecordsPerBatch": "1"}):
        assert in_thread_mode(program) == [(BELOW, NEAREST)] * 4
