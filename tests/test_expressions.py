"""Plain functions where no operator can call them: in the lambdas of higher-order functions and in
the conditions of outer joins. Spark refuses them there, so that the reference is a program that
means the same: Python's own loops, or a function of the whole array in process mode.
"""

from __future__ import annotations

import re
import time

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, PythonException
from pyspark.sql import functions as F
from pyspark.sql.functions import col, pandas_udf, udf

from comparison import exact, executed_plan, failure, process_mode, settings, thread_modes
from sessions import INTERPRETER

MODES = pytest.mark.parametrize("mode", thread_modes(), ids=lambda mode: mode[INTERPRETER])


def in_turn(name, values, **options):
    """Has a test run with each value under one form of thread mode; when complete, under all."""
    modes = thread_modes()
    cases = [
        pytest.param(
            *(mode, value),
            id=f"{mode[INTERPRETER]}-{value}",
            marks=pytest.mark.complete if place != number % len(modes) else (),
        )
        for place, mode in enumerate(modes)
        for number, value in enumerate(values)
    ]
    return pytest.mark.parametrize(("mode", name), cases, **options)


EACH_EVAL_TYPE = in_turn("make_udf", ["arrow", "pickled"], indirect=["make_udf"])

ARRAYS = [
    (1, [1, 2, 3], {"a": 1, "b": 2}),
    (2, [], {}),
    (3, [None, 5, -1, 5], {"c": None, "d": 0}),
    (4, None, None),
]


def rows(spark, conf, program):
    """What a program gives under some settings."""
    with settings(spark, conf):
        return [tuple(row) for row in program(spark).collect()]


def arrays(spark):
    return spark.createDataFrame(ARRAYS, "id long, xs array<long>, m map<string,long>")


def double(x):
    return None if x is None else 2 * x


def is_odd(x):
    return None if x is None else x % 2 == 1


def total(x, y):
    return (x or 0) + (y or 0)


def by_absolute_value(x, y):
    if x is None or y is None:
        return (x is None) - (y is None)
    return abs(y) - abs(x)


def of_each(array, f):
    return F.transform(array, lambda x: f(x))


def call(f, function, return_type):
    """A lambda of the function's arguments that calls it as a UDF."""
    made = f(function, return_type)
    return {1: lambda x: made(x), 2: lambda x, y: made(x, y), 3: lambda x, y, z: made(x, y, z)}[
        function.__code__.co_argcount
    ]


# What Spark is asked for, and what Python makes of an array and a map.
HIGHER_ORDER = {
    "transform": (
        lambda f: F.transform("xs", call(f, double, "long")),
        lambda xs, m: [double(x) for x in xs],
    ),
    "transform with indexes": (
        lambda f: F.transform("xs", call(f, lambda x, i: f"{i}:{x}", "string")),
        lambda xs, m: [f"{i}:{x}" for i, x in enumerate(xs)],
    ),
    "filter": (
        lambda f: F.filter("xs", call(f, is_odd, "boolean")),
        lambda xs, m: [x for x in xs if is_odd(x)],
    ),
    "exists": (
        lambda f: F.exists("xs", call(f, lambda x: x is not None and x > 2, "boolean")),
        lambda xs, m: any(x is not None and x > 2 for x in xs),
    ),
    "forall": (
        lambda f: F.forall("xs", call(f, lambda x: x is not None, "boolean")),
        lambda xs, m: all(x is not None for x in xs),
    ),
    "aggregate": (
        lambda f: F.aggregate(
            "xs", F.lit(0).cast("long"), call(f, total, "long"), call(f, double, "long")
        ),
        lambda xs, m: 2 * sum(x or 0 for x in xs),
    ),
    "aggregate of strings": (
        lambda f: F.aggregate("xs", F.lit("<"), call(f, lambda s, x: f"{s}{x},", "string")),
        lambda xs, m: "<" + "".join(f"{x}," for x in xs),
    ),
    "zip_with": (
        lambda f: F.zip_with("xs", F.reverse("xs"), call(f, total, "long")),
        lambda xs, m: [total(x, y) for x, y in zip(xs, reversed(xs))],
    ),
    "array_sort": (
        lambda f: F.array_sort("xs", call(f, by_absolute_value, "int")),
        lambda xs, m: sorted(xs, key=lambda x: (x is None, -abs(x or 0))),
    ),
    "transform_keys": (
        lambda f: F.transform_keys("m", call(f, lambda k, v: k.upper(), "string")),
        lambda xs, m: {k.upper(): v for k, v in m.items()},
    ),
    "transform_values": (
        lambda f: F.transform_values("m", call(f, lambda k, v: [k, str(v)], "array<string>")),
        lambda xs, m: {k: [k, str(v)] for k, v in m.items()},
    ),
    "map_filter": (
        lambda f: F.map_filter("m", call(f, lambda k, v: bool(v), "boolean")),
        lambda xs, m: {k: v for k, v in m.items() if v},
    ),
    "map_zip_with": (
        lambda f: F.map_zip_with("m", "m", call(f, lambda k, v, w: f"{k}{v}{w}", "string")),
        lambda xs, m: {k: f"{k}{v}{v}" for k, v in m.items()},
    ),
    "lambdas within lambdas": (
        lambda f: F.transform(
            "xs", lambda x: F.transform("xs", lambda y: f(total, "long")(f(double, "long")(x), y))
        ),
        lambda xs, m: [[total(double(x), y) for y in xs] for x in xs],
    ),
}


