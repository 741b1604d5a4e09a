"""Aggregate functions of the program with a ``FILTER``."""

from __future__ import annotations

from pyflow.table.runtime.filtered import FilteredAggregate, FilteredSeries
from pyflow.table.udf import UserDefinedAggregateFunctionWrapper
from pyflow.types.data_types import DataTypes

__all__ = ["FilteredFunction"]


class FilteredFunction(UserDefinedAggregateFunctionWrapper):
    """An aggregate function of the rows for which its first argument is true.

    Parameters
    ----------
    wrapper : UserDefinedAggregateFunctionWrapper
        The function, which takes the other arguments.
    """

    def __init__(self, wrapper: UserDefinedAggregateFunctionWrapper) -> None:
        filtered = FilteredSeries if wrapper.func_type == "pandas" else FilteredAggregate
        declared = wrapper.input_types
        super().__init__(
            filtered(wrapper.function),
            None if declared is None else [DataTypes.BOOLEAN(), *declared],
            wrapper.result_type,
            wrapper.accumulator_type,
            wrapper.func_type,
            wrapper.deterministic,
            wrapper.name,
        )
        self._wrapper = wrapper

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FilteredFunction) and self._wrapper == other._wrapper

    def __hash__(self) -> int:
        return hash(self._wrapper)

    @property
    def retracts(self) -> bool:
        """Whether the function can retract rows."""
        return self._wrapper.retracts
