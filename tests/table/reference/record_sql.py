"""Writes sql_queries.json and nested_queries.json, with a Python that has PyFlink 2.3.

``python record_sql.py`` records all queries, ``python record_sql.py NAME...`` those of these names.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import nested_queries
import sql_queries
from pyflink.table import EnvironmentSettings, TableEnvironment

HERE = Path(__file__).parent


def record(module, mode, directory, only):
    settings = getattr(EnvironmentSettings, f"in_{mode}_mode")()
    t_env = TableEnvironment.create(settings)
    t_env.get_config().set("parallelism.default", "1")
    t_env.get_config().set("table.local-time-zone", "UTC")
    for statement in module.tables(directory):
        t_env.execute_sql(statement)
    found = {}
    for name, query in module.QUERIES[mode].items():
        if only and name not in only:
            continue
        answer = sql_queries.outcome(
            t_env, query, lambda table: str(table._j_table.getResolvedSchema())
        )
        if "error" in answer:
            lines = answer["error"].splitlines()
            causes = [line for line in lines if "Exception: " in line] or lines[:1]
            answer = {"error": causes[-1].strip()}
        found[name] = answer
        print(mode, name, str(answer)[:150], flush=True)
    return found


def write(module, only):
    file = HERE / f"{module.__name__}.json"
    recorded = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    with tempfile.TemporaryDirectory() as directory:
        for mode, queries in module.QUERIES.items():
            if only and not any(name in queries for name in only):
                continue
            kept = recorded.get(mode, {}) if only else {}
            answers = {**kept, **record(module, mode, Path(directory), only)}
            recorded[mode] = {name: answers[name] for name in queries if name in answers}
    text = json.dumps(recorded, indent=1, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")


def main():
    for module in (sql_queries, nested_queries):
        if not sys.argv[1:] or any(
            name in queries for queries in module.QUERIES.values() for name in sys.argv[1:]
        ):
            write(module, sys.argv[1:])


if __name__ == "__main__":
    main()
