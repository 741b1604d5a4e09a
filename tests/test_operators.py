"""Functions in every place of a query where Spark takes an expression."""

from __future__ import annotations

import re

import pytest
from pyspark.sql import Window
from pyspark.sql import functions as F
from pyspark.sql.functions import col, lit, udf

from comparison import executed_plan, settings, thread_modes

ADAPTIVE = "spark.sql.adaptive.enabled"


@pytest.fixture(params=["arrow", pytest.param("pickled", marks=pytest.mark.complete)])
def make_udf(request):
    """Makes functions; their place does not depend on the eval type, so one is enough."""

    def make(function, return_type="string"):
        return udf(function, return_type, useArrow=request.param == "arrow")

    return make


def numbers(spark, rows=20, partitions=2):
    return spark.range(rows, numPartitions=partitions).select("id", (col("id") % 3).alias("k"))


def parity(make_udf):
    return make_udf(lambda x: x % 2, "long")


def label(make_udf):
    return make_udf(lambda x: f"k{x}")


def test_in_filters(both_modes, make_udf):
    def program(spark):
        odd = make_udf(lambda x: x % 2 == 1, "boolean")
        unknown = make_udf(lambda x: None if x < 5 else True, "boolean")
        return [
            numbers(spark).where(odd("id")),
            numbers(spark).where(odd("id") & (col("id") > 10) & unknown("id")).select("id"),
            numbers(spark).where(~odd("id") | unknown("id")).select("k"),
        ]

    rows = both_modes(program)
    assert [row.id for row in rows[1]] == [11, 13, 15, 17, 19]


def _filtered(spark, make):
    f, g = make(lambda x: x * 2, "long"), make(lambda x: x + 1, "long")
    pair = make(lambda x, y: x + 10 * y, "long")
    rows = numbers(spark)
    return {
        "a column": rows.select("id", f("id").alias("y")).where("y > 7"),
        "another one": rows.select("k", f("id").alias("y")).where("y > 7 and k < 2 and y < 30"),
        "part of a condition": rows.where(f("id") + col("k") > 7).select(f("id"), "k"),
        "under other names": rows.select(col("id").alias("a"), (col("k") + 1).alias("b"))
        .select(f("a").alias("y"), f("b").alias("z"), "a")
        .where("y > 7 and z < 5"),
        "several functions": rows.select(f("id").alias("y"), g("id").alias("z"), g("k"), "k").where(
            "y > 7 or z = 1"
        ),
        "functions of functions": rows.select(g(f("id")).alias("y"), f("id"), "id").where("y > 7"),
        "several arguments": rows.select(pair("id", "k").alias("y"), pair("k", "id")).where(
            "y > 7"
        ),
        "filters over filters": rows.select("*", f("id").alias("y"))
        .where("y > 7")
        .select("*", g("y").alias("z"))
        .where("z < 30"),
        "below a join": rows.select("id", f("id").alias("y"))
        .where("y > 7")
        .join(rows.select(f("id").alias("y"), "k"), "y"),
        "in order": rows.select("id", f("id").alias("y")).where("y > 7").orderBy(f("id").desc()),
    }


@pytest.mark.complete(
    "below a join",
    "functions of functions",
    "under other names",
    "another one",
    "several functions",
)
@pytest.mark.parametrize(
    ("name", "calls"),
    {
        "a column": 1,
        "another one": 1,
        "part of a condition": 1,
        "under other names": 2,
        "several functions": 3,
        "functions of functions": 2,
        "several arguments": 2,
        "filters over filters": 2,
        "below a join": 2,
        "in order": 1,
    }.items(),
)
def test_what_a_filter_needs_is_evaluated_once(spark, both_modes, make_udf, name, calls):
    both_modes(lambda spark: _filtered(spark, make_udf)[name])

    with settings(spark, {"spark.pyflow.execution-mode": "thread", ADAPTIVE: "false"}):
        plan = executed_plan(_filtered(spark, make_udf)[name])
    evaluated = re.findall(r"ThreadEvalPython \[(.*?)\], interpreter", plan)
    assert len([each for part in evaluated for each in re.split(r", (?=<lambda>)", part)]) == calls


