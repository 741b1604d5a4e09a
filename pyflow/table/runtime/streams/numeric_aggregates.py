"""Aggregates of numbers: COUNT, SUM, AVG, the variances."""

from __future__ import annotations

import decimal
import math
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from pyflow.table.runtime.streams.aggregate import Aggregate

__all__ = ["Average", "Count", "Number", "Spread", "SpreadOfChanges", "Sum", "finished"]

#: How a number becomes the result: its kind, as in `pyflow.types.function_values`, and the rest.
Number = tuple[Any, ...]

_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_EXACT = decimal.Context(prec=120)
_DIGITS = 38


class Count(Aggregate):
    """``[number]`` of values that are not null."""

    def create(self) -> list[Any]:
        return [0]

    def add(self, state: list[Any], value: Any) -> None:
        if value is not None:
            state[0] += 1

    def take(self, state: list[Any], value: Any) -> None:
        if value is not None:
            state[0] -= 1

    def value(self, state: list[Any]) -> int:
        total: int = state[0]
        return total


class Sum(Aggregate):
    """``[total, number of values]``.

    Parameters
    ----------
    number : tuple
        Of the result.
    otherwise : number or None
        The result of no values.
    """

    def __init__(self, number: Number, otherwise: Any = None) -> None:
        self._finish = finished(number)
        self._decimal = number[0] == "DECIMAL"
        self._zero: Any = decimal.Decimal(0) if self._decimal else 0
        self._otherwise = otherwise

    def create(self) -> list[Any]:
        return [self._zero, 0]

    def add(self, state: list[Any], value: Any) -> None:
        if value is not None:
            state[0] = _EXACT.add(state[0], value) if self._decimal else state[0] + value
            state[1] += 1

    def take(self, state: list[Any], value: Any) -> None:
        if value is not None:
            state[0] = _EXACT.subtract(state[0], value) if self._decimal else state[0] - value
            state[1] -= 1

    def value(self, state: list[Any]) -> Any:
        if not state[1]:
            return self._otherwise
        return self._finish(state[0])


class Average(Sum):
    """As :class:`Sum`, divided by the number of values."""

    def __init__(self, number: Number) -> None:
        super().__init__(number)
        self._is_whole = number[0] in _BITS
        self._finish_total = finished(("BIGINT",))

    def value(self, state: list[Any]) -> Any:
        total, count = state
        if not count:
            return None
        if self._decimal:
            return self._finish(_EXACT.divide(total, decimal.Decimal(count)))
        if self._is_whole:
            total = self._finish_total(total)
            whole = abs(total) // count
            return whole if total >= 0 else -whole
        return self._finish(total / count)


class Spread(Aggregate):
    """``[number, mean, sum of squared distances from it]``, by Welford's method.

    Parameters
    ----------
    number : tuple
        Of the result.
    sample, root : bool
        Whether it is that of a sample, and whether the root is taken of it.
    """

    def __init__(self, number: Number, sample: bool, root: bool) -> None:
        self._finish = finished(number)
        self._sample = sample
        self._root = root

    def create(self) -> list[Any]:
        return [0, 0.0, 0.0]

    def add(self, state: list[Any], value: float | None) -> None:
        if value is None:
            return
        number, mean, squares = state
        distance = value - mean
        part = distance / (number + 1)
        state[:] = number + 1, mean + part, squares + distance * (distance - part)

    def value(self, state: list[Any]) -> Any:
        return self._of(state[0], state[2])

    def _of(self, number: int, squares: Any) -> Any:
        if number <= self._sample:
            return None
        spread = float(squares / (number - self._sample))
        return self._finish(math.sqrt(spread) if self._root else spread)


class SpreadOfChanges(Spread):
    """``[number, sum, sum of squares, how many are no numbers]``, exact.

    A value that is far from the others leaves no error behind when it is retracted.
    """

    def create(self) -> list[Any]:
        return [0, Fraction(0), Fraction(0), 0]

    def add(self, state: list[Any], value: float | None) -> None:
        self._change(state, value, 1)

    def take(self, state: list[Any], value: float | None) -> None:
        self._change(state, value, -1)

    def value(self, state: list[Any]) -> Any:
        number, total, squares, others = state
        if others:
            return self._of(number, math.nan)
        return self._of(number, squares - total * total / number if number else squares)

    def _change(self, state: list[Any], value: float | None, by: int) -> None:
        if value is None:
            return
        state[0] += by
        if math.isfinite(value):
            exact = Fraction(value)
            state[1] += by * exact
            state[2] += by * exact * exact
        else:
            state[3] += by


def finished(number: Number) -> Callable[[Any], Any]:
    """Return the function that converts a number to the type of the result."""
    kind = number[0]
    if kind in _BITS:
        return _wrapping(_BITS[kind])
    if kind == "DECIMAL":
        return _rounding(number[2])
    if kind == "FLOAT":
        return lambda value: struct.unpack("<f", struct.pack("<f", _within_float(value)))[0]
    return float if kind == "DOUBLE" else lambda value: value


def _within_float(value: float) -> float:
    """Return a number, infinite if it is out of the range of FLOAT, which struct refuses."""
    value = float(value)
    greatest = 3.4028235677973366e38  # From here on the nearest FLOAT is infinite.
    return math.copysign(math.inf, value) if greatest <= abs(value) < math.inf else value


def _wrapping(bits: int) -> Callable[[Any], int]:
    half, whole = 1 << (bits - 1), 1 << bits

    def finish(value: Any) -> int:
        if type(value) is not int:
            value = int(value)
        return int(value) if -half <= value < half else (value + half) % whole - half

    return finish


def _rounding(scale: int) -> Callable[[Any], decimal.Decimal | None]:
    unit = decimal.Decimal(1).scaleb(-scale)
    greatest = decimal.Decimal(10) ** (_DIGITS - scale)

    def finish(value: Any) -> decimal.Decimal | None:
        if isinstance(value, float):
            value = decimal.Decimal(repr(value))
        rounded = value.quantize(unit, decimal.ROUND_HALF_UP, _EXACT)
        return rounded if rounded.copy_abs() < greatest else None

    return finish
