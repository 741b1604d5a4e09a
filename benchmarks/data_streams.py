"""The DataStream API beside PyFlink's: ``python -m benchmarks.data_streams``.

The same jobs in PyFlow and in PyFlink, and some in PySpark alone: how long they take, when the
first element is there, and when the result of a record of Kafka is in Kafka. Writes
data-streams.json, data-streams.md and data-streams.png.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks import beside_pyflink
from benchmarks.beside_pyflink import (
    Package,
    advantage,
    flink_connector,
    pyflink_python,
    seconds,
)
from benchmarks.latency import quantiles
from benchmarks.page import REPOSITORY, Page
from benchmarks.report import table
from benchmarks.stream_cases import BATCHES, CASES, FROM_KAFKA
from benchmarks.topics import Topic
from scripts.connector_jars import kafka_jars
from scripts.kafka_broker import Broker

_MODES = ("thread", "process")
_PACKAGES = ("pyflow", "pyspark")

RATE = 1_000
# Spark compiles what it runs for longer than that: latencies fall for a minute.
WARM_UP_SECONDS = 60
LATENCY_SECONDS = 12
_PATIENCE_SECONDS = 120
# Of which state and windows are measured.
_KEYED = ("words", "counter", "topics", "sliding", "sliding-topics", "sessions", "connected")
# Which there are in PySpark alone, too.
_PLAIN = ("typed-maps", "counter", "topics")
# Beside the jobs in PyFlow and PyFlink.
_PARTS = ("plain", "starts", "latencies")
_STARTS = {
    "PyFlow, thread mode": ("stream_cases", "thread"),
    "PyFlow, process mode": ("stream_cases", "process"),
    "PySpark": ("stream_plain", "process"),
}
# All tasks of real-time mode run at once, and its shuffle holds rows back for 50 ms by default.
_SPARK = (
    "--master local[3] --conf spark.shuffle.streaming.networkBufferMaxWaitTimeMs=1 pyspark-shell"
)


@dataclass(frozen=True)
class Way:
    """How a package runs the job whose latency is measured."""

    name: str
    package: str
    settings: dict[str, str] = field(default_factory=dict)
    buffer_timeout: int | None = None


_THREAD = {"python.execution-mode": "thread"}
_PROCESS = {"python.execution-mode": "process"}
WAYS = (
    Way("PyFlow, real-time mode", "pyflow", {**_THREAD, "pyflow.datastream.real-time": "true"}),
    Way("PyFlow, micro-batches", "pyflow", _THREAD),
    Way("PyFlink, thread mode", "pyflink", _THREAD),
    Way("PyFlink, thread mode, buffer timeout 0", "pyflink", _THREAD, 0),
    Way("PyFlink, process mode", "pyflink", _PROCESS),
    Way("PyFlink, process mode, buffer timeout 0", "pyflink", _PROCESS, 0),
)


def _measure(options: argparse.Namespace) -> dict[str, Any]:
    raw = beside_pyflink.measure(options, "stream_cases", CASES, _prepare)
    measures = (
        lambda: _plain(raw["rows"], options.rounds),
        lambda: _starts(options.rounds),
        lambda: _latencies(options.rounds),
    )
    for part, measure in zip(_PARTS, measures):
        if not options.again or part in options.again:
            raw[part] = list(measure())
    return raw


def _prepare(broker: str, case: Any, rows: int) -> None:
    """Write the numbers that a case reads."""
    if case.name in FROM_KAFKA:
        topic = Topic(broker, f"topics-{rows}", partitions=2)
        topic.send(map(str, range(1, rows + 1)))
        topic.flush()


def _plain(rows: dict[str, int], rounds: int) -> Iterator[dict[str, Any]]:
    """Yield the seconds of cases in PyFlow and in PySpark alone, by turns."""
    with tempfile.TemporaryDirectory(prefix="plain-") as folder, Broker(Path(folder)) as broker:
        jars = list(map(Path, kafka_jars()))
        python = Path(sys.executable)
        packages = {
            name: Package(name, module, python, jars, broker.address)
            for name, module in (("pyflow", "stream_cases"), ("pyspark", "stream_plain"))
        }
        for case in _PLAIN:
            for count in (rows[case] // 20, rows[case]):
                _prepare(broker.address, CASES[case], count)
            for name, mode in product(packages, _MODES):
                packages[name].seconds(case, mode, rows[case] // 20)
            for number in range(rounds):
                order = list(product(packages, _MODES))
                for name, mode in order if number % 2 else order[::-1]:
                    took = packages[name].seconds(case, mode, rows[case])
                    print(f"{case} {name} {mode} {took:.2f} s", file=sys.stderr, flush=True)
                    yield {"case": case, "package": name, "mode": mode, "seconds": took}
        for each in packages.values():
            each.close()


def _starts(rounds: int) -> Iterator[dict[str, Any]]:
    """Yield the seconds from the start of a program to its first element, by turns."""
    for number in range(rounds):
        for way in list(_STARTS) if number % 2 else list(_STARTS)[::-1]:
            module, mode = _STARTS[way]
            conf = f"--conf spark.pyflow.execution-mode={mode} pyspark-shell"
            start = time.monotonic()
            done = subprocess.run(
                [sys.executable, "-m", f"benchmarks.{module}", "start"],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                check=True,
                env={
                    **os.environ,
                    "PYSPARK_SUBMIT_ARGS": conf,
                    "PYSPARK_PYTHON": sys.executable,
                },
                cwd=REPOSITORY,
            )
            moment = json.loads(done.stdout[done.stdout.index("{") :])["first row"]
            print(f"{way}: {moment - start:.1f} s", file=sys.stderr, flush=True)
            yield {"way": way, "seconds": moment - start}


def _latencies(rounds: int) -> Iterator[dict[str, Any]]:
    """Yield the latencies of each way, by turns."""
    with tempfile.TemporaryDirectory(prefix="latency-") as folder, Broker(Path(folder)) as broker:
        for number in range(rounds):
            for way in WAYS if number % 2 else WAYS[::-1]:
                found = _latency(way, broker.address, f"{number}-{WAYS.index(way)}")
                print(f"{way.name}: {found}", file=sys.stderr, flush=True)
                yield {"way": way.name, "date": date.today().isoformat(), **found}


def _latency(way: Way, broker: str, name: str) -> dict[str, float]:
    source = Topic(broker, f"in-{name}")
    sink = Topic(broker, f"out-{name}", message_timestamp_type="LogAppendTime")
    is_pyflow = way.package == "pyflow"
    python = Path(sys.executable) if is_pyflow else pyflink_python()
    jars = map(Path, kafka_jars()) if is_pyflow else flink_connector()
    options = {
        "broker": broker,
        "source": source.name,
        "sink": sink.name,
        "jars": ";".join(jar.as_uri() for jar in jars),
        "settings": way.settings,
        "buffer_timeout": way.buffer_timeout,
    }
    with (REPOSITORY / "build" / f"{way.package}-latency.log").open("w") as log:
        job = subprocess.Popen(
            [python, "benchmarks/stream_latency_job.py", way.package, json.dumps(options)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env={
                **os.environ,
                "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
                "PYSPARK_SUBMIT_ARGS": _SPARK,
            },
            cwd=REPOSITORY,
        )
    try:
        sent = _feed(source, 0, WARM_UP_SECONDS)
        _await(sink, sent, job)
        begin = _now()
        sent = _feed(source, sent, LATENCY_SECONDS)
        _await(sink, sent, job)
    finally:
        assert job.stdin is not None
        job.stdin.close()
        try:
            job.wait(30)
        except subprocess.TimeoutExpired:
            job.kill()
            job.wait()
    times = np.array(
        [(int(str(each.value).split(" ")[1]), each.timestamp) for each in sink.records()]
    )
    latencies = (times[:, 1] - times[:, 0])[times[:, 0] >= begin]
    p50, p99 = quantiles(np.maximum(latencies, 0), [0.5, 0.99])
    return {"p50": p50, "p99": p99, "max": float(latencies.max()), "records": len(latencies)}


def _feed(topic: Topic, number: int, seconds: float) -> int:
    """Send numbers with the time, as evenly as a clock tick allows; return the next number."""
    start, first = time.monotonic(), number
    while (passed := time.monotonic() - start) < seconds:
        due = int(passed * RATE) - (number - first)
        if due:
            now = _now()
            topic.send(f"{each} {now}" for each in range(number, number + due))
            number += due
        time.sleep(0.0005)
    topic.flush()
    return number


def _await(topic: Topic, count: int, job: subprocess.Popen[bytes]) -> None:
    """Wait until a topic has so many records."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while topic.count() < count:
        if job.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"{topic.count()} of {count} records came out, see build/*.log")
        time.sleep(0.2)


