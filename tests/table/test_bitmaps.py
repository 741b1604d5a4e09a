"""Bitmaps: their bytes are RoaringBitmap's, and what aggregates make of them is Flink's.

Changes of aggregates are those that PyFlink gave for the same rows.
"""

from __future__ import annotations

import datetime
from itertools import chain

import pytest

from pyflow.table.expressions import col
from pyflow.table.runtime.builtins import bitmaps
from pyflow.table.types import BitmapType, DataTypes, parse
from pyflow.table.udf import udf
from pyflow.util.exceptions import TableException
from streams import Source, applied, changes

_HALF = 1 << 16
SETS = {
    "empty": [],
    "array": [1, 5, 70, -3],
    "run": list(range(10, 500)),
    "a run to the end": [*range(_HALF - 3, _HALF + 2), -1],
    "as short an array as runs": [1, 2, 3],
    "greatest array": list(range(0, 2 * 4096, 2)),
    "bits": list(range(0, 3 * 5000, 3)),
    "all bits": list(range(_HALF)),
    "three containers with runs": [7, *range(_HALF, _HALF + 9), *range(2 * _HALF, 2 * _HALF + 9)],
    "four containers with runs": [*range(5), _HALF, 2 * _HALF, 3 * _HALF],
    "all kinds": [4, *range(_HALF, _HALF + 99), *range(5 * _HALF, 6 * _HALF, 5), -(1 << 31)],
    "nine containers": [*range(4), *(place * _HALF for place in range(1, 9))],
}


def _read_by_java(spark, serialized):
    buffer = spark._jvm.java.nio.ByteBuffer.wrap(serialized)
    bitmap = spark._jvm.org.roaringbitmap.RoaringBitmap()
    bitmap.deserialize(buffer)
    return bitmap


def _written_by_java(spark, bitmap):
    buffer = spark._jvm.java.nio.ByteBuffer.allocate(bitmap.serializedSizeInBytes())
    bitmap.serialize(buffer)
    return bytes(buffer.array())


@pytest.mark.parametrize("name", SETS)
def test_bytes_are_those_of_roaring_bitmap(spark, name):
    values = SETS[name]
    serialized = bitmaps.to_bytes(values)
    bitmap = _read_by_java(spark, serialized)
    text = ",".join(str(value & 0xFFFFFFFF) for value in values)
    assert bitmap.toString() == f"{{{text}}}"

    bitmap.removeRunCompression()
    without_runs = _written_by_java(spark, bitmap)
    bitmap.runOptimize()

    assert _written_by_java(spark, bitmap) == serialized
    assert bitmaps.of_bytes(serialized) == bitmaps.of_bytes(without_runs) == values


@pytest.mark.parametrize(
    ("serialized", "reason"),
    [
        ("", "end too early"),
        ("696e76616c6964", "begin with"),
        ("3a30000001000000000001001000000001", "end too early"),
        ("3a300000ffffffff", "containers"),
        ("3a30000001000000000001001000000002000100", "not in order"),
        ("3b30000001000001000100ffff0100", "run is too long"),
    ],
)
def test_other_bytes_are_an_error(serialized, reason):
    with pytest.raises(ValueError, match=reason):
        bitmaps.of_bytes(bytes.fromhex(serialized))


def test_other_bytes_fail_the_query(batch):
    table = batch.sql_query("SELECT BITMAP_CARDINALITY(BITMAP_FROM_BYTES(x'00'))")
    with pytest.raises(Exception, match="no bitmap in RoaringBitmap's portable format"):
        list(table.execute().collect())


def test_queries_have_the_type(batch, capsys):
    assert parse("BITMAP NOT NULL") == BitmapType(False)
    batch.execute_sql("CREATE TEMPORARY VIEW sets AS SELECT BITMAP_BUILD(ARRAY[2, -1, 1, 2]) AS m")
    batch.execute_sql("CREATE TABLE sink (m BITMAP) WITH ('connector' = 'print')")
    table = batch.from_path("sets")
    assert "`m` BITMAP" in str(table.get_resolved_schema())
    assert _rows(table) == [([1, 2, -1],)]

    table.execute().print()
    assert "{1,2,4294967295}" in capsys.readouterr().out
    table.execute_insert("sink").wait()
    assert capsys.readouterr().out == "+I[{1,2,4294967295}]\n"
    batch.execute_sql("DESCRIBE sets").print()
    assert " BITMAP |" in capsys.readouterr().out


