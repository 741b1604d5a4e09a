"""Session settings that change what functions get, what becomes of their results, and errors.

Every setting is tried with the same programs: values and expressions around functions, timestamps
of local times that a zone has not or has twice, values of another type, and exceptions.
"""

from __future__ import annotations

import datetime
import decimal
import itertools

import pytest
from pyspark.sql import functions as F
from pyspark.sql.functions import col, lit, udf

from comparison import Failure, exact

pytestmark = pytest.mark.compared

ANSI = "spark.sql.ansi.enabled"
ARROW = "spark.sql.execution.pythonUDF.arrow.enabled"
ZONE = "spark.sql.session.timeZone"
LARGE = "spark.sql.execution.arrow.useLargeVarTypes"
SAFE = "spark.sql.execution.pandas.convertToArrowArraySafely"
INT_TO_DECIMAL = "spark.sql.execution.pythonUDF.pandas.intToDecimalCoercionEnabled"
LEGACY = "spark.sql.legacy.execution.pythonUDF.pandas.conversion.enabled"
SIMPLIFIED = "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled"
HIDDEN = "spark.sql.execution.pyspark.udf.hideTraceback.enabled"
WITH_LOCALS = "spark.sql.execution.pyspark.udf.tracebackWithLocals.enabled"

SETTINGS = [
    {ANSI: "false"},
    {LARGE: "true", SAFE: "true", INT_TO_DECIMAL: "true"},
]
MORE_SETTINGS = [
    {LARGE: "true"},
    {SAFE: "true"},
    {INT_TO_DECIMAL: "true"},
    {"spark.sql.execution.arrow.maxRecordsPerBatch": "2"},
    {"spark.sql.execution.arrow.maxBytesPerBatch": "64"},
    {"spark.sql.timestampType": "TIMESTAMP_NTZ"},
    {"spark.sql.caseSensitive": "true"},
    {"spark.sql.mapKeyDedupPolicy": "LAST_WIN"},
]


def short_and_complete(short, complete):
    return [*short, *(pytest.param(each, marks=pytest.mark.complete) for each in complete)]


with_each_setting = pytest.mark.parametrize(
    "conf",
    short_and_complete(SETTINGS, MORE_SETTINGS),
    ids=lambda conf: ",".join(key.rsplit(".", 1)[-1] for key in conf),
)

#: Local times around the changes of clocks in 2024, and a day that Apia skipped.
ZONES = {
    "America/New_York": ["2024-03-10 02:30:00", "2024-11-03 01:30:00", "1883-11-18 12:01:00"],
    "Australia/Lord_Howe": ["2024-10-06 02:15:00", "2024-04-07 01:45:00"],
    "America/Sao_Paulo": ["2018-11-04 00:30:00", "2018-02-17 23:30:00"],
    "Pacific/Apia": ["2011-12-30 12:00:00", "2011-12-31 00:00:00"],
    "+05:30": ["2024-03-10 02:30:00"],
}

# A fold and a gap of an hour, and a whole day; the tests of the codec try more zones.
SHORT_ZONES = ["America/New_York", "Pacific/Apia"]
MORE_ZONES = [zone for zone in ZONES if zone not in SHORT_ZONES]


def describe(*values):
    return repr(exact(values))


def returned():
    return [
        None,
        True,
        1,
        300,
        2**40,
        2**63,
        2.0,
        2.5,
        1e300,
        float("nan"),
        "7",
        "text",
        b"bytes",
        decimal.Decimal("1.005"),
        decimal.Decimal("123456.5"),
        datetime.date(2020, 1, 2),
        datetime.datetime(2020, 1, 2, 3, 4, 5, 678901),
        [1, None],
        [1.5, 2],
        ["a"],
        {"a": 1},
        (1, "b"),
    ]


@with_each_setting
def test_values_and_expressions(both_modes, make_udf, conf):
    def program(spark):
        frame = spark.range(7, numPartitions=1).selectExpr(
            "id",
            "concat('text ', id) as s",
            "cast(concat('b', id) as binary) as b",
            "cast(id / 3 as decimal(10,4)) as d",
            "array(id, null) as a",
            "map('k', named_struct('a', id, 'b', cast(id as string))) as m",
            "timestamp_seconds(id * 10000019) as t",
            "timestamp_ntz'2024-03-10 02:30:00' as n",
            "date_add(date'1582-10-01', cast(id as int) * 7) as day",
        )
        columns = frame.columns
        identities = [
            make_udf(lambda value: value, frame.schema[name].dataType)(name).alias(name)
            for name in columns
        ]
        plus = make_udf(lambda n: n + 2**31 - 4, "long")("id")
        return [
            frame.select(make_udf(describe)(*columns), *identities),
            frame.select(
                plus + 1,
                F.try_divide(plus, col("id")),
                F.element_at(make_udf(lambda n: [n], "array<long>")("id"), 1),
                make_udf(lambda n: {1: n}, "map<int,long>")(col("id"))[1],
                make_udf(describe)(F.try_to_timestamp(col("s"))),
                make_udf(lambda t: t, "timestamp")("t").cast("string"),
            ),
        ]

    both_modes(program, conf)


