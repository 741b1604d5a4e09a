"""PySpark's worker: what PySpark keeps to itself and all versions of Spark 4 have.

What differs between them is in `transport_info` (since Spark 4.3) and `transport_bytes` (before),
which have the same functions. The other modules import PySpark's public interface alone:
``pyspark``, ``pyspark.errors`` and ``pyspark.sql.types``.
"""

from __future__ import annotations

import importlib.util
import logging
from base64 import b64decode
from collections.abc import Callable, Iterator, MutableMapping
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any

from pyspark import Broadcast, SparkFiles, TaskContext, accumulators, cloudpickle
from pyspark.cloudpickle import cloudpickle as cloudpickle_module
from pyspark.core import broadcast
from pyspark.logger.worker_io import JSONFormatterWithMarker
from pyspark.serializers import CPickleSerializer
from pyspark.sql.conversion import LocalDataToArrowConversion
from pyspark.sql.types import DataType, StructType, _parse_datatype_json_string
from pyspark.util import PythonEvalType, try_simplify_traceback

if importlib.util.find_spec("pyspark.worker_message"):
    from pyflow.thread_mode import transport_info as transport
else:
    from pyflow.thread_mode import transport_bytes as transport  # type: ignore[no-redef]

if TYPE_CHECKING:
    import cProfile

    import pyarrow as pa

__all__ = [
    "LOG_PREFIX",
    "ByValuePickler",
    "Run",
    "accumulator_updates",
    "arrow_table",
    "arrow_type",
    "batch_function",
    "converts_results_at_once",
    "data_type_of",
    "is_arrow_optimised",
    "is_profiled",
    "is_read",
    "keep_by_task",
    "load_chain",
    "load_command",
    "log_formatter",
    "pickle_batch",
    "pickle_state",
    "profiled",
    "replace_profiler",
    "result_converter",
    "row_table_function",
    "save_profile",
    "simplified_traceback",
    "state_classes",
    "stateful_processor",
    "task_context",
    "timer_classes",
]

#: A function over all input of a task: of the number of its partition and the input.
Run = Callable[[int, Iterator[Any]], Iterator[Any]]

#: Pickles the classes of the main program by value.
ByValuePickler: Any = cloudpickle.CloudPickler

#: What `log_formatter` puts in front of a record: marker and number of a worker, which are empty.
LOG_PREFIX = "::"

_serializer = CPickleSerializer()


# What the driver sends with a function


def load_chain(commands: list[str]) -> tuple[list[Callable[..., Any]], DataType]:
    """Unpickle the commands of a function.

    Parameters
    ----------
    commands : list of str
        In base64, innermost first.

    Returns
    -------
    tuple
        The callables, innermost first, and the return type of the outermost.
    """
    loaded = [load_command(command) for command in commands]
    return [function for function, _ in loaded], loaded[-1][1]


def load_command(command: str) -> tuple[Any, ...]:
    """Unpickle one command.

    Parameters
    ----------
    command : str
        In base64.

    Returns
    -------
    tuple
        The function and its return type; of functions over an iterator of rows the function, the
        profiler, and the serializers of input and output.
    """
    loaded = _serializer.loads(b64decode(command))
    if isinstance(loaded, Broadcast):  # a command too large to be sent with every task
        loaded = _serializer.loads(loaded.value)
    assert isinstance(loaded, tuple)
    return loaded


def data_type_of(json: str) -> DataType:
    """The data type that the JVM describes."""
    return _parse_datatype_json_string(json)


def is_profiled(runner_conf: dict[str, str]) -> bool:
    """Whether the session profiles functions."""
    return runner_conf.get("spark.sql.pyspark.udf.profiler") == "perf"


def is_arrow_optimised(eval_type: int) -> bool:
    """Whether an evaluation type is that of plain functions whose values travel through Arrow."""
    return eval_type == PythonEvalType.SQL_ARROW_BATCHED_UDF


def converts_results_at_once() -> bool:
    """Whether the results of an Arrow-optimised function are converted before others are called.

    They may change a list that both have been given.
    """
    return transport.converts_results_at_once()


# What evaluates functions over the whole input of a task


