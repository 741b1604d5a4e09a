"""How PySpark's worker is told of functions and tasks before Spark 4.3: by a stream of bytes.

Functions and settings are written as the JVM writes them to a worker's socket. The serializers
convert between Arrow and pandas there: they read and write `_Source` and `_Sink`, which have
batches in place of bytes.
"""

from __future__ import annotations

import io
import struct
import sys
from base64 import b64decode
from collections.abc import Callable, Iterator
from typing import Any

from pyspark import BarrierTaskContext, TaskContext
from pyspark.resource import ResourceInformation
from pyspark.sql.types import DataType, Row
from pyspark.util import PythonEvalType

_COGROUPS = (
    PythonEvalType.SQL_COGROUPED_MAP_PANDAS_UDF,
    PythonEvalType.SQL_COGROUPED_MAP_ARROW_UDF,
)

# Whose arguments Spark 4.1 may give names.
_WITH_NAMES = (
    PythonEvalType.SQL_BATCHED_UDF,
    PythonEvalType.SQL_ARROW_BATCHED_UDF,
    PythonEvalType.SQL_SCALAR_PANDAS_UDF,
    PythonEvalType.SQL_SCALAR_ARROW_UDF,
    PythonEvalType.SQL_GROUPED_AGG_PANDAS_UDF,
    PythonEvalType.SQL_GROUPED_AGG_ARROW_UDF,
    PythonEvalType.SQL_WINDOW_AGG_PANDAS_UDF,
    PythonEvalType.SQL_WINDOW_AGG_ARROW_UDF,
    PythonEvalType.SQL_SCALAR_PANDAS_ITER_UDF,
    PythonEvalType.SQL_SCALAR_ARROW_ITER_UDF,
)

#: The setting that Spark 4.1 writes beside the others.
_PROFILER = "spark.sql.pyspark.udf.profiler"


def batch_function(
    serializer: Any,
    functions: list[dict[str, Any]],
    eval_type: int,
    runner_conf: dict[str, str],
    eval_conf: dict[str, str],
) -> Callable[[int, Iterator[Any]], Iterator[Any]]:
    """See :func:`~pyflow.thread_mode.pyspark_worker.batch_function`."""
    _exchange_batches()
    worker = _worker()
    if functions[0]["table_function"]:
        read, sent = worker.read_udtf, _table_function(functions[0])
    else:
        profiler = runner_conf.get(_PROFILER)
        read, sent = worker.read_udfs, _functions(functions, eval_type, profiler)
    confs: tuple[Any, ...] = ()
    if _has_confs():
        confs = _confs(runner_conf, eval_conf)
    else:
        sent = _conf(runner_conf) + _evaluation(eval_type, eval_conf) + sent
    function, _, reader, writer = read(serializer, io.BytesIO(sent), eval_type, *confs)
    frames = 2 if eval_type in _COGROUPS else 1

    def run(split_index: int, items: Iterator[Any]) -> Iterator[Any]:
        sink = _Sink()
        output = function(split_index, reader.load_stream(_Source(items, frames)))
        try:
            writer.dump_stream(output, sink)
            yield from sink.batches
        finally:
            if hasattr(output, "close"):
                output.close()

    return run


def row_table_function(
    serializer: Any, function: dict[str, Any], runner_conf: dict[str, str]
) -> Callable[[int, Iterator[Any]], Iterator[Any]]:
    """See :func:`~pyflow.thread_mode.pyspark_worker.row_table_function`."""
    run: Callable[[int, Iterator[Any]], Iterator[Any]]
    run, *_ = _worker().read_udtf(
        serializer,
        io.BytesIO(_table_function(function)),
        PythonEvalType.SQL_TABLE_UDF,
        *(_confs(runner_conf, {}) if _has_confs() else ()),
    )
    return run


def values_of_state(value: Any) -> Any:
    """What PySpark's client makes of the fields of a value of state before it pickles them."""
    return tuple(map(_normalized, value)) if "numpy" in sys.modules else value


def _normalized(value: Any) -> Any:
    import numpy as np

    if isinstance(value, np.generic):
        return value.tolist()
    if isinstance(value, Row) or (isinstance(value, tuple) and hasattr(value, "_fields")):
        return type(value)(*map(_normalized, value))
    if isinstance(value, (list, tuple)):
        return type(value)(map(_normalized, value))
    if isinstance(value, dict):
        return {_normalized(key): _normalized(each) for key, each in value.items()}
    for convert in ("to_pytimedelta", "to_pydatetime"):
        if hasattr(value, convert):
            return getattr(value, convert)()
    return value


def arrow_type(data_type: DataType, large_var_types: bool) -> Any:
    """See :func:`~pyflow.thread_mode.pyspark_worker.arrow_type`."""
    from pyspark.sql.pandas import types

    convert: Any = types.to_arrow_type
    # Spark 4.1 has no other time zone.
    zone = {"timezone": "UTC"} if _has_confs() else {"timestamp_utc": True}
    return convert(data_type, prefers_large_types=large_var_types, **zone)


def converts_results_at_once() -> bool:
    """See :func:`~pyflow.thread_mode.pyspark_worker.converts_results_at_once`.

    Spark 4.1 converts those of a batch when all functions have returned.
    """
    return _has_confs()


def task_context(task: dict[str, Any]) -> TaskContext:
    """See :func:`~pyflow.thread_mode.pyspark_worker.task_context`.

    PySpark keeps the address of the barrier in the class, which tasks share here.
    """
    kind: Any = BarrierTaskContext if task["isBarrier"] else TaskContext
    context: TaskContext = object.__new__(kind)
    vars(context).update(
        _stageId=task["stageId"],
        _partitionId=task["partitionId"],
        _attemptNumber=task["attemptNumber"],
        _taskAttemptId=task["taskAttemptId"],
        _cpus=task["cpus"],
        _resources={
            name: ResourceInformation(each["name"], each["addresses"])
            for name, each in task["resources"].items()
        },
        _localProperties=task["localProperties"],
    )
    if task["isBarrier"]:
        vars(context).update(_conn_info=task["connInfo"], _secret=task["secret"])
    kind._setTaskContext(context)
    return context


