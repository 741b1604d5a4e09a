"""Values of every type into a function and back, at the edges of their ranges.

Each group of types is one DataFrame; its rows are the edge values, nulls among them. Every column
goes through a function that describes what it got and one that returns it as it is, also inside
containers.
"""

from __future__ import annotations

import datetime
import decimal

import pytest
from pyspark.sql import functions as F
from pyspark.sql.functions import col, lit
from pyspark.sql.types import (
    ArrayType,
    IntegerType,
    MapType,
    Row,
    StringType,
    StructField,
    StructType,
)

from comparison import exact
from points import Point, PointUDT, TaggedUDT

pytestmark = pytest.mark.core

EDGES = {
    "numbers": {
        "boolean": ["true", "false"],
        "tinyint": ["-128", "127", "0", "-1"],
        "smallint": ["-32768", "32767", "0"],
        "int": ["-2147483648", "2147483647", "0"],
        "bigint": ["-9223372036854775808", "9223372036854775807", "0", "4294967296"],
        "float": ["'NaN'", "-0.0", "'Infinity'", "'-Infinity'", "1.4e-45", "3.4028235e38", "0.1"],
        "double": ["'NaN'", "'-0.0'", "'Infinity'", "4.9e-324", "1.7976931348623157e308", "0.1"],
    },
    "decimals": {
        "decimal(1,0)": ["0", "9", "-9"],
        "decimal(5,2)": ["0.00", "999.99", "-999.99", "1.50"],
        "decimal(9,9)": ["0.000000001", "-0.999999999"],
        "decimal(18,0)": ["999999999999999999", "-999999999999999999", "0"],
        "decimal(18,18)": ["0.000000000000000001", "-0.999999999999999999"],
        "decimal(19,0)": ["9223372036854775808", "-9223372036854775809", "0", "1"],
        "decimal(38,0)": ["99999999999999999999999999999999999999", "-1", "0"],
        "decimal(38,18)": ["-99999999999999999999.999999999999999999", "1.5", "0"],
        "decimal(38,38)": ["0.00000000000000000000000000000000000001", "-0.5"],
    },
    "texts": {
        "string": ["''", "'a'", "'\u00e4\u4e2d\U0001f600'", "concat('a', char(0), 'b')"],
        "string collate unicode_ci": ["'Straße'", "''"],
        "string collate utf8_lcase": ["'ABC'"],
        "binary": ["X''", "X'00'", "X'FF00FE'", "'text'"],
    },
    "days": {
        "date": [f"'{d}'" for d in ("0001-01-01", "1582-10-04", "1582-10-15", "1969-12-31")]
        + ["'1970-01-01'", "'2024-02-29'", "'9999-12-31'"],
        "interval day": ["interval '-106751991' day", "interval '0' day", "interval '3' day"],
        "interval day to second": [
            "interval '-1 23:59:59.999999' day to second",
            "interval '106751990 00:00:00.000001' day to second",
            "interval '0 00:00:00' day to second",
        ],
        "interval minute": ["interval '-90' minute", "interval '5' minute"],
    },
    "timestamps": {
        "timestamp": [
            "timestamp'1900-01-01 00:00:00'",
            "timestamp'1969-12-31 23:59:59.999999'",
            "timestamp'1970-01-01 00:00:00'",
            "timestamp'2024-02-29 12:34:56.789012'",
            "timestamp'2100-01-01 00:00:00'",
        ],
        "timestamp_ntz": [
            "timestamp_ntz'0001-01-01 00:00:00'",
            "timestamp_ntz'1582-10-10 01:02:03'",
            "timestamp_ntz'1969-12-31 23:59:59.999999'",
            "timestamp_ntz'9999-12-31 23:59:59.999999'",
        ],
    },
    "variants": {
        "variant": [
            "parse_json('null')",
            "parse_json('1')",
            "parse_json('\"text\"')",
            """parse_json('{"a": [1, 2.5, {"b": null}], "c": true}')""",
            "cast(timestamp_ntz'2020-01-01 00:00:00' as variant)",
        ],
    },
}


