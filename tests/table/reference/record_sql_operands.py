"""Writes sql_operands.json, with a Python that has PyFlink 2.3.

``python record_sql_operands.py FORM...`` records a few forms: what Flink compiles for each query
stays in memory, so that one process does not last for all of them.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import sql_operands
from pyflink.table import EnvironmentSettings, TableEnvironment


def main():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.get_config().set("parallelism.default", "1")
    t_env.get_config().set("table.local-time-zone", "UTC")
    file = Path(__file__).with_name("sql_operands.json")
    recorded = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    with tempfile.TemporaryDirectory() as directory:
        sql_operands.make_table(t_env, Path(directory))
        for name, expressions in sql_operands.cases().items():
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            begun = time.monotonic()
            recorded[name] = sql_operands.outcomes(
                t_env, expressions, lambda table: str(table._j_table.getResolvedSchema())
            )
            taken = sum(each is not None for each in recorded[name].values())
            seconds = round(time.monotonic() - begun)
            print(name, taken, "of", len(expressions), f"{seconds} s", flush=True)
            write(file, {name: recorded[name] for name in sql_operands.cases() if name in recorded})


def write(file, recorded):
    forms = [
        f"{json.dumps(name)}: {{\n"
        + ",\n".join(f"{json.dumps(case)}: {json.dumps(found)}" for case, found in each.items())
        + "}"
        for name, each in recorded.items()
    ]
    file.write_text("{\n" + ",\n".join(forms) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
