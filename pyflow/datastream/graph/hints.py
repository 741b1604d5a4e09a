"""Hints of programs that have no counterpart in Spark: they change no results."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from pyflow.datastream.graph.transformations import SinkOf, Stateful, Transformation

__all__ = ["log_hints"]

# What programs call, by what a transformation then has.
_CALLS = {
    "buffer_timeout": "set_buffer_timeout()",
    "chaining": "start_new_chain() and disable_chaining()",
    "slot_sharing_group": "slot_sharing_group()",
    "parallelism": "set_parallelism() of operators without state",
    "max_parallelism": "set_max_parallelism()",
}

_logger = logging.getLogger(__name__)


def log_hints(transformations: Iterable[Transformation]) -> None:
    """Log which hints of a program have no effect, and on which operators they are."""
    names: dict[str, list[str]] = {}
    for each in transformations:
        hints = set(each.hints)
        if isinstance(each, SinkOf):
            hints.discard("parallelism")
        if each.parallelism > 0 and not isinstance(each, Stateful):
            hints.add("parallelism")
        if each.max_parallelism > 0:
            hints.add("max_parallelism")
        for hint in sorted(hints):
            names.setdefault(_CALLS[hint], []).append(f"'{each.name}'")
    if names:
        of_operators = (f"{call} ({', '.join(of)})" for call, of in names.items())
        _logger.info("Spark has no counterpart of: %s.", "; ".join(of_operators))
