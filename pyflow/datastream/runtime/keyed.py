"""Operators behind a shuffle: those of keyed, connected and broadcast streams."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from pyflow.common.typeinfo import Types
from pyflow.datastream.functions import (
    BroadcastProcessFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
)
from pyflow.datastream.runtime.chained import close_functions, emitting, opened_functions
from pyflow.datastream.runtime.keys import method_of
from pyflow.datastream.runtime.operator import (
    NO_TIMESTAMP,
    KeyedContext,
    Operator,
    OperatorTimes,
)
from pyflow.datastream.runtime.timer_service import KeyedTimerService, StatelessTimerService
from pyflow.datastream.state import ValueStateDescriptor
from pyflow.datastream.time_domain import TimeDomain

if TYPE_CHECKING:
    pass

__all__ = [
    "BroadcastProcess",
    "CoFlatMap",
    "CoMap",
    "CoProcess",
    "FunctionOperator",
    "KeyedBroadcastProcess",
    "KeyedCoProcess",
    "KeyedFilter",
    "KeyedFlatMap",
    "KeyedMap",
    "KeyedProcess",
    "PassOn",
    "Reduce",
]


class PassOn(Operator):
    """Emits what it gets: a shuffle alone."""

    def open(self, context: KeyedContext) -> None:
        """Open the function."""
        self._emit = context.emit

    def process(self, value: Any, timestamp: int | None, number: int) -> None:
        """Take an element."""
        self._emit(value, timestamp)


class FunctionOperator(Operator):
    """An operator that runs a user-defined function.

    Parameters
    ----------
    function : Function or callable
    """

    def __init__(self, function: Any) -> None:
        self.function = function
        self.user_functions = (function,)

    def open(self, context: KeyedContext) -> None:
        """Open the function."""
        self._context = context
        self._emit = context.emit
        with opened_functions(context.runtime_context, self.function):
            self.prepare(context)

    def prepare(self, context: KeyedContext) -> None:
        """Do what is done once the function is open."""

    def close(self) -> None:
        """Close the function."""
        close_functions(self.function)


class KeyedMap(FunctionOperator):
    """``map`` of a keyed stream, whose function has state."""

    def prepare(self, context: KeyedContext) -> None:
        """Do what is done once the function is open."""
        self._map = method_of(self.function, "map")

    def process(self, value: Any, timestamp: int | None, number: int) -> None:
        """Take an element."""
        self._emit(self._map(value), timestamp)


class KeyedFlatMap(FunctionOperator):
    """``flat_map`` of a keyed stream."""

    def prepare(self, context: KeyedContext) -> None:
        """Do what is done once the function is open."""
        self._flat_map = method_of(self.function, "flat_map")

    def process(self, value: Any, timestamp: int | None, number: int) -> None:
        """Take an element."""
        made = self._flat_map(value)
        if made is None:
            raise TypeError("flat_map() returned None; return an iterable or yield elements")
        for each in made:
            self._emit(each, timestamp)


class KeyedFilter(FunctionOperator):
    """``filter`` of a keyed stream."""

    def prepare(self, context: KeyedContext) -> None:
        """Do what is done once the function is open."""
        self._filter = method_of(self.function, "filter")

    def process(self, value: Any, timestamp: int | None, number: int) -> None:
        """Take an element."""
        if self._filter(value):
            self._emit(value, timestamp)


class Reduce(FunctionOperator):
    """``reduce``, and the aggregations that are made of it.

    Parameters
    ----------
    function : ReduceFunction or callable
    final : bool
        Whether only the last result of a key is emitted, at the end of bounded input.
    """

    def __init__(self, function: Any, final: bool) -> None:
        super().__init__(function)
        self._final = final

    def prepare(self, context: KeyedContext) -> None:
        """Do what is done once the function is open."""
        self._reduce = method_of(self.function, "reduce")
        self._state: Any = context.state(
            ValueStateDescriptor("_reduced", Types.PICKLED_BYTE_ARRAY())
        )
        self._timers = context.timers

    def process(self, value: Any, timestamp: int | None, number: int) -> None:
        """Take an element."""
        # In a tuple, since None may be an element.
        found = self._state.value()
        reduced = value if found is None else self._reduce(found[0], value)
        self._state.update((reduced,))
        if not self._final:
            self._emit(reduced, timestamp)
        elif found is None:
            self._timers.register(True, (1 << 63) - 1)

    def on_timer(self, is_event_time: bool, time: int, namespace: bytes) -> None:
        """Call the function for a timer."""
        self._emit(self._state.value()[0], time)


class _Context:
    """What contexts of process functions of keyed streams have in common."""

    _operator: Any

    def __init__(self, context: KeyedContext) -> None:
        self._keyed = context
        self._timestamp: int | None = None
        self._timer_service = KeyedTimerService(context, context.timers)
        self._domain = TimeDomain.EVENT_TIME

    def timestamp(self) -> int:
        return NO_TIMESTAMP if self._timestamp is None else self._timestamp

    def timer_service(self) -> KeyedTimerService:
        return self._timer_service

    def get_current_key(self) -> Any:
        return self._keyed.key()

    def time_domain(self) -> TimeDomain:
        return self._domain


class _KeyedProcessContext(_Context, KeyedProcessFunction.OnTimerContext):
    pass


class _KeyedCoProcessContext(_Context, KeyedCoProcessFunction.OnTimerContext):
    pass


class _WithTimers(FunctionOperator):
    """An operator whose function has timers."""

    _contexts: Any

    def prepare(self, context: KeyedContext) -> None:
        self._own = self._contexts(context)
        self._emit_all = emitting(context)

    def on_timer(self, is_event_time: bool, time: int, namespace: bytes) -> None:
        own = self._own
        own._timestamp = time
        own._domain = TimeDomain.EVENT_TIME if is_event_time else TimeDomain.PROCESSING_TIME
        self._emit_all(self.function.on_timer(time, own), time)


class KeyedProcess(_WithTimers):
    """``process`` of a keyed stream."""

    _contexts = _KeyedProcessContext

    def process(self, value: Any, timestamp: int | None, number: int) -> None:
        """Take an element."""
        self._own._timestamp = timestamp
        self._emit_all(self.function.process_element(value, self._own), timestamp)


class KeyedCoProcess(_WithTimers):
    """``process`` of two connected keyed streams."""

    _contexts = _KeyedCoProcessContext

    def prepare(self, context: KeyedContext) -> None:
        """Do what is done once the function is open."""
        super().prepare(context)
        self._functions = (self.function.process_element1, self.function.process_element2)

    def process(self, value: Any, timestamp: int | None, number: int) -> None:
        """Take an element."""
        self._own._timestamp = timestamp
        self._emit_all(self._functions[number](value, self._own), timestamp)


class _CoProcessContext(CoProcessFunction.Context):
    def __init__(self, times: OperatorTimes) -> None:
        self._timer_service = StatelessTimerService(times)
        self._timestamp: int | None = None

    def timestamp(self) -> int:
        return NO_TIMESTAMP if self._timestamp is None else self._timestamp

    def timer_service(self) -> StatelessTimerService:
        return self._timer_service


class CoProcess(FunctionOperator):
    """``process`` of two connected streams without keys."""

    def prepare(self, context: KeyedContext) -> None:
        """Do what is done once the function is open."""
        self._own = _CoProcessContext(context)
        self._emit_all = emitting(context)
        self._functions = (self.function.process_element1, self.function.process_element2)

    def process(self, value: Any, timestamp: int | None, number: int) -> None:
        """Take an element."""
        self._own._timestamp = timestamp
        self._emit_all(self._functions[number](value, self._own), timestamp)


class CoMap(FunctionOperator):
    """``map`` of two connected streams."""

    def prepare(self, context: KeyedContext) -> None:
        """Do what is done once the function is open."""
        self._functions = (self.function.map1, self.function.map2)

    def process(self, value: Any, timestamp: int | None, number: int) -> None:
        """Take an element."""
        made = self._functions[number](value)
        if made is not None:
            self._emit(made, timestamp)


class CoFlatMap(FunctionOperator):
    """``flat_map`` of two connected streams."""

    def prepare(self, context: KeyedContext) -> None:
        """Do what is done once the function is open."""
        self._functions = (self.function.flat_map1, self.function.flat_map2)

    def process(self, value: Any, timestamp: int | None, number: int) -> None:
        """Take an element."""
        for each in self._functions[number](value) or ():
            self._emit(each, timestamp)


class _BroadcastContext:
    """What contexts of functions with broadcast state have in common."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self._timestamp: int | None = None

    def timestamp(self) -> int:
        return NO_TIMESTAMP if self._timestamp is None else self._timestamp

    def current_processing_time(self) -> int:
        return int(self._context.processing_time())

    def current_watermark(self) -> int:
        return int(self._context.watermark())


