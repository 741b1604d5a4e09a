"""Where the state of the current key lies: in Spark's state store, or in memory.

State has a name, which ends with its namespace. There are single values, lists, and maps of any
objects, all of them pickled in the store. What has been read of a key or written is kept until
:meth:`Storage.flush`; only then is it written, each entry once at most.
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from pyflow.datastream.runtime.key_bytes import key_bytes
from pyflow.datastream.runtime.pickling import dumps

__all__ = [
    "ABSENT",
    "BroadcastStorage",
    "Families",
    "MemoryStorage",
    "Storage",
    "StoreKey",
    "StoreStorage",
]

ABSENT: Any = object()

#: The target of a row, and the bytes of its key.
StoreKey = tuple[int, bytes]

# Elements of a list that are added before a part of it is written for good.
_PART = 256


class Storage(ABC):
    """State of the current key."""

    def __init__(self) -> None:
        # What is known of the key, by the names of values, lists and maps.
        self._known: Any = {}
        self._lists: Any = {}
        self._maps: Any = {}

    @contextmanager
    def without_key(self) -> Iterator[None]:
        """Refuse to read and write: there is no current key."""
        kept = self._known, self._lists, self._maps
        self._known = self._lists = self._maps = _NO_KEY
        try:
            yield
        finally:
            self._known, self._lists, self._maps = kept

    @abstractmethod
    def get(self, name: bytes) -> Any:
        """Return a value, or ABSENT."""

    @abstractmethod
    def put(self, name: bytes, value: Any) -> None:
        """Set a value."""

    @abstractmethod
    def remove(self, name: bytes) -> None:
        """Remove a value, if there is one."""

    @abstractmethod
    def list_get(self, name: bytes) -> list[Any]:
        """Return the elements of a list, which must not be changed."""

    @abstractmethod
    def list_append(self, name: bytes, elements: Iterable[Any]) -> None:
        """Add elements to a list."""

    @abstractmethod
    def list_replace(self, name: bytes, elements: list[Any]) -> None:
        """Set all elements of a list; without any there is no list."""

    @abstractmethod
    def map_get(self, name: bytes, key: Any) -> Any:
        """Return the value of a key of a map, or ABSENT."""

    @abstractmethod
    def map_put(self, name: bytes, key: Any, value: Any) -> None:
        """Set the value of a key of a map; ABSENT removes it."""

    @abstractmethod
    def map_items(self, name: bytes) -> list[tuple[Any, Any]]:
        """Return the entries of a map."""

    @abstractmethod
    def map_clear(self, name: bytes) -> None:
        """Remove all entries of a map."""

    @abstractmethod
    def flush(self) -> None:
        """Write what has changed, and forget the key."""

    def forget(self) -> None:
        """Forget the key, with what has not been written."""
        self._known.clear()
        self._lists.clear()
        self._maps.clear()


class _NoKey(dict[bytes, Any]):
    """State where there is no current key."""

    def _refuse(self, *_: Any) -> NoReturn:
        raise RuntimeError(
            "keyed state belongs to the key of an element, and the elements of a broadcast stream "
            "have none: use broadcast state, or keyed state in process_element() and on_timer()"
        )

    get = setdefault = pop = __setitem__ = _refuse


_NO_KEY = _NoKey()


class MemoryStorage(Storage):
    """State of one key at a time, which is gone when the next one comes."""

    def get(self, name: bytes) -> Any:
        """Return a value, or ABSENT."""
        return self._known.get(name, ABSENT)

    def put(self, name: bytes, value: Any) -> None:
        """Set a value."""
        self._known[name] = value

    def remove(self, name: bytes) -> None:
        """Remove a value, if there is one."""
        self._known.pop(name, None)

    def list_get(self, name: bytes) -> list[Any]:
        """Return the elements of a list, which must not be changed."""
        return list(self._lists.get(name, ()))

    def list_append(self, name: bytes, elements: Iterable[Any]) -> None:
        """Add elements to a list."""
        self._lists.setdefault(name, []).extend(elements)

    def list_replace(self, name: bytes, elements: list[Any]) -> None:
        """Set all elements of a list."""
        if elements:
            self._lists[name] = list(elements)
        else:
            self._lists.pop(name, None)

    def map_get(self, name: bytes, key: Any) -> Any:
        """Return the value of a key of a map, or ABSENT."""
        entry = self._maps.get(name, {}).get(key_bytes(key))
        return ABSENT if entry is None else entry[1]

    def map_put(self, name: bytes, key: Any, value: Any) -> None:
        """Set the value of a key of a map; ABSENT removes it."""
        entries = self._maps.setdefault(name, {})
        if value is ABSENT:
            entries.pop(key_bytes(key), None)
        else:
            entries[key_bytes(key)] = (key, value)

    def map_items(self, name: bytes) -> list[tuple[Any, Any]]:
        """Return the entries of a map."""
        return list(self._maps.get(name, {}).values())

    def map_clear(self, name: bytes) -> None:
        """Remove all entries of a map."""
        self._maps.pop(name, None)

    def flush(self) -> None:
        """Forget the key; nothing is kept."""
        self.forget()


class StoreStorage(Storage):
    """State in the store of a stateful operator of Spark, for the key that Spark has.

    Each task has a store of its own: :meth:`bind` says which. There are bundles of keys, from
    :meth:`begin_bundle` to :meth:`end_bundle`: the values that most keys of the bundle before have
    read are read for all keys at once, and all values are written at once.
    """

    # A value, or the head of a list, and whether it has to be written.
    _known: dict[bytes, list[Any]]
    _lists: dict[bytes, _List]
    _maps: dict[bytes, _Map]

    def __init__(self) -> None:
        super().__init__()
        self._families: Families | None = None
        self._bundle: _Bundle | None = None
        # By target: the names that most keys have read.
        self._names: dict[int, list[bytes]] = {}

    def bind(self, families: Families) -> None:
        """Use the store of a task from now on."""
        self._families = families

    def begin_bundle(self, keys: Sequence[StoreKey], go_to: Callable[[StoreKey], None]) -> None:
        """Begin a bundle.

        Parameters
        ----------
        keys : sequence of StoreKey
            In the order in which they come.
        go_to : callable
            Makes a key the one that Spark has.
        """
        assert self._families is not None
        wanted = [(key, (name,)) for key in keys for name in self._names.get(key[0], ())]
        found = self._families.values.values_of_keys(wanted) if wanted else ()
        read = {(key, name): value for (key, (name,)), value in zip(wanted, found)}
        self._bundle = _Bundle(go_to, Counter(key[0] for key in keys), read)

    def next_key(self, key: StoreKey) -> None:
        """Go to the next key of the bundle."""
        assert self._bundle is not None
        self._bundle.key = key

    def end_bundle(self) -> None:
        """Write the values of the bundle."""
        bundle, self._bundle = self._bundle, None
        assert bundle is not None
        if bundle.written:
            self._store().values.update_of_keys(bundle.written)
        self._names.update(bundle.names())

    def _store(self) -> Families:
        assert self._families is not None
        if self._bundle is not None:
            self._bundle.go_to_key()
        return self._families

    def get(self, name: bytes) -> Any:
        """Return a value, or ABSENT."""
        known = self._known.get(name)
        if known is None:
            found = self._read(name)
            known = [ABSENT if found is None else pickle.loads(found[0]), False]
            self._known[name] = known
        return known[0]

    def _read(self, name: bytes) -> Any:
        bundle = self._bundle
        if bundle is not None:
            bundle.reads[bundle.key[0], name] += 1
            found = bundle.read.get((bundle.key, name), ABSENT)
            if found is not ABSENT:
                return found
        return self._store().values.getValue((name,))

    def put(self, name: bytes, value: Any) -> None:
        """Set a value."""
        self._known[name] = [value, True]

    def remove(self, name: bytes) -> None:
        """Remove a value, if there is one."""
        self._known[name] = [ABSENT, True]

    def list_get(self, name: bytes) -> list[Any]:
        """Return the elements of a list, which must not be changed."""
        return self._list(name).elements()

    def list_append(self, name: bytes, elements: Iterable[Any]) -> None:
        """Add elements to a list."""
        self._list(name).append(elements)

    def list_replace(self, name: bytes, elements: list[Any]) -> None:
        """Set all elements of a list."""
        self._list(name).replace(elements)

    def _list(self, name: bytes) -> _List:
        found = self._lists.get(name)
        if found is None:
            head = self.get(name)
            found = self._lists[name] = _List(
                self._store().parts, name, None if head is ABSENT else head
            )
        return found

    def map_get(self, name: bytes, key: Any) -> Any:
        """Return the value of a key of a map, or ABSENT."""
        return self._map(name).get(key)

    def map_put(self, name: bytes, key: Any, value: Any) -> None:
        """Set the value of a key of a map; ABSENT removes it."""
        self._map(name).put(key, value)

    def map_items(self, name: bytes) -> list[tuple[Any, Any]]:
        """Return the entries of a map."""
        return self._map(name).items()

    def map_clear(self, name: bytes) -> None:
        """Remove all entries of a map."""
        self._map(name).clear()

    def _map(self, name: bytes) -> _Map:
        found = self._maps.get(name)
        if found is None:
            found = self._maps[name] = _Map(self._store().entries, name)
        return found

    def flush(self) -> None:
        """Write what has changed, and forget the key."""
        if self._lists:
            for name, written in self._lists.items():
                head = written.flush()
                if head is not ABSENT:
                    self._known[name] = [ABSENT if head is None else head, True]
        if self._maps:
            for each in self._maps.values():
                each.flush()
        for name, (value, changed) in self._known.items():
            if changed:
                self._write(name, None if value is ABSENT else (dumps(value),))
        self.forget()

    def _write(self, name: bytes, value: tuple[bytes] | None) -> None:
        if self._bundle is not None:
            self._bundle.written.append((self._bundle.key, (name,), value))
        elif value is None:
            self._store().values.removeKey((name,))
        else:
            self._store().values.updateValue((name,), value)


class _Bundle:
    """Keys that state is read and written for at once."""

    def __init__(
        self,
        go_to: Callable[[StoreKey], None],
        targets: Counter[int],
        read: dict[tuple[StoreKey, bytes], Any],
    ) -> None:
        self.key: StoreKey = (0, b"")
        self.read = read
        self.reads: Counter[tuple[int, bytes]] = Counter()
        self.written: list[tuple[StoreKey, tuple[bytes], tuple[bytes] | None]] = []
        self._targets = targets
        self._go_to = go_to
        self._reached: StoreKey | None = None

    def go_to_key(self) -> None:
        """Make the key the one that Spark has."""
        if self._reached != self.key:
            self._go_to(self.key)
            self._reached = self.key

    def names(self) -> dict[int, list[bytes]]:
        """Return, by target, the names that at least half of its keys have read."""
        return {
            target: [
                name
                for (at, name), times in self.reads.items()
                if at == target and 2 * times >= keys
            ]
            for target, keys in self._targets.items()
        }


class BroadcastStorage(StoreStorage):
    """Maps that belong to an operator rather than to a key.

    They are read as a whole, and stay known from one batch to the next.

    Parameters
    ----------
    at_own_key : callable
        Does something while the key that the maps belong to is the current one.
    """

    def __init__(self, at_own_key: Callable[[Callable[[], None]], None]) -> None:
        super().__init__()
        self._at_own_key = at_own_key

    def _map(self, name: bytes) -> _Map:
        found = self._maps.get(name)
        if found is None:
            found = self._maps[name] = _Map(self._store().entries, name)
            self._at_own_key(found.read_all)
        return found

    def flush(self) -> None:
        """Write what has changed, and forget the key."""
        changed = [each for each in self._maps.values() if each.has_changed()]

        def write() -> None:
            for each in changed:
                each.flush()

        if changed:
            self._at_own_key(write)

    def bind(self, families: Families) -> None:
        """Use the store of a task from now on."""
        super().bind(families)
        for each in self._maps.values():
            each.entries = families.entries


class Families:
    """The column families of a stateful operator, the same for all of them.

    Parameters
    ----------
    handle : StatefulProcessorHandle

    Attributes
    ----------
    values : MapState
        Single values by name, and the last part of each list.
    parts : MapState
        Of lists, by name and number.
    entries : MapState
        Of maps, by name and key.
    """

    def __init__(self, handle: Any) -> None:
        self.values = handle.getMapState("values", "name BINARY", "value BINARY")
        self.parts = handle.getMapState("parts", "name BINARY, number INT", "value BINARY")
        self.entries = handle.getMapState("entries", "name BINARY, key BINARY", "value BINARY")


class _List:
    """A list of the current key.

    Parameters
    ----------
    parts : MapState
    name : bytes
    head : tuple or None
        How many parts there are, and the elements behind them.
    """

    def __init__(self, parts: Any, name: bytes, head: tuple[int, list[Any]] | None) -> None:
        self._parts = parts
        self._name = name
        self._count, self._tail = (0, []) if head is None else (head[0], list(head[1]))
        self._stored = self._count
        self._read: list[Any] | None = [] if self._count == 0 else None
        self._changed = False

    def elements(self) -> list[Any]:
        if self._read is None:
            self._read = []
            for number in range(self._count):
                found = self._parts.getValue((self._name, number))
                self._read += pickle.loads(found[0])
        return self._read + self._tail

    def append(self, elements: Iterable[Any]) -> None:
        before = len(self._tail)
        self._tail.extend(elements)
        self._changed = self._changed or len(self._tail) > before

    def replace(self, elements: list[Any]) -> None:
        self._count, self._read, self._tail = 0, [], list(elements)
        self._changed = True

    def flush(self) -> Any:
        """Write the parts; return the head, None if there is no list, ABSENT if it is as before."""
        if not self._changed:
            return ABSENT
        while len(self._tail) >= _PART:
            part, self._tail = self._tail[:_PART], self._tail[_PART:]
            value = (dumps(part),)
            self._parts.updateValue((self._name, self._count), value)
            self._count += 1
        for number in range(self._count, self._stored):
            self._parts.removeKey((self._name, number))
        return (self._count, self._tail) if self._count or self._tail else None


class _Map:
    """A map of the current key."""

    def __init__(self, entries: Any, name: bytes) -> None:
        self.entries = entries
        self._name = name
        # By the bytes of a key: the key, its value, and whether that has to be written.
        self._known: dict[bytes, list[Any]] = {}
        self._is_whole = False

    def get(self, key: Any) -> Any:
        encoded = key_bytes(key)
        entry = self._known.get(encoded)
        if entry is None:
            if self._is_whole:
                return ABSENT
            found = self.entries.getValue((self._name, encoded))
            entry = [key, ABSENT, False]
            if found is not None:
                entry[:2] = pickle.loads(found[0])
            self._known[encoded] = entry
        return entry[1]

    def put(self, key: Any, value: Any) -> None:
        self._known[key_bytes(key)] = [key, value, True]

    def items(self) -> list[tuple[Any, Any]]:
        self.read_all()
        return [(key, value) for key, value, _ in self._known.values() if value is not ABSENT]

    def clear(self) -> None:
        self.read_all()
        for entry in self._known.values():
            entry[1], entry[2] = ABSENT, True

    def has_changed(self) -> bool:
        return any(changed for _, _, changed in self._known.values())

    def flush(self) -> None:
        for encoded, known in self._known.items():
            key, value, changed = known
            if not changed:
                continue
            known[2] = False
            if value is ABSENT:
                self.entries.removeKey((self._name, encoded))
            else:
                entry = (dumps((key, value)),)
                self.entries.updateValue((self._name, encoded), entry)

    def read_all(self) -> None:
        if self._is_whole:
            return
        for (name, encoded), (value,) in self.entries.iterator():
            if bytes(name) == self._name and bytes(encoded) not in self._known:
                self._known[bytes(encoded)] = [*pickle.loads(value), False]
        self._is_whole = True