def test_results_of_a_filter_leave_adaptive_execution_its_stages(both_modes, spark, make_udf):
    f, g = make_udf(lambda x: x, "long"), make_udf(lambda x, y: x + y, "long")

    def program(spark):
        few = spark.range(2000).where(f("id") < 20).select((col("id") + 1).alias("id"))
        rows = few.join(spark.range(3000).select("id", (col("id") * 7).alias("w")), "id")
        return rows.withColumn("y", g("id", "w")).where("y > 20")

    conf = {"spark.sql.autoBroadcastJoinThreshold": "5000", "spark.sql.shuffle.partitions": "4"}
    both_modes(program, {ADAPTIVE: "true", **conf})
    thread = {"spark.pyflow.execution-mode": "thread", ADAPTIVE: "true"}
    with settings(spark, {**thread, **conf}):
        rows = program(spark)
        rows.collect()
        assert "BroadcastHashJoin" in executed_plan(rows)


def test_a_nondeterministic_function_is_evaluated_where_it_stands(spark, both_modes, make_udf):
    def program(spark):
        f = make_udf(lambda x: x * 2, "long").asNondeterministic()
        return numbers(spark).where(f("id") > 7).select(f("id"), "id")

    both_modes(program)
    with settings(spark, {"spark.pyflow.execution-mode": "thread"}):
        assert executed_plan(program(spark)).count("ThreadEvalPython") == 2


def test_in_sort_keys(both_modes, make_udf):
    def program(spark):
        return numbers(spark).orderBy(parity(make_udf)("id").desc(), label(make_udf)("k"), "id")

    assert [row.id for row in both_modes(program)][:3] == [3, 9, 15]


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_in_join_conditions(both_modes, make_udf, adaptive):
    def program(spark):
        left = numbers(spark, 12).toDF("a", "k")
        right = numbers(spark, 9).toDF("b", "j")
        f = parity(make_udf)
        both = make_udf(lambda x, y: (x + y) % 5 == 0, "boolean")
        return [
            left.join(right, f("a") == f("b")).orderBy("a", "b"),
            left.join(right, (col("k") == col("j")) & both("a", "b")).orderBy("a", "b"),
            left.join(right, both("a", "b")).orderBy("a", "b"),
            left.join(right, f("a") == f("b"), "left_anti").orderBy("a"),
        ]

    conf = {ADAPTIVE: adaptive, "spark.sql.crossJoin.enabled": "true"}
    rows = both_modes(program, conf)
    assert (0, 0, 0, 0) in rows[1]
    assert [len(part) for part in rows] == [54, 7, 21, 0]


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_in_aggregates_and_grouping_keys(both_modes, make_udf, adaptive):
    def program(spark):
        f = parity(make_udf)
        g = label(make_udf)
        frame = numbers(spark)
        return [
            frame.groupBy(g("k").alias("g")).agg(F.sum(f("id")).alias("s")).orderBy("g"),
            frame.groupBy("k").agg(g(F.max("id")).alias("m"), F.min(g("id"))).orderBy("k"),
            frame.agg(F.sum(f("id")), F.collect_set(g("k")).alias("set"))
            .select(F.sort_array("set"), "*")
            .drop("set"),
            frame.groupBy(f("id").alias("p")).count().where(f("p") == 1),
            frame.select(g("k").alias("d")).distinct().orderBy("d"),
            frame.groupBy(g("k")).pivot("k", [0, 1]).agg(F.sum(f("id"))).orderBy(lit(1), "0"),
        ]

    rows = both_modes(program, {ADAPTIVE: adaptive})
    assert [tuple(row) for row in rows[0]] == [("k0", 3), ("k1", 4), ("k2", 3)]


