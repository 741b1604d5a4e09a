"""What is before the first shuffle: the chain behind a source, as a plain function of Spark."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pyflow.common.watermark_strategy import Watermark
from pyflow.datastream.runtime.chain import Chain, Node, unpickled
from pyflow.datastream.runtime.contexts import ContextFactory
from pyflow.datastream.runtime.life_cycle import close_at_last, fail, taken

if TYPE_CHECKING:
    from pyspark import Accumulator

    from pyflow.streaming.runtime.metrics import TaskMetricGroup

__all__ = ["SideElement", "SourceSpec", "SourceStage"]


class SideElement(NamedTuple):
    """What a decoder makes for a side output of the source.

    Attributes
    ----------
    tag : str
    value : object
        The element.
    """

    tag: str
    value: Any


@dataclass(frozen=True)
class SourceSpec:
    """What runs behind a source.

    Parameters
    ----------
    decoder
        Makes elements with their timestamps of a row of the source.
    root
        The number of the source.
    nodes
        All operators, by number; the source is one.
    width
        How many columns rows have for sinks.
    contexts
        Makes what functions are opened with.
    """

    decoder: Callable[..., Iterable[tuple[Any, int | None]]]
    root: int
    nodes: Mapping[int, Node]
    width: int
    contexts: ContextFactory


class SourceStage:
    """A function of a source's columns that returns the rows of its chain.

    Parameters
    ----------
    spec : bytes
        A `SourceSpec`, pickled. It is unpickled where its operators are opened.
    job : str
    number : int
        Of the stage.
    name : str
        For plans and metrics.
    needs_shared_interpreter : str or None
        What its functions and elements need the shared interpreter for.
    metrics : Accumulator or None
        What takes the metrics of worker processes to the driver.
    """

    def __init__(
        self,
        spec: bytes,
        job: str,
        number: int,
        name: str,
        needs_shared_interpreter: str | None,
        metrics: Accumulator[Any] | None,
    ) -> None:
        self._spec = spec
        self._job = job
        self._number = number
        self.__name__ = name
        self.needs_shared_interpreter = needs_shared_interpreter
        self._metrics = metrics
        self._running: _Running | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        needed = self.needs_shared_interpreter
        known = self._spec, self._job, self._number, self.__name__
        return SourceStage, (*known, needed, self._metrics)

    def __call__(self, *columns: Any) -> list[tuple[Any, ...]]:
        """Return the rows that come of one of the source."""
        running = self._running
        if running is None:
            running = self._running = taken(
                self._job,
                self._number,
                lambda: _Running(unpickled(self._spec)),
                self._metrics,
            )
        try:
            return running.process(columns)
        except BaseException:
            fail(running)
            raise


class _Running:
    """The chain behind a source, open in a subtask."""

    def __init__(self, spec: SourceSpec) -> None:
        contexts = spec.contexts
        self.failed = False
        self._decode = spec.decoder
        self.metric_groups: list[TaskMetricGroup] = []
        runtime_context = functools.partial(contexts.runtime_context, groups=self.metric_groups)
        self._chain = Chain(
            spec.nodes, spec.width, runtime_context, contexts.subtask(), contexts.clock
        )
        try:
            self._emit, self._sides = self._chain.outputs(spec.root)
        except BaseException:
            close_at_last(self._chain)
            raise

    def process(self, columns: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """The rows that come of a row of the source."""
        emit = self._emit
        value: Any = None
        try:
            for value, timestamp in self._decode(*columns):
                if type(value) is Watermark:
                    self._chain.emit_watermark(value.timestamp)
                elif type(value) is SideElement:
                    self._sides[value.tag](value.value, timestamp)
                else:
                    emit(value, timestamp)
        except Exception as error:
            self._chain.fail(error, value)
        return self._chain.take()

    def close(self) -> None:
        """Close all operators."""
        self._chain.close()