def in_order(value):
    """The exact value, but for the order of a map's entries."""
    return exact(sorted(value.items()) if isinstance(value, dict) else value)


@MODES
@pytest.mark.slice
def test_higher_order_functions(spark, mode, make_udf):
    columns = [make(make_udf).alias(name) for name, (make, _) in HIGHER_ORDER.items()]
    with settings(spark, mode):
        got = arrays(spark).select("id", *columns).orderBy("id").collect()
    for row, (_, xs, m) in zip(got, ARRAYS, strict=True):
        for name, (_, python) in HIGHER_ORDER.items():
            expected = None if xs is None else python(xs, m)
            assert in_order(row[name]) == in_order(expected), (row.id, name)


@EACH_EVAL_TYPE
def test_functions_of_functions(spark, mode, make_udf):
    f = make_udf(double, "long")
    g = make_udf(total, "long")
    column = F.transform("xs", lambda x: f(f(x)) + g(f(x + 1), "id") + g(y="id", x=x))
    with settings(spark, mode):
        got = arrays(spark).where("id in (1, 2)").orderBy("id").select(column)
        assert [row[0] for row in got.collect()] == [[4 + 5 + 2, 8 + 7 + 3, 12 + 9 + 4], []]


VALUES = {
    "boolean": "id % 2 = 0",
    "byte": "cast(id as byte)",
    "int": "cast(id as int)",
    "double": "id / 3",
    "decimal(20,3)": "cast(id / 7 as decimal(20,3))",
    "string": "repeat(cast(id as string), 40)",
    "binary": "cast(cast(id as string) as binary)",
    "date": "date_add(date'2020-01-01', cast(id as int))",
    "timestamp": "timestamp'2020-01-01 12:00:00' + make_dt_interval(0, 0, 0, id / 7)",
    "interval day to second": "make_dt_interval(cast(id as int))",
    "array<string>": "array(cast(id as string), null)",
    "map<string,double>": "map(cast(id as string), id / 3)",
    "struct<a:int,b:string>": "named_struct('a', cast(id as int), 'b', cast(id as string))",
}


