"""``pyflow debug``: lets a debugger attach to the functions of a program."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from pyflow.cli.submission.errors import SubmissionError
from pyflow.cli.submission.jobs import debug, end_debugging, find, running_program

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from pyflow.cli.parsers import Parser

_LOOPBACK = "127.0.0.1"
_WAIT_SECONDS = 120.0


def add_to(commands: _SubParsersAction[Parser]) -> None:
    """Add the subcommand to the command line."""
    parser = commands.add_parser(
        "debug",
        help="let a debugger attach to the functions of a program",
        description=(
            "Starts debugpy in each executor of a program that pyflow run has started and prints "
            "where an editor can attach. Functions run in the shared interpreter from then on, "
            "until --end."
        ),
    )
    parser.add_argument(
        "id",
        nargs="?",
        help="of a program or of one of its jobs, as `pyflow list` shows it, or its beginning; the "
        "only program that runs without it",
    )
    parser.add_argument(
        "--function",
        metavar="NAME",
        help="stop in the next call of a function, by its name after `def`: tasks that begin wait "
        "until a debugger has attached",
    )
    parser.add_argument(
        "--wait",
        type=float,
        default=_WAIT_SECONDS,
        metavar="SECONDS",
        help=f"how long they wait ({_WAIT_SECONDS:g})",
    )
    parser.add_argument(
        "--host",
        default=_LOOPBACK,
        help=f"where executors listen ({_LOOPBACK}). Whoever reaches it can run any code there: "
        "rather forward a port of the executor's machine by ssh",
    )
    parser.add_argument("--port", type=int, default=0, help="(any that is free)")
    parser.add_argument("--end", action="store_true", help="run functions as before")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(run=_debug)


def _debug(arguments: argparse.Namespace) -> int:
    try:
        program = find(arguments.id).program if arguments.id else running_program()
        if arguments.end:
            executors = end_debugging(program)
        else:
            executors = debug(
                program, arguments.host, arguments.port, arguments.function, arguments.wait
            )
        if not executors:
            raise SubmissionError(f"program {program.id} had no executors yet")
    except SubmissionError as error:
        print(f"pyflow debug: {error}", file=sys.stderr)
        return 1
    if arguments.json:
        print(json.dumps(executors, indent=2))
    else:
        print("\n".join(_line(executor) for executor in executors))
    return int(all("error" in executor for executor in executors))


def _line(executor: dict[str, Any]) -> str:
    name = f"executor {executor['executor']}"
    if "error" in executor:
        return f"{name} cannot be debugged: {executor['error']}"
    name += f" on {executor['host']}, Python {executor['python']}"
    if "address" not in executor:
        return f"{name}: functions run as before"
    host, port = executor["address"]
    return f"{name}: attach to {host}:{port}"
