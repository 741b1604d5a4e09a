"""Writes catalog_programs.json: ``python record_catalogs.py`` with a Python that has PyFlink 2.3.

Takes a minute.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from catalog_programs import PROGRAMS, names_of, outcome
from pyflink.table import EnvironmentSettings, TableEnvironment

HERE = Path(__file__).parent


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


def main():
    # The functions are imported by a Python that Flink starts, which is the first on the path.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    found = {}
    for name, steps in PROGRAMS.items():
        t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        names = names_of("pyflink", t_env)
        found[name] = [{"step": step, **answer(step, names)} for step in steps]
        print(name, len(steps), flush=True)
    text = json.dumps(found, indent=1, ensure_ascii=False)
    (HERE / "catalog_programs.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
