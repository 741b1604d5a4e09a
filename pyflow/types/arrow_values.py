"""Conversion between Arrow arrays and what functions of the Table API see.

Imports pyarrow where it is needed, which isolated interpreters cannot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyflow.common.types import _create_row
from pyflow.types.function_values import Convert, Shape, encoder, time_zone

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["array_maker", "arrow_type", "values_of"]


def values_of(array: pa.Array, shape: Shape) -> list[Any]:
    """Return the values of an array, as functions see them."""
    decode = _decoder(shape)
    values: list[Any] = array.to_pylist()
    return values if decode is None else [decode(value) for value in values]


def _decoder(shape: Shape) -> Convert | None:
    kind, *about = shape
    if kind == "ROW":
        return _row_decoder(*about)
    if kind == "ARRAY":
        element = _decoder(about[0])
        if element is None:
            return None
        return lambda values: None if values is None else [element(value) for value in values]
    if kind == "MAP":
        return _map_decoder(*about)
    if kind == "LTZ":
        zone = time_zone(about[1])
        return lambda value: None if value is None else value.astimezone(zone)
    return None


def _row_decoder(names: list[str], shapes: list[Shape]) -> Convert:
    names = list(names)
    each = [_decoder(shape) or _same for shape in shapes]

    def decode(fields: dict[str, Any] | None) -> Any:
        if fields is None:
            return None
        return _create_row(names, [field(value) for field, value in zip(each, fields.values())])

    return decode


def _map_decoder(key_shape: Shape, value_shape: Shape) -> Convert:
    key, value = _decoder(key_shape) or _same, _decoder(value_shape) or _same
    return lambda pairs: None if pairs is None else {key(k): value(v) for k, v in pairs}


def _same(value: Any) -> Any:
    return value


def array_maker(shape: Shape, subject: str) -> Callable[[list[Any]], pa.Array]:
    """Return the function that makes an array from the results of a function.

    Parameters
    ----------
    shape : tuple
        The declared type.
    subject : str
        What a value is, for errors.
    """
    import pyarrow as pa

    encode, stored, arrow = encoder(shape, subject), _stored(shape), arrow_type(shape)
    if stored is None:
        return lambda values: pa.array([encode(value) for value in values], type=arrow)
    return lambda values: pa.array([stored(encode(value)) for value in values], type=arrow)


def _stored(shape: Shape) -> Convert | None:
    """Return the function that converts an encoded value for Arrow; None if it needs none."""
    kind, *about = shape
    if kind == "MAP":
        key, value = (_stored(each) or _same for each in about)
        return lambda entries: (
            None if entries is None else [(key(k), value(v)) for k, v in entries.items()]
        )
    if kind == "ARRAY":
        element = _stored(about[0])
        if element is None:
            return None
        return lambda values: None if values is None else [element(value) for value in values]
    if kind == "ROW":
        names, shapes = about
        fields = [_stored(each) or _same for each in shapes]
        return lambda row: (
            None
            if row is None
            else {name: field(value) for name, field, value in zip(names, fields, row)}
        )
    return None


def arrow_type(shape: Shape) -> pa.DataType:
    """Return the Arrow type in which PySpark takes results of a type."""
    import pyarrow as pa

    kind, *about = shape
    if kind == "ROW":
        return pa.struct([pa.field(name, arrow_type(each)) for name, each in zip(*about)])
    if kind == "ARRAY":
        return pa.list_(arrow_type(about[0]))
    if kind == "MAP":
        return pa.map_(arrow_type(about[0]), arrow_type(about[1]))
    if kind == "DECIMAL":
        return pa.decimal128(*about)
    return {
        "TINYINT": pa.int8(),
        "SMALLINT": pa.int16(),
        "INT": pa.int32(),
        "BIGINT": pa.int64(),
        "FLOAT": pa.float32(),
        "DOUBLE": pa.float64(),
        "BOOLEAN": pa.bool_(),
        "STRING": pa.string(),
        "BYTES": pa.binary(),
        "DATE": pa.date32(),
        "TIME": pa.time64("ns"),
        "TIMESTAMP": pa.timestamp("us"),
        "LTZ": pa.timestamp("us", tz="UTC"),
        "INTERVAL": pa.duration("us"),
        "ANY": pa.null(),
    }[kind]
