"""Python values of tables, to and from those that PySpark has for the same types."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Sequence
from typing import Any

from pyflow.common.time import Instant
from pyflow.common.types import Row
from pyflow.types.logical_types import (
    ArrayType,
    BinaryType,
    DataType,
    DecimalType,
    FloatType,
    MapType,
    MultisetType,
    RowType,
    UserDefinedType,
    VarBinaryType,
)
from pyflow.types.parts import parts_of, with_parts
from pyflow.util.java_numbers import java_float

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def from_spark_value(value: Any, data_type: DataType) -> Any:
    """Return a value that PySpark collected as one of the Table API.

    Parameters
    ----------
    value
        The value, or None.
    data_type
        Its type; rows inside become :class:`Row`, and bytes ``bytearray``, as PyFlink has them,
        except keys of maps, which must be hashable. A ``FLOAT`` becomes the number with the fewest
        digits that is that one in 32 bits.
    """
    if value is None:
        return None
    if isinstance(data_type, FloatType):
        return float(java_float(value, single=True))
    if isinstance(data_type, (BinaryType, VarBinaryType)):
        return bytearray(value)
    if isinstance(data_type, RowType):
        types = data_type.field_types()
        return Row(*(from_spark_value(item, t) for item, t in zip(value, types)))
    if isinstance(data_type, ArrayType):
        return [from_spark_value(item, data_type.element_type) for item in value]
    if isinstance(data_type, MapType):
        return {
            _key(key, data_type.key_type): from_spark_value(item, data_type.value_type)
            for key, item in value.items()
        }
    if isinstance(data_type, MultisetType):
        return {_key(key, data_type.element_type): count for key, count in value.items()}
    return value


def _key(value: Any, data_type: DataType) -> Any:
    key = from_spark_value(value, data_type)
    return bytes(key) if isinstance(key, bytearray) else key


def stored_type(data_type: DataType) -> DataType:
    """Return the type as which values are kept: what classes of a program's own are kept as."""
    if isinstance(data_type, UserDefinedType):
        stored = stored_type(data_type.sql_type())
        return stored if data_type._nullable else stored.not_null()
    return with_parts(data_type, [*map(stored_type, parts_of(data_type))])


def to_spark_value(value: Any, data_type: DataType) -> Any:
    """Return a value of a program as PySpark takes it for the same type."""
    if value is None:
        return None
    if isinstance(data_type, UserDefinedType):
        return to_spark_value(data_type.serialize(value), data_type.sql_type())
    if isinstance(data_type, RowType):
        names, types = data_type.field_names(), data_type.field_types()
        values = _values_of(value, names)
        return tuple(to_spark_value(item, t) for item, t in zip(values, types))
    if isinstance(data_type, ArrayType):
        return [to_spark_value(item, data_type.element_type) for item in value]
    if isinstance(data_type, MapType):
        return {
            to_spark_value(key, data_type.key_type): to_spark_value(item, data_type.value_type)
            for key, item in value.items()
        }
    if isinstance(data_type, MultisetType):
        element = data_type.element_type
        entries = value.items() if isinstance(value, dict) else _counted(value)
        return {to_spark_value(key, element): count for key, count in entries}
    if isinstance(data_type, DecimalType) and isinstance(value, decimal.Decimal):
        rounded = rounded_decimal(value, data_type)
        if rounded is None:
            raise ValueError(f"{value} does not fit into {data_type.sql}")
        return rounded
    if isinstance(value, Instant):
        after = datetime.timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)
        return _EPOCH + after
    return value


def rounded_decimal(value: decimal.Decimal, data_type: DecimalType) -> decimal.Decimal | None:
    """Return a number with the digits of a type behind the point; None if it does not fit.

    Flink rounds half up, and has null for a number that does not fit.
    """
    unit = decimal.Decimal(1).scaleb(-data_type.scale)
    context = decimal.Context(prec=data_type.precision)
    try:
        return value.quantize(unit, decimal.ROUND_HALF_UP, context) if value.is_finite() else None
    except decimal.InvalidOperation:
        return None


def _values_of(row: Any, names: Sequence[str]) -> Sequence[Any]:
    """Return the values of a row in the order of its type's fields."""
    if isinstance(row, dict):
        return [row.get(name) for name in names]
    if isinstance(row, Row) and hasattr(row, "_fields"):
        own = list(row._fields)
        if set(own) == set(names):
            return [row[own.index(name)] for name in names]
    if isinstance(row, (Row, tuple, list)):
        return list(row)
    if hasattr(row, "__dict__"):
        return [getattr(row, name, None) for name in names]
    return [row]


def _counted(values: Sequence[Any]) -> list[tuple[Any, int]]:
    return [(value, values.count(value)) for value in dict.fromkeys(values)]
