"""Lists and maps that accumulators of aggregate functions hold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar

__all__ = ["DataView", "ListView", "MapView"]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


class DataView(ABC):
    """A collection in an accumulator, which may be larger than a field of a row should be."""

    @abstractmethod
    def clear(self) -> None:
        """Remove everything."""


class ListView(DataView, Generic[T]):
    """A list. Two are equal when their elements are."""

    def __init__(self) -> None:
        self._list: list[T] = []

    def get(self) -> Iterable[T]:
        """Return the elements."""
        return self._list

    def add(self, value: T) -> None:
        """Append an element."""
        self._list.append(value)

    def add_all(self, values: Iterable[T]) -> None:
        """Append elements."""
        self._list.extend(values)

    def clear(self) -> None:
        """Remove all elements."""
        self._list = []

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, ListView) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __iter__(self) -> Iterator[T]:
        return iter(self.get())


class MapView(DataView, Generic[K, V]):
    """A mapping, read and changed by its methods or as a dict is."""

    def __init__(self) -> None:
        self._dict: dict[K, V] = {}

    def get(self, key: K) -> V:
        """Return the value of a key; KeyError if there is none."""
        return self._dict[key]

    def put(self, key: K, value: V) -> None:
        """Set the value of a key."""
        self._dict[key] = value

    def put_all(self, dict_value: dict[K, V]) -> None:
        """Set the values of several keys."""
        self._dict.update(dict_value)

    def remove(self, key: K) -> None:
        """Remove a key; KeyError if it is not there."""
        del self._dict[key]

    def contains(self, key: K) -> bool:
        """Return whether a key is there."""
        return key in self._dict

    def items(self) -> Iterable[tuple[K, V]]:
        """Return the keys with their values."""
        return self._dict.items()

    def keys(self) -> Iterable[K]:
        """Return the keys."""
        return self._dict.keys()

    def values(self) -> Iterable[V]:
        """Return the values."""
        return self._dict.values()

    def is_empty(self) -> bool:
        """Return whether there is no key."""
        return not self._dict

    def clear(self) -> None:
        """Remove all keys."""
        self._dict.clear()

    def __eq__(self, other: Any) -> bool:
        if type(other) is MapView:
            return self._dict == other._dict
        return other is self

    def __getitem__(self, key: K) -> V:
        return self.get(key)

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        self.remove(key)

    def __contains__(self, key: K) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self.keys())
