"""How much thread mode could gain for functions of the RDD API: ``python -m benchmarks.rdd``.

They run in Spark's Python workers, and nothing else is built, because of what this measures: the
time of an RDD operation in process mode, and the time that PySpark's own code needs for the same
pickled data within one process, from memory to memory. Thread mode would have to do all of the
latter, so that the ratio is more than it could ever reach. Writes rdd.json and rdd.md.
"""

from __future__ import annotations

import argparse
import io
import struct
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import add
from statistics import median
from typing import Any

from pyspark import RDD, SparkContext, StorageLevel
from pyspark.serializers import NoOpSerializer
from pyspark.util import _load_from_socket

from benchmarks.modes import start_session
from benchmarks.page import Page, new_results
from benchmarks.report import nanos_text, table

_LINE = "the quick brown fox jumps over the lazy dog"


@dataclass(frozen=True)
class Case:
    """An operation on an RDD of one partition."""

    title: str
    objects: Callable[[int], Iterator[Any]]
    count: int
    operation: Callable[[RDD[Any]], Any]


CASES = (
    Case("`map`, x + 1 on integers", lambda n: iter(range(n)), 2_000_000, lambda r: r.map(_more)),
    Case(
        "`map` on pairs of a string and a number",
        lambda n: ((f"key {i % 1000}", i) for i in range(n)),
        1_000_000,
        lambda r: r.map(lambda pair: (pair[0], pair[1] + 1)),
    ),
    Case(
        "`flatMap` of lines into words, and the map side of `reduceByKey`",
        lambda n: (f"{_LINE} {i % 100}" for i in range(n)),
        200_000,
        lambda r: r.flatMap(str.split).map(lambda word: (word, 1)).mapPartitions(_combined),
    ),
    Case(
        "`mapPartitions` over 10 kB of bytes",
        lambda n: (bytes(10_000) for _ in range(n)),
        20_000,
        lambda r: r.mapPartitions(lambda values: (value[::-1] for value in values)),
    ),
    Case(
        "`mapPartitions` over 1 MB of bytes",
        lambda n: (bytes(1_000_000) for _ in range(n)),
        300,
        lambda r: r.mapPartitions(lambda values: (value[::-1] for value in values)),
    ),
)


def _more(x: int) -> int:
    return x + 1


def _combined(pairs: Iterator[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    sums: dict[str, int] = {}
    for key, value in pairs:
        sums[key] = add(sums.get(key, 0), value)
    return iter(sums.items())


class Subject:
    """A case in process mode, and as PySpark's code alone."""

    def __init__(self, context: SparkContext, case: Case) -> None:
        made = context.parallelize([case.count], 1).flatMap(case.objects)
        self._input = made.persist(StorageLevel.MEMORY_ONLY)
        self._input.count()
        self._output = case.operation(self._input)
        served = context._jvm.PythonRDD.collectAndServe(self._input._jrdd.rdd())  # type: ignore[union-attr]
        with _load_from_socket(served, NoOpSerializer()) as frames:
            self._pickled = b"".join(struct.pack(">i", len(each)) + each for each in frames)

    def in_workers(self) -> int:
        """Nanoseconds of a job that has Spark's worker make the results and drops them."""
        start = time.perf_counter_ns()
        self._output._jrdd.count()
        return time.perf_counter_ns() - start

    def alone(self) -> int:
        """Nanoseconds of what happens within the worker."""
        results = io.BytesIO()
        start = time.perf_counter_ns()
        objects = self._output._prev_jrdd_deserializer.load_stream(io.BytesIO(self._pickled))
        self._output._jrdd_deserializer.dump_stream(self._output.func(0, objects), results)
        return time.perf_counter_ns() - start

    def close(self) -> None:
        self._input.unpersist(blocking=True)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of all cases."""
    session = start_session("local[1]")
    raw = new_results(session, options.rounds)
    for case in CASES:
        subject = Subject(session.sparkContext, case)
        subject.in_workers()
        subject.alone()
        for number in range(1, options.rounds + 1):
            figures = {"workers": subject.in_workers(), "alone": subject.alone()}
            raw["samples"].append({"case": case.title, "objects": case.count, **figures})
            print(f"{case.title} {number}/{options.rounds}", file=sys.stderr, flush=True)
        subject.close()
    session.stop()
    return raw


def _body(raw: dict[str, Any]) -> Iterator[str]:
    yield (
        "Time per object of an RDD of one partition, cached as the pickled bytes that it consists "
        "of, on `local[1]`: of a job in process mode, and of PySpark's own code for the same bytes "
        "within one process, which unpickles them, calls the functions and pickles the results. "
        "Thread mode would have to do the latter, too, so that it could not gain more than the "
        f"last column says. Medians of {raw['rounds']} rounds; both are measured in each."
    )
    yield ""
    yield from table(
        ("", "process mode", "of that within Python", "thread mode: at most"),
        (_row(raw["samples"], case) for case in CASES),
    )


def _row(samples: list[dict[str, Any]], case: Case) -> list[str]:
    found = [sample for sample in samples if sample["case"] == case.title]
    workers = median(sample["workers"] / sample["objects"] for sample in found)
    alone = median(sample["alone"] / sample["objects"] for sample in found)
    return [case.title, nanos_text(workers), nanos_text(alone), f"{workers / alone:.2f}x"]


PAGE = Page("rdd", "benchmarks.rdd", "Functions of the RDD API", _body)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the page of an earlier run."""
    PAGE.run(measure, arguments)


if __name__ == "__main__":
    main()
