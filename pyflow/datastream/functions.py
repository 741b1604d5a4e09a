"""User-defined functions of data streams: the classes that they inherit from.

Executors import this module.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from pyflow.datastream.state import (
    AggregatingState,
    AggregatingStateDescriptor,
    BroadcastState,
    ListState,
    ListStateDescriptor,
    MapState,
    MapStateDescriptor,
    ReadOnlyBroadcastState,
    ReducingState,
    ReducingStateDescriptor,
    State,
    StateDescriptor,
    ValueState,
    ValueStateDescriptor,
)
from pyflow.datastream.time_domain import TimeDomain
from pyflow.datastream.timerservice import TimerService
from pyflow.streaming.runtime.functions import FunctionContext
from pyflow.util.unsupported import unsupported

if TYPE_CHECKING:
    from pyflow.common.time import Time
    from pyflow.metrics.metricbase import MetricGroup

__all__ = [
    "AggregateFunction",
    "AllWindowFunction",
    "AsyncFunction",
    "AsyncFunctionDescriptor",
    "AsyncRetryPredicate",
    "AsyncRetryStrategy",
    "BaseBroadcastProcessFunction",
    "BroadcastProcessFunction",
    "CoFlatMapFunction",
    "CoMapFunction",
    "CoProcessFunction",
    "FilterFunction",
    "FlatMapFunction",
    "KeySelector",
    "KeyedBroadcastProcessFunction",
    "KeyedCoProcessFunction",
    "KeyedProcessFunction",
    "MapFunction",
    "Partitioner",
    "ProcessAllWindowFunction",
    "ProcessFunction",
    "ProcessWindowFunction",
    "ReduceFunction",
    "RuntimeContext",
    "SinkFunction",
    "SourceFunction",
    "TimerService",
    "WindowFunction",
]

W = TypeVar("W")
W2 = TypeVar("W2")
IN = TypeVar("IN")
IN1 = TypeVar("IN1")
IN2 = TypeVar("IN2")
OUT = TypeVar("OUT")
KEY = TypeVar("KEY")


class KeyedStateStore:
    """Gives state of the current key.

    Parameters
    ----------
    state : callable or None
        Returns the state of a descriptor; None where there are no keys.
    """

    def __init__(self, state: Callable[[StateDescriptor], State] | None) -> None:
        self._state = state

    def get_state(self, state_descriptor: ValueStateDescriptor) -> ValueState[Any]:
        """Return a value.

        Raises
        ------
        RuntimeError
            If the stream is not keyed; so do the other methods.
        TypeError
            If the descriptor is of other state.
        """
        return cast("ValueState[Any]", self._of(state_descriptor, ValueStateDescriptor))

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        """Return a list."""
        return cast("ListState[Any]", self._of(state_descriptor, ListStateDescriptor))

    def get_map_state(self, state_descriptor: MapStateDescriptor) -> MapState[Any, Any]:
        """Return a map."""
        return cast("MapState[Any, Any]", self._of(state_descriptor, MapStateDescriptor))

    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor) -> ReducingState[Any]:
        """Return a value that elements are combined to."""
        return cast("ReducingState[Any]", self._of(state_descriptor, ReducingStateDescriptor))

    def get_aggregating_state(
        self, state_descriptor: AggregatingStateDescriptor
    ) -> AggregatingState[Any, Any]:
        """Return an accumulator that elements are added to."""
        return cast(
            "AggregatingState[Any, Any]", self._of(state_descriptor, AggregatingStateDescriptor)
        )

    def _of(self, descriptor: StateDescriptor, kind: type[StateDescriptor]) -> State:
        if self._state is None:
            raise RuntimeError(
                "This state is only accessible by functions executed on a KeyedStream."
            )
        if not isinstance(descriptor, kind):
            raise TypeError(f"expected a {kind.__name__}, not {descriptor!r}")
        return self._state(descriptor)


class RuntimeContext(FunctionContext, KeyedStateStore):
    """What a function learns of the task that it runs in, and where it has its state from.

    Parameters
    ----------
    base_metric_group : MetricGroup or None
        None where metrics are switched off.
    job_parameters : mapping of str to str
    task_name, task_name_with_subtasks : str, optional
    number_of_parallel_subtasks, max_number_of_parallel_subtasks : int, optional
    index_of_this_subtask, attempt_number : int, optional
    state : callable, optional
        Returns the state of a descriptor; None where there are no keys.
    """

    def __init__(
        self,
        base_metric_group: MetricGroup | None,
        job_parameters: Mapping[str, str],
        task_name: str | None = None,
        task_name_with_subtasks: str | None = None,
        number_of_parallel_subtasks: int | None = None,
        max_number_of_parallel_subtasks: int | None = None,
        index_of_this_subtask: int | None = None,
        attempt_number: int | None = None,
        state: Callable[[StateDescriptor], State] | None = None,
    ) -> None:
        FunctionContext.__init__(
            self,
            base_metric_group,
            job_parameters,
            task_name,
            task_name_with_subtasks,
            number_of_parallel_subtasks,
            max_number_of_parallel_subtasks,
            index_of_this_subtask,
            attempt_number,
        )
        KeyedStateStore.__init__(self, state)

    def get_metrics_group(self) -> MetricGroup:
        """Return the group of the function's metrics in this task.

        Raises
        ------
        RuntimeError
            If ``python.metric.enabled`` is false.
        """
        return self.get_metric_group()


class Function(ABC):  # noqa: B024
    """What all functions have. An object of it is used by one subtask at a time."""

    def open(self, runtime_context: RuntimeContext) -> None:  # noqa: B027
        """Prepare, before the first element of a subtask."""

    def close(self) -> None:  # noqa: B027
        """Give back what the function holds, after the last element, also after a failure."""


class MapFunction(Function):
    """Makes one element of each."""

    @abstractmethod
    def map(self, value: Any) -> Any:
        """Return what becomes of an element."""


class CoMapFunction(Function):
    """Makes one element of each of two streams."""

    @abstractmethod
    def map1(self, value: Any) -> Any:
        """Return what becomes of an element of the first stream."""

    @abstractmethod
    def map2(self, value: Any) -> Any:
        """Return what becomes of an element of the second stream."""


class FlatMapFunction(Function):
    """Makes any number of elements of each."""

    @abstractmethod
    def flat_map(self, value: Any) -> Any:
        """Return an iterable of what becomes of an element, or yield it."""


class CoFlatMapFunction(Function):
    """Makes any number of elements of each of two streams."""

    @abstractmethod
    def flat_map1(self, value: Any) -> Any:
        """Return an iterable of what becomes of an element of the first stream, or yield it."""

    @abstractmethod
    def flat_map2(self, value: Any) -> Any:
        """Return an iterable of what becomes of an element of the second stream, or yield it."""


class ReduceFunction(Function):
    """Makes one element of two of the same type."""

    @abstractmethod
    def reduce(self, value1: Any, value2: Any) -> Any:
        """Return what the two make, of their type."""


class AggregateFunction(Function):
    """Makes one result of many elements, by an accumulator."""

    @abstractmethod
    def create_accumulator(self) -> Any:
        """Return the accumulator of no elements."""

    @abstractmethod
    def add(self, value: Any, accumulator: Any) -> Any:
        """Add an element; the accumulator may be changed and returned."""

    @abstractmethod
    def get_result(self, accumulator: Any) -> Any:
        """Return the result for what the accumulator has."""

    @abstractmethod
    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        """Return an accumulator of what both have; either may be changed and returned."""


class KeySelector(Function):
    """Says the key of an element."""

    @abstractmethod
    def get_key(self, value: Any) -> Any:
        """Return the key, which has to be the same whenever it is asked for."""


class NullByteKeySelector(KeySelector):
    """Gives all elements the same key."""

    def get_key(self, value: Any) -> int:
        """Return 0."""
        return 0


class FilterFunction(Function):
    """Says which elements stay in a stream."""

    @abstractmethod
    def filter(self, value: Any) -> bool:
        """Return whether an element stays."""


class Partitioner(Function):
    """Says to which subtask an element goes."""

    @abstractmethod
    def partition(self, key: Any, num_partitions: int) -> int:
        """Return the number of a subtask, from 0 on.

        Parameters
        ----------
        key
            The element's key.
        num_partitions : int
            How many subtasks there are.
        """


class ReduceFunctionWrapper(ReduceFunction):
    """A callable in the place of a `ReduceFunction`.

    Parameters
    ----------
    func : callable
    """

    def __init__(self, func: Callable[[Any, Any], Any]) -> None:
        self._func = func

    def reduce(self, value1: Any, value2: Any) -> Any:
        """Return what the callable does."""
        return self._func(value1, value2)


@unsupported("there is no JVM of Flink; write the function in Python")
class JavaFunctionWrapper:
    """A function in Java."""

    def __init__(self, j_function: Any) -> None: ...

    def get_java_function(self) -> Any:
        """Return Flink's Java object of the function."""


