"""Does anything grow? Two users run mixed functions in one JVM, with failures, cancellations, early
ends, mode switches, broadcast variables and sessions that follow each other:
``python -m benchmarks.soak``.

Samples memory, threads, file descriptors and JNI references, draws them, and fails if the second
half of the run has more of them than the first, seen when a session has been stopped and the next
one has started, the heap has been collected and malloc has given back what is free: what is left
then is held by the JVM. Before it comes a warm-up, in which Spark's thread pools and the JVM's own
memory grow to their size.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pandas as pd
import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.pandas.functions import PandasUDFType

from benchmarks.modes import driver_jvm, start_session
from benchmarks.progress import Progress

cloudpickle.register_pickle_by_value(sys.modules[__name__])

Program = Callable[[DataFrame], DataFrame]

_USERS = 2
_ROWS = 20_000
_SAMPLE_SECONDS = 5.0
_CANCEL_SECONDS = 0.4
# A session is stopped after so long, or earlier, so that there are some of them.
_SESSION_SECONDS = 90.0
_SESSIONS = 4
# What makes a JVM give up all that nothing holds. Spark's cleaner needs a collection and some time.
_REST = ("GC.run", "GC.run", "System.trim_native_heap")
_REST_SECONDS = 3.0
# By how much the second half of a run may exceed the first.
_TOLERANCE = {
    "memory_mb": 40.0,
    "python_mb": 8.0,
    "interpreters": 0.0,
    "threads": 4.0,
    "descriptors": 8.0,
    "jni_references": 16.0,
}
# What each session that was stopped leaves in its JVM, with and without the plugin: Spark closes
# neither a socket nor the jar of spark.jars.
_LEFT_BY_SPARK = {"descriptors": 2.0}
# Shares of the modes.
_MODES = {
    "mixed": {"thread": 8, "auto": 1, "process": 1},
    "process": {"process": 1},
}
_TITLES = {
    "memory_mb": "resident memory of the JVM, MB",
    "python_mb": "of that, allocated by CPython, MB",
    "interpreters": "isolated interpreters",
    "threads": "threads that are not Spark's or the JVM's",
    "descriptors": "file descriptors",
    "jni_references": "global JNI references",
}


@dataclass(frozen=True)
class Sample:
    """The JVM at one moment.

    Attributes
    ----------
    seconds : float
        Since the start of the load.
    at_rest : bool
        Whether a session had just started, instead of running queries.
    """

    seconds: float
    at_rest: bool
    memory_mb: float
    python_mb: float
    interpreters: float
    threads: float
    descriptors: float
    jni_references: float


def rest(jvm: int) -> None:
    """Make a JVM give up what nothing holds."""
    for command in _REST:
        subprocess.run(["jcmd", str(jvm), command], capture_output=True, check=True)
        time.sleep(_REST_SECONDS)


def _reported(metrics: Path, gauge: str) -> float:
    reports = metrics.glob(f"*plugin.io.pyflow.PyFlowPlugin.{gauge}.csv")
    of_session = max(reports, key=os.path.getmtime)
    return float(of_session.read_text().split()[-1].split(",")[1])


def sample(jvm: int, metrics: Path, seconds: float, *, at_rest: bool) -> Sample:
    """Look at a JVM, and at what it has reported last."""
    status = Path(f"/proc/{jvm}/status").read_text()
    fields = dict(re.findall(r"^(\w+):\s+(\d+)", status, re.MULTILINE))
    dump = subprocess.run(["jstack", str(jvm)], capture_output=True, text=True, check=True).stdout
    references = re.search(r"JNI global refs: (\d+)", dump)
    assert references is not None
    named = re.findall(r'^"(.*?)" .*\bnid=', dump, re.MULTILINE)
    of_others = sum(not name.startswith("pyflow") for name in named)
    return Sample(
        seconds,
        at_rest,
        int(fields["VmRSS"]) / 1024,
        _reported(metrics, "pythonMemory") / 1e6,
        _reported(metrics, "isolatedInterpreters"),
        int(fields["Threads"]) - of_others,
        len(os.listdir(f"/proc/{jvm}/fd")),
        int(references[1]),
    )


def _increment(n: int) -> int:
    return n + 1


def _lower(n: int) -> str:
    document = json.loads(f'{{"number": {n}, "name": "NAME {n}"}}')
    return json.dumps({key: str(value).lower() for key, value in document.items()})


def _record(n: int) -> tuple[Any, ...]:
    return (n, [n, None, -n], {f"key {n}": n}, f"text {n}", float(n))


def _inexact(n: int) -> Any:
    return str(n) if n % 3 == 0 else float(n)


def _fail(n: int) -> int:
    if n % 7_001 == 7_000:
        raise ValueError(f"row {n}")
    return n


def _imports_numpy(n: int) -> float:
    import numpy as np

    return float(np.sqrt(n))


def _never_returns(n: int) -> int:
    kept = []
    while True:
        kept = [n, *kept[:100]]


def _fail_in_batch(column: pd.Series) -> pd.Series:
    if (column == _ROWS - 1).any():
        raise ValueError("the last row")
    return column


def _batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch.rename_columns(["result"])


def _group(group: pd.DataFrame) -> pd.DataFrame:
    return group.assign(result=group.id - group.id.mean())[["result"]]


class _Words:
    def eval(self, n: int) -> Iterator[Any]:
        for word in f"one two {n}".split():
            yield (word,)


class User:
    """Whose queries come one after the other, chosen at random.

    Attributes
    ----------
    done : Counter
        How many of each kind have ended.
    modes : Counter
        The same by their modes.
    session : SparkSession
        In which they run.
    """

    def __init__(
        self, number: int, session: SparkSession, seed: int, shares: dict[str, int]
    ) -> None:
        self.done: Counter[str] = Counter()
        self.modes: Counter[str] = Counter()
        self.session = session
        self._shares = shares
        self._group = f"user {number}"
        self._random = random.Random(seed + number)
        self._queries: list[Callable[[], None]] = [
            lambda: self._run("increment", _increment, "long"),
            lambda: self._run("json", _lower, "string"),
            lambda: self._run(
                "struct", _record, "a long, b array<long>, c map<string,long>, d string, e double"
            ),
            lambda: self._run("inexact", _inexact, "string"),
            lambda: self._run("numpy", _imports_numpy, "double"),
            lambda: self._run("limit", _lower, "string", lambda frame: frame.limit(3)),
            lambda: self._fails("failure", _fail),
            lambda: self._runs("pandas", self._pandas(lambda column: column + 1)),
            lambda: self._fail_to_run("pandas failure", self._pandas(_fail_in_batch)),
            lambda: self._runs("mapInArrow", lambda rows: rows.mapInArrow(_batches, "result long")),
            lambda: self._runs(
                "mapInArrow, limit",
                lambda rows: rows.mapInArrow(_batches, "result long").limit(3),
            ),
            lambda: self._runs(
                "applyInPandas",
                lambda rows: rows.groupBy(rows.id % 50).applyInPandas(_group, "result double"),
            ),
            lambda: self._runs("udtf", self._words),
            self._broadcast,
            self._large_function,
            self._cancel,
        ]
        if "thread" in shares:
            self._queries.append(self._expire)

    def run_until(self, end: float) -> None:
        """Run queries until a time of the monotonic clock."""
        self.session.sparkContext.setJobGroup(self._group, self._group)
        while time.monotonic() < end:
            mode = self._random.choices(list(self._shares), list(self._shares.values()))[0]
            self.session.conf.set("spark.pyflow.execution-mode", mode)
            interpreter = self._random.choice(["auto", "shared"])
            self.session.conf.set("spark.pyflow.interpreter", interpreter)
            self.modes[mode] += 1
            self._random.choice(self._queries)()

    def _plain(self, function: Callable[[int], Any], returns: str) -> Program:
        made = sf.udf(function, returns, useArrow=self._random.random() < 0.5)
        return lambda rows: rows.select(made("id").alias("result"))

    def _pandas(self, function: Callable[[pd.Series], pd.Series]) -> Program:
        made = sf.pandas_udf(function, "long", PandasUDFType.SCALAR)
        return lambda rows: rows.select(made("id").alias("result"))

    def _words(self, rows: DataFrame) -> DataFrame:
        words = sf.udtf(_Words, returnType="word string", useArrow=self._random.random() < 0.5)
        return rows.lateralJoin(words(sf.col("id").outer())).select("word")

    def _run(
        self,
        name: str,
        function: Callable[[int], Any],
        returns: str,
        restrict: Callable[[DataFrame], DataFrame] = lambda frame: frame,
    ) -> None:
        program = self._plain(function, returns)
        self._runs(name, lambda rows: restrict(program(rows)))

    def _runs(self, name: str, program: Program) -> None:
        rows = self.session.range(_ROWS, numPartitions=2)
        program(rows).write.format("noop").mode("overwrite").save()
        self.done[name] += 1

    def _broadcast(self) -> None:
        """Every other variable is destroyed; the others are left to Spark's cleaner."""
        variable = self.session.sparkContext.broadcast(list(range(200_000)))
        self._run("broadcast", lambda n: variable.value[n], "long")
        if self._random.random() < 0.5:
            variable.destroy()

    def _large_function(self) -> None:
        ballast = os.urandom(3 << 19)
        self._run("large function", lambda n: n + len(ballast), "long")

    def _fails(self, name: str, function: Callable[[int], Any]) -> None:
        self._fail_to_run(name, self._plain(function, "long"))

    def _fail_to_run(self, name: str, program: Program) -> None:
        try:
            self._runs("", program)
        except Exception:
            self.done[name] += 1
        else:
            raise AssertionError(f"{name}: no error")

    def _cancel(self) -> None:
        ended = threading.Event()

        def cancel() -> None:
            # Again and again: the job may not have begun yet.
            while not ended.wait(_CANCEL_SECONDS):
                self.session.sparkContext.cancelJobGroup(self._group)

        canceller = threading.Thread(target=cancel)
        canceller.start()
        try:
            self._fails("cancellation", _never_returns)
        finally:
            ended.set()
            canceller.join()

    def _expire(self) -> None:
        self.session.conf.set("spark.pyflow.execution-mode", "thread")
        self.session.conf.set("spark.pyflow.python.timeout", "300ms")
        try:
            self._fails("timeout", _never_returns)
        finally:
            self.session.conf.unset("spark.pyflow.python.timeout")


