"""Conversion between Arrow arrays and the series and data frames of functions over them.

Functions see what pyarrow makes of an array, as in PyFlink: numbers with nulls are floats, arrays
are those of numpy, maps are lists of pairs, rows inside of others are dicts. Instants, also those
inside of other values, are in the time zone of the session.

Results are converted safely: a number must not lose its fraction, nor digits of a DECIMAL. Of
times and timestamps, what is finer than their type is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pyflow.common.types import Row
from pyflow.types.arrow_values import arrow_type
from pyflow.types.function_values import Shape, encoder, has_instants

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

__all__ = ["array_of", "array_of_values", "in_zone", "series_of", "with_times"]

#: Units of timestamps by their precision, as in PyFlink.
_UNITS = ("s", "ms", "ms", "ms", "us", "us", "us", "ns", "ns", "ns")
#: The last precision without what is below a millisecond.
_MILLISECONDS = 3


# What functions get


def series_of(array: pa.Array, shape: Shape, name: str | None = None) -> pd.Series | pd.DataFrame:
    """Return the values of an array as functions see them, of rows the fields as columns."""
    if shape[0] != "ROW":
        series = _series(array, shape)
        # As rename(), without a copy.
        series.name = name
        return series
    import pandas as pd

    _, names, shapes = shape
    columns = [_series(field, each) for field, each in zip(array.flatten(), shapes)]
    return pd.concat(columns, axis=1, keys=names)


def _series(array: pa.Array, shape: Shape) -> pd.Series:
    import pyarrow as pa

    if _has_times(shape):
        whole_seconds = _with_whole_seconds(array.type, shape)
        if array.type != whole_seconds:
            array = array.cast(whole_seconds, safe=False)
        wanted = _with_units(array.type, shape)
        if array.type != wanted:
            # Years that nanoseconds do not reach stay microseconds.
            with suppress(pa.ArrowInvalid):
                array = array.cast(wanted)
    return in_zone(array.to_pandas(date_as_object=True), shape)


def in_zone(series: pd.Series, shape: Shape) -> pd.Series:
    """Return a series with its instants, which pyarrow gives in UTC, in the session's time zone."""
    if shape[0] == "LTZ":
        return series.dt.tz_convert(shape[2])
    if not has_instants(shape):
        return series
    import pandas as pd

    return pd.Series([_in_zone(value, shape) for value in series], dtype=object)


def _with_units(stored: pa.DataType, shape: Shape) -> pa.DataType:
    """Return the Arrow type of values with timestamps of their types' units."""
    import pyarrow as pa

    kind, *about = shape
    if kind in ("TIMESTAMP", "LTZ"):
        return pa.timestamp(_UNITS[about[0]], stored.tz)
    return _with_inner(_with_units, stored, shape)


def _with_whole_seconds(stored: pa.DataType, shape: Shape) -> pa.DataType:
    """Return the Arrow type of values with times of TIME(0) in seconds."""
    import pyarrow as pa

    if shape == ("TIME", 0):
        return pa.time32("s")
    return _with_inner(_with_whole_seconds, stored, shape)


def _with_inner(
    change: Callable[[pa.DataType, Shape], pa.DataType], stored: pa.DataType, shape: Shape
) -> pa.DataType:
    """Return a type with the types inside of it changed."""
    import pyarrow as pa

    kind, *about = shape
    if kind == "ARRAY":
        return pa.list_(stored.value_field.with_type(change(stored.value_type, about[0])))
    if kind == "MAP":
        key, value = map(change, (stored.key_type, stored.item_type), about)
        return pa.map_(stored.key_field.with_type(key), stored.item_field.with_type(value))
    if kind == "ROW":
        fields = [
            field.with_type(change(field.type, each)) for field, each in zip(stored, about[1])
        ]
        return pa.struct(fields)
    return stored


def _in_zone(value: Any, shape: Shape) -> Any:
    """Return a value with its instants, which pandas has in UTC, in the session's time zone."""
    import pandas as pd

    kind, *about = shape
    if value is None or value is pd.NaT or not has_instants(shape):
        return value
    if kind == "LTZ":
        stamp = pd.Timestamp(value)
        if stamp is pd.NaT:
            return None
        return (stamp.tz_localize("UTC") if stamp.tzinfo is None else stamp).tz_convert(about[1])
    if kind == "ROW":
        return {name: _in_zone(value[name], each) for name, each in zip(*about)}
    if kind == "MAP":
        key, of_key = about
        return [(_in_zone(k, key), _in_zone(v, of_key)) for k, v in value]
    return _objects([_in_zone(each, about[0]) for each in value])


def _objects(values: list[Any]) -> np.ndarray[Any, Any]:
    """Return an array of objects, also where they are arrays themselves."""
    import numpy as np

    array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        array[place] = value
    return array


# What functions return


def array_of(output: pd.Series | pd.DataFrame, shape: Shape, subject: str) -> pa.Array:
    """Return the array of a type for what a function returned.

    Parameters
    ----------
    output : Series or DataFrame
        A data frame for rows: its columns are the fields in their order, whatever their names.
    shape : tuple
        The declared type.
    subject : str
        What the output is, for errors: ``the result of pandas function f``.

    Raises
    ------
    TypeError
        If values are of another type, or do not fit.
    ValueError
        If a data frame has more or fewer columns than there are fields.
    """
    import pandas as pd
    import pyarrow as pa

    if not isinstance(output, pd.DataFrame):
        return _array(output, shape, subject)
    if shape[0] != "ROW":
        raise TypeError(f"{subject} is no row and must be a pandas.Series, but is a DataFrame")
    _, names, shapes = shape
    if len(output.columns) != len(names):
        raise ValueError(
            f"{subject} has {len(output.columns)} columns, but its type has {len(names)}: "
            + ", ".join(names)
        )
    fields = [
        _array(output.iloc[:, place], each, f"column {name} of {subject}")
        for place, (name, each) in enumerate(zip(names, shapes))
    ]
    return pa.StructArray.from_arrays(fields, fields=list(arrow_type(shape)))


