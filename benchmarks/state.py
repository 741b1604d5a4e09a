"""What access to state costs beside the state store: ``python -m benchmarks.state``.

A processor of ``transformWithState`` in a JVM without Spark, whose state is a field of a Java
object. Writes state.json and state.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import LongType, StructType

import pyflow
from benchmarks.bridge_calls import JavaRun, compile_java, run_java, stateful_spec
from benchmarks.machine import describe_machine
from benchmarks.page import Page
from benchmarks.report import table

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
    raw: dict[str, Any] = {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "rounds": options.rounds,
        "machine": describe_machine(),
        "samples": [],
    }
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


def _body(raw: dict[str, Any]) -> Iterator[str]:
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


PAGE = Page("state", "benchmarks.state", "Access to state", _body)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or write the page of an earlier run."""
    PAGE.run(measure, arguments)


if __name__ == "__main__":
    main()
