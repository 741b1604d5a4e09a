"""Records which values declared types take."""

from __future__ import annotations

from pathlib import Path

import recordings
from declared_types import answers
from flink import environment

HERE = Path(__file__).parent


def record(only):
    t_env = environment("batch")
    for name in ("declared_types", "function_values"):
        t_env.add_python_file(str(HERE / f"{name}.py"))
    recordings.write("declared_types", answers(t_env, "pyflink"))
