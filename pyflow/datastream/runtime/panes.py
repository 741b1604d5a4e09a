"""Panes: what there is of a key's elements in a window.

That is what they have been reduced to, an accumulator, or all elements. An object of a pane belongs
to a window, and stands for that of the current key.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from pyflow.common.typeinfo import Types
from pyflow.datastream.runtime.keys import method_of
from pyflow.datastream.state import ListStateDescriptor, ValueStateDescriptor

if TYPE_CHECKING:
    from pyflow.common.typeinfo import TypeInformation
    from pyflow.datastream.runtime.operator import KeyedContext

__all__ = ["Pane", "pane_maker"]

_NAME = "window-contents"


class Pane(ABC):
    """What there is of a key's elements in a window."""

    @abstractmethod
    def add(self, value: Any, timestamp: int | None) -> bool:
        """Add an element; return whether it may be the first one, which is True for that."""

    @abstractmethod
    def get(self) -> Any:
        """Return a list of what a window function is given; None if there is nothing."""

    @abstractmethod
    def clear(self) -> None:
        """Remove all."""

    @abstractmethod
    def merge(self, others: Iterable[Any]) -> None:
        """Move to this pane what there is in others of its kind."""


class _ReducedPane(Pane):
    """What a function has reduced the elements to."""

    def __init__(self, state: Any, reduce: Callable[[Any, Any], Any]) -> None:
        self._value, self._update, self._clear = state.value, state.update, state.clear
        self._reduce = reduce

    def add(self, value: Any, timestamp: int | None) -> bool:
        reduced = self._value()
        if reduced is None:
            self._update(value)
            return True
        self._update(self._reduce(reduced, value))
        return False

    def get(self) -> Any:
        reduced = self._value()
        return None if reduced is None else [reduced]

    def clear(self) -> None:
        self._clear()

    def merge(self, others: Iterable[Any]) -> None:
        for other in others:
            reduced = other._value()
            if reduced is not None:
                self.add(reduced, None)
                other.clear()


class _AggregatedPane(Pane):
    """An accumulator of the elements."""

    def __init__(self, state: Any, function: Any) -> None:
        self._value, self._update, self._clear = state.value, state.update, state.clear
        self._function = function
        self._add = function.add

    def add(self, value: Any, timestamp: int | None) -> bool:
        accumulator = self._value()
        if accumulator is None:
            self._update(self._add(value, self._function.create_accumulator()))
            return True
        self._update(self._add(value, accumulator))
        return False

    def get(self) -> Any:
        accumulator = self._value()
        if accumulator is None:
            return None
        result = self._function.get_result(accumulator)
        return None if result is None else [result]

    def clear(self) -> None:
        self._clear()

    def merge(self, others: Iterable[Any]) -> None:
        for other in others:
            merged = other._value()
            if merged is None:
                continue
            accumulator = self._value()
            if accumulator is not None:
                merged = self._function.merge(accumulator, merged)
            self._update(merged)
            other.clear()


class _ListedPane(Pane):
    """All elements.

    Whether there are any is not asked for at each element, as that would read them. Elements of a
    key come one after the other, so that it is known of most that others came before.
    """

    def __init__(self, state: Any, key: Callable[[], Any]) -> None:
        self._state = state
        self._add = state.add
        self._key = key
        self._last_key: Any = self

    def add(self, value: Any, timestamp: int | None) -> bool:
        self._add(self._element(value, timestamp))
        key = self._key()
        if key is self._last_key:
            return False
        self._last_key = key
        return True

    def _element(self, value: Any, timestamp: int | None) -> Any:
        return value

    def get(self) -> Any:
        return list(self._state.get()) or None

    def set(self, elements: list[Any]) -> None:
        """Set all elements."""
        self._state.update(elements)

    def clear(self) -> None:
        self._state.clear()
        self._last_key = self

    def merge(self, others: Iterable[Any]) -> None:
        for other in others:
            self._state.add_all(list(other._state.get()))
            other.clear()


class _TimestampedPane(_ListedPane):
    """All elements, as tuples of a value and its timestamp or None."""

    def _element(self, value: Any, timestamp: int | None) -> Any:
        return value, timestamp


def pane_maker(
    context: KeyedContext,
    reduce: Any = None,
    aggregate: Any = None,
    type_info: TypeInformation | None = None,
    timestamped: bool = False,
) -> Callable[[bytes], Any]:
    """Return what makes the pane of a window's namespace.

    Parameters
    ----------
    context : KeyedContext
    reduce : ReduceFunction or callable, optional
    aggregate : AggregateFunction, optional
        Without either, all elements are kept.
    type_info : TypeInformation, optional
        Of what is kept: the reduced value, the accumulator or an element.
    timestamped : bool
        Whether all elements are kept, as tuples with their timestamps.
    """
    state = context.state
    if timestamped:
        tuples = ListStateDescriptor(_NAME, Types.PICKLED_BYTE_ARRAY())
        return lambda namespace: _TimestampedPane(state(tuples, namespace), context.key)
    kept = Types.PICKLED_BYTE_ARRAY() if type_info is None else type_info
    value = ValueStateDescriptor(_NAME, kept)
    if reduce is not None:
        combine = method_of(reduce, "reduce")
        return lambda namespace: _ReducedPane(state(value, namespace), combine)
    if aggregate is not None:
        return lambda namespace: _AggregatedPane(state(value, namespace), aggregate)
    elements = ListStateDescriptor(_NAME, kept)
    return lambda namespace: _ListedPane(state(elements, namespace), context.key)
