"""The profiler of functions: what `spark.profile` shows and dumps in both modes."""

from __future__ import annotations

import pytest
from pyspark.sql.functions import pandas_udf, udf

from comparison import executed_plan, settings
from sessions import INTERPRETER, MODE, OWN_GIL

PROFILER = "spark.sql.pyspark.udf.profiler"
ROWS = 20


def leaf(n):
    return n + 1


def twice(n):
    return leaf(n) + leaf(n)


def recursive(n):
    return n if n == 0 else recursive(n - 1)


def on_series(series):
    return series.map(leaf)


def on_frames(frames):
    for frame in frames:
        yield frame.assign(id=frame["id"].map(leaf))


def on_group(frame):
    return frame.assign(id=frame["id"].map(leaf))


def over_rows(spark):
    return spark.range(ROWS, numPartitions=2)


KINDS = {
    "plain": lambda spark: over_rows(spark).select(udf(twice, "long")("id")),
    "arrow": lambda spark: over_rows(spark).select(udf(twice, "long", useArrow=True)("id")),
    "recursive": lambda spark: over_rows(spark).select(udf(recursive, "long")("id")),
    "chained": lambda spark: over_rows(spark).select(
        udf(twice, "long")(udf(recursive, "long")("id"))
    ),
    "two": lambda spark: over_rows(spark).select(
        udf(twice, "long")("id"), udf(recursive, "long")("id")
    ),
    "pandas": lambda spark: over_rows(spark).select(pandas_udf(on_series, "long")("id")),
    "iterator": lambda spark: over_rows(spark).mapInPandas(on_frames, "id long"),
    "group": lambda spark: over_rows(spark).groupBy("id").applyInPandas(on_group, "id long"),
    "below": lambda spark: (
        over_rows(spark)
        .select(udf(leaf, "long")("id").alias("id"))
        .mapInPandas(on_frames, "id long")
    ),
}


def counts(spark, conf, kind):
    """How often functions of this file were called, by the function that was profiled."""
    spark.profile.clear()
    with settings(spark, {PROFILER: "perf", **conf}):
        frame = KINDS[kind](spark)
        plan = executed_plan(frame)
        frame.collect()
    assert ("Thread" in plan) == (conf[MODE] == "thread")
    stats = spark._profiler_collector._perf_profile_results
    return [
        sorted(
            (name, calls, primitive)
            for (file, _, name), (primitive, calls, *_) in stats[key].stats.items()
            if file == "test_profiler.py"
        )
        for key in sorted(stats)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_calls_are_those_of_process_mode(spark, kind):
    expected = counts(spark, {MODE: "process"}, kind)
    assert any(expected)
    for interpreter in ["shared", "auto"] if OWN_GIL else ["auto"]:
        assert counts(spark, {MODE: "thread", INTERPRETER: interpreter}, kind) == expected


def test_a_profile_is_shown_and_dumped(spark, tmp_path, capsys):
    spark.profile.clear()
    with settings(spark, {PROFILER: "perf", MODE: "thread"}):
        KINDS["plain"](spark).collect()

    spark.profile.show(type="perf")
    spark.profile.dump(str(tmp_path), type="perf")

    shown = capsys.readouterr().out
    assert "Profile of UDF<id=" in shown
    assert f"       {ROWS}    " in shown
    assert "(twice)" in shown
    (file,) = tmp_path.iterdir()
    assert file.name.startswith("udf_")
    assert file.name.endswith("_perf.pstats")


def test_times_are_those_of_the_function(spark):
    def slow(n):
        import time

        time.sleep(0.01)
        return n

    spark.profile.clear()
    with settings(spark, {PROFILER: "perf", MODE: "thread"}):
        over_rows(spark).select(udf(slow, "long")("id")).collect()

    (stats,) = spark._profiler_collector._perf_profile_results.values()
    ((*_, cumulative, _),) = [each for (_, _, name), each in stats.stats.items() if name == "slow"]
    assert cumulative >= 0.01 * ROWS
