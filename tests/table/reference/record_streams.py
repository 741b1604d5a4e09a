"""Records the rows of queries by time over unbounded tables."""

from __future__ import annotations

import tempfile
from pathlib import Path

import flink
import recordings
from sql_queries import CLICKS, outcome
from sql_queries import SETUP as TABLES
from stream_queries import QUERIES, SETUP


def record(only):
    known = recordings.known("stream_queries", {})
    t_env = flink.environment("streaming")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "clicks.csv"
        path.write_text(CLICKS, encoding="utf-8")
        t_env.execute_sql(TABLES[-1].replace("{path}", str(path)))
        t_env.execute_sql(SETUP)
        for name in only or QUERIES:
            answer = outcome(t_env, QUERIES[name], lambda table: None)
            answer.pop("schema", None)
            if "error" in answer:
                answer = {"error": flink.cause(answer["error"])}
            known[name] = answer
            print(name, str(answer)[:300], flush=True)
    kept = {name: known[name] for name in QUERIES if name in known}
    recordings.write("stream_queries", kept)
