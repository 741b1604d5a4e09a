"""Modules of built-in functions."""

from __future__ import annotations

from typing import Any

from pyflow.util.unsupported import unsupported

__all__ = ["HiveModule", "Module", "ModuleEntry"]


@unsupported("the built-in functions are one module, core; make others temporary functions")
class Module:
    """Functions that are known without being created."""

    def __init__(self, j_module: Any) -> None: ...


@unsupported("the built-in functions are Flink's; Hive's are Spark's own, through from_spark")
class HiveModule(Module):
    """The functions of Hive."""

    def __init__(self, hive_version: str | None = None) -> None: ...


class ModuleEntry:
    """A module and whether its functions are found.

    Parameters
    ----------
    name : str
        The module.
    used : bool
        Whether its functions are found.
    """

    def __init__(self, name: str, used: bool) -> None:
        self._name = name
        self._used = used

    def name(self) -> str:
        """Return the module's name."""
        return self._name

    def used(self) -> bool:
        """Return whether its functions are found."""
        return self._used

    def _key(self) -> tuple[str, bool]:
        return self._name, self._used

    def __repr__(self) -> str:
        return f"ModuleEntry{{name='{self._name}', used={str(self._used).lower()}}}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ModuleEntry) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __lt__(self, other: ModuleEntry) -> bool:
        return self._key() < other._key()


#: The modules that there are, all of them in use.
MODULES = (ModuleEntry("core", True),)
