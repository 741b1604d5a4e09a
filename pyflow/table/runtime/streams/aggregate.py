"""Built-in aggregates whose values follow their rows: added one by one, and retracted.

An accumulator is a small list, kept with the others of its key in one value of the state. What may
grow with the number of different values lies in a :class:`~.stores.MapStore` of the aggregate's
own. Results are those that the same aggregates have over bounded input: whole numbers wrap around,
a DECIMAL that is too long is null, NaN is greater than all numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from pyflow.streaming.runtime.keyed_state import Store

__all__ = ["Aggregate"]


class Aggregate(ABC):
    """An aggregate: accumulators are its own, the rows that they are made of the operator's.

    ``stores`` are opened for a task, and are those of the current key. ``in_order`` tells whether
    the result depends on the order of the rows.
    """

    stores: tuple[Store, ...] = ()
    in_order = False

    def open(self, handle: Any, name: str) -> None:  # noqa: B027
        """Open what an accumulator does not hold, under names that begin with `name`."""

    @abstractmethod
    def create(self) -> Any:
        """Return an accumulator without rows."""

    @abstractmethod
    def add(self, state: Any, value: Any) -> None:
        """Add the argument of a row, which may be None."""

    def take(self, state: Any, value: Any) -> None:
        """Retract the argument of a row, where rows of the input are retracted."""
        raise NotImplementedError

    @abstractmethod
    def value(self, state: Any) -> Any:
        """Return the result."""

    def stored(self, state: Any) -> Any:
        """Return an accumulator, which is not used after that, in the form that is pickled."""
        return state

    def restored(self, stored: Any) -> Any:
        """Return the accumulator from the form that was pickled."""
        return stored
