"""Records what PyFlink's own example programs of data streams print."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyflink
import recordings
from stream_examples import EXAMPLES, lines_of

#: The programs write what is logged to their outputs.
PROGRAM = """
import logging, runpy
logging.basicConfig = lambda **_: None
runpy.run_path({file!r}, run_name="__main__")
"""


def record(only: list[str]) -> None:
    examples = Path(pyflink.__file__).parent / "examples" / "datastream"
    recorded = recordings.known("datastream/examples", {})
    for name, file in EXAMPLES.items():
        if only and name not in only:
            continue
        command = [sys.executable, "-c", PROGRAM.format(file=str(examples / file))]
        result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        recorded[name] = lines_of(result.stdout)
        print(name, len(recorded[name]), flush=True)
        recordings.write("datastream/examples", recorded)