def edges(spark, group):
    """A row per edge value; column c0 has the group's first type, and so on; the last is null."""
    types = list(EDGES[group].items())
    height = max(len(values) for _, values in types) + 1
    rows = []
    for index in range(height):
        cells = [
            f"cast({values[index] if index < len(values) else 'null'} as {name}) as c{number}"
            for number, (name, values) in enumerate(types)
        ]
        rows.append(f"select {index} as n, {', '.join(cells)}")
    return spark.sql(" union all ".join(rows)).coalesce(1), types


def describe(value):
    return repr(exact(value))


def same(value):
    return value


@pytest.mark.slice
@pytest.mark.parametrize("group", EDGES)
def test_edge_values(both_modes, make_udf, group):
    """As an argument, as a result, and unread beside the function."""

    def program(spark):
        frame, types = edges(spark, group)
        kinds = {field.name: field.dataType for field in frame.schema}
        text = make_udf(describe)
        columns = ["n"]
        for number in range(len(types)):
            name = f"c{number}"
            columns += [
                name,
                text(name).alias(f"{name}_text"),
                make_udf(same, kinds[name])(name).alias(f"{name}_same"),
            ]
        return frame.select(columns)

    rows = both_modes(program)
    for row in rows:
        for number in range(len(EDGES[group])):
            assert exact(row[f"c{number}_same"]) == exact(row[f"c{number}"])


@pytest.mark.parametrize("group", EDGES)
def test_edge_values_in_containers(both_modes, make_udf, group):
    """Arrays, maps and structs of each type, and of each other, with nulls."""

    def program(spark):
        frame, types = edges(spark, group)
        kinds = {field.name: field.dataType for field in frame.schema}
        text = make_udf(describe)
        columns = []
        for number in range(len(types)):
            name = f"c{number}"
            kind = kinds[name]
            inner = StructType().add("v", kind).add("vs", ArrayType(kind))
            deep = MapType(StringType(), ArrayType(inner))
            value = F.create_map(
                lit("k"),
                F.array(
                    F.struct(col(name).alias("v"), F.array(name, lit(None), name).alias("vs")),
                    lit(None),
                ),
            )
            columns += [
                text(F.array(name, lit(None), name)).alias(f"{name}_array"),
                make_udf(same, ArrayType(kind))(F.array(name, lit(None))).alias(f"{name}_same"),
                text(value).alias(f"{name}_deep"),
                make_udf(same, deep)(value).alias(f"{name}_deep_same"),
            ]
        return frame.select(columns)

    both_modes(program)


@pytest.mark.parametrize("group", ["numbers", "decimals", "texts", "days", "timestamps"])
def test_edge_values_as_map_keys(both_modes, make_udf, group):
    def program(spark):
        frame, types = edges(spark, group)
        kinds = {field.name: field.dataType for field in frame.schema}
        columns = []
        for number in range(len(types)):
            name = f"c{number}"
            keys = F.when(col(name).isNotNull(), F.create_map(name, "n"))
            columns += [
                make_udf(describe)(keys),
                make_udf(same, MapType(kinds[name], IntegerType()))(keys).alias(name),
            ]
        return frame.select(columns)

    both_modes(program)


def test_times(both_modes, make_udf):
    def program(spark):
        frame = spark.sql(
            "select * from values (time'00:00:00'), (time'23:59:59.999999'), (null), "
            "(time'12:34:56.5') as t(v)"
        ).coalesce(1)
        return frame.select(
            "v",
            make_udf(describe)("v"),
            make_udf(describe)(F.array("v", lit(None))),
            make_udf(same, "time")("v"),
            make_udf(lambda v: [v, None], "array<time>")("v"),
            make_udf(lambda v: datetime.time(1, 2, 3, 456789), "time")("v"),
        )

    both_modes(program, {"spark.sql.timeType.enabled": "true"})


