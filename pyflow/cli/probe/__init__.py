"""The probe of ``pyflow doctor -t``: a program that looks into every executor of a target."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyflow.cli.findings import Finding
from pyflow.cli.submission import command
from pyflow.cli.submission.command import Command, Program
from pyflow.cli.submission.errors import SubmissionError
from pyflow.cli.submission.processes import kill_session
from pyflow.cli.submission.registry import Registry

__all__ = ["examine"]

_PROGRAM = Path(__file__).with_name("program.py")  # which imports PySpark
_PACKAGES = ("pyspark", "numpy", "pandas", "pyarrow", "protobuf")
_SECONDS = 600
_LAST_LINES = 5
_NO_EXECUTOR = (
    "see in the master's UI whether workers are there and have free cores and memory; "
    "`-D spark.executor.memory=…` and `-D spark.cores.max=…` ask for less"
)


def examine(program: Program) -> Iterator[Finding]:
    """Run the probe where a program would run.

    Parameters
    ----------
    program : Program
        Without a file or module: settings, target and options of spark-submit.

    Yields
    ------
    Finding
        One for each executor; one for the target alone where no function ran.
    """
    with tempfile.TemporaryDirectory(prefix="pyflow-doctor-") as directory:
        file = Path(directory) / "found.json"
        program.file, program.arguments = str(_PROGRAM), [str(file), *_PACKAGES]
        try:
            composed = command.compose(program, Registry.of_user().folders)
        except SubmissionError as error:
            yield Finding("target", "spark-submit was not started", str(error))
            return
        name = composed.target.master or "local[*]"
        if not composed.target.is_driven_here:
            yield Finding("target", name, "the probe runs here: give a target in client mode")
            return
        print(f"PyFlow: running a function in every executor of {name}", file=sys.stderr)
        try:
            exit_code, output = _ended(composed)
        except subprocess.TimeoutExpired:
            yield Finding("target", f"{name} has not run it in {_SECONDS} s", _NO_EXECUTOR)
            return
        if not file.exists():
            lines = output.strip().splitlines()[-_LAST_LINES:]
            yield Finding("target", f"spark-submit ended with {exit_code}", "\n".join(lines))
            return
        report = json.loads(file.read_text(encoding="utf-8"))
    yield from _findings(name, report)


def _ended(composed: Command) -> tuple[int, str]:
    """Run a command, and return its exit code and what it printed.

    Raises
    ------
    subprocess.TimeoutExpired
        If it takes too long. What it has started ends with it, as on Ctrl-C.
    """
    process = subprocess.Popen(
        composed.words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=composed.environment(),
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=_SECONDS)
    finally:
        kill_session(process.pid)
        process.wait()
    return process.returncode, output


def _findings(name: str, report: dict[str, Any]) -> Iterator[Finding]:
    executors = report["executors"]
    if not executors:
        yield Finding("target", f"{name} has started no executor", _NO_EXECUTOR)
        return
    if report["error"] is not None:
        yield Finding("target", f"{name} has {len(executors)} executors", report["error"])
    else:
        yield Finding("target", f"{name}, {_counted(len(executors), 'executor')}")
    for executor in executors:
        yield _of_executor(executor, report)


def _of_executor(executor: dict[str, Any], report: dict[str, Any]) -> Finding:
    check, host, tasks = f"executor {executor['id']}", executor["host"], executor["tasks"]
    if not tasks:
        advice = None if report["error"] else "run it again: other executors had all tasks"
        return Finding(check, f"{host}: no function ran there", advice, concerns_all=False)
    first = tasks[0]
    python = f"Python {first['python']} ({first['prefix']})"
    packages = ", ".join(f"{name} {version}" for name, version in first["packages"].items())
    in_workers = [task for task in tasks if not task["in_jvm"]]
    if in_workers:
        reason = report["reason"] or "its log says why Python did not start in the JVM"
        return Finding(check, f"{host}: {python} in workers", reason)
    kind = "isolated interpreters" if any(t["isolated"] for t in tasks) else "shared interpreter"
    found = f"{host}: {python} in the JVM, {kind}; {packages}"
    others = [
        f"{name} {version} there, {report['packages'][name]} here"
        for name, version in first["packages"].items()
        if report["packages"].get(name, version) != version
    ]
    missing = sorted(report["packages"].keys() - first["packages"].keys())
    advice = "; ".join([*others, *(f"no {name} there" for name in missing)])
    return Finding(check, found, advice or None, concerns_all=False)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
