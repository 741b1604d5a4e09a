"""Decodes what PySpark's driver sends with a function: the only place that knows its payloads."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from typing import Any

from pyspark.accumulators import Accumulator
from pyspark.core.broadcast import Broadcast
from pyspark.serializers import CPickleSerializer
from pyspark.sql.types import DataType
from pyspark.worker_message import UDTFInfo

__all__ = [
    "accumulator_updates",
    "load_chain",
    "load_command",
    "serializer",
    "udtf_info",
]

serializer = CPickleSerializer()


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
    loaded = serializer.loads(b64decode(command))
    if isinstance(loaded, Broadcast):  # a command too large to be sent with every task
        loaded = serializer.loads(loaded.value)
    assert isinstance(loaded, tuple)
    return loaded


def accumulator_updates(accumulators: dict[int, Accumulator[Any]]) -> list[bytes]:
    """The updates of a task, as a worker would send them."""
    return [
        serializer.dumps((accumulator_id, accumulator._value))
        for accumulator_id, accumulator in accumulators.items()
    ]


def udtf_info(function: dict[str, Any]) -> UDTFInfo:
    """What PySpark's worker has to know of a table function.

    Parameters
    ----------
    function : dict
        ``name``, ``commands`` (one, in base64), ``args``, ``kwargs``, and ``table_function``:
        ``partition_child_indexes``, ``analyze_result`` (pickled, in base64, or null) and
        ``return_type`` (JSON).
    """
    table_function = function["table_function"]
    analyze_result = table_function["analyze_result"]
    return UDTFInfo(
        args=function["args"],
        kwargs=function["kwargs"],
        partition_child_indexes=table_function["partition_child_indexes"],
        pickled_analyze_result=memoryview(b64decode(analyze_result)) if analyze_result else None,
        handler=memoryview(b64decode(function["commands"][0])),
        return_type=table_function["return_type"],
        name=function["name"],
    )
