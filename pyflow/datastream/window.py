"""Windows: what elements are put into, by which assigners, and when triggers have them evaluated.

All times are in milliseconds since the epoch.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from enum import Enum
from io import BytesIO
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, cast

from pyflow.common.constants import MAX_LONG_VALUE, MIN_LONG_VALUE
from pyflow.common.serializer import TypeSerializer
from pyflow.common.time import Time, milliseconds_of
from pyflow.common.typeinfo import Types
from pyflow.datastream.functions import ReduceFunction, RuntimeContext
from pyflow.datastream.state import (
    ReducingState,
    ReducingStateDescriptor,
    State,
    StateDescriptor,
    ValueStateDescriptor,
)

if TYPE_CHECKING:
    from pyflow.metrics.metricbase import MetricGroup

__all__ = [
    "ContinuousEventTimeTrigger",
    "ContinuousProcessingTimeTrigger",
    "CountSlidingWindowAssigner",
    "CountTrigger",
    "CountTumblingWindowAssigner",
    "CountWindow",
    "CountWindowSerializer",
    "DynamicEventTimeSessionWindows",
    "DynamicProcessingTimeSessionWindows",
    "EventTimeSessionWindows",
    "EventTimeTrigger",
    "GlobalWindow",
    "GlobalWindowSerializer",
    "GlobalWindows",
    "MergingWindowAssigner",
    "NeverTrigger",
    "ProcessingTimeSessionWindows",
    "ProcessingTimeTrigger",
    "PurgingTrigger",
    "SessionWindowTimeGapExtractor",
    "SlidingEventTimeWindows",
    "SlidingProcessingTimeWindows",
    "TimeWindow",
    "TimeWindowSerializer",
    "Trigger",
    "TriggerResult",
    "TumblingEventTimeWindows",
    "TumblingProcessingTimeWindows",
    "Window",
    "WindowAssigner",
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


# Triggers


class _QuietTrigger(Trigger[T, W]):
    """Does nothing where a trigger says no more."""

    def on_processing_time(
        self, time: int, window: W, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_merge(self, window: W, ctx: Trigger.OnMergeContext) -> None:
        pass

    def clear(self, window: W, ctx: Trigger.TriggerContext) -> None:
        pass


class EventTimeTrigger(_QuietTrigger[T, TimeWindow]):
    """Fires when the watermark has passed the window, and then for each late element."""

    def on_element(
        self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Fire for a late element, or register a timer for the end of the window."""
        if window.max_timestamp() <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_event_time(
        self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Fire at the end of the window."""
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        """Register a timer for the end of the merged window."""
        if window.max_timestamp() > ctx.get_current_watermark():
            ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Delete the timer."""
        ctx.delete_event_time_timer(window.max_timestamp())

    @staticmethod
    def create() -> EventTimeTrigger[Any]:
        """Return the trigger."""
        return EventTimeTrigger()


class ProcessingTimeTrigger(_QuietTrigger[T, TimeWindow]):
    """Fires when the machine's time has passed the window."""

    def on_element(
        self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Register a timer for the end of the window."""
        ctx.register_processing_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_processing_time(
        self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Fire."""
        return TriggerResult.FIRE

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        """Register a timer for the end of the merged window."""
        if window.max_timestamp() > ctx.get_current_processing_time():
            ctx.register_processing_time_timer(window.max_timestamp())

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Delete the timer."""
        ctx.delete_processing_time_timer(window.max_timestamp())

    @staticmethod
    def create() -> ProcessingTimeTrigger[Any]:
        """Return the trigger."""
        return ProcessingTimeTrigger()


class Min(ReduceFunction):
    """The smaller one of two numbers."""

    def reduce(self, value1: Any, value2: Any) -> Any:
        """Return the smaller one."""
        return min(value1, value2)


class _Sum(ReduceFunction):
    def reduce(self, value1: Any, value2: Any) -> Any:
        return value1 + value2


class _ContinuousTrigger(_QuietTrigger[T, TimeWindow]):
    """Fires at the multiples of an interval, and at the end of the window.

    Parameters
    ----------
    interval : int
        In milliseconds.
    """

    def __init__(self, interval: int) -> None:
        self.interval = interval
        self.state_desc = ReducingStateDescriptor("fire-time", Min(), Types.LONG())

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        ctx.merge_partitioned_state(self.state_desc)
        next_time = self._next_time(ctx).get()
        if next_time is not None:
            self._register(ctx, next_time)

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        state = self._next_time(ctx)
        next_time = state.get()
        if next_time is not None:
            self._delete(ctx, next_time)
            state.clear()

    def register_next_fire_timestamp(
        self,
        time: int,
        window: TimeWindow,
        ctx: Trigger.TriggerContext,
        fire_timestamp_state: ReducingState[Any],
    ) -> None:
        """Have the trigger fire an interval after a time, or at the end of the window.

        Parameters
        ----------
        time : int
        window : TimeWindow
        ctx : Trigger.TriggerContext
        fire_timestamp_state : ReducingState
            Where the next time is.
        """
        next_time = min(time + self.interval, window.max_timestamp())
        fire_timestamp_state.add(next_time)
        self._register(ctx, next_time)

    def _begin(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        """Register the first timer of a window."""
        state = self._next_time(ctx)
        if state.get() is None:
            self.register_next_fire_timestamp(time - time % self.interval, window, ctx, state)

    def _go_on(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire if it is time, and register the next timer."""
        state = self._next_time(ctx)
        if state.get() != time:
            return TriggerResult.CONTINUE
        state.clear()
        self.register_next_fire_timestamp(time, window, ctx, state)
        return TriggerResult.FIRE

    def _next_time(self, ctx: Trigger.TriggerContext) -> ReducingState[Any]:
        return cast("ReducingState[Any]", ctx.get_partitioned_state(self.state_desc))

    def _register(self, ctx: Trigger.TriggerContext, time: int) -> None:
        raise NotImplementedError

    def _delete(self, ctx: Trigger.TriggerContext, time: int) -> None:
        raise NotImplementedError


class ContinuousEventTimeTrigger(_ContinuousTrigger[T]):
    """Fires whenever the watermark has passed a multiple of an interval, and at the window's end.

    Parameters
    ----------
    interval : int
        In milliseconds.
    """

    @staticmethod
    def of(interval: Time) -> ContinuousEventTimeTrigger[Any]:
        """Return the trigger of an interval."""
        return ContinuousEventTimeTrigger(milliseconds_of(interval))

    def on_element(
        self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Fire for a late element, or register timers."""
        if window.max_timestamp() <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(window.max_timestamp())
        self._begin(timestamp, window, ctx)
        return TriggerResult.CONTINUE

    def on_event_time(
        self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Fire at the end of the window, or when it is time."""
        if time == window.max_timestamp():
            return TriggerResult.FIRE
        return self._go_on(time, window, ctx)

    def _register(self, ctx: Trigger.TriggerContext, time: int) -> None:
        ctx.register_event_time_timer(time)

    def _delete(self, ctx: Trigger.TriggerContext, time: int) -> None:
        ctx.delete_event_time_timer(time)


class ContinuousProcessingTimeTrigger(_ContinuousTrigger[T]):
    """Fires whenever the machine's time has passed a multiple of an interval.

    Parameters
    ----------
    interval : int
        In milliseconds.
    """

    @staticmethod
    def of(interval: Time) -> ContinuousProcessingTimeTrigger[Any]:
        """Return the trigger of an interval."""
        return ContinuousProcessingTimeTrigger(milliseconds_of(interval))

    def on_element(
        self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Register the window's first timer."""
        self._begin(ctx.get_current_processing_time(), window, ctx)
        return TriggerResult.CONTINUE

    def on_processing_time(
        self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Fire when it is time."""
        return self._go_on(time, window, ctx)

    def _register(self, ctx: Trigger.TriggerContext, time: int) -> None:
        ctx.register_processing_time_timer(time)

    def _delete(self, ctx: Trigger.TriggerContext, time: int) -> None:
        ctx.delete_processing_time_timer(time)


class PurgingTrigger(Trigger[T, Window]):
    """Removes the elements of a window whenever another trigger fires.

    Parameters
    ----------
    nested_trigger : Trigger
    """

    def __init__(self, nested_trigger: Trigger[T, Any]) -> None:
        self.nested_trigger = nested_trigger

    @staticmethod
    def of(nested_trigger: Trigger[Any, Any]) -> PurgingTrigger[Any]:
        """Return the trigger that purges when another one fires."""
        return PurgingTrigger(nested_trigger)

    def on_element(
        self, element: T, timestamp: int, window: Window, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Do what the other trigger does, and purge if it fires; so do the other methods."""
        return self._purging(self.nested_trigger.on_element(element, timestamp, window, ctx))

    def on_event_time(
        self, time: int, window: Window, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Do what the other trigger does, and purge if it fires."""
        return self._purging(self.nested_trigger.on_event_time(time, window, ctx))

    def on_processing_time(
        self, time: int, window: Window, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Do what the other trigger does, and purge if it fires."""
        return self._purging(self.nested_trigger.on_processing_time(time, window, ctx))

    def clear(self, window: Window, ctx: Trigger.TriggerContext) -> None:
        """Do what the other trigger does."""
        self.nested_trigger.clear(window, ctx)

    def can_merge(self) -> bool:
        """Return whether the other trigger may be used with windows that merge."""
        return self.nested_trigger.can_merge()

    def on_merge(self, window: Window, ctx: Trigger.OnMergeContext) -> None:
        """Do what the other trigger does."""
        self.nested_trigger.on_merge(window, ctx)

    @staticmethod
    def _purging(result: TriggerResult) -> TriggerResult:
        return TriggerResult.FIRE_AND_PURGE if result.is_fire() else result


class CountTrigger(_QuietTrigger[T, W]):
    """Fires after so many elements, and counts anew then.

    Parameters
    ----------
    window_size : int
        How many elements.
    """

    def __init__(self, window_size: int) -> None:
        self._window_size = window_size
        self._count_state_descriptor = ReducingStateDescriptor("count", _Sum(), Types.LONG())

    @staticmethod
    def of(window_size: int) -> CountTrigger[Any, Any]:
        """Return the trigger of a number of elements."""
        return CountTrigger(window_size)

    def on_element(
        self, element: T, timestamp: int, window: W, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Count the element, and fire if there are enough."""
        count = self._count(ctx)
        count.add(1)
        if count.get() < self._window_size:
            return TriggerResult.CONTINUE
        count.clear()
        return TriggerResult.FIRE

    def can_merge(self) -> bool:
        """Return True."""
        return True

    def on_merge(self, window: W, ctx: Trigger.OnMergeContext) -> None:
        """Add the counts."""
        ctx.merge_partitioned_state(self._count_state_descriptor)

    def clear(self, window: W, ctx: Trigger.TriggerContext) -> None:
        """Clear the count."""
        self._count(ctx).clear()

    def _count(self, ctx: Trigger.TriggerContext) -> ReducingState[Any]:
        return cast("ReducingState[Any]", ctx.get_partitioned_state(self._count_state_descriptor))


class NeverTrigger(_QuietTrigger[T, GlobalWindow]):
    """Never fires."""

    def on_element(
        self, element: T, timestamp: int, window: GlobalWindow, ctx: Trigger.TriggerContext
    ) -> TriggerResult:
        """Do nothing."""
        return TriggerResult.CONTINUE


# Assigners


class _TimeWindows(WindowAssigner[T, TimeWindow]):
    """What all assigners of time windows have in common."""

    def get_window_serializer(self) -> TypeSerializer[TimeWindow]:
        return TimeWindowSerializer()

    def _time(self, timestamp: int, context: WindowAssigner.WindowAssignerContext) -> int:
        """The time that an element's windows are chosen by."""
        raise NotImplementedError


class _EventTime(_TimeWindows[T]):
    def get_default_trigger(self, env: Any) -> Trigger[T, TimeWindow]:
        return EventTimeTrigger()

    def is_event_time(self) -> bool:
        return True

    def _time(self, timestamp: int, context: WindowAssigner.WindowAssignerContext) -> int:
        if timestamp <= MIN_LONG_VALUE:
            self._miss_timestamp()
        return timestamp

    def _miss_timestamp(self) -> NoReturn:
        raise ValueError(
            "an element has no timestamp, by which windows of event time are chosen; call "
            "assign_timestamps_and_watermarks() on the stream, with a timestamp assigner, or take "
            "windows of processing time"
        )


class _ProcessingTime(_TimeWindows[T]):
    def get_default_trigger(self, env: Any) -> Trigger[T, TimeWindow]:
        return ProcessingTimeTrigger()

    def is_event_time(self) -> bool:
        return False

    def _time(self, timestamp: int, context: WindowAssigner.WindowAssignerContext) -> int:
        return context.get_current_processing_time()


class _TumblingWindows(_TimeWindows[T]):
    def __init__(self, size: int, offset: int) -> None:
        if abs(offset) >= size:
            raise ValueError(f"{type(self).__name__} parameters must satisfy abs(offset) < size")
        self._size = size
        self._offset = offset

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        time = self._time(timestamp, context)
        start = time - (time - self._offset) % self._size
        return [TimeWindow(start, start + self._size)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._size}, {self._offset})"


class _SlidingWindows(_TimeWindows[T]):
    def __init__(self, size: int, slide: int, offset: int) -> None:
        if abs(offset) >= slide or size <= 0:
            raise ValueError(
                f"{type(self).__name__} parameters must satisfy abs(offset) < slide and size > 0"
            )
        self._size = size
        self._slide = slide
        self._offset = offset

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        time = self._time(timestamp, context)
        last = time - (time - self._offset) % self._slide
        return [
            TimeWindow(start, start + self._size)
            for start in range(last, time - self._size, -self._slide)
        ]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._size}, {self._slide}, {self._offset})"


class TumblingEventTimeWindows(_TumblingWindows[T], _EventTime[T]):
    """Windows of one length, one after the other, by the timestamps of elements.

    Parameters
    ----------
    size : int
        In milliseconds.
    offset : int
        A time at which a window starts, in milliseconds.

    Raises
    ------
    ValueError
        If the offset is not shorter than the size.
    """

    @staticmethod
    def of(size: Time, offset: Time | None = None) -> TumblingEventTimeWindows[Any]:
        """Return the windows of a size, which start at multiples of it, or an offset later.

        Days of UTC+8 are those of ``of(Time.days(1), Time.hours(-8))``.
        """
        return TumblingEventTimeWindows(milliseconds_of(size), milliseconds_of(offset or Time(0)))


class TumblingProcessingTimeWindows(_TumblingWindows[T], _ProcessingTime[T]):
    """Windows of one length, one after the other, by the machine's time.

    Parameters
    ----------
    size : int
        In milliseconds.
    offset : int
        A time at which a window starts, in milliseconds.

    Raises
    ------
    ValueError
        If the offset is not shorter than the size.
    """

    @staticmethod
    def of(size: Time, offset: Time | None = None) -> TumblingProcessingTimeWindows[Any]:
        """Return the windows of a size, which start at multiples of it, or an offset later."""
        return TumblingProcessingTimeWindows(
            milliseconds_of(size), milliseconds_of(offset or Time(0))
        )


class SlidingEventTimeWindows(_SlidingWindows[T], _EventTime[T]):
    """Windows of one length that start regularly and may overlap, by the timestamps of elements.

    Parameters
    ----------
    size : int
        In milliseconds.
    slide : int
        From the start of one window to that of the next, in milliseconds.
    offset : int
        A time at which a window starts, in milliseconds.

    Raises
    ------
    ValueError
        If the offset is not shorter than the slide, or the size is not positive.
    """

    @staticmethod
    def of(size: Time, slide: Time, offset: Time | None = None) -> SlidingEventTimeWindows[Any]:
        """Return the windows that start at multiples of the slide, or an offset later."""
        return SlidingEventTimeWindows(
            milliseconds_of(size), milliseconds_of(slide), milliseconds_of(offset or Time(0))
        )


class SlidingProcessingTimeWindows(_SlidingWindows[T], _ProcessingTime[T]):
    """Windows of one length that start regularly and may overlap, by the machine's time.

    Parameters
    ----------
    size : int
        In milliseconds.
    slide : int
        From the start of one window to that of the next, in milliseconds.
    offset : int
        A time at which a window starts, in milliseconds.

    Raises
    ------
    ValueError
        If the offset is not shorter than the slide, or the size is not positive.
    """

    @staticmethod
    def of(
        size: Time, slide: Time, offset: Time | None = None
    ) -> SlidingProcessingTimeWindows[Any]:
        """Return the windows that start at multiples of the slide, or an offset later."""
        return SlidingProcessingTimeWindows(
            milliseconds_of(size), milliseconds_of(slide), milliseconds_of(offset or Time(0))
        )


class _SessionWindows(MergingWindowAssigner[T, TimeWindow], _TimeWindows[T]):
    """Windows that end after some time without elements."""

    def merge_windows(
        self,
        windows: Iterable[TimeWindow],
        callback: MergingWindowAssigner.MergeCallback[TimeWindow],
    ) -> None:
        TimeWindow.merge_windows(windows, callback)

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        time = self._time(timestamp, context)
        return [TimeWindow(time, time + self._gap(element))]

    def _gap(self, element: T) -> int:
        raise NotImplementedError


class _FixedGap(_SessionWindows[T]):
    def __init__(self, session_gap: int) -> None:
        if session_gap <= 0:
            raise ValueError(f"{type(self).__name__} parameters must satisfy 0 < size")
        self._session_gap = session_gap

    def _gap(self, element: T) -> int:
        return self._session_gap

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._session_gap})"


class _DynamicGap(_SessionWindows[T]):
    def __init__(self, session_window_time_gap_extractor: SessionWindowTimeGapExtractor) -> None:
        self._session_window_time_gap_extractor = session_window_time_gap_extractor

    def _gap(self, element: T) -> int:
        gap = self._session_window_time_gap_extractor.extract(element)
        if gap <= 0:
            raise ValueError("Dynamic session time gap must satisfy 0 < gap")
        return gap

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._session_window_time_gap_extractor!r})"


