"""A stage in Spark's real-time mode: rows are processed as they come, while a batch goes on.

Watermarks move between batches. At the beginning of a batch all timers of event time fire that are
due, also those of keys without rows. What they emit comes to the next stage while it has begun its
own batch: so a stage behind another takes a watermark one batch later, when it has everything that
was emitted at it.

Timers of processing time fire after a row of their partition, and at the end of the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyflow.datastream.runtime.stage import Stage, StageSpec
from pyflow.datastream.runtime.storage import ABSENT
from pyflow.datastream.runtime.timers import EVENT_TIME, PROCESSING_TIME, Timer

__all__ = ["RealTimeStage"]

_HELD_BACK = b"watermarks"
_NEVER = (1 << 63) - 1


class RealTimeStage(Stage):
    """The operators of a stage, open in a subtask."""

    takes_bundles = False

    def __init__(self, spec: StageSpec) -> None:
        super().__init__(spec)
        self._stages_before = -spec.number - 1
        self._held_back: list[int] = []
        #: When the first timer of the processing time is due.
        self._next_timer = _NEVER

    def begin(self, watermark: int) -> list[tuple[Any, ...]]:
        """The rows that come of the beginning of a batch: of timers that are due."""
        super().begin(watermark)
        self._before = self._reached[EVENT_TIME]
        self.fire_due()
        self._write_index()
        return self.chain.take()

    def held_back(self, watermark: int) -> int:
        """Return the watermark of so many batches before as there are stages before this one."""
        if self._stages_before == 0:
            return watermark
        known = self.storage.get(_HELD_BACK)
        self._held_back = [*(() if known is ABSENT else known), watermark]
        if len(self._held_back) > self._stages_before:
            return self._held_back.pop(0)
        return self._before

    def process(
        self, target: int, key: bytes, rows: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        """The rows that come of one, and of timers of the processing time that are due."""
        now = self.clock()
        self._reached[PROCESSING_TIME] = now
        made = super().process(target, key, rows)
        if now < self._next_timer:
            return made
        return [*made, *self._fire_processing_time(now)]

    def end(self) -> list[tuple[Any, ...]]:
        """The rows of timers of the processing time; all state is written then."""
        now = self.clock()
        self._reached[PROCESSING_TIME] = now
        made = self._fire_processing_time(now)
        if self._stages_before > 0:
            self.go_to_index()
            self.storage.forget()
            self.storage.put(_HELD_BACK, self._held_back)
            self.storage.flush()
        return [*made, *super().end()]

    def register(self, domain: int, at: int, namespace: bytes) -> None:
        """Register a timer of the current key."""
        super().register(domain, at, namespace)
        if domain == PROCESSING_TIME:
            if at <= self._reached[domain]:
                self._forget_in_index(at, namespace)
            self._next_timer = min(self._next_timer, at)

    def delete(self, domain: int, at: int, namespace: bytes) -> None:
        """Delete a timer of the current key, if there is one."""
        super().delete(domain, at, namespace)
        if domain == PROCESSING_TIME:
            self._forget_in_index(at, namespace)

    def _forget_in_index(self, at: int, namespace: bytes) -> None:
        """Remove a timer that may be due without having been looked for."""
        self._index.remove(Timer(at, PROCESSING_TIME, self.target, self.key, namespace))

    def _fire_processing_time(self, now: int) -> list[tuple[Any, ...]]:
        self._write_index()
        self.find_due(PROCESSING_TIME, now)
        self.fire_due()
        self._write_index()
        return self.chain.take()

    def _write_index(self) -> None:
        self.go_to_index()
        self._index.flush()
        first = self._index.first(PROCESSING_TIME)
        self._next_timer = _NEVER if first is None else first