@EACH_EVAL_TYPE
def test_values_of_all_types(spark, mode, make_udf):
    """A lambda's result for an element is an operator's for a row; the value before it stays."""
    names = [f"c{i}" for i in range(len(VALUES))]
    functions = {
        name: make_udf(lambda x: x, type_) for name, type_ in zip(names, VALUES, strict=True)
    }
    values = [F.expr(sql).alias(name) for name, sql in zip(names, VALUES.values(), strict=True)]

    def of_rows(spark):
        frame = spark.range(10).select("id", *values).orderBy("id")
        return frame.select(*[functions[name](name) for name in names])

    def of_elements(spark):
        lists = [F.array(F.lit(None), name, F.lit(None), name).alias(name) for name in names]
        frame = spark.range(10).select("id", *values).select("id", *lists).orderBy("id")
        return frame.select(*[of_each(name, functions[name]) for name in names])

    expected = rows(spark, process_mode(), of_rows)
    got = rows(spark, mode, of_elements)
    assert exact(got) == exact(
        [tuple([None, value, None, value] for value in row) for row in expected]
    )


@MODES
def test_results_that_are_not_of_the_declared_type(spark, mode):
    """They become what process mode makes of them."""
    returned = [1, 1.5, "text", True, [1], None]

    def odd(x):
        return returned[x]

    for declared in ("long", "double", "string", "array<double>"):
        f = udf(odd, declared, useArrow=False)
        with settings(spark, process_mode()):
            expected = spark.range(len(returned)).select(f(col("id").cast("int"))).collect()
        with settings(spark, mode):
            numbers = F.sequence(F.lit(0), F.lit(len(returned) - 1))
            got = spark.range(1).select(of_each(numbers, f)).collect()
        assert exact(got[0][0]) == exact([value for (value,) in expected])


@MODES
def test_one_call_for_all_that_is_made_of_a_result(spark, mode):
    calls = spark.sparkContext.accumulator(0)
    seen = []

    def pair(x):
        calls.add(1)
        seen.append(x)
        return x, len(seen) - 1

    f = udf(pair, "struct<x:long,n:long>").asNondeterministic()

    def twice(x):
        made = f(x)
        return F.array(made.x, made.n, made.n)

    with settings(spark, mode):
        frame = spark.range(1, numPartitions=1).select(
            F.transform(F.array(*map(F.lit, [7, 7])), twice)
        )
        assert frame.collect()[0][0] == [[7, 0, 0], [7, 1, 1]]
    assert calls.value == 2


@MODES
def test_a_chain_is_as_deterministic_as_its_functions(spark, mode):
    """Spark evaluates two columns that are written alike once, if they are deterministic."""
    calls = spark.sparkContext.accumulator(0)

    def counted(x):
        calls.add(1)
        return x

    inner = udf(counted, "long").asNondeterministic()
    outer = udf(lambda x: x, "long")
    column = F.transform(F.array("id"), lambda x: outer(inner(x)))
    with settings(spark, mode):
        assert spark.range(1).select(column.alias("a"), column.alias("b")).first() == ([0], [0])
    assert calls.value == 2


@MODES
def test_every_function_is_called_as_in_an_operator(spark, mode):
    """Also in a branch that is not taken, and no function is called for an element twice."""
    calls = spark.sparkContext.accumulator(0)

    def checked(x):
        calls.add(1)
        return x > 1

    f = udf(checked, "boolean")
    with settings(spark, mode):
        frame = spark.createDataFrame([([1, 2, 3],)], "xs array<long>").select(
            F.transform("xs", lambda x: F.when(x > 2, f(x)).otherwise(f(x) & f(x)))
        )
        assert frame.collect()[0][0] == [False, True, True]
    assert calls.value == 3


@MODES
def test_arguments_that_differ_from_call_to_call(spark, mode):
    f = udf(lambda x, y: f"{x} {0 <= y < 1}", "string")
    with settings(spark, mode):
        frame = spark.range(1).select(F.transform(F.array("id", "id"), lambda x: f(x, F.rand())))
        assert frame.collect()[0][0] == ["0 True", "0 True"]