@pytest.mark.parametrize("as_bytes", ["true", "false"])
def test_binary_as_bytes_or_bytearray(both_modes, make_udf, as_bytes):
    def program(spark):
        frame = spark.sql("select X'00FF' as b, array(X'01', null) as bs, struct(X'02' as b) as s")
        return frame.select(
            make_udf(describe)("b"),
            make_udf(describe)("bs"),
            make_udf(describe)("s"),
            make_udf(describe)(F.create_map("b", "b")) if as_bytes == "true" else lit(0),
            make_udf(same, "binary")("b"),
        )

    (row,) = both_modes(program, {"spark.sql.execution.pyspark.binaryAsBytes": as_bytes})
    assert row[0].startswith("('bytes'" if as_bytes == "true" else "('bytearray'")


def test_char_and_varchar_columns(both_modes, make_udf):
    def program(spark):
        spark.sql("drop table if exists padded")
        spark.sql("create table padded (c char(5), v varchar(5), n int) using parquet")
        spark.sql(
            "insert into padded values ('ab', 'ab', 1), (null, null, 2), ('\u00e4\u00f6', '', 3)"
        )
        return (
            spark.table("padded")
            .coalesce(1)
            .orderBy("n")
            .select(make_udf(describe)("c"), make_udf(describe)("v"), make_udf(same)("c"))
        )

    try:
        rows = both_modes(program)
    finally:
        both_modes.spark.sql("drop table if exists padded")
    assert rows[0] == ("('str', 'ab   ')", "('str', 'ab')", "ab   ")


def test_nulls_and_the_void_type(both_modes, make_udf):
    def program(spark):
        frame = spark.sql(
            "select id, null as v, array(null, null) as vs, map('k', null) as m from range(2)"
        )
        return frame.select(
            make_udf(describe)("v"),
            make_udf(describe)("vs"),
            make_udf(describe)("m"),
            make_udf(same, "void")("v"),
            make_udf(lambda _: None, "array<void>")("v"),
            *[
                make_udf(lambda _: None, kind)("id")
                for kind in ("boolean", "int", "double", "decimal(38,2)", "string", "binary")
            ],
            *[
                make_udf(lambda _: None, kind)("id")
                for kind in ("date", "timestamp", "array<int>", "map<int,int>", "a int", "variant")
            ],
        )

    both_modes(program)


def test_containers_empty_and_full_of_nulls(both_modes, make_udf):
    def program(spark):
        frame = spark.sql(
            "select array() as a, cast(array() as array<int>) as b, map() as c, "
            "cast(map() as map<string,int>) as d, array(array(), null, array(null)) as e, "
            "cast(null as struct<x:int,y:array<int>>) as f, "
            "named_struct('x', cast(null as int), 'y', cast(null as array<int>)) as g, "
            "array_repeat(cast(null as double), 70) as h, sequence(1, 200) as i"
        )
        return frame.select(
            [make_udf(describe)(name) for name in "abcdefghi"]
            + [make_udf(same, frame.schema[name].dataType)(name).alias(name) for name in "bdefghi"]
        )

    both_modes(program)


def test_struct_results_of_every_form(both_modes, make_udf):
    """A Row, a tuple, a list, a dict with fewer or more keys, an object with attributes."""

    class Point:
        def __init__(self):
            self.a, self.b = 1, "b"

    def program(spark):
        made = {
            "tuple": lambda _: (1, "b"),
            "list": lambda _: [1, "b"],
            "row": lambda _: Row(a=1, b="b"),
            "row_in_other_order": lambda _: Row(b="b", a=1),
            "unnamed_row": lambda _: Row(1, "b"),
            "dict": lambda _: {"b": "b", "a": 1},
            "dict_with_fewer": lambda _: {"a": 1},
            "dict_with_more": lambda _: {"a": 1, "b": "b", "z": 3},
            "object": lambda _: Point(),
            "null_fields": lambda _: (None, None),
        }
        frame = spark.range(len(made), numPartitions=len(made))
        functions = list(made.values())
        return frame.select(make_udf(lambda n: functions[n](n), "a int, b string")("id"))

    both_modes.cells(program)


