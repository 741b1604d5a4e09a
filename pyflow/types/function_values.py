"""Conversion between what PySpark hands to functions and what functions of the Table API see.

Most types need no conversion. Rows are :class:`pyflow.common.Row`; ``TIMESTAMP_LTZ`` is a
``datetime`` in the session's time zone. Results are checked: an integer must fit into its type, a
float for an integer loses its fraction, a string must be a ``str``.

A type is described by a shape, a tuple of its kind and what the kind needs to know, so that
executors need not import the types themselves.
"""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from pyflow.common.types import Row, _create_row

__all__ = ["Convert", "Shape", "decoder", "encoder", "has_instants", "is_exact", "time_zone"]

Shape = tuple[Any, ...]
Convert = Callable[[Any], Any]

#: The least and the greatest value of each type of integers.
_INTEGERS = {
    "TINYINT": (-(2**7), 2**7 - 1),
    "SMALLINT": (-(2**15), 2**15 - 1),
    "INT": (-(2**31), 2**31 - 1),
    "BIGINT": (-(2**63), 2**63 - 1),
}

#: Kinds of which thread mode knows by itself which values are not of the type or do not fit.
_CHECKED_BY_CODEC = {"BIGINT", "FLOAT", "DOUBLE", "BOOLEAN", "STRING", "BYTES", "INTERVAL", "ANY"}

#: Kinds of which it does so with Arrow only: pickled, the JVM cuts or rounds what does not fit.
_CHECKED_WITH_ARROW = {"TINYINT", "SMALLINT", "INT", "DECIMAL"}

#: Kinds of which it does so without Arrow only, which takes a number for a date.
_CHECKED_WITHOUT_ARROW = {"DATE"}

_MILLISECOND = 1000


def time_zone(name: str) -> datetime.tzinfo:
    """Return the time zone of a name or an offset, as Spark has them."""
    offset = re.fullmatch(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?", name)
    if offset is not None:
        sign, hours, minutes, seconds = offset.groups()
        distance = datetime.timedelta(
            hours=int(hours), minutes=int(minutes or 0), seconds=int(seconds or 0)
        )
        return datetime.timezone(distance if sign == "+" else -distance)
    if name in ("UTC", "Z", "GMT", "UT"):
        return datetime.timezone.utc
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)


# What functions get


def decoder(shape: Shape) -> Convert | None:
    """Return the function that converts an argument from PySpark; None if it needs none."""
    kind, *about = shape
    if kind == "ROW":
        return _row_decoder(*about)
    if kind == "ARRAY":
        element = decoder(about[0])
        return None if element is None else _unless_none(_list_decoder(element))
    if kind == "MAP":
        return _map_decoder(*about)
    if kind == "LTZ":
        return _unless_none(_in_zone(time_zone(about[1])))
    return None


