"""Nanoseconds per row of every case in every mode, in one Spark session.

Runs as a process of its own, one per master, and prints one JSON object per line.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import threading
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from statistics import mean
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from benchmarks.cases import BY_NAME as CASES
from benchmarks.cases import Case, FunctionCase, KindCase
from benchmarks.modes import BY_NAME as MODES
from benchmarks.modes import (
    Mode,
    check_plan,
    choose,
    driver_jvm,
    java_version,
    results_of,
    start_session,
)
from benchmarks.process_tree import cpu_nanos

_FLOOR_SECONDS = 0.3
_FLOOR_BYTES = 64 << 20
_CHECKED_ROWS = 100
_DECISION_SECONDS = 4
# No query takes this long. Spark's workers sometimes wait for the JVM while it waits for them, both
# with their socket buffers full of large batches.
_MAX_QUERY_SECONDS = 60


class DifferentResultError(Exception):
    """A mode does not compute what the others compute."""


def emit(event: str, **values: Any) -> None:
    """Print one line for the parent process."""
    print(json.dumps({"event": event, **values}), flush=True)


def cached_input(session: SparkSession, case: Case, rows: int, slots: int) -> DataFrame:
    """Return the rows of a case, held in memory, one partition for each of some task slots."""
    columns = [sf.expr(sql).alias(name) for name, sql in case.columns.items()]
    frame = session.range(0, rows, 1, slots).select(*columns)
    if isinstance(case, KindCase) and case.grouped_by:
        # So that what is measured needs no exchange and no sort.
        frame = frame.repartition(slots, case.grouped_by).sortWithinPartitions(case.grouped_by)
    frame = frame.cache()
    frame.count()
    return frame


class PlainLoop:
    """The function of a case called from a Python loop over values already in memory."""

    def __init__(self, case: FunctionCase, rows: list[tuple[Any, ...]]) -> None:
        self._function = case.function
        self._single = len(case.columns) == 1
        self._arguments = [row[0] for row in rows] if self._single else rows

    def measure(self) -> tuple[float, float]:
        """Return wall and CPU nanoseconds per call."""
        calls, wall, cpu = 0, time.perf_counter_ns(), time.process_time_ns()
        while time.perf_counter_ns() - wall < _FLOOR_SECONDS * 1e9:
            self._pass()
            calls += len(self._arguments)
        return (time.perf_counter_ns() - wall) / calls, (time.process_time_ns() - cpu) / calls

    def _pass(self) -> None:
        function = self._function
        if self._single:
            for argument in self._arguments:
                function(argument)
        else:
            for arguments in self._arguments:
                function(*arguments)


class PlainLoops:
    """Plain loops at once, in a Python process for each task slot."""

    def __init__(self, case: FunctionCase, frame: DataFrame, slots: int) -> None:
        count = max(1, min(100_000, _FLOOR_BYTES // case.row_bytes))
        rows = [tuple(row) for row in frame.limit(count).collect()]
        context = multiprocessing.get_context("spawn")
        self._connections = []
        for _ in range(slots):
            ours, its = context.Pipe()
            context.Process(target=_serve_loop, args=(its, case.name, rows), daemon=True).start()
            self._connections.append(ours)

    def measure(self) -> tuple[float, float]:
        """Return wall and CPU nanoseconds per call of all processes together."""
        for connection in self._connections:
            connection.send(None)
        figures = [connection.recv() for connection in self._connections]
        walls, cpus = zip(*figures, strict=True)
        return mean(walls) / len(walls), mean(cpus)

    def close(self) -> None:
        """End the processes."""
        for connection in self._connections:
            connection.close()


def _serve_loop(connection: Connection, case: str, rows: list[tuple[Any, ...]]) -> None:
    """Measure whenever the other end asks, until it is closed."""
    function_case = CASES[case]
    assert isinstance(function_case, FunctionCase)
    loop = PlainLoop(function_case, rows)
    with contextlib.suppress(EOFError):
        while True:
            connection.recv()
            connection.send(loop.measure())


class Query:
    """A case in a mode as a Spark query over cached rows."""

    def __init__(
        self,
        case: FunctionCase | KindCase,
        mode: Mode,
        frame: DataFrame,
        rows: int,
        max_seconds: float = _MAX_QUERY_SECONDS,
    ) -> None:
        self._max_seconds = max_seconds
        self._session = frame.sparkSession
        self._mode = mode
        self._rows = rows
        self._jvm = driver_jvm(self._session)
        self._case = case
        self._input = frame

    def checksum(self) -> int:
        """Return a number that stands for the results of the first rows."""
        choose(self._session, self._mode)
        results = results_of(self._case, self._mode, self._input.limit(_CHECKED_ROWS))
        check_plan(results, self._mode)
        return int(results.select(sf.bit_xor(sf.xxhash64(*results.columns))).collect()[0][0])

    def measure(self) -> tuple[float, float]:
        """Return wall and CPU nanoseconds per row."""
        choose(self._session, self._mode)
        results = results_of(self._case, self._mode, self._input)
        expired = threading.Event()

        def cancel() -> None:
            expired.set()
            self._session.sparkContext.cancelAllJobs()

        watchdog = threading.Timer(self._max_seconds, cancel)
        watchdog.start()
        cpu, wall = cpu_nanos(self._jvm), time.perf_counter_ns()
        try:
            results.write.format("noop").mode("overwrite").save()
        except Exception as error:
            if not expired.is_set():
                raise
            raise TimeoutError(f"no end after {self._max_seconds} s") from error
        finally:
            watchdog.cancel()
        wall = time.perf_counter_ns() - wall
        return wall / self._rows, (cpu_nanos(self._jvm) - cpu) / self._rows


def warm_up(subject: PlainLoops | Query, mode: Mode) -> None:
    """Run it once; in `auto` mode long enough for a decision, which takes two seconds of tasks."""
    start = time.monotonic()
    subject.measure()
    while mode.name == "auto" and time.monotonic() - start < _DECISION_SECONDS:
        subject.measure()


def measure_case(
    session: SparkSession,
    case: FunctionCase | KindCase,
    modes: Sequence[Mode],
    rounds: int,
    rows: int,
) -> None:
    """Measure a case in all modes, one after the other in every round."""
    slots = session.sparkContext.defaultParallelism
    frame = cached_input(session, case, rows, slots)
    subjects: dict[str, PlainLoops | Query] = {}
    try:
        checksums: dict[str, int] = {}
        for mode in modes:
            if mode.name not in case.modes:
                continue
            try:
                if mode.name == "floor" and isinstance(case, FunctionCase):
                    subjects["floor"] = PlainLoops(case, frame, slots)
                else:
                    query = Query(case, mode, frame, rows)
                    checksum = query.checksum()
                    if mode.name != "passed":
                        checksums[mode.name] = checksum
                    subjects[mode.name] = query
                warm_up(subjects[mode.name], mode)
            except Exception as error:
                subjects.pop(mode.name, None)
                emit("failure", case=case.name, mode=mode.name, reason=str(error))
            emit("step", case=case.name, mode=mode.name, round=0)
        if len(set(checksums.values())) > 1:
            raise DifferentResultError(
                f"{case.name}: the results differ between modes: {checksums}"
            )
        for number in range(1, rounds + 1):
            for name, subject in subjects.items():
                try:
                    wall, cpu = subject.measure()
                except TimeoutError as error:
                    emit("failure", case=case.name, mode=name, reason=f"round {number}: {error}")
                    continue
                emit("sample", case=case.name, mode=name, rows=rows, wall_ns=wall, cpu_ns=cpu)
                emit("step", case=case.name, mode=name, round=number)
    finally:
        for subject in subjects.values():
            if isinstance(subject, PlainLoops):
                subject.close()
        frame.unpersist(blocking=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the named cases in the named modes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--master", required=True)
    parser.add_argument("--case", nargs="+", choices=CASES, required=True)
    parser.add_argument("--mode", nargs="+", choices=MODES, required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--scale", type=float, default=1.0, help="factor on the number of rows")
    options = parser.parse_args(arguments)
    session = start_session(options.master)
    emit("java", version=java_version(session))
    for name in options.case:
        case = CASES[name]
        rows = max(10, int(case.rows * options.scale))
        emit("case", case=name)
        try:
            measure_case(
                session, case, [MODES[mode] for mode in options.mode], options.rounds, rows
            )
        except Exception as error:
            emit("failure", case=name, mode=None, reason=str(error))
    session.stop()


if __name__ == "__main__":
    main()
