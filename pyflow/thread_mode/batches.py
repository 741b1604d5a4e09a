"""Loads functions over Arrow batches for one task, and runs them as PySpark's worker does.

PySpark's own code turns functions over Arrow data into one over an iterator of batches. Here that
iterator pulls batches from the JVM, and the JVM pulls batches from what the function returns:
nothing is read ahead, and nothing is copied on the way. Functions that only consume rows get an
iterator of rows instead, decoded as many at a time as the JVM hands out.
"""

from __future__ import annotations

import contextvars
import io
import json
from base64 import b64decode
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import Row

from pyflow.thread_mode import current_task, pyspark_worker
from pyflow.thread_mode.errors import ErrorOptions, FormattedError, format_as_it_is
from pyflow.thread_mode.pyspark_worker import Run
from pyflow.thread_mode.task_start import begin_task, log_for_session
from pyflow.thread_mode.types import PICKLE_EXCHANGE, describe

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Batches", "load"]

#: Has the JVM lend its next input in an ``ArrowArray``, and returns what a function makes of the
#: array at this address; an int if there is none.
Pull = Callable[[Callable[[int], Any]], Any]

# What stands in place of a number of rows: in native/src/evaluation/batches.h and in
# io.pyflow.bridge.BatchSource, too.
_END = -1
_END_OF_GROUP = -2

#: Of a type descriptor, an exchange and whether binary values are bytes.
RowCodec = Callable[[Any, int, bool], tuple[Callable[..., Any], ...]]


class Batches:
    """The Python side of the native ``pyflow::Batches``.

    Parameters
    ----------
    task : CurrentTask
        The task that the functions run for.
    output : iterator of pyarrow.RecordBatch
        What the functions make of their input.
    """

    def __init__(
        self,
        task: current_task.CurrentTask,
        output: Iterator[pa.RecordBatch],
    ) -> None:
        self._task = task
        self._output = output
        self._schema: pa.Schema | None = None
        self._messages: _Messages | None = None

    @property
    def context_variables(self) -> contextvars.Context:
        """What the bridge enters around each call."""
        return self._task.context_variables

    def enter(self) -> None:
        """Make the task the current thread's."""
        current_task.enter(self._task)

    def next(self, address: int) -> int:
        """Export the next batch to the ``ArrowArray`` at an address.

        Batches of types that Spark has are exported as they are. Those of any other go as IPC
        messages, as from a worker, so that it is Spark that reads or refuses them.

        Returns
        -------
        int
            Its number of rows; `_END` after the last batch.
        """
        batch = next(self._output, None)
        if batch is None:
            return _END
        if self._schema is None:
            self._begin(batch.schema)
        elif not batch.schema.equals(self._schema):
            _refuse_other_schema(batch, self._schema)
        if self._messages is None:
            batch.validate()  # the structure of the C data interface has no sizes
            _without_offsets(batch)._export_to_c(address)
        else:
            self._messages.of(batch)._export_to_c(address)
        rows: int = batch.num_rows
        return rows

    def _begin(self, schema: pa.Schema) -> None:
        spark_has = _spark_types()
        if not all(spark_has(field.type) for field in schema):
            self._messages = _Messages(schema)
        self._schema = schema

    def schema(self) -> bytes:
        """The schema of the batches, as an encapsulated IPC message.

        Empty if the batches are themselves such messages, of which the first is the schema.
        """
        assert self._schema is not None
        if self._messages is not None:
            return b""
        message: bytes = self._schema.serialize().to_pybytes()
        return message

    def accumulator_updates(self) -> list[bytes]:
        """End the functions of a task that succeeds, report their metrics, return the updates."""
        return self._task.succeed()

    def close(self) -> None:
        """End the functions, also in the middle of a batch, and release all batches."""
        output, self._output = self._output, iter(())
        close = getattr(output, "close", None)
        try:
            if close is not None:
                close()
        finally:
            self._task.end()


