"""Runs every benchmark and writes figures, tables and plots: ``python -m benchmarks``."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from benchmarks.bridge_calls import measure_bridges
from benchmarks.cases import BY_NAME as CASES
from benchmarks.machine import describe_machine
from benchmarks.modes import BY_NAME as MODES
from benchmarks.progress import Progress
from benchmarks.report import write_report

REPOSITORY = Path(__file__).resolve().parent.parent
SCRATCH = REPOSITORY / "build/benchmarks"
PARTS = ("throughput", "sessions", "bridges")
MASTERS = ("local[1]", "local[2]")
MEMORY_CASES = ("long", "json-100kB", "binary-1MB", "pandas-string")
# Modes that a fresh session shows nothing else of than their memory.
MEMORY_MODES = ("process", "thread")
# Modes of which a fresh session shows nothing that another does not.
NO_SESSION_MODES = ("passed", "floor", "auto", "shared-one", "isolated-one")
# Steps of the progress line: one is about what a round of one mode takes.
_SESSION_STEPS = 8
_BRIDGE_ROUND_STEPS = 20
_QUICK = {"rounds": 2, "scale": 0.05}


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    available = [mode.name for mode in MODES.values() if sys.version_info >= mode.minimum_python]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--cases",
        nargs="+",
        choices=CASES,
        default=list(CASES),
        metavar="CASE",
        help=" ".join(CASES),
    )
    parser.add_argument(
        "--modes",
        nargs="+",
        choices=available,
        default=available,
        metavar="MODE",
        help=" ".join(available),
    )
    parser.add_argument(
        "--masters", nargs="+", default=list(MASTERS), metavar="MASTER", help=" ".join(MASTERS)
    )
    parser.add_argument(
        "--parts",
        nargs="+",
        choices=PARTS,
        default=list(PARTS),
        metavar="PART",
        help=" ".join(PARTS),
    )
    parser.add_argument("--rounds", type=int, help="rounds of every measurement (default: 5)")
    parser.add_argument(
        "--quick", action="store_true", help="few rows and rounds, to see that everything runs"
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="folder of the results (default: docs/benchmarks; build/benchmarks/quick if quick)",
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="keep the figures of the last run that this one does not measure",
    )
    options = parser.parse_args(arguments)
    options.rounds = options.rounds or (_QUICK["rounds"] if options.quick else 5)
    options.scale = _QUICK["scale"] if options.quick else 1.0
    options.out = options.out or (
        SCRATCH / "quick" if options.quick else REPOSITORY / "docs/benchmarks"
    )
    return options


def child_lines(module: str, arguments: list[str], log: Path) -> Iterator[dict[str, Any]]:
    """Run a module of this package as a process and yield the JSON objects it prints.

    Raises
    ------
    subprocess.CalledProcessError
        If it fails; with the end of its log.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as errors:
        child = subprocess.Popen(
            [sys.executable, "-m", f"benchmarks.{module}", *arguments],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=REPOSITORY,
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )
        assert child.stdout is not None
        for line in child.stdout:
            # Spark and the JVM may print there too.
            if line.startswith("{"):
                yield json.loads(line)
        if child.wait() != 0:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-12:])
            raise subprocess.CalledProcessError(
                child.returncode, f"benchmarks.{module}", stderr=tail
            )


def measure_throughput(
    options: argparse.Namespace, raw: dict[str, Any], master: str, progress: Progress
) -> None:
    """Measure all cases on one master; a case that ends the session is noted and left out."""
    pending = list(options.cases)
    while pending:
        current = None
        arguments = [
            "--master",
            master,
            "--rounds",
            str(options.rounds),
            "--scale",
            str(options.scale),
        ]
        arguments += ["--case", *pending, "--mode", *options.modes]
        try:
            for line in child_lines(
                "throughput", arguments, SCRATCH / f"logs/throughput-{master}.log"
            ):
                event = line.pop("event")
                if event == "case":
                    current = line["case"]
                    pending = pending[pending.index(current) + 1 :]
                elif event == "java":
                    raw["machine"]["JDK"] = line["version"]
                elif event == "sample":
                    raw["samples"].append({"master": master, **line})
                elif event == "failure":
                    raw["failures"].append({"master": master, **line})
                    progress.note(
                        f"failed: {master}, {line['case']}, {line['mode']}: {line['reason'][:200]}"
                    )
                else:
                    detail = f"{line['mode']} {line['round']}/{options.rounds}"
                    progress.step(f"{master} {line['case']}", detail)
            return
        except subprocess.CalledProcessError as error:
            raw["failures"].append(
                {"master": master, "case": current, "reason": f"{error}\n{error.stderr}"}
            )
            progress.note(f"failed: {master}, {current}: the session ended")
            if current is None:
                return


