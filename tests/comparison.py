"""Process mode is the reference: the same program under both modes, compared bit by bit.

A program is a function of the session that returns a DataFrame or a list of them. It is called
anew for each mode, so that functions, plans and caches are made under that mode's settings.
"""

from __future__ import annotations

import datetime
import decimal
import math
import re
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.serializers import CPickleSerializer
from pyspark.sql import DataFrame, SparkSession

from sessions import INTERPRETER, MODE, OWN_GIL, SPARK

# From 3.13 on `auto` runs functions in an interpreter of the task slot, so that the shared
# interpreter is a second implementation to be checked.
INTERPRETERS = ("auto", "shared") if OWN_GIL else ("auto",)

Program = Callable[[SparkSession], "DataFrame | list[DataFrame]"]


def exact(value: Any) -> Any:
    """A nested tuple that is equal for two values only if type and every bit are equal.

    All NaNs are one value: Spark does not promise to keep their payload.
    """
    kind = type(value).__name__
    if value is None or isinstance(value, (bool, int, str, bytes)):
        return (kind, value)
    if isinstance(value, float):
        return (kind, "nan" if math.isnan(value) else struct.pack(">d", value).hex())
    if isinstance(value, decimal.Decimal):
        return (kind, tuple(value.as_tuple()))
    if isinstance(value, bytearray):
        return (kind, bytes(value))
    if isinstance(value, (datetime.datetime, datetime.time)):
        return (kind, value.isoformat(), value.fold, repr(value.tzinfo))
    if isinstance(value, (datetime.date, datetime.timedelta)):
        return (kind, repr(value))
    if isinstance(value, tuple):
        names = tuple(getattr(value, "__fields__", ()))
        return (kind, names, tuple(exact(item) for item in value))
    if isinstance(value, list):
        return (kind, tuple(exact(item) for item in value))
    if isinstance(value, dict):
        entries = [(exact(k), exact(v)) for k, v in value.items()]
        if any(isinstance(key, (bytes, bytearray)) for key in value):
            entries.sort(key=repr)  # Spark hands them to Python in the order of their identity
        return (kind, tuple(entries))
    if hasattr(value, "__dict__"):
        return (kind, tuple((name, exact(item)) for name, item in vars(value).items()))
    return (kind, repr(value))


@dataclass(frozen=True)
class Failure:
    """What a user sees of a failed query, without what differs from run to run."""

    exception: str
    condition: str | None
    detail: str

    def __contains__(self, text: str) -> bool:
        return text in self.detail


_OUR_SIDE = re.compile(r"(^|[/\\])(pyspark|pyspark\.zip|pyflow|pyarrow)[/\\]|^<frozen ")
_FRAME = re.compile(r'^(?P<indent> *)File "(?P<file>[^"]*)", line ')
_VARYING = [
    (re.compile(r"0x[0-9a-f]{6,}"), "0x"),
    (re.compile(r"#\d+L?"), "#"),
    (re.compile(r"(stage|task|Task|TID) \d+(\.\d+)?"), r"\1 N"),
    (re.compile(r"\(TID N\) \([^)]*\)"), "(TID N)"),
    # Of code that Spark generates per operator, which the JVM tells of a null pointer.
    (re.compile(r'"<local\d+>"'), '"<local>"'),
]


def user_traceback(text: str) -> str:
    """A Python traceback without the frames of PySpark and of PyFlow.

    Process mode runs functions in PySpark's worker and thread mode elsewhere; the frames of the
    user's code and every line about the exceptions must be the same.
    """
    kept = []
    skipped_indent = -1
    for line in text.splitlines():
        frame = _FRAME.match(line)
        indent = len(line) - len(line.lstrip(" "))
        if frame:
            skipped_indent = indent if _OUR_SIDE.search(frame["file"]) else -1
        elif indent <= skipped_indent:
            skipped_indent = -1
        if skipped_indent < 0 and not line.startswith("Traceback "):
            kept.append(line)
    return _without_varying("\n".join(kept).strip())


def _without_varying(text: str) -> str:
    for pattern, replacement in _VARYING:
        text = pattern.sub(replacement, text)
    return text


