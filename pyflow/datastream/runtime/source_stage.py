"""What is before the first shuffle: the chain behind a source, as a plain function of Spark."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pyflow.common.watermark_strategy import Watermark
from pyflow.datastream.runtime.chain import Chain, Node
from pyflow.datastream.runtime.contexts import ContextFactory
from pyflow.datastream.runtime.deployed import DeployedStage, RowFunction
from pyflow.datastream.runtime.errors import OperatorError
from pyflow.datastream.runtime.life_cycle import close_at_last, fail
from pyflow.datastream.runtime.operator import MAX_WATERMARK, MIN_WATERMARK, WATERMARK_SHIFT

if TYPE_CHECKING:
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
    assigner
        The number of the operator whose watermark goes on without an element, too, if there is one.
    """

    decoder: Callable[..., Iterable[tuple[Any, int | None]]]
    root: int
    nodes: Mapping[int, Node]
    width: int
    contexts: ContextFactory
    assigner: int | None = None


class SourceStage(RowFunction):
    """A function of a source's columns that returns the rows of its chain.

    Parameters
    ----------
    stage : DeployedStage
        Whose specification is a `SourceSpec`.
    """

    def __init__(self, stage: DeployedStage) -> None:
        super().__init__(stage)
        self._running: _Running | None = None

    def __call__(self, *columns: Any) -> list[tuple[Any, ...]]:
        """Return the rows that come of one of the source."""
        running = self._running
        if running is None:
            running = self._running = self._deployed.taken(_Running, skips_batches=True)
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
            self._watermark = self._chain.watermark_of(spec.assigner)
            self._assigner = "" if spec.assigner is None else spec.nodes[spec.assigner].name
            self._emitted_watermark = MIN_WATERMARK
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
        rows = self._chain.take()
        if self._watermark is not None:
            reached = self._watermark()
            if reached > self._emitted_watermark:
                if WATERMARK_SHIFT <= reached < MAX_WATERMARK:
                    raise OperatorError(
                        f"operator '{self._assigner}' has the watermark {reached}, which is after "
                        f"{WATERMARK_SHIFT}, the year 4199. Event times are in milliseconds since "
                        "the epoch: have its timestamp assigner return these."
                    )
                self._emitted_watermark = reached
                # The elements may have been filtered, and their watermark must not be.
                if not any(row[5] == reached for row in rows):
                    self._chain.emit_watermark(reached)
                    rows += self._chain.take()
        return rows

    def close(self) -> None:
        """Close all operators."""
        self._chain.close()
