"""The operator of windows.

An element is added to the pane of each of its windows. The trigger says when a pane is evaluated by
the window function, and when it is emptied. When a window is over, and no late element can come
any more, what is left of it is removed: at its cleanup time.

    element -> assigner -> windows -> not late -> pane.add -> trigger -> fire -> function -> emit
       |                      |                                  ^
       late: side output      merging: others join               timers

State and timers of a window have its bytes as their namespace. When windows merge, the pane of one
of them becomes that of the result, see merging_windows.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce as fold
from typing import TYPE_CHECKING, Any

from pyflow.common.constants import MAX_LONG_VALUE
from pyflow.common.typeinfo import Types
from pyflow.datastream.evictors import Evictor, TimestampedValue
from pyflow.datastream.runtime.chained import close_functions, opened_functions
from pyflow.datastream.runtime.keys import method_of
from pyflow.datastream.runtime.merging_windows import merging_windows
from pyflow.datastream.runtime.operator import MIN_WATERMARK, KeyedContext, Operator
from pyflow.datastream.runtime.panes import pane_maker
from pyflow.datastream.runtime.window_functions import evaluator
from pyflow.datastream.runtime.window_namespaces import namespaces_of
from pyflow.datastream.state import (
    AggregatingState,
    AggregatingStateDescriptor,
    ListState,
    ReducingState,
    State,
    StateDescriptor,
    ValueStateDescriptor,
)
from pyflow.datastream.window import (
    MergingWindowAssigner,
    Trigger,
    TriggerResult,
    WindowAssigner,
)

if TYPE_CHECKING:
    from pyflow.common.typeinfo import TypeInformation
    from pyflow.datastream.functions import RuntimeContext
    from pyflow.datastream.output_tag import OutputTag
    from pyflow.metrics.metricbase import MetricGroup

__all__ = ["KEPT_WINDOWS", "EvictingWindowOperator", "WindowOperator"]

#: How many objects for windows are kept, which serve all keys.
KEPT_WINDOWS = 4096


class WindowOperator(Operator):
    """The operator of any windows and triggers, see windows.py for its parameters."""

    is_keyed_by_itself = True

    def __init__(
        self,
        assigner: WindowAssigner[Any, Any],
        trigger: Trigger[Any, Any],
        reduce: Any = None,
        aggregate: Any = None,
        function: Any = None,
        allowed_lateness: int = 0,
        late_data_tag: OutputTag | None = None,
        type_info: TypeInformation | None = None,
    ) -> None:
        self._is_merging = isinstance(assigner, MergingWindowAssigner)
        if reduce is not None and aggregate is not None:
            raise ValueError("windows are reduced or aggregated, not both")
        if allowed_lateness < 0:
            raise ValueError(f"the allowed lateness cannot be negative, got {allowed_lateness} ms")
        if self._is_merging and not trigger.can_merge():
            raise ValueError(
                f"{assigner!r} merges windows, and {type(trigger).__name__} does not support that; "
                "take a trigger whose can_merge() returns True"
            )
        self._assigner = assigner
        self._trigger = trigger
        self._reduce = reduce
        self._aggregate = aggregate
        self._function = function
        self._lateness = allowed_lateness
        self._late_data_tag = late_data_tag
        self._type_info = type_info
        functions = (reduce, aggregate, function)
        self.user_functions = tuple(each for each in functions if each is not None)

    @property
    def kept(self) -> str:
        """What is kept of a window."""
        if self._reduce is not None:
            return "reduced value"
        return "elements" if self._aggregate is None else "accumulator"

    def open(self, context: KeyedContext) -> None:
        """Open the functions, and prepare the state."""
        with opened_functions(context.runtime_context, *self.user_functions):
            self._prepare(context)

    def _prepare(self, context: KeyedContext) -> None:
        self._watermark = context.watermark
        self._processing_time = context.processing_time
        self._register = context.timers.register
        self._delete = context.timers.delete
        self._emit_side = context.emit_side
        metrics = _metrics(context.runtime_context)
        self._late_counter = None if metrics is None else metrics.counter("numLateRecordsDropped")
        self._is_event_time = self._assigner.is_event_time()
        self._assigner_context = _AssignerContext(context)
        self._encode, self._decode = namespaces = namespaces_of(
            self._assigner.get_window_serializer()
        )
        self._trigger_context = _TriggerContext(context)
        self._evaluator = evaluator(context, self._function, self._is_merging)
        self._new_pane = self._pane_maker(context)
        self._panes: dict[bytes, Any] = {}
        self._merging = None
        if isinstance(self._assigner, MergingWindowAssigner):
            kept = ValueStateDescriptor("merging-window-set", Types.PICKLED_BYTE_ARRAY())
            self._merging = merging_windows(context.state(kept), self._assigner, namespaces)

    def _pane_maker(self, context: KeyedContext) -> Callable[[bytes], Any]:
        return pane_maker(context, self._reduce, self._aggregate, self._type_info)

    def close(self) -> None:
        """Close the functions."""
        close_functions(*self.user_functions)

    def process(self, value: Any, timestamp: int | None, number: int) -> None:
        """Add an element to its windows."""
        moment = MIN_WATERMARK if timestamp is None else timestamp
        self._evaluator.timestamp = timestamp
        is_skipped = True
        for window in self._assigner.assign_windows(value, moment, self._assigner_context):
            if self._merging is None:
                namespace = in_pane = self._encode(window)
            else:
                window, in_pane = self._merging.add(window, self._merge)
                namespace = self._encode(window)
            if self._is_event_time and self._cleanup_time(window) <= self._watermark():
                if self._merging is not None:
                    self._merging.remove(window)
                continue
            is_skipped = False
            pane = self._pane(in_pane)
            pane.add(value, timestamp)
            context = self._trigger_context.of(namespace)
            result = self._trigger.on_element(value, moment, window, context)
            self._register_cleanup(window, namespace)
            if result is TriggerResult.CONTINUE:
                continue
            if result.is_fire() and not self._fire(window, namespace, pane):
                # As in Flink, an accumulator without a result is not removed here.
                continue
            if result.is_purge():
                pane.clear()
        if is_skipped:
            self._skip(value, timestamp)

    def on_timer(self, is_event_time: bool, time: int, namespace: bytes) -> None:
        """Ask the trigger of a window, and remove the window if it is over."""
        window = self._decode(namespace)
        in_pane = namespace if self._merging is None else self._merging.pane(window)
        if in_pane is None:
            # The window has merged into another one since, and its trigger left this timer.
            return
        pane = self._pane(in_pane)
        self._evaluator.timestamp = time
        context = self._trigger_context.of(namespace)
        if is_event_time:
            result = self._trigger.on_event_time(time, window, context)
        else:
            result = self._trigger.on_processing_time(time, window, context)
        if result.is_fire():
            self._fire(window, namespace, pane)
        if result.is_purge():
            pane.clear()
        if is_event_time == self._is_event_time and time == self._cleanup_time(window):
            self._remove(window, namespace, pane)

    def _fire(self, window: Any, namespace: bytes, pane: Any) -> bool:
        """Evaluate a window; return whether there was anything in it."""
        contents = pane.get()
        if contents is None:
            return False
        self._evaluator.fire(window, namespace, contents)
        return True

    def _remove(self, window: Any, namespace: bytes, pane: Any) -> None:
        """Remove all state of a window that is over."""
        pane.clear()
        self._trigger.clear(window, self._trigger_context.of(namespace))
        self._evaluator.clear(window, namespace)
        if self._merging is not None:
            self._merging.remove(window)

    def _merge(self, result: Any, merged: list[Any], in_pane: bytes, others: list[bytes]) -> None:
        """Merge what windows have."""
        end = result.max_timestamp()
        if self._is_event_time:
            reached, kind = self._watermark(), "watermark"
            end += self._lateness
        else:
            reached, kind = self._processing_time(), "processing time"
        if end <= reached:
            raise RuntimeError(
                f"windows must not be merged to one that is over: to {result}, when the current "
                f"{kind} is {reached}"
            )
        context = self._trigger_context.of(self._encode(result))
        context.merged = list(map(self._encode, merged))
        self._trigger.on_merge(result, context)
        context.merged = []
        for window in merged:
            namespace = self._encode(window)
            self._trigger.clear(window, context.of(namespace))
            self._delete_cleanup(window, namespace)
        self._pane(in_pane).merge(list(map(self._pane, others)))

    def _pane(self, namespace: bytes) -> Any:
        pane = self._panes.get(namespace)
        if pane is None:
            if len(self._panes) >= KEPT_WINDOWS:
                self._panes.clear()
            pane = self._panes[namespace] = self._new_pane(namespace)
        return pane

    def _skip(self, value: Any, timestamp: int | None) -> None:
        """Handle an element that is in no window: either it is late, or windows have gaps."""
        moment = MIN_WATERMARK if timestamp is None else timestamp
        if not self._is_event_time or moment + self._lateness > self._watermark():
            return
        if self._late_data_tag is not None:
            self._emit_side(self._late_data_tag, value, timestamp)
            return
        self.late_records_dropped += 1
        if self._late_counter is not None:
            self._late_counter.inc()

    def _cleanup_time(self, window: Any) -> int:
        end: int = window.max_timestamp()
        return min(end + self._lateness, MAX_LONG_VALUE) if self._is_event_time else end

    def _register_cleanup(self, window: Any, namespace: bytes) -> None:
        time = self._cleanup_time(window)
        if time != MAX_LONG_VALUE:
            self._register(self._is_event_time, time, namespace)

    def _delete_cleanup(self, window: Any, namespace: bytes) -> None:
        time = self._cleanup_time(window)
        if time != MAX_LONG_VALUE:
            self._delete(self._is_event_time, time, namespace)


class EvictingWindowOperator(WindowOperator):
    """The operator of windows with an evictor.

    All elements are kept with their timestamps. What is left of them before the function is
    evaluated is what it is given, and what is left after that is kept.
    """

    def __init__(self, *args: Any, evictor: Evictor) -> None:
        super().__init__(*args)
        self._evictor = evictor

    @property
    def kept(self) -> str:
        """What is kept of a window."""
        return "elements with timestamps"

    def _prepare(self, context: KeyedContext) -> None:
        super()._prepare(context)
        self._evictor_context = _EvictorContext(context)

    def _pane_maker(self, context: KeyedContext) -> Callable[[bytes], Any]:
        return pane_maker(context, timestamped=True)

    def _fire(self, window: Any, namespace: bytes, pane: Any) -> bool:
        contents = pane.get()
        if contents is None:
            return False
        elements = [TimestampedValue(*each) for each in contents]
        self._evictor.evict_before(elements, len(elements), window, self._evictor_context)
        given = self._given([each.get_value() for each in elements])
        if given is not None:
            self._evaluator.fire(window, namespace, given)
        self._evictor.evict_after(elements, len(elements), window, self._evictor_context)
        pane.set([each.as_tuple() for each in elements])
        return True

    def _given(self, values: list[Any]) -> list[Any] | None:
        """What the window function is given of elements."""
        if self._reduce is not None:
            return [fold(method_of(self._reduce, "reduce"), values)] if values else None
        if self._aggregate is not None:
            accumulator = self._aggregate.create_accumulator()
            for value in values:
                accumulator = self._aggregate.add(value, accumulator)
            return [self._aggregate.get_result(accumulator)]
        return values


def _metrics(context: RuntimeContext) -> MetricGroup | None:
    """The metrics of the operator, None where they are switched off."""
    try:
        return context.get_metrics_group()
    except RuntimeError:
        return None


class _AssignerContext(WindowAssigner.WindowAssignerContext):
    def __init__(self, context: KeyedContext) -> None:
        self._context = context

    def get_current_processing_time(self) -> int:
        return self._context.processing_time()

    def get_runtime_context(self) -> RuntimeContext:
        return self._context.runtime_context


class _EvictorContext(Evictor.EvictorContext):
    def __init__(self, context: KeyedContext) -> None:
        self._context = context

    def get_current_processing_time(self) -> int:
        return self._context.processing_time()

    def get_metric_group(self) -> MetricGroup:
        return self._context.runtime_context.get_metrics_group()

    def get_current_watermark(self) -> int:
        return self._context.watermark()


class _TriggerContext(Trigger.OnMergeContext):
    """What a trigger is given, of a window of the current key.

    Parameters
    ----------
    context : KeyedContext
    """

    def __init__(self, context: KeyedContext) -> None:
        self._context = context
        self._timers = context.timers
        self._namespace = b""
        #: The namespaces of the windows that have been merged.
        self.merged: list[bytes] = []

    def of(self, namespace: bytes) -> _TriggerContext:
        """Return this context, of the window of a namespace."""
        self._namespace = namespace
        return self

    def get_current_processing_time(self) -> int:
        return self._context.processing_time()

    def get_metric_group(self) -> MetricGroup:
        return self._context.runtime_context.get_metrics_group()

    def get_current_watermark(self) -> int:
        return self._context.watermark()

    def register_processing_time_timer(self, time: int) -> None:
        self._timers.register_for_function(False, time, self._namespace)

    def register_event_time_timer(self, time: int) -> None:
        self._timers.register_for_function(True, time, self._namespace)

    def delete_processing_time_timer(self, time: int) -> None:
        self._timers.delete(False, time, self._namespace)

    def delete_event_time_timer(self, time: int) -> None:
        self._timers.delete(True, time, self._namespace)

    def get_partitioned_state(self, state_descriptor: StateDescriptor) -> State:
        return self._state(state_descriptor, self._namespace)

    def merge_partitioned_state(self, state_descriptor: StateDescriptor) -> None:
        target = self._state(state_descriptor, self._namespace)
        for namespace in self.merged:
            source: Any = self._state(state_descriptor, namespace)
            if isinstance(target, ListState):
                target.add_all(list(source.get()))
            elif isinstance(target, ReducingState):
                value = source.get()
                if value is not None:
                    target.add(value)
            elif isinstance(target, _Accumulated):
                target.merge(source)
            else:
                raise TypeError(
                    f"state '{state_descriptor.get_name()}' of a trigger cannot be merged; take a "
                    "list, reducing or aggregating state"
                )
            source.clear()

    def _state(self, descriptor: StateDescriptor, namespace: bytes) -> State:
        if not isinstance(descriptor, AggregatingStateDescriptor):
            return self._context.state(descriptor, namespace)
        kept = ValueStateDescriptor(descriptor.get_name(), descriptor.type_info)
        if descriptor._ttl_config is not None:
            kept.enable_time_to_live(descriptor._ttl_config)
        accumulator = self._context.state(kept, namespace)
        return _Accumulated(accumulator, descriptor.get_agg_function())


class _Accumulated(AggregatingState[Any, Any]):
    """Aggregating state whose accumulators can be merged.

    Parameters
    ----------
    state : ValueState
        The accumulator.
    function : AggregateFunction
    """

    def __init__(self, state: Any, function: Any) -> None:
        self._state = state
        self._function = function

    def get(self) -> Any:
        accumulator = self._state.value()
        return None if accumulator is None else self._function.get_result(accumulator)

    def add(self, value: Any) -> None:
        if value is None:
            self.clear()
            return
        accumulator = self._state.value()
        if accumulator is None:
            accumulator = self._function.create_accumulator()
        self._state.update(self._function.add(value, accumulator))

    def merge(self, other: _Accumulated) -> None:
        """Add the accumulator of another state."""
        one, two = self._state.value(), other._state.value()
        if two is not None:
            self._state.update(two if one is None else self._function.merge(one, two))

    def clear(self) -> None:
        self._state.clear()
