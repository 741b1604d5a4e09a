"""Records the types in which columns of two queries, and of a query and a table, meet."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import flink
import sql_conversions
import sql_operands
from record_sql_operands import write


def record(only):
    t_env = flink.environment("batch")
    recorded = {}
    begun = time.monotonic()

    def keep(name, found):
        recorded[name] = found
        print(name, len(found), f"{time.monotonic() - begun:.0f} s", flush=True)

    with tempfile.TemporaryDirectory() as directory:
        sql_operands.make_table(t_env, Path(directory))
        for name in sql_conversions.QUERIES:
            keep(name, sql_conversions.of_queries(t_env, name, flink.schema_of))
        for name in sql_conversions.QUERIES_OF_PARTS:
            pairs = sql_conversions.PAIRS_WITH_PARTS
            keep(name, sql_conversions.of_queries(t_env, name, flink.schema_of, pairs))
        pairs = sql_conversions.PAIRS + sql_conversions.SHORTENED
        keep("INSERT", sql_conversions.of_insertions(t_env, pairs))
    write("sql_conversions", recorded)
