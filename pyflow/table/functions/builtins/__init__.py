"""The built-in functions, a file per subject. `definition` says what an entry of the table is."""

from __future__ import annotations

from pyflow.table.functions.builtins import aggregates as aggregates
from pyflow.table.functions.builtins import bitmaps as bitmaps
from pyflow.table.functions.builtins import collections as collections
from pyflow.table.functions.builtins import json as json
from pyflow.table.functions.builtins import logic as logic
from pyflow.table.functions.builtins import math as math
from pyflow.table.functions.builtins import strings as strings
from pyflow.table.functions.builtins import times as times
from pyflow.table.functions.builtins.definition import BuiltIn, table

_BY_NAME = {name.upper(): built_in for name, built_in in table().items()}
_BY_SQL_NAME = {name: built_in for built_in in table().values() for name in built_in.sql_names}


def built_in(name: str) -> BuiltIn:
    """Return a built-in function by Flink's name of its definition."""
    return table()[name]


def built_in_named(name: str) -> BuiltIn | None:
    """Return a built-in function by Flink's name of its definition, in any case; None if none."""
    return _BY_NAME.get(name.upper())


def built_in_of_sql(name: str) -> BuiltIn | None:
    """Return a built-in function by its name in SQL, in any case; None if none has it."""
    return _BY_SQL_NAME.get(name.upper())
