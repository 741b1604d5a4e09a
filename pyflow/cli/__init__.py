"""The command ``pyflow``: one module per subcommand."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyflow
from pyflow.cli import (
    archive,
    conf,
    debug,
    doctor,
    env,
    jobs,
    profile,
    rest,
    run,
    shell,
    sql,
    stack,
)
from pyflow.cli.parsers import Parser
from pyflow.session import builder as session


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Command line without the program's name; that of the process if left out.
    """
    parser = Parser(
        prog="pyflow", description="PySpark's Python functions inside the executor JVM."
    )
    parser.add_argument("--version", action="version", version=f"pyflow {pyflow.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    archive.add_to(commands)
    conf.add_to(commands)
    debug.add_to(commands)
    doctor.add_to(commands)
    env.add_to(commands)
    rest.add_to(commands)
    run.add_to(commands)
    jobs.add_to(commands)
    profile.add_to(commands)
    shell.add_to(commands)
    sql.add_to(commands)
    stack.add_to(commands)
    chosen = parser.parse_args(arguments)
    try:
        with _ended_by_signals():
            return int(chosen.run(chosen))
    except session.JarNotFoundError as error:
        print(f"pyflow: {error}", file=sys.stderr)
        return 1


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Have SIGTERM and SIGHUP end the command by an exception, so that it leaves nothing behind."""
    received = []

    def leave(number: int, _frame: object) -> None:
        received.append(number)
        sys.exit(128 + number)

    changed = [
        number
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is signal.SIG_DFL
    ]
    for number in changed:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)
        if received:
            # Who has sent it sees that it was heard.
            signal.raise_signal(received[0])
