"""Latency of a record from Kafka through a function to Kafka: ``python -m benchmarks.latency``.

Records come at a steady rate into a topic of one partition. Spark reads them, calls the function,
and writes what it returns to another topic. Writes latency.json, latency.md and latency.png.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.streaming import StreamingQuery

import pyflow
from benchmarks.modes import start_session
from benchmarks.page import Page, new_results
from benchmarks.report import nanos_text, table
from benchmarks.stream_functions import COUNTER, FUNCTIONS, StreamFunction, document
from benchmarks.topics import Topic
from scripts.connector_jars import kafka_jars
from scripts.kafka_broker import Broker

# Records per second, and the share of the time that is measured; at the high rate there are enough.
RATES = {1_000: 1.0, 10_000: 0.5}
# The ways that goals compare closely have all rounds, in turns; the others a share of the time.
_IN_TURNS = "cd"
_OTHERS_SHARE = 0.25
# Of the warm-up, where earlier queries have made the JVM compile most of what runs.
_WARM_SHARE = 1 / 6
# Real-time mode runs all stages at once, in two slots here, and has checkpoints of format 2.
CONF = {
    # How long the shuffle of real-time mode holds rows back to send more of them at once.
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}
# Of documents: their bytes, and how many are there when throughput is measured.
SIZES = {
    "100 B": (100, 100_000),
    "1 kB": (1_000, 50_000),
    "10 kB": (10_000, 10_000),
    "100 kB": (100_000, 1_000),
}
SIZES_RATE = 50
SIZES_WAYS = "ac"
BATCH = "5 minutes"
QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}

# Of the distribution that is drawn: close to each other where few records are slow.
_DRAWN = [*(n / 50 for n in range(46)), *(1 - 10 ** (-n / 8) for n in range(9, 33))]
_DRAIN_SECONDS = 60


@dataclass(frozen=True)
class Way:
    """A trigger, and what the records go through.

    Attributes
    ----------
    title : str
        What a reader of the tables sees.
    colour : str
        In the plots.
    real_time : bool
        Whether the trigger is that of real-time mode.
    mode : str, optional
        Execution mode of the Python function; None for the built-in expression.
    """

    title: str
    colour: str
    real_time: bool
    mode: str | None


WAYS = {
    "a": Way("(a) micro-batches, process mode", "#b5482a", False, "process"),
    "b": Way("(b) micro-batches, thread mode", "#6fa8c9", False, "thread"),
    "c": Way("(c) real-time mode, thread mode", "#1f5f8b", True, "thread"),
    "d": Way("(d) real-time mode, built-in expression", "#7d7d7d", True, None),
}


@dataclass
class Run:
    """A query from a topic of its own to another."""

    source: Topic
    sink: Topic
    query: StreamingQuery

    def close(self) -> None:
        """Stop the query, and delete its topics."""
        self.query.stop()
        self.source.delete()
        self.sink.delete()


class Bench:
    """A session and a broker."""

    def __init__(self, session: SparkSession, broker: Broker, folder: Path) -> None:
        self._session = session
        self._broker = broker
        self._folder = folder
        self._numbers = itertools.count()

    def topics(self) -> tuple[Topic, Topic]:
        """Return two topics, the second of which says when the broker got a record."""
        number = next(self._numbers)
        return (
            Topic(self._broker.address, f"in-{number}"),
            Topic(self._broker.address, f"out-{number}", message_timestamp_type="LogAppendTime"),
        )

    def start(self, way: Way, function: StreamFunction, source: Topic, sink: Topic) -> Run:
        """Start the query. The key of what it writes says which record it was, and when it came."""
        if way.mode is not None:
            self._session.conf.set("spark.pyflow.execution-mode", way.mode)
        frame = (
            self._session.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self._broker.address)
            .option("subscribe", source.name)
            .option("startingOffsets", "earliest")
            .load()
        )
        frame = frame.select(
            "offset",
            sf.unix_millis("timestamp").alias("millis"),
            sf.col("value").cast("string").alias("value"),
        )
        frame = function.builtin(frame) if way.mode is None else function.python(frame)
        frame = frame.select(sf.concat_ws(" ", "offset", "millis").alias("key"), "value")
        query = (
            frame.writeStream.format("kafka")
            .option("kafka.bootstrap.servers", self._broker.address)
            .option("topic", sink.name)
            .option("kafka.max.request.size", 10_000_000)
            .option("checkpointLocation", str(self._folder / sink.name))
            .outputMode("update")
            .trigger(**({"realTime": BATCH} if way.real_time else {"processingTime": "0 seconds"}))
            .start()
        )
        return Run(source, sink, query)

    def check(self, way: Way, run: Run) -> None:
        """Make sure that the query runs in the mode that it is measured for."""
        plan = run.query._jsq.streamingQuery().lastExecution().executedPlan().toString()  # type: ignore[attr-defined]
        if any(sign in plan for sign in ("ThreadEvalPython", "thread mode: ", "in thread mode")):
            found = "thread"
        elif "EvalPython" in plan or "InPySpark" in plan:
            found = "process"
        else:  # in real-time mode, plain functions are expressions
            found = "thread" if "pythonUDF" in plan else None
        if found != way.mode:
            raise RuntimeError(f"planned for {found} instead of {way.mode}:\n{plan}")


def feed(topic: Topic, values: Sequence[str], rate: int, seconds: float) -> int:
    """Send records as evenly as a clock tick allows; return how many."""
    sent = 0
    source = itertools.cycle(values)
    start = time.monotonic()
    while (passed := time.monotonic() - start) < seconds:
        due = int(passed * rate) - sent
        if due:
            topic.send(itertools.islice(source, due))
            sent += due
        time.sleep(max(0.001, 0.5 / rate))
    topic.flush()
    return sent


def drain(run: Run, count: int) -> int:
    """Wait for so many records at the sink while more of them come; return how many there are."""
    seen, last = 0, time.monotonic()
    while seen < count and time.monotonic() - last < _DRAIN_SECONDS:
        if not run.query.isActive:
            raise RuntimeError(f"the query has ended: {run.query.exception()}")
        found = run.sink.count()
        if found > seen:
            seen, last = found, time.monotonic()
        time.sleep(0.1)
    return seen


def arrivals(sink: Topic) -> tuple[np.ndarray, np.ndarray]:
    """When each record of the source was made, and when it was written; milliseconds."""
    times = np.array(
        [(int(each.key.split(" ")[1]), each.timestamp) for each in sink.records() if each.key],
        dtype=np.int64,
    ).reshape(-1, 2)
    return times[:, 0], times[:, 1]


def quantiles(latencies: np.ndarray, wanted: Sequence[float]) -> list[float]:
    """Quantiles of differences of whole milliseconds, as if spread evenly within theirs."""
    counts = np.bincount(latencies)
    passed = np.concatenate([[0], np.cumsum(counts)]) / len(latencies)
    edges = np.arange(len(passed)) - 0.5
    return [max(0.0, round(float(found), 3)) for found in np.interp(wanted, passed, edges)]


def _figures(made: np.ndarray, written: np.ndarray, begin: int, end: int) -> dict[str, Any]:
    """Figures of the records made in a time."""
    measured = (begin <= made) & (made < end)
    made, latencies = made[measured], (written - made)[measured]
    seconds = (made - begin) // 1_000
    return {
        "records": len(latencies),
        **dict(zip(QUANTILES, quantiles(latencies, list(QUANTILES.values())))),
        "max": int(latencies.max()),
        "distribution": quantiles(latencies, _DRAWN),
        "p99 by second": [
            quantiles(latencies[seconds == second], [0.99])[0] for second in np.unique(seconds)
        ],
    }


def _latencies(
    bench: Bench,
    way: Way,
    function: StreamFunction,
    rates: Mapping[int, float],
    warm_up: float,
) -> Iterator[dict[str, Any]]:
    """Yield the figures of each rate, of so many seconds; the query gets warm at the highest."""
    run = bench.start(way, function, *bench.topics())
    try:
        count = feed(run.source, function.values, max(rates), warm_up)
        drain(run, count)
        bench.check(way, run)
        periods = []
        for rate, seconds in rates.items():
            # A backlog of one rate must not be measured as latency of the next.
            drain(run, count)
            begin = _now()
            count += feed(run.source, function.values, rate, seconds)
            periods.append((begin, _now() + 1))
        arrived = drain(run, count)
        times = arrivals(run.sink)
        for rate, period in zip(rates, periods):
            yield {"rate": rate, "kept up": arrived >= count, **_figures(*times, *period)}
    finally:
        run.close()


def _now() -> int:
    return time.time_ns() // 1_000_000


def _throughput(bench: Bench, way: Way, function: StreamFunction, count: int) -> float:
    """Records per second of a topic that is full when the query starts."""
    source, sink = bench.topics()
    source.send(itertools.islice(itertools.cycle(function.values), count))
    source.flush()
    run = bench.start(way, function, source, sink)
    try:
        drain(run, count)
        _, written = arrivals(sink)
        return len(written) * 1_000 / max(1, int(written.max() - written.min()))
    finally:
        run.close()


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of all functions, rates and ways, and of all sizes."""
    begin = time.monotonic()
    functions = {name: make() for name, make in FUNCTIONS.items()}
    conf = {"spark.jars": ",".join([pyflow.jar_path(), *kafka_jars()]), **CONF}
    session = start_session("local[2]", conf=conf)
    # Spark logs each task of a batch that is stopped as an error.
    session.sparkContext.setLogLevel("OFF")
    raw = new_results(session, options.rounds)
    raw |= {"functions": {name: function.title for name, function in functions.items()}}
    raw |= {"seconds": options.seconds, "warm-up": options.warm_up, "sizes": []}
    with tempfile.TemporaryDirectory(prefix="latency-") as folder:
        (Path(folder) / "broker").mkdir()
        with Broker(Path(folder) / "broker") as broker:
            bench = Bench(session, broker, Path(folder))
            warm: set[str] = set()
            for name, number in itertools.product(functions, range(options.rounds)):
                for key, way in WAYS.items():
                    if number and key not in _IN_TURNS:
                        continue
                    share = 1 / options.rounds if key in _IN_TURNS else _OTHERS_SHARE
                    rates = {rate: options.seconds * share * of for rate, of in RATES.items()}
                    warm_up = options.warm_up * (_WARM_SHARE if key in warm else 1)
                    warm.add(key)
                    _report(begin, functions[name].title, way.title)
                    for figures in _latencies(bench, way, functions[name], rates, warm_up):
                        raw["samples"].append({"function": name, "way": key, **figures})
            for size, key in itertools.product(SIZES, SIZES_WAYS):
                _report(begin, f"documents of {size}", WAYS[key].title)
                figures = _by_size(bench, size, WAYS[key], options)
                raw["sizes"].append({"size": size, "way": key, **figures})
            session.stop()
    raw["minutes"] = round((time.monotonic() - begin) / 60, 1)
    return raw


