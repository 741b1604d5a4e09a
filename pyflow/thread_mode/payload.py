"""Decodes what PySpark's driver sends with a function: the only place that knows its payloads."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.accumulators import Accumulator, _accumulatorRegistry
from pyspark.core.broadcast import Broadcast, _broadcastRegistry
from pyspark.core.files import SparkFiles
from pyspark.serializers import CPickleSerializer
from pyspark.sql.types import DataType
from pyspark.worker_message import UDTFInfo

__all__ = [
    "accumulator_updates",
    "load_chain",
    "load_command",
    "loading",
    "serializer",
    "set_up_broadcasts",
    "set_up_files",
    "udtf_info",
]

serializer = CPickleSerializer()

# Loading is serialised: PySpark collects the accumulators of a command in a process-wide registry.
_loading = threading.Lock()

# Held while `sys.path` is looked at and changed.
_extending_path = threading.Lock()


def load_chain(commands: list[str]) -> tuple[list[Callable[..., Any]], DataType]:
    """Unpickle the commands of a function, within :func:`loading`.

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
    """Unpickle one command, within :func:`loading`.

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


@contextmanager
def loading() -> Iterator[dict[int, Accumulator[Any]]]:
    """Collect the accumulators that commands bring along while they are unpickled.

    Yields
    ------
    dict
        The accumulators by id, complete when the context ends.
    """
    accumulators: dict[int, Accumulator[Any]] = {}
    with _loading:
        _accumulatorRegistry.clear()
        yield accumulators
        accumulators.update(_accumulatorRegistry)


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


def set_up_broadcasts(broadcasts: list[tuple[int, str]]) -> None:
    """Make broadcast variables known by id; values are read from their files when first used."""
    for broadcast_id, path in broadcasts:
        if broadcast_id not in _broadcastRegistry:
            # Another task may have been faster; all have to see the same value.
            _broadcastRegistry.setdefault(broadcast_id, Broadcast(path=path))


def set_up_files(files_dir: str, python_includes: list[str]) -> None:
    """Make the files that were added to the session importable and found by ``SparkFiles``."""
    SparkFiles._root_directory = files_dir
    SparkFiles._is_running_on_worker = True
    changed = False
    with _extending_path:
        for path in [files_dir, *(os.path.join(files_dir, name) for name in python_includes)]:
            if path not in sys.path:
                sys.path.insert(1, path)
                changed = True
    if changed:
        importlib.invalidate_caches()
