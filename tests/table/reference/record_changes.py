"""Writes change_queries.json: ``python record_changes.py``, with a Python that has PyFlink 2.3.

Many queries make one job, a union of theirs with the name of each in its rows: the changes of each
stay in their order. With names of queries it records these alone.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from change_queries import CHAINS, MOVES, SETUP, SIDES, in_texts
from pyflink.table import EnvironmentSettings, TableEnvironment

HERE = Path(__file__).parent
AT_ONCE = 20


def environment(path):
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.get_config().set("parallelism.default", "1")
    t_env.get_config().set("table.local-time-zone", "UTC")
    t_env.execute_sql(SETUP.replace("{path}", path))
    return t_env


def named(t_env, name, query):
    """The query of rows with their name."""
    table = t_env.sql_query(query)
    t_env.create_temporary_view(name, table)
    texts = in_texts(table.get_schema().get_field_names(), f"`{name}`")
    return texts.replace("SELECT ", f"SELECT '{name}' AS q, ", 1)


def record(t_env, queries):
    found = {name: [] for name in queries}
    union = " UNION ALL ".join(named(t_env, *entry) for entry in queries.items())
    with t_env.sql_query(union).execute().collect() as rows:
        for row in rows:
            found[row[0]].append(f"{row.get_row_kind()} {row[1]}")
    return found


def main():
    file = HERE / "change_queries.json"
    queries = {**CHAINS, **SIDES}
    chosen = [name for name in queries if name in sys.argv[1:] or not sys.argv[1:]]
    recorded = json.loads(file.read_text(encoding="utf-8")) if sys.argv[1:] else {}
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "moves.csv"
        path.write_text(MOVES, encoding="utf-8")
        t_env = environment(str(path))
        for first in range(0, len(chosen), AT_ONCE):
            some = {name: queries[name] for name in chosen[first : first + AT_ONCE]}
            recorded |= record(t_env, some)
            print(f"{first + len(some)} of {len(chosen)}", flush=True)
    kept = {name: recorded[name] for name in queries if name in recorded}
    file.write_text(json.dumps(kept, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
