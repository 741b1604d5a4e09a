"""Writes nexmark.json: ``python record_nexmark.py``, with a Python that has PyFlink 2.3.

Of long results only the number of the rows and a hash of them are kept.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from nexmark import QUERIES, create, rows_of, summary
from pyflink.table import EnvironmentSettings, TableEnvironment

HERE = Path(__file__).parent


def main():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.get_config().set("parallelism.default", "1")
    t_env.get_config().set("table.local-time-zone", "UTC")
    with tempfile.TemporaryDirectory() as directory:
        create(t_env, Path(directory))
        answers = {name: summary(rows_of(t_env, query)) for name, query in QUERIES.items()}
    (HERE / "nexmark.json").write_text(json.dumps(answers, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
