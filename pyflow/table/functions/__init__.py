"""Functions in expressions: built-in ones, and those of programs.

Classes of programs' functions are importable from here, as from ``pyflink.table.functions``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_MODULES = {
    "AggregateFunction": "udf",
    "ScalarFunction": "udf",
    "TableFunction": "udf",
    "ListView": "data_view",
    "MapView": "data_view",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"pyflow.table.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
