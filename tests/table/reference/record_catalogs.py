"""Records what the programs of catalogs show. Takes a minute."""

from __future__ import annotations

import recordings
from catalog_programs import PROGRAMS, names_of, outcome
from pyflink.table import EnvironmentSettings, TableEnvironment


def reason(error):
    """What the innermost error says."""
    lines = str(error).splitlines() or [type(error).__name__]
    causes = [line for line in lines if "Exception: " in line or "Error: " in line]
    return causes[-1].partition(": ")[2] if causes else lines[0]


def answer(step, names):
    try:
        return outcome(step, names, lambda result: str(result._j_table_result.getResolvedSchema()))
    except Exception as error:
        text = reason(error)
        # What begins with the name of a class is an error of the JVM.
        return {"error": text.partition("Exception: ")[2] or text}


def record(only):
    found = {}
    for name, steps in PROGRAMS.items():
        t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        names = names_of("pyflink", t_env)
        found[name] = [{"step": step, **answer(step, names)} for step in steps]
        print(name, len(steps), flush=True)
    recordings.write("catalog_programs", found)
