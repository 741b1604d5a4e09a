"""Operators without state, which are fused into chains.

The functions that they become have their operator as a variable, or one for each line, by which
errors name it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyflow.common.watermark_strategy import (
    Watermark,
    WatermarkGenerator,
    WatermarkOutput,
    WatermarkStrategy,
)
from pyflow.datastream.functions import Function, ProcessFunction
from pyflow.datastream.output_tag import OutputTag
from pyflow.datastream.runtime.chain import ChainContext, ChainOperator
from pyflow.datastream.runtime.fusion import FILTER, MAP, Step, fused
from pyflow.datastream.runtime.keys import method_of
from pyflow.datastream.runtime.life_cycle import close_all, close_at_last
from pyflow.datastream.runtime.operator import MIN_WATERMARK, NO_TIMESTAMP, Emit
from pyflow.datastream.runtime.timer_service import StatelessTimerService

if TYPE_CHECKING:
    from pyflow.datastream.functions import RuntimeContext

__all__ = [
    "AssignTimestamps",
    "ChainedFunction",
    "Filter",
    "FlatMap",
    "Map",
    "Process",
    "Project",
    "close_functions",
    "emitting",
    "opened_functions",
]


@contextmanager
def opened_functions(context: RuntimeContext, *functions: Any) -> Iterator[None]:
    """Open functions that are more than callables; where they cannot be used, close them again."""
    opened: list[Function] = []
    try:
        for function in functions:
            if isinstance(function, Function):
                function.open(context)
                opened.append(function)
        yield
    except BaseException:
        for function in reversed(opened):
            close_at_last(function)
        raise


def close_functions(*functions: Any) -> None:
    """Close functions that are more than callables; the first error is raised."""
    close_all(each for each in functions if isinstance(each, Function))


def emitting(context: Any) -> Callable[[Any, int | None], None]:
    """Return what emits the elements that a process function yields, with their timestamp.

    Parameters
    ----------
    context : ChainContext or KeyedContext
    """
    emit, emit_side = context.emit, context.emit_side

    def emit_all(made: Any, timestamp: int | None) -> None:
        if made is None:
            return
        for each in made:
            if type(each) is tuple and len(each) == 2 and isinstance(each[0], OutputTag):
                emit_side(each[0], each[1], timestamp)
            else:
                emit(each, timestamp)

    return emit_all


class ChainedFunction(ChainOperator):
    """An operator that runs a user-defined function.

    Parameters
    ----------
    function : Function or callable
    """

    def __init__(self, function: Any) -> None:
        self.function = function

    def start(self, context: ChainContext) -> Emit:
        """Open the operator, and return what takes its elements."""
        with opened_functions(context.runtime_context, self.function):
            return self.processing(context)

    def processing(self, context: ChainContext) -> Emit:
        """Return what takes the operator's elements."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the function."""
        close_functions(self.function)


class Map(ChainedFunction):
    """``map``."""

    def processing(self, context: ChainContext) -> Emit:
        """Return what takes the operator's elements."""
        return fused(Step(MAP, method_of(self.function, "map"), self), context.emit)


class Project(Map):
    """``project``."""

    is_foreign = True


class FlatMap(ChainedFunction):
    """``flat_map``."""

    def processing(self, context: ChainContext) -> Emit:
        """Return what takes the operator's elements."""
        emit, apply = context.emit, method_of(self.function, "flat_map")

        def process(value: Any, timestamp: int | None, operator: Any = self) -> None:
            made = apply(value)
            if made is None:
                raise TypeError("flat_map() returned None; return an iterable or yield elements")
            for each in made:
                emit(each, timestamp)

        return process


class Filter(ChainedFunction):
    """``filter``."""

    def processing(self, context: ChainContext) -> Emit:
        """Return what takes the operator's elements."""
        return fused(Step(FILTER, method_of(self.function, "filter"), self), context.emit)


class Process(ChainedFunction):
    """``process`` of a stream without keys."""

    def processing(self, context: ChainContext) -> Emit:
        """Return what takes the operator's elements."""
        emit_all = emitting(context)
        own = _ProcessContext(StatelessTimerService(context))
        apply = self.function.process_element

        def process(value: Any, timestamp: int | None, operator: Any = self) -> None:
            own._timestamp = timestamp
            emit_all(apply(value, own), timestamp)

        return process


