"""Counts words with the Table API, in the way of PyFlink.

Run it with a file of text, or without one for a few lines of its own:

    python examples/word_count_table.py [FILE]

Each word is printed when it comes, and again whenever its count changes: `-U` retracts the count
that was printed, `+U` is the new one.
"""

from __future__ import annotations

import sys

from pyflow.table import (
    DataTypes,
    EnvironmentSettings,
    Schema,
    Table,
    TableDescriptor,
    TableEnvironment,
)
from pyflow.table.expressions import col, lit
from pyflow.table.udf import udtf

LINES = [
    "a row comes in and a row goes out",
    "a window opens and a window closes",
]


@udtf(result_types=[DataTypes.STRING()])
def words(line: str):
    for word in line.split():
        yield word.strip(".,;:!?").lower()


def lines_of(t_env: TableEnvironment, file: str | None) -> Table:
    if file is None:
        return t_env.from_elements([(line,) for line in LINES], ["line"])
    source = (
        TableDescriptor.for_connector("filesystem")
        .schema(Schema.new_builder().column("line", DataTypes.STRING()).build())
        .option("path", file)
        .option("csv.field-delimiter", "\\u0001")
        .format("csv")
        .build()
    )
    return t_env.from_descriptor(source)


def count_words(file: str | None = None) -> None:
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.get_config().set("parallelism.default", "1")
    schema = Schema.new_builder().column("word", DataTypes.STRING()).column("count", "BIGINT")
    t_env.create_temporary_table(
        "counts", TableDescriptor.for_connector("print").schema(schema.build()).build()
    )
    (
        lines_of(t_env, file)
        .flat_map(words(col("line")))
        .alias("word")
        .group_by(col("word"))
        .select(col("word"), lit(1).count)
        .execute_insert("counts")
        .wait()
    )


if __name__ == "__main__":
    count_words(sys.argv[1] if len(sys.argv) > 1 else None)