@unsupported(
    "it is a Java class of Flink; use a source of pyflow.datastream.connectors with "
    "StreamExecutionEnvironment.from_source, or from_collection"
)
class SourceFunction(JavaFunctionWrapper):
    """A source in Java."""

    def __init__(self, source_func: Any) -> None: ...


@unsupported(
    "it is a Java class of Flink; use a sink of pyflow.datastream.connectors with "
    "DataStream.sink_to, or a function with DataStream.map"
)
class SinkFunction(JavaFunctionWrapper):
    """A sink in Java."""

    def __init__(self, sink_func: Any) -> None: ...


class _Context(ABC):
    """What a function may ask for while it handles an element or a timer, and then no more."""

    @abstractmethod
    def timer_service(self) -> TimerService:
        """Return what tells the time and registers timers."""

    @abstractmethod
    def timestamp(self) -> int:
        """Return the timestamp of the element or timer, in milliseconds since the epoch.

        The lowest number of 64 bits if the element has none, as in PyFlink.
        """


class _KeyedContext(_Context):
    """What a function of a keyed stream may ask for."""

    @abstractmethod
    def get_current_key(self) -> Any:
        """Return the key of the element or timer."""


class _OnTimerContext(_KeyedContext):
    """What a function may ask for while it handles a timer."""

    @abstractmethod
    def time_domain(self) -> TimeDomain:
        """Return by which time the timer fires."""


