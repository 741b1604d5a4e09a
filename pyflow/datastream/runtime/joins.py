"""The operators of two keyed streams that are joined: in windows, or by the times of elements."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from pyflow.common.typeinfo import Types
from pyflow.datastream.functions import AllWindowFunction, Function
from pyflow.datastream.join_functions import FlatJoinFunction, ProcessJoinFunction
from pyflow.datastream.runtime.chained import close_functions, emitting, opened_functions
from pyflow.datastream.runtime.keys import method_of
from pyflow.datastream.runtime.operator import MIN_WATERMARK, KeyedContext, Operator
from pyflow.datastream.runtime.windows import WindowOperator, window_operator
from pyflow.datastream.state import MapStateDescriptor, ValueStateDescriptor

if TYPE_CHECKING:
    from pyflow.datastream.evictors import Evictor
    from pyflow.datastream.functions import RuntimeContext
    from pyflow.datastream.output_tag import OutputTag
    from pyflow.datastream.window import Trigger, WindowAssigner

__all__ = ["CoGroup", "IntervalJoin", "TaggedUnion", "WindowJoin"]


class TaggedUnion(NamedTuple):
    """An element with the number of its stream: what assigners, triggers and evictors are given.

    Attributes
    ----------
    number : int
        0 for the first stream, and 1 for the second.
    value : object
    """

    number: int
    value: Any

    def is_one(self) -> bool:
        """Return whether the element is of the first stream."""
        return self.number == 0

    def is_two(self) -> bool:
        """Return whether the element is of the second stream."""
        return self.number == 1

    def get_one(self) -> Any:
        """Return the element, if it is of the first stream."""
        return self.value if self.number == 0 else None

    def get_two(self) -> Any:
        """Return the element, if it is of the second stream."""
        return self.value if self.number == 1 else None


class _OfTwoStreams(Operator):
    """An operator of windows with elements of two streams.

    Parameters
    ----------
    function : Function or callable
    assigner : WindowAssigner
    trigger : Trigger, optional
        The assigner's by default.
    evictor : Evictor, optional
    allowed_lateness : int
        In milliseconds.
    """

    def __init__(
        self,
        function: Any,
        assigner: WindowAssigner[Any, Any],
        trigger: Trigger[Any, Any] | None = None,
        evictor: Evictor | None = None,
        allowed_lateness: int = 0,
    ) -> None:
        self._windows: WindowOperator = window_operator(
            assigner,
            function=self._over(function),
            trigger=trigger,
            evictor=evictor,
            allowed_lateness=allowed_lateness,
        )

    @abstractmethod
    def _over(self, function: Any) -> _OverTwoStreams:
        """The window function."""

    @property
    def late_records_dropped(self) -> int:  # type: ignore[override]
        """How many elements have been dropped, as they were late."""
        return self._windows.late_records_dropped

    def open(self, context: KeyedContext) -> None:
        """Open the function, and prepare the state."""
        self._windows.open(context)

    def process(self, value: Any, timestamp: int | None, number: int) -> None:
        """Add an element of either stream to its windows."""
        self._windows.process(TaggedUnion(number, value), timestamp, 0)

    def on_timer(self, is_event_time: bool, time: int, namespace: bytes) -> None:
        """Ask the trigger of a window."""
        self._windows.on_timer(is_event_time, time, namespace)

    def close(self) -> None:
        """Close the function."""
        self._windows.close()


class CoGroup(_OfTwoStreams):
    """``co_group``: a function is given the elements of both streams in a window.

    Its function is a CoGroupFunction, or a callable of two lists; it returns an iterable.
    """

    def _over(self, function: Any) -> _OverTwoStreams:
        return _CoGroups(function)


class WindowJoin(_OfTwoStreams):
    """``join``: a function is given each pair of elements of both streams in a window.

    Its function is a JoinFunction, or a callable, of an element of each stream and returns one
    element; or a FlatJoinFunction, which returns an iterable.
    """

    def _over(self, function: Any) -> _OverTwoStreams:
        return _Pairs(function)


class _OverTwoStreams(AllWindowFunction[Any, Any, Any]):
    """A window function over elements of two streams.

    Parameters
    ----------
    function : Function or callable
    """

    def __init__(self, function: Any) -> None:
        self._function = function

    def open(self, runtime_context: RuntimeContext) -> None:
        if isinstance(self._function, Function):
            self._function.open(runtime_context)

    def close(self) -> None:
        close_functions(self._function)

    def apply(self, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
        sides: tuple[list[Any], list[Any]] = ([], [])
        for number, value in inputs:
            sides[number].append(value)
        return self._made(*sides)

    @abstractmethod
    def _made(self, first: list[Any], second: list[Any]) -> Iterable[Any]:
        """What becomes of the elements."""


class _CoGroups(_OverTwoStreams):
    def _made(self, first: list[Any], second: list[Any]) -> Iterable[Any]:
        made: Iterable[Any] = method_of(self._function, "co_group")(first, second)
        return made


class _Pairs(_OverTwoStreams):
    def _made(self, first: list[Any], second: list[Any]) -> Iterable[Any]:
        join = method_of(self._function, "join")
        pairs = (join(one, other) for one in first for other in second)
        if isinstance(self._function, FlatJoinFunction):
            return (each for made in pairs for each in made or ())
        return pairs


class IntervalJoin(Operator):
    """``interval_join``: pairs of elements, the right one in an interval around the left one.

    An element is kept, by its timestamp, until no partner can come any more. One that is behind the
    watermark is late, and joined with none.

    Parameters
    ----------
    function : ProcessJoinFunction
        Makes an iterable of the left element, the right one and a context.
    lower_bound, upper_bound : int
        From the left timestamp to the right one, in milliseconds.
    lower_bound_inclusive, upper_bound_inclusive : bool
        Whether an element at the bound belongs to the interval.
    left_late_data_tag, right_late_data_tag : OutputTag, optional
        The side outputs of late elements.

    Raises
    ------
    ValueError
        If the lower bound is above the upper one.
    """

    def __init__(
        self,
        function: ProcessJoinFunction,
        lower_bound: int,
        upper_bound: int,
        lower_bound_inclusive: bool = True,
        upper_bound_inclusive: bool = True,
        left_late_data_tag: OutputTag | None = None,
        right_late_data_tag: OutputTag | None = None,
    ) -> None:
        if lower_bound > upper_bound:
            raise ValueError(
                f"the lower bound must not be above the upper one, got {lower_bound} and "
                f"{upper_bound} ms"
            )
        self._function = function
        lower = lower_bound if lower_bound_inclusive else lower_bound + 1
        upper = upper_bound if upper_bound_inclusive else upper_bound - 1
        # Of each stream: from its timestamps to those of the other one.
        self._intervals = ((lower, upper), (-upper, -lower))
        self._late_data_tags = (left_late_data_tag, right_late_data_tag)

    def open(self, context: KeyedContext) -> None:
        """Open the function, and prepare the state."""
        with opened_functions(context.runtime_context, self._function):
            self._watermark = context.watermark
            self._register = context.timers.register
            self._emit_side = context.emit_side
            self._emit_all = emitting(context)
            self._own = _JoinContext()
            self._buffers = (_Buffer(context, "left"), _Buffer(context, "right"))

    def close(self) -> None:
        """Close the function."""
        close_functions(self._function)

    def process(self, value: Any, timestamp: int | None, number: int) -> None:
        """Join an element with those of the other stream."""
        if timestamp is None or timestamp == MIN_WATERMARK:
            raise ValueError(
                "an element has no timestamp, by which elements are joined; call "
                "assign_timestamps_and_watermarks() on both streams, with a timestamp assigner"
            )
        if timestamp < self._watermark():
            self._drop(value, timestamp, number)
            return
        self._buffers[number].add(value, timestamp)
        lower, upper = self._intervals[number]
        for other_timestamp, others in self._buffers[1 - number].between(
            timestamp + lower, timestamp + upper
        ):
            for other in others:
                if number == 0:
                    self._join(value, other, timestamp, other_timestamp)
                else:
                    self._join(other, value, other_timestamp, timestamp)
        self._register(True, timestamp + max(upper, 0), b"%d" % number)

    def on_timer(self, is_event_time: bool, time: int, namespace: bytes) -> None:
        """Remove the elements of a timestamp."""
        number = int(namespace)
        self._buffers[number].remove(time - max(self._intervals[number][1], 0))

    def _join(self, left: Any, right: Any, left_timestamp: int, right_timestamp: int) -> None:
        own = self._own.of(left_timestamp, right_timestamp)
        self._emit_all(self._function.process_element(left, right, own), own.get_timestamp())

    def _drop(self, value: Any, timestamp: int, number: int) -> None:
        tag = self._late_data_tags[number]
        if tag is None:
            self.late_records_dropped += 1
        else:
            self._emit_side(tag, value, timestamp)


class _Buffer:
    """The elements of a stream that wait for partners.

    They are lists by timestamp, and there is a sorted list of the timestamps.

    Parameters
    ----------
    context : KeyedContext
    name : str
    """

    def __init__(self, context: KeyedContext, name: str) -> None:
        pickled = Types.PICKLED_BYTE_ARRAY()
        self._times: Any = context.state(ValueStateDescriptor(f"{name}-timestamps", pickled))
        self._elements: Any = context.state(MapStateDescriptor(f"{name}-buffer", pickled, pickled))

    def add(self, value: Any, timestamp: int) -> None:
        """Add an element."""
        elements = self._elements.get(timestamp)
        if elements is None:
            elements = []
            times = self._times.value() or []
            insort(times, timestamp)
            self._times.update(times)
        elements.append(value)
        self._elements.put(timestamp, elements)

    def between(self, first: int, last: int) -> Iterable[tuple[int, list[Any]]]:
        """Yield the timestamps from one to another, and the elements that have them."""
        times = self._times.value() or []
        for timestamp in times[bisect_left(times, first) : bisect_right(times, last)]:
            yield timestamp, self._elements.get(timestamp)

    def remove(self, timestamp: int) -> None:
        """Remove the elements of a timestamp."""
        times = self._times.value() or []
        at = bisect_left(times, timestamp)
        if times[at : at + 1] != [timestamp]:
            return
        self._elements.remove(timestamp)
        del times[at]
        if times:
            self._times.update(times)
        else:
            self._times.clear()


class _JoinContext(ProcessJoinFunction.Context):
    def __init__(self) -> None:
        self._left = self._right = MIN_WATERMARK

    def of(self, left_timestamp: int, right_timestamp: int) -> _JoinContext:
        """Return this context, of two elements."""
        self._left, self._right = left_timestamp, right_timestamp
        return self

    def get_left_timestamp(self) -> int:
        return self._left

    def get_right_timestamp(self) -> int:
        return self._right

    def get_timestamp(self) -> int:
        return max(self._left, self._right)
