"""Windows, and what triggers and assigners of them are.

All times are in milliseconds since the epoch.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from enum import Enum
from io import BytesIO
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pyflow.common.constants import MAX_LONG_VALUE
from pyflow.common.serializer import TypeSerializer
from pyflow.datastream.functions import RuntimeContext
from pyflow.datastream.state import (
    State,
    StateDescriptor,
)

if TYPE_CHECKING:
    from pyflow.metrics.metricbase import MetricGroup

__all__ = [
    "CountWindow",
    "CountWindowSerializer",
    "GlobalWindow",
    "GlobalWindowSerializer",
    "MergingWindowAssigner",
    "SessionWindowTimeGapExtractor",
    "TimeWindow",
    "TimeWindowSerializer",
    "Trigger",
    "TriggerResult",
    "Window",
    "WindowAssigner",
    "long_to_int_with_bit_mixing",
    "mod_inverse",
]

T = TypeVar("T")
W = TypeVar("W")
W2 = TypeVar("W2")


def long_to_int_with_bit_mixing(x: int) -> int:
    """Return a number, as a hash, whose bits all depend on all bits of another."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ x >> shift) * factor
    return x ^ x >> 31


def mod_inverse(x: int) -> int:
    """Return the inverse of an odd number modulo 2 to the power of 32, not reduced."""
    inverse = x**3
    for _ in range(3):
        inverse *= 2 - x * inverse
    return inverse


class Window(ABC):
    """A part of a stream, to which elements belong that are evaluated together.

    Windows are compared and hashed by what they are, not by identity.
    """

    @abstractmethod
    def max_timestamp(self) -> int:
        """Return the largest timestamp of the window. Its results have it."""


class TimeWindow(Window):
    """The elements of an interval.

    Parameters
    ----------
    start : int
        The first millisecond of the interval.
    end : int
        The first millisecond behind it.
    """

    def __init__(self, start: int, end: int) -> None:
        super().__init__()
        self.start = start
        self.end = end

    def max_timestamp(self) -> int:
        """Return the last millisecond of the interval."""
        return self.end - 1

    def intersects(self, other: TimeWindow) -> bool:
        """Return whether the windows overlap, or one begins where the other ends."""
        return self.start <= other.end and other.start <= self.end

    def cover(self, other: TimeWindow) -> TimeWindow:
        """Return the smallest window that contains both."""
        return TimeWindow(min(self.start, other.start), max(self.end, other.end))

    @staticmethod
    def get_window_start_with_offset(timestamp: int, offset: int, window_size: int) -> int:
        """Return where the window of a timestamp starts.

        Parameters
        ----------
        timestamp : int
        offset : int
            Where a window starts; all others are multiples of the size away.
        window_size : int
        """
        return timestamp - (timestamp - offset) % window_size

    @staticmethod
    def merge_windows(
        windows: Iterable[TimeWindow], callback: MergingWindowAssigner.MergeCallback[TimeWindow]
    ) -> None:
        """Have those windows merged that intersect.

        Parameters
        ----------
        windows : iterable of TimeWindow
        callback : MergingWindowAssigner.MergeCallback
            Is called for each result with the set of the windows that are merged to it.
        """
        groups: list[tuple[TimeWindow, set[TimeWindow]]] = []
        for window in sorted(windows):
            if groups and groups[-1][0].intersects(window):
                merged, group = groups[-1]
                group.add(window)
                groups[-1] = (merged.cover(window), group)
            else:
                groups.append((window, {window}))
        for merged, group in groups:
            if len(group) > 1:
                callback.merge(group, merged)

    def __hash__(self) -> int:
        return hash((self.start, self.end))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TimeWindow)
            and self.__class__ is other.__class__
            and self.start == other.start
            and self.end == other.end
        )

    def __lt__(self, other: TimeWindow) -> bool:
        if not isinstance(other, TimeWindow):
            raise TypeError(f"Does not support comparison with non-TimeWindow {other}")
        return (self.start, self.end) < (other.start, other.end)

    def __le__(self, other: TimeWindow) -> bool:
        return self == other or self < other

    def __repr__(self) -> str:
        return f"TimeWindow(start={self.start}, end={self.end})"