def load(
    specification: bytes,
    pull: Pull,
    call_jvm: Callable[[int, bytes], bytes | None] | None,
    row_codec: RowCodec,
) -> tuple[Batches, ErrorOptions]:
    """Load the functions that the JVM describes.

    Parameters
    ----------
    specification : bytes
        JSON: what :func:`~pyflow.thread_mode.task_start.begin_task` and
        :class:`~pyflow.thread_mode.errors.ErrorOptions` need; ``eval_type``; ``input`` ("batches",
        "groups", "cogroups" or "rows"); ``functions`` (``name``; ``commands`` in base64, innermost
        first); ``split_index``. Of functions over rows also ``input_schema`` (JSON) and
        ``binary_as_bytes``; of the others ``schemas`` (IPC messages in base64, one per input),
        of each function ``args``, ``kwargs``, ``result_id`` and ``table_function`` (see
        :func:`~pyflow.thread_mode.pyspark_worker.row_table_function`), ``runner_conf`` and
        ``eval_conf``, which has ``grouping_key_schema``, ``batch_timestamp`` and ``watermark`` for
        processors that keep state, ``group_chunk_schema`` for functions of groups with a state.
    pull : callable
        Of a function: its result for the address of an ``ArrowArray``, which holds the next input
        until the function returns unless it has moved it; `_END_OF_GROUP` or `_END`.
    call_jvm : callable or None
        As :func:`~pyflow.thread_mode.program.load` has it; what keeps state needs it.
    row_codec : callable
        As native/src/evaluation/row_codec.h has it.
    """
    spec = json.loads(specification)
    with begin_task(spec) as task:
        task.call_jvm = call_jvm
        return task.context_variables.run(_load_for, task, spec, pull, call_jvm, row_codec)


def _load_for(
    task: current_task.CurrentTask,
    spec: dict[str, Any],
    pull: Pull,
    call_jvm: Callable[[int, bytes], bytes | None] | None,
    row_codec: RowCodec,
) -> tuple[Batches, ErrorOptions]:
    options = ErrorOptions.of(spec)
    pull = partial(current_task.call_out, task, pull)
    if spec["input"] == "rows":
        run = _consumer(spec, options)
        schema = describe(pyspark_worker.data_type_of(spec["input_schema"]))
        read, _, _ = row_codec(schema, PICKLE_EXCHANGE, spec["binary_as_bytes"])
        source = _rows(pull, read)
    else:
        state = None
        if "grouping_key_schema" in spec["eval_conf"]:
            from pyflow.thread_mode import stateful

            assert call_jvm is not None
            state = stateful.client(spec["eval_conf"], spec["binary_as_bytes"], call_jvm, row_codec)
        if pyspark_worker.is_profiled(spec["runner_conf"]):
            from pyflow.thread_mode import profiling

            profiling.install()
        run = pyspark_worker.batch_function(
            spec["functions"], spec["eval_type"], spec["runner_conf"], spec["eval_conf"], state
        )
        source = _INPUTS[spec["input"]](_Input(pull, _schemas(spec)))
        if "group_chunk_schema" in spec["eval_conf"]:
            from pyflow.thread_mode import group_states

            assert call_jvm is not None
            schema = spec["eval_conf"]["group_chunk_schema"]
            # A map keeps no batch, which may be lent again.
            source = map(group_states.adder(schema, call_jvm, row_codec), source)
    task.start()
    log_for_session(task, spec)
    return Batches(task, iter(run(spec["split_index"], source))), options


def _consumer(spec: dict[str, Any], options: ErrorOptions) -> Run:
    """A function that returns nothing, called when the first output is asked for."""
    function, *_ = pyspark_worker.load_command(spec["functions"][0]["commands"][0])

    def run(split_index: int, rows: Iterator[Any]) -> Iterator[Any]:
        try:
            yield from function(split_index, rows)
        except StopIteration as error:  # which would only end the generator that this is
            raise FormattedError(format_as_it_is(error, options)) from None

    return run


def _schemas(spec: dict[str, Any]) -> list[pa.Schema]:
    import pyarrow as pa

    return [pa.ipc.read_schema(pa.py_buffer(b64decode(each))) for each in spec["schemas"]]


def _rows(pull: Pull, read: Callable[[int], list[Row]]) -> Iterator[Row]:
    while (rows := pull(read)) != _END:
        yield from rows


