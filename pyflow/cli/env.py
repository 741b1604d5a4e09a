"""``pyflow env``: environments of Python for the machines that functions run on."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pyflow.cli.environments.packing import PackingError, pack
from pyflow.session.requirements import RequirementsError

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from pyflow.cli.parsers import Parser

_MIB = 1 << 20


def add_to(commands: _SubParsersAction[Parser]) -> None:
    """Add the subcommand to the command line."""
    parser = commands.add_parser("env", help="make environments of Python for executors")
    packing = parser.add_subparsers(metavar="COMMAND", required=True).add_parser(
        "pack",
        help="pack a Python with packages into an archive",
        description="Copies a Python with its shared library, installs packages and PyFlow into "
        "the copy, starts it at another place, and writes an archive for executors of this "
        "platform: pyflow run -pyarch env.tar.gz#env -pyexec env/bin/python",
    )
    add = packing.add_argument
    add("requirements", nargs="?", metavar="FILE", type=Path, help="a requirements file")
    add(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        default=Path("env.tar.gz"),
        help="the archive (env.tar.gz)",
    )
    add(
        "--find-links",
        metavar="DIR",
        type=Path,
        help="a directory with packages; no others are used then",
    )
    add("--python", metavar="PATH", default=sys.executable, help="the Python to copy (this one)")
    packing.set_defaults(run=_pack)


def _pack(arguments: argparse.Namespace) -> int:
    archive = arguments.output.absolute()
    try:
        for each in filter(None, (arguments.requirements, arguments.find_links, archive.parent)):
            if not each.exists():
                raise PackingError(f"there is no file or directory {str(each)!r}")
        versions = pack(arguments.requirements, arguments.find_links, arguments.python, archive)
    except (PackingError, RequirementsError, OSError) as error:
        print(f"pyflow env pack: {error}", file=sys.stderr)
        return 1
    print(f"Packages: {', '.join(versions) or 'none'}", file=sys.stderr)
    print(f"{arguments.output} ({archive.stat().st_size / _MIB:.0f} MiB)")
    return 0
