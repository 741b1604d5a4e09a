"""Jobs that run in PyFlow and in PyFlink, in both execution modes of each, by turns.

There are two slots. PyFlink has the environment of ``make record``, and its connector for Kafka
comes through Gradle. A module of cases is a program that runs them in a package: ``python -m
benchmarks.MODULE PACKAGE`` answers each line of its standard input, a JSON object with ``case``,
``mode`` (``thread`` or ``process``), ``rows``, ``broker`` (the address of a Kafka broker) and
``jars`` (of its connector), with one that has ``seconds`` from the submission of the job to its
end.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from statistics import median
from typing import Any, Protocol

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from benchmarks.machine import describe_machine
from benchmarks.page import REPOSITORY
from benchmarks.report import table
from scripts.connector_jars import kafka_jars
from scripts.kafka_broker import Broker
from scripts.pyflink_examples import version

__all__ = [
    "PYFLINK",
    "SLOW_SECONDS",
    "SYSTEMS",
    "Case",
    "Package",
    "advantage",
    "body",
    "draw",
    "flink_connector",
    "measure",
    "pyflink_python",
    "seconds",
]

PYFLINK = version()
_WARM_UP = 0.05
# A system that takes longer for a case is measured once.
SLOW_SECONDS = 30

#: Package and mode, and how they are called.
SYSTEMS = {
    ("pyflow", "thread"): "PyFlow, thread mode",
    ("pyflow", "process"): "PyFlow, process mode",
    ("pyflink", "thread"): "PyFlink, thread mode",
    ("pyflink", "process"): "PyFlink, process mode",
}
_COLOURS = ("#1f5f8b", "#6fa8c9", "#b5482a", "#d98c5f")


class Case(Protocol):
    """A job."""

    @property
    def name(self) -> str:
        """What it is asked for by."""

    @property
    def title(self) -> str:
        """How it is called in tables."""

    @property
    def rows(self) -> int:
        """How many, in a whole run."""

    @property
    def fails(self) -> tuple[tuple[str, str], ...]:
        """The packages and modes that it fails in."""


class Package:
    """A process that runs jobs in one of the packages.

    Parameters
    ----------
    name : str
    cases : str
        The module of cases.
    python : Path
    jars : list of Path
        Of the connector for Kafka.
    broker : str
        The address of the broker.
    """

    def __init__(self, name: str, cases: str, python: Path, jars: list[Path], broker: str) -> None:
        self._common = {"jars": ";".join(jar.as_uri() for jar in jars), "broker": broker}
        self._log = REPOSITORY / "build" / f"{name}-jobs.log"
        with self._log.open("w") as log:
            self._child = subprocess.Popen(
                [python, "-m", f"benchmarks.{cases}", name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                # PyFlink's embedded interpreter is that of the first python on the path.
                env={**os.environ, "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"},
                cwd=REPOSITORY,
            )

    def seconds(self, case: str, mode: str, rows: int) -> float:
        """Run a job.

        Raises
        ------
        RuntimeError
            If the process has ended.
        """
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        request = {"case": case, "mode": mode, "rows": rows, **self._common}
        print(json.dumps(request), file=self._child.stdin, flush=True)
        for line in self._child.stdout:
            if line.startswith('{"seconds"'):
                return float(json.loads(line)["seconds"])
        raise RuntimeError(f"{case} failed in {mode} mode, see {self._log}")

    def close(self) -> None:
        """End the process."""
        assert self._child.stdin is not None
        self._child.stdin.close()
        self._child.wait()


def pyflink_python() -> Path:
    """Return the Python of the environment with PyFlink, which is made if there is none."""
    subprocess.run([sys.executable, "scripts/set_up_pyflink.py"], cwd=REPOSITORY, check=True)
    return REPOSITORY / ".venvs" / "pyflink" / "bin" / "python"


def flink_connector() -> list[Path]:
    command = ["gradle", "--no-daemon", "--console=plain", "--quiet", "fetchFlinkConnector"]
    subprocess.run(command, cwd=REPOSITORY, check=True)
    return list((REPOSITORY / "build" / "flink").glob("*.jar"))


def measure(
    options: argparse.Namespace,
    module: str,
    cases: Mapping[str, Case],
    prepare: Callable[[str, Case, int], None] | None = None,
) -> dict[str, Any]:
    """Return the figures of all cases.

    Parameters
    ----------
    options : argparse.Namespace
        With ``rounds`` and ``scale``, and ``again`` and ``earlier`` as `Page.run` has them.
    module : str
        That of the cases.
    cases : mapping of str to Case
    prepare : callable, optional
        Is called with the address of the broker, a case and its rows before they are run.
    """
    raw: dict[str, Any] = {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "rounds": options.rounds,
        "machine": {**describe_machine(), "PyFlink": PYFLINK},
        "rows": {name: int(case.rows * options.scale) for name, case in cases.items()},
        "samples": [],
    }
    if options.again:
        again = {"date": raw["date"], "rounds": options.rounds}
        cases = {name: case for name, case in cases.items() if name in options.again}
        raw = {**options.earlier, "again": options.earlier.get("again", {})}
        raw["again"] |= dict.fromkeys(options.again, again)
        raw["rows"] |= {name: int(case.rows * options.scale) for name, case in cases.items()}
        raw["samples"] = [each for each in raw["samples"] if each["case"] not in cases]
        if not cases:
            return raw
    with tempfile.TemporaryDirectory(prefix="pyflink-") as folder, Broker(Path(folder)) as broker:
        address = broker.address
        spark_jars = [Path(jar) for jar in kafka_jars()]
        flink_jars = flink_connector()
        packages = {
            "pyflow": Package("pyflow", module, Path(sys.executable), spark_jars, address),
            "pyflink": Package("pyflink", module, pyflink_python(), flink_jars, address),
        }
        for case in cases.values():
            rows = raw["rows"][case.name]
            warm_up = max(int(rows * _WARM_UP), 1)
            if prepare is not None:
                prepare(address, case, warm_up)
                prepare(address, case, rows)
            raw["samples"] += _samples(packages, case, warm_up, rows, options.rounds)
        for each in packages.values():
            each.close()
    return raw


def _samples(
    packages: dict[str, Package], case: Case, warm_up: int, rows: int, rounds: int
) -> Iterator[dict[str, Any]]:
    """Run a case in all systems, by turns."""
    systems = [each for each in SYSTEMS if each not in case.fails]
    for package, mode in systems:
        packages[package].seconds(case.name, mode, warm_up)
    for number in range(rounds):
        order = systems if number % 2 else systems[::-1]
        for package, mode in order:
            took = packages[package].seconds(case.name, mode, rows)
            print(f"{case.name} {package} {mode} {took:.1f} s", file=sys.stderr, flush=True)
            if took > SLOW_SECONDS:
                systems = [each for each in systems if each != (package, mode)]
            yield {"case": case.name, "package": package, "mode": mode, "seconds": took}


def seconds(raw: dict[str, Any], case: str, package: str, mode: str) -> float:
    """Return the median of a case in a system."""
    return median(
        sample["seconds"]
        for sample in raw["samples"]
        if (sample["case"], sample["package"], sample["mode"]) == (case, package, mode)
    )


def advantage(raw: dict[str, Any], case: str) -> float:
    """Return how many times the time of PyFlow's thread mode PyFlink takes in its better mode."""
    ran = {(each["package"], each["mode"]) for each in raw["samples"] if each["case"] == case}
    best = min(seconds(raw, case, *system) for system in ran if system[0] == "pyflink")
    return best / seconds(raw, case, "pyflow", "thread")


