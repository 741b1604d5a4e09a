"""Lookups in databases: when a row is processed, for the rows that a table has for its key then.

The plugin's jar asks the database (``io.pyflow.connectors.JdbcLookup``).
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from pyflow.connectors.connector import Connector, Option, boolean, duration, integer, one_of
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import StructType

_FUNCTION = "pyflow_jdbc_lookup"
_CACHE = "lookup.partial-cache."
_LIMITS = ("max-rows", "expire-after-write", "expire-after-access")

LOOKUP_OPTIONS = (
    Option("lookup.cache", one_of("NONE", "PARTIAL"), "NONE or PARTIAL", default="NONE"),
    Option(f"{_CACHE}max-rows", integer, "an integer"),
    Option(f"{_CACHE}expire-after-write", duration, "a duration such as 10 min"),
    Option(f"{_CACHE}expire-after-access", duration, "a duration such as 10 min"),
    Option(f"{_CACHE}cache-missing-key", boolean, "true or false", default=True),
    Option("lookup.max-retries", integer, "an integer", default=3),
)


def check_lookup(connector: Connector) -> None:
    """Raise for lookup options that are invalid, or do not fit together."""
    for option in ("lookup.max-retries", f"{_CACHE}max-rows"):
        value = connector[option]
        if value is not None and value < 0:
            raise connector.wrong(option, value, "a number that is not negative")
    if connector["lookup.cache"] == "NONE":
        return
    if all(connector[_CACHE + name] is None for name in _LIMITS):
        names = ", ".join(f"'{_CACHE}{name}'" for name in _LIMITS)
        raise TableException(
            f"Table {connector.table.identifier}: 'lookup.cache' = 'PARTIAL' needs at least one of "
            f"the options {names}, or it would keep all rows for ever."
        )


def looked_up(
    connector: Connector,
    connection: Mapping[str, str],
    statement: str,
    schema: StructType,
    keys: Sequence[Column],
) -> Column:
    """Return the generator of the rows of a key.

    Parameters
    ----------
    connector
        Its options say how often a lookup is tried, and what is cached.
    connection
        Options of Spark's JDBC source.
    statement
        A SELECT with a parameter for each of the keys.
    schema
        Of its rows, as Spark's JDBC source reads them.
    """
    spec: dict[str, Any] = {
        "table": connector.table.identifier,
        "options": dict(connection),
        "statement": statement,
        "schema": schema.json(),
        "retries": connector["lookup.max-retries"],
    }
    if connector["lookup.cache"] == "PARTIAL":
        limits = {name: connector[_CACHE + name] for name in (*_LIMITS, "cache-missing-key")}
        spec["cache"] = {"id": str(uuid.uuid4()), **limits}
    return F.call_function(_FUNCTION, F.lit(json.dumps(spec)), *keys)