def growth(samples: Sequence[Sample], field: str, warm_up: float) -> float:
    """By how much the median of the second half exceeds that of the first, at rest.

    The warm-up does not count, and what Spark leaves behind of its sessions is taken off.
    """
    resting = [each for each in samples if each.at_rest and each.seconds >= warm_up]
    values = [float(getattr(each, field)) for each in resting]
    half = len(values) // 2
    sessions = len(values) / 2
    left = _LEFT_BY_SPARK.get(field, 0.0) * sessions
    return median(values[half:]) - median(values[:half]) - left


def draw(samples: Sequence[Sample], warm_up: float, path: Path) -> None:
    """Draw every figure over time, the warm-up shaded, the moments of rest as points."""
    resting = [each for each in samples if each.at_rest]
    figure, panels = plt.subplots(
        len(_TITLES), 1, figsize=(9, 10.5), sharex=True, layout="constrained"
    )
    for axes, (field, title) in zip(panels, _TITLES.items(), strict=True):
        axes.axvspan(0, warm_up / 60, color="#f0f0f0")
        axes.plot(
            [each.seconds / 60 for each in samples],
            [getattr(each, field) for each in samples],
            color="#9bbbd0",
        )
        axes.plot(
            [each.seconds / 60 for each in resting],
            [getattr(each, field) for each in resting],
            "o-",
            markersize=3,
            color="#1f5f8b",
        )
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_ylim(bottom=0)
        axes.tick_params(labelsize=8)
        axes.grid(axis="y", color="#e3e3e3")
        axes.spines[["top", "right"]].set_visible(False)
    panels[-1].set_xlabel("minutes", fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _session(metrics: Path) -> SparkSession:
    """A session; its driver's JVM is that of the last one."""
    sink = "spark.metrics.conf.*.sink.csv"
    session = start_session(
        f"local[{2 * _USERS}]",
        conf={
            f"{sink}.class": "org.apache.spark.metrics.sink.CsvSink",
            f"{sink}.directory": str(metrics),
            f"{sink}.period": "2",
        },
    )
    session.sparkContext.setLogLevel("OFF")
    return session


def main(arguments: Sequence[str] | None = None) -> None:
    """Load a session for some minutes, then write ``soak.json`` and ``soak.png``."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="after the warm-up")
    parser.add_argument("--warm-up", type=float, default=5.0, help="in minutes")
    parser.add_argument(
        "--modes",
        choices=_MODES,
        default="mixed",
        help="process: what Spark and its JVM grow by, without Python in it",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"))
    options = parser.parse_args(arguments)

    metrics = Path(tempfile.mkdtemp(prefix="soak-metrics-"))
    session = _session(metrics)
    jvm = driver_jvm(session)
    start = time.monotonic()
    warm_up = options.warm_up * 60
    length = warm_up + options.minutes * 60
    per_session = min(_SESSION_SECONDS, options.minutes * 60 / _SESSIONS)
    shares = _MODES[options.modes]
    users = [User(number, session, options.seed, shares) for number in range(_USERS)]
    errors: list[BaseException] = []
    samples: list[Sample] = []
    sessions = 0
    progress = Progress(length / _SAMPLE_SECONDS)

    def run(user: User, end: float) -> None:
        try:
            user.run_until(end)
        except BaseException as error:
            errors.append(error)

    while not errors and time.monotonic() < start + length:
        end = min(start + length, time.monotonic() + per_session)
        for user in users:
            user.session = session.newSession()
        threads = [threading.Thread(target=run, args=(user, end)) for user in users]
        for thread in threads:
            thread.start()
        time.sleep(_SAMPLE_SECONDS)
        while any(thread.is_alive() for thread in threads):
            samples.append(sample(jvm, metrics, time.monotonic() - start, at_rest=False))
            queries = sum(user.done.total() for user in users)
            progress.step("soak", f"{queries} queries, {samples[-1].memory_mb:.0f} MB")
            time.sleep(_SAMPLE_SECONDS)
        session.stop()
        sessions += 1
        session = _session(metrics)
        rest(jvm)
        samples.append(sample(jvm, metrics, time.monotonic() - start, at_rest=True))
    session.stop()
    shutil.rmtree(metrics)
    if errors:
        raise errors[0]

    done = sum((user.done for user in users), Counter())
    modes = sum((user.modes for user in users), Counter())
    options.out.mkdir(parents=True, exist_ok=True)
    draw(samples, warm_up, options.out / "soak.png")
    result = {
        "minutes": options.minutes,
        "sessions": sessions,
        "queries": dict(sorted(done.items())),
        "modes": dict(sorted(modes.items())),
        "growth": {field: growth(samples, field, warm_up) for field in _TOLERANCE},
        "samples": [asdict(each) for each in samples],
    }
    (options.out / "soak.json").write_text(json.dumps(result, indent=1) + "\n")
    grown = [field for field, limit in _TOLERANCE.items() if result["growth"][field] > limit]
    for field, title in _TITLES.items():
        print(f"{title}: {result['growth'][field]:+.1f}{'  GREW' if field in grown else ''}")
    if grown:
        sys.exit(1)


if __name__ == "__main__":
    main()