def _now() -> int:
    return time.time_ns() // 1_000_000


def _millis(raw: dict[str, Any], way: str, name: str) -> float:
    return median(each[name] for each in raw["latencies"] if each["way"] == way)


def _plain_seconds(raw: dict[str, Any], case: str, package: str, mode: str) -> float:
    return median(
        each["seconds"]
        for each in raw["plain"]
        if (each["case"], each["package"], each["mode"]) == (case, package, mode)
    )


def _body(raw: dict[str, Any]) -> Iterator[str]:
    yield (
        "The same jobs of the DataStream API, unchanged but for the name of the package, over "
        "bounded numbers, in streaming mode with a parallelism of 2. "
        "Seconds from `execute()` to its end, the median of rounds by turns "
        f"({raw['rounds']}), or of one where a system takes longer than "
        f"{beside_pyflink.SLOW_SECONDS} s; each job has run before over a twentieth of the "
        "elements. In PyFlow these jobs are batches of Spark, but for those from Kafka to Kafka, "
        f"which are {BATCHES} micro-batches."
    )
    yield ""
    yield from beside_pyflink.body(raw, CASES, "data-streams")
    stateless = seconds(raw, "maps", "pyflink", "thread") / seconds(raw, "maps", "pyflow", "thread")
    keyed = {case: advantage(raw, case) for case in _KEYED if case in raw["rows"]}
    missing = [CASES[case].title for case in CASES if case not in raw["rows"]]
    yield (
        "Goals: five maps at least 3 times as fast as in PyFlink's thread mode: "
        f"{stateless:.1f} times. Keyed state and windows at least 2 times as fast as in PyFlink's "
        f"better mode: {min(keyed.values()):.1f} times at least."
    )
    if missing:
        yield ""
        yield f"Not measured in this run: {'; '.join(missing)}."
    yield ""
    yield "## Beside PySpark alone"
    yield ""
    yield (
        "The same jobs as functions and processors of PySpark, in the same execution mode; of the "
        "medians of rounds by turns."
    )
    yield ""
    yield from table(
        ("job", "mode", "PyFlow", "PySpark", "PyFlow ÷ PySpark"),
        (
            [CASES[case].title, mode, f"{ours:.2f} s", f"{plain:.2f} s", f"{ours / plain:.2f}"]
            for case, mode in product(_PLAIN, _MODES)
            for ours, plain in [[_plain_seconds(raw, case, each, mode) for each in _PACKAGES]]
        ),
    )
    yield ""
    yield (
        "Seconds from the start of a program to the first element of a keyed process over two "
        "elements of a collection; PySpark is without PyFlow's plugin."
    )
    yield ""
    starts = {
        way: median(each["seconds"] for each in raw["starts"] if each["way"] == way)
        for way in _STARTS
    }
    yield from table(
        ("program", "seconds", "÷ PySpark"),
        ([way, f"{took:.1f} s", f"{took / starts['PySpark']:.2f}"] for way, took in starts.items()),
    )
    yield ""
    yield "## Latency"
    yield ""
    yield (
        f"{RATE:,} records a second come from a topic of one partition, are counted by key in "
        "state, and go to another topic, with a parallelism of 1. Milliseconds from when a record "
        f"is handed to Kafka's producer to when the broker has its result, over {LATENCY_SECONDS} "
        f"s after {WARM_UP_SECONDS} s that are not counted, the median of rounds by turns "
        f"({len(raw['latencies']) // len(WAYS)}), on {raw['latencies'][-1]['date']}. Goals of "
        "real-time mode: 5 ms in the median, and a p99 no greater than that of PyFlink's thread "
        "mode."
    )
    yield ""
    yield from table(
        ("way", "p50", "p99", "greatest"),
        (
            [
                way.name,
                *(f"{_millis(raw, way.name, name):.1f} ms" for name in ("p50", "p99", "max")),
            ]
            for way in WAYS
        ),
    )


def _draw(raw: dict[str, Any], path: Path) -> None:
    beside_pyflink.draw(raw, path, CASES)


PAGE = Page("data-streams", "benchmarks.data_streams", "Data streams beside PyFlink", _body, _draw)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the page of an earlier run."""
    PAGE.run(_measure, arguments, rounds=3, parts=[*CASES, *_PARTS], scale=1.0)


if __name__ == "__main__":
    main()
