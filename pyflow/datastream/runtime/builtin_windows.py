"""Operators of windows that are known so well that their triggers need not be asked.

They do what `WindowOperator` does, with less work for each element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflow.datastream.runtime.operator import MIN_WATERMARK
from pyflow.datastream.runtime.window_namespaces import pack_interval, unpack_interval
from pyflow.datastream.runtime.window_operator import KEPT_WINDOWS, WindowOperator
from pyflow.datastream.window import CountWindow, TimeWindow

if TYPE_CHECKING:
    from pyflow.datastream.runtime.merging_windows import Sessions
    from pyflow.datastream.runtime.operator import KeyedContext

__all__ = ["AlignedWindowOperator", "CountWindowOperator", "SessionWindowOperator"]


class AlignedWindowOperator(WindowOperator):
    """The operator of windows of one length that start regularly, and end by their time alone.

    Their start is all that there is to know of them. Timers are registered at a window's first
    element, and there is no need to ask the trigger.
    """

    def _prepare(self, context: KeyedContext) -> None:
        super()._prepare(context)
        assigner: Any = self._assigner
        self._size, self._offset = assigner._size, assigner._offset
        self._slide = getattr(assigner, "_slide", self._size)
        self._aligned: dict[int, _AlignedWindow] = {}

    def process(self, value: Any, timestamp: int | None, number: int) -> None:
        """Add an element to its windows."""
        if self._is_event_time:
            if timestamp is None:
                self._assigner._miss_timestamp()  # type: ignore[attr-defined]
            time, watermark = timestamp, self._watermark()
        else:
            time, watermark = self._processing_time(), MIN_WATERMARK
        is_skipped = True
        last = time - (time - self._offset) % self._slide
        for start in range(last, time - self._size, -self._slide):
            aligned = self._aligned.get(start) or self._aligned_at(start)
            if aligned.cleanup_time <= watermark:
                continue
            is_skipped = False
            is_first = aligned.add(value, timestamp)
            if aligned.end <= watermark:
                self._fire(aligned.window, aligned.namespace, aligned.pane)
            elif is_first:
                self._register(self._is_event_time, aligned.end, aligned.namespace)
            if is_first and aligned.cleanup_time != aligned.end:
                self._register(True, aligned.cleanup_time, aligned.namespace)
        if is_skipped:
            self._skip(value, timestamp)

    def on_timer(self, is_event_time: bool, time: int, namespace: bytes) -> None:
        """Evaluate a window, or remove it, or both."""
        start, end = unpack_interval(namespace)
        if end - start != self._size:
            # Of the program before it got windows of another size.
            super().on_timer(is_event_time, time, namespace)
            return
        aligned = self._aligned.get(start) or self._aligned_at(start)
        if time == aligned.end:
            self._fire(aligned.window, namespace, aligned.pane)
        if time == aligned.cleanup_time:
            aligned.pane.clear()
            self._evaluator.clear(aligned.window, namespace)

    def _aligned_at(self, start: int) -> _AlignedWindow:
        if len(self._aligned) >= KEPT_WINDOWS:
            self._aligned.clear()
        window = TimeWindow(start, start + self._size)
        namespace = pack_interval(start, window.end)
        pane = self._new_pane(namespace)
        found = _AlignedWindow(window, namespace, pane, self._cleanup_time(window))
        self._aligned[start] = found
        return found


class _AlignedWindow:
    """A window with all that is known of it, for all keys."""

    __slots__ = ("add", "cleanup_time", "end", "namespace", "pane", "window")

    def __init__(self, window: TimeWindow, namespace: bytes, pane: Any, cleanup_time: int) -> None:
        self.window = window
        self.namespace = namespace
        self.pane = pane
        self.add = pane.add
        self.end = window.max_timestamp()
        self.cleanup_time = cleanup_time


class SessionWindowOperator(WindowOperator):
    """The operator of sessions that end by their time alone.

    A session has one timer, for its first end. If the session has gone on when that is reached, it
    is registered anew, so that elements that prolong a session need no timers. Timers have the
    namespace of the pane, which a session keeps as it grows.
    """

    _merging: Sessions

    def process(self, value: Any, timestamp: int | None, number: int) -> None:
        """Add an element to its session."""
        moment = MIN_WATERMARK if timestamp is None else timestamp
        [window] = self._assigner.assign_windows(value, moment, self._assigner_context)
        session, namespace = self._merging.add(window, self._merge)
        watermark = self._watermark() if self._is_event_time else MIN_WATERMARK
        if self._cleanup_time(session) <= watermark:
            self._merging.remove(session)
            self._skip(value, timestamp)
            return
        pane = self._pane(namespace)
        pane.add(value, timestamp)
        end = session.max_timestamp()
        is_new = session is window
        if end > watermark:
            if is_new:
                self._register(self._is_event_time, end, namespace)
            return
        self._fire(session, namespace, pane)
        if is_new:
            self._register_cleanup(session, namespace)

    def _merge(self, result: Any, merged: list[Any], in_pane: bytes, others: list[bytes]) -> None:
        self._pane(in_pane).merge(list(map(self._pane, others)))
        if self._is_event_time and self._lateness:
            watermark = self._watermark()
            # The first one, whose pane it is, has fired, and so has no timer for its end.
            if merged[0].max_timestamp() <= watermark < result.max_timestamp():
                self._register(True, result.max_timestamp(), in_pane)

    def on_timer(self, is_event_time: bool, time: int, namespace: bytes) -> None:
        """Evaluate a session, or remove it, or both, unless it has gone on."""
        session = self._merging.of_pane(namespace)
        if session is None:
            # It has merged into another one.
            return
        end, cleanup_time = session.max_timestamp(), self._cleanup_time(session)
        if time < end:
            self._register(is_event_time, end, namespace)
            return
        if time == end:
            self._fire(session, namespace, self._pane(namespace))
        if time < cleanup_time:
            self._register_cleanup(session, namespace)
            return
        self._pane(namespace).clear()
        self._evaluator.clear(session, namespace)
        self._merging.remove(session)


class CountWindowOperator(WindowOperator):
    """The operator of windows of so many elements of a key, which are over when they have fired.

    The number of an element says which windows it belongs to, and which one it fills.
    """

    @property
    def kept(self) -> str:
        """What is kept of a window."""
        return f"{super().kept} by number"

    def _prepare(self, context: KeyedContext) -> None:
        super()._prepare(context)
        assigner: Any = self._assigner
        self._size = assigner._window_size
        self._slide = getattr(assigner, "_window_slide", self._size)
        self._count: Any = context.state(assigner._count_descriptor)
        # As many windows may be open at a time, whose panes are used again.
        self._open_windows = -(-self._size // self._slide)

    def process(self, value: Any, timestamp: int | None, number: int) -> None:
        """Add an element to its windows."""
        count = self._count.value() or 0
        self._count.update(count + 1)
        self._evaluator.timestamp = timestamp
        first = max(0, (count - self._size) // self._slide + 1)
        for window_number in range(count // self._slide, first - 1, -1):
            window = CountWindow(window_number % self._open_windows)
            pane = self._pane(self._encode(window))
            pane.add(value, timestamp)
            if count + 1 == window_number * self._slide + self._size:
                window = CountWindow(window_number)
                self._fire(window, self._encode(window), pane)
                pane.clear()
