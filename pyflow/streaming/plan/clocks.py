"""By which times the operators of a query keep and forget their state."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["ALL_PAIRS", "CLOSES_WINDOWS", "OPERATOR", "Clocks", "clocks_of", "joins_all_pairs"]

# What an operator is, is in the metadata of the last column of its input: nothing behind it has it.

#: Metadata of an operator whose windows a clock closes.
CLOSES_WINDOWS = "pyflow.closes-windows"

#: Metadata of a join that has no equality, so that one task keeps all rows.
ALL_PAIRS = "pyflow.all-pairs"

#: What Spark's plans call operators that keep state.
OPERATOR = "TransformWithStateInPySpark"


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
        "EventTime" in found,
        "ProcessingTime" in found,
        CLOSES_WINDOWS in found,
        ALL_PAIRS in found,
    )


def joins_all_pairs(frame: DataFrame) -> bool:
    """Return whether some join, also of bounded rows, has no equality; False over Connect."""
    if not hasattr(frame.sparkSession, "_jsparkSession"):
        return False
    return _has_all_pairs(frame._jdf.queryExecution().analyzed())


def _has_all_pairs(plan: Any) -> bool:
    children = plan.children()
    if plan.nodeName() == OPERATOR and ALL_PAIRS in _metadata(children):
        return True
    return any(_has_all_pairs(children.apply(place)) for place in range(children.size()))


def _metadata(children: Any) -> dict[str, Any]:
    """Return the metadata of the last column of an operator's input."""
    found: dict[str, Any] = json.loads(children.head().output().last().metadata().json())
    return found


def _collect(plan: Any, found: set[str]) -> None:
    """Add the times of a plan's operators to those found."""
    if not plan.isStreaming():
        return
    name = plan.nodeName()
    children = plan.children()
    count = children.size()
    if name == OPERATOR:
        found.add(str(plan.timeMode()).split("$")[0].rsplit(".", 1)[-1])
        found.update(_metadata(children))
    elif name == "Aggregate" or (
        name == "Join" and all(children.apply(place).isStreaming() for place in range(count))
    ):
        found.add("EventTime")
    for place in range(count):
        _collect(children.apply(place), found)