def _rows(table):
    return [tuple(row) for row in table.execute().collect()]


def test_nulls_and_equality_in_sql(batch):
    batch.execute_sql("CREATE TEMPORARY VIEW sets AS SELECT BITMAP_BUILD(ARRAY[2, -1, 1, 2]) AS m")
    result = batch.sql_query("""
        SELECT bitmap_or(l.m, NULL), BITMAP_TO_ARRAY(BITMAP_XOR(l.m, BITMAP_BUILD(ARRAY[1, 3]))),
            BITMAP_BUILD(NULL), CAST(CAST(NULL AS BITMAP) AS STRING)
        FROM sets l JOIN sets r ON l.m = r.m""")

    assert _rows(result) == [(None, [2, 3, -1], None, None)]


@pytest.mark.parametrize("name", ["csv", "json", "raw"])
def test_formats_do_not_have_the_type(batch, tmp_path, name):
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = '{name}'"
    batch.execute_sql(f"CREATE TABLE files (m BITMAP) WITH ({options})")
    with pytest.raises(TableException, match="BITMAP"):
        batch.execute_sql("INSERT INTO files SELECT BITMAP_BUILD(ARRAY[1])")


def test_generated_rows_do_not_have_the_type(batch):
    batch.execute_sql("CREATE TABLE made (m BITMAP) WITH ('connector' = 'datagen')")
    with pytest.raises(TableException, match="BITMAP"):
        batch.execute_sql("SELECT * FROM made")


def test_python_functions_take_arrays_instead(batch):
    size = udf(len, result_type=DataTypes.INT())
    table = batch.sql_query("SELECT BITMAP_BUILD(ARRAY[1, 2]) AS m")
    with pytest.raises(TableException, match="bitmap_to_array"):
        table.select(size(col("m")))

    assert _rows(table.select(size(col("m").bitmap_to_array()))) == [(2,)]


def test_bitmaps_have_no_order(batch):
    table = batch.sql_query("SELECT BITMAP_BUILD(ARRAY[1, 2]) AS m")
    for expression in (col("m") < col("m"), col("m").max):
        with pytest.raises(TableException, match="bitmaps have no order"):
            table.select(expression)


ROWS = [("a", 5), ("a", -1), ("b", 2), ("a", 5), ("c", None), ("b", 65536)]
OF_VALUES = {
    ("+I", "a", "{5}", 1, 1),
    ("-U", "a", "{5}", 1, 1),
    ("+U", "a", "{5,4294967295}", 2, 2),
    ("+I", "b", "{2}", 1, 1),
    ("+I", "c", None, None, None),
    ("-U", "b", "{2}", 1, 1),
    ("+U", "b", "{2,65536}", 2, 2),
}


def _of_values(table):
    value = col("v")
    built = value.bitmap_build_agg().bitmap_to_string()
    counted = value.bitmap_build_cardinality_agg()
    return table.group_by(col("k")).select(col("k"), built, counted, counted.distinct)


def test_values_of_bounded_rows(streaming):
    kinds = DataTypes.ROW(
        [DataTypes.FIELD("k", DataTypes.STRING()), DataTypes.FIELD("v", DataTypes.INT())]
    )
    table = _of_values(streaming.from_elements(ROWS, kinds))

    found = [(str(row.get_row_kind()), *row) for row in table.execute().collect()]

    assert sorted(found, key=repr) == sorted(OF_VALUES, key=repr)


