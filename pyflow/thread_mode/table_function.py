"""Runs plain table functions as functions of a row that return all the rows they make of it.

PySpark's worker turns a table function into a function over an iterator of rows. Here that iterator
yields the row of the current call, so that the function advances by one row per call.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

from pyspark.sql.types import (
    ArrayType,
    DataType,
    MapType,
    StringType,
    StructType,
)

from pyflow.thread_mode import pyspark_worker
from pyflow.thread_mode.types import with_values

__all__ = ["load"]


def load(
    function: dict[str, Any], runner_conf: dict[str, str]
) -> tuple[Callable[..., Any], DataType]:
    """Load a table function.

    Parameters
    ----------
    function : dict
        ``args`` as [ordinal, keyword or null], not counting the first input column, which tells
        whether the rows have come to an end; the rest as
        :func:`~pyflow.thread_mode.pyspark_worker.row_table_function` has it.
    runner_conf : dict

    Returns
    -------
    tuple
        A function of all input columns that returns a sequence of rows, or None after the last;
        and its return type, an array of structs.
    """
    arguments = function["args"]
    table_function = function["table_function"]
    element_type = pyspark_worker.data_type_of(table_function["return_type"])
    assert isinstance(element_type, StructType)
    shortcut = _Shortcut(element_type)
    # A partition's end and the next one's beginning come with one row: PySpark puts them together.
    direct = not table_function["partition_child_indexes"] and _may_all_be_none(element_type)
    run = pyspark_worker.row_table_function(
        {
            **function,
            "args": [ordinal for ordinal, keyword in arguments if keyword is None],
            "kwargs": {keyword: ordinal for ordinal, keyword in arguments if keyword},
            "table_function": {
                **table_function,
                # Strings are what PySpark leaves to the codec.
                "return_type": with_values(element_type, lambda _: StringType()).json(),
            },
        },
        runner_conf,
        shortcut.subclass if direct else None,
    )
    return _by_row(run, shortcut), ArrayType(element_type)


class _Shortcut:
    """Skips PySpark's checks for rows that are tuples of the right length, which pass them all.

    Parameters
    ----------
    element_type : StructType
        What the function returns.
    """

    def __init__(self, element_type: StructType) -> None:
        self._lengths = {len(element_type)}
        self._rows: list[Any] | None = None

    def subclass(self, handler: type) -> type:
        """The class of a table function, with methods that take the shortcut where they can."""
        methods = {
            name: self._method(inspect.getattr_static(handler, name))
            for name in ("eval", "terminate")
            if isinstance(inspect.getattr_static(handler, name, None), types.FunctionType)
        }
        if any("__init_subclass__" in vars(base) for base in handler.__mro__[:-1]):
            return handler
        names = {name: getattr(handler, name) for name in ("__module__", "__qualname__", "__doc__")}
        return type(handler)(handler.__name__, (handler,), {**names, **methods})

    def take(self, results: Any) -> Any:
        """The rows of the last call, given what PySpark has made of it."""
        rows, self._rows = self._rows, None
        return results if rows is None else rows

    def _method(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def collected(*args: Any, **kwargs: Any) -> Any:
            results = method(*args, **kwargs)
            if not isinstance(results, (types.GeneratorType, list)):
                return results
            rows: list[Any] = []
            try:
                rows.extend(results)
            except BaseException as error:
                return _replayed(rows, error)
            if set(map(type, rows)) <= {tuple} and set(map(len, rows)) <= self._lengths:
                self._rows = rows
                return None
            return rows

        return collected


def _replayed(rows: list[Any], error: BaseException) -> Iterator[Any]:
    """What a generator has yielded before it raised."""
    yield from rows
    raise error


def _may_all_be_none(data_type: DataType) -> bool:
    """Whether PySpark does not look for None in values of a type; keys of maps must not be."""
    if isinstance(data_type, StructType):
        return all(field.nullable and _may_all_be_none(field.dataType) for field in data_type)
    if isinstance(data_type, ArrayType):
        return data_type.containsNull and _may_all_be_none(data_type.elementType)
    return not isinstance(data_type, MapType)


def _by_row(
    run: Callable[[int, Iterator[Any]], Iterator[Any]], shortcut: _Shortcut
) -> Callable[..., Any]:
    row: tuple[Any, ...] = ()
    ended = False

    def rows() -> Iterator[tuple[Any, ...]]:
        while not ended:
            yield row

    output = run(0, rows())

    def evaluate(at_end: bool, *values: Any) -> Any:
        nonlocal row, ended
        row, ended = values, at_end
        results = shortcut.take(next(output, None))
        if at_end:
            next(output, None)  # what the function cleans up
        return results

    return evaluate
