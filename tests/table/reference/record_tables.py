"""Writes table_programs.json: ``python record_tables.py``, with a Python that has PyFlink 2.3.

PyFlink prints from the JVM, to the standard output of the process: the programs run in a process
of their own, whose output is taken apart at marks. With names of programs it records these alone.
Takes half an hour.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
MARK = "@@@"


def run(mode):
    from pyflink.table import EnvironmentSettings, TableEnvironment
    from table_programs import PROGRAMS, names_of

    settings = getattr(EnvironmentSettings, f"in_{mode}_mode")()
    chosen = set(sys.argv[2:])
    for name, program in PROGRAMS.items():
        if chosen and name not in chosen:
            continue
        t_env = TableEnvironment.create(settings)
        t_env.get_config().set("parallelism.default", "1")
        t_env.get_config().set("table.local-time-zone", "UTC")
        print(f"{MARK} {name}", flush=True)
        try:
            table = program(names_of("pyflink", t_env))
            table.print_schema()
            table.execute().print()
        except Exception as error:
            text = str(error).splitlines()
            reasons = [line for line in text if "Exception: " in line]
            reason = reasons[-1] if reasons else f"{type(error).__name__}: {text[0]}"
            print(f"{MARK}error {reason}", flush=True)


def taken_apart(text):
    answers = {}
    for part in text.split(f"{MARK} ")[1:]:
        name, _, rest = part.partition("\n")
        output, _, error = rest.partition(f"{MARK}error ")
        answers[name] = {"error": error.strip()} if error else {"output": output}
    return answers


def main():
    path = HERE / "table_programs.json"
    recorded = json.loads(path.read_text()) if path.exists() else {}
    for mode in ("streaming", "batch"):
        command = [sys.executable, __file__, mode, *sys.argv[1:]]
        with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
            try:
                subprocess.run(command, stdout=output, check=True, cwd=HERE)
            finally:
                # What was recorded before an interruption stays.
                output.seek(0)
                recorded[mode] = {**recorded.get(mode, {}), **taken_apart(output.read())}
                text = json.dumps(recorded, indent=1, ensure_ascii=False)
                path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] in (["batch"], ["streaming"]):
        run(sys.argv[1])
    else:
        main()