def test_rows_as_arguments(both_modes, make_udf):
    """Attributes, fields, positions, conversion and equality of a struct argument."""

    def program(spark):
        def features(row):
            return repr(
                [
                    type(row).__name__,
                    type(row).__mro__[1].__name__,
                    row.__fields__,
                    row.asDict(),
                    row.asDict(recursive=True),
                    row.a,
                    row["b"],
                    row[0],
                    "a" in row,
                    len(row),
                    row == Row(a=row.a, b=row.b),
                    repr(row),
                    hash(row.a) == hash(row[0]),
                    tuple(row),
                    row.b.c if row.b else None,
                    getattr(row, "missing", "none"),
                ]
            )

        frame = spark.sql(
            "select named_struct('a', id, 'b', if(id = 1, null, named_struct('c', 'x', 'd', 1.5D)))"
            " as s from range(3)"
        )
        again = make_udf(lambda row: row, "a long, b struct<c:string,d:double>")
        return frame.select(make_udf(features)("s"), again("s"), again(again("s")), again("s").b.d)

    both_modes(program)


def test_duplicate_field_names(both_modes, make_udf):
    """Rows keep them when pickled; Arrow rejects them, so those functions stay in process mode."""

    def argument(spark):
        frame = spark.sql("select named_struct('a', 1, 'a', 'x', 'A', 2.5D) as s")
        return frame.select(make_udf(describe)("s"))

    def result(spark):
        return spark.range(1).select(make_udf(lambda _: (1, "x"), "struct<a:int,a:string>")("id"))

    if make_udf.eval_type == "pickled":
        both_modes.agree(argument)
        both_modes(result)


def test_odd_field_names(both_modes, make_udf):
    def program(spark):
        frame = spark.sql(
            "select named_struct('with space', 1, '\u00e4.b', 2, 'class', 4, 'count', 5, "
            "'A', 6, 'a', 7) as s"
        )
        return frame.select(
            make_udf(describe)("s"), make_udf(same, frame.schema["s"].dataType)("s")
        )

    both_modes(program)


def test_wide_structs(both_modes, make_udf):
    """More fields than one word of null bits has."""

    def program(spark):
        fields = ", ".join(f"'f{n}', if(id % {n + 2} = 0, null, id + {n})" for n in range(200))
        frame = spark.sql(f"select named_struct({fields}) as s from range(6)")
        return frame.select(
            make_udf(describe)("s"), make_udf(same, frame.schema["s"].dataType)("s")
        )

    both_modes(program)


@pytest.mark.slice
def test_user_defined_types(both_modes, make_udf):
    def program(spark):
        make_point = make_udf(lambda n: Point(n, -n / 2) if n != 1 else None, PointUDT())
        frame = spark.range(3, numPartitions=1).select("id", make_point("id").alias("p"))
        kind = make_udf(lambda p: f"{type(p).__name__} {vars(p) if p else p}")
        points = ArrayType(PointUDT())
        many = make_udf(lambda p: [p, None, p], points)("p").alias("many")
        inside = StructType([StructField("p", PointUDT()), StructField("m", points)])
        tagged = make_udf(lambda n: Point(f"t{n}", n), TaggedUDT())("id").alias("tagged")
        return [
            frame.select(kind("p")),
            frame.select("id", many)
            .select(
                make_udf(lambda ps: repr([p and (p.x, p.y) for p in ps]))("many"),
                make_udf(lambda ps: (ps[0], ps), inside)("many").alias("inside"),
            )
            .select("*", make_udf(lambda s: f"{s[0] and s[0].x}{len(s[1])}")("inside")),
            frame.select("id", tagged).select(
                make_udf(lambda t: f"{t.x} {t.y}")("tagged"),
                make_udf(same, TaggedUDT())("tagged"),
                make_udf(lambda t: {"k": t}, MapType(StringType(), TaggedUDT()))("tagged"),
            ),
        ]

    rows = both_modes(program)
    assert rows[0][2] == ("Point {'x': 2, 'y': -1.0}",)


