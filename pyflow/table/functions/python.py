"""Python functions of the Table API as functions of PySpark.

Scalar functions are plain ``udf``, those over series ``arrow_udf``, asynchronous ones ``arrow_udf``
over an iterator of batches. A table function is a plain function that returns an array of rows,
which ``inline`` takes apart. An aggregate is a function of arrays into which Spark has collected
what the rows of a group have: so it stands beside built-in aggregates, and in windows. Its limits
are those of arrays: a group must fit into memory, its arguments into a row of 2 GiB.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from pyspark.sql import functions

from pyflow.session.package import provide
from pyflow.table.functions.settings import FunctionSettings
from pyflow.table.runtime.aggregate import load_aggregate
from pyflow.table.runtime.asynchronous import load_async
from pyflow.table.runtime.pandas_functions import load_pandas_aggregate, load_pandas_scalar
from pyflow.table.runtime.scalar import load_scalar, load_table_function
from pyflow.types.function_values import Shape, decoder
from pyflow.types.logical_types import ArrayType, DataType, RowField, RowType
from pyflow.types.shapes import arrow_type, shape_of
from pyflow.types.spark_types import to_spark
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, WindowSpec


#: PySpark's type stubs leave some functions out.
F: Any = functions

__all__ = ["aggregate", "async_scalar", "lateral", "scalar", "table_aggregate"]


class Wrapper(Protocol):
    """What is read of a function as `udf`, `udtf`, `udaf` and `udtaf` return it."""

    function: Any
    func_type: str
    name: str
    deterministic: bool


class _Pickled:
    """What PySpark pickles as the user's function: unpickled, it is what `load` returns.

    Parameters
    ----------
    name : str
        Of the function, for plans and errors.
    load : callable
        Opens the function in a task.
    *arguments
        Of `load`.
    """

    def __init__(self, name: str, load: Callable[..., Any], *arguments: Any) -> None:
        self.__name__ = name
        self._load = load
        self._arguments = arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return self._load, self._arguments

    def __call__(self, *arguments: Any) -> Any:
        raise AssertionError(f"{self.__name__} runs on executors only")


# PySpark would read annotations as type hints of a kind of function.
_Pickled.__call__.__annotations__.clear()


def scalar(
    wrapper: Wrapper,
    result_type: DataType,
    arguments: Sequence[Column],
    types: Sequence[DataType],
    settings: FunctionSettings,
    names: Sequence[str | None],
    constants: Collection[int] = (),
) -> Column:
    """Return a call of a scalar function.

    Parameters
    ----------
    wrapper : Wrapper
    result_type : DataType
    arguments : sequence of Column
    types : sequence of DataType
        Of the arguments.
    settings : FunctionSettings
    names : sequence of str or None
        Of the columns that arguments are; series over them have these names.
    constants : collection of int
        The positions of arguments that are the same in all rows.
    """
    if wrapper.func_type == "pandas":
        return _pandas_scalar(wrapper, result_type, arguments, types, settings, names, constants)
    shapes, result = _shapes(types, settings), shape_of(result_type, settings.time_zone)
    pickled = _pickled(wrapper, load_scalar, settings, shapes, result, settings.for_tasks())
    return _plain(wrapper, pickled, result_type, settings, arguments)


def _pandas_scalar(
    wrapper: Wrapper,
    result_type: DataType,
    arguments: Sequence[Column],
    types: Sequence[DataType],
    settings: FunctionSettings,
    names: Sequence[str | None],
    constants: Collection[int],
) -> Column:
    """Return a call of a scalar function over series; a constant argument is a value instead."""
    shapes, result = _shapes(types, settings), shape_of(result_type, settings.time_zone)
    series = [place for place in range(len(arguments)) if place not in constants]
    if not series:
        raise TableException(
            f"pandas function {wrapper.name} needs an argument that is no literal: it tells the "
            "number of rows"
        )
    values = _values({place: arguments[place] for place in constants}, shapes, settings)
    pickled = _pickled(
        wrapper,
        load_pandas_scalar,
        settings,
        shapes,
        list(names),
        values,
        result,
        settings.for_tasks(),
    )
    function = _arrow(pickled, result_type, F.ArrowUDFType.SCALAR)
    return _called(wrapper, function, [arguments[place] for place in series])


def _values(
    constants: Mapping[int, Column], shapes: Sequence[Shape], settings: FunctionSettings
) -> dict[int, Any]:
    """Return the arguments that are the same in all rows, as functions see them, by position."""
    if not constants:
        return {}
    # No job runs: the optimizer computes them.
    frame = settings.session.sql("SELECT * FROM VALUES (1)").select(*constants.values())
    decoders = [decoder(shapes[place]) for place in constants]
    [row] = frame.collect()
    return {
        place: value if decode is None else decode(value)
        for place, decode, value in zip(constants, decoders, row)
    }


def async_scalar(
    wrapper: Wrapper,
    result_type: DataType,
    arguments: Sequence[Column],
    types: Sequence[DataType],
    settings: FunctionSettings,
) -> Column:
    """Return a call of an asynchronous scalar function; parameters as `scalar` has them."""
    pickled = _pickled(
        wrapper,
        load_async,
        settings,
        _shapes(types, settings) if arguments else None,
        shape_of(result_type, settings.time_zone),
        settings.for_tasks(),
        settings.async_options,
    )
    function = _arrow(pickled, result_type, F.ArrowUDFType.SCALAR_ITER)
    return _called(wrapper, function, arguments or [F.lit(True)])


def lateral(
    wrapper: Wrapper,
    result_type: RowType,
    frame: DataFrame,
    arguments: Sequence[Column],
    types: Sequence[DataType],
    names: Sequence[str],
    outer: bool,
    settings: FunctionSettings,
) -> DataFrame:
    """Return the rows of a frame, each joined with the rows that a table function makes of it.

    Parameters
    ----------
    wrapper : Wrapper
    result_type : RowType
        Of a row that the function makes.
    frame : DataFrame
    arguments : sequence of Column
    types : sequence of DataType
        Of the arguments.
    names : sequence of str
        Of the columns that the function makes.
    outer : bool
        Whether a row of which it makes none comes once, with nulls.
    settings : FunctionSettings
    """
    rows_type = ArrayType(result_type)
    pickled = _pickled(
        wrapper,
        load_table_function,
        settings,
        _shapes(types, settings),
        shape_of(rows_type, settings.time_zone),
        settings.for_tasks(),
    )
    rows = _plain(wrapper, pickled, rows_type, settings, arguments)
    generated = (F.inline_outer if outer else F.inline)(rows)
    return frame.select("*", generated.alias(*names))


def aggregate(
    wrapper: Wrapper,
    result_type: DataType,
    arguments: Sequence[Column],
    types: Sequence[DataType],
    settings: FunctionSettings,
    names: Sequence[str | None],
    distinct: bool,
    window: WindowSpec | None,
) -> Column:
    """Return a call of an aggregate function, among the columns of ``agg`` or over a window.

    Parameters
    ----------
    wrapper : Wrapper
    result_type : DataType
    arguments : sequence of Column
    types : sequence of DataType
        Of the arguments.
    settings : FunctionSettings
    names : sequence of str or None
        Of the columns that arguments are; series over them have these names.
    distinct : bool
        Whether rows with the same arguments count once.
    window : WindowSpec or None
        None for the rows of a group.
    """
    columns = _collected(wrapper, arguments, distinct, window)
    result, for_tasks = shape_of(result_type, settings.time_zone), settings.for_tasks()
    if wrapper.func_type == "pandas":
        shapes = _shapes(types, settings) if arguments else [("BOOLEAN",)]
        of_series = list(names) if arguments else [None]
        pickled = _pickled(
            wrapper, load_pandas_aggregate, settings, shapes, of_series, result, for_tasks
        )
        function = _arrow(pickled, result_type, F.ArrowUDFType.SCALAR)
        return _called(wrapper, function, columns)
    none_or_shapes = _shapes(types, settings) if arguments else None
    pickled = _pickled(wrapper, load_aggregate, settings, none_or_shapes, result, for_tasks, False)
    return _plain(wrapper, pickled, result_type, settings, columns)


def table_aggregate(
    wrapper: Wrapper,
    result_type: RowType,
    arguments: Sequence[Column],
    types: Sequence[DataType],
    settings: FunctionSettings,
    distinct: bool,
) -> Column:
    """Return the array of the rows that a table aggregate emits for a group, to be exploded.

    Parameters as `aggregate` has them; `result_type` is that of one row.
    """
    rows_type = ArrayType(result_type)
    pickled = _pickled(
        wrapper,
        load_aggregate,
        settings,
        _shapes(types, settings) if arguments else None,
        shape_of(rows_type, settings.time_zone),
        settings.for_tasks(),
        True,
    )
    columns = _collected(wrapper, arguments, distinct, None)
    return _plain(wrapper, pickled, rows_type, settings, columns)


def row_of(types: Sequence[DataType]) -> RowType:
    """Return a row of fields of these types, with the names that Flink gives them."""
    return RowType([RowField(f"f{index}", each) for index, each in enumerate(types)])


def _shapes(types: Sequence[DataType], settings: FunctionSettings) -> list[Shape]:
    return [shape_of(each, settings.time_zone) for each in types]


def _pickled(
    wrapper: Wrapper,
    load: Callable[..., Any],
    settings: FunctionSettings,
    *arguments: Any,
) -> _Pickled:
    provide(settings.session)
    return _Pickled(wrapper.name, load, wrapper.function, wrapper.name, *arguments)


def _plain(
    wrapper: Wrapper,
    pickled: _Pickled,
    result_type: DataType,
    settings: FunctionSettings,
    arguments: Sequence[Column],
) -> Column:
    returned = to_spark(result_type)
    arrow = settings.takes_arrow and returned == arrow_type(result_type)
    return _called(wrapper, F.udf(pickled, returned, useArrow=arrow), arguments)


def _arrow(pickled: _Pickled, result_type: DataType, kind: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # PySpark would rather read type hints
        return F.arrow_udf(pickled, arrow_type(result_type), kind)


def _called(wrapper: Wrapper, function: Any, arguments: Sequence[Column]) -> Column:
    made = function if wrapper.deterministic else function.asNondeterministic()
    column: Column = made(*arguments)
    return column


def _collected(
    wrapper: Wrapper,
    arguments: Sequence[Column],
    distinct: bool,
    window: WindowSpec | None,
) -> list[Column]:
    """Return the arguments of a group's rows, an array each. Rows with nulls count, too."""
    if window is not None and distinct:
        raise TableException(
            f"aggregate function {wrapper.name} cannot be DISTINCT over a window: Spark collects "
            "sets of groups only"
        )
    names = [f"a{index}" for index in range(len(arguments))] or ["none"]
    values = list(arguments) or [F.lit(True)]
    row = F.struct(*(value.alias(name) for name, value in zip(names, values)))
    rows = F.collect_set(row) if distinct else F.collect_list(row)
    if window is not None:
        rows = rows.over(window)
    return [rows.getField(name) for name in names]
