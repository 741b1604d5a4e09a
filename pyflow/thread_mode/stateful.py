"""Runs processors that keep state: the classes that users give to ``transformWithState``.

Spark's operator calls a processor for a group of rows, for a row of the initial state or for a
timer. State lies in Spark's store; each access is a call of the JVM with a row in Spark's binary
format, the one that is kept.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pyspark.errors import PySparkRuntimeError
from pyspark.sql.types import ArrayType, DataType, MapType, Row, StructType

from pyflow.thread_mode import current_task, pyspark_worker
from pyflow.thread_mode.arrow_values import from_arrow, naive_as_utc
from pyflow.thread_mode.types import describe

__all__ = ["client", "load"]

# Numbers of StateAccess.scala. What is above the lowest eight bits is the number of a variable.
_NEXT_ROWS = 0
_PARSE_SCHEMA = 1
_OPEN_VALUE = 2
_OPEN_LIST = 3
_OPEN_MAP = 4
_DELETE_IF_EXISTS = 5
_REGISTER_TIMER = 6
_DELETE_TIMER = 7
_LIST_TIMERS = 8
_NEXT = 9
_EXISTS = 10
_CLEAR = 11
_CONVERT_VALUE = 12
_CONVERT_KEY = 13
_GET = 14
_UPDATE = 15
_APPEND = 16
_APPEND_ALL = 17
_PUT = 18
_GET_OF_KEY = 19
_CONTAINS_KEY = 20
_UPDATE_OF_KEY = 21
_REMOVE_KEY = 22
_KEYS = 23
_VALUES = 24
_ENTRIES = 25

_EARLIEST_TIMER = 32
_GET_OF_KEYS = 33
_UPDATE_OF_KEYS = 34

# Numbers of KeyedState.scala.
_SET_STATE = 26
_CONVERT_GROUPING_KEY = 27
_SET_KEY = 28
_UNSET_KEY = 29
_EXPIRED_TIMERS = 30
_NEXT_TIMERS = 31

_VARIABLE_BITS = 8

# Numbers of native/src/codec/codec.h.
_PICKLE_EXCHANGE = 0
_ARROW_EXCHANGE = 1

_long = struct.Struct("<q")
_Decode = Callable[[bytes], list[Row]]
_chunk_header = struct.Struct("<qq")

_PySparkHandle: Any
_PySparkValue: Any
_PySparkList: Any
_PySparkMap: Any
_PySparkHandle, _PySparkValue, _PySparkList, _PySparkMap = pyspark_worker.state_classes()


def load(
    task: current_task.CurrentTask,
    function: dict[str, Any],
    binary_as_bytes: bool,
    call_jvm: Callable[[int, bytes], bytes | None],
    row_codec: Any,
) -> tuple[Callable[..., Any], DataType]:
    """Load a processor.

    Parameters
    ----------
    task : CurrentTask
    function : dict
        ``commands`` (one, in base64) and ``stateful``: ``key_schema``, ``row_schema`` and
        ``initial_schema`` (JSON, the last may be null), ``watermark`` (in milliseconds, or -1),
        ``time_zone``.
    binary_as_bytes : bool
        Whether binary values of the state are bytes.
    call_jvm, row_codec : callable
        As :func:`~pyflow.thread_mode.program.load` has them.

    Returns
    -------
    tuple
        A function of a number that says what to do, the key, the processing time and the expiry
        of a timer, which returns rows or None; and its return type, an array of structs.
    """
    processor, time_mode, output_type = pyspark_worker.stateful_processor(function["commands"][0])
    stateful = function["stateful"]
    state = _State(call_jvm, row_codec, binary_as_bytes)
    running = _Processor(
        processor,
        _Handle(state, _Keys(state, _schema_of(stateful["key_schema"]))),
        _times(time_mode, stateful["watermark"]),
        _Input(task, call_jvm, row_codec, stateful),
        _results_of(output_type),
    )
    return running.call, ArrayType(output_type)


def _times(time_mode: str, watermark: int) -> Callable[[int], Any]:
    """What a processor is told of the time, by the processing time."""
    timer_values, _ = pyspark_worker.timer_classes()
    if time_mode.lower() == "none":
        return lambda _: timer_values(-1, -1)
    return lambda processing_time: timer_values(processing_time, watermark)


def client(
    eval_conf: dict[str, str],
    binary_as_bytes: bool,
    call_jvm: Callable[[int, bytes], bytes | None],
    row_codec: Any,
) -> Any:
    """What PySpark's worker code asks for state.

    Parameters
    ----------
    eval_conf : dict
        ``grouping_key_schema`` (JSON), ``batch_timestamp`` and ``watermark`` (in milliseconds, or
        -1).
    binary_as_bytes : bool
        Whether binary values of the state are bytes.
    call_jvm, row_codec : callable
        As :func:`~pyflow.thread_mode.program.load` has them.
    """
    return _Client(
        _State(call_jvm, row_codec, binary_as_bytes),
        _schema_of(eval_conf["grouping_key_schema"]),
        (int(eval_conf["batch_timestamp"]), int(eval_conf["watermark"])),
    )


class _Client:
    """In place of PySpark's ``StatefulProcessorApiClient``, as far as its worker code needs it.

    Parameters
    ----------
    state : _State
    key_schema : StructType
    timestamps : tuple
        Of the batch and of the watermark.
    """

    def __init__(self, state: _State, key_schema: StructType, timestamps: tuple[int, int]) -> None:
        self._keys = _Keys(state, key_schema)
        self.handle = _Handle(state, self._keys)
        self.handle_state = pyspark_worker.state_of_new_handle()
        self._state = state
        self._timestamps = timestamps

    def set_handle_state(self, state: Any) -> None:
        """Say how far the processor is."""
        self._state.request(_SET_STATE, state.name.encode(), "Error setting handle state")
        self.handle_state = state

    def set_implicit_key(self, key: tuple[Any, ...]) -> None:
        """Say which key requests are for."""
        self._keys.set_implicit_key(key)

    def remove_implicit_key(self) -> None:
        """Say that requests are for no key."""
        self._state.request(_UNSET_KEY, b"", "Error removing implicit key")

    def get_timestamps(self, time_mode: str) -> tuple[int, int]:
        """Of the batch and of the watermark."""
        return (-1, -1) if time_mode.lower() == "none" else self._timestamps

    def delete_timer(self, expiry: int) -> None:
        """Delete a timer of the key."""
        self.handle.deleteTimer(expiry)

    def expired_timers(self, expiry: int) -> Iterator[tuple[Row, int]]:
        """The timers of all keys that have expired by a time, each as its key and its time."""
        failure = "Error getting expired timers"
        chunk = self._state.request(_EXPIRED_TIMERS, _long.pack(expiry), failure)
        while True:
            assert chunk is not None
            more, key_size = _chunk_header.unpack_from(chunk)
            middle = _chunk_header.size + key_size
            keys = self._keys.decode(chunk, _chunk_header.size, middle)
            yield from zip(keys, (time for (time,) in _long.iter_unpack(chunk[middle:])))
            if not more:
                return
            chunk = self._state.request(_NEXT_TIMERS, b"", failure)


class _Keys:
    """Sets the grouping key that requests are for."""

    def __init__(self, state: _State, schema: StructType) -> None:
        self._state = state
        self._schema = schema
        _, self.decode, self._encode = state.codec(schema)

    def set_implicit_key(self, key: tuple[Any, ...]) -> None:
        """Say which key requests are for."""
        failure = "Error setting implicit key"
        self._state.request(_SET_KEY, self.row(key, failure), failure)

    def row(self, key: tuple[Any, ...], failure: str) -> bytes:
        """A grouping key as a row."""
        row: bytes | None = self._encode(key)
        if row is None:
            pickled = pyspark_worker.pickle_state(self._schema, key)
            row = self._state.request(_CONVERT_GROUPING_KEY, pickled, failure)
            assert row is not None
        return row


class _Input:
    """The rows of the group that the JVM is at, as PySpark's worker makes them of Arrow batches."""

    def __init__(
        self,
        task: current_task.CurrentTask,
        call_jvm: Callable[[int, bytes], bytes | None],
        row_codec: Any,
        stateful: dict[str, Any],
    ) -> None:
        self._task = task
        self._call_jvm = call_jvm
        self._group = 0
        zone = stateful["time_zone"]
        key_schema = _schema_of(stateful["key_schema"])
        self._convert_key = from_arrow(key_schema, zone, is_row=True)
        row_schema = _schema_of(stateful["row_schema"])
        self._decode = _decoder(row_codec, row_schema)
        self._row_reader = _converting(self._decode, row_schema, zone)
        initial = stateful["initial_schema"]
        self._initial_reader = None
        if initial:
            schema = _schema_of(initial)
            self._initial_reader = _converting(_decoder(row_codec, schema), schema, zone)

    def key(self, key: Row) -> tuple[Any, ...]:
        """The key of a group."""
        return tuple(key if self._convert_key is None else self._convert_key(key))

    def rows(self) -> Iterator[Row]:
        """The rows of the group, to be taken before the next group."""
        return self._rows(self._row_reader)

    def tuples(self) -> Iterator[tuple[Any, ...]]:
        """The rows of the group as the row codec has them."""
        return map(tuple, self._rows(self._decode))

    def initial_rows(self) -> Iterator[Row]:
        """The rows of the initial state."""
        assert self._initial_reader is not None
        return self._rows(self._initial_reader)

    def _rows(self, read: _Decode) -> Iterator[Row]:
        self._group += 1
        return self._rows_of(self._group, read)

    def _rows_of(self, group: int, read: _Decode) -> Iterator[Row]:
        more = 1
        while more and self._group == group:
            # Other functions may be called for them on this thread.
            bundle = current_task.call_out(self._task, self._pull, b"")
            assert bundle is not None
            (more,) = _long.unpack_from(bundle)
            yield from read(bundle)

    def _pull(self, argument: bytes) -> bytes | None:
        return self._call_jvm(_NEXT_ROWS, argument)


