"""``pyflow rest``: a service that runs programs which are uploaded to it."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from pyflow.cli.flags import split_settings
from pyflow.cli.service.limits import Limits
from pyflow.cli.submission.errors import SubmissionError
from pyflow.cli.submission.registry import Registry

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from pyflow.cli.parsers import Parser

_DESCRIPTION = """\
Serves a REST interface, with Flink's paths where it has them: programs are uploaded, run, watched
and ended. All requests have a token: that of PYFLOW_REST_TOKEN, of --token-file, or one that is
made and written into the service's directory. Jobs go on when the service ends.
"""
_LIMITS = {
    "upload": "bytes of an artifact",
    "store": "bytes of all artifacts",
    "artifacts": "artifacts",
    "unpacked": "how many times its size an archive may have when it is unpacked",
    "running": "jobs that run at a time",
    "ended": "jobs that have ended and are remembered",
    "clients": "connections at a time",
}


def add_to(commands: _SubParsersAction[Parser]) -> None:
    """Add the subcommand to the command line."""
    parser = commands.add_parser(
        "rest", help="serve programs' uploads and runs by REST", description=_DESCRIPTION
    )
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="to listen at; 127.0.0.1 without it")
    add("--port", type=int, default=8081, help="0 for any that is free; 8081 without it")
    add("--directory", type=Path, metavar="DIR", help="where the service keeps what it has")
    add("--token-file", type=Path, metavar="FILE", help="the file with the token")
    add("--certificate", metavar="FILE", help="for TLS, with its chain, in PEM")
    add("--key", metavar="FILE", help="that of the certificate, in PEM")
    add("-t", "--target", help="where programs run unless they say otherwise, as in pyflow run")
    add(
        "-D",
        dest="settings",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting that programs have unless they say otherwise; repeatable",
    )
    for each in fields(Limits):
        text = f"{_LIMITS[each.name]}; {each.default} without it"
        add(f"--max-{each.name}", type=_positive, default=each.default, metavar="N", help=text)
    parser.set_defaults(run=run)


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError(f"{text} is not positive")
    return value


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal comes; the exit code is 2 where that cannot begin."""
    try:
        from pyflow.cli.service.server import Server
    except ModuleNotFoundError as error:
        print(
            f"pyflow rest: there is no module {error.name}: pip install 'pyflow[rest]'",
            file=sys.stderr,
        )
        return 2
    given = vars(arguments)
    limits = Limits(**{each.name: given[f"max_{each.name}"] for each in fields(Limits)})
    directory = arguments.directory or Registry.of_user().rest
    try:
        own, of_spark = split_settings(arguments.settings)
        server = Server(directory, limits, arguments.target, {**own, **of_spark})
        server.serve(
            (arguments.host, arguments.port),
            arguments.token_file,
            arguments.certificate,
            arguments.key,
        )
    except (SubmissionError, OSError) as error:
        print(f"pyflow rest: {error}", file=sys.stderr)
        return 2
    return 0
