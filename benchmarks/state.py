"""What state costs: ``python -m benchmarks.state``.

Access beside the state store: a processor of ``transformWithState`` in a JVM without Spark, whose
state is a field of a Java object. Queries: the same stream in process mode and in thread mode.
Writes state.json, state.md and state.png.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pyspark
from pyspark.sql import Row, SparkSession
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import LongType, StructType

import pyflow
from benchmarks.bridge_calls import JavaRun, compile_java, run_java, stateful_spec
from benchmarks.modes import start_session
from benchmarks.page import Page, new_results
from benchmarks.report import table
from benchmarks.stateful_queries import BUILT_IN, MODES, SMALL_ROWS, Queries

ACCESSES = 1000

# What is called, by the key that the processor gets.
CASES = ("`exists()`: the upcall alone", "`update()` of a long", "`get()` of a long")
_INTERPRETERS = ("shared", "isolated")


class Accessing(StatefulProcessor):
    """Calls one method of a state variable again and again."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the variable."""
        self._state = handle.getValueState("state", StructType().add("n", LongType()))

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        """Call the method that the key stands for."""
        state = self._state
        if key[0] == 0:
            for _ in range(ACCESSES):
                state.exists()
        elif key[0] == 1:
            value = (5,)
            for _ in range(ACCESSES):
                state.update(value)
        else:
            state.update((5,))
            for _ in range(ACCESSES):
                state.get()
        return iter([])


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of all cases."""
    session = start_session("local[2]")
    # Spark warns of each value that is not there yet, in process mode only.
    session.sparkContext.setLogLevel("ERROR")
    raw = {**new_results(session, options.rounds), "events": options.events, "keys": options.keys}
    raw["queries"] = _measure_queries(session, options)
    session.stop()
    class_path = f"{pyflow.jar_path()}:{Path(pyspark.__path__[0]) / 'jars' / '*'}"
    with tempfile.TemporaryDirectory(prefix="state-") as name:
        folder = Path(name)
        compile_java("StateCalls", folder, class_path)
        spec = folder / "spec.json"
        spec.write_text(json.dumps(stateful_spec(Accessing())))
        for round_number in range(1, options.rounds + 1):
            for key, case in enumerate(CASES):
                for interpreter in _INTERPRETERS:
                    arguments = (
                        *(sys.executable, interpreter.upper(), str(spec), case),
                        *(str(key), str(ACCESSES)),
                    )
                    run = JavaRun("pyflow", case, "StateCalls", f"{folder}:{class_path}", arguments)
                    raw["samples"] += run_java(run)
            print(f"{round_number}/{options.rounds}", file=sys.stderr, flush=True)
    return raw


#: What is measured of a query, how much thread mode should be faster, and the unit.
QUERIES = {
    "access": ("`get()` and `update()` of a long, with RocksDB", 10, "us"),
    "count": ("keyed count", 5, "s"),
    "count, rows not counted": ("keyed count, without `trackTotalNumberOfRows`", 5, "s"),
    "groups": ("keyed count by `applyInPandasWithState`", None, "s"),
    "small": (f"micro-batch of {SMALL_ROWS} rows", 3, "ms"),
    "small, rows not counted": (
        f"micro-batch of {SMALL_ROWS} rows, without `trackTotalNumberOfRows`",
        3,
        "ms",
    ),
}


def _measure_queries(session: SparkSession, options: argparse.Namespace) -> list[dict[str, Any]]:
    found = []
    with tempfile.TemporaryDirectory(prefix="state-") as name:
        queries = Queries(session, Path(name), int(options.events), int(options.keys))
        for round_number in range(1, int(options.query_rounds) + 1):
            for mode in (*MODES, BUILT_IN):
                of_python = {}
                if mode != BUILT_IN:
                    of_python["access"] = queries.access_nanos(mode) / 1e3
                    of_python["groups"] = queries.groups_seconds(mode)
                figures = of_python | {
                    "count": queries.count_seconds(mode, tracked=True),
                    "count, rows not counted": queries.count_seconds(mode, tracked=False),
                    "small": queries.small_batch_millis(mode, tracked=True),
                    "small, rows not counted": queries.small_batch_millis(mode, tracked=False),
                }
                found += [{"query": q, "mode": mode, "value": v} for q, v in figures.items()]
                print(f"queries, {mode}, {round_number}", file=sys.stderr, flush=True)
    return found


def _least_of_query(raw: dict[str, Any], query: str, mode: str) -> float:
    return min(
        sample["value"]
        for sample in raw["queries"]
        if (sample["query"], sample["mode"]) == (query, mode)
    )


def _of_queries(raw: dict[str, Any]) -> Iterator[str]:
    yield "## Queries"
    yield ""
    yield (
        "A stream with RocksDB as its store on `local[2]`, from files to no sink, in both modes by "
        f"turns. The keyed count is one batch of {raw['events']:,.0f} rows with "
        f"{raw['keys']:,.0f} keys, and a hundredth of both over data frames; accesses are the "
        "difference between many and none for each of a few keys; small batches are the median of "
        "those after the first ones. Built-in is `groupBy().count()`, which needs no Python: what "
        "Spark takes to plan and commit a batch. The least of the rounds."
    )
    yield ""
    yield from table(
        ("query", "process mode", "thread mode", "built-in", "process ÷ thread", "goal"),
        (_query_row(raw, query) for query in QUERIES),
    )
    yield "![state in process and thread mode](state.png)"
    yield ""


def _query_row(raw: dict[str, Any], query: str) -> list[str]:
    title, goal, unit = QUERIES[query]
    process, thread = (_least_of_query(raw, query, mode) for mode in MODES)
    figures = [f"{value:,.1f} {unit}" for value in (process, thread)]
    # Not all have a counterpart.
    built_in = any((each["query"], each["mode"]) == (query, BUILT_IN) for each in raw["queries"])
    figures.append(f"{_least_of_query(raw, query, BUILT_IN):,.1f} {unit}" if built_in else "")
    return [title, *figures, f"{process / thread:,.1f}x", f"{goal}x" if goal else ""]


def _draw(raw: dict[str, Any], path: Path) -> None:
    """Draw how many times faster each query is in thread mode, and the goals."""
    if "queries" not in raw:
        return
    figure, axes = plt.subplots(figsize=(8, 3.5), layout="constrained")
    for place, (query, (_, goal, _)) in enumerate(QUERIES.items()):
        process, thread = (_least_of_query(raw, query, mode) for mode in MODES)
        axes.barh(place, process / thread, color="#1f5f8b")
        if goal:
            axes.plot([goal, goal], [place - 0.4, place + 0.4], color="#b5482a")
        axes.text(process / thread, place, f" {process / thread:,.1f}x", va="center")
    axes.set_yticks(range(len(QUERIES)), [title.replace("`", "") for title, *_ in QUERIES.values()])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_title("Thread mode against process mode; goals in red", loc="left", fontweight="bold")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _body(raw: dict[str, Any]) -> Iterator[str]:
    # Figures of earlier versions have no queries.
    if "queries" in raw:
        yield from _of_queries(raw)
    yield "## Access beside the state store"
    yield ""
    yield (
        f"Nanoseconds per call of a method of a state variable, out of {ACCESSES:,} in a row, "
        "where the JVM does next to nothing: what Python adds to the time of the state store. The "
        f"least of {raw['rounds']} JVMs."
    )
    yield ""
    yield from table(
        ("call", *(f"{interpreter} interpreter" for interpreter in _INTERPRETERS)),
        ([case, *(_least(raw, case, each) for each in _INTERPRETERS)] for case in CASES),
    )


def _least(raw: dict[str, Any], case: str, interpreter: str) -> str:
    found = [
        sample["ns"]
        for sample in raw["samples"]
        if (sample["case"], sample["interpreter"]) == (case, interpreter)
    ]
    return f"{min(found):,.0f} ns"


PAGE = Page("state", "benchmarks.state", "State", _body, _draw)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the page of an earlier run."""
    PAGE.run(measure, arguments, events=1_000_000, keys=100_000, query_rounds=2)


if __name__ == "__main__":
    main()
