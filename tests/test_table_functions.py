"""Python table functions: the same programs in both modes."""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.sql import Row
from pyspark.sql import functions as F
from pyspark.sql.functions import col, lit, udtf
from pyspark.sql.types import IntegerType, LongType, StringType, StructType
from pyspark.sql.udtf import (
    AnalyzeArgument,
    AnalyzeResult,
    OrderingColumn,
    PartitioningColumn,
    SkipRestOfInputTableException,
)

from comparison import Failure, executed_plan, settings
from sessions import MODE


class Words:
    """Splits a line."""

    def eval(self, line: str):
        yield from enumerate(line.split())


class Nothing:
    def eval(self, line: str):
        pass


class WithTerminate:
    """Counts what it gets."""

    def __init__(self):
        self._count = 0

    def eval(self, n: int):
        self._count += n
        if n % 2:
            yield "odd", n

    def terminate(self):
        yield "sum", self._count
        yield "end", None


class OnlyTerminate:
    def __init__(self):
        self._rows = []

    def eval(self, n: int):
        self._rows.append(n)

    def terminate(self):
        for n in sorted(self._rows):
            yield "row", n


class EarlyStop:
    def __init__(self):
        self._seen = 0

    def eval(self, n: int):
        self._seen += 1
        if self._seen >= 3:
            raise SkipRestOfInputTableException("enough")
        yield "seen", n

    def terminate(self):
        yield "stopped", self._seen


class Named:
    def eval(self, n, *others, factor=2, **more):
        yield str(sorted(more)), n * factor + sum(others)


class OddRows:
    """All the things that a row may be."""

    def eval(self, n: int):
        yield "a tuple", n
        yield ["a list", n]
        yield Row(label="a row", n=n)
        yield {"label": "a dict", "n": n}
        yield None
        yield None, None


class OfTable:
    """Takes rows of a table, partition by partition."""

    def __init__(self):
        self._k = None
        self._sum = 0

    def eval(self, row: Row):
        self._k = row["k"]
        self._sum += row["n"]

    def terminate(self):
        yield str(self._k), self._sum


LABELS = "label string, n long"


def lines(spark):
    return spark.range(40, numPartitions=2).select(
        "id",
        F.when(col("id") % 5 == 0, "")
        .otherwise(F.concat(lit("w"), "id", lit(" and more")))
        .alias("line"),
    )


@pytest.fixture(params=[False, True], ids=["plain", "arrow"])
def make_udtf(request):
    def make(handler, returns=LABELS):
        return udtf(handler, returnType=returns, useArrow=request.param)

    return make


def lateral(spark, function, argument, source="lines", select="*"):
    spark.udtf.register("f", function)
    lines(spark).createOrReplaceTempView("lines")
    return spark.sql(f"SELECT {select} FROM {source}, LATERAL f({argument})")


@pytest.mark.complete("plain")
@pytest.mark.slice
@pytest.mark.core
def test_lateral_joins(both_modes, make_udtf):
    def program(spark):
        words = make_udtf(Words, "i int, word string")
        spark.udtf.register("nothing", make_udtf(Nothing))
        return [
            lateral(spark, words, "line"),
            lateral(spark, words, "line", select="word"),
            spark.sql("SELECT id, count(word) FROM lines, LATERAL f(line) GROUP BY id"),
            spark.sql("SELECT * FROM lines LEFT JOIN LATERAL f(line)"),
            spark.sql("SELECT * FROM lines, LATERAL nothing(line)"),
            spark.sql("SELECT * FROM f('one two') a, LATERAL f(a.word || ' x') b"),
            words(lit("x y z")),
            lines(spark).lateralJoin(words(col("line").outer())),
            spark.sql("SELECT * FROM lines WHERE id < 0").join(words(lit("a b"))),
        ]

    both_modes(program)


def of_each(spark, functions, query):
    """A query of each function, all in one."""
    for name, function in functions.items():
        spark.udtf.register(name, function)
    lines(spark).createOrReplaceTempView("lines")
    return spark.sql(" UNION ALL ".join(query.format(f=name) for name in functions))


@pytest.mark.complete("plain")
def test_terminate(both_modes, make_udtf):
    handlers = {"sums": WithTerminate, "collects": OnlyTerminate, "stops": EarlyStop}

    def program(spark):
        functions = {name: make_udtf(handler) for name, handler in handlers.items()}
        return [
            of_each(spark, functions, "SELECT '{f}', l.* FROM lines, LATERAL {f}(id) l"),
            of_each(spark, functions, "SELECT '{f}', id, n FROM lines, LATERAL {f}(id)"),
            of_each(spark, functions, "SELECT '{f}', * FROM {f}(3)"),
        ]

    def of_nothing(handler):
        source = "(SELECT * FROM lines WHERE id > 100)"
        return lambda spark: lateral(spark, make_udtf(handler), "id", source=source)

    both_modes(program)
    for handler in handlers.values():
        both_modes.agree(of_nothing(handler))
    both_modes(
        lambda spark: program(spark)[0], {"spark.sql.execution.arrow.maxRecordsPerBatch": "3"}
    )


