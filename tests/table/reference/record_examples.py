"""Records what PyFlink's own example programs print."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyflink
import recordings
from example_programs import EXAMPLES, tables_in


def record(only):
    examples = Path(pyflink.__file__).parent / "examples" / "table"
    recorded = {}
    for name, (file, function, arguments) in EXAMPLES.items():
        program = (
            f"import runpy; runpy.run_path({str(examples / file)!r})[{function!r}](*{arguments!r})"
        )
        command = [sys.executable, "-c", program]
        result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        alone, tables = tables_in(result.stdout)
        recorded[name] = {"rows": alone, "tables": tables}
        print(name, len(alone), len(tables), flush=True)
    recordings.write("example_programs", recorded)
