"""Two task slots against one on a free-threaded Python: ``python -m benchmarks.free_threaded``.

Started by such a Python. The same rows are measured in one partition and in two, by turns, in one
session with two slots, so that other load on the machine meets both alike. Writes
free-threaded.json and free-threaded.md; `--report FOLDER` writes the page anew.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import Any

from benchmarks.cases import FREE_THREADED, KINDS
from benchmarks.modes import BY_NAME as MODES
from benchmarks.modes import start_session
from benchmarks.page import Page, new_results
from benchmarks.process_tree import busy_nanos
from benchmarks.report import nanos_text, table
from benchmarks.throughput import Query, cached_input
from pyflow import libpython

# How many times as fast two slots are to be as one.
GOALS = {
    "apply-in-pandas": 1.8,
    "aggregate": 1.8,
    "pandas-string": 1.8,
    "udtf-arrow": 1.8,
    "pandas-numpy": 1.8,
    "arrow-numpy": 1.8,
}
CASES = {case.name: case for case in (*KINDS, *FREE_THREADED) if case.name in GOALS}
_SLOTS = (1, 2)
_MAX_QUERY_SECONDS = 600.0


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of all cases."""
    if not libpython.minor().endswith("t"):
        sys.exit("Start this with a free-threaded Python: .venvs/3.14t/bin/python")
    if sys.version_info < (3, 14):
        os.environ["PYTHON_GIL"] = "0"  # pandas 2 would turn it on
    session = start_session("local[2]")
    raw = new_results(session, options.rounds)
    for name in GOALS:
        case = CASES[name]
        rows = max(10, int(case.rows * options.scale))
        frames = {slots: cached_input(session, case, rows, slots) for slots in _SLOTS}
        queries = {
            slots: Query(case, MODES["thread"], frame, rows, _MAX_QUERY_SECONDS)
            for slots, frame in frames.items()
        }
        for query in queries.values():
            query.checksum()
            query.measure()
        for number in range(1, options.rounds + 1):
            for slots, query in queries.items():
                busy = busy_nanos()
                wall, cpu = query.measure()
                busy = busy_nanos() - busy
                raw["samples"].append(
                    {
                        "case": name,
                        "slots": slots,
                        "rows": rows,
                        "wall_ns": wall,
                        "cpu_ns": cpu,
                        "others_cores": max(0.0, (busy / rows - cpu) / wall),
                    }
                )
            print(f"{name} {number}/{options.rounds}", file=sys.stderr, flush=True)
        for frame in frames.values():
            frame.unpersist(blocking=True)
    session.stop()
    return raw


def _body(raw: dict[str, Any]) -> Iterator[str]:
    yield (
        "Thread mode without a GIL (with `PYTHON_GIL=0` on 3.13), in one session with two slots, "
        "over rows cached in memory into a sink that discards them: all rows in one partition, so "
        "that one slot is busy, and in two. After a warm-up both are measured in turn in each of "
        f"{raw['rounds']} rounds; a figure is the median of the rounds, the range that of the "
        "ratios within a round. Where other processes leave less than two cores to two slots, "
        "as the last column tells, the figures say little."
    )
    yield ""
    yield from table(
        (
            "",
            "one slot",
            "two slots",
            "faster",
            "range",
            "goal",
            "",
            "CPU, one",
            "CPU, two",
            "cores used by others",
        ),
        (
            _row(raw["samples"], name, goal)
            for name, goal in GOALS.items()
            if any(sample["case"] == name for sample in raw["samples"])
        ),
    )


def _row(samples: Iterable[dict[str, Any]], name: str, goal: float) -> list[str]:
    found = [sample for sample in samples if sample["case"] == name]

    def figures(slots: int, measure: str) -> list[float]:
        return [sample[measure] for sample in found if sample["slots"] == slots]

    one, two = (figures(slots, "wall_ns") for slots in _SLOTS)
    ratios = [before / after for before, after in zip(one, two, strict=True)]
    faster = median(one) / median(two)
    return [
        f"{CASES[name].title} ({found[0]['rows']:,} rows)",
        nanos_text(median(one)),
        nanos_text(median(two)),
        f"{faster:.2f}x",
        f"{min(ratios):.2f} to {max(ratios):.2f}",
        f"≥ {goal:g}x",
        "reached" if faster >= goal else "**missed**",
        *(nanos_text(median(figures(slots, "cpu_ns"))) for slots in _SLOTS),
        f"{median(figures(2, 'others_cores')):.1f}",
    ]


PAGE = Page(
    "free-threaded", "benchmarks.free_threaded", "Benchmarks on a free-threaded Python", _body
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the page of an earlier run."""
    PAGE.run(measure, arguments, scale=1.0)


if __name__ == "__main__":
    main()
