"""Streams as data frames, for tables and caches."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from pyflow.datastream.graph.components import branching, components
from pyflow.datastream.graph.driver_sinks import ValuesSink
from pyflow.datastream.graph.execution import RunningComponent
from pyflow.datastream.graph.lowering_settings import EventTime
from pyflow.datastream.graph.transformations import Chained, Input, Output, SinkOf, SourceOf
from pyflow.datastream.runtime.chained import AssignTimestamps

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pyflow.datastream.connectors.base import Sink
    from pyflow.session.context import Context

__all__ = ["delays_of", "frame_of", "values_of"]


def frame_of(
    outputs: tuple[Output, ...],
    sink: Sink,
    number: int,
    context: Context,
    event_time: EventTime = EventTime.OF_OPERATORS,
) -> DataFrame:
    """Return the rows of a sink of a stream, which are not written.

    Parameters
    ----------
    outputs
        Where the elements come from.
    sink
        Makes the columns.
    number
        That no transformation has.
    context
        The session, and the settings.
    event_time
        Who reads the watermark.
    """
    made = SinkOf(number, "Columns", None, input=Input(outputs), sink=sink)
    made.input_type = outputs[0].of.type_info if outputs[0].tag is None else None
    (component,) = components([made])
    running = RunningComponent(component, context, uuid.uuid4().hex, 0, branching([made]))
    return running.frame(made, event_time)


def delays_of(outputs: tuple[Output, ...]) -> set[int | None]:
    """Return how far the watermarks of a stream are behind its latest times, in milliseconds.

    None stands for the watermarks of generators, and of sources that emit them.
    """
    (component,) = components([SinkOf(0, "Columns", None, input=Input(outputs))])
    operators = [each.operator for each in component.of(Chained)]
    delays = {
        each.delay_ms
        for each in operators
        if isinstance(each, AssignTimestamps) and each.has_watermarks
    }
    sources: list[SourceOf] = component.of(SourceOf)
    if not delays and any(each.source.has_watermarks for each in sources if each.source):
        return {None}
    return delays


def values_of(outputs: tuple[Output, ...], number: int, context: Context) -> DataFrame:
    """Return the pickled elements of a bounded stream with their timestamps.

    Parameters
    ----------
    outputs
        Where they come from.
    number
        That no transformation has.
    context
        The session, and the settings.

    Raises
    ------
    ValueError
        If the stream is unbounded.
    """
    frame = frame_of(outputs, ValuesSink(), number, context)
    if frame.isStreaming:
        raise ValueError("an unbounded stream cannot be cached")
    return frame
