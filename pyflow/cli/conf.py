"""``pyflow conf``: the settings that put PyFlow into every application of an installation."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from pyflow.session import builder as session

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from pyflow.cli.parsers import Parser


def add_to(commands: _SubParsersAction[Parser]) -> None:
    """Add the subcommand to the command line."""
    parser = commands.add_parser(
        "conf",
        help="print lines for spark-defaults.conf",
        description="Prints lines for spark-defaults.conf. They contain what that file already "
        "says for the same keys, so they can be appended to it: the last line of a key counts.",
    )
    parser.set_defaults(run=run)


def run(_arguments: argparse.Namespace) -> int:
    """Print the lines."""
    settings = session.settings(session.spark_defaults())
    width = max(map(len, settings))
    for key, value in settings.items():
        print(f"{key:<{width}}  {value}")
    return 0
