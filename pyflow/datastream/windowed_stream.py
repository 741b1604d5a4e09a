"""Streams that are divided into windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from pyflow.common.typeinfo import RowTypeInfo
from pyflow.datastream.functions import (
    AggregateFunction,
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    ReduceFunction,
    WindowFunction,
)
from pyflow.datastream.graph.transformations import ShuffledInput
from pyflow.datastream.runtime.keys import Single
from pyflow.datastream.runtime.windows import window_operator
from pyflow.datastream.window import MergingWindowAssigner

if TYPE_CHECKING:
    from pyflow.common.typeinfo import TypeInformation
    from pyflow.datastream.data_stream import DataStream, KeyedStream
    from pyflow.datastream.evictors import Evictor
    from pyflow.datastream.output_tag import OutputTag
    from pyflow.datastream.stream_execution_environment import StreamExecutionEnvironment
    from pyflow.datastream.window import Trigger, WindowAssigner

__all__ = ["AllWindowedStream", "WindowedStream"]

_Self = TypeVar("_Self", bound="_Windowed")


class _Windowed:
    """What streams with windows of each key, and of all elements, have in common."""

    _name: str
    _functions: tuple[type[Any], type[Any]]

    def __init__(self, stream: DataStream, window_assigner: WindowAssigner[Any, Any]) -> None:
        self._stream = stream
        self._assigner = window_assigner
        self._options: dict[str, Any] = {}

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        """Return what the program is run by."""
        return self._stream.get_execution_environment()

    def get_input_type(self) -> TypeInformation:
        """Return the type of the elements."""
        return self._stream.get_type()

    def trigger(self: _Self, trigger: Trigger[Any, Any]) -> _Self:
        """Set when windows are evaluated, and return the stream.

        Raises
        ------
        TypeError
            If windows merge and the trigger does not support that.
        """
        if isinstance(self._assigner, MergingWindowAssigner) and trigger.can_merge() is not True:
            raise TypeError(
                "A merging window assigner cannot be used with a trigger that does not support "
                "merging."
            )
        self._options["trigger"] = trigger
        return self

    def evictor(self: _Self, evictor: Evictor) -> _Self:
        """Set what removes elements of a window before or after it is evaluated.

        As in Flink's Java API; all elements are kept then.
        """
        self._options["evictor"] = evictor
        return self

    def allowed_lateness(self: _Self, time_ms: int) -> _Self:
        """Set how long after their end windows take elements, in milliseconds."""
        self._options["allowed_lateness"] = time_ms
        return self

    def side_output_late_data(self: _Self, output_tag: OutputTag) -> _Self:
        """Set the side output of elements that are too late; they are dropped without one."""
        self._options["late_data_tag"] = output_tag
        return self

    def reduce(
        self,
        reduce_function: Callable[[Any, Any], Any] | ReduceFunction,
        window_function: Any = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return what the elements of each window are combined to.

        Parameters
        ----------
        reduce_function : ReduceFunction or callable
            Combines two elements; what has been combined is all that is kept.
        window_function : optional
            Makes elements of the result of a window.
        output_type : TypeInformation, optional
            Of what it makes.
        """
        if not isinstance(reduce_function, ReduceFunction) and not callable(reduce_function):
            raise TypeError("The input must be a ReduceFunction or a callable function!")
        self._check(window_function)
        own = self._stream._type
        made = own if window_function is None and output_type is None else output_type
        options = {"reduce": reduce_function, "function": window_function}
        return self._windows("Reduce", options, made)

    def aggregate(
        self,
        aggregate_function: AggregateFunction,
        window_function: Any = None,
        accumulator_type: TypeInformation | None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return the results of an aggregate function for each window.

        Parameters
        ----------
        aggregate_function : AggregateFunction
            Adds elements to an accumulator, which is all that is kept.
        window_function : optional
            Makes elements of the result of a window.
        accumulator_type, output_type : TypeInformation, optional
        """
        if not isinstance(aggregate_function, AggregateFunction):
            raise TypeError("aggregate_function should be an AggregateFunction")
        self._check(window_function)
        options = {
            "aggregate": aggregate_function,
            "function": window_function,
            "type_info": (
                RowTypeInfo(accumulator_type)
                if isinstance(accumulator_type, list)
                else accumulator_type
            ),
        }
        return self._windows("Aggregate", options, output_type)

    def _check(self, window_function: Any) -> None:
        if window_function is None or isinstance(window_function, self._functions):
            return
        article = "an" if self._functions[0].__name__[0] in "AEIOU" else "a"
        names = " or ".join(each.__name__ for each in self._functions)
        raise TypeError(f"window_function should be {article} {names}")

    def _full(self, function: Any, output_type: TypeInformation | None) -> DataStream:
        self._check(function)
        if function is None:
            raise TypeError("a window function is required")
        return self._windows(type(function).__name__, {"function": function}, output_type)

    def _windows(
        self, function: str, options: dict[str, Any], output_type: TypeInformation | None
    ) -> DataStream:
        assigner, all_options = self._assigner, {**self._options, **options}
        # What is wrong is said where the program says it, not when it runs.
        kept = window_operator(assigner, **all_options).kept
        return self._stream._stateful(
            f"{self._name}({type(assigner).__name__}, {function})",
            (self._input(),),
            lambda is_batch: window_operator(assigner, **all_options),
            output_type,
            operation=f"{self._name}({type(assigner).__name__}, {kept})",
        )

    def _input(self) -> ShuffledInput:
        raise NotImplementedError


class WindowedStream(_Windowed):
    """A keyed stream with windows of each key.

    Parameters
    ----------
    keyed_stream : KeyedStream
    window_assigner : WindowAssigner
        Says to which windows an element belongs.
    """

    _name = "Window"
    _functions = (WindowFunction, ProcessWindowFunction)

    def __init__(
        self, keyed_stream: KeyedStream, window_assigner: WindowAssigner[Any, Any]
    ) -> None:
        super().__init__(keyed_stream, window_assigner)
        self._keyed_stream = keyed_stream

    def _input(self) -> ShuffledInput:
        return self._keyed_stream._keyed_input()

    def apply(
        self,
        window_function: WindowFunction[Any, Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return what a function makes of the key and all elements of each window."""
        return self._full(window_function, output_type)

    def process(
        self,
        process_window_function: ProcessWindowFunction[Any, Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return what a function makes of each window, with a context that has state."""
        return self._full(process_window_function, output_type)


class AllWindowedStream(_Windowed):
    """A stream with windows of all elements, which one subtask has.

    Parameters
    ----------
    data_stream : DataStream
    window_assigner : WindowAssigner
        Says to which windows an element belongs.
    """

    _name = "Window All"
    _functions = (AllWindowFunction, ProcessAllWindowFunction)

    def _input(self) -> ShuffledInput:
        return ShuffledInput(self._stream._outputs, lambda reserved: Single())

    def apply(
        self,
        window_function: AllWindowFunction[Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return what a function makes of all elements of each window."""
        return self._full(window_function, output_type)

    def process(
        self,
        process_window_function: ProcessAllWindowFunction[Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return what a function makes of each window, with a context that has state."""
        return self._full(process_window_function, output_type)
