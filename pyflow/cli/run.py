"""``pyflow run``: starts a program with spark-submit, by the flags of ``flink run``."""

from __future__ import annotations

import argparse
import sys
import uuid
from typing import TYPE_CHECKING

from pyflow.cli.flags import add_settings, program_of_flags
from pyflow.cli.parsers import Parser, RefusedFlag
from pyflow.cli.submission import command
from pyflow.cli.submission.command import Program
from pyflow.cli.submission.errors import SubmissionError
from pyflow.cli.submission.registry import Registry
from pyflow.cli.submission.supervision import run_attached, run_detached

if TYPE_CHECKING:
    from argparse import _SubParsersAction

_DESCRIPTION = """\
Starts a Python program with spark-submit and PyFlow's plugin, on this machine or a cluster.
Settings hold in this order: the program's own, flags and -D, spark-defaults.conf (there with the
prefix spark.pyflow.conf.), environment variables. Functions run in thread mode, unless a setting
says otherwise.
"""
_EPILOG = """\
Flags stand before the program's arguments, options of spark-submit behind `--`:

  pyflow run -t local[4] -pyfs lib -py app.py --input /data -- --driver-memory 4g
  pyflow run -t spark://host:7077 -pym jobs.clicks -pyfs jobs.zip -D python.execution-mode=process
  pyflow run -d -s /savepoints/savepoint-5f2a -py app.py
"""

# Flags of `flink run` that mean nothing here.
_ELSEWHERE = {
    ("-a", "--arguments"): "the program's arguments stand at the end, without a flag",
    ("-c", "--class"): "programs are Python's: use -py or -pym",
    ("-cm", "--claimMode"): "a savepoint is copied and stays as it is",
    ("-e", "--executor"): "use -t",
    ("-m", "--jobmanager"): "use -t spark://HOST:PORT",
    ("-rm", "--restoreMode"): "a savepoint is copied and stays as it is",
    ("-sae", "--shutdownOnAttachedExit"): "a program ends with Ctrl-C and SIGTERM of this command",
    ("-z", "--zookeeperNamespace"): "set spark.deploy.zookeeper.dir in the master's configuration",
}


def add_to(commands: _SubParsersAction[Parser]) -> None:
    """Add the subcommand to the command line."""
    parser = commands.add_parser(
        "run",
        help="start a Python program with spark-submit",
        usage="pyflow run FLAGS [ARGUMENTS] [-- SPARK-SUBMIT OPTIONS]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.takes_spark_options = parser.runs_program = True
    add = parser.add_argument
    add("-py", "--python", metavar="FILE", help="the program")
    add("-pym", "--pyModule", metavar="MODULE", help="the program as a module; needs -pyfs")
    add_settings(parser)
    add(
        "-n",
        "--allowNonRestoredState",
        action="store_true",
        help="skip state of the savepoint that no operator of the program has",
    )
    add(
        "-pyenv",
        "--pyEnvironment",
        choices=("process", "docker"),
        help="what executors run in: processes of their machines, or an image (-pydocker)",
    )
    add("-pydocker", "--pyDockerImage", metavar="IMAGE", help="the image of -pyenv docker")
    add(
        "-d",
        "--detached",
        action="store_true",
        help="return when the program is started; `pyflow logs` has what it prints",
    )
    add("--dry-run", action="store_true", help="print the command of spark-submit, and end")
    for names, reason in _ELSEWHERE.items():
        add(*names, action=RefusedFlag, const=reason, help=argparse.SUPPRESS)
    parser.set_defaults(run=run, parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the program; the exit code is the program's, and 2 where it cannot be started."""
    registry = Registry.of_user()
    identifier = None if arguments.dry_run else uuid.uuid4().hex
    try:
        program = program_of(arguments)
        composed = command.compose(program, registry.folders, identifier)
        if identifier is None:
            print(composed)
            return 0
        target = composed.target.master or "local[*]"
        job = registry.create(program.name, composed.words, target, identifier, composed.cluster())
    except (SubmissionError, OSError) as error:
        print(f"pyflow run: {error}", file=sys.stderr)
        return 2
    # What an attached program prints is the program's alone.
    told = sys.stdout if arguments.detached else sys.stderr
    print(f"Job has been submitted with JobID {job.id}", file=told, flush=True)
    start = run_detached if arguments.detached else run_attached
    return start(job, composed.environment())


def program_of(arguments: argparse.Namespace) -> Program:
    """Return what is to be run.

    Raises
    ------
    SubmissionError
        If the flags do not fit together.
    """
    file, module = arguments.python, arguments.pyModule
    if file is None and module is None:
        raise SubmissionError("there is no program: give it with -py FILE or -pym MODULE")
    if file is not None and module is not None:
        raise SubmissionError("-py and -pym exclude each other")
    program = program_of_flags(arguments)
    if module is not None and not program.settings.get("python.files"):
        raise SubmissionError("-pym needs -pyfs, which has the module")
    if (arguments.pyEnvironment == "docker") != (arguments.pyDockerImage is not None):
        raise SubmissionError("-pyenv docker and -pydocker IMAGE go together")
    program.file, program.module, program.arguments = file, module, arguments.arguments
    program.image = arguments.pyDockerImage
    return program