def array_of_values(values: list[Any], shape: Shape, subject: str) -> pa.Array:
    """Return the array of a type for values that a function returned one by one.

    Of a row or a tuple each value is a field; errors are those of `array_of`.
    """
    import pyarrow as pa

    if shape[0] == "ROW":
        arrays = [_row_array(value, shape, subject) for value in values]
    elif len({type(value) for value in values}) == 1:
        arrays = [array_of(_as_series(values, shape), shape, subject)]
    else:
        # In one series they would become values of one type.
        arrays = [array_of(_as_series([value], shape), shape, subject) for value in values]
    return pa.concat_arrays(arrays) if arrays else pa.array([], type=arrow_type(shape))


def _row_array(value: Any, shape: Shape, subject: str) -> pa.Array:
    import pandas as pd

    if not isinstance(value, (Row, tuple)):
        return array_of(pd.Series([value]), shape, subject)
    columns = {place: pd.Series([field]) for place, field in enumerate(value)}
    return array_of(pd.DataFrame(columns), shape, subject)


def _as_series(values: list[Any], shape: Shape) -> pd.Series:
    import pandas as pd

    # Series of times do not know which of the two times of an hour that comes twice is meant.
    return pd.Series(values, dtype=object if shape[0] == "LTZ" else None)


def _array(series: pd.Series, shape: Shape, subject: str) -> pa.Array:
    import pyarrow as pa

    kind, *about = shape
    if _is_of_time(shape) and series.dtype.kind in "iufb":
        raise TypeError(f"{subject} has {series.dtype} in place of times")
    if kind == "LTZ":
        series = _instants(series, shape, subject)
    elif _has_times(shape) and not _is_of_time(shape):
        values = [with_times(value, shape, subject) for value in series]
        series = type(series)(values, dtype=object)
    # Types of pandas that have nulls of their own tell them themselves.
    mask = None if hasattr(series.array, "__arrow_array__") else series.isnull()
    try:
        array = pa.Array.from_pandas(
            series, mask=mask, type=arrow_type(shape), safe=not _is_of_time(shape)
        )
    except (pa.ArrowException, TypeError) as error:
        raise TypeError(
            f"{subject} has values ({series.dtype}) that cannot become {arrow_type(shape)}: {error}"
        ) from error
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    return _cut(array, kind, about)


def _cut(array: pa.Array, kind: str, about: list[Any]) -> pa.Array:
    """Times and timestamps without what is below a millisecond, where their type has none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind == "TIME":
        unit = "s" if about[0] == 0 else "ms"
        return array.cast(pa.time32(unit), safe=False).cast(array.type)
    if kind in ("TIMESTAMP", "LTZ") and about[0] <= _MILLISECONDS:
        return pc.floor_temporal(array, unit="millisecond")
    return array


def _is_of_time(shape: Shape) -> bool:
    return shape[0] in ("TIME", "TIMESTAMP", "LTZ")


def _has_times(shape: Shape) -> bool:
    """Return whether there are times or timestamps in the values of a type."""
    kind, *about = shape
    if kind == "ROW":
        return any(map(_has_times, about[1]))
    return _is_of_time(shape) or (kind in ("ARRAY", "MAP") and any(map(_has_times, about)))


def _instants(series: pd.Series, shape: Shape, subject: str) -> pd.Series:
    """Return a series of instants: what has no time zone are times of the session's."""
    import numpy as np
    import pandas as pd

    if isinstance(series.dtype, pd.DatetimeTZDtype):
        return series
    if series.dtype.kind == "M":
        earlier = np.ones(len(series), dtype=bool)
        zoned = series.dt.tz_localize(shape[2], ambiguous=earlier, nonexistent="NaT")
        if not (zoned.isna() & series.notna()).any():
            return zoned
    return pd.Series([with_times(value, shape, subject) for value in series], dtype=object)


def with_times(value: Any, shape: Shape, subject: str) -> Any:
    """Return a value with the times in it as their types have them.

    Maps become lists of pairs, rows dicts: what Arrow takes for them.
    """
    import pandas as pd

    kind, *about = shape
    if value is None or value is pd.NaT or not _has_times(shape):
        return None if value is pd.NaT else value
    if _is_of_time(shape):
        if type(value) is int and kind != "TIME":
            # Arrow makes such numbers of nanoseconds that are in rows or maps.
            value = pd.Timestamp(value, tz="UTC" if kind == "LTZ" else None)
        is_stamp = type(value).__name__ == "datetime64"
        encoded = encoder(shape, subject)(pd.Timestamp(value) if is_stamp else value)
        return encoded.replace(microsecond=0) if shape == ("TIME", 0) else encoded
    if kind == "ROW":
        names, shapes = about
        fields = [value[name] for name in names] if isinstance(value, Mapping) else value
        return {
            name: with_times(field, each, subject)
            for name, field, each in zip(names, fields, shapes)
        }
    if kind == "MAP":
        key, of_key = about
        pairs = value.items() if isinstance(value, Mapping) else value
        return [(with_times(k, key, subject), with_times(v, of_key, subject)) for k, v in pairs]
    return [with_times(each, about[0], subject) for each in value]
