"""Jars of Flink that programs add, and what there is in their place."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlparse

from pyflow.connectors.packages import AVRO, KAFKA

if TYPE_CHECKING:
    from pyflow.connectors.packages import Package
    from pyflow.session.context import Context

__all__ = ["is_of_flink", "say_what_is_needed"]

_logger = logging.getLogger(__name__)

# Connectors and formats that are here without Flink's jars.
_FLINK_JAR = re.compile(
    r"flink-(sql-)?(connector-(kafka|jdbc|files|base)|avro|parquet|orc|csv|json|python)"
)
_NEEDED: dict[str, Package] = {"connector-kafka": KAFKA, "avro": AVRO}


def is_of_flink(path: str) -> bool:
    """Return whether a jar, a path or an address, is of a connector or format that is here."""
    return _found(path) is not None


def say_what_is_needed(path: str, context: Context) -> None:
    """Log what a session lacks to do what such a jar does in Flink."""
    found = _found(path)
    package = None if found is None else _NEEDED.get(found[2])
    if package is not None and package.is_missing(context.session):
        _logger.warning("In place of %s, %s.", _name(path), package.hint())


def _found(path: str) -> re.Match[str] | None:
    return _FLINK_JAR.match(_name(path))


def _name(path: str) -> str:
    return Path(urlparse(path).path).name