class _ProcessContext(ProcessFunction.Context):
    def __init__(self, timer_service: StatelessTimerService) -> None:
        self._timer_service = timer_service
        self._timestamp: int | None = None

    def timestamp(self) -> int:
        return NO_TIMESTAMP if self._timestamp is None else self._timestamp

    def timer_service(self) -> StatelessTimerService:
        return self._timer_service


class AssignTimestamps(ChainOperator):
    """``assign_timestamps_and_watermarks``.

    Parameters
    ----------
    strategy : WatermarkStrategy
    """

    is_foreign = True

    def __init__(self, strategy: WatermarkStrategy) -> None:
        self._strategy = strategy
        self._watermark = MIN_WATERMARK

    @property
    def has_watermarks(self) -> bool:
        """Whether it assigns watermarks, not timestamps alone."""
        strategy = self._strategy
        return strategy.max_out_of_orderness is not None or strategy.generator is not None

    @property
    def delay_ms(self) -> int | None:
        """How far its watermark is behind the latest time seen; None where a generator says it."""
        delay = self._strategy.max_out_of_orderness
        return None if delay is None else delay.to_millis() + 1

    @property
    def idle_timeout_ms(self) -> int:
        """After which time without elements the source is idle; 0 for never."""
        timeout = self._strategy.idle_timeout
        return 0 if timeout is None else timeout.to_millis()

    def current_watermark(self) -> int:
        """Return the last watermark."""
        return self._watermark

    def start(self, context: ChainContext) -> Emit:
        """Open the operator, and return what takes its elements."""
        emit = context.emit
        assigner = self._strategy.timestamp_assigner
        assign = None if assigner is None else assigner.extract_timestamp
        delay = self._strategy.max_out_of_orderness
        if self._strategy.generator is not None:
            return self._generating(emit, assign, self._strategy.generator())
        if delay is None:

            def process(value: Any, timestamp: int | None, operator: Any = self) -> None:
                if assign is not None:
                    known = NO_TIMESTAMP if timestamp is None else timestamp
                    timestamp = assign(value, known)
                    if type(timestamp) is not int:
                        timestamp = _whole(timestamp)
                emit(value, timestamp)

            return process
        behind = self.delay_ms
        assert behind is not None

        def process_with_watermark(value: Any, timestamp: int | None, operator: Any = self) -> None:
            if assign is not None:
                known = NO_TIMESTAMP if timestamp is None else timestamp
                timestamp = assign(value, known)
                if type(timestamp) is not int:
                    timestamp = _whole(timestamp)
            if timestamp is not None and timestamp - behind > operator._watermark:
                operator._watermark = timestamp - behind
            emit(value, timestamp)

        return process_with_watermark

    def _generating(
        self,
        emit: Emit,
        assign: Callable[[Any, int], int] | None,
        generator: WatermarkGenerator,
    ) -> Emit:
        """Return what takes elements of a strategy with a generator of the program.

        It is asked for a periodic watermark at each element: a chain knows no end of a batch. That
        is before the element goes on, as rows alone carry watermarks: one that came after the last
        row of a batch would wait for the next batch.
        """
        output = _Watermarks(self)

        def process(value: Any, timestamp: int | None, operator: Any = self) -> None:
            if assign is not None:
                timestamp = assign(value, NO_TIMESTAMP if timestamp is None else timestamp)
                if type(timestamp) is not int:
                    timestamp = _whole(timestamp)
            generator.on_event(value, NO_TIMESTAMP if timestamp is None else timestamp, output)
            generator.on_periodic_emit(output)
            emit(value, timestamp)

        return process


def _whole(timestamp: Any) -> int | None:
    """Return a timestamp that is any number, such as ``time.time() * 1000``, as an integer."""
    if timestamp is None:
        return None
    try:
        return int(timestamp)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"the timestamp assigner has returned {timestamp!r}, which is no number of milliseconds"
        ) from error


class _Watermarks(WatermarkOutput):
    def __init__(self, operator: AssignTimestamps) -> None:
        self._operator = operator

    def emit_watermark(self, watermark: Watermark | int) -> None:
        at = watermark if isinstance(watermark, int) else watermark.timestamp
        self._operator._watermark = max(self._operator._watermark, at)
