"""`foreach` of a stream in both modes: ``python -m benchmarks.foreach``.

Time per row of a batch whose rows go to a Python function that does nothing with them. Writes
foreach.json and foreach.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import Row, SparkSession

from benchmarks.modes import start_session
from benchmarks.page import Page, new_results
from benchmarks.report import nanos_text, table

_MODES = ("process", "thread")
CASES = {
    "a long": ["id as n"],
    "a long and a string of 14 characters": ["id as n", "lpad(string(id), 14, 'x') as s"],
    "ten columns": [
        "id as n",
        *(f"id + {i} as n{i}" for i in range(3)),
        *(f"id * 0.{i + 1}d as d{i}" for i in range(2)),
        *(f"lpad(string(id), 14, '{i}') as s{i}" for i in range(2)),
        "current_timestamp() as t",
        "array(id, id + 1, id + 2) as list",
    ],
}
ROWS = 1_000_000


def _nothing(row: Row) -> None:
    del row


def _nanos_per_row(session: SparkSession, path: Path, mode: str, rows: int) -> float:
    session.conf.set("spark.pyflow.execution-mode", mode)
    frame = session.readStream.schema(session.read.parquet(str(path)).schema).parquet(str(path))
    query = frame.writeStream.foreach(_nothing).trigger(availableNow=True).start()
    query.awaitTermination()
    plan = query._jsq.streamingQuery().lastExecution().executedPlan().toString()  # type: ignore[attr-defined]
    if ("in thread mode" in plan) != (mode == "thread"):
        raise RuntimeError(f"not in {mode} mode:\n{plan}")
    batches = [progress.durationMs["addBatch"] for progress in query.recentProgress]
    return sum(batches) * 1e6 / rows


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of all cases."""
    session = start_session("local[1]")
    raw = new_results(session, options.rounds)
    rows = int(ROWS * options.scale)
    with tempfile.TemporaryDirectory(prefix="foreach-") as folder:
        for number, (case, columns) in enumerate(CASES.items()):
            path = Path(folder, str(number))
            session.range(rows, numPartitions=1).selectExpr(*columns).write.parquet(str(path))
            for mode in _MODES:
                _nanos_per_row(session, path, mode, rows)
            for round_number in range(1, options.rounds + 1):
                figures = {mode: _nanos_per_row(session, path, mode, rows) for mode in _MODES}
                raw["samples"].append({"case": case, "rows": rows, **figures})
                print(f"{case} {round_number}/{options.rounds}", file=sys.stderr, flush=True)
    session.stop()
    return raw


def _body(raw: dict[str, Any]) -> Iterator[str]:
    yield (
        "Time per row of `writeStream.foreach(function)` with a function that does nothing, on "
        f"`local[1]`: a batch of {raw['samples'][0]['rows']:,} rows in a Parquet file, planning "
        f"included. Medians of {raw['rounds']} rounds; both modes are measured in each."
    )
    yield ""
    yield from table(
        ("rows of", *(f"{mode} mode" for mode in _MODES), ""),
        (_row(raw["samples"], case) for case in CASES),
    )


def _row(samples: list[dict[str, Any]], case: str) -> list[str]:
    process, thread = (
        median(sample[mode] for sample in samples if sample["case"] == case) for mode in _MODES
    )
    return [case, nanos_text(process), nanos_text(thread), f"{process / thread:.1f}x"]


PAGE = Page("foreach", "benchmarks.foreach", "`foreach` in streams", _body)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the page of an earlier run."""
    PAGE.run(measure, arguments, scale=1.0)


if __name__ == "__main__":
    main()
