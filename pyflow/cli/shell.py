"""``pyflow shell``: Python with a session of Spark, table environments and SQL."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyflow.cli.flags import add_settings, program_of_flags
from pyflow.cli.submission import command
from pyflow.cli.submission.errors import SubmissionError
from pyflow.cli.submission.registry import Registry
from pyflow.cli.submission.targets import Target
from pyflow.session.given import PREFIX

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from pyflow.cli.parsers import Parser

_DESCRIPTION = """\
Starts Python in this terminal, IPython where it is installed, with `spark` (a session of Spark),
`st_env` (tables) and `s_env` (data streams). A line `%sql ...` and the lines after `%%sql` are SQL.
"""
_EPILOG = """\
  pyflow shell                            this machine
  pyflow shell -t spark://host:7077       a cluster, with the driver here
  pyflow shell remote sc://host:15002     a server of Spark Connect
"""


def add_to(commands: _SubParsersAction[Parser]) -> None:
    """Add the subcommand to the command line."""
    parser = commands.add_parser(
        "shell",
        help="start Python with a session, tables, data streams and SQL",
        usage="pyflow shell [local | remote URL] FLAGS [-- SPARK-SUBMIT OPTIONS]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("where", nargs="*", default=[], metavar="local | remote URL")
    add_settings(parser, without=("-s",))
    parser.add_argument(
        "--plain", action="store_true", help="Python's own console, also where IPython is installed"
    )
    parser.takes_spark_options = True
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the shell in place of this process; the exit code is 2 where it cannot be started."""
    plain = ["--plain"] if arguments.plain else []
    return start("shell", plain, arguments)


def start(name: str, options: Sequence[str], arguments: argparse.Namespace) -> int:
    """Run a program that talks with this terminal, in place of this process.

    Parameters
    ----------
    name : str
        ``shell`` or ``sql``.
    options : sequence of str
        Of the program.
    arguments : Namespace
        With the flags of settings, and ``where``: nothing, ``local``, or ``remote`` and a URL.
    """
    registry = Registry.of_user()
    try:
        python, variables = _prepared(arguments, registry)
        kept = ["--history", str(registry.history / name)]
        words = ["-m", "pyflow.cli.interactive", name, *kept, *options]
        sys.stdout.flush()
        os.execvpe(python, [python, *words], variables)
    except (SubmissionError, OSError) as error:
        print(f"pyflow {name}: {error}", file=sys.stderr)
        return 2


def _prepared(arguments: argparse.Namespace, registry: Registry) -> tuple[str, dict[str, str]]:
    """Return the Python to run, and its variables."""
    program = program_of_flags(arguments)
    where = arguments.where
    if where[:1] == ["remote"] and len(where) == 2:
        if program.target is not None:
            raise SubmissionError("`remote URL` and -t exclude each other")
        if arguments.spark:
            raise SubmissionError("`remote URL` starts no JVM, which `--` has options for")
        return _of_connect(where[1], program.settings, program.spark.settings)
    if where not in ([], ["local"]):
        raise SubmissionError(f"{' '.join(where)!r} is neither `local` nor `remote URL`")
    if where and program.target is None and "spark.master" not in program.spark.settings:
        program.target = Target.named("local")
    has_terminal = str(sys.stderr.isatty()).lower()
    program.spark.settings.setdefault("spark.ui.showConsoleProgress", has_terminal)
    composed = command.compose(program, registry.folders)
    if not composed.target.is_driven_here:
        raise SubmissionError("the driver has to be here, where the terminal is: not in a cluster")
    return composed.of_terminal()


def _of_connect(
    url: str, settings: dict[str, str], of_spark: dict[str, str]
) -> tuple[str, dict[str, str]]:
    if not url.startswith("sc://"):
        raise SubmissionError(f"{url!r} is no address of Spark Connect: sc://HOST[:PORT]")
    given = {**{f"{PREFIX}{key}": value for key, value in settings.items()}, **of_spark}
    words = [word for key, value in given.items() for word in ("--conf", f"{key}={value}")]
    submit = shlex.join([*words, "pyspark-shell"])
    python = settings.get("python.client.executable") or sys.executable
    return python, {**os.environ, "SPARK_REMOTE": url, "PYSPARK_SUBMIT_ARGS": submit}
