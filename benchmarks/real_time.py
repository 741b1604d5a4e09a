"""Latency of a row in Spark's real-time mode: ``python -m benchmarks.real_time``.

Rows come in at a steady rate, go through a Python function and out to a Python ``foreach`` sink: in
thread mode while one long batch runs; in process mode, which has no functions there, in
micro-batches. What is measured is the time from when a row is handed to the source to when the sink
gets it; and, over rows of a table, what a call costs as the expression that functions are in
real-time mode and as the operator that they are otherwise.

Writes real-time.json, real-time.md and real-time.png.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from pyspark.sql import Column, Row, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.streaming import StreamingQuery

from benchmarks.awaited_stream import AwaitedStream
from benchmarks.modes import start_session
from benchmarks.page import Page, new_results
from benchmarks.report import nanos_text, table

_MODES = {"process": "#b5482a", "thread": "#1f5f8b"}
RATES = (10, 100, 1_000)
WARM_UP_SECONDS = 3.0
SECONDS = 8.0
BATCH = "20 seconds"
_TRIGGERS = {"process": {"processingTime": "0 seconds"}, "thread": {"realTime": BATCH}}
_PARTS_PER_SECOND = 50

_PATIENCE_SECONDS = 120
TABLE_ROWS = 1_000_000
_BUNDLES_OF_ONE = {"spark.pyflow.bundle.size": "1"}


def _arrivals(path: Path) -> Callable[[Row], None]:
    """Return a sink that writes each row and when it came."""
    name = str(path)

    def arrived(row: Row) -> None:
        now = time.time_ns()
        with open(name, "a") as file:
            file.write(f"{row[0]} {now}\n")

    return arrived


def _feed(stream: AwaitedStream, rate: int, seconds: float) -> list[int]:
    """Add rows that carry the time they are added at, as evenly as a clock tick allows."""
    added: list[int] = []
    start = time.monotonic()
    while (passed := time.monotonic() - start) < seconds:
        due = int(passed * rate) - len(added)
        if due > 0:
            now = time.time_ns()
            stream.add([str(now)] * due)
            added += [now] * due
        time.sleep(max(1 / _PARTS_PER_SECOND, 1 / rate) / 2)
    return added


def _latencies(session: SparkSession, mode: str, rate: int, folder: Path) -> list[int]:
    """Latencies of all rows of a run, in nanoseconds."""
    session.conf.set("spark.pyflow.execution-mode", mode)
    stream = AwaitedStream(session)
    out = folder / f"{time.monotonic_ns()}"
    out.touch()
    same = sf.udf(lambda value: value, "string")
    query = (
        stream.frame.select(same("value"))
        .writeStream.foreach(_arrivals(out))
        .outputMode("update")
        .trigger(**_TRIGGERS[mode])  # type: ignore[arg-type]
        .option("checkpointLocation", f"{out}-checkpoint")
        .start()
    )
    try:
        warm = _feed(stream, rate, WARM_UP_SECONDS)
        measured = _feed(stream, rate, SECONDS)
        _check_mode(query, mode)
        rows = _await_rows(query, out, len(warm) + len(measured))
    finally:
        query.stop()
    return [got - sent for sent, got in rows if sent >= measured[0]]


def _check_mode(query: StreamingQuery, mode: str) -> None:
    plan = query._jsq.streamingQuery().lastExecution().executedPlan().toString()  # type: ignore[attr-defined]
    if ("in thread mode" in plan and "EvalPython" not in plan) != (mode == "thread"):
        raise RuntimeError(f"not in {mode} mode:\n{plan}")


def _await_rows(query: StreamingQuery, out: Path, count: int) -> list[tuple[int, int]]:
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        lines = out.read_text().splitlines()
        if len(lines) >= count:
            return [(int(sent), int(got)) for sent, _, got in (x.partition(" ") for x in lines)]
        if not query.isActive or time.monotonic() > end:
            raise RuntimeError(f"{len(lines)} of {count} rows came out: {query.exception()}")
        time.sleep(0.2)


def _upper(column: Column) -> Column:
    return sf.udf(str.upper, "string")(column)


def _in_lambda(function: Callable[[Column], Column]) -> Column:
    """Call a function as the expression that it is in real-time mode, in an array of one."""
    return sf.transform(sf.array("value"), function)


# What functions are, a built-in one in the same place, and further settings.
_FORMS: dict[str, tuple[Callable[[], Column], Callable[[], Column], dict[str, str]]] = {
    "expression": (lambda: _in_lambda(_upper), lambda: _in_lambda(sf.upper), {}),
    "operator, bundles of a row": (
        lambda: _upper(sf.col("value")),
        lambda: sf.upper("value"),
        _BUNDLES_OF_ONE,
    ),
    "operator": (lambda: _upper(sf.col("value")), lambda: sf.upper("value"), {}),
}


def _nanos_per_row(session: SparkSession, column: Column, settings: dict[str, str]) -> float:
    for key, value in settings.items():
        session.conf.set(key, value)
    try:
        rows = session.range(TABLE_ROWS, numPartitions=1)
        values = rows.select(sf.concat(sf.lit("row "), sf.col("id")).alias("value"))
        start = time.perf_counter_ns()
        values.select(column).write.format("noop").mode("append").save()
        return (time.perf_counter_ns() - start) / TABLE_ROWS
    finally:
        for key in settings:
            session.conf.unset(key)


def _measure_forms(session: SparkSession, rounds: int) -> list[dict[str, Any]]:
    session.conf.set("spark.pyflow.execution-mode", "thread")
    samples = []
    for round_number in range(rounds + 1):  # the first one warms up
        for form, (python, built_in, settings) in _FORMS.items():
            for name, column in (("python", python), ("built-in", built_in)):
                nanos = _nanos_per_row(session, column(), settings)
                if round_number > 0:
                    samples.append({"form": form, "function": name, "nanos": nanos})
                    print(f"{form}, {name}: {nanos_text(nanos)}", file=sys.stderr, flush=True)
    return samples


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of all forms and rates."""
    session = start_session("local[2]")
    session.sparkContext.setLogLevel("OFF")  # the source complains when it is stopped
    raw = new_results(session, options.rounds)
    raw["forms"] = _measure_forms(session, options.rounds)
    with tempfile.TemporaryDirectory(prefix="real-time-") as folder:
        for rate in RATES:
            for round_number in range(1, options.rounds + 1):
                for mode in _MODES:
                    found = _latencies(session, mode, rate, Path(folder))
                    cuts = quantiles(found, n=100)
                    raw["samples"].append(
                        {
                            "rate": rate,
                            "mode": mode,
                            "rows": len(found),
                            "p50": median(found),
                            "p99": cuts[98],
                            "max": max(found),
                        }
                    )
                    print(
                        f"{rate} rows/s, {mode} mode, round {round_number}/{options.rounds}: "
                        f"{nanos_text(median(found))}",
                        file=sys.stderr,
                        flush=True,
                    )
    session.stop()
    return raw


