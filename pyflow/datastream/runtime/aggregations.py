"""Rolling aggregations of a field."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from pyflow.common.types import Row
from pyflow.datastream.functions import ReduceFunction

__all__ = ["Accumulation", "FieldReduce"]


class Accumulation(Enum):
    """What is computed of a field."""

    MIN = 1
    MAX = 2
    MIN_BY = 3
    MAX_BY = 4
    SUM = 5


def _least(one: Any, other: Any) -> Any:
    return other if other < one else one


def _greatest(one: Any, other: Any) -> Any:
    return other if other > one else one


def _sum(one: Any, other: Any) -> Any:
    return one + other


_COMBINE: dict[Accumulation, Callable[[Any, Any], Any]] = {
    Accumulation.MIN: _least,
    Accumulation.MAX: _greatest,
    Accumulation.SUM: _sum,
}


class FieldReduce(ReduceFunction):
    """Computes something of a field of tuples, lists and rows, or of elements of a basic type.

    Parameters
    ----------
    position : int or str
        Of the field; 0 for an element of a basic type.
    kind : Accumulation
    """

    def __init__(self, position: int | str, kind: Accumulation) -> None:
        self._position = position
        self._kind = kind

    def reduce(self, value1: Any, value2: Any) -> Any:
        """Return the first element with the result, or the one of them that has it."""
        position, kind = self._position, self._kind
        has_fields = isinstance(value2, (tuple, list, Row))
        if not has_fields and position != 0:
            raise TypeError(
                f"The {position} field selected on a basic type. A field expression on a basic "
                "type can only select the 0th field (which means selecting the entire basic type)."
            )
        one, other = (value1[position], value2[position]) if has_fields else (value1, value2)
        if kind == Accumulation.MIN_BY:
            return value2 if other < one else value1
        if kind == Accumulation.MAX_BY:
            return value2 if other > one else value1
        combined = _COMBINE[kind](one, other)
        return _with_field(value1, position, combined) if has_fields else combined


def _with_field(value: Any, position: Any, field: Any) -> Any:
    if isinstance(value, Row):
        copied = Row(*value)
        names = vars(value).get("_fields")
        if names is not None:
            copied.set_field_names(list(names))
        copied.set_row_kind(value.get_row_kind())
        copied[position] = field
        return copied
    fields = list(value)
    fields[position] = field
    return fields if isinstance(value, list) else tuple(fields)
