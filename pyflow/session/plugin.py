"""The plugin, as the driver's JVM has it."""

from __future__ import annotations

__all__ = ["PLUGIN", "driver_has_plugin"]

#: Its class, for ``spark.plugins``.
PLUGIN = "io.pyflow.PyFlowPlugin"


def driver_has_plugin() -> bool:
    """Return whether the driver's JVM, which runs, has the plugin's class."""
    from py4j.java_gateway import JavaClass  # type: ignore[import-untyped]
    from pyspark import SparkContext

    return isinstance(getattr(SparkContext._jvm, PLUGIN), JavaClass)
