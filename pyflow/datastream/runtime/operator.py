"""What operators of data streams are, and what they are given.

An operator gets elements one after the other and emits others. Those that keep state get the
elements of one key at a time; state and timers are those of the current key.

Times are in milliseconds since the epoch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pyflow.datastream.functions import RuntimeContext
    from pyflow.datastream.output_tag import OutputTag
    from pyflow.datastream.state import State, StateDescriptor

__all__ = [
    "MAX_WATERMARK",
    "MIN_WATERMARK",
    "NO_TIMESTAMP",
    "WATERMARK_SHIFT",
    "Emit",
    "KeyedContext",
    "Operator",
    "OperatorContext",
    "OperatorTimes",
]

#: Before the first watermark.
MIN_WATERMARK = -(1 << 63)

#: What functions are told of elements that have none.
NO_TIMESTAMP = -(1 << 63)

#: At the end of bounded input.
MAX_WATERMARK = (1 << 63) - 1

#: Spark's watermarks begin at 0. What Spark has is later by these milliseconds; no event time is
#: after them.
WATERMARK_SHIFT = 1 << 46

#: Takes an emitted element, and its timestamp or None.
Emit = Callable[[Any, "int | None"], None]


class Timers(Protocol):
    """Timers of the current key. Each belongs to a namespace, such as a window."""

    def register(self, is_event_time: bool, time: int, namespace: bytes = b"") -> None:
        """Have the operator called at a time, once however often it is registered."""

    def register_for_function(self, is_event_time: bool, time: int, namespace: bytes = b"") -> None:
        """Do the same for a function or trigger: in batch mode not from a timer, as in Flink."""

    def delete(self, is_event_time: bool, time: int, namespace: bytes = b"") -> None:
        """Delete a timer, if there is one."""


class OperatorTimes(Protocol):
    """The times that an operator sees."""

    def watermark(self) -> int:
        """Return the current watermark."""

    def processing_time(self) -> int:
        """Return the current processing time."""


class OperatorContext:
    """What an operator is opened with.

    Attributes
    ----------
    runtime_context : RuntimeContext
        What user-defined functions are opened with.
    emit : callable
        Takes an element of the main output, and its timestamp or None.
    emit_side : callable
        Takes the tag of a side output, an element, and its timestamp or None.
    """

    runtime_context: RuntimeContext
    emit: Emit
    emit_side: Callable[[OutputTag, Any, int | None], None]

    def watermark(self) -> int:
        """Return the current watermark."""
        raise NotImplementedError

    def processing_time(self) -> int:
        """Return the current processing time."""
        raise NotImplementedError


class KeyedContext(OperatorContext):
    """What an operator is opened with that keeps state.

    Attributes
    ----------
    timers : Timers
    """

    timers: Timers

    def key(self) -> Any:
        """Return the current key."""
        raise NotImplementedError

    def state(self, descriptor: StateDescriptor, namespace: bytes = b"") -> State:
        """Return state of the current key in a namespace.

        The object is bound to the namespace, not to the key: it may be kept.
        """
        raise NotImplementedError

    def without_key(self) -> AbstractContextManager[None]:
        """Return what refuses all use of state of a key meanwhile."""
        raise NotImplementedError


class Operator(ABC):
    """An operator. An object of it is used by one task at a time.

    Attributes
    ----------
    late_records_dropped : int
        How many elements have been dropped, as they were late.
    is_keyed_by_itself : bool
        Whether its functions have keyed state where elements have no keys: windows of all elements
        are windows of one key.
    user_functions : tuple
        The functions of the program that it calls.
    """

    late_records_dropped = 0
    is_keyed_by_itself = False
    user_functions: tuple[Any, ...] = ()

    def open(self, context: Any) -> None:  # noqa: B027
        """Prepare, before the first element.

        Parameters
        ----------
        context : OperatorContext or KeyedContext
        """

    @abstractmethod
    def process(self, value: Any, timestamp: int | None, number: int) -> None:
        """Take an element.

        Parameters
        ----------
        value : object
        timestamp : int or None
        number : int
            Of the input that it comes from: 0, or 1 for the second one.
        """

    def on_timer(self, is_event_time: bool, time: int, namespace: bytes) -> None:  # noqa: B027
        """Do what a timer of the current key was registered for."""

    def drain(self) -> None:  # noqa: B027
        """Emit what waits: no more elements of the current key come in this batch."""

    def close(self) -> None:  # noqa: B027
        """Give back what the operator holds."""