class EventTimeSessionWindows(_FixedGap[T], _EventTime[T]):
    """Windows that end when no element has come for some time, by the timestamps of elements.

    Parameters
    ----------
    session_gap : int
        The time without elements, in milliseconds.

    Raises
    ------
    ValueError
        If it is not positive.
    """

    @staticmethod
    def with_gap(size: Time) -> EventTimeSessionWindows[Any]:
        """Return sessions that end after a time without elements."""
        return EventTimeSessionWindows(milliseconds_of(size))

    @staticmethod
    def with_dynamic_gap(
        extractor: SessionWindowTimeGapExtractor,
    ) -> DynamicEventTimeSessionWindows[Any]:
        """Return sessions whose elements say after which time they end."""
        return DynamicEventTimeSessionWindows(extractor)


class ProcessingTimeSessionWindows(_FixedGap[T], _ProcessingTime[T]):
    """Windows that end when no element has come for some time, by the machine's time.

    Parameters
    ----------
    session_gap : int
        The time without elements, in milliseconds.

    Raises
    ------
    ValueError
        If it is not positive.
    """

    @staticmethod
    def with_gap(size: Time) -> ProcessingTimeSessionWindows[Any]:
        """Return sessions that end after a time without elements."""
        return ProcessingTimeSessionWindows(milliseconds_of(size))

    @staticmethod
    def with_dynamic_gap(
        extractor: SessionWindowTimeGapExtractor,
    ) -> DynamicProcessingTimeSessionWindows[Any]:
        """Return sessions whose elements say after which time they end."""
        return DynamicProcessingTimeSessionWindows(extractor)


