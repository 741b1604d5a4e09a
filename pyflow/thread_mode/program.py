"""Loads the functions of one operator for one task."""

from __future__ import annotations

import contextvars
import json
from collections.abc import Callable
from typing import Any

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    MapType,
    StructType,
)

from pyflow.thread_mode import (
    bootstrap,
    current_task,
    imports,
    pyspark_worker,
    results,
    table_function,
)
from pyflow.thread_mode.errors import ErrorOptions
from pyflow.thread_mode.task_start import begin_task, log_for_session
from pyflow.thread_mode.types import ARROW_EXCHANGE, PICKLE_EXCHANGE, describe

__all__ = ["Program", "load"]

# Where an output column comes from: numbers of native/src/evaluation/output_rows.h.
_INPUT_COLUMN = 0
_FUNCTION_COLUMN = 1

CallJvm = Callable[[int, bytes], bytes | None]
Encoder = Callable[[Any], Any]


class Program:
    """The Python side of the native ``pyflow::Program``.

    Parameters
    ----------
    task : CurrentTask
        The task that the functions run for.
    return_types : list of pyspark.sql.types.DataType
        Of each function.
    arrow_options : ArrowOptions
    error_options : ErrorOptions
    conversion : Conversion
        What Arrow gets of results that are not of the exact type.
    encoders : list of callable or None
        Of each function: what makes a value of the return type of a result that is not of the exact
        Python type, where PySpark's conversion alone would make another.
    """

    def __init__(
        self,
        task: current_task.CurrentTask,
        return_types: list[DataType],
        arrow_options: results.ArrowOptions,
        error_options: ErrorOptions,
        conversion: results.Conversion,
        encoders: list[Encoder | None],
    ) -> None:
        self._task = task
        self._return_types = return_types
        self._encoders = encoders
        self._columns = [
            results.Column(return_type, arrow_options, error_options, conversion)
            for return_type in return_types
        ]

    def __del__(self) -> None:
        self._task.end()

    @property
    def context_variables(self) -> contextvars.Context:
        """What the bridge enters around each bundle."""
        return self._task.context_variables

    def enter(self) -> None:
        """Make the task the current thread's; called before each bundle."""
        current_task.enter(self._task)

    def pickle_result(self, function: int, value: Any) -> bytes:
        """Pickle a result as a worker would send it, alone in a batch."""
        return_type = self._return_types[function]
        (value,) = self._encoded(function, [value])
        if return_type.needConversion():
            value = return_type.toInternal(value)
        return pyspark_worker.pickle_batch([value])

    def begin_batch(self) -> None:
        """Begin the next Arrow batch: what the functions returned before does not matter to it."""
        for column in self._columns:
            column.begin_batch()

    def add_example(self, function: int, value: Any) -> None:
        """Remember a result of the Arrow batch that needed no conversion."""
        self._columns[function].add_examples([value])

    def convert_results(self, function: int, values: list[Any]) -> list[Any]:
        """Convert a bundle's results with Arrow."""
        return self._columns[function].convert(self._encoded(function, values))

    def pack_results(self, function: int, values: list[Any]) -> bytes:
        """Pack a bundle's results for the shared interpreter."""
        return self._columns[function].pack(self._encoded(function, values))

    def unpack_results(self, answer: bytes) -> list[Any]:
        """Unpack what the shared interpreter made of them."""
        return results.unpack(answer)

    def _encoded(self, function: int, values: list[Any]) -> list[Any]:
        encode = self._encoders[function]
        return values if encode is None else [encode(value) for value in values]

    def accumulator_updates(self) -> list[bytes]:
        """End the functions of a task that succeeds, report their metrics, return the updates."""
        return self._task.succeed()


