"""Conversion of results that are not of the exact Python type, by PySpark's own converters.

For Arrow-optimised functions PySpark converts a column of results at a time, through pyarrow.
pyarrow refuses isolated interpreters, so there PySpark's part is done in place, and the outcome is
packed, converted by pyarrow in the shared interpreter and packed again.
"""

from __future__ import annotations

import datetime
import io
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

from pyspark.sql.types import (
    ArrayType,
    DataType,
    DateType,
    IntegerType,
    LongType,
    MapType,
    StructType,
    TimestampType,
    TimeType,
    UserDefinedType,
    VariantType,
    VariantVal,
)

from pyflow.thread_mode import pyspark_worker
from pyflow.thread_mode.arrow_values import rows_as_dicts
from pyflow.thread_mode.errors import ErrorOptions, FormattedError, format_exception
from pyflow.thread_mode.types import with_values

__all__ = ["ArrowOptions", "Column", "convert_packed", "unpack"]

# Values that PySpark has converted, how many of them are examples, how Arrow has to read them, and
# whether it may cast them from what it takes them for.
_Prepared = tuple[list[Any], int, DataType, "ArrowOptions", bool]


class Conversion(NamedTuple):
    """What PySpark does with results of a kind before Arrow gets them."""

    #: Makes a converter for a type, or None; of the type and whether integers may be decimals.
    converter: Callable[[DataType, bool], Callable[[Any], Any] | None]
    #: Whether values that are not of the type are cast.
    casts: bool


#: Of plain functions.
PYSPARK_CONVERSION = Conversion(pyspark_worker.result_converter, casts=True)

#: Of processors that keep state.
ROWS_AS_DICTS = Conversion(lambda data_type, _: rows_as_dicts(data_type), casts=False)


class ArrowOptions:
    """The settings of PySpark's Arrow conversion.

    Parameters
    ----------
    large_var_types, safe_check, int_to_decimal : bool
        As ``RunnerConf`` of ``pyspark.worker`` reads them.
    """

    def __init__(self, large_var_types: bool, safe_check: bool, int_to_decimal: bool) -> None:
        self.large_var_types = large_var_types
        self.safe_check = safe_check
        self.int_to_decimal = int_to_decimal


class Column:
    """What one function returned for the rows of the current Arrow batch.

    pyarrow infers types from all values of a batch, of which a bundle holds only some. So a value
    of each Python type that the batch had before is converted along with a bundle's.

    Parameters
    ----------
    data_type : pyspark.sql.types.DataType
        The declared return type.
    options : ArrowOptions
    error_options : ErrorOptions
        How the shared interpreter shows what it raises.
    conversion : Conversion
    """

    def __init__(
        self,
        data_type: DataType,
        options: ArrowOptions,
        error_options: ErrorOptions,
        conversion: Conversion = PYSPARK_CONVERSION,
    ) -> None:
        self._data_type = data_type
        self._options = options
        self._error_options = error_options
        self._conversion = conversion
        self._examples: dict[type, Any] = {}

    def begin_batch(self) -> None:
        """Forget the batch before."""
        self._examples.clear()

    def add_examples(self, values: list[Any]) -> None:
        """Keep a value of each type for the rest of the batch."""
        for value in values:
            if value is not None:
                self._examples.setdefault(type(value), value)

    def convert(self, values: list[Any]) -> list[Any]:
        """Convert a bundle's results as an Arrow-optimised UDF does.

        Parameters
        ----------
        values : list
            What the function returned, row by row.

        Returns
        -------
        list
            The same values, each of exactly the Python type that stands for the declared type;
            dates and times as what Arrow stores: days and nanoseconds.

        Raises
        ------
        Exception
            What PySpark's converter or pyarrow raises for a value that does not fit.
        """
        return _through_arrow(*self._prepare(values))

    def pack(self, values: list[Any]) -> bytes:
        """Pickle a request to :func:`convert_packed`."""
        packed = io.BytesIO()
        _Packer(packed).dump((self._prepare(values), self._error_options))
        return packed.getvalue()

    def _prepare(self, values: list[Any]) -> _Prepared:
        examples = list(self._examples.values())
        self.add_examples(values)
        converter = self._conversion.converter(self._data_type, self._options.int_to_decimal)
        values = examples + values
        if converter is not None:
            values = [converter(value) for value in values]
        return values, len(examples), self._data_type, self._options, self._conversion.casts


