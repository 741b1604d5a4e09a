"""Which windows elements belong to."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NoReturn, TypeVar, cast

from pyflow.common.constants import MIN_LONG_VALUE
from pyflow.common.serializer import TypeSerializer
from pyflow.common.time import Time, milliseconds_of
from pyflow.common.typeinfo import Types
from pyflow.datastream.state import (
    ValueStateDescriptor,
)
from pyflow.datastream.windowing.triggers import (
    CountTrigger,
    EventTimeTrigger,
    NeverTrigger,
    ProcessingTimeTrigger,
    PurgingTrigger,
)
from pyflow.datastream.windowing.windows import (
    CountWindow,
    CountWindowSerializer,
    GlobalWindow,
    GlobalWindowSerializer,
    MergingWindowAssigner,
    SessionWindowTimeGapExtractor,
    TimeWindow,
    TimeWindowSerializer,
    Trigger,
    WindowAssigner,
)

__all__ = [
    "CountSlidingWindowAssigner",
    "CountTumblingWindowAssigner",
    "DynamicEventTimeSessionWindows",
    "DynamicProcessingTimeSessionWindows",
    "EventTimeSessionWindows",
    "GlobalWindows",
    "ProcessingTimeSessionWindows",
    "SlidingEventTimeWindows",
    "SlidingProcessingTimeWindows",
    "TumblingEventTimeWindows",
    "TumblingProcessingTimeWindows",
]

T = TypeVar("T")


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
