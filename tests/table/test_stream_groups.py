"""GROUP BY over unbounded rows: what changes, batch by batch."""

from __future__ import annotations

import pytest

from pyflow.table import AggregateFunction
from pyflow.table.expressions import col
from pyflow.table.udf import udaf
from streams import Source, changes

ROWS = [
    [("a", 1), ("b", 5), ("a", 2), ("a", 0)],
    [("b", None), ("a", 3), ("c", 1)],
    [("c", -1), ("c", 0)],
]


@pytest.fixture
def source(spark, tmp_path):
    made = Source(spark, tmp_path, "k STRING; v BIGINT")
    for rows in ROWS:
        made.add(rows)
    return made


def test_each_row_emits_the_change_that_it_makes(streaming, source, tmp_path):
    table = source.table(streaming)
    result = table.group_by(col("k")).select(col("k"), col("v").sum, col("v").count)

    assert changes(result, tmp_path / "checkpoint") == [
        [
            ("+I", "a", 1, 1),
            ("+I", "b", 5, 1),
            ("-U", "a", 1, 1),
            ("+U", "a", 3, 2),
            ("-U", "a", 3, 2),
            ("+U", "a", 3, 3),
        ],
        [("-U", "a", 3, 3), ("+U", "a", 6, 4), ("+I", "c", 1, 1)],
        [("-U", "c", 1, 1), ("+U", "c", 0, 2), ("-U", "c", 0, 2), ("+U", "c", 0, 3)],
    ]


def test_an_aggregate_of_an_aggregate_takes_its_rows_back(environment, source, tmp_path):
    t_env = environment("streaming", **{"table_exec_mini-batch_enabled": "true"})
    sums = source.table(t_env).group_by(col("k")).select(col("k"), col("v").sum.alias("s"))
    result = sums.select(col("s").max, col("s").count, col("s").sum)

    assert changes(result, tmp_path / "checkpoint") == [
        [("+I", 5, 2, 8)],
        [("-U", 5, 2, 8), ("+U", 6, 3, 12)],
        [("-U", 6, 3, 12), ("+U", 6, 3, 11)],
    ]


class Seen(AggregateFunction):
    def create_accumulator(self):
        return []

    def accumulate(self, accumulator, row):
        accumulator.append(f"{row.f0}{row[1]}")

    def get_value(self, accumulator):
        return " ".join(accumulator)


def test_json_and_rows_of_rows_that_come(streaming, source, tmp_path):
    seen = udaf(Seen(), result_type="STRING", accumulator_type="ARRAY<STRING>")
    streaming.create_temporary_system_function("seen", seen)
    streaming.create_temporary_view("pairs", source.table(streaming))
    result = streaming.sql_query("""
        SELECT k, JSON_ARRAYAGG(v NULL ON NULL), seen(ROW(k, v)),
               JSON_OBJECTAGG(KEY COALESCE(CAST(v AS STRING), 'no') VALUE v ABSENT ON NULL)
        FROM pairs GROUP BY k""")

    [_, second, third] = changes(result, tmp_path / "checkpoint")
    assert ("+U", "b", "[5,null]", "b5 bNone", '{"5":5}') in second
    assert third[-1] == ("+U", "c", "[1,-1,0]", "c1 c-1 c0", '{"-1":-1,"0":0,"1":1}')
