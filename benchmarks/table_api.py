"""The Table API beside PyFlink's: ``python -m benchmarks.table_api``.

The same jobs in PyFlow and in PyFlink, in both execution modes of each, with two slots, by turns.
PyFlink is installed into an environment of its own, with Python 3.11, and its connector for Kafka
comes through Gradle. Writes table_api.json, table_api.md and table_api.png.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from benchmarks.machine import describe_machine
from benchmarks.page import REPOSITORY, Page
from benchmarks.report import table
from benchmarks.table_cases import CASES, TableCase
from benchmarks.topics import Topic
from scripts.kafka_broker import Broker, connector_jars

PYFLINK = "2.3.0"
_MINOR = "3.11"  # The newest that PyFlink has.
_WARM_UP = 0.05

#: Package and mode, and how they are called.
SYSTEMS = {
    ("pyflow", "thread"): "PyFlow, thread mode",
    ("pyflow", "process"): "PyFlow, process mode",
    ("pyflink", "thread"): "PyFlink, thread mode",
    ("pyflink", "process"): "PyFlink, process mode",
}
_COLOURS = ("#1f5f8b", "#6fa8c9", "#b5482a", "#d98c5f")


class Package:
    """A process that runs jobs in one of the packages.

    Parameters
    ----------
    name : str
    python : Path
    jars : list of Path
        Of the connector for Kafka.
    broker : str
        The address of the broker.
    """

    def __init__(self, name: str, python: Path, jars: list[Path], broker: str) -> None:
        self._common = {"jars": ";".join(jar.as_uri() for jar in jars), "broker": broker}
        self._log = REPOSITORY / "build" / f"{name}-jobs.log"
        with self._log.open("w") as log:
            self._child = subprocess.Popen(
                [python, REPOSITORY / "benchmarks" / "table_cases.py", name],
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
    """Return the Python of an environment with PyFlink, which is made if there is none."""
    environment = REPOSITORY / "build" / f"pyflink-{PYFLINK}"
    python = environment / "bin" / "python"
    if not (environment / "ready").exists():
        print(f"installing apache-flink {PYFLINK} into {environment}", file=sys.stderr, flush=True)
        found = (REPOSITORY / "build" / "pythons").read_text().splitlines()
        base = next((line.split("\t")[1] for line in found if line.startswith(_MINOR)), None)
        if base is None:
            raise SystemExit(f"PyFlink {PYFLINK} needs Python {_MINOR}, which was not found")
        subprocess.run([base, "-m", "venv", environment], check=True)
        pip = [python, "-m", "pip", "install", "--quiet"]
        # apache-beam, which PyFlink needs, imports pkg_resources.
        subprocess.run([*pip, f"apache-flink=={PYFLINK}", "setuptools<81"], check=True)
        (environment / "ready").touch()
    return python


def _flink_connector() -> list[Path]:
    command = ["gradle", "--no-daemon", "--console=plain", "--quiet", "fetchFlinkConnector"]
    subprocess.run(command, cwd=REPOSITORY, check=True)
    return list((REPOSITORY / "build" / "flink").glob("*.jar"))


def _fill_topic(broker: str, rows: int) -> None:
    """Write the numbers that ``table_cases`` reads, 100 for each second of their time."""
    start = datetime(2026, 1, 1)
    topic = Topic(broker, f"numbers-{rows}", partitions=2)
    topic.send(
        json.dumps({"id": number, "ts": f"{start + timedelta(milliseconds=10 * number)}"})
        for number in range(1, rows + 1)
    )
    topic.flush()


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of all cases."""
    raw: dict[str, Any] = {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "rounds": options.rounds,
        "machine": {**describe_machine(), "PyFlink": f"{PYFLINK}, Python {_MINOR}"},
        "rows": {name: int(case.rows * options.scale) for name, case in CASES.items()},
        "samples": [],
    }
    with tempfile.TemporaryDirectory(prefix="table-api-") as folder, Broker(Path(folder)) as broker:
        address = broker.address
        spark_jars = [Path(jar) for jar in connector_jars()]
        packages = {
            "pyflow": Package("pyflow", Path(sys.executable), spark_jars, address),
            "pyflink": Package("pyflink", pyflink_python(), _flink_connector(), address),
        }
        for case in CASES.values():
            raw["samples"] += _samples(
                packages, case, raw["rows"][case.name], options.rounds, address
            )
        for each in packages.values():
            each.close()
    return raw