def _decoder(row_codec: Any, schema: StructType) -> _Decode:
    _, decode, _ = row_codec(describe(schema), _ARROW_EXCHANGE, True)
    return lambda bundle: decode(bundle, _long.size, len(bundle))


def _converting(decode: _Decode, schema: StructType, zone: str) -> _Decode:
    convert = from_arrow(schema, zone, is_row=True)
    return decode if convert is None else lambda bundle: list(map(convert, decode(bundle)))


class _Processor:
    """A user's processor, and what it is called with.

    Parameters
    ----------
    processor : pyspark.sql.streaming.StatefulProcessor
    handle : pyspark.sql.streaming.StatefulProcessorHandle
    times : callable
        Of the processing time; the values of pyspark.sql.streaming.TimerValues.
    source : _Input
    results : callable
        Makes tuples of the rows that the processor returns.
    """

    def __init__(
        self,
        processor: Any,
        handle: Any,
        times: Callable[[int], Any],
        source: _Input,
        results: Callable[[Iterable[Row]], list[Any]],
    ) -> None:
        self._processor = processor
        self._handle = handle
        _, self._timer_info = pyspark_worker.timer_classes()
        self._times = times
        self._source = source
        self._results = results
        # By the numbers of StatefulFunction.scala.
        self._operations = (
            self._init,
            self._rows,
            self._initial,
            self._timer,
            self._close,
            self._rows_of_keys,
        )

    def call(self, operation: int, key: Row, processing_time: int, expiry: int) -> list[Any] | None:
        """Do what the JVM asks for; the rows that come of it."""
        return self._operations[operation](key, self._times(processing_time), expiry)

    def _init(self, key: Row, times: Any, expiry: int) -> None:
        self._processor.init(self._handle)

    def _rows(self, key: Row, times: Any, expiry: int) -> list[Any]:
        source = self._source
        return self._results(self._processor.handleInputRows(source.key(key), source.rows(), times))

    def _rows_of_keys(self, key: Row, times: Any, expiry: int) -> list[Any]:
        """For processors of data streams, which get plain tuples and make them."""
        made: list[Any] = self._processor.handleRowsOfKeys(self._source.tuples(), times)
        return made

    def _initial(self, key: Row, times: Any, expiry: int) -> None:
        for row in self._source.initial_rows():
            self._processor.handleInitialState(self._source.key(key), row, times)

    def _timer(self, key: Row, times: Any, expiry: int) -> list[Any]:
        made = self._processor.handleExpiredTimer(
            key=key, timerValues=times, expiredTimerInfo=self._timer_info(expiry)
        )
        return self._results(made)

    def _close(self, key: Row, times: Any, expiry: int) -> None:
        self._processor.close()


