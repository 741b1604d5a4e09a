"""Results that are Arrow data, against what is declared: in every layout that pyarrow has.

One partition per result makes each an outcome of its own: rows, or how process mode refuses it.
"""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql.functions import arrow_udf, arrow_udtf, pandas_udf
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from comparison import MODE, Failure, settings

ROWS = 3

TEXTS = ["a", None, "longer than the twelve bytes of a view"]
BYTES = [None if text is None else text.encode() for text in TEXTS]
NUMBERS = [1, None, 3]
LISTS = [[1, None], None, [3]]
PAIRS = [[1, 2], None, [3, None]]
STRUCTS = [{"n": 1, "s": "a"}, None, {"n": None, "s": "b"}]
STRUCT = pa.struct([("n", pa.int64()), ("s", pa.string())])
MAPS = [[("a", 1), ("b", None)], None, []]
DICTIONARY = pa.dictionary(pa.int8(), pa.string())


class Text(pa.ExtensionType):
    """A type of a program's own, stored as strings."""

    def __init__(self):
        super().__init__(pa.string(), "pyflow.tests.text")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type, serialized):
        return cls()


def of(values, arrow_type):
    return lambda: pa.array(values, arrow_type)


def encoded(values):
    return lambda: pa.array(values).dictionary_encode()


def run_end_encoded(values, arrow_type):
    return lambda: pa.RunEndEncodedArray.from_arrays(
        pa.array([1, 2, 3], pa.int32()), pa.array(values, arrow_type)
    )


def sparse_union():
    types = pa.array([0, 1, 0], pa.int8())
    return pa.UnionArray.from_sparse(types, [pa.array(["a", "b", "c"]), pa.array([1, 2, 3])])


def dense_union():
    types, offsets = pa.array([0, 1, 0], pa.int8()), pa.array([0, 0, 1], pa.int32())
    return pa.UnionArray.from_dense(types, offsets, [pa.array(["a", "b"]), pa.array([1])])


def garbage_below_null():
    """A struct that is null where its fields are not, which have no nulls at all."""
    return pa.StructArray.from_arrays(
        [pa.array([1, 2, 3]), pa.array(["a", "b", "c"])],
        names=["n", "s"],
        mask=pa.array([False, True, False]),
    )


def with_unused_values():
    """A list whose elements neither begin nor end where those of its values do."""
    return pa.ListArray.from_arrays(pa.array([2, 3, 3, 5]), pa.array(range(9))[1:8])


def map_of_slices():
    entries = pa.array([{"key": text, "value": n} for n, text in enumerate("abcdef")])
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 1, 3], pa.int32()), entries[2:])
    return lists.cast(pa.map_(pa.string(), pa.int64()))


