"""By which times the operators of a query keep and forget their state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Clocks", "clocks_of"]

_OPERATOR = "TransformWithStateInPySpark"


@dataclass(frozen=True)
class Clocks:
    """Whether there are operators that wait for the watermark, and such with timers of a clock."""

    has_event_time: bool
    has_processing_time: bool


def clocks_of(frame: DataFrame) -> Clocks:
    """Return what times the operators of a query have, in a session that is not of Connect."""
    found: set[str] = set()
    _collect(frame._jdf.queryExecution().analyzed(), found)
    return Clocks("EventTime" in found, "ProcessingTime" in found)


def _collect(plan: Any, found: set[str]) -> None:
    """Add the times of a plan's operators to those found."""
    if not plan.isStreaming():
        return
    name = plan.nodeName()
    children = plan.children()
    count = children.size()
    if name == _OPERATOR:
        found.add(str(plan.timeMode()).split("$")[0].rsplit(".", 1)[-1])
    elif name == "Aggregate" or (
        name == "Join" and all(children.apply(place).isStreaming() for place in range(count))
    ):
        found.add("EventTime")
    for place in range(count):
        _collect(children.apply(place), found)
