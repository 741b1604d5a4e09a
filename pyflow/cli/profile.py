"""``pyflow profile``: where the Python code of a program spends its time."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyflow.cli.profiling.flame_graph import to_svg
from pyflow.cli.profiling.samples import stacks_of
from pyflow.cli.profiling.speedscope import to_speedscope
from pyflow.cli.profiling.table import lines
from pyflow.cli.submission.errors import SubmissionError
from pyflow.cli.submission.jobs import find, profile, running_program

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from pyflow.cli.parsers import Parser

_LONGEST_SECONDS = 3600
_HIGHEST_RATE = 1000


def add_to(commands: _SubParsersAction[Parser]) -> None:
    """Add the subcommand to the command line."""
    parser = commands.add_parser(
        "profile",
        help="measure where the Python code of a program spends its time",
        description=(
            "Samples the Python frames of all executors of a program that pyflow run has started, "
            "under the operators that have called them, and prints a table by function. Nothing "
            "has to be switched on before, and no GIL is taken."
        ),
    )
    parser.add_argument(
        "id",
        nargs="?",
        help="of a program or of one of its jobs, as `pyflow list` shows it, or its beginning; the "
        "only program that runs without it",
    )
    parser.add_argument(
        "--seconds", type=_number(_LONGEST_SECONDS), default=10.0, help="how long (10)"
    )
    parser.add_argument(
        "--rate", type=_number(_HIGHEST_RATE), default=100.0, help="samples per second (100)"
    )
    parser.add_argument(
        "--by-task", action="store_true", help="keep executors, tasks and workers apart"
    )
    parser.add_argument("--flame-graph", type=Path, metavar="FILE", help="write an SVG")
    parser.add_argument(
        "--speedscope", type=Path, metavar="FILE", help="write JSON for https://www.speedscope.app"
    )
    parser.set_defaults(run=_profile)


def _number(most: float) -> Any:
    def number(text: str) -> float:
        value = float(text)
        if not 0 < value <= most:
            raise argparse.ArgumentTypeError(f"not above 0 and at most {most}: {text}")
        return value

    return number


def _profile(arguments: argparse.Namespace) -> int:
    try:
        program = find(arguments.id).program if arguments.id else running_program()
        executors = profile(program, arguments.seconds, arguments.rate)
        for reason in _missing(executors):
            print(f"pyflow profile: {reason}", file=sys.stderr)
        answered = [each for each in executors if "error" not in each]
        stacks = [
            stack
            for each in answered
            for stack in stacks_of(each, arguments.seconds, arguments.by_task)
        ]
        if not executors:
            raise SubmissionError(f"program {program.id} had no executors yet")
        if not stacks:
            raise SubmissionError(f"no Python code ran in these {arguments.seconds:g} s")
    except SubmissionError as error:
        print(f"pyflow profile: {error}", file=sys.stderr)
        return 1
    samples = sum(stack.samples for stack in stacks)
    title = (
        f"{program.name}: {samples} samples in {arguments.seconds:g} s of {len(answered)} executors"
    )
    print(title)
    print("\n".join(lines(stacks)))
    if arguments.flame_graph:
        arguments.flame_graph.write_text(to_svg(title, stacks))
    if arguments.speedscope:
        document = to_speedscope(title, stacks)
        arguments.speedscope.write_text(json.dumps(document))
    return 0


def _missing(executors: list[dict[str, Any]]) -> list[str]:
    """Return what of the program has not been sampled, and why."""
    reasons = []
    for executor in executors:
        name = f"executor {executor['executor']}"
        if "error" in executor:
            reasons.append(f"{name} does not answer: {executor['error']}")
        for worker in executor.get("workers", []):
            if "error" in worker:
                reasons.append(f"{name}, worker process {worker['process']}: {worker['error']}")
    return reasons
