"""Functions over pandas series: scalar ones over batches of rows, aggregates over groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pyflow.common.types import Row
from pyflow.table.runtime.arrow_values import arrow_type
from pyflow.table.runtime.life_cycle import OpenFunction, TaskSettings
from pyflow.table.runtime.scalar import evaluation
from pyflow.table.runtime.values import Shape, has_instants

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["load_pandas_aggregate", "load_pandas_scalar"]


def load_pandas_scalar(
    function: Any, name: str, arguments: Sequence[Shape], result: Shape, settings: TaskSettings
) -> Callable[..., Any]:
    """Open a scalar function over series, for PySpark to call with a batch of rows."""
    import pandas as pd

    opened = OpenFunction(function, name, settings)
    evaluate = evaluation(function)
    names = list(result[1]) if result[0] == "ROW" else None

    def checked(*series: Any) -> Any:
        output = evaluate(*map(_in_zone, series, arguments))
        if type(output) not in (pd.Series, pd.DataFrame):
            raise TypeError(
                f"the result of pandas function {name} must be a pandas.Series or a "
                f"pandas.DataFrame, but is a {type(output).__name__}"
            )
        if len(output) != len(series[0]):
            raise ValueError(
                f"the result of pandas function {name} has {len(output)} values, but its input "
                f"has {len(series[0])}"
            )
        return output if names is None else _with_names(output, names, name)

    return opened.watch(checked)


def _with_names(output: Any, names: Sequence[str], function: str) -> Any:
    """A data frame with the names of the result's fields, which its columns are in their order."""
    import pandas as pd

    if not isinstance(output, pd.DataFrame):
        raise TypeError(
            f"the result of pandas function {function} is a row and must be a pandas.DataFrame, "
            f"but is a {type(output).__name__}"
        )
    if len(output.columns) != len(names):
        raise ValueError(
            f"the result of pandas function {function} has {len(output.columns)} columns, but its "
            f"type has {len(names)}: {', '.join(names)}"
        )
    return output.set_axis(names, axis="columns")


def _in_zone(series: Any, shape: Shape) -> Any:
    """Instants, which come as times of UTC, in the time zone of the session."""
    kind, *about = shape
    if not has_instants(shape):
        return series
    if kind == "LTZ":
        return series.dt.tz_localize("UTC").dt.tz_convert(about[1])
    if kind == "ROW":
        fields = zip(*about)
        return series.assign(**{name: _field_in_zone(series[name], each) for name, each in fields})
    return series.map(lambda value: _value_in_zone(value, shape))


def _field_in_zone(series: Any, shape: Shape) -> Any:
    """The same for a field of rows, where a row is a dict."""
    if shape[0] == "ROW" and has_instants(shape):
        return series.map(lambda value: _value_in_zone(value, shape))
    return _in_zone(series, shape)


def _value_in_zone(value: Any, shape: Shape) -> Any:
    """The same for a value of a series, of the types that PySpark makes them."""
    import numpy as np

    kind, *about = shape
    if value is None or not has_instants(shape):
        return value
    if kind == "LTZ":
        return value.tz_localize("UTC").tz_convert(about[1])
    if kind == "ROW":
        return {name: _value_in_zone(value[name], each) for name, each in zip(*about)}
    if kind == "MAP":
        key, of_key = about
        return {_value_in_zone(k, key): _value_in_zone(v, of_key) for k, v in value.items()}
    return np.array([_value_in_zone(each, about[0]) for each in value])


def load_pandas_aggregate(
    function: Any, name: str, arguments: Sequence[Shape], result: Shape, settings: TaskSettings
) -> Callable[..., Any]:
    """Open an aggregate function over series, as a function over arrays of lists, one per group.

    Parameters
    ----------
    function : AggregateFunction or callable
        A callable returns the result for series; a class accumulates all series at once.
    name : str
    arguments : sequence of tuple
        Of a row the function gets a data frame.
    result : tuple
    settings : TaskSettings
    """
    import pyarrow as pa

    opened = OpenFunction(function, name, settings)
    aggregate = _aggregation(function)
    arrow = arrow_type(result)
    names = result[1] if result[0] == "ROW" else None

    def evaluate(*groups: pa.Array) -> pa.Array:
        values = []
        for number in range(len(groups[0])):
            series = [
                _pandas(group[number].values, shape) for group, shape in zip(groups, arguments)
            ]
            value = aggregate(*series)
            values.append(value if names is None else _fields(value, names))
        return pa.array(values, type=arrow, from_pandas=True)

    return opened.watch(evaluate)


def _aggregation(function: Any) -> Callable[..., Any]:
    if not hasattr(function, "create_accumulator"):
        return evaluation(function)

    def aggregate(*series: Any) -> Any:
        accumulator = function.create_accumulator()
        function.accumulate(accumulator, *series)
        return function.get_value(accumulator)

    return aggregate


def _pandas(array: pa.Array, shape: Shape) -> pd.Series | pd.DataFrame:
    import pandas as pd

    kind, *about = shape
    if kind == "ROW":
        columns = [
            _pandas(field, field_shape) for field, field_shape in zip(array.flatten(), about[1])
        ]
        return pd.concat(columns, axis=1, keys=about[0])
    series = array.to_pandas(date_as_object=True)
    return series.dt.tz_convert(about[1]) if kind == "LTZ" else series


def _fields(row: Any, names: Sequence[str]) -> dict[str, Any] | None:
    if row is None:
        return None
    values = row.get_fields_by_names(list(names)) if isinstance(row, Row) else row
    return dict(zip(names, values))
