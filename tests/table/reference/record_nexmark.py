"""Records the rows of Nexmark's queries.

Of long results only the number of the rows and a hash of them are kept.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import flink
import recordings
from nexmark import QUERIES, create, rows_of, summary


def record(only):
    t_env = flink.environment("batch")
    with tempfile.TemporaryDirectory() as directory:
        create(t_env, Path(directory))
        answers = {name: summary(rows_of(t_env, query)) for name, query in QUERIES.items()}
    recordings.write("nexmark", answers)
