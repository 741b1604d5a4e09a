"""Runs processors that keep state: the classes that users give to ``transformWithState``.

Spark's operator calls a processor for a group of rows, for a row of the initial state or for a
timer. State lies in Spark's store; each access is a call of the JVM with a row in Spark's binary
format, the one that is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pyspark.sql.types import ArrayType, DataType, MapType, Row, StructType

from pyflow.thread_mode import current_task, pyspark_worker
from pyflow.thread_mode.arrow_values import from_arrow, naive_as_utc
from pyflow.thread_mode.state_access import (
    CHUNK_HEADER,
    LONG,
    Request,
    State,
    schema_of,
)
from pyflow.thread_mode.state_variables import Handle, Keys
from pyflow.thread_mode.types import ARROW_EXCHANGE, describe

__all__ = ["client", "load"]

_Decode = Callable[[bytes], list[Row]]


class Operation:
    """What a processor is called for: numbers of StatefulFunction.scala."""

    INIT = 0
    ROWS = 1
    INITIAL_STATE = 2
    TIMER = 3
    CLOSE = 4
    ROWS_OF_KEYS = 5


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
    state = State(call_jvm, row_codec, binary_as_bytes)
    running = _Processor(
        processor,
        Handle(state, Keys(state, schema_of(stateful["key_schema"]))),
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
        State(call_jvm, row_codec, binary_as_bytes),
        schema_of(eval_conf["grouping_key_schema"]),
        (int(eval_conf["batch_timestamp"]), int(eval_conf["watermark"])),
    )


class _Client:
    """In place of PySpark's ``StatefulProcessorApiClient``, as far as its worker code needs it.

    Parameters
    ----------
    state : State
    key_schema : StructType
    timestamps : tuple
        Of the batch and of the watermark.
    """

    def __init__(self, state: State, key_schema: StructType, timestamps: tuple[int, int]) -> None:
        self._keys = Keys(state, key_schema)
        self.handle = Handle(state, self._keys)
        self.handle_state = pyspark_worker.state_of_new_handle()
        self._state = state
        self._timestamps = timestamps

    def set_handle_state(self, state: Any) -> None:
        """Say how far the processor is."""
        self._state.request(Request.SET_STATE, state.name.encode(), "Error setting handle state")
        self.handle_state = state

    def set_implicit_key(self, key: tuple[Any, ...]) -> None:
        """Say which key requests are for."""
        self._keys.set_implicit_key(key)

    def remove_implicit_key(self) -> None:
        """Say that requests are for no key."""
        self._state.request(Request.UNSET_KEY, b"", "Error removing implicit key")

    def get_timestamps(self, time_mode: str) -> tuple[int, int]:
        """Of the batch and of the watermark."""
        return (-1, -1) if time_mode.lower() == "none" else self._timestamps

    def delete_timer(self, expiry: int) -> None:
        """Delete a timer of the key."""
        self.handle.deleteTimer(expiry)

    def expired_timers(self, expiry: int) -> Iterator[tuple[Row, int]]:
        """The timers of all keys that have expired by a time, each as its key and its time."""
        failure = "Error getting expired timers"
        chunk = self._state.request(Request.EXPIRED_TIMERS, LONG.pack(expiry), failure)
        while True:
            assert chunk is not None
            more, key_size = CHUNK_HEADER.unpack_from(chunk)
            middle = CHUNK_HEADER.size + key_size
            keys = self._keys.decode(chunk, CHUNK_HEADER.size, middle)
            yield from zip(keys, (time for (time,) in LONG.iter_unpack(chunk[middle:])))
            if not more:
                return
            chunk = self._state.request(Request.NEXT_TIMERS, b"", failure)


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
        key_schema = schema_of(stateful["key_schema"])
        self._convert_key = from_arrow(key_schema, zone, is_row=True)
        row_schema = schema_of(stateful["row_schema"])
        self._decode = _decoder(row_codec, row_schema)
        self._row_reader = _converting(self._decode, row_schema, zone)
        initial = stateful["initial_schema"]
        self._initial_reader = None
        if initial:
            schema = schema_of(initial)
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
            (more,) = LONG.unpack_from(bundle)
            yield from read(bundle)

    def _pull(self, argument: bytes) -> bytes | None:
        return self._call_jvm(Request.NEXT_ROWS, argument)


def _decoder(row_codec: Any, schema: StructType) -> _Decode:
    _, decode, _ = row_codec(describe(schema), ARROW_EXCHANGE, True)
    return lambda bundle: decode(bundle, LONG.size, len(bundle))


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
        self._operations = {
            Operation.INIT: self._init,
            Operation.ROWS: self._rows,
            Operation.INITIAL_STATE: self._initial,
            Operation.TIMER: self._timer,
            Operation.CLOSE: self._close,
            Operation.ROWS_OF_KEYS: self._rows_of_keys,
        }

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