def _unless_none(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _same(value: Any) -> Any:
    return value


def _row_decoder(names: list[str], shapes: list[Shape]) -> Convert:
    fields = [decoder(shape) for shape in shapes]
    names = list(names)
    if not any(fields):
        return _unless_none(lambda row: row if type(row) is Row else _create_row(names, row))
    each = [field or _same for field in fields]
    return _unless_none(
        lambda row: _create_row(names, [field(value) for field, value in zip(each, row)])
    )


def _list_decoder(element: Convert) -> Convert:
    return lambda values: [element(value) for value in values]


def _map_decoder(key_shape: Shape, value_shape: Shape) -> Convert | None:
    key, value = decoder(key_shape), decoder(value_shape)
    if key is None and value is None:
        return None
    of_key, of_value = key or _same, value or _same
    return _unless_none(lambda entries: {of_key(k): of_value(v) for k, v in entries.items()})


def _in_zone(zone: datetime.tzinfo) -> Convert:
    """Convert an aware time, or a naive one by the process's clock, which PySpark passes."""
    return lambda value: value.astimezone(zone)


# What functions return


def is_exact(shape: Shape, arrow: bool) -> bool:
    """Return whether thread mode detects values that need an encoder, which others can skip.

    Parameters
    ----------
    shape : tuple
    arrow : bool
        Whether PySpark takes the values through Arrow.
    """
    kind, *about = shape
    if kind == "ARRAY":
        return is_exact(about[0], arrow)
    if kind == "MAP":
        return is_exact(about[0], arrow) and is_exact(about[1], arrow)
    if kind == "TIMESTAMP":
        return not _is_cut(about[0])
    return kind in _CHECKED_BY_CODEC or kind in (
        _CHECKED_WITH_ARROW if arrow else _CHECKED_WITHOUT_ARROW
    )


def has_instants(shape: Shape) -> bool:
    """Return whether a type is TIMESTAMP_LTZ or contains it."""
    kind, *about = shape
    if kind == "ROW":
        return any(map(has_instants, about[1]))
    return kind == "LTZ" or (kind in ("ARRAY", "MAP") and any(map(has_instants, about)))


def encoder(shape: Shape, subject: str) -> Convert:
    """Return the function that converts a function's result to a value of a type.

    Parameters
    ----------
    shape : tuple
    subject : str
        What the value is, for errors: ``the result of f``.

    Returns
    -------
    callable
        Raises TypeError for a value of another type, OverflowError for a number that does not fit,
        ValueError for a row that has other fields.
    """
    kind, *about = shape
    if kind in _INTEGERS:
        return _integer_encoder(kind, subject)
    if kind == "ROW":
        return _row_encoder(about[0], about[1], subject)
    if kind == "ARRAY":
        return _array_encoder(about[0], subject)
    if kind == "MAP":
        return _map_encoder(about[0], about[1], subject)
    make: Callable[..., Convert] = _ATOMIC_ENCODERS[kind]
    return _unless_none(make(subject, *about))


def _refused(value: Any, subject: str, expected: str) -> TypeError:
    return TypeError(f"{subject} is {value!r} ({type(value).__name__}), which is no {expected}")


def _integer_encoder(name: str, subject: str) -> Convert:
    least, greatest = _INTEGERS[name]

    def encode(value: Any) -> int | None:
        if type(value) is not int:
            if value is None:
                return None
            value = _whole(value, name, subject)
        if least <= value <= greatest:
            return cast(int, value)
        raise OverflowError(f"{subject} is {value}, which does not fit into {name}")

    return encode


def _whole(value: Any, name: str, subject: str) -> int:
    if isinstance(value, (str, bytes, bytearray)) or not (
        hasattr(value, "__index__") or hasattr(value, "__int__")
    ):
        raise _refused(value, subject, name)
    return int(value)


def _boolean_encoder(subject: str) -> Convert:
    def encode(value: Any) -> bool:
        return value if type(value) is bool else bool(_whole(value, "BOOLEAN", subject))

    return encode


def _float_encoder(subject: str) -> Convert:
    def encode(value: Any) -> float:
        if type(value) is float:
            return value
        if isinstance(value, (str, bytes, bytearray)) or not (
            hasattr(value, "__float__") or hasattr(value, "__index__")
        ):
            raise _refused(value, subject, "number")
        return float(value)

    return encode


def _decimal_encoder(subject: str, precision: int, scale: int) -> Convert:
    context = decimal.Context(prec=precision)
    unit = decimal.Decimal(10) ** -scale

    def encode(value: Any) -> decimal.Decimal:
        if not isinstance(value, decimal.Decimal):
            raise _refused(value, subject, "decimal.Decimal")
        try:
            if not value.is_nan():
                return context.quantize(value, unit)
        except decimal.InvalidOperation:
            pass
        raise OverflowError(
            f"{subject} is {value}, which does not fit into DECIMAL({precision}, {scale})"
        )

    return encode


def _string_encoder(subject: str) -> Convert:
    def encode(value: Any) -> str:
        if type(value) is str:
            return value
        if not isinstance(value, str):
            raise _refused(value, subject, "str")
        return str(value)

    return encode


def _bytes_encoder(subject: str) -> Convert:
    def encode(value: Any) -> bytes:
        if type(value) is bytes:
            return value
        if not isinstance(value, (bytes, bytearray, memoryview)):
            raise _refused(value, subject, "bytes")
        return bytes(value)

    return encode


def _date_encoder(subject: str) -> Convert:
    def encode(value: Any) -> datetime.date:
        if type(value) is datetime.date:
            return value
        if not isinstance(value, datetime.date):
            raise _refused(value, subject, "datetime.date")
        return datetime.date(value.year, value.month, value.day)

    return encode


def _time_encoder(subject: str, _precision: int) -> Convert:
    """Flink has milliseconds of a day, whatever the precision, and takes those of a datetime."""

    def encode(value: Any) -> datetime.time:
        if not isinstance(value, (datetime.time, datetime.datetime)):
            raise _refused(value, subject, "datetime.time")
        micros = value.microsecond - value.microsecond % _MILLISECOND
        return datetime.time(value.hour, value.minute, value.second, micros)

    return encode


def _is_cut(precision: int) -> bool:
    """Return whether Flink stores milliseconds of a timestamp."""
    return precision <= 3


def _timestamp_encoder(subject: str, precision: int) -> Convert:
    """Return an encoder that drops the time zone: what calendar and clock show counts."""
    unit = _MILLISECOND if _is_cut(precision) else 1

    def encode(value: Any) -> datetime.datetime:
        _check_timestamp(value, subject)
        return _plain_datetime(value, unit, None)

    return encode


def _zoned_encoder(subject: str, precision: int, zone_name: str) -> Convert:
    """Return an encoder of instants; a time without a zone is one of the session's."""
    unit = _MILLISECOND if _is_cut(precision) else 1
    zone = time_zone(zone_name)

    def encode(value: Any) -> datetime.datetime:
        _check_timestamp(value, subject)
        if value.tzinfo is None:
            value = value.replace(tzinfo=zone)
        return _plain_datetime(value.astimezone(datetime.timezone.utc), unit, datetime.timezone.utc)

    return encode


def _check_timestamp(value: Any, subject: str) -> None:
    if not isinstance(value, datetime.datetime):
        raise _refused(value, subject, "datetime.datetime")


def _plain_datetime(
    value: datetime.datetime, unit: int, zone: datetime.tzinfo | None
) -> datetime.datetime:
    """Return a plain ``datetime.datetime``, which has no nanoseconds."""
    return datetime.datetime(
        *(value.year, value.month, value.day, value.hour, value.minute, value.second),
        microsecond=value.microsecond - value.microsecond % unit,
        tzinfo=zone,
    )


def _interval_encoder(subject: str) -> Convert:
    def encode(value: Any) -> datetime.timedelta:
        if not isinstance(value, datetime.timedelta):
            raise _refused(value, subject, "datetime.timedelta")
        return datetime.timedelta(value.days, value.seconds, value.microseconds)

    return encode


def _array_encoder(element_shape: Shape, subject: str) -> Convert:
    element = encoder(element_shape, f"an element of {subject}")

    def encode(values: Any) -> list[Any] | None:
        if values is None:
            return None
        if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
            raise _refused(values, subject, "list")
        return [element(value) for value in values]

    return encode


def _map_encoder(key_shape: Shape, value_shape: Shape, subject: str) -> Convert:
    key = encoder(key_shape, f"a key of {subject}")
    value = encoder(value_shape, f"a value of {subject}")

    def encode(entries: Any) -> dict[Any, Any] | None:
        if entries is None:
            return None
        if not isinstance(entries, Mapping):
            raise _refused(entries, subject, "dict")
        return {key(k): value(v) for k, v in entries.items()}

    return encode


def _row_encoder(names: list[str], shapes: list[Shape], subject: str) -> Convert:
    names = list(names)
    fields = [encoder(shape, f"field {name} of {subject}") for name, shape in zip(names, shapes)]

    def encode(row: Any) -> tuple[Any, ...] | None:
        if row is None:
            return None
        values: Sequence[Any]
        if isinstance(row, Row):
            values = row.get_fields_by_names(names)
        elif isinstance(row, (tuple, list)):
            values = row
        else:
            raise _refused(row, subject, "Row")
        if len(values) != len(fields):
            raise ValueError(
                f"{subject} has {len(values)} fields, but its type has {len(fields)}: "
                + ", ".join(names)
            )
        return tuple(field(value) for field, value in zip(fields, values))

    return encode


def _any_encoder(subject: str) -> Convert:
    return _same


_ATOMIC_ENCODERS: dict[str, Callable[..., Convert]] = {
    "BOOLEAN": _boolean_encoder,
    "FLOAT": _float_encoder,
    "DOUBLE": _float_encoder,
    "DECIMAL": _decimal_encoder,
    "STRING": _string_encoder,
    "BYTES": _bytes_encoder,
    "DATE": _date_encoder,
    "TIME": _time_encoder,
    "TIMESTAMP": _timestamp_encoder,
    "LTZ": _zoned_encoder,
    "INTERVAL": _interval_encoder,
    "ANY": _any_encoder,
}