def _figure(raw: dict[str, Any], rate: int, mode: str, name: str) -> float:
    return median(
        sample[name]
        for sample in raw["samples"]
        if sample["rate"] == rate and sample["mode"] == mode
    )


def _body(raw: dict[str, Any]) -> Iterator[str]:
    yield (
        "From when a row is handed to the source to when a Python `foreach` sink gets it, through "
        "a Python function that returns its argument, on `local[2]`. Thread mode: batches of "
        f"{BATCH} of Spark's real-time mode (`trigger(realTime=…)`). Process mode, which Spark "
        "gives no Python functions there: micro-batches, one after the other. The source is "
        "Spark's own, in memory; where it has no row it looks again after 10 ms: about 5 ms are "
        "its own. "
        f"Medians of {raw['rounds']} rounds of {SECONDS:.0f} s after a warm-up; both modes are "
        "measured in each."
    )
    yield ""
    yield from table(
        (
            "rows per second",
            "process mode, median",
            "99 %",
            "thread mode, median",
            "99 %",
            "process ÷ thread, median",
        ),
        (_row(raw, rate) for rate in RATES),
    )
    yield "![latency by rate](real-time.png)"
    yield ""
    yield (
        "What a call costs: `str.upper` in thread mode over rows of a table, as the expression "
        "that functions are in real-time mode, a call for each row (here in a lambda over an array "
        "of one), and as the operator that they are otherwise. The built-in `upper` stands in the "
        f"same place. One slot, medians of {raw['rounds']} rounds of {TABLE_ROWS:,} rows."
    )
    yield ""
    yield from table(
        ("functions are", "time of a row", "with the built-in function", "difference"),
        (_row_of_form(raw, form) for form in _FORMS),
    )


def _row_of_form(raw: dict[str, Any], form: str) -> list[str]:
    python, built_in = (
        median(
            sample["nanos"]
            for sample in raw["forms"]
            if sample["form"] == form and sample["function"] == function
        )
        for function in ("python", "built-in")
    )
    return [form, *(nanos_text(value) for value in (python, built_in, python - built_in))]


def _row(raw: dict[str, Any], rate: int) -> list[str]:
    process, thread = (
        [_figure(raw, rate, mode, name) for name in ("p50", "p99")] for mode in _MODES
    )
    figures = (nanos_text(value) for value in (*process, *thread))
    return [f"{rate:,}", *figures, f"{process[0] / thread[0]:,.0f}x"]


def _draw(raw: dict[str, Any], path: Path) -> None:
    """Draw median and 99th percentile of each mode by rate."""
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for mode, colour in _MODES.items():
        p50, p99 = (
            [_figure(raw, rate, mode, name) / 1e6 for rate in RATES] for name in ("p50", "p99")
        )
        axes.plot(RATES, p50, "o-", color=colour, label=f"{mode} mode, median")
        axes.plot(RATES, p99, "o--", color=colour, alpha=0.5, label=f"{mode} mode, 99 %")
    axes.set_title("Real-time mode: latency of a row, ms", loc="left", fontweight="bold")
    axes.set_xlabel("rows per second")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(RATES, [f"{rate:,}" for rate in RATES])
    axes.minorticks_off()
    axes.grid(axis="y", color="#e3e3e3")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9)
    figure.savefig(path, dpi=110)
    plt.close(figure)


PAGE = Page("real-time", "benchmarks.real_time", "Latency in real-time mode", _body, _draw)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the page of an earlier run."""
    PAGE.run(measure, arguments)


if __name__ == "__main__":
    main()
