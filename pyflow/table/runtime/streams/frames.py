"""Aggregates that only OVER windows have, and those that are computed of all rows of a frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyflow.streaming.runtime.life_cycle import TaskSettings
from pyflow.table.runtime.pandas_functions import load_pandas_aggregate
from pyflow.table.runtime.streams.aggregate import Aggregate
from pyflow.table.runtime.streams.values import packer
from pyflow.types.arrow_values import arrow_type
from pyflow.types.function_values import Shape

__all__ = ["Lag", "PandasAggregate", "Recomputed"]


class Lag(Aggregate):
    """The value some rows before the current one; arguments are the value and its default.

    Parameters
    ----------
    distance : int
    """

    def __init__(self, distance: int) -> None:
        self._distance = distance

    def create(self) -> list[Any]:
        """Return an accumulator without rows."""
        return []

    def add(self, state: list[Any], value: Any) -> None:
        """Add the arguments of a row."""
        state.append(value)
        del state[: -self._distance - 1]

    def value(self, state: list[Any]) -> Any:
        """Return the value, or the current row's default."""
        return state[0][0] if len(state) > self._distance else state[-1][1]


class _OfFrame(Aggregate):
    """Keeps the arguments of a frame's rows, of which the first is the first to be retracted."""

    in_order = True

    def create(self) -> list[Any]:
        return []

    def add(self, state: list[Any], value: Any) -> None:
        state.append(value)

    def take(self, state: list[Any], value: Any) -> None:
        del state[0]


class Recomputed(_OfFrame):
    """An aggregate that cannot retract rows, and is computed from all rows of the frame.

    Parameters
    ----------
    inner : Aggregate
    """

    def __init__(self, inner: Aggregate) -> None:
        self._inner = inner

    def open(self, handle: Any, name: str) -> None:
        """Open the aggregate."""
        self._inner.open(handle, name)
        self.stores = self._inner.stores

    def value(self, state: list[Any]) -> Any:
        """Return the result of the rows."""
        accumulator = self._inner.create()
        for value in state:
            self._inner.add(accumulator, value)
        result = self._inner.value(accumulator)
        for store in self.stores:
            store.clear()
        return result


class PandasAggregate(_OfFrame):
    """A function of a program over series.

    Parameters
    ----------
    function : AggregateFunction or callable
    name : str
    arguments : sequence of tuple
        The shapes of what it takes.
    names : sequence of str or None
        Of the columns that the arguments are.
    result : tuple
        The shape of what it returns.
    settings : TaskSettings
    """

    def __init__(
        self,
        function: Any,
        name: str,
        arguments: Sequence[Shape],
        names: Sequence[str | None],
        result: Shape,
        settings: TaskSettings,
    ) -> None:
        self._sent = (function, name, list(arguments), list(names), result, settings)

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, self._sent

    def __deepcopy__(self, memo: Any) -> PandasAggregate:
        """The function stays the program's."""
        return PandasAggregate(*self._sent)

    def load(self) -> PandasAggregate:
        """Prepare for a task, which opens the function before its first row."""
        import pyarrow as pa

        _, _, arguments, _, result, _ = self._sent
        self._evaluate = load_pandas_aggregate(*self._sent)
        types = [arrow_type(shape) for shape in arguments]
        pack = packer(result) or _same

        def value(state: list[Any]) -> Any:
            columns = [pa.array(column, type=each) for column, each in zip(zip(*state), types)]
            groups = [pa.ListArray.from_arrays([0, len(column)], column) for column in columns]
            return pack(self._evaluate(*groups)[0].as_py())

        self._value = value
        return self

    def value(self, state: list[Any]) -> Any:
        """Return the result of the function for the rows."""
        return self._value(state)


def _loaded(*sent: Any) -> PandasAggregate:
    return PandasAggregate(*sent).load()


def _same(value: Any) -> Any:
    return value