def _worker() -> Any:
    from pyspark import worker

    return worker


# Batches in place of bytes


class _Source:
    """What a serializer reads: batches, groups of them, or pairs of such groups."""

    def __init__(self, items: Iterator[Any], frames: int) -> None:
        self._items = items
        self._frames = frames
        self._group: list[Any] = []

    def read(self, size: int) -> bytes:
        """How many data frames the next group has."""
        assert size == len(_int(0))
        for group in self._items:
            self._group = [group] if self._frames == 1 else list(group)
            return _int(self._frames)
        return _int(0)

    def batches(self) -> Iterator[Any]:
        """Those of the next data frame, or all where there are no groups."""
        return iter(self._group.pop(0)) if self._group else self._items


class _Sink:
    """What a serializer writes: nothing but its batches."""

    batches: Iterator[Any] = iter(())

    def write(self, data: bytes) -> int:
        """Ignore what tells that Arrow's stream begins."""
        return len(data)

    def flush(self) -> None:
        """Do nothing: there is no buffer."""


def _exchange_batches() -> None:
    """Have Arrow's serializer, which the others are made from, know sources and sinks."""
    from pyspark.sql.pandas.serializers import ArrowStreamSerializer

    serializer: Any = ArrowStreamSerializer
    load, dump = serializer.load_stream, serializer.dump_stream
    if load.__module__ == __name__:
        return

    def load_stream(self: Any, stream: Any) -> Iterator[Any]:
        return stream.batches() if isinstance(stream, _Source) else load(self, stream)

    def dump_stream(self: Any, batches: Any, stream: Any) -> None:
        if isinstance(stream, _Sink):
            stream.batches = iter(batches)
        else:
            dump(self, batches, stream)

    serializer.load_stream, serializer.dump_stream = load_stream, dump_stream


# What the JVM writes


def _int(value: int) -> bytes:
    return struct.pack("!i", value)


def _text(value: str) -> bytes:
    data = value.encode()
    return _int(len(data)) + data


def _command(command: str) -> bytes:
    data = b64decode(command)
    return _int(len(data)) + data


def _has_confs() -> bool:
    """Whether settings are objects of their own, as since Spark 4.2."""
    return hasattr(_worker(), "RunnerConf")


def _evaluation(eval_type: int, eval_conf: dict[str, str]) -> bytes:
    """What Spark 4.1 writes between settings and functions."""
    if eval_type == PythonEvalType.SQL_GROUPED_MAP_PANDAS_UDF_WITH_STATE:
        return _text(eval_conf["state_value_schema"])
    if eval_type == PythonEvalType.SQL_ARROW_UDTF:
        offsets = [int(each) for each in eval_conf["table_arg_offsets"].split(",") if each]
        return _int(len(offsets)) + b"".join(map(_int, offsets))
    if eval_type == PythonEvalType.SQL_ARROW_TABLE_UDF:
        return _text(eval_conf["input_type"])
    if "grouping_key_schema" in eval_conf:
        return _int(int(eval_conf["state_server_socket_port"])) + _text(
            eval_conf["grouping_key_schema"]
        )
    return b""


def _confs(runner_conf: dict[str, str], eval_conf: dict[str, str]) -> tuple[Any, Any]:
    worker = _worker()
    runner, evaluation = io.BytesIO(_conf(runner_conf)), io.BytesIO(_conf(eval_conf))
    return worker.RunnerConf(runner), worker.EvalConf(evaluation)


def _conf(settings: dict[str, str]) -> bytes:
    pairs = (_text(key) + _text(value) for key, value in settings.items())
    return _int(len(settings)) + b"".join(pairs)


def _arguments(function: dict[str, Any]) -> bytes:
    args, kwargs = function["args"], function["kwargs"]
    return (
        _int(len(args) + len(kwargs))
        + b"".join(_int(column) + b"\0" for column in args)
        + b"".join(_int(column) + b"\1" + _text(name) for name, column in kwargs.items())
    )


def _functions(functions: list[dict[str, Any]], eval_type: int, profiler: str | None) -> bytes:
    head = _int(len(functions))
    arguments, has_result_ids = _arguments, True
    if not _has_confs():
        head = (b"\1" + _text(profiler) if profiler else b"\0") + head
        has_result_ids = profiler is not None
        if eval_type not in _WITH_NAMES:
            arguments = _columns
    return head + b"".join(
        arguments(each)
        + _chain(each)
        + (struct.pack("!q", each["result_id"]) if has_result_ids else b"")
        for each in functions
    )


def _columns(function: dict[str, Any]) -> bytes:
    return _int(len(function["args"])) + b"".join(map(_int, function["args"]))


def _chain(function: dict[str, Any]) -> bytes:
    commands = function["commands"]
    return _int(len(commands)) + b"".join(map(_command, commands))


def _table_function(function: dict[str, Any]) -> bytes:
    table_function = function["table_function"]
    partition_columns = table_function["partition_child_indexes"]
    analyze_result = table_function["analyze_result"]
    return (
        _arguments(function)
        + _int(len(partition_columns))
        + b"".join(map(_int, partition_columns))
        + (b"\1" + _command(analyze_result) if analyze_result else b"\0")
        + _command(function["commands"][0])
        + _text(table_function["return_type"])
        + _text(function["name"])
    )