def failure(error: BaseException) -> Failure:
    """The failure of a query as a value that can be compared."""
    name = type(error).__name__
    if isinstance(error, Py4JJavaError):
        causes = []
        cause = error.java_exception
        while cause is not None:
            lines = [
                line
                for line in (cause.getMessage() or "").splitlines()
                if not line.startswith(("\tat ", "\t...", "Driver stacktrace"))
            ]
            causes.append(f"{cause.getClass().getName()}: " + "\n".join(lines))
            cause = cause.getCause()
        return Failure(name, None, _without_varying("\n".join(causes)))
    if isinstance(error, PySparkException):
        parameters = error.getMessageParameters() or {}
        detail = parameters.get("traceback") or str(error).split("\n\nJVM stacktrace:")[0]
        text = detail.removeprefix(_OF_FUNCTION)
        return Failure(name, error.getCondition(), _without_hint(user_traceback(text)))
    return Failure(name, None, str(error))


# Before 4.2 Spark has a text, but no condition for the error of a function.
_OF_FUNCTION = (
    "\n  An exception was thrown from the Python worker. Please see the stack trace below.\n"
)
FUNCTION_ERROR = "PYTHON_EXCEPTION" if SPARK >= (4, 2) else None


def _without_hint(text: str) -> str:
    """Before 3.12 names are suggested where exceptiongroup is imported, as it is by pytest."""
    if sys.version_info >= (3, 12):
        return text
    return re.sub(r"\. Did you mean: '\w+'\?", "", text)


def executed_plan(frame: DataFrame) -> str:
    """The physical plan of a DataFrame; after an action the adaptive one is final."""
    return frame._jdf.queryExecution().executedPlan().toString()


def operator(plan: Any, name: str) -> Any:
    """The node of an executed plan with this name, also below adaptive execution."""
    if plan.nodeName() == "AdaptiveSparkPlan":
        return operator(plan.executedPlan(), name)
    if plan.nodeName() == name:
        return plan
    children = plan.children()
    for index in range(children.size()):
        found = operator(children.apply(index), name)
        if found is not None:
            return found
    return None


_IN_THREAD = re.compile(
    r"\bThread\w*(Python|PythonUDTF|InBatch|InPandas(WithState)?)\b|\(Python in thread mode,"
)
_IN_PROCESS = re.compile(
    r"\b((Batch|Arrow)EvalPython(UDTF)?|Arrow(Aggregate|Window)Python"
    r"|MapIn(Pandas|Arrow)|FlatMap\w+In(Pandas|Arrow)(WithState)?|TransformWithStateInPySpark)\b"
)


def in_thread(plan: str) -> bool:
    """Whether a Python function of the plan runs in thread mode."""
    return bool(_IN_THREAD.search(plan))


def in_process(plan: str) -> bool:
    """Whether a Python function of the plan runs in process mode."""
    return bool(_IN_PROCESS.search(plan)) or "(Python)" in plan


def assert_thread_plan(plan: str) -> None:
    """Fails unless every Python function of the plan runs in thread mode."""
    assert in_thread(plan), plan
    assert not in_process(plan), plan


def assert_process_plan(plan: str) -> None:
    """Fails unless every Python function of the plan runs in process mode."""
    assert not in_thread(plan), plan
    assert in_process(plan), plan


@contextmanager
def settings(spark: SparkSession, conf: Mapping[str, str]) -> Iterator[None]:
    """Session settings for a while."""
    before = {key: spark.conf.get(key, None) for key in conf}
    try:
        for key, value in conf.items():
            spark.conf.set(key, value)
        yield
    finally:
        for key, value in before.items():
            if value is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, value)


def process_mode() -> dict[str, str]:
    return {MODE: "process"}


def thread_modes() -> list[dict[str, str]]:
    """Every form of thread mode that the running Python has."""
    return [{MODE: "thread", INTERPRETER: interpreter} for interpreter in INTERPRETERS]


@dataclass
class Observation:
    """What a program gave under one mode."""

    schemas: list[str]
    rows: list[list[Any]] | None
    failure: Failure | None
    plans: list[str]