def test_in_conditional_branches(both_modes, make_udf):
    """Branches that Spark does not take may still be evaluated: no error, no other result."""

    def program(spark):
        f = label(make_udf)
        half = make_udf(lambda x: x / 2 if x else None, "double")
        return numbers(spark).select(
            F.when(col("id") > 10, f("id")).when(f("k") == "k1", lit("one")).otherwise(f("k")),
            F.coalesce(half("k"), lit(-1.0)),
            F.expr("if(id > 3, id, null)"),
            f(F.when(col("id") > 5, col("id"))),
            half("id").isNull() | (half("id") > 3),
        )

    assert both_modes(program)[1][:2] == ("one", 0.5)


def test_under_limit_offset_and_sample(both_modes, make_udf):
    def program(spark):
        f = label(make_udf)
        frame = numbers(spark, 3000).select("id", f("k").alias("f"))
        return [
            frame.limit(3),
            frame.orderBy(col("id").desc()).limit(3),
            frame.offset(2998),
            spark.range(3000).sample(fraction=0.01, seed=3).select(f("id")),
            numbers(spark, 30, partitions=1).limit(5).where(f("id") != "k1").select(f("k")),
        ]

    rows = both_modes(program)
    assert [row.id for row in rows[1]] == [2999, 2998, 2997]


def test_limit_stops_early(both_modes, make_udf):
    """The operator is closed before its input ends."""

    def program(spark):
        f = make_udf(lambda x: x, "long")
        return spark.range(10**12, numPartitions=2).select(f("id")).limit(4)

    assert [row[0] for row in both_modes(program)] == [0, 1, 2, 3]


def test_in_subqueries(both_modes, make_udf):
    def program(spark):
        spark.udf.register("lab", label(make_udf))
        spark.udf.register("par", parity(make_udf))
        return spark.sql(
            "with t as (select id, lab(id % 3) as l from range(9)) "
            "select id, (select max(lab(id)) from range(3)) as top from t "
            "where l in (select lab(id) from range(2)) "
            "and exists (select 1 from range(4) r where par(r.id) = 1) order by id"
        )

    assert [row.id for row in both_modes(program)] == [0, 1, 3, 4, 6, 7]


def test_in_window_inputs_and_over_window_results(both_modes, make_udf):
    def program(spark):
        f = parity(make_udf)
        g = label(make_udf)
        window = Window.partitionBy(f("id")).orderBy(g("k"), "id")
        return (
            numbers(spark)
            .select(
                "id",
                F.row_number().over(window).alias("n"),
                F.sum(f("id")).over(Window.orderBy("id")).alias("s"),
            )
            .select("id", g("n"), "s")
            .orderBy("id")
        )

    assert both_modes(program)[1] == (1, "k4", 1)


def test_over_cached_dataframes(both_modes, make_udf):
    def program(spark):
        spark.catalog.clearCache()
        g = label(make_udf)
        cached = numbers(spark).select("id", g("k").alias("g")).cache()
        assert cached.count() == 20
        return cached.select("id", g("g")).where(g("id") != "k4")

    try:
        assert both_modes(program)[0] == (0, "kk0")
    finally:
        both_modes.spark.catalog.clearCache()


def test_over_unions_and_explosions(both_modes, make_udf):
    def program(spark):
        words = make_udf(lambda x: [f"w{n}" for n in range(x % 4)], "array<string>")
        entries = make_udf(lambda x: {f"w{n}": n for n in range(x % 3)}, "map<string,int>")
        g = label(make_udf)
        one = numbers(spark, 6).select("id", g("k").alias("g"))
        two = numbers(spark, 5).select((-col("id")).alias("id"), g("id").alias("g"))
        return [
            one.union(two).select("id", g("g")),
            numbers(spark, 8).select("id", F.explode(words("id")).alias("w")).select(g("w"), "id"),
            numbers(spark, 8).select("id", F.posexplode_outer(words("id"))),
            numbers(spark, 8).select("id", F.explode(entries("id"))),
            numbers(spark, 8).select(F.explode(F.filter(words("id"), lambda w: w != "w0"))),
        ]

    rows = both_modes(program)
    assert [len(part) for part in rows] == [11, 12, 14, 7, 6]