def load(
    specification: bytes, call_jvm: CallJvm | None, row_codec: Any, refused_imports: list[str]
) -> tuple[Any, ...]:
    """Load the functions that the JVM describes.

    Parameters
    ----------
    specification : bytes
        JSON: ``eval_type``, ``input_schema`` (of the rows that will come), ``functions``
        (``name``; ``result_id``; ``commands`` in base64, innermost first; ``args`` as
        [input ordinal, keyword or null]; ``table_function``, see
        :func:`~pyflow.thread_mode.table_function.load`;
        ``stateful``, see :func:`~pyflow.thread_mode.stateful.load`),
        ``output`` (columns, either ``input``, its ordinal, with ``variable_length``, or
        ``function``),
        ``runner_conf``, ``binary_as_bytes``, ``hide_traceback``,
        ``simplified_traceback``, ``traceback_with_locals``, ``session_log``, ``commands_digest``
        (equal for the same functions), ``tried_again`` (whether a task that fails is), and what
        :func:`~pyflow.thread_mode.task_start.begin_task` needs.
    call_jvm : callable or None
        Of a number and bytes; what the JVM answers, bytes or None. RuntimeError with the message of
        an exception.
    row_codec : callable
        As native/src/evaluation/row_codec.h has it.
    refused_imports : list of str
        Takes what refuses this interpreter, while the functions are loaded and whenever they run.

    Returns
    -------
    tuple
        (exchange, binary_as_bytes, :class:`Program`, :class:`ErrorOptions`, type descriptor or None
        by input ordinal, functions as (callables innermost first, ordinals, keywords or None, type
        descriptor, converted at once), output columns), as ``Program::build`` in
        native/src/evaluation/program.cc reads it.
    """
    spec = json.loads(specification)
    with begin_task(spec) as task:
        task.call_jvm = call_jvm
        task.refused_imports = refused_imports
        return task.context_variables.run(_load_for, task, spec, call_jvm, row_codec)


def _load_for(
    task: current_task.CurrentTask,
    spec: dict[str, Any],
    call_jvm: CallJvm | None,
    row_codec: Any,
) -> tuple[Any, ...]:
    loaded = [_load(task, function, spec, call_jvm, row_codec) for function in spec["functions"]]
    schema = pyspark_worker.data_type_of(spec["input_schema"])
    assert isinstance(schema, StructType)
    arguments = [_arguments(function, schema) for function in spec["functions"]]
    if bootstrap.is_isolated():
        imports.refuse_early(
            str(
                (
                    spec["application"],
                    spec["files_dir"],
                    spec["commands_digest"],
                    spec["broadcasts"],
                )
            ),
            (loaded, [schema[ordinal] for each in arguments for ordinal, _ in each]),
            may_fail_late=spec["tried_again"],
        )
    encoders = [_take_encoder(chain) for chain, _ in loaded]
    if pyspark_worker.is_profiled(spec["runner_conf"]):
        loaded = [_profiled(spec, *each) for each in zip(spec["functions"], loaded)]
    if not task.refused_imports:
        # Otherwise another interpreter opens them.
        task.start()
    error_options = ErrorOptions.of(spec)
    program = Program(
        task,
        [return_type for _, return_type in loaded],
        _arrow_options(spec["runner_conf"]),
        error_options,
        results.ROWS_AS_DICTS if spec["functions"][0]["stateful"] else results.PYSPARK_CONVERSION,
        encoders,
    )
    log_for_session(task, spec)
    arrow = pyspark_worker.is_arrow_optimised(spec["eval_type"])
    return (
        ARROW_EXCHANGE if arrow else PICKLE_EXCHANGE,
        spec["binary_as_bytes"],
        program,
        error_options,
        _input_types(schema, arguments),
        tuple(
            _function(chain, return_type, args, _is_converted_at_once(return_type, arrow))
            for (chain, return_type), args in zip(loaded, arguments)
        ),
        tuple(_output_column(column) for column in spec["output"]),
    )


def _load(
    task: current_task.CurrentTask,
    function: dict[str, Any],
    spec: dict[str, Any],
    call_jvm: CallJvm | None,
    row_codec: Any,
) -> tuple[list[Callable[..., Any]], DataType]:
    """The callables of a function, innermost first, and the return type of the outermost."""
    if function["table_function"]:
        evaluate, return_type = table_function.load(function, spec["runner_conf"])
        return [evaluate], return_type
    if function["stateful"]:
        from pyflow.thread_mode import stateful

        assert call_jvm is not None
        evaluate, return_type = stateful.load(
            task, function, spec["binary_as_bytes"], call_jvm, row_codec
        )
        return [evaluate], return_type
    return pyspark_worker.load_chain(function["commands"])


