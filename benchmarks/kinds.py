"""Functions of every other kind than plain ones, as programs from a DataFrame to another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.pandas.functions import PandasUDFType


def pandas_increment(frame: DataFrame) -> DataFrame:
    """Add one to a long."""
    increment = sf.pandas_udf(lambda x: x + 1, "bigint", PandasUDFType.SCALAR)
    return frame.select(increment("x"))


def pandas_append(frame: DataFrame) -> DataFrame:
    """Append to a short string."""
    append = sf.pandas_udf(lambda text: text + "1", "string", PandasUDFType.SCALAR)
    return frame.select(append("text"))


def pandas_numpy(frame: DataFrame) -> DataFrame:
    """Compute with numpy for about a millisecond per batch, of pandas columns."""

    def sines(x: pd.Series) -> pd.Series:
        return pd.Series(_sines(x.to_numpy()))

    return frame.select(sf.pandas_udf(sines, "double", PandasUDFType.SCALAR)("x"))


def arrow_numpy(frame: DataFrame) -> DataFrame:
    """Compute with numpy for about a millisecond per batch, of Arrow columns."""

    @sf.arrow_udf("double")
    def sines(x: pa.Array) -> pa.Array:
        return pa.array(_sines(x.to_numpy()))

    return frame.select(sines("x"))


def _sines(values: np.ndarray[Any, np.dtype[np.float64]]) -> Any:
    for _ in range(10):
        values = np.sin(values)
    return values


def arrow_sum(frame: DataFrame) -> DataFrame:
    """Add ten longs."""

    @sf.arrow_udf("bigint")
    def total(*columns: pa.Array) -> pa.Array:
        result = columns[0]
        for column in columns[1:]:
            result = pc.add(result, column)
        return result

    return frame.select(total(*frame.columns))


def arrow_same(frame: DataFrame) -> DataFrame:
    """Return a column as it is."""

    @sf.arrow_udf("string")
    def same(text: pa.Array) -> pa.Array:
        return text

    return frame.select(same("text"))


def map_same(frame: DataFrame) -> DataFrame:
    """Return batches as they are."""
    return frame.mapInArrow(lambda batches: batches, frame.schema)


class Words:
    """Splits a line."""

    def eval(self, line: str) -> Iterator[Any]:
        """Yield the words."""
        for word in line.split():
            yield (word,)


def words(frame: DataFrame) -> DataFrame:
    """Split lines, row by row."""
    return _words(frame, use_arrow=False)


def words_with_arrow(frame: DataFrame) -> DataFrame:
    """Split lines that come in Arrow batches."""
    return _words(frame, use_arrow=True)


def _words(frame: DataFrame, use_arrow: bool) -> DataFrame:
    split = sf.udtf(Words, returnType="word string", useArrow=use_arrow)
    return frame.lateralJoin(split(sf.col("line").outer())).select("word")


def normalised(frame: DataFrame) -> DataFrame:
    """Subtract each group's mean."""

    def subtract_mean(group: pd.DataFrame) -> pd.DataFrame:
        return group.assign(x=group.x - group.x.mean())

    return frame.groupBy("k").applyInPandas(subtract_mean, "k bigint, x double")


def means(frame: DataFrame) -> DataFrame:
    """Return each group's mean."""
    mean = sf.pandas_udf(lambda x: x.mean(), "double", PandasUDFType.GROUPED_AGG)
    return frame.groupBy("k").agg(mean("x"))
