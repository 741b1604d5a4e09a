"""The session of a program that uses one of PyFlink's APIs."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pyflow.session import loopback
from pyflow.session.builder import configure, present_settings, with_items
from pyflow.session.operation import serve
from pyflow.session.options import is_in, start_jars, start_settings, value_of
from pyflow.session.plugin import driver_has_plugin

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyflow.common.configuration import Configuration

__all__ = ["active_session", "begin_python"]

# What a session is started with that has no such setting.
_DEFAULTS = {
    "spark.pyflow.execution-mode": "thread",
    # Its bars would run through what the program prints.
    "spark.ui.showConsoleProgress": "false",
    # Spark would be told, in several calls, from which line of ours each column comes.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}


def active_session(configuration: Configuration) -> SparkSession:
    """Return the session of the thread or process, or start one that runs functions in thread mode.

    Parameters
    ----------
    configuration : Configuration
        Settings by Flink's names, of which a new session takes those that Spark has.
    """
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    with suppress(PySparkRuntimeError):
        active = SparkSession.active()
        serve(active)
        return active
    threading.Thread(target=_import_libraries, daemon=True).start()
    builder = SparkSession.builder
    present = present_settings(builder)
    jars = start_jars(configuration)
    if jars:
        # The driver finds classes of sources and drivers in jars that it is started with.
        builder = builder.config("spark.jars", with_items(present.get("spark.jars", ""), *jars))
    if value_of(configuration, loopback.KEY):
        builder = builder.config(loopback.SPARK_KEY, "true")
    builder = configure(builder)
    chosen = {key: value for key, value in _DEFAULTS.items() if key not in present}
    started = start_settings(configuration).items()
    own = {key: value for key, value in started if not is_in(key, value, present.get(key))}
    return builder.config(map={**chosen, **own}).getOrCreate()


def _import_libraries() -> None:
    """Import, while the JVM starts, what PySpark imports for the first call of it.

    That is none of PySpark's own modules, whose circular imports two threads could meet half-way.
    """
    with suppress(ImportError):
        import pandas  # noqa: F401


def begin_python(session: SparkSession) -> None:
    """Have a driver that runs functions itself start its embedded Python before the first of them.

    The plugin does so by itself when a query with functions is planned.
    """
    if not hasattr(session, "_jsparkSession") or not driver_has_plugin():
        return
    if session.conf.get("spark.pyflow.execution-mode", None) != "process":
        jvm: Any = session._jvm
        jvm.io.pyflow.admission.PythonStart.beginDeferred()
