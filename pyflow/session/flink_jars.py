"""Jars of Flink's connectors and formats, which programs name and which are not needed here."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlparse

__all__ = ["name_of", "replaced", "without_flink"]

_logger = logging.getLogger(__name__)

_FLINK_JAR = re.compile(
    r"flink-(sql-)?(connector-(kafka|jdbc|files|base)|avro|parquet|orc|csv|json|python)"
)


def replaced(path: str) -> str | None:
    """Return the Flink connector or format in a jar, by the jar's path or address, or None."""
    found = _FLINK_JAR.match(name_of(path))
    return None if found is None else found[2]


def without_flink(paths: Iterable[str]) -> list[str]:
    """Return the jars that are not of Flink's connectors and formats; log the others."""
    kept = []
    for path in paths:
        if replaced(path) is None:
            kept.append(path)
        else:
            _logger.info("%s is not needed: PyFlow has what it brings.", path)
    return kept


def name_of(path: str) -> str:
    """Return the file's name of a path or an address."""
    return Path(urlparse(path).path).name