# What pyarrow can make, by the Spark type that is nearest.
LAYOUTS = {
    "string": {
        "string": of(TEXTS, pa.string()),
        "large_string": of(TEXTS, pa.large_string()),
        "string_view": of(TEXTS, pa.string_view()),
        "dictionary": encoded(TEXTS),
        "categorical": lambda: pa.array(pd.Categorical(TEXTS)),
        "run ends": run_end_encoded(TEXTS, pa.string()),
        "null": of([None] * ROWS, pa.null()),
        "extension": lambda: pa.ExtensionArray.from_storage(Text(), pa.array(TEXTS)),
        "sparse union": sparse_union,
        "dense union": dense_union,
        "binary": of(BYTES, pa.binary()),
        "int": of(NUMBERS, pa.int64()),
        "uuid": lambda: pa.array([b"0123456789abcdef"] * ROWS, pa.uuid()),
    },
    "binary": {
        "binary": of(BYTES, pa.binary()),
        "large_binary": of(BYTES, pa.large_binary()),
        "binary_view": of(BYTES, pa.binary_view()),
        "fixed size": of([b"abc", None, b"def"], pa.binary(3)),
        "dictionary": encoded(BYTES),
        "string": of(TEXTS, pa.string()),
    },
    "bigint": {
        "int64": of(NUMBERS, pa.int64()),
        "uint64": of(NUMBERS, pa.uint64()),
        "uint8": of(NUMBERS, pa.uint8()),
        "int32": of(NUMBERS, pa.int32()),
        "dictionary": encoded(NUMBERS),
        "run ends": run_end_encoded(NUMBERS, pa.int64()),
        "null": of([None] * ROWS, pa.null()),
        "string": of(TEXTS, pa.string()),
        "timestamp": of(NUMBERS, pa.timestamp("us", "UTC")),
        "list": of(LISTS, pa.list_(pa.int64())),
    },
    "tinyint": {"int8": of(NUMBERS, pa.int8()), "uint8": of(NUMBERS, pa.uint8())},
    "double": {
        "float64": of(NUMBERS, pa.float64()),
        "float16": lambda: pa.array(np.array([1, 2, 3], np.float16)),
        "float32": of(NUMBERS, pa.float32()),
    },
    "boolean": {
        "bool": of([True, None, False], pa.bool_()),
        "bool8": lambda: pa.array([True, None, False], pa.bool8()),
    },
    "decimal(20,2)": {
        "decimal128": of(NUMBERS, pa.decimal128(20, 2)),
        "decimal256": of(NUMBERS, pa.decimal256(20, 2)),
        "decimal64": of(NUMBERS, pa.decimal64(18, 2)),
        "other scale": of(NUMBERS, pa.decimal128(20, 4)),
    },
    "date": {"date32": of(NUMBERS, pa.date32()), "date64": of([0, None, 86400000], pa.date64())},
    "timestamp": {unit: of(NUMBERS, pa.timestamp(unit, "UTC")) for unit in ("s", "ms", "us", "ns")},
    "timestamp_ntz": {unit: of(NUMBERS, pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")},
    "time": {
        "s": of(NUMBERS, pa.time32("s")),
        "us": of(NUMBERS, pa.time64("us")),
        "ns": of(NUMBERS, pa.time64("ns")),
    },
    "interval day to second": {
        unit: of(NUMBERS, pa.duration(unit)) for unit in ("s", "ms", "us", "ns")
    },
    "array<bigint>": {
        "list": of(LISTS, pa.list_(pa.int64())),
        "large_list": of(LISTS, pa.large_list(pa.int64())),
        "list_view": of(LISTS, pa.list_view(pa.int64())),
        "large_list_view": of(LISTS, pa.large_list_view(pa.int64())),
        "fixed size": of(PAIRS, pa.list_(pa.int64(), 2)),
        "unused values": with_unused_values,
        "dictionaries": of([["a"], None, ["b"]], pa.list_(DICTIONARY)),
        "extensions": lambda: pa.array([[True], None, [False]], pa.list_(pa.bool8())),
    },
    "struct<n:bigint,s:string>": {
        "struct": of(STRUCTS, STRUCT),
        "garbage below null": garbage_below_null,
        "view": of(STRUCTS, pa.struct([("n", pa.int64()), ("s", pa.string_view())])),
        "dictionary": of(STRUCTS, pa.struct([("n", pa.int64()), ("s", DICTIONARY)])),
        "large": of(STRUCTS, pa.struct([("n", pa.int64()), ("s", pa.large_string())])),
        "fewer fields": of(STRUCTS, pa.struct([("n", pa.int64())])),
    },
    "map<string,bigint>": {
        "map": of(MAPS, pa.map_(pa.string(), pa.int64())),
        "slices": map_of_slices,
        "views": of(MAPS, pa.map_(pa.string_view(), pa.int64())),
        "dictionaries": lambda: pa.array(MAPS, pa.map_(DICTIONARY, pa.int64())),
        "list": of(
            [[{"key": "a", "value": 1}], None, []],
            pa.list_(pa.struct([("key", pa.string()), ("value", pa.int64())])),
        ),
    },
}


def whole(array):
    return [array]


def slices(array):
    """The same values, each as a slice of an array with more of them."""
    try:
        joined = pa.concat_arrays([array.slice(2), array, array.slice(0, 1)])
    except pa.ArrowNotImplementedError:
        return [array.slice(0, 1), array.slice(1, 2)]
    return [joined.slice(1, 1), joined.slice(2, 2)]


def none(array):
    return [array.slice(0, 0)]


FORMS = {form.__name__: form for form in (whole, slices, none)}


def in_map(numbered, declared, results):
    """The arrays of a result as the batches of an iterator."""

    def batches(iterator):
        for batch in iterator:
            for array in results[batch["k"][0].as_py()]():
                yield pa.RecordBatch.from_arrays([array], ["v"])

    return numbered.mapInArrow(batches, f"v {declared}")


def in_group(numbered, declared, results):
    """The arrays of a result as the chunks of a table."""

    def table(group):
        arrays = results[group["k"][0].as_py()]()
        return pa.table([pa.chunked_array(arrays)], names=["v"])

    return numbered.groupBy("k").applyInArrow(table, f"v {declared}")


def in_column(numbered, declared, results):
    """A result as the only one of a batch."""

    @arrow_udf(declared)
    def f(k: pa.Array) -> pa.Array:
        arrays = results[k[0].as_py()]()
        return arrays[-1]  # a slice where there are two

    return numbered.select(f("k").alias("v"))


def in_table_function(numbered, declared, results):
    """The arrays of a result as tables."""

    @arrow_udtf(returnType=f"v {declared}")
    class Results:
        def eval(self, batch: pa.RecordBatch):
            for array in results[batch["k"][0].as_py()]():
                yield pa.table([array], names=["v"])

    numbered.sparkSession.udtf.register("results", Results)
    numbered.createOrReplaceTempView("numbered")
    return numbered.sparkSession.sql("select v from results(table(numbered))")


KINDS = {f.__name__: f for f in (in_map, in_group, in_column, in_table_function)}


def outcomes(arrow_lane, kind, declared, results, conf=None):
    """Compares what the modes make of results, of which each is a partition's."""

    def program(spark):
        rows = spark.range(ROWS * len(results)).withColumn("k", F.floor(F.col("id") / ROWS))
        return KINDS[kind](rows.repartitionByRange(len(results), "k"), declared, results)

    cells = arrow_lane.cells(program, {"spark.sql.timeType.enabled": "true", **(conf or {})})
    assert len(cells) == len(results)
    return cells


def made(make, form=whole):
    return lambda: form(make())


def layouts_of(kinds, declared):
    """PySpark's own checks leave little to the JVM, but for iterators: most of that is complete."""
    few = ("string", "array<bigint>")
    return [
        pytest.param(
            kind, each, marks=() if kind == "in_map" or each in few else pytest.mark.complete
        )
        for kind in kinds
        for each in declared
    ]


def results_of(kind, declared, form):
    # What pyarrow casts these to has fewer offsets than rows.
    spoiled = () if kind in ("in_map", "in_group") else ("list_view", "large_list_view")
    return [made(make, form) for name, make in LAYOUTS[declared].items() if name not in spoiled]


@pytest.mark.complete(
    "in_group", "in_column", "in_map-array", "in_map-string", "in_table_function-array"
)
@pytest.mark.parametrize(("kind", "declared"), layouts_of(KINDS, LAYOUTS))
def test_layouts(arrow_lane, kind, declared):
    cells = outcomes(arrow_lane, kind, declared, results_of(kind, declared, slices))
    assert kind == "in_column" or any(not isinstance(cell, Failure) and cell for cell in cells)


@pytest.mark.complete
@pytest.mark.parametrize("form", [whole, none])
@pytest.mark.parametrize(("kind", "declared"), layouts_of(KINDS, LAYOUTS))
def test_forms(arrow_lane, kind, declared, form):
    outcomes(arrow_lane, kind, declared, results_of(kind, declared, form))


@pytest.mark.complete
@pytest.mark.parametrize("layouts", LAYOUTS)
@pytest.mark.parametrize(
    "declared",
    ["string", "bigint", "array<bigint>", "struct<n:bigint,s:string>", "map<string,bigint>"],
)
def test_wrong_types(arrow_lane, declared, layouts):
    results = [made(make) for make in LAYOUTS[layouts].values()]
    outcomes(arrow_lane, "in_map", declared, results)


INVALID = {
    "too few offsets": lambda: pa.Array.from_buffers(
        pa.string(), 3, [None, pa.py_buffer(b"\0" * 8), pa.py_buffer(b"a")]
    ),
    "offsets beyond the values": lambda: pa.Array.from_buffers(
        pa.string(),
        2,
        [None, pa.array([0, 1 << 20, 1], pa.int32()).buffers()[1], pa.py_buffer(b"a")],
    ),
}


@pytest.mark.parametrize("array", INVALID)
def test_invalid_arrays_are_refused(spark, array):
    make = INVALID[array]

    def batches(iterator):
        for _ in iterator:
            yield pa.RecordBatch.from_arrays([make()], ["v"])

    with settings(spark, {MODE: "thread"}), pytest.raises((PySparkException, Py4JJavaError)):
        spark.range(1).mapInArrow(batches, "v string").collect()


def test_dictionaries_that_change(arrow_lane):
    """Of a field in a struct, whose values Spark is not asked for."""

    def batches(iterator):
        for _ in iterator:
            for texts in (["a", "b"], ["c", "a", "d"], ["a"]):
                codes = pa.array(texts).dictionary_encode()
                yield pa.RecordBatch.from_arrays(
                    [pa.array(texts, pa.string_view()), codes], ["v", "w"]
                )

    arrow_lane.agree(lambda spark: spark.range(1).mapInArrow(batches, "v string, w int"))


# Values and a null, as Arrow has them for a type.
NULLABLE = {
    BooleanType(): (pa.bool_(), True),
    ByteType(): (pa.int8(), 1),
    ShortType(): (pa.int16(), 1),
    IntegerType(): (pa.int32(), 1),
    LongType(): (pa.int64(), 1),
    FloatType(): (pa.float32(), 1.5),
    DoubleType(): (pa.float64(), 1.5),
    DecimalType(10, 2): (pa.decimal128(10, 2), decimal.Decimal("1.50")),
    DecimalType(38, 2): (pa.decimal128(38, 2), decimal.Decimal("1.50")),
    StringType(): (pa.string(), "a"),
    BinaryType(): (pa.binary(), b"a"),
    DateType(): (pa.date32(), datetime.date(2020, 1, 2)),
    TimestampType(): (pa.timestamp("us", "UTC"), datetime.datetime(2020, 1, 2)),
    TimestampNTZType(): (pa.timestamp("us"), datetime.datetime(2020, 1, 2)),
    DayTimeIntervalType(): (pa.duration("us"), datetime.timedelta(1)),
    ArrayType(LongType()): (pa.list_(pa.int64()), [1]),
    MapType(StringType(), LongType()): (pa.map_(pa.string(), pa.int64()), [("a", 1)]),
    StructType().add("n", LongType()): (pa.struct([("n", pa.int64())]), {"n": 1}),
}


def struct_without_null(element):
    return StructType([StructField("f", element, nullable=False)])


# Where a value must not be null: the declared type and Arrow's, given those of the value, and how
# the value is put there.
DEPTHS = {
    "column": (lambda t: t, lambda a: a, lambda value: value),
    "field": (struct_without_null, lambda a: pa.struct([("f", a)]), lambda value: {"f": value}),
    "element": (lambda t: ArrayType(t, False), pa.list_, lambda value: [value]),
    "map value": (
        lambda t: MapType(StringType(), t, False),
        lambda a: pa.map_(pa.string(), a),
        lambda value: [("k", value)],
    ),
    "field of element": (
        lambda t: ArrayType(struct_without_null(t)),
        lambda a: pa.list_(pa.struct([("f", a)])),
        lambda value: [{"f": value}],
    ),
    "element of field": (
        lambda t: struct_without_null(ArrayType(t, False)),
        lambda a: pa.struct([("f", pa.list_(a))]),
        lambda value: {"f": [value]},
    ),
}


def not_null_results(depth):
    """For every type a column's declared type, and values in Arrow, of which one is null."""
    declare, arrow, put = DEPTHS[depth]
    for element, (arrow_type, value) in NULLABLE.items():
        values = [put(value), put(None), put(value)]
        yield (
            StructField("v", declare(element), nullable=False),
            pa.array(values, arrow(arrow_type)),
        )


@pytest.mark.complete("field", "map")
@pytest.mark.parametrize(
    "depth",
    [
        *("column", "map value", "field of element"),
        *(
            pytest.param(depth, marks=pytest.mark.complete)
            for depth in ("field", "element", "element of field")
        ),
    ],
)
def test_nulls_where_none_are_declared(arrow_lane, depth):
    """A column for every type; of each partition, one of them is asked for and has a null."""
    columns = list(not_null_results(depth))
    schema = StructType(
        [StructField(f"v{i}", c.dataType, False) for i, (c, _) in enumerate(columns)]
    )

    def batches(iterator):
        for batch in iterator:
            chosen = batch["id"][0].as_py()
            arrays = [
                array if i == chosen else pa.concat_arrays([array[:1], array[:1], array[:1]])
                for i, (_, array) in enumerate(columns)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema.names)

    def program(spark):
        rows = spark.range(len(columns) + 1, numPartitions=len(columns) + 1)
        return rows.mapInArrow(batches, schema)

    cells = arrow_lane.cells(program)
    assert len([cell for cell in cells if isinstance(cell, Failure)]) >= len(columns) - 3
    assert not isinstance(cells[-1], Failure)


NOT_NULL = StructType([StructField("n", LongType(), False), StructField("s", StringType())])


def table_with_null(_):
    return pa.table({"n": pa.array([1, None], pa.int64()), "s": ["a", "b"]})


def frame_with_null(_):
    return pd.DataFrame({"n": pd.array([1, None], "Int64"), "s": ["a", "b"]})


def null_in_series(n: pd.Series) -> pd.Series:
    return pd.Series([None] * len(n), dtype="Int64")


def null_of_series(n: pd.Series) -> int:
    return None


# Functions that are not told that a result is nullable, and functions whose results always are.
NOT_NULL_KINDS = {
    "mapInPandas": lambda rows: rows.mapInPandas(
        lambda frames: map(frame_with_null, frames), NOT_NULL
    ),
    "applyInPandas": lambda rows: rows.groupBy("id").applyInPandas(frame_with_null, NOT_NULL),
    "applyInArrow": lambda rows: rows.groupBy("id").applyInArrow(table_with_null, NOT_NULL),
    "cogroup in pandas": lambda rows: (
        rows.groupBy("id")
        .cogroup(rows.groupBy("id"))
        .applyInPandas(lambda left, right: frame_with_null(left), NOT_NULL)
    ),
    "cogroup in Arrow": lambda rows: (
        rows.groupBy("id")
        .cogroup(rows.groupBy("id"))
        .applyInArrow(lambda left, right: table_with_null(left), NOT_NULL)
    ),
    "pandas column": lambda rows: rows.select(pandas_udf(null_in_series, "bigint")("id")),
    "pandas aggregate": lambda rows: rows.groupBy("id").agg(
        pandas_udf(null_of_series, "bigint")("id").alias("v")
    ),
    "struct column": lambda rows: rows.select(
        arrow_udf(
            lambda ids: pa.array([{"n": None, "s": "a"}] * len(ids)).cast(
                pa.struct([("n", pa.int64()), ("s", pa.string())])
            ),
            NOT_NULL,
        )("id").alias("v")
    ).select("v.n"),
}


@pytest.mark.parametrize("kind", NOT_NULL_KINDS)
def test_nulls_in_every_kind(arrow_lane, kind):
    arrow_lane.agree(lambda spark: NOT_NULL_KINDS[kind](spark.range(1)))
