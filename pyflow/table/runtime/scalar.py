"""Functions of a row: scalar functions, and table functions as functions that return an array."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple

from pyflow.common.types import Row
from pyflow.streaming.runtime.life_cycle import OpenFunction, TaskSettings
from pyflow.types.function_values import Convert, Shape, decoder, encoder, is_exact

__all__ = ["RowFunction", "evaluation", "load_scalar", "load_table_function", "row_function"]

Function = Callable[..., Any]


class RowFunction(NamedTuple):
    """What thread mode takes instead of the function that a worker calls.

    Attributes
    ----------
    evaluate : callable
        Its results may be of another type than the declared one.
    encode : callable
        Converts such results; only called for them.
    """

    evaluate: Function
    encode: Convert


def load_scalar(
    function: Any, name: str, arguments: Sequence[Shape], result: Shape, settings: TaskSettings
) -> Function:
    """Open a scalar function, for PySpark to call with a row's arguments."""
    opened = OpenFunction(function, name, settings)
    return row_function(
        _decoding(evaluation(function), arguments),
        result,
        opened,
        settings,
    )


def load_table_function(
    function: Any, name: str, arguments: Sequence[Shape], result: Shape, settings: TaskSettings
) -> Function:
    """Open a table function, as a function that returns an array of rows.

    Parameters
    ----------
    function : TableFunction or callable
    name : str
    arguments : sequence of tuple
    result : tuple
        The shape of the array.
    settings : TaskSettings
    """
    opened = OpenFunction(function, name, settings)
    evaluate = _decoding(evaluation(function), arguments)
    return row_function(lambda *values: rows_of(evaluate(*values)), result, opened, settings)


def evaluation(function: Any) -> Function:
    """Return the function to call for a row."""
    evaluate: Function = getattr(function, "eval", function)
    return evaluate


def row_function(
    evaluate: Function, result: Shape, opened: OpenFunction, settings: TaskSettings
) -> Function:
    """Return a function whose results are of the declared type.

    Parameters
    ----------
    evaluate : callable
        Returns what the user's function does.
    result : tuple
        The declared type.
    opened : OpenFunction
    settings : TaskSettings

    Returns
    -------
    callable
        With the attribute ``pyflow_row_function``, where thread mode can do with less.
    """
    encode = encoder(result, f"the result of {opened.name}")

    def encoded(*values: Any) -> Any:
        try:
            return encode(evaluate(*values))
        except BaseException:
            opened.fail()
            raise

    if is_exact(result, settings.arrow):
        vars(encoded)["pyflow_row_function"] = RowFunction(evaluate, encode)
    return encoded


def _decoding(function: Function, shapes: Sequence[Shape]) -> Function:
    """Return the function with its arguments converted, or itself if they need no conversion."""
    decoders = [decoder(shape) for shape in shapes]
    if not any(decoders):
        return function
    if len(decoders) == 1:
        only = decoders[0]
        assert only is not None
        return lambda value: function(only(value))
    each = [decode or (lambda value: value) for decode in decoders]
    return lambda *values: function(*(decode(value) for decode, value in zip(each, values)))


def rows_of(returned: Any) -> list[Any]:
    """Return the rows of a table function's result: each element of a list, range or generator."""
    if returned is None:
        return []
    if isinstance(returned, (list, range, Generator)):
        return [fields_of(each) for each in returned]
    return [fields_of(returned)]


def fields_of(row: Any) -> Any:
    """Return the fields of a row that a function returned, in order, whatever their names.

    Any value but a row or a tuple is a field.
    """
    return tuple(row) if isinstance(row, (Row, tuple)) else (row,)
