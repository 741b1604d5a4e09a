"""Aggregates of the rows for which a condition holds: the condition is their first argument."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pyflow.streaming.runtime.functions import FunctionContext, UserDefinedFunction
from pyflow.table.runtime.pandas_functions import aggregation

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FilteredAggregate", "FilteredSeries"]


class FilteredAggregate(UserDefinedFunction):
    """An aggregate function that gets some rows only.

    Parameters
    ----------
    function : AggregateFunction
    """

    def __init__(self, function: Any) -> None:
        self._function = function

    def open(self, function_context: FunctionContext) -> None:
        """Open the function."""
        self._function.open(function_context)

    def close(self) -> None:
        """Close the function."""
        self._function.close()

    def create_accumulator(self) -> Any:
        """Return the accumulator of no rows."""
        return self._function.create_accumulator()

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        """Accumulate a row's arguments if the condition is true; if it is null, do nothing."""
        if args[0]:
            self._function.accumulate(accumulator, *args[1:])

    def retract(self, accumulator: Any, *args: Any) -> None:
        """Retract a row's arguments if the condition is true."""
        if args[0]:
            self._function.retract(accumulator, *args[1:])

    def merge(self, accumulator: Any, accumulators: Iterable[Any]) -> None:
        """Merge accumulators."""
        self._function.merge(accumulator, accumulators)

    def get_value(self, accumulator: Any) -> Any:
        """Return the result of the accumulator."""
        return self._function.get_value(accumulator)


class FilteredSeries(UserDefinedFunction):
    """An aggregate function over series that gets some of their values only.

    Parameters
    ----------
    function : AggregateFunction or callable
    """

    def __init__(self, function: Any) -> None:
        self._function = function

    def open(self, function_context: FunctionContext) -> None:
        """Open the function."""
        if isinstance(self._function, UserDefinedFunction):
            self._function.open(function_context)

    def close(self) -> None:
        """Close the function."""
        if isinstance(self._function, UserDefinedFunction):
            self._function.close()

    def eval(self, condition: pd.Series, *series: Any) -> Any:
        """Return the value for the rows for which the condition holds."""
        holds = condition.eq(True)
        # Without arguments a function gets a series that only has a length.
        chosen = [each[holds].reset_index(drop=True) for each in series or (condition,)]
        return aggregation(self._function)(*chosen)
