"""Classes of the driver's JVM that PySpark looks up at each call of one of their methods."""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import JavaClass, JavaMember  # type: ignore[import-untyped]

__all__ = ["remember_methods"]

# By the names that PySpark has for them.
_CLASSES = {
    "functions": "org.apache.spark.sql.functions",
    "org.apache.spark.sql.functions": "org.apache.spark.sql.functions",
    "org.apache.spark.sql.classic.SparkSession": "org.apache.spark.sql.classic.SparkSession",
    "PythonUtils": "org.apache.spark.api.python.PythonUtils",
}


class _LookedUpOnce(JavaClass):  # type: ignore[misc]
    """A class whose static methods py4j looks up once each."""

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if isinstance(found, JavaMember):
            self.__dict__[name] = found
        return found


def remember_methods(jvm: Any) -> None:
    """Have py4j look up once what PySpark looks up for each expression.

    Otherwise half of the calls of the JVM while a query is built are such look-ups.

    Parameters
    ----------
    jvm : py4j.java_gateway.JVMView
        PySpark's view of the JVM.
    """
    for name, class_name in _CLASSES.items():
        vars(jvm).setdefault(name, _LookedUpOnce(class_name, jvm._gateway_client))
