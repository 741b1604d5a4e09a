"""The state variables that a processor declares: PySpark's classes over the state in the JVM."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pyspark.sql.types import StructType

from pyflow.thread_mode import pyspark_worker
from pyflow.thread_mode.state_access import (
    CHUNK_HEADER,
    LONG,
    VARIABLE_BITS,
    Request,
    State,
    framed,
)

__all__ = ["Handle", "Keys"]

_PySparkHandle: Any
_PySparkValue: Any
_PySparkList: Any
_PySparkMap: Any
_PySparkHandle, _PySparkValue, _PySparkList, _PySparkMap = pyspark_worker.state_classes()


class Keys:
    """Sets the grouping key that requests are for."""

    def __init__(self, state: State, schema: StructType) -> None:
        self._state = state
        self._schema = schema
        _, self.decode, self._encode = state.codec(schema)

    def set_implicit_key(self, key: tuple[Any, ...]) -> None:
        """Say which key requests are for."""
        failure = "Error setting implicit key"
        self._state.request(Request.SET_KEY, self.row(key, failure), failure)

    def row(self, key: tuple[Any, ...], failure: str) -> bytes:
        """A grouping key as a row."""
        row: bytes | None = self._encode(key)
        if row is None:
            pickled = pyspark_worker.pickle_state(self._schema, key)
            row = self._state.request(Request.CONVERT_GROUPING_KEY, pickled, failure)
            assert row is not None
        return row


class _Variable:
    """A state variable: what all kinds have in common.

    Parameters
    ----------
    state : State
    number : int
        Of the variable, in the JVM.
    kind : str
        For messages.
    value_schema, key_schema : StructType
        The latter of maps.
    """

    def __init__(
        self,
        state: State,
        number: int,
        kind: str,
        value_schema: StructType,
        key_schema: StructType | None = None,
    ) -> None:
        self._state = state
        self._codes = number << VARIABLE_BITS
        self.kind = kind
        self._schemas = (value_schema, key_schema)
        _, self.decode, self._encode = state.codec(value_schema)
        if key_schema is not None:
            _, self._decode_key, self._encode_key = state.codec(key_schema)

    def request(self, operation: int, argument: bytes, failure: str) -> bytes | None:
        """Ask the JVM for something of this variable."""
        return self._state.request(self._codes | operation, argument, failure)

    def exists(self) -> bool:
        """Whether there is a value."""
        kind = "value" if self.kind == "list" else self.kind
        return self.request(Request.EXISTS, b"", f"Error checking {kind} state exists") is not None

    def clear(self) -> None:
        """Remove the values."""
        kind = "value" if self.kind == "list" else self.kind
        self.request(Request.CLEAR, b"", f"Error clearing {kind} state")

    def row(self, value: Any, failure: str) -> bytes:
        """A value as a row."""
        row: bytes | None = self._encode(value)
        return row if row is not None else self._converted(Request.CONVERT_VALUE, 0, value, failure)

    def key_row(self, key: Any, failure: str) -> bytes:
        """A key of a map as a row."""
        row: bytes | None = self._encode_key(key)
        return row if row is not None else self._converted(Request.CONVERT_KEY, 1, key, failure)

    def _converted(self, operation: int, schema: int, value: Any, failure: str) -> bytes:
        """As PySpark converts values that are not of the exact type."""
        pickled = pyspark_worker.pickle_state(self._schemas[schema], value)
        row = self.request(operation, pickled, failure)
        assert row is not None
        return row

    def framed_rows(self, values: Iterable[Any], failure: str) -> bytes:
        """Values as rows, each after its size."""
        return b"".join(framed(self.row(value, failure)) for value in values)

    def one(self, rows: bytes | None) -> Any:
        """The row that the JVM answered, if any."""
        return None if rows is None else self.decode(rows, 0, len(rows))[0]

    def iterate(self, operation: int) -> Iterator[tuple[list[Any], list[Any]]]:
        """The chunks of an iterator of the JVM: their first rows and, of entries, their second."""
        failure = f"Error getting {self.kind} state"
        chunk = self.request(operation, b"", failure)
        while True:
            assert chunk is not None
            iterator, first_size = CHUNK_HEADER.unpack_from(chunk)
            middle = CHUNK_HEADER.size + first_size
            first = (
                self._decode_key if operation in (Request.KEYS, Request.ENTRIES) else self.decode
            )
            yield first(chunk, CHUNK_HEADER.size, middle), self.decode(chunk, middle, len(chunk))
            if iterator == 0:
                return
            chunk = self._state.request(Request.NEXT, LONG.pack(iterator), failure)


class _ValueState(_PySparkValue):  # type: ignore[misc]
    def __init__(self, variable: _Variable) -> None:
        self._variable = variable

    def exists(self) -> bool:
        return self._variable.exists()

    def get(self) -> tuple[Any, ...] | None:
        row = self._variable.one(
            self._variable.request(Request.GET, b"", "Error getting value state")
        )
        return None if row is None else tuple(row)

    def update(self, newValue: Any) -> None:  # noqa: N803
        row = self._variable.row(newValue, "Error updating value state")
        self._variable.request(Request.UPDATE, row, "Error updating value state")

    def clear(self) -> None:
        self._variable.clear()


class _ListState(_PySparkList):  # type: ignore[misc]
    def __init__(self, variable: _Variable) -> None:
        self._variable = variable

    def exists(self) -> bool:
        return self._variable.exists()

    def get(self) -> Iterator[tuple[Any, ...]]:
        for rows, _ in self._variable.iterate(Request.VALUES):
            yield from map(tuple, rows)

    def put(self, newState: list[Any]) -> None:  # noqa: N803
        self._write(Request.PUT, newState)

    def appendValue(self, newState: Any) -> None:  # noqa: N802, N803
        row = self._variable.row(newState, "Error updating value state")
        self._variable.request(Request.APPEND, row, "Error updating value state")

    def appendList(self, newState: list[Any]) -> None:  # noqa: N802, N803
        self._write(Request.APPEND_ALL, newState)

    def clear(self) -> None:
        self._variable.clear()

    def _write(self, operation: int, values: Iterable[Any]) -> None:
        rows = self._variable.framed_rows(values, "Error updating value state")
        self._variable.request(operation, rows, "Error updating value state")


class _MapState(_PySparkMap):  # type: ignore[misc]
    def __init__(self, variable: _Variable, keys: Keys) -> None:
        self._variable = variable
        self._keys = keys
        # As rows, of the grouping keys whose values have been read and are going to be written.
        self._framed_keys: dict[tuple[Any, ...], bytes] = {}

    def exists(self) -> bool:
        return self._variable.exists()

    def getValue(self, key: Any) -> Any:  # noqa: N802
        failure = "Error getting value"
        return self._variable.one(self._of_key(Request.GET_OF_KEY, key, failure))

    def containsKey(self, key: Any) -> bool:  # noqa: N802
        failure = "Error checking if map state contains key"
        return self._of_key(Request.CONTAINS_KEY, key, failure) is not None

    def updateValue(self, key: Any, value: Any) -> None:  # noqa: N802
        failure = "Error updating map state value"
        entry = framed(self._variable.key_row(key, failure)) + framed(
            self._variable.row(value, failure)
        )
        self._variable.request(Request.UPDATE_OF_KEY, entry, failure)

    def values_of_keys(
        self, wanted: Sequence[tuple[tuple[Any, ...], tuple[Any, ...]]]
    ) -> list[tuple[Any, ...] | None]:
        """The values of pairs of a grouping key and a key of the map."""
        failure = "Error getting value"
        self._framed_keys = {key: self._framed_key(key, failure) for key, _ in wanted}
        distinct = {of_map for _, of_map in wanted}
        of_maps = {each: self._framed_of_map(each, failure) for each in distinct}
        pairs = [
            part for key, of_map in wanted for part in (self._framed_keys[key], of_maps[of_map])
        ]
        answer = self._variable.request(Request.GET_OF_KEYS, b"".join(pairs), failure)
        assert answer is not None
        count = len(wanted)
        found = iter(self._variable.decode(answer, count, len(answer)))
        return [next(found) if is_there else None for is_there in answer[:count]]

    def update_of_keys(
        self, entries: Iterable[tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...] | None]]
    ) -> None:
        """Set values by a grouping key and a key of the map; None removes one."""
        failure = "Error updating map state value"
        parts: list[bytes] = []
        of_maps: dict[tuple[Any, ...], bytes] = {}
        for key, of_map, value in entries:
            framed_of_map = of_maps.get(of_map)
            if framed_of_map is None:
                framed_of_map = of_maps[of_map] = self._framed_of_map(of_map, failure)
            parts += (
                self._framed_keys.get(key) or self._framed_key(key, failure),
                framed_of_map,
                framed(b"" if value is None else self._variable.row(value, failure)),
            )
        self._framed_keys = {}
        self._variable.request(Request.UPDATE_OF_KEYS, b"".join(parts), failure)

    def _framed_key(self, key: tuple[Any, ...], failure: str) -> bytes:
        return framed(self._keys.row(key, failure))

    def _framed_of_map(self, of_map: tuple[Any, ...], failure: str) -> bytes:
        return framed(self._variable.key_row(of_map, failure))

    def iterator(self) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
        for keys, values in self._variable.iterate(Request.ENTRIES):
            yield from zip(map(tuple, keys), map(tuple, values))

    def keys(self) -> Iterator[tuple[Any, ...]]:
        for keys, _ in self._variable.iterate(Request.KEYS):
            yield from map(tuple, keys)

    def values(self) -> Iterator[tuple[Any, ...]]:
        for rows, _ in self._variable.iterate(Request.VALUES):
            yield from map(tuple, rows)

    def removeKey(self, key: Any) -> None:  # noqa: N802
        self._of_key(Request.REMOVE_KEY, key, "Error removing key from map state")

    def clear(self) -> None:
        self._variable.clear()

    def _of_key(self, operation: int, key: Any, failure: str) -> bytes | None:
        return self._variable.request(operation, self._variable.key_row(key, failure), failure)


class Handle(_PySparkHandle):  # type: ignore[misc]
    """What a processor asks for its state variables and timers."""

    def __init__(self, state: State, keys: Keys) -> None:
        self._state = state
        # As PySpark's handle has its client, by which a processor may set the key itself.
        self._statefulProcessorApiClient = keys

    def getValueState(  # noqa: N802
        self,
        stateName: str,  # noqa: N803
        schema: StructType | str,
        ttlDurationMs: int | None = None,  # noqa: N803
    ) -> _ValueState:
        """Open a variable with one value per key."""
        return _ValueState(
            self._open(Request.OPEN_VALUE, "value", stateName, schema, ttlDurationMs)
        )

    def getListState(  # noqa: N802
        self,
        stateName: str,  # noqa: N803
        schema: StructType | str,
        ttlDurationMs: int | None = None,  # noqa: N803
    ) -> _ListState:
        """Open a variable with a list per key."""
        return _ListState(self._open(Request.OPEN_LIST, "list", stateName, schema, ttlDurationMs))

    def getMapState(  # noqa: N802
        self,
        stateName: str,  # noqa: N803
        userKeySchema: StructType | str,  # noqa: N803
        valueSchema: StructType | str,  # noqa: N803
        ttlDurationMs: int | None = None,  # noqa: N803
    ) -> _MapState:
        """Open a variable with a map per key."""
        keys, values = self._state.schema(userKeySchema), self._state.schema(valueSchema)
        number = self._state.open(
            Request.OPEN_MAP,
            stateName,
            ttlDurationMs,
            "Error initializing map state",
            schema=keys.json(),
            value_schema=values.json(),
        )
        return _MapState(
            _Variable(self._state, number, "map", values, keys), self._statefulProcessorApiClient
        )

    def registerTimer(self, expiryTimestampMs: int) -> None:  # noqa: N802, N803
        """Register a timer of the key, in milliseconds since the epoch."""
        self._timer(Request.REGISTER_TIMER, expiryTimestampMs, "Error register timer")

    def deleteTimer(self, expiryTimestampMs: int) -> None:  # noqa: N802, N803
        """Delete a timer of the key."""
        self._timer(Request.DELETE_TIMER, expiryTimestampMs, "Error deleting timer")

    def listTimers(self) -> Iterator[int]:  # noqa: N802
        """The timers of the key, in milliseconds since the epoch."""
        timers = self._state.request(Request.LIST_TIMERS, b"", "Error listing timers") or b""
        return (timer for (timer,) in LONG.iter_unpack(timers))

    def deleteIfExists(self, stateName: str) -> None:  # noqa: N802, N803
        """Delete a variable of all keys."""
        self._state.request(Request.DELETE_IF_EXISTS, stateName.encode(), "Error deleting state")

    def earliestTimer(self) -> int | None:  # noqa: N802
        """The earliest timer of all keys that the batch does not reach, as it has found them."""
        found = self._state.request(Request.EARLIEST_TIMER, b"", "Error looking for timers")
        return LONG.unpack(found)[0] if found else None

    def addLateRows(self, number: int) -> None:  # noqa: N802
        """Count rows that the processor has left out, as they were late."""
        self._state.request(Request.LATE_ROWS, LONG.pack(number), "Error counting late rows")

    def _timer(self, operation: int, expiry: int, failure: str) -> None:
        self._state.request(operation, LONG.pack(expiry), failure)

    def _open(
        self, operation: int, kind: str, name: str, schema: StructType | str, ttl: int | None
    ) -> _Variable:
        parsed = self._state.schema(schema)
        failure = f"Error initializing {kind} state"
        number = self._state.open(operation, name, ttl, failure, schema=parsed.json())
        return _Variable(self._state, number, kind, parsed)