def test_over_fields_of_a_struct_result(both_modes, make_udf):
    def program(spark):
        pair = make_udf(lambda x: (x, {"in": [x, x + 1]}), "a long, b map<string,array<long>>")
        return (
            numbers(spark, 4)
            .select("id", pair("id").alias("p"))
            .select("p.a", "p.*", col("p.b")["in"][1], pair(col("p.a")).b)
        )

    assert both_modes(program)[1] == (1, 1, {"in": [1, 2]}, 2, {"in": [1, 2]})


def test_over_shuffles_and_broadcasts(both_modes, make_udf):
    def program(spark):
        g = label(make_udf)
        frame = numbers(spark).select("id", g("k").alias("g"))
        small = numbers(spark, 3).select(g("id").alias("g"), (col("id") * 100).alias("v"))
        return [
            frame.repartition(3, g("id")).select("id", g("g")).orderBy("id"),
            frame.join(F.broadcast(small), "g").orderBy("id"),
            frame.hint("merge").join(small, "g").select("id", g("v")).orderBy("id"),
            frame.sortWithinPartitions(g("id")).coalesce(1).select(g("id")),
        ]

    both_modes(program)


def test_over_rows_of_every_source(both_modes, make_udf, tmp_path):
    """Row and columnar sources, partition columns, metadata columns, generated and empty rows."""

    def program(spark):
        g = make_udf(lambda *xs: repr(xs))
        frame = numbers(spark, 6).select("id", "k", F.concat(lit("s"), "id").alias("s"))
        where = str(tmp_path / "t")
        frame.coalesce(1).write.mode("overwrite").partitionBy("k").parquet(where)
        frame.coalesce(1).write.mode("overwrite").json(where + "-json")
        stored = spark.read.parquet(where)
        return [
            stored.select(g("id", "s", "k")).orderBy(lit(1)),
            stored.select(g("k", col("_metadata.file_size") > 0), "s").orderBy("s"),
            stored.where("k = 7").select(g("id")),
            spark.read.json(where + "-json").select(g("s", "k")),
            spark.createDataFrame([(1, "a"), (2, None)], "x int, y string").select(g("x", "y")),
            spark.sql("select 1").select(g()),
        ]

    both_modes(program)


def test_columnar_arrow_input(both_modes, make_udf):
    """A pandas function below hands over columnar batches."""

    def program(spark):
        @F.pandas_udf("long", F.PandasUDFType.SCALAR)
        def twice(x):
            return x * 2

        g = label(make_udf)
        return numbers(spark).select("id", twice("id").alias("t")).select("id", g("t"))

    spark = both_modes.spark
    results = []
    for mode in [{"spark.pyflow.execution-mode": "process"}, *thread_modes()]:
        with settings(spark, mode):
            results.append(program(spark).collect())
    assert all(result == results[0] for result in results)
    assert results[0][3] == (3, "k6")


@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("codegen", ["true", "false"])
def test_with_and_without_adaptive_execution_and_code_generation(
    both_modes, make_udf, adaptive, codegen
):
    def program(spark):
        g = label(make_udf)
        return (
            numbers(spark)
            .groupBy(g("k").alias("g"))
            .agg(F.sum("id").alias("s"))
            .select(g("g"), g("s"))
            .orderBy("s")
        )

    conf = {ADAPTIVE: adaptive, "spark.sql.codegen.wholeStage": codegen}
    assert [row[0] for row in both_modes(program, conf)] == ["kk2", "kk0", "kk1"]


def test_in_commands(spark, make_udf, tmp_path):
    """Writing, views and tables: the plan of a command contains the operator, too."""
    g = label(make_udf)
    stored = []
    for number, mode in enumerate([{"spark.pyflow.execution-mode": "process"}, *thread_modes()]):
        with settings(spark, mode):
            where = str(tmp_path / str(number))
            numbers(spark).select("id", g("k").alias("g")).coalesce(1).write.parquet(where)
            stored.append(spark.read.parquet(where).orderBy("id").collect())
    assert stored[1:] == stored[:-1]