def _results_of(output_type: StructType) -> Callable[[Iterable[Row]], list[Any]]:
    """How rows are read by their names, as PySpark does before it gives them to Arrow."""
    names = output_type.names
    known = (names, tuple(names))  # as Row(**values) and Row(*names) have them
    parts = (ArrayType, MapType, StructType)
    simple = not any(isinstance(field.dataType, parts) for field in output_type.fields)
    utc = [naive_as_utc(field.dataType) for field in output_type.fields]

    def by_name(row: Any) -> tuple[Any, ...]:
        values = row.asDict(True)
        return tuple(map(values.get, names))

    def of_row(row: Any) -> tuple[Any, ...]:
        if simple and type(row) is Row and getattr(row, "__fields__", None) in known:
            return row
        return by_name(row)

    def in_utc(row: Any) -> tuple[Any, ...]:
        values = by_name(row)
        return tuple(convert(v) if convert else v for convert, v in zip(utc, values))

    read = in_utc if any(utc) else of_row
    return lambda rows: list(map(read, rows))


class _State:
    """The state of a processor in the JVM."""

    def __init__(
        self, call_jvm: Callable[[int, bytes], bytes | None], row_codec: Any, binary_as_bytes: bool
    ) -> None:
        self._call_jvm = call_jvm
        self._row_codec = row_codec
        self._binary_as_bytes = binary_as_bytes

    def request(self, code: int, argument: bytes, failure: str) -> bytes | None:
        """Ask the JVM; `failure` begins the message if it throws."""
        try:
            return self._call_jvm(code, argument)
        except RuntimeError as error:
            raise PySparkRuntimeError(f"{failure}: {error}") from None

    def open(self, operation: int, name: str, ttl: int | None, failure: str, **schemas: str) -> int:
        """Open a variable; its number."""
        request = json.dumps({"name": name, "ttl": ttl, **schemas}).encode()
        answer = self.request(operation, request, failure)
        assert answer is not None
        number: int = _long.unpack(answer)[0]
        return number

    def codec(self, schema: StructType) -> tuple[Any, Any, Any]:
        """As native/src/evaluation/row_codec.h has it."""
        codec: tuple[Any, Any, Any] = self._row_codec(
            describe(schema), _PICKLE_EXCHANGE, self._binary_as_bytes
        )
        return codec

    def schema(self, schema: StructType | str) -> StructType:
        """A schema that may be a string."""
        if not isinstance(schema, str):
            return schema
        parsed = self.request(_PARSE_SCHEMA, schema.encode(), "Error parsing string schema")
        assert parsed is not None
        return _schema_of(parsed.decode())