def _by_size(bench: Bench, size: str, way: Way, options: argparse.Namespace) -> dict[str, Any]:
    """Throughput, and latency at a rate that all sizes reach."""
    length, count = SIZES[size]
    function = document(length)
    throughput = _throughput(bench, way, function, max(1, int(count * options.seconds / 60)))
    rates = {SIZES_RATE: options.seconds * _OTHERS_SHARE}
    (figures,) = _latencies(bench, way, function, rates, options.warm_up * _WARM_SHARE)
    return {"throughput": throughput, **figures}


def _report(begin: float, *what: str) -> None:
    minutes = (time.monotonic() - begin) / 60
    print(f"{minutes:5.1f} min: {', '.join(what)}", file=sys.stderr, flush=True)


def _samples(raw: dict[str, Any], function: str, rate: int, way: str) -> list[dict[str, Any]]:
    return [
        sample
        for sample in raw["samples"]
        if (sample["function"], sample["rate"], sample["way"]) == (function, rate, way)
    ]


def _figure(raw: dict[str, Any], function: str, rate: int, way: str, name: str) -> float:
    figures = [sample[name] for sample in _samples(raw, function, rate, way)]
    return max(figures) if name == "max" else median(figures)


def _millis_text(value: float) -> str:
    return nanos_text(value * 1e6)


