"""Aggregate functions of programs, whose accumulators are kept in state.

An accumulator is pickled, with its views apart: a ``ListView`` or ``MapView`` that the accumulator
or a field of it is declared to be lies in state of its own, of which only what is used is read and
only what has changed is written. What is declared tells the driver which state there is, where no
function is opened and called.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pyflow.common.types import Row
from pyflow.streaming.runtime.keyed_state import ListStore, MapStore, Store
from pyflow.streaming.runtime.life_cycle import OpenFunction, TaskSettings, in_thread_mode
from pyflow.table.data_view import ListView, MapView
from pyflow.table.runtime.scalar import fields_of
from pyflow.table.runtime.streams.aggregate import Aggregate
from pyflow.table.runtime.streams.values import packer, unpacker
from pyflow.types.function_values import Shape, encoder

__all__ = ["DeclaredViews", "PythonAggregate"]


class DeclaredViews(NamedTuple):
    """The views of an accumulator.

    Attributes
    ----------
    classes : mapping of int to type
        ``ListView`` or ``MapView``, by the position of the field.
    whole : bool
        Whether the accumulator itself is a view, not a row; the position is 0.
    """

    classes: Mapping[int, type]
    whole: bool


class PythonAggregate(Aggregate):
    """A function of a program.

    Parameters
    ----------
    function : AggregateFunction or TableAggregateFunction
    name : str
    arguments : sequence of tuple
        The shapes of what it takes.
    result : tuple
        The shape of what it returns, of a table aggregate that of an array of rows.
    views : DeclaredViews
    settings : TaskSettings
    emits_rows : bool
        Whether it is a table aggregate.
    """

    in_order = True

    def __init__(
        self,
        function: Any,
        name: str,
        arguments: Sequence[Shape],
        result: Shape,
        views: DeclaredViews,
        settings: TaskSettings,
        emits_rows: bool,
    ) -> None:
        self._name = name
        self._declared = views
        self._sent = (function, name, list(arguments), result, views, settings, emits_rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, self._sent

    def __deepcopy__(self, memo: Any) -> PythonAggregate:
        """The function stays the program's."""
        return PythonAggregate(*self._sent)

    def load(self) -> PythonAggregate:
        """Prepare for a task, which opens the function before its first row."""
        function, name, arguments, result, _, settings, emits_rows = self._sent
        opened = OpenFunction(function, name, settings)
        watch: Callable[[Any], Any] = _same if in_thread_mode() else opened.watch
        self._create = watch(function.create_accumulator)
        self._accumulate = watch(function.accumulate)
        self._retract = watch(function.retract)
        result_of = _emitted(function.emit_value) if emits_rows else function.get_value
        self._result = watch(result_of)
        self._encode = encoder(result, f"the result of {name}")
        self._pack = packer(result) or _same
        self._unpack = [unpacker(shape) for shape in arguments]
        self._converts = any(self._unpack)
        return self

    def open(self, handle: Any, name: str) -> None:
        """Open the views of its accumulators."""
        self._views = _Views(self._declared, handle, name, self._name)
        self.stores = self._views.stores

    def create(self) -> Any:
        """Return a new accumulator of the function."""
        return self._views.attached(self._create(), is_new=True)

    def add(self, state: Any, value: Any) -> None:
        """Call the function's accumulate()."""
        self._accumulate(state, *(self._unpacked(value) if self._converts else value))

    def take(self, state: Any, value: Any) -> None:
        """Call the function's retract()."""
        self._retract(state, *(self._unpacked(value) if self._converts else value))

    def value(self, state: Any) -> Any:
        """Return the result of the function, in its declared type."""
        return self._pack(self._encode(self._result(state)))

    def stored(self, state: Any) -> Any:
        """Return the accumulator without its views."""
        return self._views.detached(state)

    def restored(self, stored: Any) -> Any:
        """Return the accumulator with its views."""
        return self._views.attached(stored, is_new=False)

    def _unpacked(self, values: Iterable[Any]) -> list[Any]:
        return [
            value if unpack is None else unpack(value)
            for unpack, value in zip(self._unpack, values)
        ]


def _emitted(emit_value: Callable[[Any], Iterable[Any]]) -> Callable[[Any], list[Any]]:
    return lambda accumulator: [fields_of(row) for row in emit_value(accumulator)]


def _loaded(*sent: Any) -> PythonAggregate:
    return PythonAggregate(*sent).load()


def _same(value: Any) -> Any:
    return value