@MODES
def test_broadcast_variables_and_the_task(spark, mode):
    from pyspark import TaskContext

    table = spark.sparkContext.broadcast({1: "one", 2: "two"})
    f = udf(lambda x: f"{table.value.get(x)} {TaskContext.get().partitionId()}", "string")
    with settings(spark, mode):
        frame = spark.range(0, 4, 1, 2).select(of_each(F.array("id"), f))
        assert [row[0][0] for row in frame.collect()] == ["None 0", "one 0", "two 1", "None 1"]


@MODES
def test_errors_are_those_of_an_operator(spark, mode):
    def reciprocal(x):
        return 1 / x

    f = udf(reciprocal, "double")

    def fail(conf, program):
        with settings(spark, conf), pytest.raises(PythonException) as raised:
            program(spark).collect()
        return failure(raised.value)

    expected = fail(process_mode(), lambda spark: spark.range(1).select(f("id")))
    got = fail(mode, lambda spark: spark.range(1).select(of_each(F.array("id"), f)))
    assert got == expected
    assert "ZeroDivisionError" in got


@MODES
def test_time_limit(spark, mode):
    f = udf(lambda x: time.sleep(600), "long")
    limit = {**mode, "spark.pyflow.python.timeout": "500ms"}
    with settings(spark, limit), pytest.raises(Exception, match="had not returned after 500 ms"):
        spark.range(1).select(of_each(F.array("id"), f)).collect()


def test_explain_shows_the_calls(spark):
    f = udf(double, "long").asNondeterministic()
    with settings(spark, thread_modes()[0]):
        plan = executed_plan(arrays(spark).select(F.transform("xs", lambda x: f(x) + 1)))
    assert "double(lambda x" in plan


@EACH_EVAL_TYPE
def test_in_every_clause(spark, mode, make_udf):
    f = make_udf(double, "long")

    def program(spark):
        doubled = F.transform("xs", lambda x: f(x))
        frame = arrays(spark)
        frame.createOrReplaceTempView("arrays")
        spark.udf.register("doubled", f)
        return [
            frame.where(F.exists("xs", lambda x: f(x) > 4)).orderBy("id").select("id"),
            frame.orderBy(F.size(doubled).desc(), "id").select("id"),
            frame.groupBy(F.size(doubled).alias("n")).count().orderBy("n"),
            frame.groupBy().agg(F.max(F.size(doubled))),
            frame.select(F.explode(doubled)),
            spark.sql("select id from arrays where exists(xs, x -> doubled(x) = 6)"),
            spark.sql("select transform(array(1L, 2L), x -> doubled(x)) as constant"),
        ]

    with settings(spark, mode):
        got = [[tuple(row) for row in frame.collect()] for frame in program(spark)]
    assert got == [
        [(1,), (3,)],
        [(3,), (1,), (2,), (4,)],
        [(None, 1), (0, 1), (3, 1), (4, 1)],
        [(4,)],
        [(2,), (4,), (6,), (None,), (10,), (-2,), (10,)],
        [(1,)],
        [([2, 4],)],
    ]


PARTITIONED = {
    "directory": lambda spark, path: spark.read.parquet(path),
    "catalog": lambda spark, path: spark.table("partitioned_by_k"),
    "version 2": lambda spark, path: spark.read.parquet(path),
}


@in_turn("kind", PARTITIONED)
def test_predicates_over_partition_columns(spark, mode, kind, tmp_path):
    """Spark chooses partitions by the other predicates, those that come later included."""
    path = str(tmp_path / "table")
    rows = spark.range(20).selectExpr("id", "id % 5 AS k")
    rows.write.partitionBy("k").option("path", path).saveAsTable("partitioned_by_k")
    f = udf(double, "long")
    sources = {"spark.sql.sources.useV1SourceList": ""} if kind == "version 2" else {}
    conf = {**mode, **sources, "spark.sql.adaptive.enabled": "false"}
    try:
        with settings(spark, conf):
            table = PARTITIONED[kind](spark, path)
            even = table.where(F.exists(F.array("k"), lambda k: f(k) >= 4) & (col("k") != 3))
            joined = even.join(spark.range(20), "id").where("k < 4")
            assert sorted(even.collect()) == [(n, n % 5) for n in range(20) if n % 5 in (2, 4)]
            assert sorted(joined.collect()) == [(n, 2) for n in range(2, 20, 5)]
            filters = re.search(r"PartitionFilters: \[([^]]*)\]", executed_plan(joined))[1]
            assert "< 4" in filters
            assert "= 3" in filters
            assert "double" not in filters
    finally:
        spark.sql("DROP TABLE partitioned_by_k")


