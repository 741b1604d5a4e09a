"""Aggregates that keep all values: LISTAGG, arrays, JSON, multisets and bitmaps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyflow.streaming.runtime.keyed_state import MapStore, identity_of
from pyflow.table.runtime.builtins.json_values import joined_object
from pyflow.table.runtime.streams.aggregate import Aggregate
from pyflow.table.runtime.streams.values import fields_of

__all__ = ["Array", "Bitmap", "BitmapOfValues", "JsonArray", "JsonObject", "Multiset", "Texts"]


class Texts(Aggregate):
    """``[strings]``, joined by a separator."""

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


class Array(Aggregate):
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


class JsonArray(Texts):
    """The JSON of an array, of that of its elements."""

    def __init__(self) -> None:
        super().__init__(",")

    def value(self, state: list[Any]) -> str:
        return f"[{super().value(state) or ''}]"


class JsonObject(Array):
    """The JSON of an object; a value is a key and the JSON of what it has, as fields of a row."""

    def __init__(self, on_null: str) -> None:
        self._on_null = on_null

    def value(self, state: list[Any]) -> Any:
        members = [fields_of(member) for member in state]
        keys, values = ([member[place] for member in members] for place in (0, 1))
        return joined_object(keys, values, self._on_null)


class Multiset(Aggregate):
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


class Bitmap(Aggregate):
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
        """Return whether the result has a value that is in this number of bitmaps."""
        if self._combined == "XOR":
            return count % 2 == 1
        return count >= (bitmaps if self._combined == "AND" else 1)


class BitmapOfValues(Bitmap):
    """The same of bitmaps of one value each."""

    def __init__(self, counted: bool) -> None:
        super().__init__("OR", counted)

    def add(self, state: list[Any], value: Any) -> None:
        super().add(state, None if value is None else [value])

    def take(self, state: list[Any], value: Any) -> None:
        super().take(state, None if value is None else [value])


def _unsigned(value: int) -> int:
    return value & 0xFFFFFFFF
