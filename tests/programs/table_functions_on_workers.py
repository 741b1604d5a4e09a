"""Functions of the Table API on executors that have only the jar, and on bare Python workers.

``local-cluster`` is given by the command. Workers are started by a Python that sees PySpark alone.
Prints what each mode answers.
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pyflow.common import Row
from pyflow.table import DataTypes
from pyflow.table.functions.settings import FunctionSettings
from pyflow.table.udf import ScalarFunction, udf


class Where(ScalarFunction):
    def open(self, function_context):
        import pyflow

        self.where = pyflow.__file__

    def eval(self, x):
        return Row(x + 1, self.where, "numpy" in sys.modules)


def main():
    spark = SparkSession.builder.getOrCreate()
    where = udf(Where(), result_type="ROW<x BIGINT, place STRING, numpy BOOLEAN>")
    frame = spark.range(0, 2, numPartitions=2)
    for mode in ("process", "thread"):
        spark.conf.set("spark.pyflow.execution-mode", mode)
        column = where.column([F.col("id")], [DataTypes.BIGINT()], FunctionSettings(spark), ["id"])
        rows = frame.select(column.alias("row")).select("row.*").collect()
        print(mode, sorted(row.x for row in rows), sorted({row.place for row in rows}))
    spark.stop()


if __name__ == "__main__":
    main()
