"""Writes stream_queries.json: ``python record_streams.py``, with a Python that has PyFlink 2.3."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment
from sql_queries import CLICKS, outcome
from sql_queries import SETUP as TABLES
from stream_queries import QUERIES, SETUP

HERE = Path(__file__).parent


def main():
    file = HERE / "stream_queries.json"
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.get_config().set("parallelism.default", "1")
    t_env.get_config().set("table.local-time-zone", "UTC")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "clicks.csv"
        path.write_text(CLICKS, encoding="utf-8")
        t_env.execute_sql(TABLES[-1].replace("{path}", str(path)))
        t_env.execute_sql(SETUP)
        for name in sys.argv[1:] or QUERIES:
            answer = outcome(t_env, QUERIES[name], lambda table: None)
            answer.pop("schema", None)
            if "error" in answer:
                lines = answer["error"].splitlines()
                causes = [line for line in lines if "Exception: " in line] or lines[:1]
                answer = {"error": causes[-1].strip()}
            known[name] = answer
            print(name, str(answer)[:300], flush=True)
    kept = {name: known[name] for name in QUERIES if name in known}
    file.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
