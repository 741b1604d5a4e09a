"""Fixtures of the behaviour tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

import awaited
import comparison
import deployments
import pyflow
import sessions
import stateful_streams
from scripts.connector_jars import kafka_jars, table_jars
from scripts.kafka_broker import Broker
from scripts.pyflink_examples import example_programs

sys.path.insert(0, str(sessions.MODULES))

TEST_TIMEOUT_SECONDS = 300

# A test that takes longer is too long for `make test`; docs/contributing/README.md says what to do.
FINDING_SECONDS = 60

# Files that take a minute or more are begun first: none is left to one process at the end.
LONG = {
    f"test_{name}.py"
    for name in (
        *("auto", "deployments", "kafka", "operated_streams", "start", "state", "submitted_runs"),
        *("survival", "wrong_types"),
    )
}

# Programs that live for seconds spend most of that on loading Spark's classes, and on the compiler
# for those that live for hours. A JVM that the archive was not made for loads them as ever. Without
# that compiler the JVM has room for 48 MB of code, which the queries of all tests overflow.
# G1 would collect beside the tests, on the cores that they share.
QUICK_JVM = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
CLASSES = sessions.ROOT / "build" / "spark.jsa"
FROM_ARCHIVE = f' "-XX:SharedArchiveFile={CLASSES}" -Xlog:cds*=off'


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--complete",
        action="store_true",
        help="compare the modes in full: every case, and many generated programs",
    )
    parser.addoption(
        "--examples",
        type=int,
        help="compare so many generated programs per test, other ones in each run",
    )
    parser.addoption(
        "--write-docs", action="store_true", help="write what tests have seen into the docs"
    )


def pytest_configure(config: pytest.Config) -> None:
    # A shell that starts the tests in the background has them, and what they start, ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    complete, examples = config.getoption("--complete"), config.getoption("--examples")
    if not complete or examples:
        archived = FROM_ARCHIVE if CLASSES.exists() else ""
        os.environ.setdefault("JDK_JAVA_OPTIONS", QUICK_JVM + archived)
    hypothesis.settings.register_profile(
        "programs",
        max_examples=examples or (100 if complete else 4),
        derandomize=not (complete or examples),
        print_blob=True,
        deadline=None,
        phases=[phase for phase in hypothesis.Phase if phase.name != "explain"],
        suppress_health_check=list(hypothesis.HealthCheck),
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Python's workers cannot import test modules: their functions travel by value.
    for module in {item.module for item in items if isinstance(item, pytest.Function)}:
        cloudpickle.register_pickle_by_value(module)
    for module in (comparison, awaited, stateful_streams):
        cloudpickle.register_pickle_by_value(module)
    for item in items:
        for mark in item.iter_markers("since_spark"):
            (version,) = mark.args
            if tuple(map(int, version.split("."))) > sessions.SPARK:
                item.add_marker(pytest.mark.skip(reason=f"not in Spark before {version}"))
    if not config.getoption("--complete"):
        left_out = [item for item in items if is_complete(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: item.path.name not in LONG)


def is_complete(item: pytest.Item) -> bool:
    """Whether only complete runs have the test, or this case of it."""
    case = item.name.partition("[")[2]
    return any(
        not mark.args or any(part in case for part in mark.args)
        for mark in item.iter_markers("complete")
    )


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Prints the time of each file, and the tests that take too long."""
    of_tests: Counter[str] = Counter()
    of_files: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                of_tests[report.nodeid] += report.duration
                of_files[report.nodeid.partition("::")[0]] += report.duration
    if len(of_files) > 1:
        terminalreporter.section("time per file")
        for file, seconds in of_files.most_common():
            terminalreporter.line(f"{seconds:7.1f} s  {file}")
    for test, seconds in of_tests.most_common():
        if seconds > FINDING_SECONDS:
            limit = f"more than {FINDING_SECONDS} s"
            terminalreporter.line(f"FINDING: {test} takes {seconds:.0f} s, {limit}", yellow=True)


