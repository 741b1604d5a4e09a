"""Records the rows and the schemas of queries, flat and nested."""

from __future__ import annotations

import tempfile
from pathlib import Path

import flink
import nested_queries
import recordings
import sql_queries


def answers_of(module, mode, directory, only):
    t_env = flink.environment(mode)
    for statement in module.tables(directory):
        t_env.execute_sql(statement)
    found = {}
    for name, query in module.QUERIES[mode].items():
        if only and name not in only:
            continue
        answer = sql_queries.outcome(t_env, query, flink.schema_of)
        if "error" in answer:
            answer = {"error": flink.cause(answer["error"])}
        found[name] = answer
        print(mode, name, str(answer)[:150], flush=True)
    return found


def write(module, only):
    recorded = recordings.known(module.__name__, {})
    with tempfile.TemporaryDirectory() as directory:
        for mode, queries in module.QUERIES.items():
            if only and not any(name in queries for name in only):
                continue
            kept = recorded.get(mode, {}) if only else {}
            answers = {**kept, **answers_of(module, mode, Path(directory), only)}
            recorded[mode] = {name: answers[name] for name in queries if name in answers}
    recordings.write(module.__name__, recorded)


def record(only):
    for module in (sql_queries, nested_queries):
        if not only or any(name in queries for queries in module.QUERIES.values() for name in only):
            write(module, only)
