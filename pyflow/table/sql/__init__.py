"""SQL of Flink: parsed with sqlglot, run through the operations of the Table API.

`dialect` reads a text into a tree, `statements` and `queries` do what it says. Imported lazily:
sqlglot is needed by programs with SQL only.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyflow.table.sql.statements import execute as execute
    from pyflow.table.sql.statements import explain as explain
    from pyflow.table.sql.statements import expression as expression
    from pyflow.table.sql.statements import insertion as insertion
    from pyflow.table.sql.statements import query as query
    from pyflow.table.sql.statements import view as view

__all__ = ["execute", "explain", "expression", "insertion", "load", "query", "view"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if not _is_supported():
        raise TableException("SQL needs the package sqlglot: pip install 'pyflow[table]'")
    return getattr(import_module(f"{__name__}.statements"), name)


def load() -> None:
    """Import the modules of SQL, if there is sqlglot."""
    if _is_supported():
        import_module(f"{__name__}.statements")


def _is_supported() -> bool:
    return find_spec("sqlglot") is not None