def test_arguments(both_modes, make_udtf):
    def program(spark):
        spark.udtf.register("f", make_udtf(Named))
        lines(spark).createOrReplaceTempView("lines")
        return [
            spark.sql(f"SELECT id, label, n FROM lines, LATERAL f({arguments})")
            for arguments in ("id", "id, 1, 2", "n => id", "id, factor => 5", "id, z => 1, y => id")
        ]

    both_modes(program)


def test_kinds_of_rows(both_modes, make_udtf):
    both_modes.agree(lambda spark: make_udtf(OddRows)(lit(1)))


def test_tables_by_partition(both_modes, make_udtf):
    def program(spark):
        spark.udtf.register("f", make_udtf(OfTable))
        table = spark.range(60, numPartitions=3).selectExpr("id % 5 as k", "id as n", "'x' as s")
        table.createOrReplaceTempView("t")
        return [
            spark.sql("SELECT * FROM f(TABLE(t))").coalesce(1).groupBy().sum("n"),
            spark.sql("SELECT * FROM f(TABLE(t) PARTITION BY k)"),
            spark.sql("SELECT * FROM f(TABLE(t) PARTITION BY (k, s) ORDER BY n DESC)"),
            spark.sql("SELECT * FROM f(TABLE(t) WITH SINGLE PARTITION)"),
            make_udtf(OfTable)(table.asTable().partitionBy("k").orderBy("n")),
        ]

    both_modes(program)


@dataclass
class WithPrefix(AnalyzeResult):
    prefix: str = ""


class Analyzed:
    """Chooses its own schema, and its table's partitions."""

    def __init__(self, analyzed):
        self._prefix = analyzed.prefix
        self._rows = 0

    @staticmethod
    def analyze(table: AnalyzeArgument, prefix: AnalyzeArgument) -> AnalyzeResult:
        return WithPrefix(
            schema=StructType().add("label", StringType()).add("rows", IntegerType()),
            partitionBy=[PartitioningColumn("k")],
            orderBy=[OrderingColumn("n")],
            prefix=prefix.value,
        )

    def eval(self, row: Row, prefix: str):
        self._rows += 1
        self._last = row["n"]

    def terminate(self):
        yield f"{self._prefix} {self._last}", self._rows


def test_analyze(both_modes, make_udtf):
    def program(spark):
        spark.udtf.register("f", udtf(Analyzed))
        spark.range(30, numPartitions=2).selectExpr(
            "id % 4 as k", "id as n"
        ).createOrReplaceTempView("t")
        return spark.sql("SELECT * FROM f(TABLE(t), 'last')")

    both_modes(program)


class Numbers:
    """An Arrow table function."""

    def eval(self, n: pa.Array) -> Iterator[pa.Table]:
        yield pa.table({"n": n, "square": [each.as_py() ** 2 for each in n]})


class SumOfTable:
    def __init__(self):
        self._sum = 0
        self._k = None

    def eval(self, batch: pa.RecordBatch) -> Iterator[pa.Table]:
        self._k = batch.column("k")[0].as_py()
        self._sum += sum(batch.column("n").to_pylist())
        yield from ()

    def terminate(self) -> Iterator[pa.Table]:
        yield pa.table({"k": [self._k], "sum": [self._sum]})


def test_arrow_table_functions(arrow_lane):
    from pyspark.sql.functions import arrow_udtf

    def program(spark):
        numbers = arrow_udtf(Numbers, returnType="n long, square long")
        sums = arrow_udtf(SumOfTable, returnType="k long, sum long")
        table = spark.range(60, numPartitions=3).selectExpr("id % 5 as k", "id as n")
        return [
            numbers(lit(7)),
            sums(table.coalesce(1).asTable()),
            sums(table.asTable().partitionBy("k")),
        ]

    arrow_lane(program)


VALUES = {
    "boolean": True,
    "int": 2**31 - 1,
    "bigint": -(2**63),
    "double": 1.5,
    "string": "\U0001f600",
    "binary": b"\x00\xff",
    "decimal(38,2)": decimal.Decimal("1.25"),
    "date": datetime.date(2024, 2, 29),
    "timestamp": datetime.datetime(2024, 2, 29, 1, 2, 3),
    "array<string>": ["a", None],
    "map<string,int>": {"a": 1},
    "struct<a:int,b:string>": (1, "x"),
}


def test_types(both_modes, make_udtf):
    types = [declared for declared in VALUES if not declared.startswith("map")]
    values = tuple(VALUES[declared] for declared in types)

    class Constants:
        def eval(self, *given):
            yield values
            yield given
            yield (None,) * len(given)

    def argument(declared):
        if declared.startswith("struct"):
            return F.struct(lit(1).alias("a"), lit("x").alias("b"))
        return lit(VALUES[declared]).cast(declared)

    def program(spark):
        columns = ", ".join(f"v{i} {declared}" for i, declared in enumerate(types))
        return make_udtf(Constants, columns)(*map(argument, types))

    both_modes(program)


FAILURES = [
    "init",
    "eval",
    "after a row",
    "too many columns",
    "no row",
    "wrong type",
    "not iterable",
    "terminate",
    "cleanup",
]