class Sessions:
    """The session of the tests that share one."""

    def __init__(self) -> None:
        self.current: SparkSession | None = None

    def living(self) -> SparkSession:
        """The session; a new one where the JVM of the last one is dead."""
        if self.current is not None and not self.is_alive():
            sessions.forget_dead_jvm()
            self.current = None
        if self.current is None:
            self.current = sessions.start(
                conf={
                    "spark.jars": ",".join([pyflow.jar_path(), *kafka_jars(), *table_jars()]),
                    "spark.driver.memory": "3g",
                    # Compiled code would drop the messages of exceptions that it throws often.
                    "spark.driver.extraJavaOptions": "-XX:-OmitStackTraceInFastThrow",
                    "spark.python.daemon.module": "warm_daemon",
                    "spark.sql.streaming.realTimeMode.minBatchDuration": "2000",
                    # The call of a program that made each column: half of the calls of the JVM.
                    "spark.python.sql.dataFrameDebugging.enabled": "false",
                    # The plan of each query that nobody sees, as text.
                    "spark.sql.ui.explainMode": "simple",
                }
            )
            self.current.sparkContext.setLogLevel("ERROR")
        return self.current

    def close(self) -> None:
        if self.current is not None and self.is_alive():
            self.current.stop()

    def is_alive(self) -> bool:
        assert self.current is not None
        process = self.current.sparkContext._gateway.proc
        return process.poll() is None


@pytest.fixture(scope="session")
def sessions_of_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sessions]:
    """One classic session with the plugin, on two cores, replaced when a test killed its JVM."""
    where = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("session"))
    made = Sessions()
    yield made
    made.close()
    os.chdir(where)


@pytest.fixture
def spark(sessions_of_run: Sessions, pytestconfig: pytest.Config) -> Iterator[SparkSession]:
    """The session; a test that does not end in time fails, and its jobs are cancelled.

    A test that leaves a setting to those after it fails, too.
    """
    session = sessions_of_run.living()
    before = session.conf.getAll
    late = []
    seconds = TEST_TIMEOUT_SECONDS * (10 if pytestconfig.getoption("--complete") else 1)

    def expired(_signal: int, _frame: Any) -> None:
        late.append(True)
        raise TimeoutError(f"no end after {seconds} s")

    previous = signal.signal(signal.SIGALRM, expired)
    signal.alarm(seconds)
    yield session
    signal.alarm(0)
    signal.signal(signal.SIGALRM, previous)
    if late:
        session.sparkContext.cancelAllJobs()
    if sessions_of_run.is_alive():
        assert session.conf.getAll == before


@pytest.fixture(scope="session")
def pyflink_examples() -> Path:
    """PyFlink's example programs; where they cannot be downloaded, their tests are skipped."""
    try:
        return example_programs()
    except subprocess.CalledProcessError as error:
        pytest.skip(f"PyFlink's example programs cannot be downloaded: {error}")


@pytest.fixture
def forms(request: pytest.FixtureRequest) -> list[dict[str, str]]:
    """The forms of thread mode that a test is about.

    A test that `make test-all` runs again has all of them there, and otherwise one: the cases of a
    test have each in turn.
    """
    node = request.node
    marks = {mark.name for mark in node.iter_markers()}
    made = comparison.thread_modes()
    if "slice" in marks or not marks & {"core", "compared"}:
        return made
    if request.config.getoption("--complete"):
        return made
    case = sum(node.callspec.indices.values()) if hasattr(node, "callspec") else 0
    return [made[(zlib.crc32(node.originalname.encode()) + case) % len(made)]]


@pytest.fixture
def both_modes(spark: SparkSession, forms: list[dict[str, str]]) -> comparison.BothModes:
    """Runs a program under process and thread mode and compares all that can be seen of it."""
    return comparison.BothModes(spark, forms)


@pytest.fixture
def in_every_mode(spark: SparkSession, forms: list[dict[str, str]]) -> Callable[..., Any]:
    """Does something under each mode; returns what comes of it, which must be the same."""

    def run(use: Callable[[], Any]) -> Any:
        seen = []
        for mode in [comparison.process_mode(), *forms]:
            with comparison.settings(spark, mode):
                seen.append(use())
        assert all(value == seen[0] for value in seen), seen
        return seen[0]

    return run


@pytest.fixture
def arrow_lane(spark: SparkSession) -> comparison.BothModes:
    """The same for functions over Arrow batches, which run in the shared interpreter whatever the
    setting is.
    """
    return comparison.BothModes(spark, comparison.thread_modes()[:1])


@pytest.fixture(params=["arrow", "pickled"])
def make_udf(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Makes a function of either eval type of plain Python functions."""
    use_arrow = request.param == "arrow"

    def make(function: Callable[..., Any], return_type: Any = "string") -> Any:
        return udf(function, return_type, useArrow=use_arrow)

    make.eval_type = request.param  # type: ignore[attr-defined]
    return make


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A Kafka broker that runs; the tests that share it have topics of their own."""
    with Broker(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker


@pytest.fixture(scope="module")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Master URL of a standalone cluster with two workers of one core."""
    with deployments.standalone(tmp_path_factory.mktemp("standalone")) as url:
        yield url
