"""Sessions as a user would configure them, for the tests and for the programs they start."""

from __future__ import annotations

import fcntl
import functools
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
from py4j.java_gateway import JavaClass, JavaPackage, JVMView
from pyspark import SparkContext
from pyspark.sql import SparkSession

import pyflow
from pyflow import libpython

ROOT = Path(__file__).resolve().parent.parent

# Modules that functions import: on the path of drivers and, through PYTHONPATH, of executors.
MODULES = ROOT / "tests" / "modules"

# The minor version of Spark that tests run with.
SPARK = tuple(map(int, pyspark.__version__.split(".")[:2]))

# Without a GIL all slots run in parallel in one interpreter; otherwise slots have interpreters with
# a GIL of their own from 3.13 on.
FREE_THREADED = libpython.minor().endswith("t")
OWN_GIL = sys.version_info >= (3, 13) and not FREE_THREADED

CONNECT_LOCK = os.path.join(tempfile.gettempdir(), f"pyflow-tests-connect-{os.getuid()}.lock")

MODE = "spark.pyflow.execution-mode"
INTERPRETER = "spark.pyflow.interpreter"
FALLBACK = "spark.pyflow.fallback"


def remember_classes(space: type) -> None:
    """Has py4j ask the JVM once for each package and class, not at each mention of one.

    To tell a package the JVM looks for a class of its name in all jars. A name with a capital that
    is no class may become one with a jar that is added.
    """
    look_up = space.__getattr__

    @functools.wraps(look_up)
    def look_up_once(self: Any, name: str) -> Any:
        found = look_up(self, name)
        if isinstance(found, JavaClass) or (isinstance(found, JavaPackage) and name.islower()):
            self.__dict__[name] = found
        return found

    space.__getattr__ = look_up_once  # type: ignore[attr-defined]


for _space in (JVMView, JavaPackage):
    remember_classes(_space)


def submit_conf() -> dict[str, str]:
    """What a user of spark-submit adds, without the stack size of the driver."""
    return {"spark.jars": pyflow.jar_path(), "spark.plugins": "io.pyflow.PyFlowPlugin"}


def base_conf() -> dict[str, str]:
    """What keeps a session small, quiet and on the loopback device."""
    return {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": os.path.join(os.getcwd(), "spark-warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


def cluster_conf() -> dict[str, str]:
    """Executors of one core, all there from the start; on a standalone cluster two."""
    return {
        "spark.executor.memory": "1g",
        "spark.executor.cores": "1",
        "spark.cores.max": "2",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
    }


def crashing_conf() -> dict[str, str]:
    """Executors that are lost on purpose, again and again."""
    return {
        **cluster_conf(),
        "spark.deploy.maxExecutorRetries": "-1",
        "spark.task.maxFailures": "8",
        "spark.stage.maxConsecutiveAttempts": "20",
        # A standalone cluster's have the environment of its workers.
        "spark.executorEnv.PYTHONPATH": str(MODULES),
        # They live for seconds, and their end is not read about.
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+SuppressFatalErrorMessage",
    }


def start(
    master: str = "local[2]",
    *,
    connect: bool = False,
    default_stack: bool = False,
    conf: Mapping[str, str] | None = None,
) -> SparkSession:
    """Starts a session with the plugin.

    Parameters
    ----------
    master : str
        Spark master.
    connect : bool
        Has PySpark start a Spark Connect server in this process.
    default_stack : bool
        Leaves the threads of the driver the stack that the JVM gives them.
    conf : mapping, optional
        Further settings, over those made here.
    """
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = str(MODULES)
    if FREE_THREADED:
        os.environ.setdefault("PYTHON_GIL", "0")  # pandas would turn it on for all tests
    if connect:
        wait_for_connect()
    builder = SparkSession.builder.appName("pyflow-tests")
    builder = builder.remote(master) if connect else builder.master(master)
    for key, value in {**base_conf(), **submit_conf(), **(conf or {})}.items():
        builder = builder.config(key, value)
    if not default_stack:
        builder = pyflow.configure(builder)
    return builder.getOrCreate()


def wait_for_connect() -> None:
    """Wait until no other program of the tests has a Connect server that PySpark has started.

    They all take the same port. This process holds the lock to its end.
    """
    lock = os.open(CONNECT_LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)


def executors() -> set[str]:
    """The executors of the application whose driver runs in this process's JVM."""
    context = SparkContext._active_spark_context
    assert context is not None
    ids = context._jsc.sc().getExecutorIds()
    return set(context._jvm.scala.jdk.javaapi.CollectionConverters.asJava(ids))


def wait_until(
    condition: Callable[[], bool], what: str, seconds: float = 120, every: float = 0.1
) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(every)


def forget_dead_jvm() -> None:
    """Makes PySpark start a new JVM, after the last one died under it."""
    SparkContext._gateway = None
    SparkContext._jvm = None
    SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = None


@contextmanager
def logged(spark: SparkSession) -> Iterator[Any]:
    """What the JVM logs meanwhile, from the level of warnings on."""
    jvm = spark._jvm
    text = jvm.java.io.StringWriter()
    appender = jvm.org.apache.logging.log4j.core.appender.WriterAppender.createAppender(
        None, None, text, "tests", False, False
    )
    appender.start()
    context = jvm.org.apache.logging.log4j.LogManager.getContext(False)
    root = context.getConfiguration().getRootLogger()
    level = context.getRootLogger().getLevel().toString()
    spark.sparkContext.setLogLevel("WARN")
    root.addAppender(appender, None, None)
    try:
        yield text
    finally:
        root.removeAppender("tests")
        spark.sparkContext.setLogLevel(level)
