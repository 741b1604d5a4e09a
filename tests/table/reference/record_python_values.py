"""Writes python_values.json: ``python record_python_values.py``, with PyFlink 2.3's Python."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyflink.table as library
from pyflink.table import EnvironmentSettings, TableEnvironment

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from reference.python_values import ASKED, answers  # noqa: E402


def main():
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.get_config().set("parallelism.default", "1")
    recorded = {which: answers(which, environment, library) for which in ASKED}
    (HERE / "python_values.json").write_text(
        json.dumps(recorded, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
