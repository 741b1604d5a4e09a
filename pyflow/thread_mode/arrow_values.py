"""Values as pyarrow makes them of Arrow data, and as it takes them.

PySpark's processors that keep state get rows that pyarrow has made Python values of, and give it
theirs, without the conversions that other functions have between.
"""

from __future__ import annotations

import datetime
import re
import zoneinfo
from collections.abc import Callable
from typing import Any

from pyspark.sql.types import ArrayType, DataType, MapType, Row, StructType, TimestampType

__all__ = ["from_arrow", "naive_as_utc", "rows_as_dicts"]

_Convert = Callable[[Any], Any]


def from_arrow(data_type: DataType, time_zone: str, is_row: bool = False) -> _Convert | None:
    """How a value of the row codec becomes what ``as_py`` of an Arrow array makes of it.

    Parameters
    ----------
    data_type : pyspark.sql.types.DataType
    time_zone : str
        Of the session; timestamps are shown in it.
    is_row : bool
        Whether a struct stays a row, as the outermost one does.

    Returns
    -------
    callable or None
        None if it is the same.
    """
    if isinstance(data_type, StructType):
        return _from_struct(data_type, time_zone, is_row)
    if isinstance(data_type, ArrayType):
        element = from_arrow(data_type.elementType, time_zone)
        return element and _unless_none(lambda values: list(map(element, values)))
    if isinstance(data_type, MapType):
        key = from_arrow(data_type.keyType, time_zone) or _identity
        value = from_arrow(data_type.valueType, time_zone) or _identity
        return _unless_none(lambda entries: [(key(k), value(v)) for k, v in entries.items()])
    if isinstance(data_type, TimestampType):
        zone = _zone(time_zone)
        return _unless_none(lambda timestamp: timestamp.astimezone(zone))
    return None


def _from_struct(struct: StructType, time_zone: str, is_row: bool) -> _Convert | None:
    names = struct.names
    fields = [from_arrow(field.dataType, time_zone) for field in struct.fields]
    if not is_row:
        converts = [convert or _identity for convert in fields]
        return _unless_none(
            lambda row: {name: convert(v) for name, convert, v in zip(names, converts, row)}
        )
    if not any(fields):
        return None
    new_row = Row(*names)
    return lambda row: new_row(*(convert(v) if convert else v for convert, v in zip(fields, row)))


def naive_as_utc(data_type: DataType) -> _Convert | None:
    """How Arrow reads timestamps without a zone in a result: as UTC. None if there are none."""
    if isinstance(data_type, TimestampType):
        return _with_utc
    if isinstance(data_type, StructType):
        fields = {field.name: naive_as_utc(field.dataType) for field in data_type.fields}
        if not any(fields.values()):
            return None
        return _of_dicts(lambda k, v: convert(v) if (convert := fields.get(k)) else v)
    if isinstance(data_type, ArrayType):
        element = naive_as_utc(data_type.elementType)
        return element and _of_lists(element)
    if isinstance(data_type, MapType):
        value = naive_as_utc(data_type.valueType)
        return value and _of_dicts(lambda _, v: value(v))
    return None


def rows_as_dicts(data_type: DataType) -> _Convert:
    """How results become what Arrow takes: structs by name, maps as pairs."""
    if isinstance(data_type, StructType):
        names = data_type.names
        fields = [rows_as_dicts(field.dataType) for field in data_type.fields]

        def to_dict(row: Any) -> Any:
            if isinstance(row, dict):
                row = tuple(map(row.get, names))
            if not isinstance(row, tuple):
                return row
            return {name: convert(v) for name, convert, v in zip(names, fields, row)}

        return to_dict
    if isinstance(data_type, ArrayType):
        return _of_lists(rows_as_dicts(data_type.elementType))
    if isinstance(data_type, MapType):
        key, value = rows_as_dicts(data_type.keyType), rows_as_dicts(data_type.valueType)
        return lambda entries: (
            [(key(k), value(v)) for k, v in entries.items()]
            if isinstance(entries, dict)
            else entries
        )
    return _identity


def _with_utc(value: Any) -> Any:
    if isinstance(value, datetime.datetime) and value.tzinfo is None:
        return value.replace(tzinfo=datetime.timezone.utc)
    return value


def _of_dicts(convert: Callable[[Any, Any], Any]) -> _Convert:
    return lambda value: (
        {k: convert(k, v) for k, v in value.items()} if isinstance(value, dict) else value
    )


def _of_lists(convert: _Convert) -> _Convert:
    return lambda value: list(map(convert, value)) if isinstance(value, (list, tuple)) else value


def _zone(name: str) -> datetime.tzinfo:
    offset = re.fullmatch(r"(?:UTC|GMT)?([+-])(\d\d):(\d\d)", name)
    if offset is None:
        return zoneinfo.ZoneInfo(name)
    sign, hours, minutes = offset.groups()
    distance = datetime.timedelta(hours=int(hours), minutes=int(minutes))
    return datetime.timezone(distance if sign == "+" else -distance)


def _identity(value: Any) -> Any:
    return value


def _unless_none(convert: _Convert) -> _Convert:
    return lambda value: None if value is None else convert(value)