class _Variable:
    """A state variable: what all kinds have in common.

    Parameters
    ----------
    state : _State
    number : int
        Of the variable, in the JVM.
    kind : str
        For messages.
    value_schema, key_schema : StructType
        The latter of maps.
    """

    def __init__(
        self,
        state: _State,
        number: int,
        kind: str,
        value_schema: StructType,
        key_schema: StructType | None = None,
    ) -> None:
        self._state = state
        self._codes = number << _VARIABLE_BITS
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
        return self.request(_EXISTS, b"", f"Error checking {kind} state exists") is not None

    def clear(self) -> None:
        """Remove the values."""
        kind = "value" if self.kind == "list" else self.kind
        self.request(_CLEAR, b"", f"Error clearing {kind} state")

    def row(self, value: Any, failure: str) -> bytes:
        """A value as a row."""
        row: bytes | None = self._encode(value)
        return row if row is not None else self._converted(_CONVERT_VALUE, 0, value, failure)

    def key_row(self, key: Any, failure: str) -> bytes:
        """A key of a map as a row."""
        row: bytes | None = self._encode_key(key)
        return row if row is not None else self._converted(_CONVERT_KEY, 1, key, failure)

    def _converted(self, operation: int, schema: int, value: Any, failure: str) -> bytes:
        """As PySpark converts values that are not of the exact type."""
        pickled = pyspark_worker.pickle_state(self._schemas[schema], value)
        row = self.request(operation, pickled, failure)
        assert row is not None
        return row

    def framed_rows(self, values: Iterable[Any], failure: str) -> bytes:
        """Values as rows, each after its size."""
        return b"".join(_framed(self.row(value, failure)) for value in values)

    def one(self, rows: bytes | None) -> Any:
        """The row that the JVM answered, if any."""
        return None if rows is None else self.decode(rows, 0, len(rows))[0]

    def iterate(self, operation: int) -> Iterator[tuple[list[Any], list[Any]]]:
        """The chunks of an iterator of the JVM: their first rows and, of entries, their second."""
        failure = f"Error getting {self.kind} state"
        chunk = self.request(operation, b"", failure)
        while True:
            assert chunk is not None
            iterator, first_size = _chunk_header.unpack_from(chunk)
            middle = _chunk_header.size + first_size
            first = self._decode_key if operation in (_KEYS, _ENTRIES) else self.decode
            yield first(chunk, _chunk_header.size, middle), self.decode(chunk, middle, len(chunk))
            if iterator == 0:
                return
            chunk = self._state.request(_NEXT, _long.pack(iterator), failure)


