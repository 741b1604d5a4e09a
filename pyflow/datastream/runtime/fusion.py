"""Operators that call a function with each element, compiled into one function of Python.

A call between operators costs as much as what many of their functions do. Operators that follow
each other become lines of one function, by whose numbers errors find the operator.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any, NamedTuple

from pyflow.datastream.runtime.operator import Emit

__all__ = ["FILTER", "MAP", "Step", "converting", "fused", "operator_at"]

_FILE = "<chained operators>"
# Of the first operator in the source of the function that makes theirs.
_FIRST_LINE = 3
# Of one function. Each operator compiles those behind it once more.
_MAX_STEPS = 32


class Kind(NamedTuple):
    """What becomes of an element, as source code.

    Attributes
    ----------
    step : str
        Where another operator follows.
    last : str
        Where none does.
    """

    step: str
    last: str


#: The result of the function goes on.
MAP = Kind("value = apply{0}(value)", "emit(apply{0}(value), timestamp)")
#: The element goes on where the result of the function is true.
FILTER = Kind("if not apply{0}(value): return", "if apply{0}(value): emit(value, timestamp)")


class Step(NamedTuple):
    """An operator in a compiled function.

    Attributes
    ----------
    kind : Kind
    apply : callable
        Its function.
    operator : object
        The operator; None where errors are those of the operator before it.
    """

    kind: Kind
    apply: Callable[[Any], Any]
    operator: Any


def fused(step: Step, emit: Emit) -> Emit:
    """Return what takes the elements of an operator, together with the operators behind it.

    Parameters
    ----------
    step : Step
    emit : callable
        Takes what the operator emits, and its timestamp.
    """
    steps, last = _behind(step, emit)
    process = _compiled(steps, last)
    process.steps, process.last = steps, last
    return process  # type: ignore[no-any-return]


def converting(convert: Callable[[Any], Any], emit: Emit) -> Emit:
    """Return what takes elements that become others before the operators behind take them.

    An operator before it is compiled by itself: its errors show the element that came to it.
    """
    return _compiled(*_behind(Step(MAP, convert, None), emit))  # type: ignore[no-any-return]


def operator_at(traceback: TracebackType) -> Any:
    """Return the operator that an entry of a traceback is in; None if it is not in this code."""
    if traceback.tb_frame.f_code.co_filename != _FILE:
        return None
    return traceback.tb_frame.f_locals["operators"][traceback.tb_lineno - _FIRST_LINE]


def _behind(step: Step, emit: Emit) -> tuple[tuple[Step, ...], Emit]:
    """Return an operator with those of a compiled function, and what takes their elements."""
    steps: tuple[Step, ...] = getattr(emit, "steps", ())
    if not 0 < len(steps) < _MAX_STEPS:
        return (step,), emit
    return (step, *steps), emit.last  # type: ignore[attr-defined]


def _compiled(steps: tuple[Step, ...], emit: Emit) -> Any:
    make = _maker(tuple(each.kind for each in steps))
    return make(tuple(each.operator for each in steps), emit, *(each.apply for each in steps))


@functools.lru_cache(maxsize=256)
def _maker(kinds: tuple[Kind, ...]) -> Callable[..., Any]:
    """Return what makes a function for operators of these kinds."""
    functions = ", ".join(f"apply{number}" for number in range(len(kinds)))
    lines = [kind.step for kind in kinds[:-1]] + [kinds[-1].last]
    source = [
        f"def make(operators, emit, {functions}):",
        " def process(value, timestamp, operators=operators):",
        *("  " + line.format(number) for number, line in enumerate(lines)),
        " return process",
    ]
    made: dict[str, Any] = {}
    exec(compile("\n".join(source), _FILE, "exec"), made)
    return made["make"]  # type: ignore[no-any-return]