def _take_encoder(chain: list[Callable[..., Any]]) -> Encoder | None:
    """Replace the outermost function of a chain, if it is one of the Table API.

    For workers it checks each result. Here the codec finds those that need it, so that the function
    below is called, and the check for these alone.

    Returns
    -------
    callable or None
        The check.
    """
    row_function = getattr(chain[-1], "pyflow_row_function", None)
    if row_function is None:
        return None
    chain[-1] = row_function.evaluate
    encode: Encoder = row_function.encode
    return encode


def _profiled(
    spec: dict[str, Any], function: dict[str, Any], loaded: tuple[list[Any], DataType]
) -> tuple[list[Any], DataType]:
    """The same function, profiled; Spark profiles no table functions."""
    from pyflow.thread_mode import profiling

    chain, return_type = loaded
    if function["table_function"]:
        return loaded
    return profiling.profiled(chain, spec["eval_type"], function["result_id"]), return_type


def _arguments(function: dict[str, Any], schema: StructType) -> list[list[Any]]:
    """What a function gets, as [input ordinal, keyword or None]: a table function gets all."""
    if function["table_function"]:
        return [[ordinal, None] for ordinal in range(len(schema))]
    arguments: list[list[Any]] = function["args"]
    return arguments


def _input_types(schema: StructType, arguments: list[list[list[Any]]]) -> tuple[Any, ...]:
    """Descriptors of the columns that functions read; the others need none."""
    used = {ordinal for args in arguments for ordinal, _ in args}
    return tuple(
        describe(field.dataType) if ordinal in used else None
        for ordinal, field in enumerate(schema.fields)
    )


def _output_column(column: dict[str, Any]) -> tuple[Any, ...]:
    """(source, index, whether an input column has variable length)."""
    if "function" in column:
        return _FUNCTION_COLUMN, column["function"], False
    return _INPUT_COLUMN, column["input"], column["variable_length"]


def _is_converted_at_once(return_type: DataType, arrow: bool) -> bool:
    """Whether later functions of a row cannot change what PySpark sends of a result.

    It converts the result of some types before it calls the next function, which may change a list
    that both have been given. What is not converted is pickled as all functions have left it.
    """
    if arrow:
        return pyspark_worker.converts_results_at_once()
    return return_type.needConversion() and not _shares_containers(return_type)


def _shares_containers(data_type: DataType) -> bool:
    """Whether a converted value of a type shares lists, dicts or bytearrays with the original."""
    if isinstance(data_type, ArrayType):
        return not data_type.needConversion() or _shares_containers(data_type.elementType)
    if isinstance(data_type, MapType):
        parts = (data_type.keyType, data_type.valueType)
        return not data_type.needConversion() or any(map(_shares_containers, parts))
    if isinstance(data_type, StructType):
        return any(_shares_containers(field.dataType) for field in data_type.fields)
    return isinstance(data_type, BinaryType)


def _function(
    chain: list[Any], return_type: DataType, args: list[list[Any]], converted_at_once: bool
) -> tuple[Any, ...]:
    positional = [ordinal for ordinal, keyword in args if keyword is None]
    named = [(keyword, ordinal) for ordinal, keyword in args if keyword is not None]
    return (
        tuple(chain),
        tuple(positional + [ordinal for _, ordinal in named]),
        tuple(keyword for keyword, _ in named) or None,
        describe(return_type),
        converted_at_once,
    )


def _arrow_options(runner_conf: dict[str, str]) -> results.ArrowOptions:
    def enabled(key: str) -> bool:
        return runner_conf.get(key, "false").lower() == "true"

    return results.ArrowOptions(
        large_var_types=enabled("spark.sql.execution.arrow.useLargeVarTypes"),
        safe_check=enabled("spark.sql.execution.pandas.convertToArrowArraySafely"),
        int_to_decimal=enabled("spark.sql.execution.pythonUDF.pandas.intToDecimalCoercionEnabled"),
    )