@with_each_setting
@pytest.mark.parametrize("expression", ["cast({} as tinyint)", "1 / ({} - 300)", "array(1)[{}]"])
def test_expressions_that_ansi_mode_refuses(both_modes, make_udf, conf, expression):
    def program(spark):
        spark.udf.register("of_number", make_udf(lambda n: n + 299, "int"))
        return spark.range(3, numPartitions=1).selectExpr(expression.format("of_number(id)"))

    outcome = both_modes.agree(program, conf)
    assert isinstance(outcome, Failure) == (conf.get(ANSI) != "false")


@pytest.mark.complete("pickled", "Coercion")
@with_each_setting
@pytest.mark.parametrize(
    "declared",
    short_and_complete(
        ["decimal(5,2)"],
        [
            *("struct<a:decimal(20,0),b:string>", "tinyint", "bigint", "float", "string"),
            *("timestamp", "array<int>", "map<string,bigint>"),
        ],
    ),
)
def test_values_of_another_type(both_modes, make_udf, conf, declared):
    def program(spark):
        count = len(returned())
        f = make_udf(lambda n: returned()[n], declared)
        return spark.range(count, numPartitions=count).select(f("id"))

    both_modes.cells(program, conf)


@pytest.mark.complete
@pytest.mark.parametrize("arrow", ["true", "false"])
def test_the_eval_type_is_the_sessions_where_a_function_names_none(both_modes, arrow):
    """What does not fit a long is null when pickled, and mostly an error with Arrow."""

    def program(spark):
        count = len(returned())
        f = udf(lambda n: returned()[n], "bigint")
        return spark.range(count, numPartitions=count).select(f("id"))

    outcomes = both_modes.cells(program, {ARROW: arrow})
    assert any(isinstance(outcome, Failure) for outcome in outcomes) == (arrow == "true")


@pytest.mark.parametrize("zone", short_and_complete(SHORT_ZONES, MORE_ZONES))
def test_session_time_zones(both_modes, make_udf, zone):
    def program(spark):
        texts = F.array(*map(lit, ZONES[zone]))
        frame = spark.range(1).select(F.explode(texts).alias("text")).coalesce(1)
        frame = frame.select("text", col("text").cast("timestamp").alias("t"))

        def parsed(text):
            return datetime.datetime.fromisoformat(text)

        columns = [
            make_udf(describe)("t", col("text").cast("timestamp_ntz"), col("t").cast("date")),
            make_udf(lambda t: t, "timestamp")("t"),
            make_udf(parsed, "timestamp")("text"),
            make_udf(parsed, "timestamp")("text").cast("string"),
            make_udf(lambda text: parsed(text).replace(fold=1), "timestamp")("text"),
            make_udf(parsed, "timestamp_ntz")("text").cast("timestamp").cast("string"),
            make_udf(lambda text: [parsed(text)], "array<timestamp>")("text"),
            make_udf(lambda t: t.date(), "date")("t").cast("timestamp").cast("long"),
        ]
        return frame.select("text", "t", *columns)

    rows = both_modes(program, {ZONE: zone})
    assert [row.text for row in rows] == ZONES[zone]


def fail(n):
    text = f"local {n}"
    try:
        return [][n]
    except IndexError as error:
        raise ValueError(text) from error


# Settings that all change a traceback. Full tracebacks with locals show those of the frames of
# PySpark's worker, too.
TRACEBACKS = [("true", "false", "true"), ("true", "true", "true")]
MORE_TRACEBACKS = sorted(
    {*itertools.product(["true", "false"], repeat=3)} - {("false", "false", "true"), *TRACEBACKS}
)


@pytest.mark.parametrize("together", short_and_complete(TRACEBACKS, MORE_TRACEBACKS), ids="-".join)
def test_traceback_settings_together(both_modes, make_udf, together):
    conf = dict(zip((SIMPLIFIED, HIDDEN, WITH_LOCALS), together, strict=True))

    def program(spark):
        return spark.range(1).select(make_udf(fail, "long")("id"))

    failure = both_modes.fail(program, conf)
    assert ("in fail" in failure) == (conf[HIDDEN] == "false")


@pytest.mark.parametrize("safe", ["true", "false"])
def test_conversion_through_pandas_stays_in_process_mode(both_modes, safe):
    def program(spark):
        f = udf(lambda n: [n, 2.5, "3"][n], "string", useArrow=True)
        return spark.range(3, numPartitions=1).select(f("id"), udf(describe, useArrow=True)("id"))

    rows = both_modes(program, {LEGACY: "true", SAFE: safe}, in_process=True)
    assert [row[0] for row in rows] == ["0", "2.5", "3"]