def test_decimals_are_rescaled_to_the_declared_type(both_modes, make_udf):
    texts = [
        "1",
        "1.005",
        "1.015",
        "-1.015",
        "99999.999",
        "1E+2",
        "1E-30",
        "0E+10",
        "-0",
        "12345678",
    ]

    def program(spark):
        count = len(texts)
        return spark.range(count, numPartitions=count).select(
            make_udf(lambda n: decimal.Decimal(texts[n]), "decimal(7,2)")("id"),
        )

    both_modes.cells(program)


def test_decimals_beyond_64_bits(both_modes, make_udf):
    texts = [
        "1E+37",
        "-12345678901234567890123456789.12345",
        "0.1",
        "1E+38",
        "170141183460469231731687303715884105728",
    ]

    def program(spark):
        count = len(texts)
        return spark.range(count, numPartitions=count).select(
            make_udf(lambda n: decimal.Decimal(texts[n]), "decimal(38,0)")("id"),
            make_udf(lambda n: [decimal.Decimal(texts[n])] * 2, "array<decimal(38,0)>")("id"),
        )

    both_modes.cells(program)


def test_strings_that_are_not_utf8(both_modes, make_udf):
    """Bytes that Spark lets into a string, and surrogates that Python lets into a str."""

    def program(spark):
        frame = spark.range(4, numPartitions=4)
        broken = F.when(col("id") == 0, F.expr("cast(X'61FF62' as string)")).otherwise("ok")
        returned = ["ok", "\udc80", "a\ud800b", "fine"]
        return frame.select(
            make_udf(describe)(broken), make_udf(lambda n: returned[n])("id"), broken
        )

    both_modes.cells(program)


def test_a_string_of_every_length_around_a_word(both_modes, make_udf):
    def program(spark):
        text = make_udf(lambda n: "\u00e9" * (n // 2) + "x" * (n % 2))
        frame = spark.range(40, numPartitions=1).select("id", text("id").alias("t"))
        return frame.select("t", make_udf(len, "int")("t"), make_udf(str.encode, "binary")("t"))

    assert [row[1] for row in both_modes(program)] == [n // 2 + n % 2 for n in range(40)]


def test_dates_and_timestamps_with_a_session_time_zone(both_modes, make_udf):
    """Python sees local times of its process, whatever the session's zone; both ways."""

    def program(spark):
        frame = spark.range(4, numPartitions=1).select(
            F.timestamp_micros(col("id") * 10_000_000_000_000_007).alias("t"),
            F.expr("date_add(date'2020-01-01', cast(id as int) * 100)").alias("d"),
        )
        stamps = make_udf(lambda t: t + datetime.timedelta(hours=1), "timestamp")
        aware = make_udf(
            lambda t: t.astimezone(datetime.timezone(datetime.timedelta(hours=5))), "timestamp"
        )
        return frame.select(
            make_udf(describe)("t"),
            make_udf(describe)("d"),
            stamps("t"),
            aware("t"),
            make_udf(lambda t: t.isoformat())("t"),
            make_udf(lambda t: t.date(), "date")("t"),
        )

    both_modes(program, {"spark.sql.session.timeZone": "Asia/Kathmandu"})


def test_timestamps_out_of_pythons_range(both_modes, make_udf):
    def program(spark):
        micros = [-62135596800_000_000 - 1, 253402300800_000_000, 2**63 - 1, -(2**63), 0]
        literal = F.array(*[lit(m) for m in micros])
        frame = spark.range(5, numPartitions=5)
        value = F.timestamp_micros(F.element_at(literal, (col("id") + 1).cast("int")))
        day = F.expr("date_from_unix_date(cast((id - 2) * 1000000 as int))")
        return frame.select(make_udf(describe)(value), make_udf(describe)(day))

    both_modes.cells(program)
