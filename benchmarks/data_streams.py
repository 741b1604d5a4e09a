"""The DataStream API beside PyFlink's: ``python -m benchmarks.data_streams``.

The same jobs in PyFlow and in PyFlink: how long bounded ones take, and when the result of a record
of Kafka is in Kafka. Writes data-streams.json, data-streams.md, data-streams.png.
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
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks import beside_pyflink
from benchmarks.beside_pyflink import advantage, flink_connector, pyflink_python, seconds
from benchmarks.latency import quantiles
from benchmarks.page import REPOSITORY, Page
from benchmarks.report import table
from benchmarks.stream_cases import CASES
from benchmarks.topics import Topic
from scripts.kafka_broker import Broker, connector_jars

RATE = 1_000
WARM_UP_SECONDS = 30
LATENCY_SECONDS = 12
_PATIENCE_SECONDS = 120
# Of which state and windows are measured.
_KEYED = ("words", "counter", "sliding", "sessions", "connected")
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
    raw = beside_pyflink.measure(options, "stream_cases.py", CASES)
    raw["latencies"] = list(_latencies(options.rounds))
    return raw


def _latencies(rounds: int) -> Iterator[dict[str, Any]]:
    """Yield the latencies of each way, by turns."""
    with tempfile.TemporaryDirectory(prefix="latency-") as folder, Broker(Path(folder)) as broker:
        for number in range(rounds):
            for way in WAYS if number % 2 else WAYS[::-1]:
                found = _latency(way, broker.address, f"{number}-{WAYS.index(way)}")
                print(f"{way.name}: {found}", file=sys.stderr, flush=True)
                yield {"way": way.name, **found}


def _latency(way: Way, broker: str, name: str) -> dict[str, float]:
    source = Topic(broker, f"in-{name}")
    sink = Topic(broker, f"out-{name}", message_timestamp_type="LogAppendTime")
    is_pyflow = way.package == "pyflow"
    python = Path(sys.executable) if is_pyflow else pyflink_python()
    jars = map(Path, connector_jars()) if is_pyflow else flink_connector()
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


def _body(raw: dict[str, Any]) -> Iterator[str]:
    yield (
        "The same jobs of the DataStream API, unchanged but for the name of the package, over "
        "bounded numbers, in streaming mode with a parallelism of 2. "
        "Seconds from `execute()` to its end, the median of rounds by turns "
        f"({raw['rounds']}); each job has run before over a twentieth of the elements. In PyFlow "
        "these jobs are batches of Spark."
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
    yield "## Latency"
    yield ""
    yield (
        f"{RATE:,} records a second come from a topic of one partition, are counted by key in "
        "state, and go to another topic, with a parallelism of 1. Milliseconds from when a record "
        f"is handed to Kafka's producer to when the broker has its result, over {LATENCY_SECONDS} "
        f"s after {WARM_UP_SECONDS} s that are not counted, the median of rounds by turns "
        f"({raw['rounds']})."
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
    PAGE.run(_measure, arguments, rounds=3, scale=1.0)


if __name__ == "__main__":
    main()
