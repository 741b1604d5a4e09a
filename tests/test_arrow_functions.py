"""Functions over Arrow batches: the same programs in both modes."""

from __future__ import annotations

import datetime
import decimal
import gc
import time
from collections.abc import Iterator

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark import TaskContext
from pyspark.sql import Row
from pyspark.sql import functions as F
from pyspark.sql.functions import arrow_udf, col, pandas_udf
from pyspark.sql.pandas.functions import ArrowUDFType

from comparison import MODE, operator, settings
from sessions import wait_until


def numbers(spark, rows=1000, partitions=2):
    return spark.range(rows, numPartitions=partitions).select(
        (col("id") % 7).alias("k"), col("id").alias("n"), F.concat(F.lit("t"), "id").alias("s")
    )


def pandas_scalar():
    @pandas_udf("long")
    def f(n: pd.Series, m: pd.Series) -> pd.Series:
        return n * 2 + m

    return f


def pandas_iterator():
    @pandas_udf("long")
    def f(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
        for number, batch in enumerate(batches):
            yield batch + number

    return f


def pandas_iterator_of_tuples():
    @pandas_udf("string")
    def f(batches: Iterator[tuple[pd.Series, pd.Series]]) -> Iterator[pd.Series]:
        for numbers, texts in batches:
            yield texts + numbers.astype(str)

    return f


def arrow_scalar():
    @arrow_udf("long")
    def f(n: pa.Array) -> pa.Array:
        return pc.add(n, 1)

    return f


def arrow_iterator():
    @arrow_udf("long")
    def f(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
        for batch in batches:
            yield pc.multiply(batch, 3)

    return f


SCALAR = {
    "pandas": lambda frame: frame.select("s", pandas_scalar()("n", "k").alias("f")),
    "pandas by name": lambda frame: frame.select(pandas_scalar()(m="n", n="k").alias("f")),
    "pandas iterator": lambda frame: frame.select("n", pandas_iterator()("n")),
    "pandas iterator of tuples": lambda frame: frame.select(pandas_iterator_of_tuples()("n", "s")),
    "arrow": lambda frame: frame.select(arrow_scalar()("n"), "k", "s"),
    "arrow iterator": lambda frame: frame.select("*", arrow_iterator()("n")),
    "one of another": lambda frame: frame.select(arrow_scalar()(arrow_scalar()("n"))),
    "two at once": lambda frame: frame.select(
        arrow_scalar()("n").alias("a"), arrow_scalar()("k").alias("b")
    ),
    "in a filter": lambda frame: frame.where(arrow_scalar()("n") % 5 == 0).select("s"),
    "nothing kept": lambda frame: frame.select(arrow_scalar()("n").alias("f")).agg(F.sum("f")),
}


@pytest.mark.core
@pytest.mark.parametrize("kind", SCALAR)
def test_scalar(arrow_lane, kind):
    for conf in ({}, {"spark.sql.execution.arrow.maxRecordsPerBatch": "7"}):
        arrow_lane(lambda spark: SCALAR[kind](numbers(spark)), conf)


def in_pandas(batches):
    for batch in batches:
        yield batch[batch.n % 2 == 0]


def in_arrow(batches):
    for batch in batches:
        yield batch.filter(pc.equal(pc.bit_wise_and(batch["n"], 1), 0))
        yield batch.slice(1, 2)


@pytest.mark.core
@pytest.mark.parametrize("barrier", [False, True])
def test_map_in_batches(arrow_lane, barrier):
    schema = "k long, n long, s string"
    arrow_lane(lambda spark: numbers(spark).mapInPandas(in_pandas, schema, barrier))
    arrow_lane(lambda spark: numbers(spark).mapInArrow(in_arrow, schema, barrier))


def test_map_that_changes_everything(arrow_lane):
    def summary(batches):
        rows = sum(len(batch) for batch in batches)
        yield pd.DataFrame({"rows": [rows], "part": [TaskContext.get().partitionId()]})

    def nothing(batches):
        yield from ()

    def endless(batches):
        n = 0
        while True:
            yield pd.DataFrame({"n": [n]})
            n += 1

    arrow_lane(lambda spark: numbers(spark).mapInPandas(summary, "rows long, part int"))
    arrow_lane(lambda spark: numbers(spark).mapInPandas(nothing, "n long"))
    arrow_lane(lambda spark: numbers(spark).mapInPandas(endless, "n long").limit(5))
    arrow_lane(lambda spark: spark.range(0).mapInPandas(summary, "rows long, part int"))


def test_grouped_map(arrow_lane):
    def normalised(frame):
        return frame.assign(n=frame.n - frame.n.min())

    def with_key(key, frame):
        return pd.DataFrame([(key[0], len(frame))], columns=["k", "rows"])

    def pandas_parts(parts: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for part in parts:
            yield part[["k", "n"]]

    def first_part_only(parts: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        yield next(parts)[["k", "n"]].head(1)

    def table(table):
        return table.sort_by("n").slice(0, 3)

    def keyed_table(key, table):
        return pa.table({"k": [key[0].as_py()], "n": [table.num_rows]})

    def record_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch.select(["k", "n"])

    def program(spark):
        grouped = numbers(spark).groupBy("k")
        return [
            grouped.applyInPandas(normalised, "k long, n long, s string"),
            grouped.applyInPandas(with_key, "k long, rows long"),
            grouped.applyInPandas(pandas_parts, "k long, n long"),
            grouped.applyInPandas(first_part_only, "k long, n long"),
            grouped.applyInArrow(table, "k long, n long, s string"),
            grouped.applyInArrow(keyed_table, "k long, n long"),
            grouped.applyInArrow(record_batches, "k long, n long"),
            numbers(spark)
            .groupBy()
            .applyInPandas(lambda frame: pd.DataFrame({"rows": [len(frame)]}), "rows long"),
            numbers(spark)
            .groupBy((col("n") % 3).alias("third"))
            .applyInPandas(lambda frame: frame.head(1)[["n", "k"]], "n long, k long"),
        ]

    for conf in ({}, {"spark.sql.execution.arrow.maxRecordsPerBatch": "50"}):
        arrow_lane(program, conf)


def test_cogrouped_map(arrow_lane):
    def together(left, right):
        return pd.DataFrame({"left": [len(left)], "right": [len(right)]})

    def with_key(key, left, right):
        return pd.DataFrame({"k": [key[0]], "rows": [len(left) + len(right)]})

    def tables(left, right):
        return pa.table({"left": [left.num_rows], "right": [right.num_rows]})

    def program(spark):
        left = numbers(spark).groupBy("k")
        right = numbers(spark, 500).where("k < 3 or n = 5").drop("s").groupBy("k")
        return [
            left.cogroup(right).applyInPandas(together, "left long, right long"),
            left.cogroup(right).applyInPandas(with_key, "k long, rows long"),
            left.cogroup(right).applyInArrow(tables, "left long, right long"),
        ]

    arrow_lane(program)


VALUES = [
    ("boolean", [True, None, False]),
    ("tinyint", [-128, None, 127]),
    ("smallint", [-(2**15), None, 2**15 - 1]),
    ("int", [-(2**31), None, 2**31 - 1]),
    ("bigint", [-(2**63), None, 2**63 - 1]),
    ("float", [1.5, None, float("inf")]),
    ("double", [-0.0, None, float("nan")]),
    ("decimal(38,18)", [decimal.Decimal("1.5"), None, decimal.Decimal("-99.000000000000000001")]),
    ("string", ["", None, "\U0001f600 text"]),
    ("binary", [b"", None, b"\xff\x00"]),
    ("date", [datetime.date(1, 1, 1), None, datetime.date(9999, 12, 31)]),
    ("timestamp", [datetime.datetime(1969, 12, 31), None, datetime.datetime(2024, 7, 1, 2, 30)]),
    ("timestamp_ntz", [datetime.datetime(1969, 12, 31), None, datetime.datetime(2024, 7, 1)]),
    ("interval day to second", [datetime.timedelta(-1, 5), None, datetime.timedelta(9)]),
    ("array<string>", [[], None, ["a", None, "b"]]),
    ("array<array<int>>", [[[1], None, []], None, [[2, 3]]]),
    ("map<string,bigint>", [{}, None, {"a": 1, "b": None}]),
    ("struct<a:int,b:array<double>>", [Row(a=1, b=[1.0, None]), None, Row(a=None, b=None)]),
    ("void", [None, None, None]),
]


def test_types_both_ways(arrow_lane):
    """Every type in every position of a batch: whole, nested, sliced, all null, and empty."""
    types = [declared for declared, _ in VALUES]
    schema = ", ".join(f"`{declared}` {declared}" for declared in types)
    data = list(zip(*(values * 4 for _, values in VALUES)))

    def column(function, declared, return_type):
        made = arrow_udf(function, return_type, ArrowUDFType.SCALAR)
        return made(F.col(f"`{declared}`")).alias(declared)

    def same(array):
        return array

    def listed(array):
        return pa.array([[each.as_py()] for each in array], pa.list_(array.type))

    def sliced(batches):
        for batch in batches:
            yield batch.slice(1)
            yield batch.slice(0, 0)
            yield batch.slice(len(batch) - 1, 1)

    def program(spark):
        frame = spark.createDataFrame(data, schema).coalesce(1)
        # pandas makes floats of integers where one is missing.
        in_pandas = frame.drop("bigint")
        return [
            frame.select("*", *(column(same, each, each) for each in types)),
            frame.mapInArrow(sliced, frame.schema),
            in_pandas.mapInPandas(lambda batches: batches, in_pandas.schema),
            frame.select(
                *(column(listed, each, f"array<{each}>") for each in types if each != "void")
            ),
        ]

    arrow_lane(program)


# Columns of every type with a conversion of its own, each over an id.
COLUMNS = {
    "b": "id % 2 = 0",
    "i1": "cast(id % 100 - 50 as tinyint)",
    "i2": "cast(id as smallint)",
    "i4": "cast(-id as int)",
    "i8": "id * 1234567890123",
    "f4": "cast(id / 3 as float)",
    "f8": "id / 3",
    "d9": "cast(id / 4 - 50 as decimal(9, 2))",
    "d38": "cast(id as decimal(38, 10)) * 1000000000000",
    "day": "date_add(date'1969-12-01', cast(id as int))",
    "moment": "timestamp_micros(id * 987654321)",
    "ntz": "cast(timestamp_micros(id * 987654321) as timestamp_ntz)",
    "length": "make_dt_interval(cast(id as int))",
    "clock": "cast(time'00:00:00' + make_dt_interval(0, 0, 0, id % 1000) as time(6))",
    "text": "repeat('\u00e9', cast(id % 40 as int))",
    "bytes": "cast(repeat('x', cast(id % 300 as int)) as binary)",
    "list": "sequence(0, id % 5)",
    "record": "named_struct('a', id, 'b', cast(id as string))",
    "none": "null",
}


def with_nulls(names):
    """Expressions that are null here and there, in every column elsewhere."""
    return [
        f"if(pmod(id * {i + 3}, 11) < 3, null, {COLUMNS[name]}) as {name}"
        for i, name in enumerate(names)
    ]


def test_columns_with_nulls_over_many_rows(arrow_lane):
    """Runs of rows begin and end within the bytes of bitmaps, and batches within runs."""

    def program(spark):
        frame = spark.range(1500, numPartitions=1).selectExpr(*with_nulls(COLUMNS))
        return frame.mapInArrow(lambda batches: batches, frame.schema)

    times = {"spark.sql.timeType.enabled": "true"}
    for conf in (
        {},
        {"spark.sql.execution.arrow.maxRecordsPerBatch": "301"},
        {"spark.sql.execution.arrow.useLargeVarTypes": "true"},
    ):
        arrow_lane(program, {**times, **conf})


@pytest.mark.parametrize("limit", ["1000", "50000"])
def test_batches_end_where_those_of_process_mode_do(arrow_lane, limit):
    def sizes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.record_batch({"rows": [batch.num_rows]})

    def program(spark):
        rows = spark.range(2000, numPartitions=1)
        columns = ["id", "repeat('x', cast(id * 7 % 101 as int)) as s", "id / 3 as d"]
        nested = ["sequence(0, id % 13) as l", "id % 2 = 0 as b", "named_struct('a', id) as r"]
        return [
            rows.selectExpr(*columns).mapInArrow(sizes, "rows long"),
            rows.selectExpr(*columns, *nested).mapInArrow(sizes, "rows long"),
            rows.selectExpr("id % 2 as k", *columns).groupBy("k").applyInArrow(sizes, "rows long"),
        ]

    arrow_lane(program, {"spark.sql.execution.arrow.maxBytesPerBatch": limit})


def test_variants_and_user_defined_types(arrow_lane):
    from points import Point, PointUDT

    def program(spark):
        points = spark.createDataFrame([(Point(1.0, 2.0),), (None,)], ["p"])
        variants = spark.range(3).selectExpr("parse_json(concat('[', id, ']')) as v")
        same = pandas_udf(lambda series: series, PointUDT())
        return [
            points.coalesce(1).select(same("p")),
            variants.mapInArrow(lambda batches: batches, variants.schema),
        ]

    arrow_lane.agree(lambda spark: program(spark)[0])
    arrow_lane.agree(lambda spark: program(spark)[1])


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kathmandu"])
def test_time_zones(arrow_lane, zone):
    @pandas_udf("timestamp")
    def later(moments: pd.Series) -> pd.Series:
        return moments + pd.Timedelta(hours=1)

    def program(spark):
        moments = spark.range(48).selectExpr("timestamp_seconds(1709000000 + id * 1800) as t")
        return moments.select("t", later("t"), F.date_format(later("t"), "HH:mm"))

    arrow_lane(program, {"spark.sql.session.timeZone": zone})


def raising(batches):
    for batch in batches:
        raise ValueError("raised by the function")
        yield batch


def wrong_length():
    return pandas_udf(lambda series: series.head(1), "long")


FAILURES = {
    "an exception": lambda spark: numbers(spark).mapInPandas(raising, "n long"),
    "not an iterator": lambda spark: numbers(spark).mapInPandas(lambda b: 5, "n long"),
    "no data frame": lambda spark: numbers(spark).mapInPandas(lambda b: iter([1]), "n long"),
    "another column": lambda spark: numbers(spark).mapInPandas(lambda b: b, "other long"),
    "another type": lambda spark: numbers(spark).mapInArrow(lambda b: b, "k int, n int, s int"),
    "too few rows": lambda spark: numbers(spark).select(wrong_length()("n")),
    "a wrong value": lambda spark: numbers(spark).select(
        pandas_udf(lambda series: series.map(str), "date")("n")
    ),
    "StopIteration": lambda spark: numbers(spark).select(
        pandas_udf(lambda series: next(iter(())), "long")("n")
    ),
    "system exit": lambda spark: (
        numbers(spark).groupBy("k").applyInPandas(lambda frame: exit(3), "n long")
    ),
    "at the group": lambda spark: (
        numbers(spark)
        .groupBy("k")
        .applyInArrow(lambda table: 1 / (table.column("k")[0].as_py() - 3), "n long")
    ),
}


@pytest.mark.parametrize("what", FAILURES)
def test_exceptions_over_batches_are_equal_in_both_modes(arrow_lane, what):
    arrow_lane.fail(lambda spark: FAILURES[what](spark).coalesce(1))


@pytest.mark.core
def test_failures_of_the_input(arrow_lane):
    """An error below the operator is that error, even if the function hides it."""

    def hiding(batches):
        try:
            yield from batches
        except BaseException:
            yield pd.DataFrame({"n": [-1]})

    def program(spark):
        bad = spark.range(100, numPartitions=1).selectExpr("raise_error('below') as n")
        return bad.selectExpr("cast(n as long) as n").mapInPandas(hiding, "n long")

    assert "below" in arrow_lane.fail(program)


def test_surroundings(arrow_lane, spark):
    table = spark.sparkContext.broadcast({n: n * n for n in range(1000)})

    def looked_up(batches):
        context = TaskContext.get()
        assert context.attemptNumber() == 0
        for batch in batches:
            yield pd.DataFrame({"n": batch.n.map(table.value.get), "p": context.partitionId()})

    arrow_lane(lambda spark: numbers(spark).mapInPandas(looked_up, "n long, p int"))
    for mode in ("process", "thread"):
        counted = spark.sparkContext.accumulator(0)

        def counting(batches, counted=counted):
            for batch in batches:
                counted.add(len(batch))
                yield batch

        with settings(spark, {MODE: mode}):
            numbers(spark).mapInPandas(counting, "k long, n long, s string").collect()
        assert counted.value == 1000


def test_a_chain_of_lanes(arrow_lane):
    """The input of one is the output of another, in the same task and the same interpreter."""

    def program(spark):
        rows = numbers(spark).select("k", F.udf(lambda n: n + 1, "long")("n").alias("n"), "s")
        mapped = rows.mapInPandas(in_pandas, "k long, n long, s string")
        doubled = mapped.select("k", pandas_scalar()("n", "k").alias("n"))
        plain = doubled.select("k", F.udf(lambda n: str(n), "string")("n").alias("t"))
        return plain.mapInArrow(lambda batches: batches, "k long, t string")

    arrow_lane(program)


def test_joins_and_aggregates(arrow_lane):
    def program(spark):
        left = numbers(spark).select("k", arrow_scalar()("n").alias("n"))
        right = numbers(spark, 50).select(arrow_scalar()("n").alias("n"), "s")
        return [left.join(right, "n"), left.groupBy("k").agg(F.sum("n"))]

    for adaptive in ("true", "false"):
        arrow_lane(program, {"spark.sql.adaptive.enabled": adaptive})


def outstanding(spark):
    """Bytes of Arrow memory that the JVM has allocated or borrowed."""
    utils = spark._jvm.org.apache.spark.sql.util.ArrowUtils
    return utils.rootAllocator().getAllocatedMemory()


def test_no_memory_is_left(spark):
    """After success, failure, an early end, an interruption as a batch arrives, and slices."""

    def half(batches):
        for batch in batches:
            yield batch.slice(len(batch) // 2)

    def failing(batches):
        for _ in batches:
            raise ValueError("after a batch")
            yield _

    def interrupted(batches):
        import sys

        def fail(frame, event, argument):
            if event == "c_return" and argument.__name__ == "pull":
                raise ValueError("before a batch")

        sys.setprofile(fail)
        try:
            yield from batches
        finally:
            sys.setprofile(None)

    with settings(spark, {MODE: "thread", "spark.sql.execution.arrow.maxRecordsPerBatch": "100"}):
        gc.collect()
        before = outstanding(spark)
        frame = numbers(spark)
        for _ in range(3):
            frame.mapInArrow(half, frame.schema).collect()
            frame.mapInArrow(half, frame.schema).limit(3).collect()
            frame.select(pandas_scalar()("n", "k")).collect()
            with pytest.raises(Exception, match="after a batch"):
                frame.mapInArrow(failing, frame.schema).collect()
            with pytest.raises(Exception, match="before a batch"):
                frame.mapInArrow(interrupted, frame.schema).collect()
        end = time.monotonic() + 20
        while outstanding(spark) != before and time.monotonic() < end:
            frame.mapInArrow(half, frame.schema).collect()
            time.sleep(0.2)
        assert outstanding(spark) == before


def test_batches_that_are_kept_stay_as_they_were(spark):
    def keep(batches):
        import builtins

        builtins.kept_batches = list(batches)
        yield from builtins.kept_batches

    def recall(batches):
        import builtins

        list(batches)
        yield from builtins.kept_batches
        del builtins.kept_batches

    with settings(spark, {MODE: "thread", "spark.sql.execution.arrow.maxRecordsPerBatch": "100"}):
        frame = numbers(spark, 1000, 1)
        rows = frame.collect()
        assert frame.mapInArrow(keep, frame.schema).collect() == rows
        frame.mapInArrow(in_arrow, frame.schema).collect()
        assert frame.mapInArrow(recall, frame.schema).collect() == rows


def test_batches_that_are_not_kept_are_given_back(spark):
    """The function reads the JVM's own memory, and never has more of it than two batches."""

    def sizes(batches):
        for batch in batches:
            yield pa.record_batch({"bytes": [batch.nbytes]})

    conf = {MODE: "thread", "spark.sql.execution.arrow.maxRecordsPerBatch": "1000"}
    with settings(spark, conf):
        frame = spark.range(100_000, numPartitions=1).mapInArrow(sizes, "bytes long")
        rows = frame.collect()
        metrics = operator(frame._jdf.queryExecution().executedPlan(), "ThreadMapInBatch").metrics()
    assert [row.bytes for row in rows] == [8000] * 100
    assert 8000 < metrics.apply("lentMemory").value() < 2 * 9000


def test_cancellation(spark, tmp_path):
    begun = tmp_path / "begun"

    def endless(batches):
        for batch in batches:
            begun.touch()
            while True:
                time.sleep(0.01)
            yield batch

    import threading

    errors = []

    def run():
        try:
            spark.sparkContext.setJobGroup("endless", "endless")
            numbers(spark).mapInPandas(endless, "k long, n long, s string").collect()
        except Exception as error:
            errors.append(error)

    with settings(spark, {MODE: "thread"}):
        thread = threading.Thread(target=run)
        thread.start()
        wait_until(begun.exists, "the function runs")
        spark.sparkContext.cancelJobGroup("endless")
        thread.join(60)
        assert not thread.is_alive()
        assert "cancel" in str(errors[0])
        assert numbers(spark).mapInPandas(in_pandas, "k long, n long, s string").count() == 500
