"""Jars of Flink that programs add, and what there is in their place."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from pyflow.connectors.packages import AVRO, KAFKA
from pyflow.session.flink_jars import name_of, replaced

if TYPE_CHECKING:
    from pyflow.connectors.packages import Package
    from pyflow.session.context import Context

__all__ = ["say_what_is_needed"]

_logger = logging.getLogger(__name__)

_NEEDED: dict[str, Package] = {"connector-kafka": KAFKA, "avro": AVRO}


def say_what_is_needed(path: str, context: Context) -> None:
    """Log what a session lacks to do what such a jar does in Flink."""
    package = _NEEDED.get(replaced(path) or "")
    if package is not None and package.is_missing(context.session):
        _logger.warning("In place of %s, %s.", name_of(path), package.hint())