class _ValueState(_PySparkValue):  # type: ignore[misc]
    def __init__(self, variable: _Variable) -> None:
        self._variable = variable

    def exists(self) -> bool:
        return self._variable.exists()

    def get(self) -> tuple[Any, ...] | None:
        row = self._variable.one(self._variable.request(_GET, b"", "Error getting value state"))
        return None if row is None else tuple(row)

    def update(self, newValue: Any) -> None:  # noqa: N803
        row = self._variable.row(newValue, "Error updating value state")
        self._variable.request(_UPDATE, row, "Error updating value state")

    def clear(self) -> None:
        self._variable.clear()


class _ListState(_PySparkList):  # type: ignore[misc]
    def __init__(self, variable: _Variable) -> None:
        self._variable = variable

    def exists(self) -> bool:
        return self._variable.exists()

    def get(self) -> Iterator[tuple[Any, ...]]:
        for rows, _ in self._variable.iterate(_VALUES):
            yield from map(tuple, rows)

    def put(self, newState: list[Any]) -> None:  # noqa: N803
        self._write(_PUT, newState)

    def appendValue(self, newState: Any) -> None:  # noqa: N802, N803
        row = self._variable.row(newState, "Error updating value state")
        self._variable.request(_APPEND, row, "Error updating value state")

    def appendList(self, newState: list[Any]) -> None:  # noqa: N802, N803
        self._write(_APPEND_ALL, newState)

    def clear(self) -> None:
        self._variable.clear()

    def _write(self, operation: int, values: Iterable[Any]) -> None:
        rows = self._variable.framed_rows(values, "Error updating value state")
        self._variable.request(operation, rows, "Error updating value state")


class _MapState(_PySparkMap):  # type: ignore[misc]
    def __init__(self, variable: _Variable, keys: _Keys) -> None:
        self._variable = variable
        self._keys = keys
        # As rows, of the grouping keys whose values have been read and are going to be written.
        self._framed_keys: dict[tuple[Any, ...], bytes] = {}

    def exists(self) -> bool:
        return self._variable.exists()

    def getValue(self, key: Any) -> Any:  # noqa: N802
        failure = "Error getting value"
        return self._variable.one(self._of_key(_GET_OF_KEY, key, failure))

    def containsKey(self, key: Any) -> bool:  # noqa: N802
        failure = "Error checking if map state contains key"
        return self._of_key(_CONTAINS_KEY, key, failure) is not None

    def updateValue(self, key: Any, value: Any) -> None:  # noqa: N802
        failure = "Error updating map state value"
        entry = _framed(self._variable.key_row(key, failure)) + _framed(
            self._variable.row(value, failure)
        )
        self._variable.request(_UPDATE_OF_KEY, entry, failure)

    def values_of_keys(
        self, wanted: Sequence[tuple[tuple[Any, ...], tuple[Any, ...]]]
    ) -> list[tuple[Any, ...] | None]:
        """The values of pairs of a grouping key and a key of the map."""
        failure = "Error getting value"
        self._framed_keys = {key: self._framed_key(key, failure) for key, _ in wanted}
        pairs = [
            part
            for key, of_map in wanted
            for part in (self._framed_keys[key], _framed(self._variable.key_row(of_map, failure)))
        ]
        answer = self._variable.request(_GET_OF_KEYS, b"".join(pairs), failure)
        assert answer is not None
        count = len(wanted)
        found = iter(self._variable.decode(answer, count, len(answer)))
        return [next(found) if is_there else None for is_there in answer[:count]]

    def update_of_keys(
        self, entries: Iterable[tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...] | None]]
    ) -> None:
        """Set values by a grouping key and a key of the map; None removes one."""
        failure = "Error updating map state value"
        framed: list[bytes] = []
        for key, of_map, value in entries:
            framed += (
                self._framed_keys.get(key) or self._framed_key(key, failure),
                _framed(self._variable.key_row(of_map, failure)),
                _framed(b"" if value is None else self._variable.row(value, failure)),
            )
        self._framed_keys = {}
        self._variable.request(_UPDATE_OF_KEYS, b"".join(framed), failure)

    def _framed_key(self, key: tuple[Any, ...], failure: str) -> bytes:
        return _framed(self._keys.row(key, failure))

    def iterator(self) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
        for keys, values in self._variable.iterate(_ENTRIES):
            yield from zip(map(tuple, keys), map(tuple, values))

    def keys(self) -> Iterator[tuple[Any, ...]]:
        for keys, _ in self._variable.iterate(_KEYS):
            yield from map(tuple, keys)

    def values(self) -> Iterator[tuple[Any, ...]]:
        for rows, _ in self._variable.iterate(_VALUES):
            yield from map(tuple, rows)

    def removeKey(self, key: Any) -> None:  # noqa: N802
        self._of_key(_REMOVE_KEY, key, "Error removing key from map state")

    def clear(self) -> None:
        self._variable.clear()

    def _of_key(self, operation: int, key: Any, failure: str) -> bytes | None:
        return self._variable.request(operation, self._variable.key_row(key, failure), failure)


