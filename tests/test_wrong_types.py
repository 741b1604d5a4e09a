"""What a function returns against what it declares, cell by cell, for both eval types.

Process mode converts, nulls or rejects a value of another type, differently per eval type. One
partition per value makes each cell an outcome of its own.
"""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import enum
import functools
import itertools
import re

import pytest
from pyspark.sql import Row
from pyspark.sql import functions as F
from pyspark.sql.functions import udf
from pyspark.sql.types import (
    ArrayType,
    IntegerType,
    MapType,
    StringType,
    StructField,
    StructType,
    VariantVal,
)

from comparison import BothModes, Failure, thread_modes
from points import Point, PointUDT, TaggedUDT

pytestmark = pytest.mark.compared

DECLARED = [
    "boolean",
    "smallint",
    "bigint",
    "double",
    "decimal(5,2)",
    "string",
    "binary",
    "date",
    "timestamp",
    "array<int>",
    "map<string,int>",
    "struct<a:int,b:string>",
    "variant",
    PointUDT(),
]
# Of these the others are near relations: bigint, timestamp, struct<a:int,b:string>.
SELDOM_DECLARED = ["smallint", "date", "array<int>", "map<string,int>"]
MORE_DECLARED = [
    "timestamp_ntz",
    "interval day to second",
    "struct<a:struct<b:int,c:array<string>>,d:decimal(5,2)>",
    "int",
    "decimal(38,18)",
    "tinyint",
    "float",
    "decimal(10,0)",
    "decimal(1,1)",
    "string collate utf8_lcase",
    "time",
    "interval hour",
    "void",
    "array<array<string>>",
    "array<timestamp>",
    "array<decimal(5,2)>",
    "map<int,array<double>>",
    "map<date,binary>",
    "struct<d:date,t:time,i:interval day>",
    TaggedUDT(),
    ArrayType(PointUDT()),
]

STRICT = [
    ArrayType(IntegerType(), containsNull=False),
    MapType(StringType(), IntegerType(), valueContainsNull=False),
    StructType([StructField("a", IntegerType(), False), StructField("b", StringType(), False)]),
]


def values():
    """Exact values of every type, their subclasses, and values that fit no type."""

    class Whole(int):
        pass

    class Text(str):
        def __str__(self):
            return "text of Text"

    class Colour(enum.IntEnum):
        RED = 1

    class Plain:
        def __init__(self):
            self.a, self.b, self.c = 1, "b", 2

        def __repr__(self):
            return "Plain()"

    Pair = collections.namedtuple("Pair", "a b")
    return [
        None,
        True,
        0,
        40_000,
        2**63,
        1.0,
        2.5,
        float("nan"),
        "",
        "text \U0001f600 \0",
        "2020-01-01",
        b"",
        b"bytes\xff",
        bytearray(b"ba"),
        decimal.Decimal("1.5"),
        decimal.Decimal("123456.789"),
        decimal.Decimal("Infinity"),
        datetime.date(2020, 1, 2),
        datetime.datetime(2020, 1, 2, 3, 4, 5, 678901),
        datetime.timedelta(days=-1, microseconds=5),
        [1, None, 2],
        [1, "x"],
        ["a", "b"],
        (1, "b"),
        {1, 2},
        array.array("i", [1, 2]),
        {"a": 1, "b": "x"},
        {"a": 1},
        Row(a=1, b="b"),
        Row(b="b", a=1),
        Pair(1, "b"),
        Whole(5),
        Text("5"),
        Colour.RED,
        collections.OrderedDict(b="x", a=1),
        Plain(),
        len,
        -129,
        -0.0,
        1e300,
        "5",
        "true",
        decimal.Decimal("NaN"),
        decimal.Decimal("-0E+3"),
        datetime.datetime(2020, 1, 2, 3, tzinfo=datetime.timezone.utc),
        datetime.datetime(9999, 12, 31, 23, 59, 59),
        datetime.time(1, 2, 3, 4),
        [["a"], None, []],
        [datetime.datetime(2020, 1, 1), datetime.date(2020, 1, 1), None],
        {1: [1.5, None]},
        {None: None},
        (None, None),
        (),
        {"a": {"b": 1, "c": ["x"]}, "d": decimal.Decimal("1.005")},
        Row(a=Row(b=1, c=[1]), d=1),
        VariantVal.parseJson('{"a": [1, "b"]}'),
        Point(1.0, 2.0),
        Point("x", None),
        range(2),
        1j,
    ]


