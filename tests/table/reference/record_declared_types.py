"""Writes declared_types.json: ``python record_declared_types.py``, with PyFlink 2.3's Python."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from declared_types import answers  # noqa: E402


def main():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.get_config().set("parallelism.default", "1")
    t_env.get_config().set("table.local-time-zone", "UTC")
    for name in ("declared_types", "function_values"):
        t_env.add_python_file(str(HERE / f"{name}.py"))
    (HERE / "declared_types.json").write_text(
        json.dumps(answers(t_env, "pyflink"), indent=1, ensure_ascii=False) + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
