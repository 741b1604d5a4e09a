"""Aggregate functions over the rows of a group, which Spark has collected into arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pyflow.streaming.runtime.life_cycle import OpenFunction, TaskSettings
from pyflow.table.runtime.scalar import fields_of, row_function
from pyflow.types.function_values import Shape, decoder

__all__ = ["load_aggregate"]


def load_aggregate(
    function: Any,
    name: str,
    arguments: Sequence[Shape] | None,
    result: Shape,
    settings: TaskSettings,
    emits_rows: bool,
) -> Callable[..., Any]:
    """Open an aggregate function, as a function of a group's arguments.

    Parameters
    ----------
    function : AggregateFunction or TableAggregateFunction
    name : str
    arguments : sequence of tuple or None
        What the function takes of each row; None if nothing, which is one array all the same.
    result : tuple
        The shape of what the function returns, for a table aggregate that of an array.
    settings : TaskSettings
    emits_rows : bool
        Whether it is a table aggregate.
    """
    opened = OpenFunction(function, name, settings)
    create, accumulate = function.create_accumulator, function.accumulate
    value = _emitted(function.emit_value) if emits_rows else function.get_value
    decoders = [decoder(shape) for shape in arguments or ()]

    def rows(columns: tuple[list[Any], ...]) -> Iterable[tuple[Any, ...]]:
        if arguments is None:
            return (() for _ in columns[0])
        decoded = (
            column if decode is None else map(decode, column)
            for decode, column in zip(decoders, columns)
        )
        return zip(*decoded)

    def fold(*columns: list[Any]) -> Any:
        accumulator = create()
        for row in rows(columns):
            accumulate(accumulator, *row)
        return value(accumulator)

    return row_function(fold, result, opened, settings)


def _emitted(emit_value: Callable[[Any], Iterable[Any]]) -> Callable[[Any], list[Any]]:
    return lambda accumulator: [fields_of(row) for row in emit_value(accumulator)]
