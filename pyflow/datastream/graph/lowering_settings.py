"""How a query of a program runs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from pyflow.datastream.runtime.operator import WATERMARK_SHIFT

if TYPE_CHECKING:
    from pyflow.datastream.graph.fitting import Fitted
    from pyflow.datastream.runtime.contexts import ContextFactory

__all__ = ["EventTime", "Settings"]


class EventTime(Enum):
    """Who reads the watermark of a query, of which Spark has one."""

    #: The operators of the program. It begins before 1970.
    OF_OPERATORS = "operators"
    #: A table behind them, which defines it.
    OF_TABLE = "table"
    #: The operators, and a table behind them.
    OF_BOTH = "both"


@dataclass(frozen=True)
class Settings:
    """How a query runs.

    Parameters
    ----------
    job
        The identity of the job.
    parallelism
        How many subtasks are behind a shuffle.
    is_bounded
        Whether all input ends.
    is_batch
        Whether only final results are wanted, of elements in the order of their times.
    contexts
        Makes what functions are opened with.
    fitted
        The order of sources, and the numbers that operators have in state.
    has_ticks
        Whether batches are run for timers of the processing time.
    is_real_time
        Whether rows are processed as they come, while a batch goes on.
    is_chained
        Whether functions of Python are in one chain in PyFlink.
    branching
        The numbers of the transformations of which several take the elements.
    event_time
        Who reads the watermark.
    is_process_mode
        Whether functions run in Spark's workers, whatever they are.
    """

    job: str
    parallelism: int
    is_bounded: bool
    is_batch: bool
    contexts: ContextFactory
    fitted: Fitted
    has_ticks: bool
    is_real_time: bool
    is_chained: bool
    branching: frozenset[int]
    event_time: EventTime = EventTime.OF_OPERATORS
    is_process_mode: bool = False

    @property
    def watermark_shift(self) -> int:
        """By how many milliseconds the watermark of Spark is after that of the elements."""
        return 0 if self.passes_watermark else WATERMARK_SHIFT

    @property
    def passes_watermark(self) -> bool:
        """Whether a table has the watermark of the elements."""
        return self.event_time == EventTime.OF_BOTH