class CountWindow(Window):
    """As many elements as windows have.

    Parameters
    ----------
    id : int
        The number of the window of a key.
    """

    def __init__(self, id: int) -> None:
        super().__init__()
        self.id = id

    def max_timestamp(self) -> int:
        """Return the largest of all timestamps."""
        return MAX_LONG_VALUE

    def __hash__(self) -> int:
        return hash(self.id)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, CountWindow)
            and self.__class__ is other.__class__
            and self.id == other.id
        )

    def __repr__(self) -> str:
        return f"CountWindow(id={self.id})"


class GlobalWindow(Window):
    """All elements."""

    def __init__(self) -> None:
        super().__init__()

    @staticmethod
    def get() -> GlobalWindow:
        """Return the window."""
        return GlobalWindow()

    def max_timestamp(self) -> int:
        """Return the largest of all timestamps."""
        return MAX_LONG_VALUE

    def __eq__(self, other: object) -> bool:
        return self.__class__ is other.__class__

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "GlobalWindow"


class TimeWindowSerializer(TypeSerializer[TimeWindow]):
    """Writes start and end in eight bytes each, the highest first."""

    _form = struct.Struct(">qq")

    def serialize(self, element: TimeWindow, stream: BytesIO) -> None:
        """Write a window."""
        stream.write(self._form.pack(element.start, element.end))

    def deserialize(self, stream: BytesIO) -> TimeWindow:
        """Read a window."""
        return TimeWindow(*self._form.unpack(stream.read(self._form.size)))


class CountWindowSerializer(TypeSerializer[CountWindow]):
    """Writes the number in eight bytes, the highest first."""

    _form = struct.Struct(">q")

    def serialize(self, element: CountWindow, stream: BytesIO) -> None:
        """Write a window."""
        stream.write(self._form.pack(element.id))

    def deserialize(self, stream: BytesIO) -> CountWindow:
        """Read a window."""
        return CountWindow(*self._form.unpack(stream.read(self._form.size)))


class GlobalWindowSerializer(TypeSerializer[GlobalWindow]):
    """Writes a byte, 0."""

    def serialize(self, element: GlobalWindow, stream: BytesIO) -> None:
        """Write a window."""
        stream.write(b"\0")

    def deserialize(self, stream: BytesIO) -> GlobalWindow:
        """Read a window."""
        stream.read(1)
        return GlobalWindow()


class TriggerResult(Enum):
    """What a trigger has done with a window: whether it is evaluated, and emptied then."""

    #: Nothing.
    CONTINUE = (False, False)
    #: The window is evaluated, and its elements are removed.
    FIRE_AND_PURGE = (True, True)
    #: The window is evaluated, and keeps its elements.
    FIRE = (True, False)
    #: The elements are removed.
    PURGE = (False, True)

    def is_fire(self) -> bool:
        """Return whether the window is evaluated, if there is anything in it."""
        return self.value[0]

    def is_purge(self) -> bool:
        """Return whether the elements are removed."""
        return self.value[1]


