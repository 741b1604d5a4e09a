"""Time to the first result of a Python function in a fresh session, and memory after it.

Runs as a process of its own, one per mode, and prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence

from benchmarks import functions
from benchmarks.cases import BY_NAME as CASES
from benchmarks.modes import BY_NAME as MODES
from benchmarks.modes import (
    check_plan,
    driver_jvm,
    java_version,
    make_udf,
    results_of,
    start_session,
)
from benchmarks.process_tree import PeakMemory, memory_bytes
from benchmarks.throughput import cached_input

_MEMORY_SECONDS = 2.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Start a session, warm it up without Python, then time the first function."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--master", required=True)
    parser.add_argument(
        "--mode", choices=[name for name in MODES if name != "floor"], required=True
    )
    parser.add_argument("--memory-case", nargs="*", choices=CASES, default=[])
    parser.add_argument("--scale", type=float, default=1.0, help="factor on the number of rows")
    options = parser.parse_args(arguments)
    mode = MODES[options.mode]

    start = time.perf_counter()
    session = start_session(options.master, mode)
    session_seconds = time.perf_counter() - start
    jvm = driver_jvm(session)
    session.range(1).selectExpr("id + 1").collect()
    baseline = memory_bytes(jvm)

    frame = session.range(1)
    start = time.perf_counter()
    if mode.arrow is None:
        frame = frame.selectExpr("id + 1")
    else:
        frame = frame.select(make_udf(functions.increment, "bigint", mode)("id"))
    frame.collect()
    first_row_seconds = time.perf_counter() - start
    check_plan(frame, mode)

    memory = {}
    for name in options.memory_case:
        case = CASES[name]
        if mode.name not in case.modes:
            continue
        rows = max(10, int(case.rows * options.scale))
        frame = cached_input(session, case, rows, session.sparkContext.defaultParallelism)
        results = results_of(case, mode, frame)
        with PeakMemory(jvm) as watch:
            deadline = time.perf_counter() + _MEMORY_SECONDS
            while time.perf_counter() < deadline:
                results.write.format("noop").mode("overwrite").save()
        memory[name] = watch.peak - baseline
        session.catalog.clearCache()
    java = java_version(session)
    session.stop()
    print(
        json.dumps(
            {
                "java": java,
                "session_seconds": session_seconds,
                "first_row_seconds": first_row_seconds,
                "baseline_bytes": baseline,
                "memory_bytes": memory,
            }
        )
    )


if __name__ == "__main__":
    main()
