"""Functions in both modes read a file of an archive: ``MASTER ARCHIVE TARGET``."""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

import pyflow
from pyflow.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflow.table.expressions import col
from pyflow.table.udf import udf

master, archive, target = sys.argv[1:]


@udf(result_type=DataTypes.STRING())
def first_line(_):
    with open(f"{target}/rows.csv") as file:
        return file.readline().strip()


def main() -> None:
    session = pyflow.configure(SparkSession.builder.master(master)).getOrCreate()
    for mode in ("thread", "process"):
        t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        t_env.get_config().set("python.execution-mode", mode)
        if mode == "thread":
            t_env.add_python_archive(archive, target)
        table = t_env.from_elements([(1,)], ["n"]).select(first_line(col("n")))
        with table.execute().collect() as found:
            print(f"{mode}:{next(found)[0]}")
    session.stop()


if __name__ == "__main__":
    main()
