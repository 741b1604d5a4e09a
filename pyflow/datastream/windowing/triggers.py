"""When windows are evaluated."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from pyflow.common.time import Time, milliseconds_of
from pyflow.common.typeinfo import Types
from pyflow.datastream.functions import ReduceFunction
from pyflow.datastream.state import (
    ReducingState,
    ReducingStateDescriptor,
)
from pyflow.datastream.windowing.windows import (
    GlobalWindow,
    TimeWindow,
    Trigger,
    TriggerResult,
    Window,
)

__all__ = [
    "ContinuousEventTimeTrigger",
    "ContinuousProcessingTimeTrigger",
    "CountTrigger",
    "EventTimeTrigger",
    "Min",
    "NeverTrigger",
    "ProcessingTimeTrigger",
    "PurgingTrigger",
]

T = TypeVar("T")
W = TypeVar("W")


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
