"""Writes sql_conversions.json, with a Python that has PyFlink 2.3."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import sql_conversions
import sql_operands
from pyflink.table import EnvironmentSettings, TableEnvironment
from record_sql_operands import write


def main():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.get_config().set("parallelism.default", "1")
    t_env.get_config().set("table.local-time-zone", "UTC")
    recorded = {}
    begun = time.monotonic()

    def keep(name, found):
        recorded[name] = found
        print(name, len(found), f"{time.monotonic() - begun:.0f} s", flush=True)

    with tempfile.TemporaryDirectory() as directory:
        sql_operands.make_table(t_env, Path(directory))
        schema = lambda table: str(table._j_table.getResolvedSchema())  # noqa: E731
        for name in sql_conversions.QUERIES:
            keep(name, sql_conversions.of_queries(t_env, name, schema))
        for name in sql_conversions.QUERIES_OF_PARTS:
            pairs = sql_conversions.PAIRS_WITH_PARTS
            keep(name, sql_conversions.of_queries(t_env, name, schema, pairs))
        pairs = sql_conversions.PAIRS + sql_conversions.SHORTENED
        keep("INSERT", sql_conversions.of_insertions(t_env, pairs))
    write(Path(__file__).with_name("sql_conversions.json"), recorded)


if __name__ == "__main__":
    main()
