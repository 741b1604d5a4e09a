"""``pyflow stack``: what the Python code of a program does now."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyflow.cli.submission.errors import SubmissionError
from pyflow.cli.submission.jobs import find, running_program, stacks

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from pyflow.cli.parsers import Parser


def add_to(commands: _SubParsersAction[Parser]) -> None:
    """Add the subcommand to the command line."""
    parser = commands.add_parser(
        "stack",
        help="show what the Python code of a program does now",
        description=(
            "Shows for each executor of a program that pyflow run has started the Python frames "
            "of its tasks, of the threads that functions have started, and of Python workers. It "
            "takes no GIL: functions in C that hold one are shown, too."
        ),
    )
    parser.add_argument(
        "id",
        nargs="?",
        help="of a program or of one of its jobs, as `pyflow list` shows it, or its beginning; the "
        "only program that runs without it",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(run=_stack)


def _stack(arguments: argparse.Namespace) -> int:
    try:
        program = find(arguments.id).program if arguments.id else running_program()
        executors = stacks(program)
    except SubmissionError as error:
        print(f"pyflow stack: {error}", file=sys.stderr)
        return 1
    if not executors:
        print("pyflow stack: the program has no executor", file=sys.stderr)
    if arguments.json:
        print(json.dumps(executors, indent=2))
    else:
        print("\n".join(line for executor in executors for line in _lines(executor)))
    return 0 if any("error" not in executor for executor in executors) else 1


def _lines(executor: dict[str, Any]) -> Iterator[str]:
    if "error" in executor:
        yield f"executor {executor['executor']} does not answer: {executor['error']}"
        return
    python = f"Python {executor['python']}" if executor["python"] else "no Python in its JVM"
    yield f"executor {executor['executor']} on {executor['host']}, {python}"
    for thread in executor["threads"]:
        yield f"  {_thread(thread)}"
        yield from _frames(thread)
    for worker in executor["workers"]:
        if "error" in worker:
            yield f"  worker process {worker['process']}: {worker['error']}"
        for thread in worker.get("threads", []):
            yield f"  worker process {worker['process']}, thread {thread['os_thread_id']}"
            yield from _frames(thread)


def _thread(thread: dict[str, Any]) -> str:
    parts = []
    if "task" in thread:
        parts.append(f"task {thread['task']}, {thread['functions']}")
    if "thread" not in thread:
        return f"{parts[0]}, waits for the GIL"
    number = thread["interpreter"]
    parts.append(f"isolated interpreter {number}" if number else "shared interpreter")
    parts.append(f"thread {thread['thread']}")
    if thread["holds_gil"]:
        parts.append("holds the GIL")
    return ", ".join(parts)


def _frames(thread: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each frame, the innermost first; py-spy has other names for their parts."""
    for frame in thread.get("frames", []):
        function = frame.get("function") or frame["name"]
        file = frame.get("file") or frame["filename"]
        yield f"    {function} ({file}:{frame['line']})"
