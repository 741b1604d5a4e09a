"""Every kind of Python function over rows with the columns `k`, a group, and `n`, a number.

Each calls a function of its own with the numbers that it has been given; table functions call it
with none when they end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql.functions import PandasUDFType, arrow_udf, col, pandas_udf, udf, udtf
from pyspark.sql.pandas.functions import ArrowUDFType

Touch = Callable[[Iterable[int]], Any]


def pickled(rows: DataFrame, touch: Touch) -> DataFrame:
    def f(n):
        touch([n])
        return n + 1

    return rows.select("k", udf(f, "long", useArrow=False)("n"))


def arrow_optimised(rows: DataFrame, touch: Touch) -> DataFrame:
    def f(n):
        touch([n])
        return n + 1

    return rows.select("k", udf(f, "long", useArrow=True)("n"))


def table_function(rows: DataFrame, touch: Touch) -> DataFrame:
    class Doubled:
        def eval(self, n):
            touch([n])
            yield (n,)
            yield (-n,)

        def terminate(self):
            touch(())

    return rows.lateralJoin(udtf(Doubled, returnType="m long", useArrow=False)(col("n").outer()))


def table_function_over_batches(rows: DataFrame, touch: Touch) -> DataFrame:
    class Tripled:
        def eval(self, n):
            touch([n])
            yield from ((n,), (0,), (-n,))

        def terminate(self):
            touch(())

    return rows.lateralJoin(udtf(Tripled, returnType="m long", useArrow=True)(col("n").outer()))


def pandas_scalar(rows: DataFrame, touch: Touch) -> DataFrame:
    def f(n):
        touch(list(n))
        return n + 1

    return rows.select(pandas_udf(f, "long", PandasUDFType.SCALAR)("n"), "k")


def arrow_scalar(rows: DataFrame, touch: Touch) -> DataFrame:
    def f(n):
        touch(n.to_pylist())
        return n

    return rows.select(arrow_udf(f, "long", ArrowUDFType.SCALAR)("n"), "k")


def pandas_iterator(rows: DataFrame, touch: Touch) -> DataFrame:
    def f(series):
        for n in series:
            touch(list(n))
            yield n * 2

    return rows.select(pandas_udf(f, "long", PandasUDFType.SCALAR_ITER)("n"), "k")


def map_in_pandas(rows: DataFrame, touch: Touch) -> DataFrame:
    def f(tables):
        for table in tables:
            touch(list(table.n))
            yield table

    return rows.mapInPandas(f, rows.schema)


def map_in_arrow(rows: DataFrame, touch: Touch) -> DataFrame:
    def f(batches):
        for batch in batches:
            touch(batch["n"].to_pylist())
            yield batch

    return rows.mapInArrow(f, rows.schema)


def groups_in_pandas(rows: DataFrame, touch: Touch) -> DataFrame:
    def f(table):
        touch(list(table.n))
        return table

    return rows.groupBy("k").applyInPandas(f, rows.schema)


def groups_in_arrow(rows: DataFrame, touch: Touch) -> DataFrame:
    def f(table):
        touch(table["n"].to_pylist())
        return table

    return rows.groupBy("k").applyInArrow(f, rows.schema)


def cogroups(rows: DataFrame, touch: Touch) -> DataFrame:
    def f(one, other):
        touch(list(other.n))
        return one

    return rows.groupBy("k").cogroup(rows.groupBy("k")).applyInPandas(f, rows.schema)


def aggregate(rows: DataFrame, touch: Touch) -> DataFrame:
    def f(n):
        touch(list(n))
        return float(n.sum())

    return rows.groupBy("k").agg(pandas_udf(f, "double", PandasUDFType.GROUPED_AGG)("n"))


def window(rows: DataFrame, touch: Touch) -> DataFrame:
    def f(n):
        touch(list(n))
        return float(n.sum())

    total = pandas_udf(f, "double", PandasUDFType.GROUPED_AGG)("n")
    return rows.select("n", total.over(Window.partitionBy("k")))


KINDS: dict[str, Callable[[DataFrame, Touch], DataFrame]] = {
    kind.__name__: kind
    for kind in (
        pickled,
        arrow_optimised,
        table_function,
        table_function_over_batches,
        pandas_scalar,
        arrow_scalar,
        pandas_iterator,
        map_in_pandas,
        map_in_arrow,
        groups_in_pandas,
        groups_in_arrow,
        cogroups,
        aggregate,
        window,
    )
}
