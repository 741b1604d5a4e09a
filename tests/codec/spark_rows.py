"""Has Spark build the rows of `cases.py` and show them to Python functions.

A program of its own, so that the tests can run where a JVM cannot (under a sanitizer):

    python spark_rows.py FILE
"""

from __future__ import annotations

import os
import pickle
import random
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import udf
from pyspark.sql.types import BinaryType, StructField, StructType

import cases
from cases import Record, Recording


def record(spark: SparkSession) -> Recording:
    table = cases.all_cases()
    # A column per case holds its values one below the other, each in a row of its own: a struct.
    height = max(len(case.values) for case in table) + 1
    columns = [case.values + [None] * (height - len(case.values)) for case in table]
    frame = spark.createDataFrame(
        [tuple((value,) for value in values) for values in zip(*columns)],
        StructType([StructField(f"c{i}", case.row_type) for i, case in enumerate(table)]),
        verifySchema=False,
    )
    frame.cache()
    rows = rows_of(frame)
    pickled = arguments_of(frame, arrow=False)
    arrow = arguments_of(frame, arrow=True)
    returned = udf(lambda *arguments: arguments, frame.schema, useArrow=True)
    arrow_rows = rows_of(frame.select(returned(*frame.columns).alias("all")).select("all.*"))
    records = {}
    for column, case in enumerate(table):
        records[case.name] = [
            Record(
                pickled_result=columns[column][i],
                pickled_row=rows[i][column],
                pickled_argument=pickled[i][column][0],
                arrow_row=arrow_rows[i][column],
                arrow_argument=arrow[i][column][0],
            )
            for i in range(len(case.values) + 1)
        ]
    return Recording(records, strings_of(spark))


def rows_of(frame: DataFrame) -> list[list[bytes]]:
    """The bytes of every struct column, as Spark's own projection lays them out.

    A result reaches a column as it does here, where pickled values become a data frame.
    """
    rows = frame._jdf.queryExecution().executedPlan().executeCollect()
    width = len(frame.columns)
    return [[bytes(row.getStruct(i, 1).getBytes()) for i in range(width)] for row in rows]


def arguments_of(frame: DataFrame, arrow: bool) -> list[tuple[Any, ...]]:
    """The columns as the arguments of a function."""
    seen = udf(lambda *arguments: pickle.dumps(arguments), BinaryType(), useArrow=arrow)
    rows = frame.select(seen(*frame.columns).alias("seen")).collect()
    return [pickle.loads(row.seen) for row in rows]


def strings_of(spark: SparkSession) -> list[tuple[bytes, str]]:
    """Strings of the bytes at which decoders of UTF-8 decide."""
    chosen = random.Random(3629)
    notable = [
        *(0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1),
        *(0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFE, 0xFF),
    ]
    strings = [bytes(chosen.choices(notable, k=size)) for size in range(1, 8) for _ in range(600)]
    frame = spark.createDataFrame([(each,) for each in strings], "bytes binary")
    decoded = udf(lambda text: pickle.dumps(text), BinaryType(), useArrow=False)
    rows = frame.select(decoded(frame.bytes.cast("string")).alias("seen")).collect()
    return [(each, pickle.loads(row.seen)) for each, row in zip(strings, rows)]


def main(path: Path) -> None:
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", False)
        .config("spark.driver.memory", "1g")
        .config("spark.sql.session.timeZone", cases.TIME_ZONE)
        .getOrCreate()
    )
    recording = record(spark)
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(pickle.dumps(recording, protocol=4))
    unfinished.replace(path)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