def batch_function(
    functions: list[dict[str, Any]],
    eval_type: int,
    runner_conf: dict[str, str],
    eval_conf: dict[str, str],
    state: Any,
) -> Run:
    """Make one function over Arrow batches of the functions of an operator.

    Parameters
    ----------
    functions : list of dict
        ``commands`` (in base64, innermost first), ``args``, ``kwargs``, ``result_id``, and
        ``table_function``, which is None or as `row_table_function` has it.
    eval_type : int
    runner_conf, eval_conf : dict
        What the JVM sends to a worker under these names.
    state : object or None
        What stands in place of PySpark's client for state.
    """
    if state is not None:
        _direct_state_requests()
        _state_client.set(state)
    return transport.batch_function(_serializer, functions, eval_type, runner_conf, eval_conf)


def row_table_function(
    function: dict[str, Any],
    runner_conf: dict[str, str],
    replace_handler: Callable[[type], type] | None,
) -> Run:
    """Make a function over rows of a plain table function.

    Parameters
    ----------
    function : dict
        ``name``, ``commands`` (one, in base64), ``args``, ``kwargs``, and ``table_function``:
        ``partition_child_indexes``, ``analyze_result`` (pickled, in base64, or null) and
        ``return_type`` (JSON).
    runner_conf : dict
    replace_handler : callable or None
        Makes the class that is used in place of the user's.
    """
    serializer = _HandlerSerializer(replace_handler) if replace_handler else _serializer
    return transport.row_table_function(serializer, function, runner_conf)


def stateful_processor(command: str) -> tuple[Any, str, StructType]:
    """Unpickle a processor that keeps state.

    Parameters
    ----------
    command : str
        In base64.

    Returns
    -------
    tuple
        The processor, the time mode, and what the processor returns rows of.
    """
    function, return_type = load_command(command)
    utils = function.__self__
    return utils._stateful_processor, utils._time_mode, return_type


#: What functions that are being loaded ask for state.
_state_client: ContextVar[Any] = ContextVar("state_client")


def _direct_state_requests() -> None:
    """Have worker code ask the current task's client, which has no socket, for state."""
    from pyspark import worker
    from pyspark.sql.streaming import stateful_processor_util as util

    worker_code: Any = worker
    worker_code.StatefulProcessorApiClient = lambda *_, **__: _state_client.get()
    processor_code: Any = util
    processor_code.StatefulProcessorHandle = lambda client: client.handle
    processor_code.ExpiredTimerIterator = lambda client, expiry: client.expired_timers(expiry)


def state_of_new_handle() -> Any:
    """The state that PySpark's client says a processor is in before it is initialised."""
    from pyspark.sql.streaming.stateful_processor_api_client import StatefulProcessorHandleState

    return StatefulProcessorHandleState.CREATED


def state_classes() -> tuple[Any, Any, Any, Any]:
    """The handle of a processor; state of a value, a list, a map."""
    from pyspark.sql.streaming import stateful_processor as public

    return public.StatefulProcessorHandle, public.ValueState, public.ListState, public.MapState


def timer_classes() -> tuple[Any, Any]:
    """What a processor is told of time, and of a timer that has expired."""
    from pyspark.sql.streaming import stateful_processor as public

    return public.TimerValues, public.ExpiredTimerInfo


def pickle_state(schema: StructType | None, value: Any) -> bytes:
    """Pickle a value of a state variable as PySpark sends it to its state server."""
    assert schema is not None
    pickled: bytes = _serializer.dumps(schema.toInternal(transport.values_of_state(value)))
    return pickled


class _HandlerSerializer(CPickleSerializer):
    """Unpickles another class in place of that of a table function."""

    def __init__(self, replace: Callable[[type], type]) -> None:
        self._replace = replace

    def loads(self, *args: Any, **kwargs: Any) -> Any:
        loaded = super().loads(*args, **kwargs)  # type: ignore[no-untyped-call]
        return self._replace(loaded) if isinstance(loaded, type) else loaded


# What functions return


def pickle_batch(values: list[Any]) -> bytes:
    """Pickle results as a worker sends them."""
    pickled: bytes = _serializer.dumps(values)
    return pickled


def result_converter(data_type: DataType, int_to_decimal: bool) -> Callable[[Any], Any] | None:
    """The converter of results that are given to Arrow, None if there is nothing to convert."""
    converter: Callable[[Any], Any] | None = LocalDataToArrowConversion._create_converter(
        data_type, none_on_identity=True, int_to_decimal_coercion_enabled=int_to_decimal
    )
    return converter


