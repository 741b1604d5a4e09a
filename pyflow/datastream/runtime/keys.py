"""How elements come to the subtasks behind a shuffle.

Spark sends a row where the hash of its target and key says. Elements of a keyed stream go by the
bytes of their key. Others go to a subtask of a number: by a key that is known to be sent there.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflow.datastream.functions import Function
from pyflow.datastream.runtime.key_bytes import key_bytes
from pyflow.datastream.runtime.values import coercion

if TYPE_CHECKING:
    from pyflow.common.typeinfo import TypeInformation

__all__ = [
    "Broadcast",
    "ByKey",
    "Custom",
    "Distribution",
    "Forward",
    "RoundRobin",
    "Shuffled",
    "Single",
    "method_of",
]


def method_of(function: Any, name: str) -> Callable[..., Any]:
    """Return a method of a function class's object, or the callable that stands for one.

    A callable may have a method of the name that is something else, as `numpy.maximum.reduce`.
    """
    if callable(function) and not isinstance(function, Function):
        return function  # type: ignore[no-any-return]
    method = getattr(function, name, None)
    if method is not None:
        return method  # type: ignore[no-any-return]
    raise TypeError(f"expected a callable or an object with {name}(), got {function!r}")


class Distribution(ABC):
    """By which elements are distributed."""

    #: Whether an element goes to several subtasks; then :meth:`keys` makes lists of keys.
    is_broadcast = False

    def functions(self) -> Sequence[Any]:
        """Return the functions of the program that are opened before keys are made."""
        return ()

    @abstractmethod
    def keys(self, subtask: int) -> Callable[[Any], Any]:
        """Return what makes the key of an element, in a subtask of a number."""


@dataclass(frozen=True)
class ByKey(Distribution):
    """By the key that a selector returns.

    Parameters
    ----------
    selector
        A callable, or a KeySelector.
    key_type
        The type of keys; None for any objects.
    """

    selector: Any
    key_type: TypeInformation | None = None

    def functions(self) -> Sequence[Any]:
        """Return the selector."""
        return (self.selector,)

    def selected(self) -> Callable[[Any], Any]:
        """Return what makes the key of an element, as users have it."""
        select = method_of(self.selector, "get_key")
        coerce = coercion(self.key_type)
        return select if coerce is None else lambda value: coerce(select(value))

    def keys(self, subtask: int) -> Callable[[Any], Any]:
        """Return what makes the key of an element, in a subtask of a number."""
        select = self.selected()
        return lambda value: key_bytes(select(value))


@dataclass(frozen=True)
class Forward(Distribution):
    """All elements of a subtask to the same one."""

    def keys(self, subtask: int) -> Callable[[Any], Any]:
        """Return what makes the key of an element, in a subtask of a number."""
        key = b"%d" % subtask
        return lambda value: key


@dataclass(frozen=True)
class Single(Distribution):
    """All elements to one subtask."""

    key: bytes = b""

    def keys(self, subtask: int) -> Callable[[Any], Any]:
        """Return what makes the key of an element, in a subtask of a number."""
        return lambda value: self.key


@dataclass(frozen=True)
class RoundRobin(Distribution):
    """One after the other to all subtasks.

    Parameters
    ----------
    reserved
        For each subtask a key that is sent there.
    """

    reserved: Sequence[bytes]

    def keys(self, subtask: int) -> Callable[[Any], Any]:
        """Return what makes the key of an element, in a subtask of a number."""
        count = len(self.reserved)
        last = subtask

        def next_key(value: Any) -> bytes:
            nonlocal last
            last = (last + 1) % count
            return self.reserved[last]

        return next_key


@dataclass(frozen=True)
class Shuffled(Distribution):
    """Each element to a subtask by chance."""

    reserved: Sequence[bytes]

    def keys(self, subtask: int) -> Callable[[Any], Any]:
        """Return what makes the key of an element, in a subtask of a number."""
        chance = random.Random()
        return lambda value: chance.choice(self.reserved)


@dataclass(frozen=True)
class Custom(Distribution):
    """To the subtask whose number a partitioner returns.

    Parameters
    ----------
    partitioner
        A callable of a key and the number of subtasks, or a Partitioner.
    selector
        A callable, or a KeySelector.
    reserved
        For each subtask a key that is sent there.
    """

    partitioner: Any
    selector: Any
    reserved: Sequence[bytes]

    def functions(self) -> Sequence[Any]:
        """Return the partitioner and the selector."""
        return (self.partitioner, self.selector)

    def keys(self, subtask: int) -> Callable[[Any], Any]:
        """Return what makes the key of an element, in a subtask of a number."""
        partition = method_of(self.partitioner, "partition")
        select = method_of(self.selector, "get_key")
        count = len(self.reserved)

        def chosen(value: Any) -> bytes:
            number = partition(select(value), count)
            if not 0 <= number < count:
                raise ValueError(
                    f"the partitioner returned {number!r}; partitions have the numbers from 0 to "
                    f"{count - 1}"
                )
            key: bytes = self.reserved[number]
            return key

        return chosen


@dataclass(frozen=True)
class Broadcast(Distribution):
    """Each element to all subtasks."""

    reserved: Sequence[bytes]

    is_broadcast = True

    def keys(self, subtask: int) -> Callable[[Any], Any]:
        """Return what makes the key of an element, in a subtask of a number."""
        return lambda value: self.reserved