@pytest.mark.parametrize(
    ("make", "condition"),
    [
        (
            lambda spark, f: arrays(spark).select(F.transform("xs", lambda x: f(x))),
            "UNSUPPORTED_FEATURE.LAMBDA_FUNCTION_WITH_PYTHON_UDF",
        ),
        (
            lambda spark, f: spark.range(3).join(
                spark.range(3).toDF("b"), f(col("id") + col("b")) > 0, "left"
            ),
            "UNSUPPORTED_FEATURE.PYTHON_UDF_IN_ON_CLAUSE",
        ),
    ],
    ids=["lambda", "join"],
)
def test_refusals_say_what_would_help(spark, make, condition):
    plain = udf(double, "long")
    pandas = pandas_udf(lambda s: s, "long")

    def refusal(conf, f):
        with settings(spark, conf), pytest.raises(AnalysisException) as raised:
            make(spark, f).collect()
        assert raised.value.getCondition() == condition
        return str(raised.value)

    thread = thread_modes()[0]
    assert "set spark.pyflow.execution-mode=thread" in refusal(process_mode(), plain)
    assert "called with one row at a time" in refusal(thread, pandas)
    profiled = {**thread, "spark.sql.pyspark.udf.profiler": "memory"}
    assert "the memory profiler is on" in refusal(profiled, plain)


LEFT = [(1, 10), (2, 20), (3, None), (4, 40)]
RIGHT = [(1, 1), (1, 7), (2, 2), (3, None), (5, 5)]


def matches(x, y):
    return x is not None and y is not None and (x + y) % 2 == 1


def joined(kind, equal):
    """What Python makes of a join of the two by `matches`, and by their keys if `equal`."""

    def match(left, right):
        return (left[0] == right[0] or not equal) and matches(left[1], right[1])

    pairs = [(left, right) for left in LEFT for right in RIGHT if match(left, right)]
    only_left = [left for left in LEFT if not any(left == pair[0] for pair in pairs)]
    only_right = [right for right in RIGHT if not any(right == pair[1] for pair in pairs)]
    both = [left + right for left, right in pairs]
    if kind == "left_semi":
        return [left for left in LEFT if left not in only_left]
    if kind == "left_anti":
        return only_left
    if kind in ("left", "full"):
        both += [(*left, None, None) for left in only_left]
    if kind in ("right", "full"):
        both += [(None, None, *right) for right in only_right]
    return both


JOINS = ["inner", "left", "right", "full", "left_semi", "left_anti"]
STRATEGIES = {
    "by default": {},
    "sort-merge": {"spark.sql.autoBroadcastJoinThreshold": "-1"},
    "no generated code": {
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    },
    "not adaptive": {
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.join.preferSortMergeJoin": "false",
    },
}


def tables(spark):
    """Rows that are in the plan; those of a list come from a worker in each query."""
    left, right = (
        spark.createDataFrame(pa.table(dict(zip(names, map(list, zip(*rows))))))
        for names, rows in (("kx", LEFT), ("jy", RIGHT))
    )
    return left, right


def sorted_rows(rows):
    return sorted(rows, key=lambda row: [(value is None, value or 0) for value in row])


