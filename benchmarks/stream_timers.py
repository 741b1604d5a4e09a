"""What timers cost that are not due: ``python -m benchmarks.stream_timers``.

A job registers a million timers, those of the event time or of the processing time, or none, and
then has batches without elements. Writes stream-timers.json and stream-timers.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import SparkSession

from benchmarks.modes import BY_NAME as MODES
from benchmarks.modes import start_session
from benchmarks.page import Page, new_results
from benchmarks.report import table
from pyflow.common import WatermarkStrategy
from pyflow.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflow.datastream.testing import TestStream

cloudpickle.register_pickle_by_value(sys.modules[__name__])

TIMERS = 1_000_000
KEYS = 100_000
EMPTY_BATCHES = 30
# Batches behind that of the timers that are left out: the first ones after it compact the store.
_WARM_UP = 5
_AT_ONCE = 1000
# In the year 2100, in milliseconds.
_NOT_DUE = 4_102_444_800_000

KINDS = ("none", "event time", "processing time")


class _Registered(KeyedProcessFunction):
    def __init__(self, kind: str) -> None:
        self._kind = kind

    def process_element(self, value: int, ctx: KeyedProcessFunction.Context) -> None:
        if self._kind == "event time":
            ctx.timer_service().register_event_time_timer(_NOT_DUE + value)
        elif self._kind == "processing time":
            ctx.timer_service().register_processing_time_timer(_NOT_DUE + value)


def _milliseconds(session: SparkSession, kind: str, timers: int) -> list[int]:
    """Run a job; return how long each of its empty batches takes."""
    source = TestStream().add_elements(range(timers // _AT_ONCE))
    for _ in range(_WARM_UP + EMPTY_BATCHES):
        source.add_elements([])
    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").flat_map(
        lambda value: range(value * _AT_ONCE, (value + 1) * _AT_ONCE)
    )
    numbers.key_by(lambda value: value % KEYS).process(_Registered(kind)).print()
    client = env.execute_async(kind)
    (query,) = session.streams.active
    client.get_job_execution_result().result()
    took = [each.durationMs["triggerExecution"] for each in query.recentProgress]
    return took[-EMPTY_BATCHES:]


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of all kinds."""
    session = start_session("local[2]", MODES["thread"])
    raw = new_results(session, options.rounds)
    raw["timers"] = int(TIMERS * options.scale)
    for number in range(1, options.rounds + 1):
        for kind in KINDS:
            found = _milliseconds(session, kind, raw["timers"])
            raw["samples"].append({"kind": kind, "milliseconds": found})
            print(f"{kind} {number}/{options.rounds}: {median(found)} ms", file=sys.stderr)
    session.stop()
    return raw


def _body(raw: dict[str, Any]) -> Iterator[str]:
    yield (
        f"A keyed function of a data stream registers {raw['timers']:,} timers of {KEYS:,} keys in "
        "one batch, in two subtasks on `local[2]`. How long a batch without elements takes "
        f"afterwards: medians of {EMPTY_BATCHES} batches, and of {raw['rounds']} rounds, by turns."
    )
    yield ""
    none = _median(raw, "none")
    yield from table(
        ("timers", "a batch without elements", "beside none"),
        (
            (kind, f"{_median(raw, kind):.0f} ms", f"{_median(raw, kind) - none:+.0f} ms")
            for kind in KINDS
        ),
    )


def _median(raw: dict[str, Any], kind: str) -> float:
    return median(median(each["milliseconds"]) for each in raw["samples"] if each["kind"] == kind)


PAGE = Page("stream-timers", "benchmarks.stream_timers", "Timers that are not due", _body)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the page of an earlier run."""
    PAGE.run(measure, arguments, rounds=3, scale=1.0)


if __name__ == "__main__":
    main()