class _Handle(_PySparkHandle):  # type: ignore[misc]
    """What a processor asks for its state variables and timers."""

    def __init__(self, state: _State, keys: _Keys) -> None:
        self._state = state
        # As PySpark's handle has its client, by which a processor may set the key itself.
        self._statefulProcessorApiClient = keys

    def getValueState(  # noqa: N802
        self,
        stateName: str,  # noqa: N803
        schema: StructType | str,
        ttlDurationMs: int | None = None,  # noqa: N803
    ) -> _ValueState:
        return _ValueState(self._open(_OPEN_VALUE, "value", stateName, schema, ttlDurationMs))

    def getListState(  # noqa: N802
        self,
        stateName: str,  # noqa: N803
        schema: StructType | str,
        ttlDurationMs: int | None = None,  # noqa: N803
    ) -> _ListState:
        return _ListState(self._open(_OPEN_LIST, "list", stateName, schema, ttlDurationMs))

    def getMapState(  # noqa: N802
        self,
        stateName: str,  # noqa: N803
        userKeySchema: StructType | str,  # noqa: N803
        valueSchema: StructType | str,  # noqa: N803
        ttlDurationMs: int | None = None,  # noqa: N803
    ) -> _MapState:
        keys, values = self._state.schema(userKeySchema), self._state.schema(valueSchema)
        number = self._state.open(
            _OPEN_MAP,
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
        self._timer(_REGISTER_TIMER, expiryTimestampMs, "Error register timer")

    def deleteTimer(self, expiryTimestampMs: int) -> None:  # noqa: N802, N803
        self._timer(_DELETE_TIMER, expiryTimestampMs, "Error deleting timer")

    def listTimers(self) -> Iterator[int]:  # noqa: N802
        timers = self._state.request(_LIST_TIMERS, b"", "Error listing timers") or b""
        return (timer for (timer,) in _long.iter_unpack(timers))

    def deleteIfExists(self, stateName: str) -> None:  # noqa: N802, N803
        self._state.request(_DELETE_IF_EXISTS, stateName.encode(), "Error deleting state")

    def earliestTimer(self) -> int | None:  # noqa: N802
        """The earliest timer of all keys that the batch does not reach, as it has found them."""
        found = self._state.request(_EARLIEST_TIMER, b"", "Error looking for timers")
        return _long.unpack(found)[0] if found else None

    def _timer(self, operation: int, expiry: int, failure: str) -> None:
        self._state.request(operation, _long.pack(expiry), failure)

    def _open(
        self, operation: int, kind: str, name: str, schema: StructType | str, ttl: int | None
    ) -> _Variable:
        parsed = self._state.schema(schema)
        failure = f"Error initializing {kind} state"
        number = self._state.open(operation, name, ttl, failure, schema=parsed.json())
        return _Variable(self._state, number, kind, parsed)


def _framed(row: bytes) -> bytes:
    return _long.pack(len(row)) + row


def _schema_of(schema: str) -> StructType:
    parsed = pyspark_worker.data_type_of(schema)
    assert isinstance(parsed, StructType)
    return parsed