@pytest.mark.complete("sort-merge", "not adaptive", "no generated")
@pytest.mark.parametrize(
    ("mode", "strategy"),
    [
        pytest.param(
            *(mode, strategy),
            id=f"{mode[INTERPRETER]}-{strategy}",
            marks=pytest.mark.complete if mode in thread_modes()[1:] and conf else (),
        )
        for mode in thread_modes()
        for strategy, conf in STRATEGIES.items()
    ],
)
def test_outer_joins(spark, mode, strategy):
    f = udf(matches, "boolean", useArrow=strategy in ("by default", "sort-merge"))
    with settings(spark, {**mode, **STRATEGIES[strategy], "spark.sql.crossJoin.enabled": "true"}):
        left, right = tables(spark)
        for kind in JOINS:
            for equal in (True, False):
                condition = f("x", "y")
                if equal:
                    condition = (col("k") == col("j")) & condition
                got = [tuple(row) for row in left.join(right, condition, kind).collect()]
                assert sorted_rows(got) == sorted_rows(joined(kind, equal)), (kind, equal)


@EACH_EVAL_TYPE
def test_join_conditions_of_several_functions(spark, mode, make_udf):
    """Functions of one side are called before the join, and what they return goes to the others."""
    one_sided = make_udf(lambda y: None if y is None else y + 1, "long")
    both = make_udf(lambda x, y: x is not None and y is not None and x > y, "boolean")
    add = make_udf(total, "long")
    with settings(spark, mode):
        left, right = tables(spark)
        condition = both("x", one_sided("y")) & (add("k", "j") < add(one_sided("k"), "j"))
        got = left.join(right, condition, "left").collect()
    expected = [
        a + b
        for a in LEFT
        for b in RIGHT
        if a[1] is not None and b[1] is not None and a[1] > b[1] + 1
    ]
    expected += [(3, None, None, None)]
    assert sorted_rows([tuple(row) for row in got]) == sorted_rows(expected)


@EACH_EVAL_TYPE
def test_subqueries(spark, mode, make_udf):
    spark.udf.register("matches", make_udf(matches, "boolean"))
    queries = {
        "exists (select * from r where matches(x, y))": "left_semi",
        "not exists (select * from r where matches(x, y))": "left_anti",
        "exists (select * from r where matches(x, y)) and k > 0": "left_semi",
        "k < 0 or exists (select * from r where matches(x, y))": "left_semi",
    }
    with settings(spark, mode):
        for name, frame in zip("lr", tables(spark), strict=True):
            frame.createOrReplaceTempView(name)
        for predicate, kind in queries.items():
            got = [tuple(row) for row in spark.sql(f"select * from l where {predicate}").collect()]
            assert sorted_rows(got) == sorted_rows(joined(kind, equal=False)), predicate


def test_an_inner_join_stays_sparks(spark):
    """Spark filters after it, with bundles of rows."""
    f = udf(matches, "boolean")
    with settings(spark, {**thread_modes()[0], "spark.sql.crossJoin.enabled": "true"}):
        left, right = tables(spark)
        plan = executed_plan(left.join(right, f("x", "y")))
    assert "ThreadEvalPython" in plan


@EACH_EVAL_TYPE
def test_a_join_of_streams(spark, mode, make_udf, tmp_path):
    f = make_udf(matches, "boolean")
    left, right = tables(spark)
    for name, frame in (("left", left), ("right", right)):
        frame.withColumn("t", F.lit("2020-01-01 00:00:00").cast("timestamp")).write.parquet(
            str(tmp_path / name)
        )
    with settings(spark, {**mode, "spark.sql.shuffle.partitions": "2"}):
        streams = [
            spark.readStream.schema(schema).parquet(str(tmp_path / name)).withWatermark(t, "1 hour")
            for name, schema, t in (
                ("left", "k long, x long, t timestamp", "t"),
                ("right", "j long, y long, t timestamp", "t"),
            )
        ]
        condition = (col("k") == col("j")) & f("x", "y") & (streams[0].t == streams[1].t)
        query = (
            streams[0]
            .join(streams[1], condition, "left")
            .select("k", "x", "j", "y")
            .writeStream.format("memory")
            .queryName("joined")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination(150)
        got = [tuple(row) for row in spark.table("joined").collect()]
    assert set(joined("inner", equal=True)) <= set(got)
