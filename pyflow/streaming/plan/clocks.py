"""By which times the operators of a query keep and forget their state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["ALL_PAIRS", "CLOSING", "Clocks", "clocks_of"]

#: What the names of an operator's columns begin with, where a clock closes its windows.
CLOSING = "closing"

#: What they begin with, where a join has no equality, so that one task keeps all rows.
ALL_PAIRS = "all_pairs"

_OPERATOR = "TransformWithStateInPySpark"


@dataclass(frozen=True)
class Clocks:
    """By which times the operators of a query work.

    Parameters
    ----------
    has_event_time
        Whether some wait for the watermark.
    has_processing_time
        Whether some have timers of a clock.
    closes_windows
        Whether some of these make rows.
    joins_all_pairs
        Whether some join keeps all rows in one task, as it has no equality.
    """

    has_event_time: bool
    has_processing_time: bool
    closes_windows: bool
    joins_all_pairs: bool

    @property
    def emits_later(self) -> bool:
        """Return whether some make rows when a clock or the watermark passes what they wait for."""
        return self.closes_windows or self.has_event_time


def clocks_of(frame: DataFrame) -> Clocks:
    """Return what times the operators of a query have, in a session that is not of Connect."""
    found: set[str] = set()
    _collect(frame._jdf.queryExecution().analyzed(), found)
    return Clocks(
        "EventTime" in found, "ProcessingTime" in found, CLOSING in found, ALL_PAIRS in found
    )


def _collect(plan: Any, found: set[str]) -> None:
    """Add the times of a plan's operators to those found."""
    if not plan.isStreaming():
        return
    name = plan.nodeName()
    children = plan.children()
    count = children.size()
    if name == _OPERATOR:
        found.add(str(plan.timeMode()).split("$")[0].rsplit(".", 1)[-1])
        emitted = plan.output().head().name()
        found.update(prefix for prefix in (CLOSING, ALL_PAIRS) if emitted.startswith(prefix))
    elif name == "Aggregate" or (
        name == "Join" and all(children.apply(place).isStreaming() for place in range(count))
    ):
        found.add("EventTime")
    for place in range(count):
        _collect(children.apply(place), found)
