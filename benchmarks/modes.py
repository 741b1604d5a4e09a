"""The modes that are compared, and the Spark session in which they run."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

import pyflow
from benchmarks import functions, kinds
from benchmarks.cases import FunctionCase, KindCase

DRIVER_MEMORY = "4g"

# The functions travel inside the pickle: a worker need not find this package.
cloudpickle.register_pickle_by_value(functions)
cloudpickle.register_pickle_by_value(kinds)


_IN_THREAD = re.compile(r"\bThread\w+(Python|PythonUDTF|InBatch)\b")
_IN_PROCESS = re.compile(
    r"\b((Batch|Arrow)EvalPython(UDTF)?|Arrow(Aggregate|Window)Python"
    r"|MapIn(Pandas|Arrow)|FlatMap\w+In(Pandas|Arrow))\b"
)


class UnexpectedPlanError(Exception):
    """A query was not planned for the mode that was to be measured."""


@dataclass(frozen=True)
class Mode:
    """One way to run a function over rows.

    Attributes
    ----------
    name : str
        Key in the results and on the command line.
    title : str
        What a reader of the tables sees.
    settings : dict of str to str
        Session settings that choose the mode.
    arrow : bool, optional
        Which of Spark's two kinds of plain UDF is made; None for modes without a UDF.
    minimum_python : tuple of int
        The first Python that has it.
    """

    name: str
    title: str
    settings: dict[str, str] = field(default_factory=dict)
    arrow: bool | None = None
    minimum_python: tuple[int, int] = (3, 10)

    @property
    def in_thread(self) -> bool:
        """Whether functions run inside the JVM."""
        return self.settings.get("spark.pyflow.execution-mode") == "thread"


def _thread(interpreter: str) -> dict[str, str]:
    return {
        "spark.pyflow.execution-mode": "thread",
        "spark.pyflow.interpreter": interpreter,
        "spark.pyflow.fallback": "false",
    }


_BUNDLE_SIZE = "spark.pyflow.bundle.size"
_ONE_ROW = {_BUNDLE_SIZE: "1"}

_PROCESS = {"spark.pyflow.execution-mode": "process"}

MODES = (
    Mode("builtin", "built-in expression"),
    Mode("passed", "built-in pipeline, column passed on"),
    Mode("floor", "plain Python loop"),
    Mode("pickled", "process, pickled", _PROCESS, arrow=False),
    Mode("arrow", "process, Arrow", _PROCESS, arrow=True),
    Mode("shared", "thread, shared", _thread("shared"), arrow=True),
    Mode("isolated", "thread, isolated", _thread("isolated"), arrow=True, minimum_python=(3, 13)),
    Mode(
        "shared-one",
        "thread, shared, one row per call",
        {**_thread("shared"), **_ONE_ROW},
        arrow=True,
    ),
    Mode(
        "isolated-one",
        "thread, isolated, one row per call",
        {**_thread("isolated"), **_ONE_ROW},
        arrow=True,
        minimum_python=(3, 13),
    ),
    Mode("process", "process mode", _PROCESS, arrow=True),
    Mode("thread", "thread mode", _thread("auto"), arrow=True),
    Mode(
        "auto",
        "auto mode",
        {"spark.pyflow.execution-mode": "auto", "spark.pyflow.interpreter": "auto"},
        arrow=True,
    ),
)

BY_NAME = {mode.name: mode for mode in MODES}


def start_session(
    master: str, mode: Mode | None = None, conf: Mapping[str, str] | None = None
) -> SparkSession:
    """Start a session for measuring: a heap of fixed size, nothing that runs on its own.

    The heap is touched at the start, so that what the process grows by afterwards is not heap. A
    mode is configured for the whole application, as with ``spark-submit --conf``.
    """
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = (
        SparkSession.builder.master(master)
        .appName("benchmarks")
        .config("spark.driver.memory", DRIVER_MEMORY)
        .config("spark.driver.extraJavaOptions", f"-Xms{DRIVER_MEMORY} -XX:+AlwaysPreTouch")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
    )
    for key, value in {**(mode.settings if mode else {}), **(conf or {})}.items():
        builder = builder.config(key, value)
    session = pyflow.configure(builder).getOrCreate()
    session.sparkContext.setLogLevel("WARN")
    return session


def driver_jvm(session: SparkSession) -> int:
    """Return the process id of the JVM."""
    return int(session.sparkContext._gateway.proc.pid)  # type: ignore[union-attr]


def java_version(session: SparkSession) -> str:
    """Return the version of the JVM."""
    return str(session._jvm.System.getProperty("java.vm.version"))  # type: ignore[union-attr]


def results_of(case: FunctionCase | KindCase, mode: Mode, frame: DataFrame) -> DataFrame:
    """Return what a case computes of its input in a mode."""
    if isinstance(case, KindCase):
        return case.program(frame)
    if mode.name == "builtin":
        assert case.builtin is not None
        return frame.select(sf.expr(case.builtin).alias("result"))
    if mode.name == "passed":
        (column,) = case.columns
        return frame.select(sf.col(column).alias("result"))
    function = make_udf(case.function, case.returns, mode)
    return frame.select(function(*case.columns).alias("result"))


def make_udf(function: Callable[..., Any], returns: str, mode: Mode) -> Callable[..., Column]:
    """Return a UDF of the kind the mode uses."""
    return sf.udf(function, returns, useArrow=mode.arrow)


def choose(session: SparkSession, mode: Mode) -> None:
    """Switch a session to a mode."""
    session.conf.unset(_BUNDLE_SIZE)
    for key, value in mode.settings.items():
        session.conf.set(key, value)


def check_plan(frame: DataFrame, mode: Mode) -> None:
    """Make sure that a query runs in the mode it is measured for; `auto` may choose.

    Raises
    ------
    UnexpectedPlanError
        If its physical plan holds another operator.
    """
    plan = frame._jdf.queryExecution().executedPlan().toString()
    in_thread, in_process = _IN_THREAD.search(plan), _IN_PROCESS.search(plan)
    if mode.name == "auto":
        return
    expected = "thread" if mode.in_thread else "none" if mode.arrow is None else "process"
    planned = "thread" if in_thread else "process" if in_process else "none"
    if planned != expected or (in_thread and in_process):
        raise UnexpectedPlanError(f"planned for another mode than {mode.name}:\n{plan}")