class _Input:
    """The batches that the JVM hands out, group by group."""

    def __init__(self, pull: Pull, schemas: list[pa.Schema]) -> None:
        import pyarrow as pa

        self._pull = pull
        self._imports = [partial(pa.RecordBatch._import_from_c, schema=each) for each in schemas]
        self.ended = False

    def part(self, schema: int) -> Iterator[pa.RecordBatch]:
        """The batches up to the end of a group or of the input."""
        while not self.ended:
            batch = self._pull(self._imports[schema])
            if not isinstance(batch, int):
                yield batch
                del batch  # which may be lent again
            elif batch == _END_OF_GROUP:
                return
            else:
                self.ended = True


def _batches(source: _Input) -> Iterator[pa.RecordBatch]:
    return source.part(0)


def _groups(source: _Input) -> Iterator[Iterator[pa.RecordBatch]]:
    while True:
        group = source.part(0)
        first = next(group, None)
        if first is None:
            return
        yield _rest(first, group)
        # What the function has left of the group.
        for _ in group:
            pass


def _rest(first: pa.RecordBatch, others: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    del first
    yield from others


def _cogroups(
    source: _Input,
) -> Iterator[tuple[list[pa.RecordBatch], list[pa.RecordBatch]]]:
    while True:
        left = list(source.part(0))
        if source.ended:
            return
        yield left, list(source.part(1))


_INPUTS: dict[str, Callable[[_Input], Iterator[Any]]] = {
    "batches": _batches,
    "groups": _groups,
    "cogroups": _cogroups,
}


class _Messages:
    """Writes batches to an IPC stream, each as an array of the bytes that it adds.

    Parameters
    ----------
    schema : pyarrow.Schema
    """

    def __init__(self, schema: pa.Schema) -> None:
        import pyarrow as pa

        self._written = io.BytesIO()
        self._writer = pa.ipc.new_stream(self._written, schema)

    def of(self, batch: pa.RecordBatch) -> pa.Array:
        """The messages of the next batch: the schema before the first, and its dictionaries."""
        import pyarrow as pa

        self._writer.write_batch(batch)
        written = pa.py_buffer(self._written.getvalue())
        self._written.seek(0)
        self._written.truncate()
        return pa.Array.from_buffers(pa.uint8(), written.size, [None, written])


def _spark_types() -> Callable[[pa.DataType], bool]:
    """Whether ``ArrowUtils`` makes an Arrow type for one of Spark's: a predicate."""
    import pyarrow as pa

    plain = [
        *(pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64()),
        *(pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.null()),
        *(pa.date32(), pa.time64("ns"), pa.duration("us"), pa.month_day_nano_interval()),
    ]
    by_id = {each.id: each for each in plain}

    def has(data_type: pa.DataType) -> bool:
        if pa.types.is_timestamp(data_type):
            return bool(data_type.unit == "us")
        if pa.types.is_struct(data_type) or pa.types.is_list(data_type):
            return all(has(data_type.field(i).type) for i in range(data_type.num_fields))
        if pa.types.is_map(data_type):
            return has(data_type.key_type) and has(data_type.item_type)
        if pa.types.is_decimal128(data_type):
            return True
        return data_type.id in by_id and bool(data_type == by_id[data_type.id])

    return has


def _refuse_other_schema(batch: pa.RecordBatch, schema: pa.Schema) -> None:
    """Raise what a worker raises when it writes batches of different schemas to one stream."""
    import pyarrow as pa

    with pa.ipc.new_stream(pa.BufferOutputStream(), schema) as writer:
        writer.write_batch(batch)


def _without_offsets(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with arrays that begin where their buffers do; copies those that are slices."""
    import pyarrow as pa

    columns = batch.columns
    if not any(_is_slice(column) for column in columns):
        return batch
    whole = [
        pa.concat_arrays([column[:0], column]) if _is_slice(column) else column
        for column in columns
    ]
    return pa.RecordBatch.from_arrays(whole, schema=batch.schema)


def _is_slice(array: pa.Array) -> bool:
    import pyarrow as pa

    if array.offset != 0:
        return True
    if isinstance(array, pa.StructArray):
        return any(_is_slice(array.field(i)) for i in range(array.type.num_fields))
    if isinstance(array, pa.ListArray):  # maps are, too
        return _is_slice(array.values)
    return False
