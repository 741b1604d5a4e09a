"""Built-in aggregates whose values follow their rows: added one by one, and retracted.

An accumulator is a small list, kept with the others of its key in one value of the state. What may
grow with the number of different values lies in a :class:`~.stores.MapStore` of the aggregate's
own. Results are those that the same aggregates have over bounded input: whole numbers wrap around,
a DECIMAL that is too long is null, NaN is greater than all numbers.
"""

from __future__ import annotations

import decimal
import math
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from pyflow.streaming.runtime.keyed_state import MapStore, Store, identity_of
from pyflow.table.runtime.builtins.json_values import joined_object
from pyflow.table.runtime.streams.values import fields_of

__all__ = ["Aggregate", "make"]

#: How a number becomes the result: its kind, as in `pyflow.types.function_values`, and the rest.
Number = tuple[Any, ...]

_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_EXACT = decimal.Context(prec=120)
_DIGITS = 38


class Aggregate(ABC):
    """An aggregate: accumulators are its own, the rows that they are made of the operator's.

    ``stores`` are opened for a task, and are those of the current key. ``in_order`` tells whether
    the result depends on the order of the rows.
    """

    stores: tuple[Store, ...] = ()
    in_order = False

    def open(self, handle: Any, name: str) -> None:  # noqa: B027
        """Open what an accumulator does not hold, under names that begin with `name`."""

    @abstractmethod
    def create(self) -> Any:
        """An accumulator of no rows."""

    @abstractmethod
    def add(self, state: Any, value: Any) -> None:
        """Add the argument of a row, which may be None."""

    def take(self, state: Any, value: Any) -> None:
        """Retract the argument of a row, where rows of the input are retracted."""
        raise NotImplementedError

    @abstractmethod
    def value(self, state: Any) -> Any:
        """The result."""

    def stored(self, state: Any) -> Any:
        """What is pickled of an accumulator, which is not used after that."""
        return state

    def restored(self, stored: Any) -> Any:
        """The accumulator of which something was pickled."""
        return stored


class _Count(Aggregate):
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


class _Sum(Aggregate):
    """``[total, number of values]``.

    Parameters
    ----------
    number : tuple
        Of the result.
    otherwise : number or None
        The result of no values.
    """

    def __init__(self, number: Number, otherwise: Any = None) -> None:
        self._finish = _finished(number)
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


class _Average(_Sum):
    """As :class:`_Sum`, divided by the number of values."""

    def __init__(self, number: Number) -> None:
        super().__init__(number)
        self._is_whole = number[0] in _BITS
        self._finish_total = _finished(("BIGINT",))

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


class _Spread(Aggregate):
    """``[number, mean, sum of squared distances from it]``, by Welford's method.

    Parameters
    ----------
    number : tuple
        Of the result.
    sample, root : bool
        Whether it is that of a sample, and whether the root is taken of it.
    """

    def __init__(self, number: Number, sample: bool, root: bool) -> None:
        self._finish = _finished(number)
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


class _SpreadOfChanges(_Spread):
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


class _Extreme(Aggregate):
    """``[value, whether there is one]``: the least or the greatest of values that stay."""

    def __init__(self, greatest: bool) -> None:
        self._greatest = greatest

    def create(self) -> list[Any]:
        return [None, False]

    def add(self, state: list[Any], value: Any) -> None:
        if value is not None and (not state[1] or self._precedes(value, state[0])):
            state[:] = value, True

    def value(self, state: list[Any]) -> Any:
        return state[0]

    def _precedes(self, value: Any, other: Any) -> bool:
        one, two = _comparable(value), _comparable(other)
        return bool(one > two if self._greatest else one < two)


class _ExtremeOfChanges(_Extreme):
    """The same of values that may be retracted: how often each is there lies in a store."""

    def __init__(self, greatest: bool, schema: str) -> None:
        super().__init__(greatest)
        self._schema = schema

    def open(self, handle: Any, name: str) -> None:
        self._counts = MapStore(handle, f"{name}_values", self._schema)
        self.stores = (self._counts,)

    def add(self, state: list[Any], value: Any) -> None:
        if value is not None and self._change(value, 1) > 0:
            super().add(state, value)

    def take(self, state: list[Any], value: Any) -> None:
        if value is None or self._change(value, -1):
            return
        if state[1] and identity_of(value) == identity_of(state[0]):
            state[:] = self.create()
            for other, count in self._counts.items():
                if count > 0:
                    super().add(state, other)

    def _change(self, value: Any, by: int) -> int:
        """Count a value; how often it is there now. A count below 0 waits for its rows."""
        count: int = self._counts.get(value, 0) + by
        if count:
            self._counts.put(value, count)
        else:
            self._counts.remove(value)
        return count


class _Placed(Aggregate):
    """``[value, whether there is one]``: the first or the last of values that stay."""

    in_order = True

    def __init__(self, last: bool) -> None:
        self._last = last

    def create(self) -> list[Any]:
        return [None, False]

    def add(self, state: list[Any], value: Any) -> None:
        if value is not None and (self._last or not state[1]):
            state[:] = value, True

    def value(self, state: list[Any]) -> Any:
        return state[0]


