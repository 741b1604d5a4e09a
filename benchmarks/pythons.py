"""Thread mode on a free-threaded Python against process mode on the same version with a GIL:
``python -m benchmarks.pythons``.

Started by any Python of the repository's environments that has matplotlib; takes the newest
free-threaded one and the ordinary one of its version. Each has a session of its own with two slots.
Every case is measured in both by turns, in one run. Writes pythons.json and pythons.md;
`--report FOLDER` writes the page anew.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from benchmarks.cases import BY_NAME as CASES
from benchmarks.cases import FunctionCase
from benchmarks.modes import BY_NAME as MODES
from benchmarks.modes import Mode, start_session
from benchmarks.page import REPOSITORY, Page, new_results
from benchmarks.report import nanos_text, table
from benchmarks.throughput import DifferentResultError, Query, cached_input

GOAL = 2.0
_SLOTS = 2
_THREAD, _PROCESS = "thread", "process"
_MAX_QUERY_SECONDS = 600.0


class Environment:
    """A process of one of the Pythons, with a Spark session that measures what it is asked to."""

    def __init__(self, minor: str) -> None:
        self._child = subprocess.Popen(
            [REPOSITORY / ".venvs" / minor / "bin/python", "-m", "benchmarks.pythons", "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=REPOSITORY,
        )

    def ask(self, **request: Any) -> Any:
        """Return the answer of the other process.

        Raises
        ------
        RuntimeError
            If it has ended.
        """
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        print(json.dumps(request), file=self._child.stdin, flush=True)
        for line in self._child.stdout:
            # Spark and the JVM may print there too.
            if line.startswith('{"answer"'):
                return json.loads(line)["answer"]
        raise RuntimeError(f"it ended with {self._child.wait()} instead of answering {request}")

    def close(self) -> None:
        """End its session."""
        assert self._child.stdin is not None
        self._child.stdin.close()
        self._child.wait()


def serve() -> None:
    """Answer the requests on standard input: what to prepare, and what to measure."""
    session = start_session(f"local[{_SLOTS}]")
    queries: dict[str, Query] = {}
    frame = None
    for line in sys.stdin:
        request = json.loads(line)
        answer: Any = None
        if "prepare" in request:
            if frame is not None:
                frame.unpersist(blocking=True)
            case, rows = CASES[request["prepare"]], request["rows"]
            frame = cached_input(session, case, rows, _SLOTS)
            queries = {
                mode: Query(case, MODES[mode], frame, rows, _MAX_QUERY_SECONDS)
                for mode in request["modes"]
            }
            answer = [query.checksum() for query in queries.values()]
            for query in queries.values():
                query.measure()
        elif "measure" in request:
            answer = queries[request["measure"]].measure()
        else:
            answer = new_results(session, request["rounds"])
        print(json.dumps({"answer": answer}), flush=True)
    session.stop()


def forms(name: str, mode: str) -> list[str]:
    """Return the modes of a case that are forms of thread mode or of process mode."""

    def is_form(candidate: Mode) -> bool:
        execution = candidate.settings.get("spark.pyflow.execution-mode")
        return execution == mode and not candidate.name.endswith("-one")

    # An isolated interpreter is one with a GIL of its own.
    return [m for m in CASES[name].modes if is_form(MODES[m]) and m != "isolated"]


def free_threaded() -> str:
    """Return the newest free-threaded Python that has an environment, as 3.14t."""
    found = [path.name for path in (REPOSITORY / ".venvs").glob("3.*t")]
    if not found:
        sys.exit("There is no free-threaded Python. Build one: make python VERSION=3.14t")
    return max(found, key=lambda minor: int(minor.strip("t").split(".")[1]))


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of all cases."""
    without = free_threaded()
    ordinary = without.removesuffix("t")
    environments = {_THREAD: Environment(without), _PROCESS: Environment(ordinary)}
    raw: dict[str, Any] = environments[_THREAD].ask(rounds=options.rounds)
    raw["thread_python"], raw["process_python"] = without, ordinary
    for name, case in CASES.items():
        rows = max(10, int(case.rows * options.scale))
        checksums = [
            checksum
            for mode, environment in environments.items()
            for checksum in environment.ask(prepare=name, rows=rows, modes=forms(name, mode))
        ]
        if len(set(checksums)) > 1:
            raise DifferentResultError(f"{name}: the results differ: {checksums}")
        for number in range(1, options.rounds + 1):
            for mode, environment in environments.items():
                for form in forms(name, mode):
                    wall, cpu = environment.ask(measure=form)
                    raw["samples"].append(
                        {"case": name, "mode": form, "rows": rows, "wall_ns": wall, "cpu_ns": cpu}
                    )
            print(f"{name} {number}/{options.rounds}", file=sys.stderr, flush=True)
    for environment in environments.values():
        environment.close()
    return raw


def _figures(raw: dict[str, Any], name: str, mode: str) -> tuple[float, float]:
    """Return wall and CPU nanoseconds per row of the better form."""
    return min(
        (
            median(s["wall_ns"] for s in raw["samples"] if (s["case"], s["mode"]) == (name, form)),
            median(s["cpu_ns"] for s in raw["samples"] if (s["case"], s["mode"]) == (name, form)),
        )
        for form in forms(name, mode)
    )


def _body(raw: dict[str, Any]) -> Iterator[str]:
    yield (
        f"Thread mode on Python {raw['thread_python']}, and process mode on Python "
        f"{raw['process_python']}, in its better form where it has two (pickled and Arrow). Each "
        "Python has a session of its own with two slots, whose input is cached in memory and whose "
        "results are discarded. After a warm-up both are measured in turn in each of "
        f"{raw['rounds']} rounds; a figure is the median of the rounds."
    )
    yield ""
    names = list(dict.fromkeys(sample["case"] for sample in raw["samples"]))
    faster, lines = {}, []
    for name in names:
        (thread, thread_cpu), (process, process_cpu) = (
            _figures(raw, name, mode) for mode in (_THREAD, _PROCESS)
        )
        faster[name] = process / thread
        lines.append(
            [
                CASES[name].title,
                nanos_text(process),
                nanos_text(thread),
                f"{faster[name]:.2f}x",
                "reached" if faster[name] >= 1 else "**missed**",
                nanos_text(process_cpu),
                nanos_text(thread_cpu),
            ]
        )
    header = ("", "process", "thread", "faster", "≥ 1x", "CPU, process", "CPU, thread")
    yield from table(header, lines)
    plain = [name for name in names if isinstance(CASES[name], FunctionCase)]
    others = [name for name in names if name not in plain]
    for title, chosen in (("plain functions", plain), ("functions of other kinds", others)):
        mean = math.exp(sum(math.log(faster[name]) for name in chosen) / len(chosen))
        verdict = "reached" if mean >= GOAL else "**missed**"
        yield f"- Geometric mean, {title}: {mean:.2f}x; the goal is {GOAL:g}x: {verdict}."
    yield ""


PAGE = Page(
    "pythons", "benchmarks.pythons", "Without a GIL in threads, with a GIL in processes", _body
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the page of an earlier run."""
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        PAGE.run(measure, arguments, scale=1.0)


if __name__ == "__main__":
    main()
