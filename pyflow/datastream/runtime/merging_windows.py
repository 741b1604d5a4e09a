"""Windows of a key that merge, such as sessions.

A merged window goes on with the pane of one of those that it was merged from; so the windows are
kept with the namespaces of their panes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from pyflow.datastream.runtime.window_namespaces import Namespaces, pack_interval, unpack_interval
from pyflow.datastream.window import (
    DynamicEventTimeSessionWindows,
    DynamicProcessingTimeSessionWindows,
    EventTimeSessionWindows,
    MergingWindowAssigner,
    ProcessingTimeSessionWindows,
    TimeWindow,
)

__all__ = ["Merge", "MergingWindows", "Sessions", "merging_windows"]

#: Is called with a merged window, those that it was merged from, the namespace of the pane that it
#: has, and those of the other panes.
Merge: TypeAlias = Callable[[Any, list[Any], bytes, list[bytes]], None]

_SESSIONS = (
    EventTimeSessionWindows,
    ProcessingTimeSessionWindows,
    DynamicEventTimeSessionWindows,
    DynamicProcessingTimeSessionWindows,
)


class MergingWindows(ABC):
    """The windows of the current key.

    Parameters
    ----------
    state : ValueState
        Of the key, where they are kept.
    """

    def __init__(self, state: Any) -> None:
        self._state = state

    @abstractmethod
    def add(self, window: Any, merge: Merge) -> tuple[Any, bytes]:
        """Add the window of an element.

        Parameters
        ----------
        window : Window
        merge : callable
            Is called for each merge of windows that there were.

        Returns
        -------
        tuple
            The window that contains it now, and the namespace of its pane.
        """

    @abstractmethod
    def pane(self, window: Any) -> bytes | None:
        """Return the namespace of a window's pane; None if there is no such window."""

    @abstractmethod
    def remove(self, window: Any) -> None:
        """Remove a window."""


class Sessions(MergingWindows):
    """Time windows that are merged when they intersect.

    Those that are kept don't, so that starts and ends have the same order. They are three lists:
    starts, ends and the namespaces of panes, which are the first windows of what has been merged.
    """

    def add(self, window: TimeWindow, merge: Merge) -> tuple[TimeWindow, bytes]:
        """Add the window of an element; it is returned itself if it is a session of its own."""
        starts, ends, panes = self._lists()
        first, behind = bisect_left(ends, window.start), bisect_right(starts, window.end)
        if first == behind:
            namespace = pack_interval(window.start, window.end)
            self._replace(first, behind, window, namespace)
            return window, namespace
        namespace, *others = panes[first:behind]
        start, end = min(starts[first], window.start), max(ends[behind - 1], window.end)
        merged = TimeWindow(start, end)
        if others or starts[first] != start or ends[first] != end:
            found = list(map(TimeWindow, starts[first:behind], ends[first:behind]))
            self._replace(first, behind, merged, namespace)
            merge(merged, found, namespace, others)
        return merged, namespace

    def pane(self, window: TimeWindow) -> bytes | None:
        """Return the namespace of a window's pane; None if there is no such window."""
        starts, ends, panes = self._lists()
        at = bisect_left(starts, window.start)
        if at < len(starts) and starts[at] == window.start and ends[at] == window.end:
            return panes[at]
        return None

    def of_pane(self, namespace: bytes) -> TimeWindow | None:
        """Return the window that has a pane; None if there is none."""
        starts, ends, panes = self._lists()
        at = bisect_right(starts, unpack_interval(namespace)[0]) - 1
        if at >= 0 and panes[at] == namespace:
            return TimeWindow(starts[at], ends[at])
        return None

    def remove(self, window: TimeWindow) -> None:
        """Remove a window."""
        at = bisect_left(self._lists()[0], window.start)
        self._replace(at, at + 1)

    def _lists(self) -> tuple[list[int], list[int], list[bytes]]:
        return self._state.value() or ([], [], [])

    def _replace(
        self, first: int, behind: int, window: TimeWindow | None = None, namespace: bytes = b""
    ) -> None:
        """Put a window, or none, in the place of others."""
        starts, ends, panes = lists = self._lists()
        starts[first:behind] = [] if window is None else [window.start]
        ends[first:behind] = [] if window is None else [window.end]
        panes[first:behind] = [] if window is None else [namespace]
        if starts:
            self._state.update(lists)
        else:
            self._state.clear()


class _AssignedWindows(MergingWindows):
    """Windows that their assigner merges: a dict of their namespaces and those of their panes."""

    def __init__(
        self, state: Any, assigner: MergingWindowAssigner[Any, Any], namespaces: Namespaces
    ) -> None:
        super().__init__(state)
        self._assigner = assigner
        self._encode, self._decode = namespaces

    def add(self, window: Any, merge: Merge) -> tuple[Any, bytes]:
        panes = dict(self._state.value() or {})
        merges = _Merges()
        self._assigner.merge_windows([*map(self._decode, panes), window], merges)
        result, is_merged = window, False
        for merged, windows in merges.found:
            if window in windows:
                windows.remove(window)
                result, is_merged = merged, True
            pane = panes[self._encode(windows[0])]
            others = [panes.pop(self._encode(each)) for each in windows]
            others.remove(pane)
            panes[self._encode(merged)] = pane
            if windows != [merged]:
                merge(merged, windows, pane, others)
        namespace = self._encode(result)
        if not is_merged:
            panes.setdefault(namespace, namespace)
        self._state.update(panes)
        return result, panes[namespace]

    def pane(self, window: Any) -> bytes | None:
        found: bytes | None = (self._state.value() or {}).get(self._encode(window))
        return found

    def remove(self, window: Any) -> None:
        panes = dict(self._state.value())
        del panes[self._encode(window)]
        if panes:
            self._state.update(panes)
        else:
            self._state.clear()


class _Merges(MergingWindowAssigner.MergeCallback[Any]):
    """What an assigner has merged: the results with the lists of their windows."""

    def __init__(self) -> None:
        self.found: list[tuple[Any, list[Any]]] = []

    def merge(self, to_be_merged: Iterable[Any], merge_result: Any) -> None:
        self.found.append((merge_result, list(to_be_merged)))


def merging_windows(
    state: Any, assigner: MergingWindowAssigner[Any, Any], namespaces: Namespaces
) -> MergingWindows:
    """Return the windows of the current key.

    Parameters
    ----------
    state : ValueState
        Of the key, where they are kept.
    assigner : MergingWindowAssigner
    namespaces : Namespaces
        Of its windows.
    """
    if type(assigner) in _SESSIONS:
        return Sessions(state)
    return _AssignedWindows(state, assigner, namespaces)