class _Writing(
    _BroadcastContext,
    BroadcastProcessFunction.Context,
    KeyedBroadcastProcessFunction.Context,
):
    def get_broadcast_state(self, state_descriptor: Any) -> Any:
        return self._context.broadcast_state(state_descriptor, True)


class _Reading(_BroadcastContext, BroadcastProcessFunction.ReadOnlyContext):
    def get_broadcast_state(self, state_descriptor: Any) -> Any:
        return self._context.broadcast_state(state_descriptor, False)


class _KeyedReading(_BroadcastContext, _Context, KeyedBroadcastProcessFunction.OnTimerContext):
    def __init__(self, context: Any) -> None:
        _Context.__init__(self, context)
        self._context = context

    def get_broadcast_state(self, state_descriptor: Any) -> Any:
        return self._context.broadcast_state(state_descriptor, False)


class BroadcastProcess(FunctionOperator):
    """``process`` of a stream without keys and a broadcast stream; the latter is the second.

    Parameters
    ----------
    function : BroadcastProcessFunction or KeyedBroadcastProcessFunction
    names : collection of str
        Of the broadcast states.
    """

    _readings: Any = _Reading

    def __init__(self, function: Any, names: Collection[str]) -> None:
        super().__init__(function)
        self._names = names

    def prepare(self, context: KeyedContext) -> None:
        """Do what is done once the function is open."""
        context.broadcast_names = self._names  # type: ignore[attr-defined]
        self._reading = self._readings(context)
        self._writing = _Writing(context)
        self._emit_all = emitting(context)

    def process(self, value: Any, timestamp: int | None, number: int) -> None:
        """Take an element."""
        if number == 0:
            self._reading._timestamp = timestamp
            made = self.function.process_element(value, self._reading)
        else:
            self._writing._timestamp = timestamp
            made = self.function.process_broadcast_element(value, self._writing)
        self._emit_all(made, timestamp)


class KeyedBroadcastProcess(BroadcastProcess):
    """``process`` of a keyed stream and a broadcast stream."""

    _readings = _KeyedReading

    def prepare(self, context: KeyedContext) -> None:
        """Do what is done once the function is open."""
        super().prepare(context)
        self._without_key = context.without_key

    def process(self, value: Any, timestamp: int | None, number: int) -> None:
        """Take an element."""
        if number == 0:
            super().process(value, timestamp, number)
            return
        with self._without_key():
            super().process(value, timestamp, number)

    def on_timer(self, is_event_time: bool, time: int, namespace: bytes) -> None:
        """Call the function for a timer."""
        own = self._reading
        own._timestamp = time
        own._domain = TimeDomain.EVENT_TIME if is_event_time else TimeDomain.PROCESSING_TIME
        self._emit_all(self.function.on_timer(time, own), time)