@pytest.mark.parametrize("mode", ["thread", "process"])
def test_values_of_unbounded_rows(spark, streaming, tmp_path, mode):
    source = Source(spark, tmp_path, "k STRING; v INT")
    source.add(ROWS[:4])
    source.add(ROWS[4:])

    found = changes(_of_values(source.table(streaming)), tmp_path / "checkpoint", mode)

    assert len(found) == 2
    assert sorted(chain(*found), key=repr) == sorted(OF_VALUES, key=repr)


@pytest.mark.complete
def test_bitmaps_that_change(spark, streaming, tmp_path):
    source = Source(spark, tmp_path, "k STRING; v INT")
    for row in ROWS:
        source.add([row])
    built = (
        source.table(streaming).group_by(col("k")).select(col("v").bitmap_build_agg().alias("m"))
    )
    kinds = ("or", "and", "xor")
    bitmap = col("m")
    result = built.select(
        *(getattr(bitmap, f"bitmap_{kind}_agg")().bitmap_to_string() for kind in kinds),
        *(getattr(bitmap, f"bitmap_{kind}_cardinality_agg")() for kind in kinds),
    )

    batches = changes(result, tmp_path / "checkpoint")

    last = [batch[-1][1:] for batch in batches if batch]
    assert last == [
        ("{5}", "{5}", "{5}", 1, 1, 1),
        ("{5,4294967295}",) * 3 + (2, 2, 2),
        ("{2,5,4294967295}", "{}", "{2,5,4294967295}", 3, 0, 3),
        ("{2,5,65536,4294967295}", "{}", "{2,5,65536,4294967295}", 4, 0, 4),
    ]
    assert sum(applied(batches).values()) == 1


def test_rows_before_each_row(spark, streaming, tmp_path):
    start = datetime.datetime(2024, 1, 1)
    source = Source(spark, tmp_path, "ts TIMESTAMP(3); v INT")
    values = [1, 2, 2, 3, None]
    source.add([(start + datetime.timedelta(minutes=i), v) for i, v in enumerate(values)])
    source.add([(start + datetime.timedelta(hours=1), 0)])
    table = source.table(streaming, watermark=("ts", 0))
    streaming.create_temporary_view("numbers", table)
    result = streaming.sql_query("""
        SELECT v, BITMAP_TO_ARRAY(BITMAP_BUILD_AGG(v) OVER w),
            BITMAP_TO_STRING(BITMAP_XOR_AGG(BITMAP_BUILD(ARRAY[v, 9])) OVER w)
        FROM numbers
        WINDOW w AS (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)""")

    found = [tuple(row[1:]) for batch in changes(result, tmp_path / "checkpoint") for row in batch]

    assert found[:5] == [
        (1, [1], "{1,9}"),
        (2, [1, 2], "{1,2}"),
        (2, [2], "{}"),
        (3, [2, 3], "{2,3}"),
        (None, [3], "{3}"),
    ]


def test_windows(spark, t_env, tmp_path):
    clicks = tmp_path / "clicks.csv"
    clicks.write_text("2024-01-01 00:00:01,5\n2024-01-01 00:00:09,-1\n2024-01-01 00:01:00,7\n")
    t_env.execute_sql(f"""
        CREATE TABLE clicks (ts TIMESTAMP(3), v INT, WATERMARK FOR ts AS ts)
        WITH ('connector' = 'filesystem', 'path' = '{clicks}', 'format' = 'csv')""")
    result = t_env.sql_query("""
        SELECT BITMAP_TO_STRING(BITMAP_BUILD_AGG(v)), BITMAP_BUILD_CARDINALITY_AGG(v)
        FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
        GROUP BY window_start, window_end""")

    assert sorted(_rows(result)) == [("{5,4294967295}", 2), ("{7}", 1)]


def test_bitmaps_in_state_are_not_told_apart(spark, streaming, tmp_path):
    table = Source(spark, tmp_path, "k STRING; v ARRAY<INT>").table(streaming)
    with pytest.raises(TableException, match="cannot tell arrays, bitmaps and maps apart"):
        table.select(col("v").bitmap_build().bitmap_xor_agg().distinct)