def test_through_rdds_foreach_and_iterators(spark, make_udf):
    """Consumers that pull rows one at a time, or more slowly than the operator makes them."""
    g = label(make_udf)
    seen = []
    for mode in [{"spark.pyflow.execution-mode": "process"}, *thread_modes()]:
        with settings(spark, mode):
            frame = numbers(spark, 3000).select("id", g("id"))
            seen.append(
                (
                    [tuple(row) for row in frame.toLocalIterator()],
                    frame.rdd.map(lambda row: row[1]).take(4),
                    frame.first(),
                    frame.tail(1),
                    frame.isEmpty(),
                )
            )
    assert all(result == seen[0] for result in seen)


def test_a_stream(spark, make_udf, tmp_path):
    """Micro-batches of a streaming query."""
    g = label(make_udf)
    source = str(tmp_path / "in")
    numbers(spark).repartition(2).write.json(source)
    results = []
    for number, mode in enumerate([{"spark.pyflow.execution-mode": "process"}, *thread_modes()]):
        with settings(spark, mode):
            frame = spark.readStream.schema("id long, k long").json(source)
            query = (
                frame.select("id", g("k").alias("g"))
                .writeStream.format("memory")
                .queryName(f"stream{number}")
                .trigger(availableNow=True)
                .start()
            )
            assert query.awaitTermination(60)
            results.append(sorted(spark.table(f"stream{number}").collect()))
            plan = query._jsq.explainInternal(False)
            assert ("ThreadEvalPython" in plan) == (number > 0), plan
    assert all(result == results[0] for result in results)
    assert len(results[0]) == 20


def test_aggregates_of_a_stream(spark, make_udf, tmp_path):
    """Spark's operators with state know that elements are not null; those above them do not."""
    source = str(tmp_path / "in")
    numbers(spark).repartition(2).write.json(source)
    g, size = label(make_udf), make_udf(len, "int")
    sizes = F.pandas_udf(lambda lists: lists.map(len), "long")
    rows = F.collect_list(F.struct("id", F.array("id").alias("ids")))
    results = []
    for number, mode in enumerate([{"spark.pyflow.execution-mode": "process"}, *thread_modes()]):
        with settings(spark, mode):
            frame = spark.readStream.schema("id long, k long").json(source)
            grouped = frame.groupBy("k").agg(
                rows.alias("rows"),
                F.collect_set("id").alias("ids"),
                F.map_from_entries(F.collect_list(F.struct("id", "k"))).alias("map"),
                F.first(F.array("k")).alias("first"),
            )
            query = (
                grouped.select(g("k").alias("g"), *grouped.columns)
                .select("*", size("rows").alias("n"), sizes("rows.id").alias("m"))
                .writeStream.format("memory")
                .outputMode("complete")
                .queryName(f"aggregates{number}")
                .trigger(availableNow=True)
                .start()
            )
            assert query.awaitTermination(120)
            found = spark.table(f"aggregates{number}")
            ordered = found.withColumns({name: F.sort_array(name) for name in ("rows", "ids")})
            results.append(ordered.orderBy("k").collect())
    assert [(row.g, row.n, row.m) for row in results[0]] == [
        ("k0", 7, 7),
        ("k1", 7, 7),
        ("k2", 6, 6),
    ]
    assert all(result == results[0] for result in results)


def test_unneeded_columns_are_not_supported(spark, make_udf):
    """A wide column that only the function reads is no output of the operator."""
    size = make_udf(len, "int")
    with settings(spark, thread_modes()[0]):
        frame = spark.range(3).select("id", F.repeat(col("id").cast("string"), 99).alias("wide"))
        result = frame.select("id", size("wide").alias("n"))
        assert result.collect()[0] == (0, 99)
        plan = executed_plan(result)
    (operator,) = [line for line in plan.splitlines() if "ThreadEvalPython" in line]
    outputs = operator[operator.index("output [") :]
    assert "id#" in outputs, plan
    assert "wide#" not in outputs, plan