class _PlacedOfChanges(Aggregate):
    """``[next place, place of the value, value]``, with the places of each value in a store.

    The earliest of equal values is the one that is retracted.
    """

    def __init__(self, last: bool, schema: str) -> None:
        self._last = last
        self._schema = schema

    def open(self, handle: Any, name: str) -> None:
        self._places = MapStore(handle, f"{name}_places", self._schema)
        self.stores = (self._places,)

    def create(self) -> list[Any]:
        return [0, None, None]

    def add(self, state: list[Any], value: Any) -> None:
        if value is None:
            return
        place = state[0]
        self._places.put(value, [*self._places.get(value, ()), place])
        state[0] += 1
        if self._last or state[1] is None:
            state[1:] = place, value

    def take(self, state: list[Any], value: Any) -> None:
        places = None if value is None else self._places.get(value)
        if not places:
            return
        gone, *rest = places
        if rest:
            self._places.put(value, rest)
        else:
            self._places.remove(value)
        if gone == state[1]:
            choose = max if self._last else min
            left = [(choose(each), other) for other, each in self._places.items()]
            state[1:] = choose(left, key=lambda entry: entry[0]) if left else (None, None)

    def value(self, state: list[Any]) -> Any:
        return state[2]


class _Texts(Aggregate):
    """``[texts]``, joined by a separator."""

    in_order = True

    def __init__(self, separator: str) -> None:
        self._separator = separator

    def create(self) -> list[Any]:
        return []

    def add(self, state: list[Any], value: str | None) -> None:
        if value is not None:
            state.append(value)

    def take(self, state: list[Any], value: str | None) -> None:
        if value is not None and value in state:
            state.remove(value)

    def value(self, state: list[Any]) -> str | None:
        return self._separator.join(state) if state else None


class _Array(Aggregate):
    """All values, nulls among them."""

    in_order = True

    def create(self) -> list[Any]:
        return []

    def add(self, state: list[Any], value: Any) -> None:
        state.append(value)

    def take(self, state: list[Any], value: Any) -> None:
        wanted = identity_of(value)
        for place, known in enumerate(state):
            if identity_of(known) == wanted:
                del state[place]
                return

    def value(self, state: list[Any]) -> Any:
        return list(state) or None


class _JsonArray(_Texts):
    """The JSON of an array, of that of its elements."""

    def __init__(self) -> None:
        super().__init__(",")

    def value(self, state: list[Any]) -> str:
        return f"[{super().value(state) or ''}]"


class _JsonObject(_Array):
    """The JSON of an object; a value is a key and the JSON of what it has, as fields of a row."""

    def __init__(self, on_null: str) -> None:
        self._on_null = on_null

    def value(self, state: list[Any]) -> Any:
        members = [fields_of(member) for member in state]
        keys, values = ([member[place] for member in members] for place in (0, 1))
        return joined_object(keys, values, self._on_null)


class _Multiset(Aggregate):
    """How often each value is there: all of it lies in a store."""

    def __init__(self, schema: str) -> None:
        self._schema = schema

    def open(self, handle: Any, name: str) -> None:
        self._counts = MapStore(handle, f"{name}_values", self._schema)
        self.stores = (self._counts,)

    def create(self) -> None:
        return None

    def add(self, state: None, value: Any) -> None:
        self._change(value, 1)

    def take(self, state: None, value: Any) -> None:
        self._change(value, -1)

    def value(self, state: None) -> dict[Any, int]:
        return {value: count for value, count in self._counts.items() if count > 0}

    def _change(self, value: Any, by: int) -> None:
        if value is None:
            return
        count = self._counts.get(value, 0) + by
        if count:
            self._counts.put(value, count)
        else:
            self._counts.remove(value)


class _Bitmap(Aggregate):
    """``[number of bitmaps, number of values]``; how many of them have a value lies in a store.

    The number of values is not that of ``AND``, which depends on all counts.

    Parameters
    ----------
    combined : str
        Which values the result has: ``OR``, those of any bitmap, ``XOR``, those of an odd number
        of them, ``AND``, those of all.
    counted : bool
        Whether the result is the number of values.
    """

    def __init__(self, combined: str, counted: bool) -> None:
        self._combined = combined
        self._counted = counted

    def open(self, handle: Any, name: str) -> None:
        self._counts = MapStore(handle, f"{name}_values", "INT")
        self.stores = (self._counts,)

    def create(self) -> list[Any]:
        return [0, 0]

    def add(self, state: list[Any], value: Any) -> None:
        if value is not None:
            self._change(state, value, 1)

    def take(self, state: list[Any], value: Any) -> None:
        if value is not None:
            self._change(state, value, -1)

    def value(self, state: list[Any]) -> Any:
        if state[0] <= 0:
            return None
        if self._counted and self._combined != "AND":
            return state[1]
        found = [value for value, count in self._counts.items() if self._has(count, state[0])]
        return len(found) if self._counted else sorted(found, key=_unsigned)

    def _change(self, state: list[Any], values: Iterable[int], by: int) -> None:
        state[0] += by
        for value in values:
            before = self._counts.get(value, 0)
            after = before + by
            if after:
                self._counts.put(value, after)
            else:
                self._counts.remove(value)
            state[1] += self._has(after) - self._has(before)

    def _has(self, count: int, bitmaps: int = 1) -> bool:
        """Whether the result has a value that is in so many of these bitmaps."""
        if self._combined == "XOR":
            return count % 2 == 1
        return count >= (bitmaps if self._combined == "AND" else 1)