class ProcessFunction(Function):
    """Makes any number of elements of each, and asks for the time.

    On a keyed stream it may have state.
    """

    class Context(_Context, ABC):
        """What the function may ask for while it handles an element, and then no more."""

    @abstractmethod
    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
        """Return an iterable of what becomes of an element, or yield it, or return None.

        ``yield tag, element`` emits to a side output.
        """


class KeyedProcessFunction(Function):
    """Makes any number of elements of each of a keyed stream, with state and timers."""

    class Context(_KeyedContext, ABC):
        """What the function may ask for while it handles an element, and then no more."""

    class OnTimerContext(_OnTimerContext, Context, ABC):
        """What the function may ask for while it handles a timer, and then no more."""

    @abstractmethod
    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        """Return an iterable of what becomes of an element, or yield it, or return None.

        ``yield tag, element`` emits to a side output.
        """

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Any:
        """Handle a timer, and emit elements as `process_element` does.

        Parameters
        ----------
        timestamp : int
            The time that it was registered for.
        ctx : KeyedProcessFunction.OnTimerContext
        """


class CoProcessFunction(Function):
    """Makes any number of elements of each of two streams, and asks for the time."""

    class Context(_Context, ABC):
        """What the function may ask for while it handles an element, and then no more."""

    @abstractmethod
    def process_element1(self, value: Any, ctx: CoProcessFunction.Context) -> Any:
        """Handle an element of the first stream, as `ProcessFunction` does."""

    @abstractmethod
    def process_element2(self, value: Any, ctx: CoProcessFunction.Context) -> Any:
        """Handle an element of the second stream, as `ProcessFunction` does."""