def cells(both_modes, make_udf, declared, chosen):
    def program(spark):
        f = make_udf(lambda n: values()[chosen[n]], declared)
        return spark.range(len(chosen), numPartitions=len(chosen)).select(f("id"))

    return both_modes.cells(program, {"spark.sql.timeType.enabled": "true"})


def every_position():
    return list(range(len(values())))


def positions(request, declared, eval_type):
    """All in the complete comparison; otherwise a tenth, another one for each type and eval type.

    The codec's tests try exact and inexact values of all types.
    """
    if request.config.getoption("--complete"):
        return every_position()
    first = [str(each) for each in (*DECLARED, *STRICT)].index(str(declared))
    return every_position()[(first + 5 * (eval_type == "arrow")) % 10 :: 10]


@pytest.mark.complete("pickled")
@pytest.mark.parametrize(
    "declared",
    [
        *(each for each in DECLARED if each not in SELDOM_DECLARED),
        *(
            pytest.param(each, marks=pytest.mark.complete)
            for each in (*SELDOM_DECLARED, *MORE_DECLARED)
        ),
    ],
    ids=str,
)
def test_declared_against_returned(both_modes, make_udf, declared, request):
    cells(both_modes, make_udf, declared, positions(request, declared, make_udf.eval_type))


@pytest.mark.complete
@pytest.mark.parametrize("declared", ["char(3)", "varchar(3)"])
def test_types_that_arrow_does_not_know(both_modes, declared):
    pickled = functools.partial(udf, useArrow=False)
    cells(both_modes, pickled, declared, every_position())


@pytest.mark.parametrize(
    "declared",
    [*(pytest.param(each, marks=pytest.mark.complete) for each in STRICT[:-1]), STRICT[-1]],
    ids=lambda t: t.typeName(),
)
def test_types_that_admit_no_nulls(both_modes, make_udf, declared, request):
    cells(both_modes, make_udf, declared, positions(request, declared, make_udf.eval_type))


@pytest.mark.slice
@pytest.mark.core
def test_the_two_eval_types_differ(both_modes, make_udf):
    """A str for a long is null when pickled and an error with Arrow."""
    (outcome,) = cells(both_modes, make_udf, "bigint", [values().index("text \U0001f600 \0")])
    if make_udf.eval_type == "pickled":
        assert outcome == [Row(**{"<lambda>(id)": None})]
    else:
        assert isinstance(outcome, Failure)


@pytest.mark.complete("array")
@pytest.mark.parametrize(
    "declared",
    [
        "bigint",
        "array<double>",
        pytest.param("string", marks=pytest.mark.complete),
        pytest.param("double", marks=pytest.mark.complete),
        pytest.param("boolean", marks=pytest.mark.complete),
    ],
)
def test_numpy_and_pandas_values(both_modes, make_udf, declared):
    """Values of modules that sub-interpreters refuse; the function moves to the shared one."""

    def make(n):
        import numpy as np
        import pandas as pd

        return [
            np.int64(5),
            np.int8(-5),
            np.uint64(2**64 - 1),
            np.float64(2.5),
            np.float32(2.5),
            np.bool_(True),
            np.str_("text"),
            np.array([1.0, 2.0]),
            np.array([1, 2]),
            np.datetime64("2020-01-01"),
            pd.NA,
            pd.NaT,
            pd.Timestamp("2020-01-01 01:02:03"),
            pd.Series([1.0]),
        ][n]

    def program(spark):
        return spark.range(14, numPartitions=14).select(make_udf(make, declared)("id"))

    both_modes.cells(program)


