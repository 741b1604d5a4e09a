"""The start of Table API programs beside PyFlink's: ``python -m benchmarks.table_start``.

Seconds from the start of a process to the first row of a small SQL program, by turns, and calls of
the JVM and seconds of single statements. Writes table_start.json, table_start.md and
table_start.png.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import datetime, timezone
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from benchmarks.beside_pyflink import PYFLINK, pyflink_python
from benchmarks.machine import describe_machine
from benchmarks.page import REPOSITORY, Page
from benchmarks.report import table
from benchmarks.table_statements import FIRST, STATEMENTS
from pyflow.session.builder import class_archive

PACKAGES = {"pyflow": "PyFlow", "pyflink": "PyFlink"}
_ARCHIVE = "pyflow archive"
_STARTS = {"pyflow": "PyFlow", _ARCHIVE: f"PyFlow after `{_ARCHIVE}`", "pyflink": "PyFlink"}
_PHASES = ("imported", "created", "first row")
_COLOURS = ("#b8c4cc", "#1f5f8b", "#6fa8c9")


def _run(package: str, python: Path, work: str) -> dict[str, Any]:
    """Return what a program of ``table_statements`` prints."""
    log = REPOSITORY / "build" / f"{package}-start.log"
    with log.open("w") as errors:
        done = subprocess.run(
            [python, REPOSITORY / "benchmarks" / "table_statements.py", package, work],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            # PyFlink finds its Python on the path.
            env={**os.environ, "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"},
            cwd=REPOSITORY,
        )
    if done.returncode:
        raise RuntimeError(f"{work} of {package} failed, see {log}")
    return dict(json.loads(done.stdout[done.stdout.index("{") :]))


def _first_row(package: str, python: Path) -> dict[str, float]:
    """Return the seconds from the start of a program's process to each of its moments."""
    start = time.monotonic()
    moments = _run(package, python, "first")
    return {phase: moments[phase] - start for phase in _PHASES}


@contextmanager
def _renamed(file: Path, name: Path) -> Iterator[None]:
    """Give a file another name for a while."""
    file.rename(name)
    try:
        yield
    finally:
        name.rename(file)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of both packages."""
    ours = Path(sys.executable)
    pythons = {"pyflow": ours, _ARCHIVE: ours, "pyflink": pyflink_python()}
    archive = class_archive()
    kept = archive.with_suffix(".kept")
    print(f"PyFlow: {_ARCHIVE}", file=sys.stderr, flush=True)
    subprocess.run([ours, "-m", "pyflow", "archive"], check=True, stdout=subprocess.DEVNULL)
    archive.rename(kept)
    raw: dict[str, Any] = {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "rounds": options.rounds,
        "machine": {**describe_machine(), "PyFlink": PYFLINK},
        "samples": [],
        "statements": [],
    }
    for number in range(options.rounds):
        for start in list(_STARTS) if number % 2 else list(reversed(_STARTS)):
            package = start.split()[0]
            with _renamed(kept, archive) if start == _ARCHIVE else nullcontext():
                moments = _first_row(package, pythons[start])
            raw["samples"].append({"package": start, **moments})
            print(f"{start}: first row {moments['first row']:.1f} s", file=sys.stderr, flush=True)
            if start in PACKAGES:
                for name, figures in _run(package, pythons[package], "statements").items():
                    raw["statements"].append({"package": package, "statement": name, **figures})
    kept.unlink()
    return raw


def _seconds(raw: dict[str, Any], package: str, phase: str) -> float:
    return median(each[phase] for each in raw["samples"] if each["package"] == package)


def _of_statement(raw: dict[str, Any], package: str, name: str, figure: str) -> str:
    value = median(
        each[figure]
        for each in raw["statements"]
        if (each["package"], each["statement"]) == (package, name)
    )
    return f"{value:.0f}" if figure == "calls" else f"{value:.3f}"


def _body(raw: dict[str, Any]) -> Iterator[str]:
    yield (
        "Programs of the Table API, unchanged but for the name of the package, medians of "
        f"{raw['rounds']} rounds by turns. First a process of its own that runs `{FIRST}` in "
        "batch mode: seconds from its start until it has imported the package, made its "
        "environment, and got its first row. `pyflow archive` writes classes for drivers to start "
        "with; PyFlink has no such command."
    )
    yield ""
    yield from table(
        ("until", *_STARTS.values()),
        (
            [phase, *(f"{_seconds(raw, start, phase):.2f} s" for start in _STARTS)]
            for phase in _PHASES
        ),
    )
    yield "![seconds to the first row](table_start.png)"
    yield ""
    *ours, theirs = (_seconds(raw, start, "first row") for start in _STARTS)
    goals = [
        f"{_STARTS[start]}, {'reached' if first <= theirs else f'missed by {first - theirs:.2f} s'}"
        for start, first in zip(_STARTS, ours, strict=False)
    ]
    yield f"Goal: the first row not later than PyFlink's: {'; '.join(goals)}."
    yield ""
    yield (
        "Then statements, one after the other in a process: calls of the JVM through py4j and "
        "seconds. Queries are planned and not run; PyFlink plans in the JVM."
    )
    yield ""
    figures = [(package, figure) for package in PACKAGES for figure in ("calls", "seconds")]
    yield from table(
        ("statement", *(f"{PACKAGES[package]}, {figure}" for package, figure in figures)),
        (
            [
                name,
                *(_of_statement(raw, package, name, figure) for package, figure in figures),
            ]
            for name in ("create", "first row", *STATEMENTS)
        ),
    )


def _draw(raw: dict[str, Any], path: Path) -> None:
    """Draw what each phase adds to the seconds to the first row."""
    figure, axes = plt.subplots(figsize=(9, 2.6), layout="constrained")
    for place, start in enumerate(_STARTS):
        before = 0.0
        for phase, colour in zip(_PHASES, _COLOURS, strict=True):
            until = _seconds(raw, start, phase)
            label = None if place else f"until {phase}"
            axes.barh(place, until - before, left=before, color=colour, label=label)
            before = until
        axes.text(before, place, f" {before:.1f} s", va="center")
    axes.set_yticks(range(len(_STARTS)), [name.replace("`", "") for name in _STARTS.values()])
    axes.invert_yaxis()
    axes.margins(x=0.1)
    axes.legend(frameon=False, ncols=len(_PHASES), loc="lower center", bbox_to_anchor=(0.5, 1))
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


PAGE = Page(
    "table_start", "benchmarks.table_start", "The start of Table API programs", _body, _draw
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the page of an earlier run."""
    PAGE.run(measure, arguments)


if __name__ == "__main__":
    main()
