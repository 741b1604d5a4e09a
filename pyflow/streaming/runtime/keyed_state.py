"""State of the key that an operator is at: read at most once and written at most once per batch.

Spark binds state to the key that is current. A store keeps what it has read of it until
:meth:`flush`, which writes what has changed; then the next key may come.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any, Protocol

__all__ = ["ListStore", "MapStore", "Store", "ValueStore", "identity_of"]

#: Of all Pythons from 3.10 on, so that a checkpoint can be read by each of them.
_PROTOCOL = 4

_ABSENT: Any = object()


def identity_of(value: Any) -> Any:
    """Return a hashable stand-in for a value: two are equal if Spark's binary rows are equal."""
    if isinstance(value, float):
        return repr(value)  # NaN is one value, 0.0 and -0.0 are two.
    if isinstance(value, (list, tuple)):
        return tuple(map(identity_of, value))
    if isinstance(value, dict):
        return frozenset((identity_of(k), identity_of(v)) for k, v in value.items())
    if isinstance(value, bytearray):
        return bytes(value)
    return value


class Store(Protocol):
    """State of the current key."""

    def flush(self) -> None:
        """Write what has changed, and forget the key."""

    def clear(self) -> None:
        """Remove everything of the key."""


class ValueStore:
    """One object of Python, pickled: ``None`` where there is none.

    Parameters
    ----------
    handle : StatefulProcessorHandle
    name : str
    """

    def __init__(self, handle: Any, name: str) -> None:
        self._state = handle.getValueState(name, "value BINARY")

    def get(self) -> Any:
        """The object."""
        found = self._state.get()
        return None if found is None else pickle.loads(found[0])

    def put(self, value: Any) -> None:
        """Write the object."""
        self._state.update((pickle.dumps(value, _PROTOCOL),))

    def clear(self) -> None:
        """Remove the object."""
        self._state.clear()


class MapStore:
    """Objects of Python by keys.

    Parameters
    ----------
    handle : StatefulProcessorHandle
    name : str
    schema : str
        Of the keys, a type of Spark.
    """

    def __init__(self, handle: Any, name: str, schema: str) -> None:
        self._state = handle.getMapState(name, f"key {schema}", "value BINARY")
        # By the identity of a key: the key, its value, and whether that has to be written.
        self._known: dict[Any, list[Any]] = {}
        self._is_whole = False
        self._cleared = False

    def get(self, key: Any, default: Any = None) -> Any:
        """The object of a key."""
        value = self._entry(key)[1]
        return default if value is _ABSENT else value

    def put(self, key: Any, value: Any) -> None:
        """Set the object of a key."""
        identity = identity_of(key)
        entry = self._known.get(identity)
        if entry is None:
            self._known[identity] = [key, value, True]
        else:
            entry[1], entry[2] = value, True

    def remove(self, key: Any) -> None:
        """Remove a key, if it is there."""
        self.put(key, _ABSENT)

    def items(self) -> Iterator[tuple[Any, Any]]:
        """All keys with their objects, in no order that means anything."""
        self._read_all()
        return ((key, value) for key, value, _ in self._known.values() if value is not _ABSENT)

    def flush(self) -> None:
        """Write what has changed, and forget the key."""
        if self._cleared:
            self._state.clear()
        for key, value, changed in self._known.values():
            if not changed:
                continue
            if value is not _ABSENT:
                self._state.updateValue((key,), (pickle.dumps(value, _PROTOCOL),))
            elif not self._cleared:
                self._state.removeKey((key,))
        self._known = {}
        self._is_whole = self._cleared = False

    def clear(self) -> None:
        """Remove everything of the key."""
        self._known = {}
        self._is_whole = self._cleared = True

    def _entry(self, key: Any) -> list[Any]:
        identity = identity_of(key)
        entry = self._known.get(identity)
        if entry is None:
            found = None if self._is_whole else self._state.getValue((key,))
            value = _ABSENT if found is None else pickle.loads(found[0])
            entry = self._known[identity] = [key, value, False]
        return entry

    def _read_all(self) -> None:
        if self._is_whole:
            return
        for (key,), (value,) in self._state.iterator():
            identity = identity_of(key)
            if identity not in self._known:
                self._known[identity] = [key, pickle.loads(value), False]
        self._is_whole = True


class ListStore:
    """Objects of Python in a list.

    Parameters
    ----------
    handle : StatefulProcessorHandle
    name : str
    """

    def __init__(self, handle: Any, name: str) -> None:
        self._state = handle.getListState(name, "value BINARY")
        self._read: list[Any] | None = None
        self._added: list[Any] = []
        self._replaced = False

    def get(self) -> list[Any]:
        """Return the objects; the list must not be changed."""
        if self._read is None:
            self._read = [pickle.loads(value) for (value,) in self._state.get()]
        return self._read + self._added if self._added else self._read

    def add(self, value: Any) -> None:
        """Append an object."""
        self._added.append(value)

    def replace(self, values: list[Any]) -> None:
        """Set all objects."""
        self._read, self._added, self._replaced = values, [], True

    def flush(self) -> None:
        """Write what has changed, and forget the key."""
        if self._replaced and not (self._read or self._added):
            self._state.clear()
        elif self._replaced:
            self._write(self._state.put, self.get())
        elif self._added:
            self._write(self._state.appendList, self._added)
        self._read, self._added, self._replaced = None, [], False

    def clear(self) -> None:
        """Remove everything of the key."""
        self.replace([])

    def _write(self, write: Callable[[list[Any]], None], values: list[Any]) -> None:
        write([(pickle.dumps(value, _PROTOCOL),) for value in values])
