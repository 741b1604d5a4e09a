"""Records the changes that queries of unbounded tables emit.

Many queries make one job, a union of theirs with the name of each in its rows: the changes of each
stay in their order. With names of queries it records these alone.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import flink
import recordings
from change_queries import CHAINS, MOVES, SETUP, SIDES, in_texts

AT_ONCE = 20


def environment(path):
    t_env = flink.environment("streaming")
    t_env.execute_sql(SETUP.replace("{path}", path))
    return t_env


def named(t_env, name, query):
    """The query of rows with their name."""
    table = t_env.sql_query(query)
    t_env.create_temporary_view(name, table)
    texts = in_texts(table.get_schema().get_field_names(), f"`{name}`")
    return texts.replace("SELECT ", f"SELECT '{name}' AS q, ", 1)


def changes_of(t_env, queries):
    found = {name: [] for name in queries}
    union = " UNION ALL ".join(named(t_env, *entry) for entry in queries.items())
    with t_env.sql_query(union).execute().collect() as rows:
        for row in rows:
            found[row[0]].append(f"{row.get_row_kind()} {row[1]}")
    return found


def record(only):
    queries = {**CHAINS, **SIDES}
    chosen = [name for name in queries if name in only or not only]
    recorded = recordings.known("change_queries", {}) if only else {}
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "moves.csv"
        path.write_text(MOVES, encoding="utf-8")
        t_env = environment(str(path))
        for first in range(0, len(chosen), AT_ONCE):
            some = {name: queries[name] for name in chosen[first : first + AT_ONCE]}
            recorded |= changes_of(t_env, some)
            print(f"{first + len(some)} of {len(chosen)}", flush=True)
    kept = {name: recorded[name] for name in queries if name in recorded}
    recordings.write("change_queries", kept, indent=0)
