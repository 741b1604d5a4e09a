"""The graph of a program: what its streams are made of, before it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pyflow.common.typeinfo import TypeInformation
    from pyflow.datastream.connectors.base import Sink, Source
    from pyflow.datastream.runtime.chain import ChainOperator
    from pyflow.datastream.runtime.keys import ByKey, Distribution
    from pyflow.datastream.runtime.operator import Operator

__all__ = [
    "Chained",
    "Input",
    "Output",
    "ShuffledInput",
    "SinkOf",
    "SourceOf",
    "Stateful",
    "Transformation",
]


@dataclass(eq=False)
class Transformation:
    """A step of a program.

    Parameters
    ----------
    number
        Unlike those of others of its environment, from 1 on.
    name
        As the program has it, or what the operation is called.
    type_info
        Of the elements that it emits; None for any objects.
    """

    number: int
    name: str
    type_info: TypeInformation | None
    parallelism: int = -1
    max_parallelism: int = -1
    uid: str | None = None
    description: str | None = None
    hints: dict[str, Any] = field(default_factory=dict)
    #: By the side outputs that the program asks for.
    tag_types: dict[str, TypeInformation | None] = field(default_factory=dict)
    #: Where the side outputs of its stream come from; None for itself.
    side_outputs_of: Transformation | None = None

    def inputs(self) -> Sequence[Input]:
        """Return where its elements come from."""
        return ()


@dataclass(frozen=True)
class Output:
    """An output of a transformation.

    Parameters
    ----------
    of
        The transformation.
    tag
        The side output; None for the main one.
    """

    of: Transformation
    tag: str | None = None


@dataclass(frozen=True)
class Input:
    """An input of a transformation: the outputs that it takes, several after a union."""

    outputs: tuple[Output, ...]


@dataclass(frozen=True)
class ShuffledInput(Input):
    """An input behind a shuffle.

    Parameters
    ----------
    distribution
        Returns how the elements are distributed, by keys that lead to the subtasks.
    selector
        What makes the keys of a keyed stream.
    is_broadcast
        Whether all elements come to all subtasks, before those of other inputs.
    """

    distribution: Callable[[Sequence[bytes]], Distribution]
    selector: ByKey | None = None
    is_broadcast: bool = False


@dataclass(eq=False)
class SourceOf(Transformation):
    """A source."""

    source: Source | None = None


@dataclass(eq=False)
class Chained(Transformation):
    """An operator without state."""

    input: Input | None = None
    operator: ChainOperator | None = None

    def inputs(self) -> Sequence[Input]:
        """Return where its elements come from."""
        assert self.input is not None
        return (self.input,)


class MakeOperator(Protocol):
    """Makes the operator of a transformation."""

    def __call__(self, is_batch: bool) -> Operator:
        """Return the operator; `is_batch`: only final results are wanted."""


@dataclass(eq=False)
class Stateful(Transformation):
    """An operator behind a shuffle."""

    #: What it does, which decides what state it has.
    operation: str = ""
    shuffled: tuple[ShuffledInput, ...] = ()
    make: MakeOperator | None = None

    def inputs(self) -> Sequence[ShuffledInput]:
        """Return where its elements come from."""
        return self.shuffled


@dataclass(eq=False)
class SinkOf(Transformation):
    """A sink."""

    input: Input | None = None
    sink: Sink | None = None
    #: Of the elements that come.
    input_type: TypeInformation | None = None

    def inputs(self) -> Sequence[Input]:
        """Return where its elements come from."""
        assert self.input is not None
        return (self.input,)