def _body(raw: dict[str, Any]) -> Iterator[str]:
    yield from _introduction(raw)
    for rate in RATES:
        yield f"## {rate:,} records per second"
        yield ""
        for name, title in raw["functions"].items():
            yield from table(
                (title, *QUANTILES, "max"),
                (_row(raw, name, rate, key) for key in WAYS),
            )
    yield "![distribution, and latency by time](latency.png)"
    yield ""
    yield "## Goals"
    yield ""
    yield from table(("goal", "function", "this run", ""), _goals(raw))
    yield from _sizes(raw)


def _introduction(raw: dict[str, Any]) -> Iterator[str]:
    yield (
        "From a Kafka record through a function to a Kafka record: one partition, on `local[2]`, "
        "with broker, client and Spark on the same machine. Latency is the time from the "
        "timestamp of the input record to that of the output record: the client's clock when it "
        "sends the record (`CreateTime`), and the broker's when it has the result "
        "(`LogAppendTime`), which is the same clock here. So it includes both ways through the "
        "broker, and what a record waits anywhere. Kafka's timestamps are whole milliseconds; a "
        "quantile is what it is if they are spread evenly within theirs."
    )
    yield ""
    yield (
        f"(c) and (d) are measured for {raw['seconds']:.0f} s at 1,000 records per second and half "
        f"of that at 10,000, in {raw['rounds']} rounds in turns, (a) and (b) for a quarter of it. "
        "The first query of each way gets warm at the highest rate for "
        f"{raw['warm-up']:.0f} s, later ones for a sixth of that. Figures are medians of the "
        "rounds, *max* is the highest. "
        f"Real-time mode has batches of {BATCH}; micro-batches follow each other without a pause. "
        "The keyed counter is a processor with a state variable in RocksDB "
        "(`transformWithState`); its built-in equivalent is `groupBy().count()`. Both have a "
        "shuffle, which in real-time mode holds rows back for up to "
        "`spark.shuffle.streaming.networkBufferMaxWaitTimeMs`: 1 ms here, 50 ms by default. "
        f"The run took {raw['minutes']:.0f} minutes."
    )
    yield ""