class BothModes:
    """Runs programs under process mode and under forms of thread mode.

    Parameters
    ----------
    spark : SparkSession
    modes : list of dict, optional
        The forms of thread mode, all by default.
    """

    def __init__(self, spark: SparkSession, modes: list[dict[str, str]] | None = None) -> None:
        self.spark = spark
        self._modes = modes or thread_modes()

    def __call__(
        self,
        program: Program,
        conf: Mapping[str, str] | None = None,
        *,
        in_process: bool = False,
    ) -> list[Any]:
        """Compares the rows of a program that succeeds.

        Parameters
        ----------
        program : callable
            Takes the session, returns a DataFrame or a list of them.
        conf : mapping, optional
            Session settings of all runs.
        in_process : bool
            The program is about functions that stay in process mode.

        Returns
        -------
        list
            The rows; one list per DataFrame where the program returned a list of them.
        """
        expected = self._observe(program, {**process_mode(), **(conf or {})})
        if expected.failure:
            raise AssertionError(f"the program fails in process mode: {expected.failure}")
        for mode in self._modes:
            got = self._observe(program, {**mode, **(conf or {})})
            assert got.failure is None, f"only with {mode}: {got.failure}"
            for plan in got.plans:
                (assert_process_plan if in_process else assert_thread_plan)(plan)
            assert got.schemas == expected.schemas
            _assert_same_rows(got.rows, expected.rows, mode)
        return expected.rows if len(expected.rows) > 1 else expected.rows[0]

    def fail(self, program: Program, conf: Mapping[str, str] | None = None) -> Failure:
        """Compares the failures of a program, and returns that of process mode."""
        expected = self._observe(program, {**process_mode(), **(conf or {})})
        assert expected.failure, f"the program succeeds in process mode: {expected.rows}"
        for mode in self._modes:
            got = self._observe(program, {**mode, **(conf or {})})
            assert got.failure, f"succeeds with {mode}: {got.rows}"
            for plan in got.plans:
                assert_thread_plan(plan)
            assert got.failure == expected.failure, (
                f"with {mode}: {got.failure} instead of {expected.failure}"
            )
        return expected.failure

    def refuse(self, program: Program) -> Failure:
        """Compares how Spark refuses to plan a program, and returns that."""
        expected = self._refusal(program, process_mode())
        for mode in self._modes:
            assert self._refusal(program, mode) == expected
        return expected

    def _refusal(self, program: Program, mode: Mapping[str, str]) -> Failure:
        with settings(self.spark, mode):
            try:
                frame = program(self.spark)
                executed_plan(frame)
            except (PySparkException, Py4JJavaError) as error:
                return failure(error)
        raise AssertionError(f"Spark plans the program with {mode}")

    def agree(self, program: Program, conf: Mapping[str, str] | None = None) -> Any:
        """Compares whatever process mode does: rows or a failure, which it returns."""
        expected = self._observe(program, {**process_mode(), **(conf or {})})
        for mode in self._modes:
            got = self._observe(program, {**mode, **(conf or {})})
            for plan in got.plans:
                assert_thread_plan(plan)
            assert got.failure == expected.failure, (
                f"with {mode}: {got.failure or got.rows} instead of {expected.failure}"
            )
            if expected.rows is not None:
                _assert_same_rows(got.rows, expected.rows, mode)
        return expected.failure or expected.rows[0]

    def cells(
        self,
        program: Program,
        conf: Mapping[str, str] | None = None,
        *,
        messages: bool = True,
    ) -> list[Failure | list[Any]]:
        """Compares a DataFrame partition by partition: each gives rows or fails on its own.

        Parameters
        ----------
        program : callable
            Takes the session, returns a DataFrame.
        conf : mapping, optional
            Session settings of all runs.
        messages : bool
            Whether failures must have the same message, too.

        Returns
        -------
        list
            Per partition the failure or the rows of process mode.
        """
        observed = {}
        succeed: list[int] = []
        # Each failure costs process mode a worker, so what probably succeeds there comes at once.
        for mode in (*self._modes, process_mode()):
            outcomes, plan = self._observe_cells(program, {**mode, **(conf or {})}, succeed)
            observed[tuple(mode.items())] = outcomes
            if mode != process_mode():
                assert_thread_plan(plan)
            succeed = [i for i, each in enumerate(outcomes) if not isinstance(each, Failure)]
        expected = observed[tuple(process_mode().items())]
        for mode in self._modes:
            got = observed[tuple(mode.items())]
            differences = [
                f"partition {index}: {left!r} instead of {right!r}"
                for index, (left, right) in enumerate(zip(got, expected, strict=True))
                if _comparable(left, messages) != _comparable(right, messages)
            ]
            _assert_none(differences, mode)
        return expected

    def _observe_cells(
        self, program: Program, conf: Mapping[str, str], at_once: list[int]
    ) -> tuple[list[Failure | list[Any]], str]:
        """The outcome of each partition, those in one job that succeed together, and the plan."""
        with settings(self.spark, conf):
            frame = program(self.spark)
            assert isinstance(frame, DataFrame)
            pickled = frame._jdf.javaToPython()
            collected = {}
            # Which of them fails shows when each has a job of its own.
            with suppress(PySparkException, Py4JJavaError):
                collected = dict(zip(at_once, self._collect(pickled, at_once), strict=True))
            outcomes: list[Failure | list[Any]] = []
            for partition in range(pickled.getNumPartitions()):
                try:
                    batches = collected.get(partition) or self._collect(pickled, [partition])[0]
                    serializer = CPickleSerializer()
                    outcomes.append([row for each in batches for row in serializer.loads(each)])
                except (PySparkException, Py4JJavaError, ValueError) as error:
                    # A ValueError is the driver's: Python has no such value, Spark has.
                    outcomes.append(failure(error))
            return outcomes, executed_plan(frame)

    def _collect(self, pickled: Any, partitions: list[int]) -> Any:
        """The pickled batches of each of some partitions."""
        gateway = self.spark.sparkContext._gateway
        wanted = gateway.new_array(gateway.jvm.int, len(partitions))
        for index, partition in enumerate(partitions):
            wanted[index] = partition
        return pickled.collectPartitions(wanted)

    def _observe(self, program: Program, conf: Mapping[str, str]) -> Observation:
        with settings(self.spark, conf):
            made = program(self.spark)
            frames = made if isinstance(made, list) else [made]
            schemas = [frame.schema.json() for frame in frames]
            try:
                rows = [frame.collect() for frame in frames]
            except (PySparkException, Py4JJavaError) as error:
                return Observation(
                    schemas, None, failure(error), [executed_plan(frame) for frame in frames]
                )
            return Observation(schemas, rows, None, [executed_plan(frame) for frame in frames])


