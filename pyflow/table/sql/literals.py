"""Literals of SQL: their values and types."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from typing import Any

from pyflow.table import types
from pyflow.table.columns.nodes import Literal
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import DataType

__all__ = ["interval", "literal", "number", "temporal"]

_MONTHS = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
_MICROSECONDS = {
    "WEEK": 7 * 86_400_000_000,
    "DAY": 86_400_000_000,
    "HOUR": 3_600_000_000,
    "MINUTE": 60_000_000,
    "SECOND": 1_000_000,
    "MILLISECOND": 1_000,
    "MICROSECOND": 1,
}
# What parts of an interval behind the first one are less than.
_LIMITS = {"MONTH": 12, "HOUR": 24, "MINUTE": 60, "SECOND": 60}
_DAY_FORM = r"\d{4}-\d{1,2}-\d{1,2}"
_CLOCK_FORM = r"\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?"
_FORMS = {
    "DATE": _DAY_FORM,
    "TIME": _CLOCK_FORM,
    "TIMESTAMP": f"{_DAY_FORM}(?:[ T]{_CLOCK_FORM})?",
}


def literal(value: Any) -> Literal:
    """Return the literal of a Python value, with the type that it has in SQL."""
    return Literal(value, types.infer(value))


def number(text: str) -> Literal:
    """Return the literal of digits: a BIGINT or INT, DECIMAL or DOUBLE."""
    digits = text.removeprefix("-")
    if "e" in text.lower():
        return literal(float(text))
    if digits.isdigit() and -(1 << 63) <= int(text) < 1 << 63:
        return literal(int(text))
    # All digits count that are written, as in Calcite: 0.5 is a DECIMAL(2, 1).
    scale = len(digits.partition(".")[2])
    precision = len(digits.replace(".", ""))
    return Literal(Decimal(text), DataTypes.DECIMAL(precision, scale).not_null())


def temporal(kind: str, text: str) -> tuple[Any, DataType]:
    """Return the value and the type of a DATE, TIME or TIMESTAMP.

    Raises
    ------
    ValueError
        If the string is not a valid value.
    """
    # Python's own forms have weeks and parts of times, too.
    if not re.fullmatch(_FORMS.get(kind, ""), text, re.ASCII):
        raise ValueError(text)
    text = re.sub(r"(?<![\d.])(\d)(?!\d)", r"0\1", text)
    if kind == "TIMESTAMP" and ":" not in text:
        text += " 00:00:00"
    if kind == "DATE":
        return datetime.date.fromisoformat(text), DataTypes.DATE()
    fraction = text.partition(".")[2]
    if len(fraction) > 6:
        if fraction[6:].strip("0"):
            raise ValueError(text)
        text, precision = text[: len(text) - len(fraction) + 6], 6
    else:
        precision = len(fraction)
        text += ("" if fraction else ".") + "0" * (6 - len(fraction))
    if kind == "TIME":
        return datetime.time.fromisoformat(text), DataTypes.TIME(precision)
    return datetime.datetime.fromisoformat(text.replace("T", " ")), DataTypes.TIMESTAMP(precision)


def interval(text: str, first: str, last: str) -> int | datetime.timedelta:
    """Return months, or a time, of an interval's text and its units.

    Raises
    ------
    ValueError
        If the string is not an interval of these units.
    """
    match = re.fullmatch(r"\s*([+-]?)\s*(.*?)\s*", text)
    assert match is not None
    sign = -1 if match[1] == "-" else 1
    if first in _MONTHS:
        numbers = [int(part) for part in match[2].split("-")]
        if len(numbers) != (1 if first == last else 2):
            raise ValueError(text)
        if len(numbers) == 2 and numbers[1] >= _LIMITS.get(last, 0):
            raise ValueError(text)
        return sign * sum(number * _MONTHS[unit] for number, unit in zip(numbers, (first, last)))
    if first not in _MICROSECONDS:
        raise ValueError(text)
    units = list(_MICROSECONDS)[1:5]
    if first == last:
        return sign * _microseconds(match[2], first)
    span = units[units.index(first) : units.index(last) + 1]
    parts = re.split(r"[ :]+", match[2])
    if len(parts) != len(span):
        raise ValueError(text)
    whole = datetime.timedelta()
    for number, unit in zip(parts, span):
        value = _microseconds(number, unit)
        if unit != first and value >= _LIMITS[unit] * _microseconds("1", unit):
            raise ValueError(text)
        whole += value
    return sign * whole


def _microseconds(number: str, unit: str) -> datetime.timedelta:
    pattern = r"\d+(\.\d+)?" if unit == "SECOND" else r"\d+"
    if not re.fullmatch(pattern, number):
        raise ValueError(number)
    if unit == "SECOND":
        # Intervals have milliseconds, as in Flink.
        return datetime.timedelta(milliseconds=int(Decimal(number) * 1000))
    return datetime.timedelta(microseconds=int(number) * _MICROSECONDS[unit])
