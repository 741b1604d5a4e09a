"""Records which operands SQL's operators and functions take, form by form.

What Flink compiles for each query stays in memory, so that a process records some forms only.
"""

from __future__ import annotations

import functools
import json
import multiprocessing
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import flink
import recordings
import sql_operands

FORMS_OF_A_PROCESS = 8


@functools.cache
def environment():
    t_env = flink.environment("batch")
    folder = tempfile.TemporaryDirectory()
    sql_operands.make_table(t_env, Path(folder.name))
    return t_env, folder


def outcomes(name):
    t_env, _ = environment()
    return sql_operands.outcomes(t_env, sql_operands.cases()[name], flink.schema_of)


def record(only):
    recorded = recordings.known("sql_operands", {})
    with ProcessPoolExecutor(
        1, multiprocessing.get_context("spawn"), max_tasks_per_child=FORMS_OF_A_PROCESS
    ) as processes:
        for name, expressions in sql_operands.cases().items():
            if only and name not in only:
                continue
            begun = time.monotonic()
            recorded[name] = processes.submit(outcomes, name).result()
            taken = sum(each is not None for each in recorded[name].values())
            seconds = round(time.monotonic() - begun)
            print(name, taken, "of", len(expressions), f"{seconds} s", flush=True)
            kept = {name: recorded[name] for name in sql_operands.cases() if name in recorded}
            write("sql_operands", kept)


def write(recording, recorded):
    """Write forms, whose cases have a line each."""
    forms = [
        f"{json.dumps(name)}: {{\n"
        + ",\n".join(f"{json.dumps(case)}: {json.dumps(found)}" for case, found in each.items())
        + "}"
        for name, each in recorded.items()
    ]
    recordings.write_text(recording, "{\n" + ",\n".join(forms) + "\n}")
