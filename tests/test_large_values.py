"""Very wide rows and very large values."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F
from pyspark.sql.functions import col, lit


@pytest.mark.complete("pickled")
def test_a_row_of_2000_columns(both_modes, make_udf):
    names = [f"c{n}" for n in range(2000)]

    def program(spark):
        rows = [[f"{n}/{row}" if n % 3 else n * row for n in range(2000)] for row in range(3)]
        schema = ", ".join(f"c{n} {'string' if n % 3 else 'long'}" for n in range(2000))
        frame = spark.createDataFrame(rows, schema).coalesce(1)
        return frame.select(
            "*",
            make_udf(lambda s: f"{s.c1998} {s[1]} {len(s)}")(F.struct(*names)),
            make_udf(lambda *xs: f"{xs[-1]} {len(xs)}")(*names),
        )

    rows = both_modes(program)
    assert tuple(rows[2])[-2:] == ("3996 1/2 2000", "1999/2 2000")


@pytest.mark.complete("pickled")
def test_large_strings(both_modes, make_udf):
    """Twenty megabytes each way, and a few on many rows; the codec's tests have larger ones."""

    def program(spark):
        size = make_udf(len, "int")
        grow = make_udf(lambda n: "é" * n)
        large = F.repeat(F.concat(lit("x" * 999), col("id")), 20_000)
        return [
            spark.range(1).select(size(large), F.md5(make_udf(lambda s: s)(large)).alias("same")),
            spark.range(40, numPartitions=1).select(
                F.length(grow(col("id") * 50_000)),
                size(F.repeat(col("id").cast("string"), 1_000_000)),
            ),
        ]

    rows = both_modes(program)
    assert rows[0][0][0] == 20_000_000
    assert rows[1][39] == (39 * 50_000, 2_000_000)