class _Views:
    """The views of the accumulators of a function, and where their contents lie.

    Parameters
    ----------
    declared : DeclaredViews
    handle : StatefulProcessorHandle
    name : str
        What the names of state begin with.
    function : str
        The function's name.
    """

    def __init__(self, declared: DeclaredViews, handle: Any, name: str, function: str) -> None:
        self._declared = declared
        self._function = function
        self._views: dict[int, Any] = {}
        for place, view in declared.classes.items():
            if view is ListView:
                self._views[place] = _StateList(ListStore(handle, f"{name}_list{place}"))
            else:
                store = MapStore(handle, f"{name}_map{place}", "BINARY")
                self._views[place] = _StateMap(store)
        self.stores: tuple[Store, ...] = tuple(view.store for view in self._views.values())

    def attached(self, accumulator: Any, is_new: bool) -> Any:
        """Return an accumulator with the views of state, which get the contents of a new one."""
        if not self._views:
            return accumulator
        fields = [accumulator] if self._declared.whole else list(accumulator)
        for place, view in self._views.items():
            if is_new:
                self._take(view, place, fields)
            fields[place] = view
        return fields[0] if self._declared.whole else _like(accumulator, fields)

    def detached(self, accumulator: Any) -> Any:
        """Return an accumulator without its views, to be pickled."""
        if not self._views:
            return accumulator
        fields = [accumulator] if self._declared.whole else list(accumulator)
        for place, view in self._views.items():
            if fields[place] is not view:  # the function has put another one there
                view.clear()
                self._take(view, place, fields)
            fields[place] = None
        return None if self._declared.whole else _like(accumulator, fields)

    def _take(self, view: Any, place: int, fields: list[Any]) -> None:
        """Copy what the function has put instead of a view into the view's state."""
        declared = self._declared.classes[place]
        if place >= len(fields) or not isinstance(fields[place], declared):
            found = "nothing" if place >= len(fields) else f"a {type(fields[place]).__name__}"
            part = "it" if self._declared.whole else f"field {place} of it"
            raise TypeError(
                f"the accumulator type of {self._function} declares {part} as "
                f"{declared.__name__}, but the accumulator has {found} there"
            )
        view.take(fields[place])


def _like(accumulator: Any, fields: list[Any]) -> Any:
    if not isinstance(accumulator, Row):
        return type(accumulator)(fields)
    for place, field in enumerate(fields):
        accumulator[place] = field
    return accumulator


class _StateList(ListView[Any]):
    """A list in state."""

    def __init__(self, store: ListStore) -> None:
        self.store = store

    def take(self, other: ListView[Any]) -> None:
        """Append what another list has."""
        self.add_all(list(other.get()))

    def get(self) -> Iterable[Any]:
        return list(self.store.get())

    def add(self, value: Any) -> None:
        self.store.add(value)

    def add_all(self, values: Iterable[Any]) -> None:
        for value in values:
            self.store.add(value)

    def clear(self) -> None:
        self.store.clear()


class _StateMap(MapView[Any, Any]):
    """A map in state; its keys are pickled."""

    def __init__(self, store: MapStore) -> None:
        self.store = store

    def take(self, other: MapView[Any, Any]) -> None:
        """Put what another map has."""
        self.put_all(dict(other.items()))

    def get(self, key: Any) -> Any:
        found = self.store.get(_pickled(key))
        if found is None:
            raise KeyError(key)
        return found[0]

    def put(self, key: Any, value: Any) -> None:
        self.store.put(_pickled(key), (value,))

    def put_all(self, dict_value: dict[Any, Any]) -> None:
        for key, value in dict_value.items():
            self.put(key, value)

    def remove(self, key: Any) -> None:
        self.get(key)
        self.store.remove(_pickled(key))

    def contains(self, key: Any) -> bool:
        return self.store.get(_pickled(key)) is not None

    def items(self) -> Iterable[tuple[Any, Any]]:
        return [(pickle.loads(key), value) for key, (value,) in self.store.items()]

    def keys(self) -> Iterable[Any]:
        return [key for key, _ in self.items()]

    def values(self) -> Iterable[Any]:
        return [value for _, value in self.items()]

    def is_empty(self) -> bool:
        return not any(True for _ in self.store.items())

    def clear(self) -> None:
        self.store.clear()


def _pickled(key: Any) -> bytes:
    """Return a key, pickled without references, so that equal keys have the same bytes."""
    written = io.BytesIO()
    pickler = pickle.Pickler(written, 4)
    pickler.fast = True
    pickler.dump(key)
    return written.getvalue()
