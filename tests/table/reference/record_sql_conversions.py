"""Writes sql_conversions.json, with a Python that has PyFlink 2.3."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

import sql_conversions
import sql_operands
from pyflink.table import EnvironmentSettings, TableEnvironment


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
        for name in sql_conversions.QUERIES:
            schema = lambda table: str(table._j_table.getResolvedSchema())  # noqa: E731
            keep(name, sql_conversions.of_queries(t_env, name, schema))
        pairs = sql_conversions.PAIRS + sql_conversions.SHORTENED
        keep("INSERT", sql_conversions.of_insertions(t_env, pairs))
    forms = [
        f"{json.dumps(name)}: {{\n"
        + ",\n".join(f"{json.dumps(case)}: {json.dumps(found)}" for case, found in each.items())
        + "}"
        for name, each in recorded.items()
    ]
    text = "{\n" + ",\n".join(forms) + "\n}\n"
    Path(__file__).with_name("sql_conversions.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