def _row(raw: dict[str, Any], function: str, rate: int, key: str) -> list[str]:
    figures = [_figure(raw, function, rate, key, name) for name in (*QUANTILES, "max")]
    behind = not all(sample["kept up"] for sample in _samples(raw, function, rate, key))
    title = WAYS[key].title + (", does not keep up" if behind else "")
    return [title, *map(_millis_text, figures)]


_VERDICT = {True: "reached", False: "**missed**"}


def _goals_of_limit(
    raw: dict[str, Any], function: str, title: str, rate: int
) -> Iterator[list[str]]:
    """Yield how far (c) is from the limit, which is (d)."""

    def figures(quantile: str) -> list[float]:
        return [_figure(raw, function, rate, key, quantile) for key in "cd"]

    if function == COUNTER:
        found, limit = figures("p50")
        ratio = found / max(0.001, limit)
        text = f"(c) ÷ (d) at p50, {rate:,}/s: at most 2"
        yield [text, title, f"{ratio:.1f}x", _VERDICT[ratio <= 2]]
        return
    for quantile, goal in (("p50", 1), ("p99", 5)):
        found, limit = figures(quantile)
        text = f"(c) - (d) at {quantile}, {rate:,}/s: at most {goal} ms"
        yield [text, title, f"{found - limit:.1f} ms", _VERDICT[found - limit <= goal]]


