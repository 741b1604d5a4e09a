"""The Table API beside PyFlink's: ``python -m benchmarks.table_api``.

The same jobs in PyFlow and in PyFlink. Writes table_api.json, table_api.md and table_api.png.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks import beside_pyflink
from benchmarks.beside_pyflink import Case, advantage, seconds
from benchmarks.page import Page
from benchmarks.table_cases import CASES
from benchmarks.topics import Topic


def _prepare(broker: str, case: Case, rows: int) -> None:
    """Write the numbers that ``table_cases`` reads, 100 for each second of their time."""
    if not CASES[case.name].reads_kafka:
        return
    start = datetime(2026, 1, 1)
    topic = Topic(broker, f"numbers-{rows}", partitions=2)
    topic.send(
        json.dumps({"id": number, "ts": f"{start + timedelta(milliseconds=10 * number)}"})
        for number in range(1, rows + 1)
    )
    topic.flush()


def _measure(options: argparse.Namespace) -> dict[str, Any]:
    return beside_pyflink.measure(options, "table_cases", CASES, _prepare)


def _body(raw: dict[str, Any]) -> Iterator[str]:
    yield (
        "The same jobs of the Table API, unchanged but for the name of the package, over bounded "
        "rows of `datagen` or Kafka, into `blackhole`, with a parallelism of 2, in streaming mode "
        "unless the batch mode is named. "
        f"Seconds from the submission of a job to its end, the median of {raw['rounds']} rounds by "
        f"turns, or of one where a system takes longer than {beside_pyflink.SLOW_SECONDS} s; each "
        "job has run before over a twentieth of the rows. PyFlink's thread mode runs "
        "aggregates in processes."
    )
    yield ""
    yield from beside_pyflink.body(raw, CASES, "table_api")
    ratio = seconds(raw, "long", "pyflink", "thread") / seconds(raw, "long", "pyflow", "thread")
    slower = [CASES[case].title for case in CASES if advantage(raw, case) < 1]
    missed = f"missed by {', '.join(slower)}" if slower else "reached"
    yield (
        f"Goals: `x + 1` at least 5 times as fast as in PyFlink's thread mode: {ratio:.1f} times. "
        f"No job slower than in PyFlink: {missed}."
    )
    yield ""


def _draw(raw: dict[str, Any], path: Path) -> None:
    beside_pyflink.draw(raw, path, CASES)


PAGE = Page("table_api", "benchmarks.table_api", "The Table API beside PyFlink", _body, _draw)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the page of an earlier run."""
    PAGE.run(_measure, arguments, rounds=3, parts=list(CASES), scale=1.0)


if __name__ == "__main__":
    main()
