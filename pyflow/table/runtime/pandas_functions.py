"""Functions over pandas series: scalar ones over batches of rows, aggregates over groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyflow.streaming.runtime.life_cycle import OpenFunction, TaskSettings
from pyflow.table.runtime.scalar import evaluation
from pyflow.types.function_values import Shape
from pyflow.types.pandas_values import array_of, array_of_values, series_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["aggregation", "load_pandas_aggregate", "load_pandas_scalar"]


def load_pandas_scalar(
    function: Any,
    name: str,
    arguments: Sequence[Shape],
    names: Sequence[str | None],
    constants: Mapping[int, Any],
    result: Shape,
    settings: TaskSettings,
) -> Callable[..., Any]:
    """Open a scalar function over series, as a function of the arrays of a batch of rows.

    Parameters
    ----------
    function : ScalarFunction or callable
    name : str
    arguments : sequence of tuple
    names : sequence of str or None
        Of the columns that arguments are.
    constants : mapping of int to object
        The arguments that are the same in all rows, by position; they are not passed as arrays.
    result : tuple
    settings : TaskSettings
    """
    import pandas as pd

    opened = OpenFunction(function, name, settings)
    function_of_series = _with_constants(evaluation(function), constants, len(arguments))
    places = [place for place in range(len(arguments)) if place not in constants]
    shapes = [arguments[place] for place in places]
    of_series = [names[place] for place in places]
    subject = f"the result of pandas function {name}"

    def evaluate(*arrays: pa.Array) -> pa.Array:
        output = function_of_series(*map(series_of, arrays, shapes, of_series))
        if type(output) not in (pd.Series, pd.DataFrame):
            raise TypeError(
                f"{subject} must be a pandas.Series or a pandas.DataFrame, but is a "
                f"{type(output).__name__}"
            )
        if len(output) != len(arrays[0]):
            raise ValueError(
                f"{subject} has {len(output)} values, but its input has {len(arrays[0])}"
            )
        return array_of(output, result, subject)

    return opened.watch(evaluate)


def _with_constants(
    function: Callable[..., Any], constants: Mapping[int, Any], count: int
) -> Callable[..., Any]:
    """Return a function of the arguments that are not constants, given one of all arguments."""
    if not constants:
        return function

    def evaluate(*series: Any) -> Any:
        following = iter(series)
        return function(
            *(constants[place] if place in constants else next(following) for place in range(count))
        )

    return evaluate


def load_pandas_aggregate(
    function: Any,
    name: str,
    arguments: Sequence[Shape],
    names: Sequence[str | None],
    result: Shape,
    settings: TaskSettings,
) -> Callable[..., Any]:
    """Open an aggregate function over series, as a function over arrays of lists, one per group.

    Parameters
    ----------
    function : AggregateFunction or callable
        A callable returns the result for series; a class accumulates all series at once.
    name : str
    arguments : sequence of tuple
        Of a row the function gets a data frame.
    names : sequence of str or None
        Of the columns that arguments are.
    result : tuple
    settings : TaskSettings
    """
    opened = OpenFunction(function, name, settings)
    aggregate = aggregation(function)
    subject = f"the result of pandas function {name}"

    def evaluate(*groups: pa.Array) -> pa.Array:
        values = []
        for number in range(len(groups[0])):
            columns = [group[number].values for group in groups]
            values.append(aggregate(*map(series_of, columns, arguments, names)))
        return array_of_values(values, result, subject)

    return opened.watch(evaluate)


def aggregation(function: Any) -> Callable[..., Any]:
    """Return the function to call for the series of a group."""
    if not hasattr(function, "create_accumulator"):
        return evaluation(function)

    def aggregate(*series: Any) -> Any:
        accumulator = function.create_accumulator()
        function.accumulate(accumulator, *series)
        return function.get_value(accumulator)

    return aggregate
