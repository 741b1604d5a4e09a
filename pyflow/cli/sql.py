"""``pyflow sql``: the SQL client, by the flags of Flink's."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pyflow.cli.flags import add_settings
from pyflow.cli.parsers import RefusedFlag
from pyflow.cli.shell import start
from pyflow.cli.submission.errors import SubmissionError

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from pyflow.cli.parsers import Parser

_DESCRIPTION = """\
Runs statements of SQL: those that are typed, those of a file (-f), or those of standard input. A
script ends at the first statement that fails, with exit code 1; its insertions are waited for.
"""

_ELSEWHERE = {
    ("-e", "--endpoint"): "there is no gateway: the client runs SQL itself, or a server of Spark "
    "Connect does (`pyflow sql remote sc://HOST:PORT`)",
    ("-s", "--session"): "there is no gateway that keeps sessions",
}


def add_to(commands: _SubParsersAction[Parser]) -> None:
    """Add the subcommand to the command line."""
    parser = commands.add_parser(
        "sql",
        help="run SQL: typed, or of a file",
        usage="pyflow sql [local | remote URL] [-i FILE] [-f FILE] FLAGS [-- SPARK-SUBMIT OPTIONS]",
        description=_DESCRIPTION,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("where", nargs="*", default=[], metavar="local | remote URL")
    add(
        "-i",
        "--init",
        action="append",
        default=[],
        metavar="FILE",
        help="statements that are run first: settings, tables, functions; repeatable",
    )
    add("-f", "--file", metavar="FILE", help="run the statements of a file, and end")
    add(
        "-l",
        "--library",
        action="append",
        default=[],
        metavar="DIR",
        help="a directory whose jars driver and executors get; repeatable",
    )
    for names, reason in _ELSEWHERE.items():
        add(*names, action=RefusedFlag, const=reason, help=argparse.SUPPRESS)
    add("-hist", "--history", metavar="FILE", help="where typed statements are kept")
    add_settings(parser, without=("-s",))
    parser.takes_spark_options = True
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the client in place of this process; the exit code is 2 where it cannot be started."""
    try:
        jars = [str(jar) for each in arguments.library for jar in _jars(Path(each))]
        files = [*arguments.init, *([] if arguments.file is None else [arguments.file])]
        for each in files:
            if not os.access(each, os.R_OK):
                raise SubmissionError(f"there is no file {each!r} that can be read")
    except SubmissionError as error:
        print(f"pyflow sql: {error}", file=sys.stderr)
        return 2
    if jars:
        setattr(arguments, "pipeline.jars", [*(getattr(arguments, "pipeline.jars") or []), *jars])
    options = [word for each in arguments.init for word in ("--init", each)]
    if arguments.file is not None:
        options += ["--file", arguments.file]
    if arguments.history is not None:
        options += ["--history", arguments.history]
    return start("sql", options, arguments)


def _jars(directory: Path) -> list[Path]:
    if not directory.is_dir():
        raise SubmissionError(f"-l: {str(directory)!r} is no directory")
    return sorted(directory.glob("*.jar"))