# What Java and Python show of an object without a text of its own.
_IDENTITY = re.compile(r"(@|\b0x)[0-9a-f]{1,16}\b")


def _comparable(outcome: Failure | list[Any], messages: bool) -> Any:
    if isinstance(outcome, Failure):
        return outcome if messages else (outcome.exception, outcome.condition)
    return _IDENTITY.sub(r"\1", repr(exact(outcome)))


def _assert_same_rows(
    got: list[list[Any]] | None, expected: list[list[Any]] | None, mode: Mapping[str, str]
) -> None:
    assert got is not None
    assert expected is not None
    for got_rows, expected_rows in zip(got, expected, strict=True):
        assert len(got_rows) == len(expected_rows), f"number of rows with {mode}"
        differences = [
            f"row {index}, column {name}: {left!r} instead of {right!r}"
            for index, (got_row, expected_row) in enumerate(zip(got_rows, expected_rows))
            for name, left, right in zip(got_row.__fields__, got_row, expected_row)
            if exact(left) != exact(right)
        ]
        _assert_none(differences, mode)


def _assert_none(differences: list[str], mode: Mapping[str, str]) -> None:
    shown = [difference[:1000] for difference in differences[:10]]
    if len(differences) > len(shown):
        shown.append(f"and {len(differences) - len(shown)} more")
    assert not differences, f"with {mode}:\n" + "\n".join(shown)
