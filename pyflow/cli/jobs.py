"""``pyflow list``, ``status``, ``cancel``, ``stop`` and ``logs``, of programs of ``pyflow run``."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pyflow.cli.submission import yarn
from pyflow.cli.submission.errors import SubmissionError
from pyflow.cli.submission.jobs import (
    Found,
    cancel,
    cancel_job,
    current,
    find,
    jobs_of,
    stop,
)
from pyflow.cli.submission.registry import Application, Registry

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from pyflow.cli.parsers import Parser

_ID = "of a program or of one of its jobs, as `pyflow list` shows it, or its beginning"


def add_to(commands: _SubParsersAction[Parser]) -> None:
    """Add the subcommands to the command line."""
    parser = _added(commands, "list", _list, "list the programs that pyflow run has started")
    parser.add_argument("-r", "--running", action="store_true", help="those that run (the default)")
    parser.add_argument("-a", "--all", action="store_true", help="those that have ended, too")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser = _added(commands, "status", _status, "tell how far a program and its jobs are")
    parser.add_argument("id", help=_ID)
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser = _added(commands, "cancel", _cancel, "end a program, or a job of one")
    parser.add_argument("id", help=_ID)
    parser = _added(commands, "stop", _stop, "end jobs over unbounded input so that they can go on")
    parser.description = (
        "Ends a job, or all jobs of a program, after a batch, and prints from where each can go "
        "on: a copy of its state for `pyflow run -s`, of data streams; the checkpoint that the "
        "program finds when it is started again, of tables and other queries."
    )
    parser.add_argument("id", help=_ID)
    parser.add_argument(
        "-p",
        "--savepointPath",
        metavar="DIR",
        help="where state is copied to; execution.checkpointing.savepoint-dir without it",
    )
    parser = _added(commands, "logs", _logs, "print what a program has printed")
    parser.add_argument("id", help=_ID)
    parser.add_argument("-f", "--follow", action="store_true", help="until it has ended")
    parser.add_argument("-n", "--lines", type=int, metavar="N", help="only the last N lines")


def _added(
    commands: _SubParsersAction[Parser],
    name: str,
    run: Callable[[argparse.Namespace], int],
    description: str,
) -> Parser:
    parser = commands.add_parser(name, help=description, description=f"{description}.".capitalize())

    def guarded(arguments: argparse.Namespace) -> int:
        try:
            return run(arguments)
        except SubmissionError as error:
            print(f"pyflow {name}: {error}", file=sys.stderr)
            return 1

    parser.set_defaults(run=guarded)
    return parser


def _list(arguments: argparse.Namespace) -> int:
    registry = Registry.of_user()
    for wrong in registry.unreadable():
        print(f"pyflow list: {wrong}", file=sys.stderr)
    described = [jobs_of(job) for job in registry.jobs() if arguments.all or job.is_running]
    if not arguments.all:
        # A cluster has told meanwhile which have ended.
        described = [each for each in described if each["ended"] is None]
    if arguments.json:
        print(json.dumps(described, indent=2))
    elif not described:
        print("no programs" if arguments.all else "no programs that run; -a lists those that ended")
    else:
        print("\n".join(_table(described)))
    return 0


def _table(described: list[dict[str, Any]]) -> Iterator[str]:
    width = max(len(each["target"]) for each in described)
    yield f"{'ID':<32}  {'STATE':<8}  {'SUBMITTED':<19}  {'TARGET':<{width}}  NAME"
    for each in described:
        yield (
            f"{each['id']}  {each['state']:<8}  {_time(each['submitted'])}  "
            f"{each['target']:<{width}}  {each['name']}"
        )
        for job in each["jobs"]:
            if job["state"] == "RUNNING":
                yield f"  {job['id']}  {job['state']}  {job['name']}"


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _status(arguments: argparse.Namespace) -> int:
    found = find(arguments.id)
    described = jobs_of(found.program)
    if found.job is not None:
        described["jobs"] = [each for each in described["jobs"] if each["id"] == found.job]
    if arguments.json:
        print(json.dumps(described, indent=2))
    else:
        print("\n".join(_lines(described)))
    return 0


def _lines(described: dict[str, Any]) -> Iterator[str]:
    for key in ("id", "name", "state", "target", "application", "ui", "exit_code", "reason"):
        if described.get(key) is not None:
            yield f"{key.replace('_', ' '):<12}{described[key]}"
    for key in ("submitted", "ended"):
        if described[key] is not None:
            yield f"{key:<12}{_time(described[key])}"
    for job in described["jobs"]:
        yield f"job         {job['id']}  {job['state']}  {job['name']}"
        for query in job["queries"]:
            if query["batch"] is not None:
                rows = query["rows_per_second"] or 0
                yield f"  batch {query['batch']}, {rows:.1f} rows per second"


def _cancel(arguments: argparse.Namespace) -> int:
    found = find(arguments.id)
    if found.job is None:
        cancel(found.program)
    else:
        cancel_job(found.program, found.job)
    print(f"Cancelled job {found.id}.")
    return 0


def _stop(arguments: argparse.Namespace) -> int:
    directory = arguments.savepointPath
    if directory is not None and "://" not in directory and not directory.startswith("file:"):
        directory = os.path.abspath(directory)
    found = find(arguments.id)
    for job, path in _stopped(found, directory):
        print(f"Stopped job {job}. It goes on from {path}")
    return 0


def _stopped(found: Found, directory: str | None) -> Iterator[tuple[str, str]]:
    jobs = [found.job] if found.job is not None else found.running()
    for job in jobs:
        for path in stop(found.program, job, directory):
            yield job, path


def _logs(arguments: argparse.Namespace) -> int:
    program = find(arguments.id).program
    with suppress(KeyboardInterrupt, BrokenPipeError), program.log.open("rb") as log:
        if arguments.lines is not None:
            lines = log.readlines()[-arguments.lines :] if arguments.lines > 0 else []
            sys.stdout.buffer.writelines(lines)
        while True:
            # What is written until its end is noted is read after that.
            runs = arguments.follow and current(program.read()).is_running
            while data := log.read(1 << 16):
                sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
            if not runs:
                break
            time.sleep(0.2)
        program = current(program.read())
        client = yarn.client_of(program)
        if client is not None and program.application is not None and not program.is_running:
            client.write_log(Application(**program.application))
    return 0