def measure_sessions(options: argparse.Namespace, raw: dict[str, Any], progress: Progress) -> None:
    """Start fresh sessions of every mode in turns; the first of each mode measures memory too."""
    master = options.masters[-1]
    memory_cases = [case for case in MEMORY_CASES if case in options.cases]
    for number in range(options.rounds):
        for mode in options.modes:
            if mode in NO_SESSION_MODES or (number > 0 and mode in MEMORY_MODES):
                continue
            arguments = ["--master", master, "--mode", mode, "--scale", str(options.scale)]
            if number == 0 and memory_cases:
                arguments += ["--memory-case", *memory_cases]
            try:
                for line in child_lines(
                    "fresh_session", arguments, SCRATCH / f"logs/session-{mode}.log"
                ):
                    raw["machine"]["JDK"] = line.pop("java")
                    raw["sessions"].append({"master": master, "mode": mode, **line})
            except subprocess.CalledProcessError as error:
                reason = f"{error}\n{error.stderr}"
                raw["failures"].append({"part": "fresh session", "mode": mode, "reason": reason})
                progress.note(f"failed: fresh session, {mode}")
            progress.step(
                f"fresh session, {mode}", f"{number + 1}/{options.rounds}", _SESSION_STEPS
            )


def count_steps(options: argparse.Namespace) -> float:
    """Return how many steps of the progress line a run has."""
    steps = 0.0
    if "throughput" in options.parts:
        cells = sum(mode in CASES[case].modes for case in options.cases for mode in options.modes)
        steps += len(options.masters) * cells * (options.rounds + 1)
    if "sessions" in options.parts:
        for mode in options.modes:
            if mode not in NO_SESSION_MODES:
                rounds = 1 if mode in MEMORY_MODES else options.rounds
                steps += rounds * _SESSION_STEPS
    if "bridges" in options.parts:
        steps += _bridge_steps(options)
    return steps


def _bridge_steps(options: argparse.Namespace) -> float:
    return float(options.rounds * _BRIDGE_ROUND_STEPS)


def last_run(options: argparse.Namespace, machine: dict[str, str]) -> dict[str, Any]:
    """Return the figures of the last run.

    Raises
    ------
    SystemExit
        If it was on another machine or with other versions.
    """
    last: dict[str, Any] = json.loads((options.out / "results.json").read_text())
    for name in ("CPU", "memory", "kernel", "Python", "Spark"):
        if last["machine"][name] != machine[name]:
            sys.exit(f"--keep: the last run had {name} {last['machine'][name]}")
    return last


def keep_unmeasured(options: argparse.Namespace, last: dict[str, Any], raw: dict[str, Any]) -> None:
    """Add the figures of the last run that this one has not measured."""

    def unmeasured(entry: dict[str, Any]) -> bool:
        if entry.get("case") is None:
            return "sessions" not in options.parts
        measured = entry["case"] in options.cases and entry["master"] in options.masters
        return "throughput" not in options.parts or not measured

    for key in ("samples", "failures"):
        kept = [entry for entry in last[key] if unmeasured(entry)]
        raw[key] = sorted(
            kept + raw[key], key=lambda entry: list(CASES).index(entry.get("case") or "long")
        )
    if "sessions" not in options.parts:
        raw["sessions"] = last["sessions"]
    if "bridges" not in options.parts and "bridges" in last:
        raw["bridges"] = last["bridges"]
    raw["seconds"] += last["seconds"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the chosen parts and write what they show."""
    options = parse(arguments)
    progress = Progress(count_steps(options))
    raw: dict[str, Any] = {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "quick": options.quick,
        "rounds": options.rounds,
        "machine": describe_machine(),
        "samples": [],
        "sessions": [],
        "failures": [],
    }
    last = last_run(options, raw["machine"]) if options.keep else None
    start = time.monotonic()
    if "throughput" in options.parts:
        for master in options.masters:
            measure_throughput(options, raw, master, progress)
    if "sessions" in options.parts:
        measure_sessions(options, raw, progress)
    if "bridges" in options.parts:
        raw["bridges"] = measure_bridges(
            SCRATCH / "bridge",
            options.modes,
            options.rounds,
            lambda what, part: progress.step(f"bridge: {what}", "", part * _bridge_steps(options)),
        )
    raw["seconds"] = round(time.monotonic() - start)
    if last:
        keep_unmeasured(options, last, raw)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "results.json").write_text(json.dumps(raw, indent=1) + "\n")
    write_report(options.out)
    progress.note(f"results in {options.out}")


if __name__ == "__main__":
    main()