class Trigger(ABC, Generic[T, W]):
    """Decides when a window of a key is evaluated.

    One object serves all keys and windows: what it has to remember is state of its context, which
    belongs to the current key and window.
    """

    class TriggerContext(ABC):
        """Time, timers and state of the current key and window."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """Return the time of the machine."""

        @abstractmethod
        def get_metric_group(self) -> MetricGroup:
            """Return the metrics of the operator."""

        @abstractmethod
        def get_current_watermark(self) -> int:
            """Return the watermark of event time."""

        @abstractmethod
        def register_processing_time_timer(self, time: int) -> None:
            """Have `Trigger.on_processing_time` called at a time."""

        @abstractmethod
        def register_event_time_timer(self, time: int) -> None:
            """Have `Trigger.on_event_time` called when the watermark has reached a time."""

        @abstractmethod
        def delete_processing_time_timer(self, time: int) -> None:
            """Delete the processing-time timer of a time, if there is one."""

        @abstractmethod
        def delete_event_time_timer(self, time: int) -> None:
            """Delete the event-time timer of a time, if there is one."""

        @abstractmethod
        def get_partitioned_state(self, state_descriptor: StateDescriptor) -> State:
            """Return state of the current key and window."""

    class OnMergeContext(TriggerContext):
        """That of the window that others have been merged to."""

        @abstractmethod
        def merge_partitioned_state(self, state_descriptor: StateDescriptor) -> None:
            """Move state of the merged windows to that of the result.

            Raises
            ------
            TypeError
                If such state cannot be merged.
            """

    @abstractmethod
    def on_element(
        self, element: T, timestamp: int, window: W, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Decide after an element has been added to a window.

        Parameters
        ----------
        element : object
        timestamp : int
            Of the element; the smallest number of 64 bits if it has none.
        window : Window
        ctx : Trigger.TriggerContext
        """

    @abstractmethod
    def on_processing_time(
        self, time: int, window: W, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Decide at the time of a processing-time timer."""

    @abstractmethod
    def on_event_time(self, time: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Decide at the time of an event-time timer."""

    def can_merge(self) -> bool:
        """Return whether the trigger may be used with windows that merge."""
        return False

    @abstractmethod
    def on_merge(self, window: W, ctx: Trigger.OnMergeContext) -> None:
        """Merge state, and register timers for the window that others have been merged to."""

    @abstractmethod
    def clear(self, window: W, ctx: Trigger.TriggerContext) -> None:
        """Clear state and delete timers of a window that is over."""


class WindowAssigner(ABC, Generic[T, W]):
    """Decides which windows an element belongs to: none, one or several."""

    class WindowAssignerContext(ABC):
        """What an assigner may ask for."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """Return the time of the machine."""

        @abstractmethod
        def get_runtime_context(self) -> RuntimeContext:
            """Return what functions are opened with; it gives state of the current key."""

    @abstractmethod
    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[W]:
        """Return the windows of an element.

        Parameters
        ----------
        element : object
        timestamp : int
            Of the element; the smallest number of 64 bits if it has none.
        context : WindowAssigner.WindowAssignerContext
        """

    @abstractmethod
    def get_default_trigger(self, env: Any) -> Trigger[T, W]:
        """Return the trigger that is used where none is set.

        Parameters
        ----------
        env : StreamExecutionEnvironment
        """

    @abstractmethod
    def get_window_serializer(self) -> TypeSerializer[W]:
        """Return what writes and reads windows of this assigner.

        Windows that are equal have to be written equally.
        """

    @abstractmethod
    def is_event_time(self) -> bool:
        """Return whether windows end by event time."""


class MergingWindowAssigner(WindowAssigner[T, W]):
    """Decides also which windows of a key become one."""

    class MergeCallback(ABC, Generic[W2]):
        """Is told which windows become one."""

        @abstractmethod
        def merge(self, to_be_merged: Iterable[W2], merge_result: W2) -> None:
            """Have windows become one.

            Parameters
            ----------
            to_be_merged : iterable of Window
            merge_result : Window
            """

    @abstractmethod
    def merge_windows(
        self, windows: Iterable[W], callback: MergingWindowAssigner.MergeCallback[W]
    ) -> None:
        """Tell which windows become one.

        Parameters
        ----------
        windows : iterable of Window
            All windows of a key that are not over.
        callback : MergingWindowAssigner.MergeCallback
        """


class SessionWindowTimeGapExtractor(ABC):
    """Says after which time without elements a session is over."""

    @abstractmethod
    def extract(self, element: Any) -> int:
        """Return the milliseconds after an element."""