def _through_arrow(
    values: list[Any], examples: int, data_type: DataType, options: ArrowOptions, casts: bool
) -> list[Any]:
    """Have pyarrow convert the column, without the examples that it begins with."""
    import pyarrow as pa

    arrow_type = pyspark_worker.arrow_type(data_type, options.large_var_types)
    try:
        array = pa.array(values, type=arrow_type)
    except pa.lib.ArrowInvalid:
        if not casts:
            raise
        _check_depth(values)
        array = pa.array(values).cast(target_type=arrow_type, safe=options.safe_check)
    stored_type = with_values(data_type, _as_stored)
    if stored_type != data_type:
        array = array.view(pyspark_worker.arrow_type(stored_type, options.large_var_types))
    read = _reader(stored_type)
    return [read(value) for value in array[examples:].to_pylist()]


def _check_depth(value: Any) -> None:
    """Raise RecursionError for a value that contains itself: pyarrow would overflow the stack."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return
    for each in value:
        _check_depth(each)


class _Packer(pyspark_worker.ByValuePickler):  # type: ignore[misc]
    """Keeps the qualified names of classes, which messages of errors show."""

    def reducer_override(self, obj: Any) -> Any:
        reduced = super().reducer_override(obj)
        if isinstance(obj, type) and isinstance(reduced, tuple) and len(reduced) > 2:
            attributes, _ = reduced[2]
            attributes["__qualname__"] = obj.__qualname__
        return reduced


def convert_packed(request: bytes) -> bytes:
    """Convert what another interpreter packed; the answer is for :func:`unpack`."""
    prepared, error_options = pickle.loads(request)
    answer: tuple[list[Any], str | None]
    try:
        answer = (_through_arrow(*prepared), None)
    except BaseException as error:
        answer = ([], format_exception(error, error_options))
    return pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)


def unpack(answer: bytes) -> list[Any]:
    """Read what :func:`convert_packed` answered.

    Raises
    ------
    FormattedError
        If the values could not be converted.
    """
    values: list[Any]
    values, error = pickle.loads(answer)
    if error is not None:
        raise FormattedError(error)
    return values


def _as_stored(value_type: DataType) -> DataType:
    """Dates and times as the numbers that Arrow stores: Python may not have them as such."""
    if isinstance(value_type, DateType):
        return IntegerType()
    if isinstance(value_type, TimeType):
        return LongType()
    return value_type


def _reader(data_type: DataType) -> Callable[[Any], Any]:
    """How one value of an Arrow array is read into the exact Python type."""
    if isinstance(data_type, StructType):
        readers = [_reader(field.dataType) for field in data_type.fields]
        return _unless_none(
            lambda value: tuple(read(v) for read, v in zip(readers, value.values()))
        )
    if isinstance(data_type, ArrayType):
        element = _reader(data_type.elementType)
        return _unless_none(lambda value: [element(v) for v in value])
    if isinstance(data_type, MapType):
        read_key, read_value = _reader(data_type.keyType), _reader(data_type.valueType)
        return _unless_none(lambda value: {read_key(k): read_value(v) for k, v in value})
    if isinstance(data_type, VariantType):
        return _unless_none(lambda value: VariantVal(value["value"], value["metadata"]))
    if isinstance(data_type, TimestampType):
        return _unless_none(lambda value: value.replace(tzinfo=datetime.timezone.utc))
    if isinstance(data_type, UserDefinedType):
        read_sql, user_defined = _reader(data_type.sqlType()), data_type
        return _unless_none(lambda value: user_defined.deserialize(read_sql(value)))
    return lambda value: value


def _unless_none(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)
