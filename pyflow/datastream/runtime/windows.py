"""Which operator windows have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflow.datastream.runtime.builtin_windows import (
    AlignedWindowOperator,
    CountWindowOperator,
    SessionWindowOperator,
)
from pyflow.datastream.runtime.window_operator import EvictingWindowOperator, WindowOperator
from pyflow.datastream.window import (
    CountSlidingWindowAssigner,
    CountTumblingWindowAssigner,
    DynamicEventTimeSessionWindows,
    DynamicProcessingTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    ProcessingTimeSessionWindows,
    ProcessingTimeTrigger,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)

if TYPE_CHECKING:
    from pyflow.common.typeinfo import TypeInformation
    from pyflow.datastream.evictors import Evictor
    from pyflow.datastream.output_tag import OutputTag
    from pyflow.datastream.window import Trigger, WindowAssigner

__all__ = ["WindowOperator", "window_operator"]

# By assigner and trigger.
_TIMED: dict[tuple[type[Any], type[Any]], type[WindowOperator]] = {
    (TumblingEventTimeWindows, EventTimeTrigger): AlignedWindowOperator,
    (SlidingEventTimeWindows, EventTimeTrigger): AlignedWindowOperator,
    (TumblingProcessingTimeWindows, ProcessingTimeTrigger): AlignedWindowOperator,
    (SlidingProcessingTimeWindows, ProcessingTimeTrigger): AlignedWindowOperator,
    (EventTimeSessionWindows, EventTimeTrigger): SessionWindowOperator,
    (DynamicEventTimeSessionWindows, EventTimeTrigger): SessionWindowOperator,
    (ProcessingTimeSessionWindows, ProcessingTimeTrigger): SessionWindowOperator,
    (DynamicProcessingTimeSessionWindows, ProcessingTimeTrigger): SessionWindowOperator,
}

# With their default trigger.
_COUNTED = (CountTumblingWindowAssigner, CountSlidingWindowAssigner)


def window_operator(
    assigner: WindowAssigner[Any, Any],
    *,
    reduce: Any = None,
    aggregate: Any = None,
    function: Any = None,
    trigger: Trigger[Any, Any] | None = None,
    evictor: Evictor | None = None,
    allowed_lateness: int = 0,
    late_data_tag: OutputTag | None = None,
    type_info: TypeInformation | None = None,
) -> WindowOperator:
    """Return the operator of windows, of keyed streams and, with one key for all, of others.

    Parameters
    ----------
    assigner : WindowAssigner
    reduce : ReduceFunction or callable, optional
        Combines two elements; what has been combined is all that is kept.
    aggregate : AggregateFunction, optional
        Adds elements to an accumulator, which is all that is kept.
    function : Function, optional
        A WindowFunction or ProcessWindowFunction, or an AllWindowFunction or
        ProcessAllWindowFunction, which are not given the key. Its inputs are a list of all
        elements, or of the one result of `reduce` or `aggregate`. Without it those are emitted
        themselves.
    trigger : Trigger, optional
        The assigner's by default.
    evictor : Evictor, optional
        With one, all elements are kept, also for `reduce` and `aggregate`.
    allowed_lateness : int
        How long after its end a window of event time takes elements, in milliseconds.
    late_data_tag : OutputTag, optional
        The side output of elements that are later; they are counted without it.
    type_info : TypeInformation, optional
        Of what is kept: the reduced value, the accumulator or an element; any object by default.

    Raises
    ------
    ValueError
        If there are both `reduce` and `aggregate`, the lateness is negative, or windows merge and
        the trigger does not support that.
    """
    is_default = trigger is None
    if trigger is None:
        trigger = assigner.get_default_trigger(None)
    common = (assigner, trigger, reduce, aggregate, function)
    late = (allowed_lateness, late_data_tag, type_info)
    if evictor is not None:
        return EvictingWindowOperator(*common, *late, evictor=evictor)
    if is_default and type(assigner) in _COUNTED:
        return CountWindowOperator(*common, *late)
    known = _TIMED.get((type(assigner), type(trigger)), WindowOperator)
    return known(*common, *late)