def arrow_type(data_type: DataType, large_var_types: bool) -> pa.DataType:
    """The Arrow type of results."""
    return transport.arrow_type(data_type, large_var_types)


def arrow_table(rows: list[Any], schema: StructType) -> pa.Table:
    """Rows of the driver, at least one, as PySpark's Connect client sends them."""
    return LocalDataToArrowConversion.convert(rows, schema, False)


def accumulator_updates(of_task: dict[int, accumulators.Accumulator[Any]]) -> list[bytes]:
    """The updates of a task, as a worker sends them."""
    return [
        _serializer.dumps((accumulator_id, accumulator._value))
        for accumulator_id, accumulator in of_task.items()
    ]


# What profiles functions


def replace_profiler(profiler: type) -> None:
    """Have worker code use another class in place of ``WorkerPerfProfiler``."""
    from pyspark.sql import profiler as of_pyspark

    module: Any = of_pyspark
    module.WorkerPerfProfiler = profiler


def profiled(function: Callable[..., Any], eval_type: int, result_id: int) -> Callable[..., Any]:
    """A function whose calls are profiled."""
    from pyspark import worker

    wrapped: Callable[..., Any] = worker.wrap_perf_profiler(function, eval_type, result_id)
    return wrapped


def save_profile(
    profile: cProfile.Profile, accumulator: Any, accumulator_v2: Any, result_key: int | str
) -> None:
    """Add a profile to what a task sends to the driver.

    Parameters
    ----------
    profile : cProfile.Profile
    accumulator, accumulator_v2 : pyspark.Accumulator
        Two of them, since clients of Connect before 4.2 read the first.
    result_key : int or str
    """
    import pstats

    def stats() -> pstats.Stats:
        made: Any = pstats.Stats(profile)
        made.stream = None  # cannot be pickled
        stripped: pstats.Stats = made.strip_dirs()
        return stripped

    accumulator.add({result_key: (stats(), None)})
    accumulator_v2.add({result_key: {"perf": stats()}})


def simplified_traceback(trace: TracebackType) -> TracebackType | None:
    """A traceback without PySpark's frames, None if they cannot be left out."""
    return try_simplify_traceback(trace)


def log_formatter(context: Callable[[], dict[str, str]]) -> logging.Formatter:
    """The formatter of the records that a session sees; `context` names the function that logs."""
    return JSONFormatterWithMarker("", "", context)


# What functions find around them


def task_context(task: dict[str, Any]) -> TaskContext:
    """Make the context of a task and set it as the current one.

    Parameters
    ----------
    task : dict
        What the JVM sends to a worker, under the names that Spark's Scala code has for it.
    """
    return transport.task_context(task)


def is_read(variable: Broadcast[Any]) -> bool:
    """Whether the value of a broadcast variable has been read from its file."""
    return hasattr(variable, "_value")


def keep_by_task(
    attribute: Callable[[str], Any],
    mapping: Callable[[str, MutableMapping[Any, Any]], MutableMapping[Any, Any]],
    new_context: Callable[..., Any],
    set_context: Callable[[TaskContext | None], None],
) -> None:
    """Have PySpark look up in the current task what it keeps once per worker process.

    Parameters
    ----------
    attribute : callable
        Of the name of an attribute of ``CurrentTask``: a descriptor that reads it.
    mapping : callable
        Of such a name and of the mapping of the process: a mapping in its place.
    new_context, set_context : callable
        ``TaskContext.__new__``, and what sets the current context.
    """
    context: Any = TaskContext
    context._taskContext = attribute("context")
    context.__new__ = staticmethod(new_context)
    context._setTaskContext = classmethod(lambda cls, context: set_context(context))

    files: Any = SparkFiles
    files._root_directory = attribute("files_root")
    files._is_running_on_worker = True

    registries: list[tuple[Any, str, str]] = [
        (broadcast, "_broadcastRegistry", "broadcasts"),
        (accumulators, "_accumulatorRegistry", "accumulators"),
        (cloudpickle_module, "_DYNAMIC_CLASS_TRACKER_BY_ID", "classes"),
        (cloudpickle_module, "_DYNAMIC_CLASS_TRACKER_BY_CLASS", "class_ids"),
    ]
    for module, name, of_task in registries:
        setattr(module, name, mapping(of_task, getattr(module, name)))