class KeyedCoProcessFunction(Function):
    """Makes any number of elements of each of two keyed streams, with state and timers."""

    class Context(_KeyedContext, ABC):
        """What the function may ask for while it handles an element, and then no more."""

    class OnTimerContext(_OnTimerContext, Context, ABC):
        """What the function may ask for while it handles a timer, and then no more."""

    @abstractmethod
    def process_element1(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> Any:
        """Handle an element of the first stream, as `KeyedProcessFunction` does."""

    @abstractmethod
    def process_element2(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> Any:
        """Handle an element of the second stream, as `KeyedProcessFunction` does."""

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext) -> Any:
        """Handle a timer, and emit elements as `process_element1` does.

        Parameters
        ----------
        timestamp : int
            The time that it was registered for.
        ctx : KeyedCoProcessFunction.OnTimerContext
        """


class AsyncRetryPredicate(ABC, Generic[OUT]):
    """Says which calls of an `AsyncFunction` are to be repeated."""

    @abstractmethod
    def result_predicate(self) -> Callable[[list[OUT]], bool] | None:
        """Return what says so of a result; None if no result is."""

    @abstractmethod
    def exception_predicate(self) -> Callable[[Exception], bool] | None:
        """Return what says so of an exception; None if no exception is."""


class AsyncRetryStrategy(ABC, Generic[OUT]):
    """Says whether and when calls of an `AsyncFunction` are repeated."""

    @abstractmethod
    def can_retry(self, current_attempts: int) -> bool:
        """Return whether there may be another attempt.

        Parameters
        ----------
        current_attempts : int
            The number of the last attempt, from 1 on.
        """

    @abstractmethod
    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return the milliseconds until the next attempt."""

    @abstractmethod
    def get_retry_predicate(self) -> AsyncRetryPredicate[OUT]:
        """Return what says which calls are to be repeated."""

    @staticmethod
    def no_restart() -> AsyncRetryStrategy[Any]:
        """Return the strategy of one attempt."""
        from pyflow.datastream.async_retry_strategies import NO_RETRY_STRATEGY

        return NO_RETRY_STRATEGY

    @staticmethod
    def fixed_delay(
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: Callable[[list[Any]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ) -> AsyncRetryStrategy[Any]:
        """Return the strategy of attempts after always the same time.

        Parameters
        ----------
        max_attempts : int
            How many, beside the first one.
        backoff_time_millis : int
            The milliseconds between them.
        result_predicate : callable or None
            Says which results ask for another attempt.
        exception_predicate : callable or None
            Says which exceptions do.
        """
        from pyflow.datastream.async_retry_strategies import FixedDelayRetryStrategy

        return FixedDelayRetryStrategy(
            max_attempts, backoff_time_millis, result_predicate, exception_predicate
        )

    @staticmethod
    def exponential_backoff(
        max_attempts: int,
        initial_delay: int,
        max_retry_delay: int,
        multiplier: float,
        result_predicate: Callable[[list[Any]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ) -> AsyncRetryStrategy[Any]:
        """Return the strategy of attempts after longer and longer times.

        Parameters
        ----------
        max_attempts : int
            How many, beside the first one.
        initial_delay : int
            The milliseconds before the second attempt.
        max_retry_delay : int
            The most milliseconds between attempts.
        multiplier : float
            How many times as long the next time is.
        result_predicate : callable or None
            Says which results ask for another attempt.
        exception_predicate : callable or None
            Says which exceptions do.
        """
        from pyflow.datastream.async_retry_strategies import ExponentialBackoffDelayRetryStrategy

        return ExponentialBackoffDelayRetryStrategy(
            max_attempts,
            initial_delay,
            max_retry_delay,
            multiplier,
            result_predicate,
            exception_predicate,
        )


class AsyncFunction(Function, Generic[IN, OUT]):
    """Makes any number of elements of each; many calls wait at once, as for a service."""

    @abstractmethod
    async def async_invoke(self, value: IN) -> list[OUT]:
        """Return a list of what becomes of an element. An exception fails the task."""

    def timeout(self, value: IN) -> list[OUT]:
        """Return what becomes of an element whose call took too long.

        Raises
        ------
        TimeoutError
            Unless a class has a method of its own.
        """
        raise TimeoutError(f"Async function call has timed out for input: {value}")


class AsyncFunctionDescriptor:
    """An `AsyncFunction` with what `AsyncDataStream` was told.

    Parameters
    ----------
    async_function : AsyncFunction
    timeout : Time
        After which a call, with all its attempts, is given up; without one if it is 0.
    capacity : int
        How many elements wait at most.
    async_retry_strategy : AsyncRetryStrategy
    output_mode : AsyncFunctionDescriptor.OutputMode
    """

    class OutputMode(Enum):
        """In which order results are emitted."""

        #: That of the elements.
        ORDERED = 0
        #: As they come.
        UNORDERED = 1

    def __init__(
        self,
        async_function: AsyncFunction[Any, Any],
        timeout: Time,
        capacity: int,
        async_retry_strategy: AsyncRetryStrategy[Any],
        output_mode: AsyncFunctionDescriptor.OutputMode,
    ) -> None:
        self.async_function = async_function
        self.timeout = timeout
        self.capacity = capacity
        self.async_retry_strategy = async_retry_strategy
        self.output_mode = output_mode


class WindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """Makes any number of elements of those of a key in a window."""

    @abstractmethod
    def apply(self, key: KEY, window: W, inputs: Iterable[IN]) -> Iterable[OUT]:
        """Return what becomes of the elements, or yield it."""


class AllWindowFunction(Function, Generic[IN, OUT, W]):
    """Makes any number of elements of all in a window."""

    @abstractmethod
    def apply(self, window: W, inputs: Iterable[IN]) -> Iterable[OUT]:
        """Return what becomes of the elements, or yield it."""


class _WindowContext(ABC, Generic[W2]):
    """What a function may ask for while it handles a window, and then no more."""

    @abstractmethod
    def window(self) -> W2:
        """Return the window."""

    @abstractmethod
    def window_state(self) -> KeyedStateStore:
        """Return where state of the key and window is, which `clear` has to remove."""

    @abstractmethod
    def global_state(self) -> KeyedStateStore:
        """Return where state of the key is."""


class ProcessWindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """Makes any number of elements of those of a key in a window, and may have state."""

    class Context(_WindowContext[W2], ABC, Generic[W2]):
        """What the function may ask for while it handles a window, and then no more."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """Return the time of the machine, in milliseconds since the epoch."""

        @abstractmethod
        def current_watermark(self) -> int:
            """Return the watermark of event time, in milliseconds since the epoch."""

    @abstractmethod
    def process(
        self, key: KEY, context: ProcessWindowFunction.Context[W], elements: Iterable[IN]
    ) -> Iterable[OUT]:
        """Return what becomes of the elements, or yield it.

        ``yield tag, element`` emits to a side output.
        """

    def clear(self, context: ProcessWindowFunction.Context[W]) -> None:
        """Remove state of the window, when it is over and no late element can come."""


class ProcessAllWindowFunction(Function, Generic[IN, OUT, W]):
    """Makes any number of elements of all in a window, and may have state."""

    class Context(_WindowContext[W2], ABC, Generic[W2]):
        """What the function may ask for while it handles a window, and then no more."""

    @abstractmethod
    def process(
        self, context: ProcessAllWindowFunction.Context[W], elements: Iterable[IN]
    ) -> Iterable[OUT]:
        """Return what becomes of the elements, or yield it.

        ``yield tag, element`` emits to a side output.
        """

    def clear(self, context: ProcessAllWindowFunction.Context[W]) -> None:
        """Remove state of the window, when it is over and no late element can come."""


class BaseBroadcastProcessFunction(Function):
    """What functions of a stream and a broadcast stream have in common."""

    class BaseContext(ABC):
        """What the function may ask for while it handles an element, and then no more."""

        @abstractmethod
        def timestamp(self) -> int:
            """Return the timestamp of the element or timer, in milliseconds since the epoch.

            The lowest number of 64 bits if the element has none, as in PyFlink.
            """

        @abstractmethod
        def current_processing_time(self) -> int:
            """Return the time of the machine, in milliseconds since the epoch."""

        @abstractmethod
        def current_watermark(self) -> int:
            """Return the watermark of event time, in milliseconds since the epoch."""

    class Context(BaseContext):
        """What the function may ask for while it handles an element of the broadcast stream."""

        @abstractmethod
        def get_broadcast_state(
            self, state_descriptor: MapStateDescriptor
        ) -> BroadcastState[Any, Any]:
            """Return the broadcast state that is described so."""

    class ReadOnlyContext(BaseContext):
        """What the function may ask for while it handles an element of the other stream."""

        @abstractmethod
        def get_broadcast_state(
            self, state_descriptor: MapStateDescriptor
        ) -> ReadOnlyBroadcastState[Any, Any]:
            """Return the broadcast state that is described so, for reading."""


class BroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[IN1, IN2, OUT]):
    """Makes any number of elements of each of a stream and a broadcast stream."""

    class Context(BaseBroadcastProcessFunction.Context, ABC):
        """What the function may ask for while it handles an element of the broadcast stream."""

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext, ABC):
        """What the function may ask for while it handles an element of the other stream."""

    @abstractmethod
    def process_element(self, value: IN1, ctx: BroadcastProcessFunction.ReadOnlyContext) -> Any:
        """Handle an element of the stream, as `ProcessFunction` does."""

    @abstractmethod
    def process_broadcast_element(self, value: IN2, ctx: BroadcastProcessFunction.Context) -> Any:
        """Handle an element of the broadcast stream, which each subtask gets.

        It may change the broadcast state, in the same way in each subtask.
        """


class KeyedBroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[KEY, IN1, IN2, OUT]):
    """Makes any number of elements of each of a keyed stream and a broadcast stream.

    For elements of the keyed stream it has state and timers.
    """

    class Context(BaseBroadcastProcessFunction.Context, ABC):
        """What the function may ask for while it handles an element of the broadcast stream."""

    class ReadOnlyContext(_KeyedContext, BaseBroadcastProcessFunction.ReadOnlyContext, ABC):
        """What the function may ask for while it handles an element of the keyed stream."""

    class OnTimerContext(_OnTimerContext, ReadOnlyContext, ABC):
        """What the function may ask for while it handles a timer."""

    @abstractmethod
    def process_element(
        self, value: IN1, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext
    ) -> Any:
        """Handle an element of the keyed stream, as `KeyedProcessFunction` does."""

    @abstractmethod
    def process_broadcast_element(
        self, value: IN2, ctx: KeyedBroadcastProcessFunction.Context
    ) -> Any:
        """Handle an element of the broadcast stream, which each subtask gets.

        It may change the broadcast state, in the same way in each subtask.
        """

    def on_timer(self, timestamp: int, ctx: KeyedBroadcastProcessFunction.OnTimerContext) -> Any:
        """Handle a timer, and emit elements as `process_element` does.

        Parameters
        ----------
        timestamp : int
            The time that it was registered for.
        ctx : KeyedBroadcastProcessFunction.OnTimerContext
        """