class DynamicEventTimeSessionWindows(_DynamicGap[T], _EventTime[T]):
    """Windows that end when no element has come for a time that each element says.

    An element has to say more than 0 milliseconds.

    Parameters
    ----------
    session_window_time_gap_extractor : SessionWindowTimeGapExtractor
    """

    @staticmethod
    def with_dynamic_gap(
        extractor: SessionWindowTimeGapExtractor,
    ) -> DynamicEventTimeSessionWindows[Any]:
        """Return sessions whose elements say after which time they end."""
        return DynamicEventTimeSessionWindows(extractor)


class DynamicProcessingTimeSessionWindows(_DynamicGap[T], _ProcessingTime[T]):
    """Windows that end when no element has come for a time that each says, by the machine's time.

    An element has to say more than 0 milliseconds.

    Parameters
    ----------
    session_window_time_gap_extractor : SessionWindowTimeGapExtractor
    """

    @staticmethod
    def with_dynamic_gap(
        extractor: SessionWindowTimeGapExtractor,
    ) -> DynamicProcessingTimeSessionWindows[Any]:
        """Return sessions whose elements say after which time they end."""
        return DynamicProcessingTimeSessionWindows(extractor)


class _CountWindows(WindowAssigner[T, CountWindow]):
    """Windows of so many elements of a key, which are over when they have fired.

    In PyFlink the elements of such a window stay in state; here its default trigger removes them.
    """

    _window_size: int
    _count_descriptor: ValueStateDescriptor

    def get_default_trigger(self, env: Any) -> Trigger[T, CountWindow]:
        trigger: Any = PurgingTrigger.of(CountTrigger.of(self._window_size))
        return cast("Trigger[T, CountWindow]", trigger)

    def get_window_serializer(self) -> TypeSerializer[CountWindow]:
        return CountWindowSerializer()

    def is_event_time(self) -> bool:
        return False

    def _count(self, context: WindowAssigner.WindowAssignerContext) -> int:
        """The number of the element, from 0."""
        state = context.get_runtime_context().get_state(self._count_descriptor)
        count: int = state.value() or 0
        state.update(count + 1)
        return count


