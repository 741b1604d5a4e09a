"""Two streams that are joined, as in Flink's Java API; PyFlink has no such classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyflow.common.time import milliseconds_of
from pyflow.datastream.functions import KeySelector
from pyflow.datastream.graph.transformations import ShuffledInput
from pyflow.datastream.runtime.joins import CoGroup, IntervalJoin, WindowJoin
from pyflow.datastream.runtime.keys import ByKey

if TYPE_CHECKING:
    from pyflow.common.time import Duration, Time
    from pyflow.common.typeinfo import TypeInformation
    from pyflow.datastream.data_stream import DataStream, KeyedStream
    from pyflow.datastream.evictors import Evictor
    from pyflow.datastream.join_functions import ProcessJoinFunction
    from pyflow.datastream.output_tag import OutputTag
    from pyflow.datastream.window import Trigger, WindowAssigner

__all__ = ["CoGroupedStreams", "IntervalJoined", "JoinedStreams"]

_Selector = Callable[[Any], Any] | KeySelector


class _OfTwoStreams:
    """What joins and co-groups in windows have in common.

    Parameters
    ----------
    stream1, stream2 : DataStream
    """

    _name: str
    _operator: Any

    def __init__(self, stream1: DataStream, stream2: DataStream) -> None:
        self._streams = (stream1._values(), stream2._values())
        self._selectors: list[ByKey | None] = [None, None]
        self._assigner: WindowAssigner[Any, Any] | None = None
        self._options: dict[str, Any] = {}

    def where(self, key_selector: _Selector, key_type: TypeInformation | None = None) -> Any:
        """Set what returns the key of an element of the first stream, and return this."""
        self._selectors[0] = ByKey(key_selector, key_type)
        return self

    def equal_to(self, key_selector: _Selector, key_type: TypeInformation | None = None) -> Any:
        """Set what returns the key of an element of the second stream, and return this."""
        self._selectors[1] = ByKey(key_selector, key_type)
        return self

    def window(self, window_assigner: WindowAssigner[Any, Any]) -> Any:
        """Set to which windows elements belong, and return this."""
        self._assigner = window_assigner
        return self

    def trigger(self, trigger: Trigger[Any, Any]) -> Any:
        """Set when windows are evaluated, and return this."""
        self._options["trigger"] = trigger
        return self

    def evictor(self, evictor: Evictor) -> Any:
        """Set what removes elements of a window, and return this."""
        self._options["evictor"] = evictor
        return self

    def allowed_lateness(self, time_ms: int) -> Any:
        """Set how long after their end windows take elements, in milliseconds; return this."""
        self._options["allowed_lateness"] = time_ms
        return self

    def apply(self, function: Any, output_type: TypeInformation | None = None) -> DataStream:
        """Return what a function makes of the elements of both streams in each window.

        Parameters
        ----------
        function : Function or callable
        output_type : TypeInformation, optional

        Raises
        ------
        ValueError
            If a key of a stream, or the windows, have not been set.
        """
        assigner, options, operator = self._assigner, dict(self._options), self._operator
        if None in self._selectors or assigner is None:
            raise ValueError(f"{self._name}: call where(), equal_to() and window() before apply()")
        inputs = tuple(
            _input(stream, selector) for stream, selector in zip(self._streams, self._selectors)
        )
        return self._streams[0]._stateful(
            self._name,
            inputs,
            lambda is_batch: operator(function, assigner, **options),
            output_type,
        )


def _input(stream: DataStream, selector: ByKey | None) -> ShuffledInput:
    assert selector is not None
    return ShuffledInput(stream._outputs, lambda reserved: selector, selector)


class JoinedStreams(_OfTwoStreams):
    """Pairs of elements of two streams that have one key and are in one window."""

    _name = "Join"
    _operator = WindowJoin


class CoGroupedStreams(_OfTwoStreams):
    """Elements of two streams that have one key and are in one window, together."""

    _name = "CoGroup"
    _operator = CoGroup


class IntervalJoined:
    """Pairs of elements of two keyed streams of which one comes in an interval around the other.

    Parameters
    ----------
    stream1, stream2 : KeyedStream
    """

    def __init__(self, stream1: KeyedStream, stream2: KeyedStream) -> None:
        self._streams = (stream1, stream2)
        self._bounds: tuple[int, int] | None = None
        self._options: dict[str, Any] = {}

    def between(self, lower_bound: Time | Duration, upper_bound: Time | Duration) -> IntervalJoined:
        """Set the interval, from the timestamp of the first element on, and return this."""
        self._bounds = (milliseconds_of(lower_bound), milliseconds_of(upper_bound))
        return self

    def lower_bound_exclusive(self) -> IntervalJoined:
        """Leave out what is exactly at the lower bound, and return this."""
        self._options["lower_bound_inclusive"] = False
        return self

    def upper_bound_exclusive(self) -> IntervalJoined:
        """Leave out what is exactly at the upper bound, and return this."""
        self._options["upper_bound_inclusive"] = False
        return self

    def side_output_left_late_data(self, output_tag: OutputTag) -> IntervalJoined:
        """Set the side output of late elements of the first stream, and return this."""
        self._options["left_late_data_tag"] = output_tag
        return self

    def side_output_right_late_data(self, output_tag: OutputTag) -> IntervalJoined:
        """Set the side output of late elements of the second stream, and return this."""
        self._options["right_late_data_tag"] = output_tag
        return self

    def process(
        self, function: ProcessJoinFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Return what a function makes of the pairs.

        Raises
        ------
        ValueError
            If there is no interval.
        """
        if self._bounds is None:
            raise ValueError("interval_join(): call between() before process()")
        bounds, options = self._bounds, dict(self._options)
        first, second = self._streams
        return first._stateful(
            "Interval Join",
            (first._keyed_input(), second._keyed_input()),
            lambda is_batch: IntervalJoin(function, *bounds, **options),
            output_type,
        )