class Failing:
    """Fails in another place in each partition."""

    def __init__(self):
        self._what = FAILURES[TaskContext.get().partitionId()]
        self._fail_in("init")

    def _fail_in(self, where):
        if self._what == where:
            raise ValueError(f"in {where}")

    def eval(self, n):
        self._fail_in("eval")
        return 5 if self._what == "not iterable" else self._rows()

    def _rows(self):
        row = {
            "too many columns": ("a", 1, 2),
            "no row": 5,
            "wrong type": ("a", "text"),
        }
        yield row.get(self._what, ("a", 1))
        self._fail_in("after a row")

    def terminate(self):
        self._fail_in("terminate")

    def cleanup(self):
        self._fail_in("cleanup")


class OtherArguments:
    def eval(self):
        yield "a", 1


def test_exceptions_of_table_functions_are_equal_in_both_modes(both_modes, make_udtf):
    def program(spark):
        rows = spark.range(len(FAILURES), numPartitions=len(FAILURES))
        return rows.lateralJoin(make_udtf(Failing)(col("id").outer()))

    outcomes = both_modes.cells(program)
    failed = [what for what, each in zip(FAILURES, outcomes) if isinstance(each, Failure)]
    assert {"init", "eval", "after a row", "terminate"} <= {*failed}


def test_other_arguments(both_modes, make_udtf):
    both_modes.agree(lambda spark: make_udtf(OtherArguments)(lit(1)))


def test_not_null_columns(both_modes, make_udtf):
    schema = StructType().add("label", StringType(), False).add("n", LongType(), True)

    class Nulls:
        def eval(self, n):
            yield "fine", None
            yield None, n

    both_modes.agree(lambda spark: make_udtf(Nulls, schema)(lit(1)))


NONE_IN_PLACE = {
    "key": ("map<string,int>", {None: 1}),
    "key of a number": ("map<int,int>", {1: 2, None: 1}),
    "key of no value": ("map<string,int>", {None: None}),
    "key in an array": ("array<map<string,int>>", [{"a": 1}, {None: 1}]),
    "key in a struct": ("struct<m:map<string,int>>", ({None: 1},)),
    "key in a value": ("map<string,map<string,int>>", {"a": {None: 1}}),
    "field of a key": ("map<struct<n:int>,int>", {(None,): 1}),
    "value": ("map<string,int>", {"a": None}),
}


def test_none_in_maps(both_modes, make_udtf):
    """Each in a column of its own, and in a partition of its own."""
    columns = ", ".join(
        f"c{i} {declared}" for i, (declared, _) in enumerate(NONE_IN_PLACE.values())
    )
    values = [value for _, value in NONE_IN_PLACE.values()]

    class Maps:
        def eval(self, n):
            yield tuple(value if i == n else None for i, value in enumerate(values))

    def program(spark):
        rows = spark.range(len(values), numPartitions=len(values))
        return rows.lateralJoin(make_udtf(Maps, columns)(col("id").outer()))

    both_modes.cells(program)


def test_cleanup_is_called_once(spark, make_udtf, tmp_path):
    class Cleaned:
        def __init__(self):
            import uuid

            self._file = uuid.uuid4().hex

        def eval(self, n):
            yield "a", n

        def cleanup(self):
            (tmp_path / self._file).touch(exist_ok=False)

    for mode in ("process", "thread"):
        with settings(spark, {MODE: mode}):
            frame = lateral(spark, make_udtf(Cleaned), "id")
            assert frame.count() == 40
            assert len(list(tmp_path.iterdir())) == 2
            frame.limit(1).collect()
            for file in tmp_path.iterdir():
                file.unlink()


def test_plans_and_fallback(spark, make_udtf):
    with settings(spark, {MODE: "thread"}):
        plan = executed_plan(lateral(spark, make_udtf(Words, "i int, word string"), "line"))
        assert re.search(r"Thread(Arrow)?EvalPythonUDTF \[f\(line", plan)
        with settings(spark, {"spark.sql.pyspark.udf.profiler": "memory"}):
            frame = lateral(spark, make_udtf(Words, "i int, word string"), "line")
            plan = executed_plan(frame)
            assert "ProcessMode" in plan
            assert "memory profiler" in plan
            assert frame.count() > 0


class ImportsNumpy:
    """numpy refuses isolated interpreters."""

    def __init__(self):
        self._rows = 0

    def eval(self, n: int):
        self._rows += 1
        if self._rows >= self.first_with_numpy:
            import numpy as np

            n = int(np.int64(n) + 1)
        yield "row", n

    def terminate(self):
        yield "rows", self._rows


class ImportsAtOnce(ImportsNumpy):
    first_with_numpy = 1


class ImportsLate(ImportsNumpy):
    first_with_numpy = 5


@pytest.mark.core
@pytest.mark.parametrize("function", [ImportsAtOnce, ImportsLate])
def test_a_function_that_imports_numpy_keeps_what_it_has_been_given(both_modes, function):
    """It is in the shared interpreter before its first row."""
    both_modes(
        lambda spark: lateral(spark, udtf(function, returnType=LABELS, useArrow=False), "id")
    )
