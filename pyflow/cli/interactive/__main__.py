"""The program that ``pyflow shell`` and ``pyflow sql`` start, in the Python of programs."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from pathlib import Path

from pyflow.cli.interactive import console
from pyflow.cli.interactive.client import SqlClient


def main() -> int:
    """Run the shell or the client, and return the exit code."""
    parser = argparse.ArgumentParser(prog="pyflow")
    parser.add_argument("program", choices=("shell", "sql"))
    parser.add_argument("--history", required=True)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--init", action="append", default=[])
    parser.add_argument("--file")
    arguments = parser.parse_args()
    return _shell(arguments) if arguments.program == "shell" else _sql(arguments)


def _shell(arguments: argparse.Namespace) -> int:
    bound = console.names()
    spark = bound["spark"]
    try:
        if arguments.plain or importlib.util.find_spec("IPython") is None:
            console.interact(bound, arguments.history)
        else:
            from pyflow.cli.interactive import ipython

            ipython.interact(bound)
    finally:
        spark.stop()
    return 0


def _sql(arguments: argparse.Namespace) -> int:
    bound = console.names()
    try:
        for init in arguments.init:
            code = SqlClient(bound["st_env"]).run_script(Path(init).read_text("utf-8"), False)
            if code:
                return code
        client = SqlClient(bound["st_env"])
        if arguments.file is not None:
            return client.run_script(Path(arguments.file).read_text("utf-8"), True)
        if not sys.stdin.isatty():
            return client.run_script(sys.stdin.read(), True)
        return client.interact(arguments.history)
    finally:
        bound["spark"].stop()


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # Threads of queries that were ended may still wait for their JVM.
    os._exit(code)