class CountTumblingWindowAssigner(_CountWindows[T]):
    """Windows of so many elements, one after the other.

    Parameters
    ----------
    window_size : int
    """

    def __init__(self, window_size: int) -> None:
        self._window_size = window_size
        self._count_descriptor = ValueStateDescriptor("tumble-count-assigner", Types.LONG())

    @staticmethod
    def of(window_size: int) -> CountTumblingWindowAssigner[Any]:
        """Return the windows of a number of elements."""
        return CountTumblingWindowAssigner(window_size)

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[CountWindow]:
        """Return the window of the key's next element."""
        return [CountWindow(self._count(context) // self._window_size)]

    def __repr__(self) -> str:
        return f"CountTumblingWindowAssigner({self._window_size})"


class CountSlidingWindowAssigner(_CountWindows[T]):
    """Windows of so many elements that start after so many others, and may overlap.

    A window fires once it is full; those of a key's first elements are not cut short.

    Parameters
    ----------
    window_size : int
    window_slide : int
    """

    def __init__(self, window_size: int, window_slide: int) -> None:
        self._window_size = window_size
        self._window_slide = window_slide
        self._count_descriptor = ValueStateDescriptor("slide-count-assigner", Types.LONG())

    @staticmethod
    def of(window_size: int, window_slide: int) -> CountSlidingWindowAssigner[Any]:
        """Return the windows of a number of elements that start after so many others."""
        return CountSlidingWindowAssigner(window_size, window_slide)

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[CountWindow]:
        """Return the windows of the key's next element, the last one first."""
        count = self._count(context)
        slide = self._window_slide
        first = max(0, (count - self._window_size) // slide + 1)
        return [CountWindow(number) for number in range(count // slide, first - 1, -1)]

    def __repr__(self) -> str:
        return f"CountSlidingWindowAssigner({self._window_size}, {self._window_slide})"


class GlobalWindows(WindowAssigner[T, GlobalWindow]):
    """One window of all elements of a key. It fires only by a trigger that is set."""

    def __init__(self) -> None:
        super().__init__()

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[GlobalWindow]:
        """Return the window."""
        return [GlobalWindow.get()]

    @staticmethod
    def create() -> GlobalWindows[Any]:
        """Return the assigner."""
        return GlobalWindows()

    def get_default_trigger(self, env: Any) -> Trigger[T, GlobalWindow]:
        """Return the trigger that never fires."""
        return NeverTrigger()

    def get_window_serializer(self) -> TypeSerializer[GlobalWindow]:
        """Return what writes and reads the window."""
        return GlobalWindowSerializer()

    def is_event_time(self) -> bool:
        """Return False."""
        return False

    def __repr__(self) -> str:
        return "GlobalWindows()"
