"""State of keys: what functions do with it, and how they describe it.

A function asks its runtime context for state, by a descriptor, mostly in ``open()``. What it gets
stands for the state of whatever key the current element has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pyflow.common.time import Duration, Time, milliseconds_of
from pyflow.common.typeinfo import TypeInformation, Types

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyflow.datastream.functions import AggregateFunction, ReduceFunction

__all__ = [
    "AggregatingState",
    "AggregatingStateDescriptor",
    "BroadcastState",
    "ListState",
    "ListStateDescriptor",
    "MapState",
    "MapStateDescriptor",
    "OperatorStateStore",
    "ReadOnlyBroadcastState",
    "ReducingState",
    "ReducingStateDescriptor",
    "StateTtlConfig",
    "ValueState",
    "ValueStateDescriptor",
]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
IN = TypeVar("IN")
OUT = TypeVar("OUT")


class OperatorStateStore(ABC):
    """Gives state that belongs to an operator rather than to a key."""

    @abstractmethod
    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
        """Return the broadcast state that is described so."""


class State(ABC):
    """State of the current key."""

    @abstractmethod
    def clear(self) -> None:
        """Remove the state of the current key."""


class ValueState(State, Generic[T]):
    """A value."""

    @abstractmethod
    def value(self) -> T:
        """Return the value; None if there is none."""

    @abstractmethod
    def update(self, value: T) -> None:
        """Set the value; None removes it."""


class AppendingState(State, Generic[IN, OUT]):
    """State that elements are added to."""

    @abstractmethod
    def get(self) -> OUT:
        """Return what the elements make; without any None, or an empty list."""

    @abstractmethod
    def add(self, value: IN) -> None:
        """Add an element."""


class MergingState(AppendingState[IN, OUT]):
    """State that elements are added to, of which two can be made one, as windows are."""


class ReducingState(MergingState[T, T]):
    """A value that each element is combined with, by a `ReduceFunction`."""


class AggregatingState(MergingState[IN, OUT]):
    """An accumulator that each element is added to, by an `AggregateFunction`.

    `get` returns the function's result for the accumulator.
    """


class ListState(MergingState[T, Iterable[T]]):
    """A list."""

    @abstractmethod
    def update(self, values: list[T]) -> None:
        """Set all elements."""

    @abstractmethod
    def add_all(self, values: list[T]) -> None:
        """Add elements at the end."""

    def __iter__(self) -> Iterator[T]:
        return iter(self.get())


class _MapView(State, Generic[K, V]):
    """What all maps can be asked for."""

    @abstractmethod
    def get(self, key: K) -> V:
        """Return the value of a key; None if there is none."""

    @abstractmethod
    def contains(self, key: K) -> bool:
        """Return whether the key has a value."""

    @abstractmethod
    def items(self) -> Iterable[tuple[K, V]]:
        """Return all keys with their values."""

    @abstractmethod
    def keys(self) -> Iterable[K]:
        """Return all keys."""

    @abstractmethod
    def values(self) -> Iterable[V]:
        """Return the values of all keys."""

    @abstractmethod
    def is_empty(self) -> bool:
        """Return whether there is no key."""

    def __getitem__(self, key: K) -> V:
        return self.get(key)

    def __contains__(self, key: K) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self.keys())


class _MutableMap(_MapView[K, V]):
    """What maps can be told that may be changed."""

    @abstractmethod
    def put(self, key: K, value: V) -> None:
        """Set the value of a key."""

    @abstractmethod
    def put_all(self, dict_value: Mapping[K, V]) -> None:
        """Set the values of all keys of a dict."""

    @abstractmethod
    def remove(self, key: K) -> None:
        """Remove a key, if it is there."""

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        self.remove(key)


class MapState(_MutableMap[K, V]):
    """A map."""


class ReadOnlyBroadcastState(_MapView[K, V]):
    """A map that all subtasks have, for reading.

    Values must not be changed in place.
    """


class BroadcastState(_MutableMap[K, V], ReadOnlyBroadcastState[K, V]):
    """A map that all subtasks have.

    Each subtask gets all elements of the broadcast stream; a function has to do the same with them
    in each subtask.
    """


class StateDescriptor(ABC):  # noqa: B024
    """The name and type of state.

    Parameters
    ----------
    name : str
        Its name, which no other state of the operator may have.
    type_info : TypeInformation
        The type of its values.

    Raises
    ------
    TypeError
        If the type is no `TypeInformation`.
    """

    def __init__(self, name: str, type_info: TypeInformation) -> None:
        self.name = name
        self.type_info = _checked(name, type_info)
        self._ttl_config: StateTtlConfig | None = None

    def get_name(self) -> str:
        """Return the name of the state."""
        return self.name

    def enable_time_to_live(self, ttl_config: StateTtlConfig) -> None:
        """Let values expire that have not been used for some time."""
        self._ttl_config = ttl_config


def _checked(name: str, type_info: Any) -> TypeInformation:
    if not isinstance(type_info, TypeInformation):
        raise TypeError(
            f"the type of state {name!r} must be a TypeInformation, as Types.STRING(), not "
            f"{type_info!r}"
        )
    return type_info


class ValueStateDescriptor(StateDescriptor):
    """The name and type of a value.

    Parameters
    ----------
    name : str
    value_type_info : TypeInformation
    """

    def __init__(self, name: str, value_type_info: TypeInformation) -> None:
        super().__init__(name, value_type_info)


class ListStateDescriptor(StateDescriptor):
    """The name and type of a list.

    Parameters
    ----------
    name : str
    elem_type_info : TypeInformation
        The type of its elements.
    """

    def __init__(self, name: str, elem_type_info: TypeInformation) -> None:
        super().__init__(name, Types.LIST(_checked(name, elem_type_info)))


class MapStateDescriptor(StateDescriptor):
    """The name and type of a map.

    Parameters
    ----------
    name : str
    key_type_info : TypeInformation
    value_type_info : TypeInformation
    """

    def __init__(
        self, name: str, key_type_info: TypeInformation, value_type_info: TypeInformation
    ) -> None:
        super().__init__(
            name, Types.MAP(_checked(name, key_type_info), _checked(name, value_type_info))
        )


class ReducingStateDescriptor(StateDescriptor):
    """The name and type of a value that elements are combined to.

    Parameters
    ----------
    name : str
    reduce_function : ReduceFunction or callable
        Combines two elements.
    type_info : TypeInformation
        The type of elements and value.

    Raises
    ------
    TypeError
        If the function is neither.
    """

    def __init__(
        self,
        name: str,
        reduce_function: ReduceFunction | Callable[[Any, Any], Any],
        type_info: TypeInformation,
    ) -> None:
        super().__init__(name, type_info)
        from pyflow.datastream.functions import ReduceFunction, ReduceFunctionWrapper

        if not isinstance(reduce_function, ReduceFunction):
            if not callable(reduce_function):
                raise TypeError("The input must be a ReduceFunction or a callable function!")
            reduce_function = ReduceFunctionWrapper(reduce_function)
        self._reduce_function = reduce_function

    def get_reduce_function(self) -> ReduceFunction:
        """Return the function; of a callable, one that calls it."""
        return self._reduce_function


class AggregatingStateDescriptor(StateDescriptor):
    """The name and type of an accumulator that elements are added to.

    Parameters
    ----------
    name : str
    agg_function : AggregateFunction
    state_type_info : TypeInformation
        The type of the accumulator.

    Raises
    ------
    TypeError
        If the function is no `AggregateFunction`.
    """

    def __init__(
        self, name: str, agg_function: AggregateFunction, state_type_info: TypeInformation
    ) -> None:
        super().__init__(name, state_type_info)
        from pyflow.datastream.functions import AggregateFunction

        if not isinstance(agg_function, AggregateFunction):
            raise TypeError("The input must be a pyflow.datastream.functions.AggregateFunction!")
        self._agg_function = agg_function

    def get_agg_function(self) -> AggregateFunction:
        """Return the function."""
        return self._agg_function


class StateTtlConfig:
    """When values of state expire that are not used. Made by `new_builder`.

    A value of a list or map expires alone.

    Parameters
    ----------
    update_type : StateTtlConfig.UpdateType
    state_visibility : StateTtlConfig.StateVisibility
    ttl_time_characteristic : StateTtlConfig.TtlTimeCharacteristic
    ttl : Time or Duration
        How long values are kept, to the millisecond.
    cleanup_strategies : StateTtlConfig.CleanupStrategies

    Raises
    ------
    ValueError
        If they are kept for no time.
    """

    class UpdateType(Enum):
        """What begins a value's time anew."""

        #: Nothing: values do not expire.
        Disabled = 0
        #: Setting the value.
        OnCreateAndWrite = 1
        #: Setting the value, and reading it.
        OnReadAndWrite = 2

    class StateVisibility(Enum):
        """Whether a value that has expired is still read."""

        #: Until it has been removed.
        ReturnExpiredIfNotCleanedUp = 0
        #: Never.
        NeverReturnExpired = 1

    class TtlTimeCharacteristic(Enum):
        """By which time values expire."""

        #: The clock of the machine.
        ProcessingTime = 0

    def __init__(
        self,
        update_type: UpdateType,
        state_visibility: StateVisibility,
        ttl_time_characteristic: TtlTimeCharacteristic,
        ttl: Time | Duration,
        cleanup_strategies: StateTtlConfig.CleanupStrategies,
    ) -> None:
        ttl = Time.milliseconds(milliseconds_of(ttl))
        if ttl.to_milliseconds() <= 0:
            raise ValueError(f"TTL is expected to be positive, but is {ttl}")
        self._update_type = update_type
        self._state_visibility = state_visibility
        self._ttl_time_characteristic = ttl_time_characteristic
        self._ttl = ttl
        self._cleanup_strategies = cleanup_strategies

    @staticmethod
    def new_builder(ttl: Time | Duration) -> StateTtlConfig.Builder:
        """Return a builder, for values that are kept so long."""
        return StateTtlConfig.Builder(ttl)

    def get_update_type(self) -> StateTtlConfig.UpdateType:
        """Return what begins a value's time anew."""
        return self._update_type

    def get_state_visibility(self) -> StateTtlConfig.StateVisibility:
        """Return whether a value that has expired is still read."""
        return self._state_visibility

    def get_ttl(self) -> Time:
        """Return how long values are kept."""
        return self._ttl

    def get_ttl_time_characteristic(self) -> StateTtlConfig.TtlTimeCharacteristic:
        """Return by which time values expire."""
        return self._ttl_time_characteristic

    def is_enabled(self) -> bool:
        """Return whether values expire."""
        return self._update_type is not StateTtlConfig.UpdateType.Disabled

    def get_cleanup_strategies(self) -> StateTtlConfig.CleanupStrategies:
        """Return how values that have expired are removed."""
        return self._cleanup_strategies

    def __repr__(self) -> str:
        return (
            f"StateTtlConfig<update_type={self._update_type}, "
            f"state_visibility={self._state_visibility}, "
            f"ttl_time_characteristic={self._ttl_time_characteristic}, ttl={self._ttl}>"
        )

    class Builder:
        """Makes a `StateTtlConfig`.

        Parameters
        ----------
        ttl : Time or Duration
            How long values are kept.
        """

        def __init__(self, ttl: Time | Duration) -> None:
            self._ttl = ttl
            self._update_type = StateTtlConfig.UpdateType.OnCreateAndWrite
            self._state_visibility = StateTtlConfig.StateVisibility.NeverReturnExpired
            self._ttl_time_characteristic = StateTtlConfig.TtlTimeCharacteristic.ProcessingTime
            self._is_cleanup_in_background = True
            self._strategies: dict[
                StateTtlConfig.CleanupStrategies.Strategies,
                StateTtlConfig.CleanupStrategies.CleanupStrategy,
            ] = {}

        def set_update_type(self, update_type: StateTtlConfig.UpdateType) -> StateTtlConfig.Builder:
            """Set what begins a value's time anew; setting it by default."""
            self._update_type = update_type
            return self

        def update_ttl_on_create_and_write(self) -> StateTtlConfig.Builder:
            """Begin a value's time anew when it is set."""
            return self.set_update_type(StateTtlConfig.UpdateType.OnCreateAndWrite)

        def update_ttl_on_read_and_write(self) -> StateTtlConfig.Builder:
            """Begin a value's time anew when it is set or read."""
            return self.set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)

        def set_state_visibility(
            self, state_visibility: StateTtlConfig.StateVisibility
        ) -> StateTtlConfig.Builder:
            """Set whether a value that has expired is still read; never by default."""
            self._state_visibility = state_visibility
            return self

        def return_expired_if_not_cleaned_up(self) -> StateTtlConfig.Builder:
            """Let a value that has expired be read until it has been removed."""
            return self.set_state_visibility(
                StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp
            )

        def never_return_expired(self) -> StateTtlConfig.Builder:
            """Let no value that has expired be read."""
            return self.set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)

        def set_ttl_time_characteristic(
            self, ttl_time_characteristic: StateTtlConfig.TtlTimeCharacteristic
        ) -> StateTtlConfig.Builder:
            """Set by which time values expire; there is processing time alone."""
            self._ttl_time_characteristic = ttl_time_characteristic
            return self

        def use_processing_time(self) -> StateTtlConfig.Builder:
            """Let values expire by the clock of the machine."""
            return self.set_ttl_time_characteristic(
                StateTtlConfig.TtlTimeCharacteristic.ProcessingTime
            )

        def cleanup_full_snapshot(self) -> StateTtlConfig.Builder:
            """Leave values that have expired out of full snapshots of Flink."""
            strategies = StateTtlConfig.CleanupStrategies
            return self._with(
                strategies.Strategies.FULL_STATE_SCAN_SNAPSHOT, strategies.EMPTY_STRATEGY
            )

        def cleanup_incrementally(
            self, cleanup_size: int, run_cleanup_for_every_record: bool
        ) -> StateTtlConfig.Builder:
            """Look for values that have expired whenever state is used.

            Parameters
            ----------
            cleanup_size : int
                At how many keys.
            run_cleanup_for_every_record : bool
                Whether to look at every element, too.
            """
            strategies = StateTtlConfig.CleanupStrategies
            return self._with(
                strategies.Strategies.INCREMENTAL_CLEANUP,
                strategies.IncrementalCleanupStrategy(cleanup_size, run_cleanup_for_every_record),
            )

        def cleanup_in_rocksdb_compact_filter(
            self,
            query_time_after_num_entries: int,
            periodic_compaction_time: Duration | None = None,
        ) -> StateTtlConfig.Builder:
            """Remove values that have expired when RocksDB compacts its files.

            Parameters
            ----------
            query_time_after_num_entries : int
                After how many entries the filter asks for the time again.
            periodic_compaction_time : Duration, optional
                The age at which a file is compacted in any case; 30 days by default.
            """
            strategies = StateTtlConfig.CleanupStrategies
            return self._with(
                strategies.Strategies.ROCKSDB_COMPACTION_FILTER,
                strategies.RocksdbCompactFilterCleanupStrategy(
                    query_time_after_num_entries, periodic_compaction_time
                ),
            )

        def _with(
            self,
            key: StateTtlConfig.CleanupStrategies.Strategies,
            strategy: StateTtlConfig.CleanupStrategies.CleanupStrategy,
        ) -> StateTtlConfig.Builder:
            self._strategies[key] = strategy
            return self

        def disable_cleanup_in_background(self) -> StateTtlConfig.Builder:
            """Switch off the strategies that are used where none is set."""
            self._is_cleanup_in_background = False
            return self

        def set_ttl(self, ttl: Time | Duration) -> StateTtlConfig.Builder:
            """Set how long values are kept."""
            self._ttl = ttl
            return self

        def build(self) -> StateTtlConfig:
            """Return the description.

            Raises
            ------
            ValueError
                If values are kept for no time.
            """
            return StateTtlConfig(
                self._update_type,
                self._state_visibility,
                self._ttl_time_characteristic,
                self._ttl,
                StateTtlConfig.CleanupStrategies(
                    dict(self._strategies), self._is_cleanup_in_background
                ),
            )

    class CleanupStrategies:
        """How values that have expired are removed, beside when they are read.

        Parameters
        ----------
        strategies : dict of StateTtlConfig.CleanupStrategies.Strategies
        is_cleanup_in_background : bool
            Whether there are default ones where none is set.
        """

        class Strategies(Enum):
            """The strategies there are."""

            FULL_STATE_SCAN_SNAPSHOT = 0
            INCREMENTAL_CLEANUP = 1
            ROCKSDB_COMPACTION_FILTER = 2

        class CleanupStrategy:
            """A strategy with its settings."""

        class EmptyCleanupStrategy(CleanupStrategy):
            """A strategy without settings."""

        class IncrementalCleanupStrategy(CleanupStrategy):
            """Look for values that have expired whenever state is used.

            Parameters
            ----------
            cleanup_size : int
            run_cleanup_for_every_record : bool
            """

            def __init__(self, cleanup_size: int, run_cleanup_for_every_record: bool) -> None:
                self._cleanup_size = cleanup_size
                self._run_cleanup_for_every_record = run_cleanup_for_every_record

            def get_cleanup_size(self) -> int:
                """Return how many keys are looked at."""
                return self._cleanup_size

            def run_cleanup_for_every_record(self) -> bool:
                """Return whether that is done for every element, too."""
                return self._run_cleanup_for_every_record

        class RocksdbCompactFilterCleanupStrategy(CleanupStrategy):
            """Remove values that have expired when RocksDB compacts its files.

            Parameters
            ----------
            query_time_after_num_entries : int
            periodic_compaction_time : Duration, optional
            """

            def __init__(
                self,
                query_time_after_num_entries: int,
                periodic_compaction_time: Duration | None = None,
            ) -> None:
                self._query_time_after_num_entries = query_time_after_num_entries
                self._periodic_compaction_time = periodic_compaction_time or Duration.of_days(30)

            def get_query_time_after_num_entries(self) -> int:
                """Return after how many entries the time is asked for."""
                return self._query_time_after_num_entries

            def get_periodic_compaction_time(self) -> Duration:
                """Return the age at which a file is compacted in any case."""
                return self._periodic_compaction_time

        EMPTY_STRATEGY = EmptyCleanupStrategy()

        def __init__(
            self,
            strategies: dict[Strategies, CleanupStrategy],
            is_cleanup_in_background: bool,
        ) -> None:
            self._strategies = strategies
            self._is_cleanup_in_background = is_cleanup_in_background

        def is_cleanup_in_background(self) -> bool:
            """Return whether there are default strategies where none is set."""
            return self._is_cleanup_in_background

        def in_full_snapshot(self) -> bool:
            """Return whether full snapshots are without values that have expired."""
            return self.Strategies.FULL_STATE_SCAN_SNAPSHOT in self._strategies

        def get_incremental_cleanup_strategy(
            self,
        ) -> StateTtlConfig.CleanupStrategies.IncrementalCleanupStrategy | None:
            """Return the strategy of looking at some keys; None if there is none."""
            found: Any = self._strategies.get(self.Strategies.INCREMENTAL_CLEANUP)
            if found is None and self._is_cleanup_in_background:
                return self.IncrementalCleanupStrategy(5, False)
            return found  # type: ignore[no-any-return]

        def get_rocksdb_compact_filter_cleanup_strategy(
            self,
        ) -> StateTtlConfig.CleanupStrategies.RocksdbCompactFilterCleanupStrategy | None:
            """Return the strategy of RocksDB's compaction; None if there is none."""
            found: Any = self._strategies.get(self.Strategies.ROCKSDB_COMPACTION_FILTER)
            if found is None and self._is_cleanup_in_background:
                return self.RocksdbCompactFilterCleanupStrategy(1000)
            return found  # type: ignore[no-any-return]
