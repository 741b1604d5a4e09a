"""What recorders share: environments of PyFlink, and what its errors say."""

from __future__ import annotations

from typing import Any

from pyflink.table import EnvironmentSettings, TableEnvironment


def environment(mode: str, zone: str = "UTC") -> TableEnvironment:
    """Return an environment whose jobs have one task."""
    t_env = TableEnvironment.create(getattr(EnvironmentSettings, f"in_{mode}_mode")())
    t_env.get_config().set("parallelism.default", "1")
    t_env.get_config().set("table.local-time-zone", zone)
    return t_env


def schema_of(table: Any) -> str:
    """Return the resolved schema of a table."""
    return str(table._j_table.getResolvedSchema())


def cause(error: object) -> str:
    """Return the line of an error that names its innermost exception; its first one otherwise."""
    lines = str(error).splitlines() or [type(error).__name__]
    causes = [line for line in lines if "Exception: " in line] or lines[:1]
    return causes[-1].strip()
