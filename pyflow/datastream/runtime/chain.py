"""Chains: the operators between two shuffles, as one function.

A chain is a tree: an element of one operator goes to all operators behind it, and at last to
routes, which lead to operators behind the next shuffle and to sinks. What comes out of a chain are
rows that say where they go.

Each operator becomes a function of an element and its timestamp that calls those behind it.
"""

from __future__ import annotations

import functools
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

from pyflow.datastream.runtime.clock import Clock
from pyflow.datastream.runtime.errors import OperatorError, raise_for, reason
from pyflow.datastream.runtime.fusion import converting
from pyflow.datastream.runtime.life_cycle import close_all
from pyflow.datastream.runtime.operator import MIN_WATERMARK, Emit
from pyflow.datastream.runtime.pickling import dumps
from pyflow.datastream.runtime.values import coercion

if TYPE_CHECKING:
    from pyflow.common.typeinfo import TypeInformation
    from pyflow.datastream.functions import RuntimeContext
    from pyflow.datastream.output_tag import OutputTag
    from pyflow.datastream.runtime.keys import Distribution

__all__ = [
    "NO_TARGET",
    "Chain",
    "ChainContext",
    "ChainOperator",
    "Link",
    "Node",
    "Route",
    "SinkRoute",
    "unpickled",
]


#: The target of rows that go nowhere, which have a watermark alone.
NO_TARGET = 0

_SUBTASK_BITS = 40
_KEY_BY = "Key By"

_T = TypeVar("_T")


@dataclass(frozen=True)
class Route:
    """The way to an operator behind the shuffle.

    Parameters
    ----------
    target
        The operator's number.
    number
        Of its input.
    distribution
        By which the elements come to its subtasks.
    """

    target: int
    number: int
    distribution: Distribution


@dataclass(frozen=True)
class SinkRoute:
    """The way to a sink.

    Parameters
    ----------
    target
        The sink's number.
    encoder
        Makes its columns of an element and its timestamp; nothing for an element to be left out.
    column
        Which column of a row it fills, behind those that all rows have; None for the value itself.
    """

    target: int
    encoder: Callable[[Any, int | None], tuple[Any, ...] | None]
    column: int | None


@dataclass(frozen=True)
class Link:
    """From an operator to what is behind it.

    Parameters
    ----------
    tag
        The side output whose elements go there; None for the main output.
    to
        The number of an operator of the chain, or a route.
    """

    tag: str | None
    to: int | Route | SinkRoute


@dataclass
class Node:
    """An operator in a chain, and where its elements go.

    Parameters
    ----------
    name
        For errors and metrics.
    operator
        The operator; None for the beginning of the chain.
    type_info
        Of the elements that it emits.
    tag_types
        Of those of its side outputs.
    links
        What is behind it.
    passes_on
        Whether its elements go on as they are. Otherwise they become values of their type.
    """

    name: str
    operator: Any
    type_info: TypeInformation | None = None
    tag_types: dict[str, TypeInformation | None] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    passes_on: bool = False


def unpickled(spec: bytes) -> Any:
    """Return what a stage is made with; its operators have been pickled each by itself."""
    made = pickle.loads(spec)
    for node in made.nodes.values():
        node.operator = pickle.loads(node.operator)
    return made


class ChainOperator(ABC):
    """An operator without state: a function of an element and its timestamp."""

    #: Whether what it emits becomes values of their type, also where a chain goes on: in PyFlink it
    #: is no function of Python.
    is_foreign = False

    @abstractmethod
    def start(self, context: ChainContext) -> Emit:
        """Open the operator, and return what takes its elements."""

    def close(self) -> None:  # noqa: B027
        """Give back what the operator holds."""


class ChainContext:
    """What an operator of a chain is opened with.

    Attributes
    ----------
    runtime_context : RuntimeContext
    emit : callable
        Takes an element of the main output, and its timestamp or None.
    """

    def __init__(
        self,
        runtime_context: RuntimeContext,
        emit: Emit,
        sides: Mapping[str, Emit],
        watermark: Callable[[], int],
        processing_time: Clock,
    ) -> None:
        self.runtime_context = runtime_context
        self.emit = emit
        self.watermark = watermark
        self.processing_time = processing_time
        self._sides = sides

    def emit_side(self, tag: OutputTag, value: Any, timestamp: int | None) -> None:
        """Emit an element of a side output, which nobody may want."""
        emit = self._sides.get(tag.tag_id)
        if emit is not None:
            emit(value, timestamp)


