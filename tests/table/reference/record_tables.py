"""Records what programs of the Table API print. Takes half an hour.

PyFlink prints from the JVM, to the standard output of the process: the programs run in a process
of their own, whose output is taken apart at marks.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile

import flink
import recordings
from table_programs import PROGRAMS, names_of

MARK = "@@@"


def run(mode, only, output):
    os.dup2(os.open(output, os.O_WRONLY | os.O_APPEND), 1)
    for name, program in PROGRAMS.items():
        if only and name not in only:
            continue
        t_env = flink.environment(mode)
        print(f"{MARK} {name}", flush=True)
        try:
            table = program(names_of("pyflink", t_env))
            table.print_schema()
            table.execute().print()
        except Exception as error:
            reason = flink.cause(error)
            if "Exception: " not in reason:
                reason = f"{type(error).__name__}: {reason}"
            print(f"{MARK}error {reason}", flush=True)


def taken_apart(text):
    answers = {}
    for part in text.split(f"{MARK} ")[1:]:
        name, _, rest = part.partition("\n")
        output, _, error = rest.partition(f"{MARK}error ")
        answers[name] = {"error": error.strip()} if error else {"output": output}
    return answers


def record(only):
    recorded = recordings.known("table_programs", {})
    spawn = multiprocessing.get_context("spawn")
    for mode in ("streaming", "batch"):
        with tempfile.NamedTemporaryFile("r", encoding="utf-8") as output:
            process = spawn.Process(target=run, args=(mode, only, output.name))
            process.start()
            process.join()
            # What was recorded before an interruption stays.
            recorded[mode] = {**recorded.get(mode, {}), **taken_apart(output.read())}
            recordings.write("table_programs", recorded)
        if process.exitcode:
            raise RuntimeError(f"the programs in {mode} mode ended with {process.exitcode}")
