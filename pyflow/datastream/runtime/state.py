"""The states that functions see, over the storage of the current key.

An object of them stays the same for all keys. What does not fit the type of a state is an error;
what fits is kept as it is, as by PyFlink. State with a time to live keeps with each value,
element or entry when it was last used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn

from pyflow.datastream.runtime.clock import Clock
from pyflow.datastream.runtime.storage import ABSENT, Storage
from pyflow.datastream.runtime.values import coercion
from pyflow.datastream.state import (
    AggregatingState,
    AggregatingStateDescriptor,
    ListState,
    ListStateDescriptor,
    MapState,
    MapStateDescriptor,
    ReadOnlyBroadcastState,
    ReducingState,
    ReducingStateDescriptor,
    State,
    StateDescriptor,
    StateTtlConfig,
    ValueState,
    ValueStateDescriptor,
)

__all__ = ["Expiry", "StateFactory", "read_only", "state_name"]


# How many objects of states are kept, those of namespaces among them.
_KEPT = 4096


def state_name(name: str, namespace: bytes = b"") -> bytes:
    """Return the name of state in the storage."""
    return name.encode() + b"\0" + namespace


class Expiry:
    """The time to live of a state.

    Parameters
    ----------
    config : StateTtlConfig
    clock : callable
        Returns the processing time.
    sweep : callable
        Is told by when what is written now has expired, in milliseconds since the epoch.
    """

    def __init__(self, config: StateTtlConfig, clock: Clock, sweep: Callable[[int], None]) -> None:
        update, visibility = config.get_update_type(), config.get_state_visibility()
        self._lasts = config.get_ttl().to_milliseconds()
        self.on_read = update == StateTtlConfig.UpdateType.OnReadAndWrite
        self._shows_expired = (
            visibility == StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp
        )
        self._clock = clock
        cleanup = config.get_cleanup_strategies()
        self._is_swept = (
            cleanup.get_incremental_cleanup_strategy() is not None
            or cleanup.get_rocksdb_compact_filter_cleanup_strategy() is not None
        )
        self._sweep = sweep

    def stamped(self, value: Any) -> tuple[Any, int]:
        """Return a value with the time at which it is used: now."""
        now = self._clock()
        if self._is_swept:
            self._sweep(now + self._lasts)
        return value, now

    def is_over(self, stamped: tuple[Any, int]) -> bool:
        """Return whether a value has expired."""
        return stamped[1] + self._lasts <= self._clock()

    def is_seen(self, stamped: tuple[Any, int]) -> bool:
        """Return whether a value that has been found is returned."""
        return self._shows_expired or not self.is_over(stamped)


class _Kept(State):
    """What all states have.

    Parameters
    ----------
    storage : Storage
    name : bytes
    expiry : Expiry or None
    """

    def __init__(self, storage: Storage, name: bytes, expiry: Expiry | None) -> None:
        self._storage = storage
        self._name = name
        self._expiry = expiry

    def _get(self) -> Any:
        """Return a single value, ABSENT where there is none or it has expired."""
        found = self._storage.get(self._name)
        expiry = self._expiry
        if expiry is None or found is ABSENT:
            return found
        if expiry.is_over(found):
            self._storage.remove(self._name)
        elif expiry.on_read:
            self._storage.put(self._name, expiry.stamped(found[0]))
        return found[0] if expiry.is_seen(found) else ABSENT

    def _put(self, value: Any) -> None:
        stamped = value if self._expiry is None else self._expiry.stamped(value)
        self._storage.put(self._name, stamped)

    def clear(self) -> None:
        self._storage.remove(self._name)

    def sweep(self) -> None:
        """Remove what has expired."""
        found = self._storage.get(self._name)
        if found is not ABSENT and self._expiry is not None and self._expiry.is_over(found):
            self._storage.remove(self._name)


class _ValueState(_Kept, ValueState[Any]):
    def __init__(self, *common: Any, check: Callable[[Any], Any] | None) -> None:
        super().__init__(*common)
        self._check = check

    def value(self) -> Any:
        found = self._get()
        return None if found is ABSENT else found

    def update(self, value: Any) -> None:
        if value is None:
            self.clear()
            return
        if self._check is not None:
            self._check(value)
        self._put(value)


class _ReducingState(_Kept, ReducingState[Any]):
    def __init__(self, *common: Any, reduce: Callable[[Any, Any], Any]) -> None:
        super().__init__(*common)
        self._reduce = reduce

    def get(self) -> Any:
        found = self._get()
        return None if found is ABSENT else found

    def add(self, value: Any) -> None:
        if value is None:
            self.clear()
            return
        found = self._get()
        self._put(value if found is ABSENT else self._reduce(found, value))


class _AggregatingState(_Kept, AggregatingState[Any, Any]):
    def __init__(self, *common: Any, function: Any) -> None:
        super().__init__(*common)
        self._function = function

    def get(self) -> Any:
        found = self._get()
        return None if found is ABSENT else self._function.get_result(found)

    def add(self, value: Any) -> None:
        if value is None:
            self.clear()
            return
        found = self._get()
        accumulator = self._function.create_accumulator() if found is ABSENT else found
        self._put(self._function.add(value, accumulator))


class _Elements(Iterator[Any]):
    """What a list has, which may be read again as in PyFlink's process mode.

    It is an iterator, too, as in PyFlink's thread mode.
    """

    def __init__(self, values: list[Any]) -> None:
        self._values = values
        self._iterator: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __next__(self) -> Any:
        if self._iterator is None:
            self._iterator = iter(self._values)
        return next(self._iterator)


class _ListState(_Kept, ListState[Any]):
    def __init__(self, *common: Any, check: Callable[[Any], Any] | None) -> None:
        super().__init__(*common)
        self._check = check

    def get(self) -> _Elements:
        found = self._storage.list_get(self._name)
        expiry = self._expiry
        if expiry is None:
            return _Elements(found)
        # As in Flink, expired elements stay as long as there are others.
        current = [each[0] for each in found if not expiry.is_over(each)]
        if found and (not current or expiry.on_read):
            self._storage.list_replace(self._name, list(map(expiry.stamped, current)))
        return _Elements([each[0] for each in found if expiry.is_seen(each)])

    def add(self, value: Any) -> None:
        self._storage.list_append(self._name, [self._made(value)])

    def add_all(self, values: Iterable[Any]) -> None:
        self._storage.list_append(self._name, map(self._made, values))

    def update(self, values: Iterable[Any]) -> None:
        self._storage.list_replace(self._name, list(map(self._made, values)))

    def clear(self) -> None:
        self._storage.list_replace(self._name, [])

    def __iter__(self) -> Iterator[Any]:
        return iter(self.get())

    def sweep(self) -> None:
        found, expiry = self._storage.list_get(self._name), self._expiry
        assert expiry is not None
        self._storage.list_replace(self._name, [each for each in found if not expiry.is_over(each)])

    def _made(self, value: Any) -> Any:
        if self._check is not None:
            self._check(value)
        return value if self._expiry is None else self._expiry.stamped(value)


class _MapState(_Kept, MapState[Any, Any]):
    def __init__(
        self,
        *common: Any,
        check_key: Callable[[Any], Any] | None,
        check: Callable[[Any], Any] | None,
    ) -> None:
        super().__init__(*common)
        self._check_key = check_key
        self._check = check

    def get(self, key: Any) -> Any:
        found = self._found(key)
        return None if found is ABSENT else found

    def put(self, key: Any, value: Any) -> None:
        if self._check_key is not None:
            self._check_key(key)
        if self._check is not None:
            self._check(value)
        stamped = value if self._expiry is None else self._expiry.stamped(value)
        self._storage.map_put(self._name, key, stamped)

    def put_all(self, dict_value: Mapping[Any, Any]) -> None:
        for key, value in dict_value.items():
            self.put(key, value)

    def remove(self, key: Any) -> None:
        self._storage.map_put(self._name, key, ABSENT)

    def contains(self, key: Any) -> bool:
        """Whether there is a value: entries with None do not count, as in PyFlink."""
        return self.get(key) is not None

    def items(self) -> Iterator[tuple[Any, Any]]:
        found, expiry = self._storage.map_items(self._name), self._expiry
        if expiry is None:
            return iter(found)
        self.sweep()
        if expiry.on_read:
            for key, stamped in found:
                if not expiry.is_over(stamped):
                    self._storage.map_put(self._name, key, expiry.stamped(stamped[0]))
        return iter([(key, stamped[0]) for key, stamped in found if expiry.is_seen(stamped)])

    def keys(self) -> Iterator[Any]:
        return iter([key for key, _ in self.items()])

    def values(self) -> Iterator[Any]:
        return iter([value for _, value in self.items()])

    def is_empty(self) -> bool:
        return not list(self.items())

    def clear(self) -> None:
        self._storage.map_clear(self._name)

    def __getitem__(self, key: Any) -> Any:
        return self.get(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.put(key, value)

    def __delitem__(self, key: Any) -> None:
        self.remove(key)

    def __contains__(self, key: Any) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[Any]:
        return self.keys()

    def sweep(self) -> None:
        expiry = self._expiry
        assert expiry is not None
        for key, stamped in self._storage.map_items(self._name):
            if expiry.is_over(stamped):
                self._storage.map_put(self._name, key, ABSENT)

    def _found(self, key: Any) -> Any:
        found, expiry = self._storage.map_get(self._name, key), self._expiry
        if expiry is None or found is ABSENT:
            return found
        if expiry.is_over(found):
            self._storage.map_put(self._name, key, ABSENT)
        elif expiry.on_read:
            self._storage.map_put(self._name, key, expiry.stamped(found[0]))
        return found[0] if expiry.is_seen(found) else ABSENT


class _ReadOnlyMap(ReadOnlyBroadcastState[Any, Any]):
    def __init__(self, state: Any) -> None:
        self._state = state

    def get(self, key: Any) -> Any:
        return self._state.get(key)

    def contains(self, key: Any) -> bool:
        return bool(self._state.contains(key))

    def items(self) -> Iterable[tuple[Any, Any]]:
        return self._state.items()  # type: ignore[no-any-return]

    def keys(self) -> Iterable[Any]:
        return self._state.keys()  # type: ignore[no-any-return]

    def values(self) -> Iterable[Any]:
        return self._state.values()  # type: ignore[no-any-return]

    def is_empty(self) -> bool:
        return bool(self._state.is_empty())

    def clear(self) -> NoReturn:
        self._refuse()

    def _refuse(self, *_: Any) -> NoReturn:
        raise TypeError(
            "broadcast state can be written in process_broadcast_element() alone, which is called "
            "in all subtasks"
        )

    put = put_all = remove = __setitem__ = __delitem__ = _refuse


def read_only(state: Any) -> ReadOnlyBroadcastState[Any, Any]:
    """Return broadcast state as a function has it that may only read it."""
    return _ReadOnlyMap(state)


class StateFactory:
    """Makes the states of an operator.

    Parameters
    ----------
    storage : Storage
    clock : callable
        Returns the processing time, which times to live are of.
    sweep : callable
        Has a state's expired values of the current key removed at a time: takes the name of the
        state in the storage, and milliseconds since the epoch.
    declared : callable
        Takes each descriptor before its state is used.
    """

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        sweep: Callable[[bytes, int], None],
        declared: Callable[[StateDescriptor], None],
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._sweep = sweep
        self._declared = declared
        self._known: dict[bytes, tuple[_Kept, StateDescriptor]] = {}
        # By the name without a namespace.
        self._descriptors: dict[bytes, StateDescriptor] = {}

    def state(self, descriptor: StateDescriptor, namespace: bytes = b"") -> State:
        """Return the state of a descriptor, the same one each time.

        Raises
        ------
        ValueError
            If there is one of that name and of another kind or type.
        """
        name = state_name(descriptor.get_name(), namespace)
        if namespace and len(self._known) >= _KEPT:
            self._forget_namespaces()
        known = self._known.get(name)
        if known is None:
            self._declared(descriptor)
            self._descriptors[state_name(descriptor.get_name())] = descriptor
            known = self._known[name] = (self._made(descriptor, name), descriptor)
        elif not _agree(known[1], descriptor):
            raise ValueError(
                f"state '{descriptor.get_name()}' is declared twice, with different types: "
                f"{_described(known[1])} and {_described(descriptor)}"
            )
        return known[0]

    def _forget_namespaces(self) -> None:
        """Forget the objects of namespaces, such as windows, of which there are always new ones."""
        self._known = {n: known for n, known in self._known.items() if n in self._descriptors}

    def sweep(self, name: bytes) -> bool:
        """Remove what has expired of a state; return whether it has been declared."""
        descriptor = self._descriptors.get(name[: name.index(b"\0") + 1])
        if descriptor is None:
            return False
        known = self._known.get(name)
        # That of a window which is over may have been forgotten.
        state = self._made(descriptor, name) if known is None else known[0]
        state.sweep()
        return True

    def _made(self, descriptor: StateDescriptor, name: bytes) -> _Kept:
        config = descriptor._ttl_config
        expiry = None
        if config is not None and config.is_enabled():
            expiry = Expiry(config, self._clock, lambda at: self._sweep(name, at))
        common = (self._storage, name, expiry)
        if isinstance(descriptor, ValueStateDescriptor):
            return _ValueState(*common, check=coercion(descriptor.type_info))
        if isinstance(descriptor, ListStateDescriptor):
            return _ListState(*common, check=coercion(_element(descriptor.type_info)))
        if isinstance(descriptor, MapStateDescriptor):
            keys, values = _entry(descriptor.type_info)
            return _MapState(*common, check_key=coercion(keys), check=coercion(values))
        if isinstance(descriptor, ReducingStateDescriptor):
            return _ReducingState(*common, reduce=descriptor.get_reduce_function().reduce)
        if isinstance(descriptor, AggregatingStateDescriptor):
            return _AggregatingState(*common, function=descriptor.get_agg_function())
        raise TypeError(f"expected a state descriptor, got {type(descriptor).__name__}")


def _element(list_type: Any) -> Any:
    return getattr(list_type, "elem_type", None)


def _entry(map_type: Any) -> tuple[Any, Any]:
    return getattr(map_type, "_key_type_info", None), getattr(map_type, "_value_type_info", None)


def _agree(one: StateDescriptor, other: StateDescriptor) -> bool:
    return type(one) is type(other) and one.type_info == other.type_info


def _described(descriptor: StateDescriptor) -> str:
    return f"{type(descriptor).__name__}({descriptor.type_info})"
