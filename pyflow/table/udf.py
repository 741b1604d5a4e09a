"""User-defined functions: the classes that they inherit from, and what makes them usable in tables.

Executors import this module; what only the driver needs is imported where it is used.
"""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pyflow.streaming.runtime.functions import FunctionContext, UserDefinedFunction

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, WindowSpec

    from pyflow.table.functions.settings import FunctionSettings
    from pyflow.types.logical_types import DataType, RowType

__all__ = [
    "AggregateFunction",
    "AsyncScalarFunction",
    "FunctionContext",
    "ScalarFunction",
    "TableAggregateFunction",
    "TableFunction",
    "udaf",
    "udf",
    "udtaf",
    "udtf",
]

T = TypeVar("T")
ACC = TypeVar("ACC")

_FUNC_TYPES = ("general", "pandas")


class ScalarFunction(UserDefinedFunction, ABC):
    """A function that makes one value of the arguments of a row."""

    @abstractmethod
    def eval(self, *args: Any) -> Any:
        """Return the value. With ``func_type="pandas"`` arguments and result are series."""


class AsyncScalarFunction(UserDefinedFunction, ABC):
    """A scalar function of which many calls wait at once, as for a database or a service."""

    @abstractmethod
    async def eval(self, *args: Any) -> Any:
        """Return the value."""


class TableFunction(UserDefinedFunction, ABC):
    """A function that makes any number of rows of the arguments of a row."""

    @abstractmethod
    def eval(self, *args: Any) -> Any:
        """Return the rows.

        Of a list, a range or a generator each element is a row; any other value is one row, and
        None is no row. A row of several fields is a ``Row`` or a tuple.
        """


class ImperativeAggregateFunction(UserDefinedFunction, ABC, Generic[T, ACC]):
    """What aggregate functions and table aggregate functions have in common."""

    @abstractmethod
    def create_accumulator(self) -> ACC:
        """Return the accumulator of no rows."""

    @abstractmethod
    def accumulate(self, accumulator: ACC, *args: Any) -> None:
        """Add the arguments of a row to the accumulator."""

    def retract(self, accumulator: ACC, *args: Any) -> None:
        """Retract the arguments of a row from the accumulator."""
        raise RuntimeError(f"{type(self).__name__} has no method retract")

    def merge(self, accumulator: ACC, accumulators: Iterable[ACC]) -> None:
        """Merge other accumulators into the first one."""
        raise RuntimeError(f"{type(self).__name__} has no method merge")

    def get_result_type(self) -> DataType | str:
        """Return the type of the result, where `udaf` is not told it."""
        raise RuntimeError(f"{type(self).__name__} has no method get_result_type")

    def get_accumulator_type(self) -> DataType | str:
        """Return the type of the accumulator, where `udaf` is not told it."""
        raise RuntimeError(f"{type(self).__name__} has no method get_accumulator_type")


class AggregateFunction(ImperativeAggregateFunction[T, ACC]):
    """A function that makes one value of the rows of a group."""

    @abstractmethod
    def get_value(self, accumulator: ACC) -> T:
        """Return the result of the accumulator."""


class TableAggregateFunction(ImperativeAggregateFunction[T, ACC]):
    """A function that makes any number of rows of the rows of a group."""

    @abstractmethod
    def emit_value(self, accumulator: ACC) -> Iterable[T]:
        """Return the rows; one of a single field may be the field's value."""


