"""Two streams that are processed by one function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyflow.datastream.functions import (
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeySelector,
)
from pyflow.datastream.graph.transformations import ShuffledInput
from pyflow.datastream.runtime import keyed
from pyflow.datastream.runtime.keys import Broadcast

if TYPE_CHECKING:
    from pyflow.common.typeinfo import TypeInformation
    from pyflow.datastream.data_stream import DataStream
    from pyflow.datastream.state import MapStateDescriptor

__all__ = ["BroadcastConnectedStream", "BroadcastStream", "ConnectedStreams"]


def _inputs(stream1: Any, stream2: Any) -> tuple[ShuffledInput, ShuffledInput]:
    """Return the inputs of an operator of two streams, by their keys where both have some."""
    return _input(stream1), _input(stream2)


def _input(stream: Any) -> ShuffledInput:
    keyed_input = getattr(stream, "_keyed_input", None)
    found: ShuffledInput = stream._forwarded() if keyed_input is None else keyed_input()
    return found


def _is_keyed(stream: Any) -> bool:
    return hasattr(stream, "_keyed_input")


class ConnectedStreams:
    """Two streams whose elements come to one function, which may share state between them.

    Parameters
    ----------
    stream1, stream2 : DataStream
        Both keyed, or both not.
    """

    def __init__(self, stream1: DataStream, stream2: DataStream) -> None:
        self.stream1 = stream1
        self.stream2 = stream2

    def key_by(
        self,
        key_selector1: Callable[[Any], Any] | KeySelector,
        key_selector2: Callable[[Any], Any] | KeySelector,
        key_type: TypeInformation | None = None,
    ) -> ConnectedStreams:
        """Return the streams divided by keys; equal ones come together.

        Parameters
        ----------
        key_selector1, key_selector2 : KeySelector or callable
            Return the key of an element of the first and the second stream.
        key_type : TypeInformation, optional
            Of the keys.
        """
        return ConnectedStreams(
            self.stream1._values().key_by(key_selector1, key_type),
            self.stream2._values().key_by(key_selector2, key_type),
        )

    def map(self, func: CoMapFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Return the stream of what a function makes of the elements of both."""
        if not isinstance(func, CoMapFunction):
            raise TypeError("The input function must be a CoMapFunction!")
        return self._processed("Co-Map", keyed.CoMap, func, output_type)

    def flat_map(
        self, func: CoFlatMapFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Return the stream of all elements that a function yields for those of both."""
        if not isinstance(func, CoFlatMapFunction):
            raise TypeError("The input must be a CoFlatMapFunction!")
        return self._processed("Co-Flat Map", keyed.CoFlatMap, func, output_type)

    def process(
        self,
        func: CoProcessFunction | KeyedCoProcessFunction,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return the stream of all elements that a function yields for those of both.

        Parameters
        ----------
        func : CoProcessFunction or KeyedCoProcessFunction
            The latter has state and timers, where both streams are keyed.
        output_type : TypeInformation, optional
        """
        if isinstance(func, KeyedCoProcessFunction):
            if not (_is_keyed(self.stream1) and _is_keyed(self.stream2)):
                raise TypeError("KeyedCoProcessFunction is required for connected keyed streams.")
            return self._processed("Keyed Co-Process", keyed.KeyedCoProcess, func, output_type)
        if not isinstance(func, CoProcessFunction):
            raise TypeError("The input must be a CoProcessFunction or KeyedCoProcessFunction!")
        return self._processed("Co-Process", keyed.CoProcess, func, output_type)

    def _processed(
        self,
        name: str,
        operator: Callable[[Any], Any],
        func: Any,
        output_type: TypeInformation | None,
    ) -> DataStream:
        inputs = _inputs(self.stream1, self.stream2)
        return self.stream1._stateful(name, inputs, lambda is_batch: operator(func), output_type)


class BroadcastStream:
    """A stream whose elements all come to each subtask of a function, with the state they fill.

    Parameters
    ----------
    input_stream : DataStream
    broadcast_state_descriptors : list of MapStateDescriptor
    """

    def __init__(
        self, input_stream: DataStream, broadcast_state_descriptors: list[MapStateDescriptor]
    ) -> None:
        self.input_stream = input_stream
        self.broadcast_state_descriptors = broadcast_state_descriptors


class BroadcastConnectedStream:
    """A stream and a broadcast stream, to be processed by one function.

    Parameters
    ----------
    non_broadcast_stream : DataStream
    broadcast_stream : BroadcastStream
    broadcast_state_descriptors : list of MapStateDescriptor
    """

    def __init__(
        self,
        non_broadcast_stream: DataStream,
        broadcast_stream: BroadcastStream,
        broadcast_state_descriptors: list[MapStateDescriptor],
    ) -> None:
        self.non_broadcast_stream = non_broadcast_stream
        self.broadcast_stream = broadcast_stream
        self.broadcast_state_descriptors = broadcast_state_descriptors

    def process(
        self,
        func: BroadcastProcessFunction[Any, Any, Any]
        | KeyedBroadcastProcessFunction[Any, Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return the stream of all elements that a function yields for those of both.

        Parameters
        ----------
        func : BroadcastProcessFunction or KeyedBroadcastProcessFunction
            The latter for a keyed stream.
        output_type : TypeInformation, optional
        """
        stream = self.non_broadcast_stream
        if isinstance(func, BroadcastProcessFunction) and _is_keyed(stream):
            raise TypeError("BroadcastProcessFunction should be applied to non-keyed DataStream")
        if isinstance(func, KeyedBroadcastProcessFunction) and not _is_keyed(stream):
            raise TypeError("KeyedBroadcastProcessFunction should be applied to keyed DataStream")
        operators = {True: keyed.KeyedBroadcastProcess, False: keyed.BroadcastProcess}
        operator = operators[_is_keyed(stream)]
        names = {each.get_name() for each in self.broadcast_state_descriptors}
        outputs = self.broadcast_stream.input_stream._outputs
        inputs = (_input(stream), ShuffledInput(outputs, Broadcast, None, is_broadcast=True))
        return stream._stateful(
            "Broadcast Process", inputs, lambda is_batch: operator(func, names), output_type
        )