@pytest.mark.complete("double")
@pytest.mark.core
@pytest.mark.parametrize("declared", ["bigint", "double"])
def test_mixed_types_in_one_column(spark, make_udf, declared, request):
    """With Arrow, one value that does not fit sends its whole batch through another conversion.

    Bundles are smaller than batches; what comes out must not depend on that. Which of several
    misfits is reported does, so messages are not compared.
    """
    mixes = [
        [1, 2.5, None],
        [1, "2", 3],
        ["1", "2", "3.5"],
        [True, 2, 2.0],
        [None, None, None],
        [2**53 + 1, 2.5, 1],
        [1.5, None, float("nan")],
        [decimal.Decimal("1.5"), 2, 3],
        [2**70, 1.0, 2],
        [b"1", "1", 1],
        [datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1), None],
        [1, 2, "3"],
        ["3", 2, 1],
        [None, "3", 2],
        ["3", None, "4"],
        [1.5, 2.0, decimal.Decimal("1.5")],
    ]

    def program(spark):
        frame = spark.range(len(mixes) * 3, numPartitions=len(mixes))
        return frame.select(make_udf(lambda n: mixes[n // 3][n % 3], declared)("id"))

    if request.config.getoption("--complete"):
        forms = itertools.product(thread_modes(), (1, 2, 1024))
    else:
        forms = zip(itertools.cycle(thread_modes()), (1, 1024))
    modes = [{**mode, "spark.pyflow.bundle.size": str(rows)} for mode, rows in forms]
    BothModes(spark, modes).cells(program, messages=False)


@pytest.mark.parametrize(
    "declared",
    [
        "struct<d:date,t:time>",
        *(
            pytest.param(each, marks=pytest.mark.complete)
            for each in ("date", "time", "array<time>", "array<date>")
        ),
    ],
)
def test_numbers_for_dates_and_times(both_modes, declared):
    """Arrow takes them as they are, though neither a calendar nor a day may have them."""
    numbers = [-2.8493573731607164e16, -5e6, -1.0, 0.0, 1.5, 2.0**31, 123_456_789_012_345.0, 4e18]
    wrap = {"struct": lambda n: (n, n), "array": lambda n: [None, n]}

    def program(spark):
        @udf(returnType=declared, useArrow=True)
        def f(n):
            return wrap.get(declared.partition("<")[0], lambda n: n)(numbers[n])

        frame = spark.range(len(numbers), numPartitions=len(numbers))
        return frame.select(F.xxhash64(f("id")))

    outcomes = both_modes.cells(program, {"spark.sql.timeType.enabled": "true"})
    assert sum(not isinstance(each, Failure) for each in outcomes) > 1


def test_mixed_types_in_different_batches(both_modes):
    """What one batch holds does not matter to the next."""
    mixed = udf(lambda n: n if n % 8 < 4 else str(n), "bigint", useArrow=True)

    def program(spark):
        return spark.range(32, numPartitions=2).select(mixed("id"))

    for rows in (4, 8):
        settings = {
            "spark.sql.execution.arrow.maxRecordsPerBatch": rows,
            "spark.pyflow.bundle.size": 3,
        }
        both_modes.cells(program, settings, messages=False)


def test_results_that_cannot_be_pickled(both_modes, make_udf):
    """A value that PySpark makes a string of may be anything."""

    def program(spark):
        matched = make_udf(lambda n: re.compile("[0-9]+").match(str(n)), "string")
        return spark.range(3).select(matched("id"))

    both_modes.cells(program, messages=False)


@pytest.mark.complete("pickled")
@pytest.mark.slice
@pytest.mark.core
def test_wrong_types_deep_inside(both_modes, make_udf):
    """One wrong leaf in a container of containers."""

    def program(spark):
        made = [
            {"k": [(1, ["x"])]},
            {"k": [(1, [5])]},
            {"k": [("1", ["x"])]},
            {"k": [(1, "x")]},
            {"k": [(1,)]},
            {"k": [{"n": 1, "s": None}]},
            {"k": [None, (None, None)], "j": None},
            {None: []},
            {5: []},
            {"k": ([1, 2],)},
            {"k": [Row(s=["x"], n=2.0)]},
        ]
        declared = "map<string,array<struct<n:int,s:array<string>>>>"
        count = len(made)
        return spark.range(count, numPartitions=count).select(
            make_udf(lambda n: made[n], declared)("id")
        )

    both_modes.cells(program)
