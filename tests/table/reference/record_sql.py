"""Writes sql_queries.json: ``python record_sql.py``, with a Python that has PyFlink 2.3."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment
from sql_queries import CLICKS, QUERIES, SETUP, outcome

HERE = Path(__file__).parent


def record(mode, path, only):
    settings = getattr(EnvironmentSettings, f"in_{mode}_mode")()
    t_env = TableEnvironment.create(settings)
    t_env.get_config().set("parallelism.default", "1")
    t_env.get_config().set("table.local-time-zone", "UTC")
    for statement in SETUP:
        t_env.execute_sql(statement.replace("{path}", path))
    found = {}
    for name, query in QUERIES[mode].items():
        if only and name not in only:
            continue
        answer = outcome(t_env, query, lambda table: str(table._j_table.getResolvedSchema()))
        if "error" in answer:
            lines = answer["error"].splitlines()
            causes = [line for line in lines if "Exception: " in line] or lines[:1]
            answer = {"error": causes[-1].strip()}
        found[name] = answer
        print(mode, name, str(answer)[:150], flush=True)
    return found


def main():
    file = HERE / "sql_queries.json"
    recorded = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "clicks.csv"
        path.write_text(CLICKS, encoding="utf-8")
        for mode in QUERIES:
            kept = recorded.get(mode, {}) if sys.argv[1:] else {}
            answers = {**kept, **record(mode, str(path), sys.argv[1:])}
            recorded[mode] = {name: answers[name] for name in QUERIES[mode] if name in answers}
    text = json.dumps(recorded, indent=1, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