class Chain:
    """Operators that are open.

    Parameters
    ----------
    nodes : mapping of int to Node
    width : int
        How many columns rows have for sinks.
    runtime_context : callable
        Makes the context of an operator of a name.
    subtask : int
        The number of the task.
    processing_time : callable
        Returns the processing time.
    watermark : callable, optional
        Returns the watermark at the beginning of the chain.
    """

    def __init__(
        self,
        nodes: Mapping[int, Node],
        width: int,
        runtime_context: Callable[[str], RuntimeContext],
        subtask: int,
        processing_time: Clock,
        watermark: Callable[[], int] = lambda: MIN_WATERMARK,
    ) -> None:
        #: The rows that have come out.
        self.rows: list[tuple[Any, ...]] = []
        #: 0 for what is emitted before the watermark of the batch, 1 for what follows it.
        self.phase = 1
        self._nodes = nodes
        self._width = width
        self._runtime_context = runtime_context
        self._subtask = subtask
        self._processing_time = processing_time
        self._watermark = watermark
        self._watermarks: dict[int, Callable[[], int]] = {}
        self._emits: dict[int, Emit] = {}
        self._open: list[tuple[Any, str]] = []
        # Rows of a subtask are in the order in which they came out.
        self._sequence = count(subtask << _SUBTASK_BITS)

    def take(self) -> list[tuple[Any, ...]]:
        """Return the rows that have come out, and forget them."""
        rows = self.rows[:]
        if rows:
            self.rows.clear()
        return rows

    def outputs(
        self, number: int, watermark: Callable[[], int] | None = None
    ) -> tuple[Emit, dict[str, Emit]]:
        """Return what takes the elements that an operator emits, and those of its side outputs."""
        node = self._nodes[number]
        behind: dict[str | None, list[Emit]] = {None: []}
        for link in node.links:
            emit = self._emit_to(link.to, watermark or self._watermark)
            behind.setdefault(link.tag, []).append(emit)
        main = _to_all(behind.pop(None))
        if not node.passes_on:
            main = _coercing(main, node.type_info)
        sides = {
            str(tag): _coercing(_to_all(emits), node.tag_types.get(str(tag)))
            for tag, emits in behind.items()
        }
        return main, sides

    def _emit_to(self, to: int | Route | SinkRoute, watermark: Callable[[], int]) -> Emit:
        if isinstance(to, Route):
            return self._route(to, watermark)
        if isinstance(to, SinkRoute):
            return self._sink(to)
        known = self._emits.get(to)
        if known is None:
            known = self._emits[to] = self._started(to, watermark)
        return known

    def _started(self, number: int, watermark: Callable[[], int]) -> Emit:
        node = self._nodes[number]
        operator: ChainOperator = node.operator
        behind = getattr(operator, "current_watermark", watermark)
        if behind is not watermark:
            self._watermarks[number] = behind
        emit, sides = self.outputs(number, behind)
        context = ChainContext(
            self._runtime_context(node.name), emit, sides, watermark, self._processing_time
        )
        return self.opened(operator, node.name, lambda: operator.start(context))

    def _route(self, route: Route, watermark: Callable[[], int]) -> Emit:
        self.open_functions(route.distribution.functions())
        keys_of = route.distribution.keys(self._subtask)
        target, number = route.target, route.number
        rows, following = self.rows, self._sequence.__next__
        empty = (None,) * self._width

        if route.distribution.is_broadcast:

            def to_all(value: Any, timestamp: int | None) -> None:
                dumped = dumps(value)
                for key in keys_of(value):
                    row = (
                        target,
                        number,
                        key,
                        timestamp,
                        dumped,
                        watermark(),
                        self.phase,
                        following(),
                        *empty,
                    )
                    rows.append(row)

            return to_all

        def to_one(value: Any, timestamp: int | None) -> None:
            key = keys_of(value)
            dumped = dumps(value)
            rows.append(
                (
                    target,
                    number,
                    key,
                    timestamp,
                    dumped,
                    watermark(),
                    self.phase,
                    following(),
                    *empty,
                )
            )

        return to_one

    def _sink(self, route: SinkRoute) -> Emit:
        encode, target = route.encoder, route.target
        rows, key = self.rows, b"%d" % self._subtask
        following = self._sequence.__next__
        if route.column is None:

            def emit_value(value: Any, timestamp: int | None) -> None:
                encoded = encode(value, timestamp)
                if encoded is not None:
                    rows.append(
                        (
                            target,
                            0,
                            key,
                            timestamp,
                            encoded[0],
                            None,
                            self.phase,
                            following(),
                            *empty,
                        )
                    )

            empty = (None,) * self._width
            return emit_value
        before = (None,) * route.column
        after = (None,) * (self._width - route.column - 1)

        def emit_columns(value: Any, timestamp: int | None) -> None:
            columns = encode(value, timestamp)
            if columns is not None:
                row = (
                    target,
                    0,
                    key,
                    timestamp,
                    None,
                    None,
                    self.phase,
                    following(),
                    *before,
                    columns,
                    *after,
                )
                rows.append(row)

        return emit_columns

    def opened(self, operator: Any, name: str, work: Callable[[], _T]) -> _T:
        """Open an operator by some work, have it closed with the chain; return what comes of it."""
        try:
            made = work()
        except OperatorError:
            raise
        except Exception as error:
            raise OperatorError(f"operator '{name}' failed in open(): {reason(error)}") from error
        self._open.append((operator, name))
        return made

    def open_functions(self, functions: Iterable[Any]) -> None:
        """Open what is more than a callable, and close it with the chain."""
        for each in functions:
            if hasattr(each, "open"):
                context = self._runtime_context(_KEY_BY)
                self.opened(each, _KEY_BY, functools.partial(each.open, context))

    def watermark_of(self, number: int | None) -> Callable[[], int] | None:
        """Return what has the watermark that an operator of the chain assigns; None for none."""
        return None if number is None else self._watermarks[number]

    def emit_watermark(self, watermark: int) -> None:
        """Emit a watermark without an element."""
        empty = (None,) * self._width
        self.rows.append(
            (0, 0, b"", None, None, watermark, self.phase, next(self._sequence), *empty)
        )

    def fail(self, error: Exception, value: Any) -> None:
        """Raise the error of a function, with the name of its operator and the element."""
        raise_for(error, self._open, value)

    def close(self) -> None:
        """Close all operators, also where some fail; the first error is raised."""
        opened, self._open = self._open, []
        close_all(operator for operator, _ in reversed(opened))


def _to_all(emits: Sequence[Emit]) -> Emit:
    if len(emits) == 1:
        return emits[0]

    def emit(value: Any, timestamp: int | None) -> None:
        for each in emits:
            each(value, timestamp)

    return emit


def _coercing(emit: Emit, type_info: TypeInformation | None) -> Emit:
    """What takes elements as they are after they have been of their declared type."""
    coerce = coercion(type_info)
    return emit if coerce is None else converting(coerce, emit)