class UserDefinedFunctionWrapper:
    """A function with what tables have to know of it; calling it makes an expression.

    Parameters
    ----------
    func : UserDefinedFunction or callable
    input_types : DataType, str, or sequence of them, or None
    func_type : str
    deterministic : bool or None
    name : str or None

    Attributes
    ----------
    function : UserDefinedFunction or callable
    kind : str
        scalar, async, table, aggregate or table_aggregate.
    func_type : str
        general or pandas.
    name : str
    deterministic : bool
    takes_row : bool
        Whether its one argument is the whole row.
    """

    kind = ""

    def __init__(
        self,
        func: Any,
        input_types: Any,
        func_type: str,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> None:
        if inspect.isclass(func) or not (isinstance(func, UserDefinedFunction) or callable(func)):
            raise TypeError(
                "Invalid function: not a function or callable (__call__ is not defined): "
                f"{type(func)}"
            )
        declared = func.is_deterministic() if isinstance(func, UserDefinedFunction) else None
        if None not in (declared, deterministic) and declared != deterministic:
            raise ValueError(f"Inconsistent deterministic: {deterministic} and {declared}")
        if deterministic is None:
            deterministic = True if declared is None else declared
        self.function = func
        self.func_type = func_type
        self.name = name or getattr(func, "__name__", None) or type(func).__name__
        self.deterministic = deterministic
        self.takes_row = False
        self._input_types = _checked_list("input_type", input_types)
        self._alias_names: tuple[str, ...] = ()

    def __call__(self, *args: Any) -> Any:
        """Return the ``Expression`` that calls the function with these arguments."""
        from pyflow.table import expressions

        return expressions.call(self, *args)

    def alias(self, *alias_names: str) -> UserDefinedFunctionWrapper:
        """Name the columns of the result."""
        self._alias_names = alias_names
        return self

    @property
    def alias_names(self) -> tuple[str, ...]:
        """What `alias` was told."""
        return self._alias_names

    def _set_takes_row_as_input(self) -> UserDefinedFunctionWrapper:
        self.takes_row = True
        return self

    @property
    def input_types(self) -> list[DataType] | None:
        """The types of the arguments, None if they were not declared."""
        return None if self._input_types is None else [_parsed(each) for each in self._input_types]

    def check_arguments(self, count: int) -> None:
        """Raise TableException if the function was declared for another number of arguments."""
        if self._input_types is not None and len(self._input_types) != count:
            from pyflow.util.exceptions import TableException

            declared = ", ".join(each.sql for each in self.input_types or ())
            raise TableException(
                f"function {self.name} takes {len(self._input_types)} arguments ({declared}), but "
                f"is called with {count}"
            )


class UserDefinedScalarFunctionWrapper(UserDefinedFunctionWrapper):
    """A scalar function; parameters as `udf` has them."""

    kind = "scalar"

    def __init__(
        self,
        func: Any,
        input_types: Any,
        result_type: Any,
        func_type: str,
        deterministic: bool | None,
        name: str | None,
    ) -> None:
        super().__init__(func, input_types, func_type, deterministic, name)
        self._result_type = _checked("returnType", result_type, "Invalid returnType: ")

    @property
    def result_type(self) -> DataType:
        """The type of the result."""
        return _parsed(self._result_type)

    def column(
        self,
        arguments: Sequence[Column],
        types: Sequence[DataType],
        context: FunctionSettings,
        names: Sequence[str | None],
        constants: Collection[int] = (),
    ) -> Column:
        """Return the call of the function as a column.

        Parameters
        ----------
        arguments : sequence of Column
        types : sequence of DataType
            Of the arguments.
        context : FunctionSettings
        names : sequence of str or None
            Of the columns that arguments are.
        constants : collection of int
            The positions of arguments that are the same in all rows.
        """
        from pyflow.table.functions import python as python_functions

        return python_functions.scalar(
            self, self.result_type, arguments, types, context, names, constants
        )


class UserDefinedAsyncScalarFunctionWrapper(UserDefinedScalarFunctionWrapper):
    """An asynchronous scalar function; parameters as `udf` has them."""

    kind = "async"

    def column(
        self,
        arguments: Sequence[Column],
        types: Sequence[DataType],
        context: FunctionSettings,
        names: Sequence[str | None],
        constants: Collection[int] = (),
    ) -> Column:
        """Return the call of the function as a column."""
        from pyflow.table.functions import python as python_functions

        return python_functions.async_scalar(self, self.result_type, arguments, types, context)


class UserDefinedTableFunctionWrapper(UserDefinedFunctionWrapper):
    """A table function; parameters as `udtf` has them."""

    kind = "table"

    def __init__(
        self,
        func: Any,
        input_types: Any,
        result_types: Any,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(func, input_types, "general", deterministic, name)
        self._result_types = result_types
        if not isinstance(result_types, str):
            self._result_types = _checked_list("result_type", result_types)

    @property
    def result_type(self) -> RowType:
        """The type of a row of the result; only as a string it says the names of its columns."""
        from pyflow.table.functions.python import row_of
        from pyflow.types.logical_types import RowField, RowType

        if not isinstance(self._result_types, str):
            return row_of(list(map(_parsed, self._result_types)))
        parsed = _parsed(self._result_types)
        return parsed if isinstance(parsed, RowType) else RowType([RowField("EXPR$0", parsed)])

    @property
    def result_types(self) -> list[DataType]:
        """The types of the columns of the result."""
        return self.result_type.field_types()

    def lateral(
        self,
        frame: DataFrame,
        arguments: Sequence[Column],
        types: Sequence[DataType],
        names: Sequence[str],
        outer: bool,
        context: FunctionSettings,
    ) -> DataFrame:
        """Return a frame with each row as often as the function makes rows of it.

        Parameters
        ----------
        frame : DataFrame
        arguments : sequence of Column
        types : sequence of DataType
            Of the arguments.
        names : sequence of str
            Of the columns that the function makes.
        outer : bool
            Whether a row of which it makes none comes once, with nulls.
        context : FunctionSettings
        """
        from pyflow.table.functions import python as python_functions

        return python_functions.lateral(
            self, self.result_type, frame, arguments, types, names, outer, context
        )


class UserDefinedAggregateFunctionWrapper(UserDefinedFunctionWrapper):
    """An aggregate or table aggregate function; parameters as `udaf` and `udtaf` have them."""

    def __init__(
        self,
        func: Any,
        input_types: Any,
        result_type: Any,
        accumulator_type: Any,
        func_type: str,
        deterministic: bool | None,
        name: str | None,
        is_table_aggregate: bool = False,
    ) -> None:
        super().__init__(func, input_types, func_type, deterministic, name)
        self.kind = "table_aggregate" if is_table_aggregate else "aggregate"
        if accumulator_type is None and func_type == "general":
            accumulator_type = self._declared("get_accumulator_type")
        if result_type is None:
            result_type = self._declared("get_result_type")
        self._result_type = _checked("returnType", result_type, "Invalid returnType: ")
        if accumulator_type is not None:
            _checked("accumulator_type", accumulator_type, "Invalid accumulator_type: ")
        if func_type == "general" and isinstance(result_type, str) != isinstance(
            accumulator_type, str
        ):
            raise TypeError(
                "result_type and accumulator_type should be DataType or str at the same time."
            )
        self._accumulator_type = accumulator_type
        if func_type == "pandas":
            self._refuse_map()

    def _declared(self, method: str) -> Any:
        """Return the type that the function declares by one of its methods."""
        if not isinstance(self.function, ImperativeAggregateFunction):
            raise TypeError(
                f"function {self.name} has no method {method}: a general aggregate is an object "
                "of a class that inherits from AggregateFunction or TableAggregateFunction"
            )
        return getattr(self.function, method)()

    def _refuse_map(self) -> None:
        if not isinstance(self._result_type, str):
            from pyflow.types.logical_types import MapType

            if isinstance(self._result_type, MapType):
                raise TypeError(
                    "Invalid returnType: Pandas UDAF doesn't support DataType type "
                    f"{self._result_type.sql} currently"
                )

    @property
    def result_type(self) -> DataType:
        """The type of the result, of a table aggregate that of a row."""
        if self.kind == "table_aggregate":
            return _row_type(self._result_type)
        return _parsed(self._result_type)

    @property
    def accumulator_type(self) -> DataType | None:
        """The type of the accumulator, None for pandas functions."""
        return None if self._accumulator_type is None else _parsed(self._accumulator_type)

    @property
    def retracts(self) -> bool:
        """Whether the function can retract rows."""
        return type(self.function).retract is not ImperativeAggregateFunction.retract

    def aggregate(
        self,
        arguments: Sequence[Column],
        types: Sequence[DataType],
        context: FunctionSettings,
        names: Sequence[str | None],
        distinct: bool = False,
        window: WindowSpec | None = None,
    ) -> Column:
        """Return the function's value for a group or window, as a column of ``agg`` or ``select``.

        Parameters
        ----------
        arguments : sequence of Column
        types : sequence of DataType
            Of the arguments.
        context : FunctionSettings
        names : sequence of str or None
            Of the columns that arguments are.
        distinct : bool
            Whether rows with the same arguments count once.
        window : WindowSpec, optional
            What it is over; the rows of a group otherwise.
        """
        from pyflow.table.functions import python as python_functions

        return python_functions.aggregate(
            self, self.result_type, arguments, types, context, names, distinct, window
        )

    def emit(
        self,
        arguments: Sequence[Column],
        types: Sequence[DataType],
        context: FunctionSettings,
        distinct: bool = False,
    ) -> Column:
        """Return the rows of a table aggregate for a group: an array, for ``inline``."""
        from pyflow.table.functions import python as python_functions

        return python_functions.table_aggregate(
            self, _row_type(self._result_type), arguments, types, context, distinct
        )


def _checked(what: str, data_type: Any, prefix: str, contains: bool = False) -> Any:
    """Return a type as it was given, or raise a TypeError if it is not one."""
    if not isinstance(data_type, str):
        from pyflow.types.logical_types import DataType

        if not isinstance(data_type, DataType):
            verb = "contains" if contains else "is"
            raise TypeError(f"{prefix}{what} should be DataType or str but {verb} {data_type}")
    return data_type


def _checked_list(what: str, types: Any) -> Any:
    """Types as a list; of a row type those of its fields."""
    if types is None and what == "input_type":
        return None
    if isinstance(types, str):
        return [types]
    from pyflow.types.logical_types import DataType, RowType

    if isinstance(types, RowType):
        return types.field_types()
    if types is None:
        raise TypeError(f"Invalid {what}: {what} should be DataType or str but is None")
    listed = [types] if isinstance(types, DataType) else list(types)
    return [_checked(what, each, f"Invalid {what}: ", contains=True) for each in listed]


def _parsed(data_type: DataType | str) -> DataType:
    if isinstance(data_type, str):
        from pyflow.types.syntax import parse

        return parse(data_type)
    from pyflow.types.values import stored_type

    return stored_type(data_type)


def _row_type(types: Any) -> RowType:
    """Return the type of a row, given that of a row, or of its field or fields."""
    from pyflow.table.functions.python import row_of
    from pyflow.types.logical_types import RowType

    if not isinstance(types, list):
        parsed = _parsed(types)
        if isinstance(parsed, RowType):
            return parsed
        types = [parsed]
    return row_of([_parsed(each) for each in types])


def _check_func_type(func_type: str, allowed: Sequence[str]) -> None:
    if func_type not in allowed:
        expected = f"one of '{', '.join(allowed)}'" if len(allowed) > 1 else f"'{allowed[0]}'"
        raise ValueError(f"The func_type must be {expected}, got {func_type}.")


def _create_udf(
    f: Any, input_types: Any, result_type: Any, func_type: str, deterministic: Any, name: Any
) -> UserDefinedScalarFunctionWrapper:
    wrapper = UserDefinedScalarFunctionWrapper
    if isinstance(f, AsyncScalarFunction) or inspect.iscoroutinefunction(f):
        if func_type == "pandas":
            raise ValueError(
                "an async function gets values of a row: it has func_type='general', the default"
            )
        wrapper = UserDefinedAsyncScalarFunctionWrapper
    return wrapper(f, input_types, result_type, func_type, deterministic, name)


def udf(
    f: Callable[..., Any] | ScalarFunction | AsyncScalarFunction | type | None = None,
    input_types: Sequence[DataType] | DataType | str | Sequence[str] | None = None,
    result_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Make a scalar function of a callable or an object; without one, a decorator.

    Parameters
    ----------
    f : callable, ScalarFunction or AsyncScalarFunction
        Coroutine functions and objects of AsyncScalarFunction are asynchronous.
    input_types : DataType, str, or sequence of them, optional
        Of the arguments.
    result_type : DataType or str
    deterministic : bool, optional
        Whether the same arguments always give the same result; by default what the object says.
    name : str, optional
        In plans and errors; by default that of `f` or of its class.
    func_type : str
        ``general`` for values, ``pandas`` for series and data frames of many rows.

    Returns
    -------
    UserDefinedScalarFunctionWrapper

    Raises
    ------
    TypeError
        If `f` is a class or cannot be called, or a type is not a data type.
    ValueError
        If `func_type` is another, or `deterministic` is not what the object says.
    """
    _check_func_type(func_type, _FUNC_TYPES)
    if f is None:
        return functools.partial(
            _create_udf,
            input_types=input_types,
            result_type=result_type,
            func_type=func_type,
            deterministic=deterministic,
            name=name,
        )
    return _create_udf(f, input_types, result_type, func_type, deterministic, name)


def udtf(
    f: Callable[..., Any] | TableFunction | type | None = None,
    input_types: Sequence[DataType] | DataType | str | Sequence[str] | None = None,
    result_types: Sequence[DataType] | DataType | str | Sequence[str] | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
) -> Any:
    """Make a table function of a callable or an object; without one, a decorator.

    Parameters
    ----------
    f : callable or TableFunction
        What it returns: see `TableFunction.eval`.
    input_types, deterministic, name
        As `udf` has them.
    result_types : DataType, str, or sequence of them
        Of the columns; a row type has one field for each.

    Returns
    -------
    UserDefinedTableFunctionWrapper

    Raises
    ------
    TypeError, ValueError
        As `udf` does.
    """
    make = functools.partial(
        UserDefinedTableFunctionWrapper,
        input_types=input_types,
        result_types=result_types,
        deterministic=deterministic,
        name=name,
    )
    return make if f is None else make(f)


def udaf(
    f: Callable[..., Any] | AggregateFunction[Any, Any] | type | None = None,
    input_types: Sequence[DataType] | DataType | str | Sequence[str] | None = None,
    result_type: DataType | str | None = None,
    accumulator_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Make an aggregate function of a callable or an object; without one, a decorator.

    Parameters
    ----------
    f : callable or AggregateFunction
        A callable is for ``func_type="pandas"`` only.
    input_types, deterministic, name
        As `udf` has them.
    result_type, accumulator_type : DataType or str, optional
        Both of one kind; by default what the methods of `f` say. Pandas functions have no
        accumulator type.
    func_type : str
        ``general`` for a value of each row, ``pandas`` for series of all rows of a group.

    Returns
    -------
    UserDefinedAggregateFunctionWrapper

    Raises
    ------
    TypeError, ValueError
        As `udf` does.
    """
    _check_func_type(func_type, _FUNC_TYPES)
    make = functools.partial(
        UserDefinedAggregateFunctionWrapper,
        input_types=input_types,
        result_type=result_type,
        accumulator_type=accumulator_type,
        func_type=func_type,
        deterministic=deterministic,
        name=name,
    )
    return make if f is None else make(f)


def udtaf(
    f: Callable[..., Any] | TableAggregateFunction[Any, Any] | type | None = None,
    input_types: Sequence[DataType] | DataType | str | Sequence[str] | None = None,
    result_type: DataType | str | None = None,
    accumulator_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Make a table aggregate function of an object; without one, a decorator.

    Parameters
    ----------
    f : TableAggregateFunction
    input_types, deterministic, name
        As `udf` has them.
    result_type, accumulator_type : DataType or str, optional
        As `udaf` has them; the result type is that of a row.
    func_type : str
        ``general``.

    Returns
    -------
    UserDefinedAggregateFunctionWrapper

    Raises
    ------
    TypeError, ValueError
        As `udf` does.
    """
    _check_func_type(func_type, ("general",))
    make = functools.partial(
        UserDefinedAggregateFunctionWrapper,
        input_types=input_types,
        result_type=result_type,
        accumulator_type=accumulator_type,
        func_type=func_type,
        deterministic=deterministic,
        name=name,
        is_table_aggregate=True,
    )
    return make if f is None else make(f)


def check_wrapper(function: Any) -> None:
    """Raise unless an object is a function as `udf`, `udtf`, `udaf` and `udtaf` return it.

    Raises
    ------
    TypeError
    """
    if not isinstance(function, UserDefinedFunctionWrapper):
        raise TypeError(
            "expected an Expression or a function made by udf(), udtf(), udaf() or udtaf(), "
            f"got {type(function).__name__}: {function!r}"
        )


def wrapped(function: Any) -> UserDefinedFunctionWrapper:
    """Return a function as it is registered; objects of aggregate functions may come bare.

    Raises
    ------
    TypeError
        If it is not a user-defined function.
    """
    if isinstance(function, AggregateFunction):
        return udaf(function)  # type: ignore[no-any-return]
    if isinstance(function, TableAggregateFunction):
        return udtaf(function)  # type: ignore[no-any-return]
    check_wrapper(function)
    return function  # type: ignore[no-any-return]