def _samples(
    packages: dict[str, Package], case: TableCase, rows: int, rounds: int, broker: str
) -> Iterator[dict[str, Any]]:
    """Run a case in all systems, by turns."""
    warm_up = max(int(rows * _WARM_UP), 1)
    if case.reads_kafka:
        for each in (warm_up, rows):
            _fill_topic(broker, each)
    for package, mode in SYSTEMS:
        packages[package].seconds(case.name, mode, warm_up)
    for number in range(rounds):
        order = list(SYSTEMS) if number % 2 else list(reversed(SYSTEMS))
        for package, mode in order:
            seconds = packages[package].seconds(case.name, mode, rows)
            print(f"{case.name} {package} {mode} {seconds:.1f} s", file=sys.stderr, flush=True)
            yield {"case": case.name, "package": package, "mode": mode, "seconds": seconds}


def _seconds(raw: dict[str, Any], case: str, package: str, mode: str) -> float:
    return median(
        sample["seconds"]
        for sample in raw["samples"]
        if (sample["case"], sample["package"], sample["mode"]) == (case, package, mode)
    )


def _body(raw: dict[str, Any]) -> Iterator[str]:
    yield (
        "The same jobs of the Table API, unchanged but for the name of the package, over bounded "
        "rows of `datagen` or Kafka, into `blackhole`, with a parallelism of 2, in streaming mode "
        "unless the batch mode is named. "
        f"Seconds from the submission of a job to its end, the median of {raw['rounds']} rounds by "
        "turns; each job has run before over a twentieth of the rows. PyFlink's thread mode runs "
        "aggregates in processes."
    )
    yield ""
    yield from table(
        ("job", "rows", *SYSTEMS.values(), "PyFlink's best ÷ PyFlow, thread mode"),
        (_row(raw, case) for case in CASES),
    )
    yield "![seconds of each job](table_api.png)"
    yield ""
    ratio = _seconds(raw, "long", "pyflink", "thread") / _seconds(raw, "long", "pyflow", "thread")
    slower = [CASES[case].title for case in CASES if _advantage(raw, case) < 1]
    missed = f"missed by {', '.join(slower)}" if slower else "reached"
    yield (
        f"Goals: `x + 1` at least 5 times as fast as in PyFlink's thread mode: {ratio:.1f} times. "
        f"No job slower than in PyFlink: {missed}."
    )
    yield ""


def _row(raw: dict[str, Any], case: str) -> list[str]:
    return [
        CASES[case].title,
        f"{raw['rows'][case]:,}",
        *(f"{_seconds(raw, case, *system):.2f} s" for system in SYSTEMS),
        f"{_advantage(raw, case):.1f}x",
    ]


def _advantage(raw: dict[str, Any], case: str) -> float:
    """Return how many times the time of PyFlow's thread mode PyFlink takes in its better mode."""
    best = min(_seconds(raw, case, *system) for system in SYSTEMS if system[0] == "pyflink")
    return best / _seconds(raw, case, "pyflow", "thread")


def _draw(raw: dict[str, Any], path: Path) -> None:
    """Draw the seconds of each job, by system."""
    figure, panels = plt.subplots(2, len(CASES) // 2, figsize=(12, 5.4), layout="constrained")
    for axes, case in zip(panels.flat, CASES, strict=True):
        for place, system in enumerate(SYSTEMS):
            seconds = _seconds(raw, case, *system)
            axes.barh(place, seconds, color=_COLOURS[place])
            axes.text(seconds, place, f" {seconds:.1f} s", va="center")
        labels = list(SYSTEMS.values()) if axes in panels[:, 0] else [""] * len(SYSTEMS)
        axes.set_yticks(range(len(SYSTEMS)), labels)
        axes.invert_yaxis()
        axes.margins(x=0.25)
        title = textwrap.fill(CASES[case].title.replace("`", ""), 36)
        title = f"{title}\n{raw['rows'][case]:,} rows"
        axes.set_title(title, loc="left", fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


PAGE = Page("table_api", "benchmarks.table_api", "The Table API beside PyFlink", _body, _draw)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the page of an earlier run."""
    PAGE.run(measure, arguments, rounds=3, scale=1.0)


if __name__ == "__main__":
    main()