class _BitmapOfValues(_Bitmap):
    """The same of bitmaps of one value each."""

    def __init__(self, counted: bool) -> None:
        super().__init__("OR", counted)

    def add(self, state: list[Any], value: Any) -> None:
        super().add(state, None if value is None else [value])

    def take(self, state: list[Any], value: Any) -> None:
        super().take(state, None if value is None else [value])


class Distinct(Aggregate):
    """An aggregate of values that count once, however often they are there.

    Parameters
    ----------
    inner : Aggregate
    schema : str
        Of the values.
    with_nulls : bool
        Whether null is a value.
    """

    def __init__(self, inner: Aggregate, schema: str, with_nulls: bool = False) -> None:
        self._inner = inner
        self.in_order = inner.in_order
        self._schema = schema
        self._with_nulls = with_nulls

    def open(self, handle: Any, name: str) -> None:
        self._inner.open(handle, name)
        self._counts = MapStore(handle, f"{name}_distinct", self._schema)
        self.stores = (self._counts, *self._inner.stores)

    def create(self) -> Any:
        return self._inner.create()

    def add(self, state: Any, value: Any) -> None:
        if value is None and not self._with_nulls:
            return
        count = self._counts.get(value, 0)
        self._counts.put(value, count + 1)
        if count == 0:
            self._inner.add(state, value)

    def take(self, state: Any, value: Any) -> None:
        if value is None and not self._with_nulls:
            return
        count = self._counts.get(value, 0)
        if count > 1:
            self._counts.put(value, count - 1)
        elif count == 1:
            self._counts.remove(value)
            self._inner.take(state, value)

    def value(self, state: Any) -> Any:
        return self._inner.value(state)

    def stored(self, state: Any) -> Any:
        return self._inner.stored(state)

    def restored(self, stored: Any) -> Any:
        return self._inner.restored(stored)


def make(kind: str, changes: bool, number: Number, schema: str, *about: Any) -> Aggregate:
    """An aggregate.

    Parameters
    ----------
    kind : str
        Flink's name of its definition.
    changes : bool
        Whether rows are retracted.
    number : tuple
        How numbers become the result.
    schema : str
        The type of the argument, Spark's.
    *about
        What the kind needs beside: the separator of texts, what becomes of nulls in JSON.
    """
    greatest, last = kind == "max", kind == "last_value"
    if kind in ("min", "max"):
        return _ExtremeOfChanges(greatest, schema) if changes else _Extreme(greatest)
    if kind in ("first_value", "last_value"):
        return _PlacedOfChanges(last, schema) if changes else _Placed(last)
    if kind == "sum0":
        zero = _finished(number)(decimal.Decimal(0) if number[0] == "DECIMAL" else 0)
        return _Sum(number, zero)
    spread = _SpreadOfChanges if changes else _Spread
    if kind.startswith("BITMAP_"):
        combined, counted = kind.split("_")[1], "CARDINALITY" in kind
        return _BitmapOfValues(counted) if combined == "BUILD" else _Bitmap(combined, counted)
    if kind.startswith("JSON_ARRAYAGG"):
        return _JsonArray()
    if kind.startswith("JSON_OBJECTAGG"):
        return _JsonObject(*about)
    plain: dict[str, Callable[[], Aggregate]] = {
        "count": _Count,
        "sum": lambda: _Sum(number),
        "avg": lambda: _Average(number),
        "stddevPop": lambda: spread(number, sample=False, root=True),
        "stddevSamp": lambda: spread(number, sample=True, root=True),
        "varPop": lambda: spread(number, sample=False, root=False),
        "varSamp": lambda: spread(number, sample=True, root=False),
        "listAgg": lambda: _Texts(*about),
        "ARRAY_AGG": _Array,
        "collect": lambda: _Multiset(schema),
    }
    return plain[kind]()


def _unsigned(value: int) -> int:
    return value & 0xFFFFFFFF


def _comparable(value: Any) -> Any:
    return (value != value, value) if isinstance(value, float) else value


def _finished(number: Number) -> Callable[[Any], Any]:
    """What makes a result of its type of a number."""
    kind = number[0]
    if kind in _BITS:
        return _wrapping(_BITS[kind])
    if kind == "DECIMAL":
        return _rounding(number[2])
    if kind == "FLOAT":
        return lambda value: struct.unpack("<f", struct.pack("<f", _within_float(value)))[0]
    return float if kind == "DOUBLE" else lambda value: value


def _within_float(value: float) -> float:
    """What struct refuses is infinite."""
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