def _measured(raw: dict[str, Any], cases: Mapping[str, Case]) -> list[Case]:
    return [case for name, case in cases.items() if name in raw["rows"]]


def body(raw: dict[str, Any], cases: Mapping[str, Case], name: str) -> Iterator[str]:
    """Yield the table of all cases that have been measured, and the plot of a name."""
    yield from table(
        ("job", "rows", *SYSTEMS.values(), "PyFlink's best ÷ PyFlow, thread mode"),
        (
            [
                case.title,
                f"{raw['rows'][case.name]:,}",
                *(
                    "fails" if system in case.fails else f"{seconds(raw, case.name, *system):.2f} s"
                    for system in SYSTEMS
                ),
                f"{advantage(raw, case.name):.1f}x",
            ]
            for case in _measured(raw, cases)
        ),
    )
    for case, again in raw.get("again", {}).items():
        if case in cases:
            yield (
                f"Measured again on {again['date'][:10]}, in {again['rounds']} rounds: "
                f"{cases[case].title}."
            )
            yield ""
    yield f"![seconds of each job]({name}.png)"
    yield ""


def draw(raw: dict[str, Any], path: Path, cases: Mapping[str, Case]) -> None:
    """Draw the seconds of each job, by system."""
    columns = 3
    measured = _measured(raw, cases)
    rows = -(-len(measured) // columns)
    figure, panels = plt.subplots(rows, columns, figsize=(12, 2.7 * rows), layout="constrained")
    for axes in panels.flat[len(measured) :]:
        axes.set_axis_off()
    for axes, case in zip(panels.flat, measured):
        for place, system in enumerate(SYSTEMS):
            if system in case.fails:
                axes.text(0, place, " fails", va="center")
                continue
            took = seconds(raw, case.name, *system)
            axes.barh(place, took, color=_COLOURS[place])
            axes.text(took, place, f" {took:.1f} s", va="center")
        labels = list(SYSTEMS.values()) if axes in panels[:, 0] else [""] * len(SYSTEMS)
        axes.set_yticks(range(len(SYSTEMS)), labels)
        axes.invert_yaxis()
        axes.margins(x=0.25)
        title = textwrap.fill(case.title.replace("`", ""), 36)
        title = f"{title}\n{raw['rows'][case.name]:,} rows"
        axes.set_title(title, loc="left", fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)
    plt.close(figure)
