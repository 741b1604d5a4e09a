"""What is behind a shuffle: operators with state, timers and the chains behind them.

A stage has all operators that are behind as many shuffles. Rows are sorted by the operator that
they go to, their target, and by the bytes of their key; rows for later stages and for sinks pass.

Unbounded input. The stage is a processor of Spark's ``transformWithState``. In each partition a row
of Spark's plan comes before all others and one after them, see ControlRowsExec.scala. A batch has
one watermark:

    first     which timers are due is read from the index, and the watermark of the batch before
    a key     rows that were emitted before the watermark (phase 0), at the watermark before;
              timers that are due; the other rows (phase 1), at the new watermark; timers that have
              become due
    last      timers of keys without rows; what has changed of the index is written

What is emitted before the watermark is again of phase 0 for the next stage: it comes there
before the watermark, as in Flink.

Bounded input. The stage is a plain function of rows. Those of a key follow each other, at the
lowest watermark. The end of the key is the end of time for it: all its timers fire, and its state
is dropped. The last row of a partition is one that ends the last key.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflow.datastream.runtime.chain import NO_TARGET
from pyflow.datastream.runtime.clock import system_clock
from pyflow.datastream.runtime.deployed import DeployedStage, RowFunction
from pyflow.datastream.runtime.life_cycle import fail
from pyflow.datastream.runtime.stage import FIRST, LAST, Stage, passing
from pyflow.datastream.runtime.storage import Families, StoreKey
from pyflow.datastream.runtime.timers import PROCESSING_TIME, TimerIndex
from pyflow.streaming.runtime.rows import in_sequence, packing, row_maker
from pyflow.streaming.runtime.state_requests import state_requests
from pyflow.streaming.runtime.timers import NO_TIMER, report_timer

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql.types import StructType

__all__ = ["BoundedStage", "KeyedStage"]

_key = itemgetter(0, 1)
# A bundle of process mode: how many rows at most, and bytes of their elements.
_BUNDLE_ROWS = 256
_BUNDLE_BYTES = 1 << 20
# The column of elements.
_VALUE = 4

#: A key, and the rows of it.
_Group = tuple[StoreKey, list[tuple[Any, ...]]]


class KeyedStage:
    """A processor of PySpark's ``transformWithState``.

    Parameters
    ----------
    deployed : DeployedStage
        Whose specification is a `StageSpec`.
    emitted : StructType
        The columns of emitted rows.
    is_packed : bool
        Whether there is one column with many rows instead, for Spark's workers.
    reports : Accumulator
        Takes the first timer of the processing time of a task to the driver.
    stage : type
        Of what runs: `Stage`, or one that processes rows as they come.
    """

    def __init__(
        self,
        deployed: DeployedStage,
        emitted: StructType,
        is_packed: bool,
        reports: Accumulator[Any],
        stage: type[Stage],
    ) -> None:
        self.needs_shared_interpreter = deployed.needs_shared_interpreter
        self._deployed = deployed
        self._make_stage = stage
        self._reports = reports
        self._emitted = emitted
        self._is_packed = is_packed

    def init(self, handle: Any) -> None:
        """Open the state of a task."""
        requests = state_requests(handle)
        self._handle = handle
        self._families = Families(handle)
        self._is_bundled = requests is not None and self._make_stage.takes_bundles
        if requests is not None:
            self._families.values = requests.map_state(self._families.values)
        self._index = TimerIndex(handle)
        made = row_maker(self._emitted.names)
        self._rows_of: Callable[[Iterable[Any]], Iterator[Any]] = (
            packing(self._emitted) if self._is_packed else functools.partial(map, made)
        )
        self._stage: Stage | None = None
        self._bundle: list[_Group] = []
        self._rows = self._bytes = 0

    def declare(self, handle: Any) -> None:
        """Open all state with a handle that only takes down what is opened."""
        Families(handle)
        TimerIndex(handle)

    def _opened(self) -> Stage:
        if self._stage is None:
            self._stage = self._deployed.taken(self._make_stage)
            self._stage.bind(self._handle, self._families, self._index)
        return self._stage

    def handleInputRows(  # noqa: N802
        self, key: tuple[Any, ...], rows: Iterable[Any], timer_values: Any
    ) -> Iterator[Any]:
        """The rows that are emitted for the rows of a key."""
        try:
            return self._rows_of(self._handled(key, rows, timer_values))
        except BaseException:
            if self._stage is not None:
                fail(self._stage)
            raise

    def _handled(
        self, key: tuple[Any, ...], rows: Iterable[Any], timer_values: Any
    ) -> Iterable[tuple[Any, ...]]:
        stage = self._opened()
        target = key[0]
        if target == NO_TARGET:
            return ()
        if target not in (FIRST, LAST) and not stage.has(target):
            return map(passing, map(tuple, rows))
        if self._is_bundled:
            return self._added((target, bytes(key[1])), list(map(tuple, rows)), timer_values)
        if target == FIRST:
            return stage.begin(timer_values.getCurrentWatermarkInMs())
        if target == LAST:
            return self._ended(stage)
        return stage.process(target, bytes(key[1]), in_sequence(rows))

    def _added(
        self, key: StoreKey, rows: list[tuple[Any, ...]], timer_values: Any
    ) -> list[tuple[Any, ...]]:
        """Return the rows that are emitted when a key is added to the bundle."""
        self._bundle.append((key, rows))
        self._rows += len(rows)
        self._bytes += sum(len(row[_VALUE] or b"") for row in rows)
        is_full = self._rows >= _BUNDLE_ROWS or self._bytes >= _BUNDLE_BYTES
        if not is_full and key[0] not in (FIRST, LAST):
            return []
        bundle, self._bundle, self._rows, self._bytes = self._bundle, [], 0, 0
        return self._handled_bundle(bundle, timer_values)

    def handleRowsOfKeys(  # noqa: N802
        self, rows: Iterable[tuple[Any, ...]], timer_values: Any
    ) -> list[tuple[Any, ...]]:
        """The rows that are emitted for those of many keys, which thread mode calls it with."""
        try:
            groups = [(key, list(group)) for key, group in groupby(rows, key=_key)]
            return self._handled_bundle(groups, timer_values)
        except BaseException:
            if self._stage is not None:
                fail(self._stage)
            raise

    def _handled_bundle(self, groups: list[_Group], timer_values: Any) -> list[Any]:
        stage = self._opened()
        made: list[tuple[Any, ...]] = []
        if groups[0][0][0] == FIRST:
            stage.go_to_index()
            made += stage.begin(timer_values.getCurrentWatermarkInMs())
            del groups[0]
        is_last = bool(groups) and groups[-1][0][0] == LAST
        if is_last:
            groups.pop()
        made += stage.process_bundle(groups)
        if is_last:
            made += self._ended(stage)
        return made

    def _ended(self, stage: Stage) -> list[tuple[Any, ...]]:
        made = stage.end()
        late = stage.late_records()
        # Nothing shows it in process mode.
        if late > 0 and hasattr(self._handle, "addLateRows"):
            self._handle.addLateRows(late)
        # Another clock has a batch for each of its times.
        is_awaited = stage.clock is system_clock
        first = self._index.first(PROCESSING_TIME) if is_awaited else None
        report_timer(self._reports, NO_TIMER if first is None else first)
        return made

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Any]:
        """There are no timers of Spark."""
        return iter(())

    def close(self) -> None:
        """What is open stays so for the next batch."""

    def handleInitialState(self, key: Any, row: Any, timer_values: Any) -> None:  # noqa: N802
        """There is none."""


class BoundedStage(RowFunction):
    """A function of the rows of bounded input, in the order of targets and keys.

    Parameters
    ----------
    stage : DeployedStage
        Whose specification is a `StageSpec`.
    """

    def __init__(self, stage: DeployedStage) -> None:
        super().__init__(stage)
        self._stage: Stage | None = None

    def __call__(self, *row: Any) -> list[tuple[Any, ...]]:
        """Return the rows that come of one."""
        stage = self._stage
        if stage is None:
            stage = self._stage = self._deployed.taken(Stage)
        try:
            return stage.process_bounded(row)
        except BaseException:
            fail(stage)
            raise
