"""What `pyflow profile` costs the tasks that it looks at: ``python -m benchmarks.profile_cost``.

The same query with and without a profile of 100 samples per second, by turns. CPU time says more
than time where the machine has other work, and the sampling thread's own, which Linux counts apart,
the most. Writes profile-cost.json and profile-cost.md.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

from benchmarks.modes import BY_NAME as MODES
from benchmarks.modes import check_plan, driver_jvm, start_session
from benchmarks.page import Page, new_results
from benchmarks.process_tree import own_cpu_nanos, thread_cpu_nanos
from benchmarks.report import table

cloudpickle.register_pickle_by_value(sys.modules[__name__])

RATE = 100.0
ROWS = 6_000_000
# How much longer than the query a profile runs.
_MARGIN = 1.5
_SAMPLER = "pyflow-profile"


def _short(n: int) -> int:
    return _more(n)


def _more(n: int) -> int:
    return n + 1


def _deep(n: int, depth: int = 30) -> int:
    return n if depth == 0 else _deep(n, depth - 1)


CASES: dict[str, tuple[Callable[..., int], float]] = {
    "a function that calls another": (_short, 1.0),
    "a function that calls itself 30 times": (_deep, 0.1),
}


@contextmanager
def _profiled(session: SparkSession, seconds: float) -> Iterator[None]:
    jvm: Any = session._jvm
    profile = jvm.io.pyflow.plugin.PythonRequests.profileOfAllExecutors
    thread = threading.Thread(target=profile, args=(seconds, RATE))
    thread.start()
    time.sleep(0.2)
    try:
        yield
    finally:
        thread.join()


class _Subject:
    """A query whose rows go to a function."""

    def __init__(self, session: SparkSession, function: Callable[..., int], rows: int) -> None:
        self._session = session
        self._jvm = driver_jvm(session)
        self._frame = session.range(0, rows, 1, 2).select(udf(function, "long")("id"))
        check_plan(self._frame, MODES["thread"])

    def figures(self) -> dict[str, float]:
        """Return the query's time, the CPU time of the JVM and that of the sampling thread."""
        begin, cpu = time.perf_counter_ns(), own_cpu_nanos(self._jvm)
        sampling = thread_cpu_nanos(self._jvm, _SAMPLER)
        self._frame.write.format("noop").mode("overwrite").save()
        return {
            "time": time.perf_counter_ns() - begin,
            "cpu": own_cpu_nanos(self._jvm) - cpu,
            "sampling": thread_cpu_nanos(self._jvm, _SAMPLER) - sampling,
        }

    def profiled_figures(self, seconds: float) -> dict[str, float]:
        """Return the same while it is profiled."""
        with _profiled(self._session, seconds):
            return self.figures()


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of all cases."""
    session = start_session("local[2]", MODES["thread"])
    raw = new_results(session, options.rounds)
    for case, (function, share) in CASES.items():
        subject = _Subject(session, function, int(ROWS * share * options.scale))
        subject.figures()
        seconds = subject.figures()["time"] / 1e9 * _MARGIN
        subject.profiled_figures(seconds)
        for number in range(1, options.rounds + 1):
            alone = subject.figures()
            profiled = subject.profiled_figures(seconds)
            raw["samples"].append({"case": case, "alone": alone, "profiled": profiled})
            print(f"{case} {number}/{options.rounds}", file=sys.stderr, flush=True)
    session.stop()
    return raw


def _body(raw: dict[str, Any]) -> Iterator[str]:
    yield (
        f"A query of two tasks on `local[2]` alone and under `pyflow profile --rate {RATE:g}`, by "
        f"turns: how much more time and CPU time of the JVM it takes, medians of {raw['rounds']} "
        "rounds, and the CPU time of the thread that samples, in percent of one core's. The last "
        "is the cost, whatever else the machine does; of the others, what differs between rounds "
        "of the same query is no less."
    )
    yield ""
    yield from table(
        ("", "time of the query", "time", "CPU time", "of the sampling thread"),
        (_row(raw["samples"], case) for case in CASES),
    )


def _row(samples: list[dict[str, Any]], case: str) -> list[str]:
    found = [each for each in samples if each["case"] == case]

    def more(figure: str) -> str:
        alone, profiled = (
            median(each[name][figure] for each in found) for name in ("alone", "profiled")
        )
        return f"{100 * (profiled / alone - 1):+.1f} %"

    seconds = median(each["alone"]["time"] for each in found) / 1e9
    own = median(each["profiled"]["sampling"] / each["profiled"]["time"] for each in found)
    return [case, f"{seconds:.1f} s", more("time"), more("cpu"), f"{100 * own:.2f} %"]


PAGE = Page("profile-cost", "benchmarks.profile_cost", "The cost of `pyflow profile`", _body)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the page of an earlier run."""
    PAGE.run(measure, arguments, scale=1.0)


if __name__ == "__main__":
    main()
