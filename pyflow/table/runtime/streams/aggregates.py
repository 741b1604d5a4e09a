"""The built-in aggregates over unbounded input, by Flink's names."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import Any

from pyflow.streaming.runtime.keyed_state import MapStore, identity_of
from pyflow.table.runtime.streams.aggregate import Aggregate
from pyflow.table.runtime.streams.collecting_aggregates import (
    Array,
    Bitmap,
    BitmapOfValues,
    JsonArray,
    JsonObject,
    Multiset,
    Texts,
)
from pyflow.table.runtime.streams.numeric_aggregates import (
    Average,
    Count,
    Number,
    Spread,
    SpreadOfChanges,
    Sum,
    finished,
)

__all__ = ["make"]


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
    """``[next position, position of the value, value]``; a store has the positions of each value.

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
    """Return an aggregate.

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
        What else the kind needs: the separator of strings, how nulls are written as JSON.
    """
    greatest, last = kind == "max", kind == "last_value"
    if kind in ("min", "max"):
        return _ExtremeOfChanges(greatest, schema) if changes else _Extreme(greatest)
    if kind in ("first_value", "last_value"):
        return _PlacedOfChanges(last, schema) if changes else _Placed(last)
    if kind == "sum0":
        zero = finished(number)(decimal.Decimal(0) if number[0] == "DECIMAL" else 0)
        return Sum(number, zero)
    spread = SpreadOfChanges if changes else Spread
    if kind.startswith("BITMAP_"):
        combined, counted = kind.split("_")[1], "CARDINALITY" in kind
        return BitmapOfValues(counted) if combined == "BUILD" else Bitmap(combined, counted)
    if kind.startswith("JSON_ARRAYAGG"):
        return JsonArray()
    if kind.startswith("JSON_OBJECTAGG"):
        return JsonObject(*about)
    plain: dict[str, Callable[[], Aggregate]] = {
        "count": Count,
        "sum": lambda: Sum(number),
        "avg": lambda: Average(number),
        "stddevPop": lambda: spread(number, sample=False, root=True),
        "stddevSamp": lambda: spread(number, sample=True, root=True),
        "varPop": lambda: spread(number, sample=False, root=False),
        "varSamp": lambda: spread(number, sample=True, root=False),
        "listAgg": lambda: Texts(*about),
        "ARRAY_AGG": Array,
        "collect": lambda: Multiset(schema),
    }
    return plain[kind]()


def _comparable(value: Any) -> Any:
    return (value != value, value) if isinstance(value, float) else value