def _goals(raw: dict[str, Any]) -> Iterator[list[str]]:
    for name, title in raw["functions"].items():
        for rate in RATES:
            yield from _goals_of_limit(raw, name, title, rate)
        rate = min(RATES)
        for quantile, goal in (("p50", 10), ("p99", 50)):
            found = _figure(raw, name, rate, "c", quantile)
            text = f"(c) at {quantile}, {rate:,}/s: at most {goal} ms"
            yield [text, title, _millis_text(found), _VERDICT[found <= goal]]
        ratio = _figure(raw, name, rate, "a", "p50") / max(
            0.001, _figure(raw, name, rate, "c", "p50")
        )
        yield [
            f"(a) ÷ (c) at p50, {rate:,}/s: at least 20",
            title,
            f"{ratio:.0f}x",
            _VERDICT[ratio >= 20],
        ]


def _sizes(raw: dict[str, Any]) -> Iterator[str]:
    yield "## JSON by size of the document"
    yield ""
    yield (
        "Load, lower, dump. Throughput is that of a topic that is full when the query starts, from "
        f"the first record at the sink to the last; latency is the median at {SIZES_RATE} records "
        "per second: what PyFlink published for its thread mode."
    )
    yield ""
    header = [
        f"{WAYS[key].title}, {what}"
        for what in ("records per second", "latency")
        for key in SIZES_WAYS
    ]
    found = {(sample["size"], sample["way"]): sample for sample in raw["sizes"]}
    yield from table(
        ("document", *header),
        (
            [
                size,
                *(f"{found[size, key]['throughput']:,.0f}" for key in SIZES_WAYS),
                *(_millis_text(found[size, key]["p50"]) for key in SIZES_WAYS),
            ]
            for size in SIZES
        ),
    )


def _draw(raw: dict[str, Any], path: Path) -> None:
    """Draw, for each function and rate, the latency by quantile and by time."""
    shape = (2 * len(RATES), len(raw["functions"]))
    size = (4.6 * shape[1], 3.2 * shape[0])
    figure, panels = plt.subplots(*shape, figsize=size, layout="constrained", sharey=True)
    for column, (name, title) in enumerate(raw["functions"].items()):
        for line, rate in enumerate(RATES):
            axes = panels[2 * line][column]
            axes.set_title(f"{title}, {rate:,}/s", loc="left", fontsize=9)
            _draw_distribution(raw, axes, name, rate)
            _draw_time(raw, panels[2 * line + 1][column], name, rate)
    for axes in panels.flat:
        axes.set_yscale("log")
        axes.set_ylim(bottom=0.5)
        axes.grid(axis="y", color="#e3e3e3")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in panels[:, 0]:
        axes.set_ylabel("ms")
    panels[0][0].legend(frameon=False, fontsize=7)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def _draw_distribution(raw: dict[str, Any], axes: Axes, function: str, rate: int) -> None:
    """Draw the latency that a share of the records does not exceed; the slow ones at large."""
    for key, way in WAYS.items():
        curves = [sample["distribution"] for sample in _samples(raw, function, rate, key)]
        slower = [1 / (1 - quantile) for quantile in _DRAWN]
        axes.plot(slower, np.median(curves, axis=0), color=way.colour, label=way.title)
    axes.set_xscale("log")
    shown = {1: "0", 2: "50 %", 10: "90 %", 100: "99 %", 1_000: "99.9 %", 10_000: "99.99 %"}
    axes.set_xticks(list(shown), list(shown.values()), fontsize=8)
    axes.minorticks_off()


def _draw_time(raw: dict[str, Any], axes: Axes, function: str, rate: int) -> None:
    """Draw the 99th percentile of each second."""
    for key, way in WAYS.items():
        seconds = [
            value
            for sample in _samples(raw, function, rate, key)
            for value in sample["p99 by second"]
        ]
        axes.plot(seconds, color=way.colour)
    axes.set_xlabel("seconds; 99 % of each", fontsize=8)


PAGE = Page("latency", "benchmarks.latency", "Latency from Kafka to Kafka", _body, _draw)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the page of an earlier run."""
    PAGE.run(measure, arguments, rounds=2, seconds=60.0, warm_up=30.0)


if __name__ == "__main__":
    main()
