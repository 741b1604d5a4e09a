"""Errors of user-defined functions, with the operator and the element that they came of."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Any

from pyflow.datastream.runtime.fusion import operator_at

__all__ = ["OperatorError", "raise_for", "reason", "shown"]

_SHOWN = 120


class OperatorError(RuntimeError):
    """A function failed; the cause is its own error."""


def raise_for(error: Exception, names: Iterable[tuple[Any, str]], value: Any) -> None:
    """Raise an error that names the operator whose function has raised another.

    The innermost frame that belongs to an operator tells which one it was, so that nothing has to
    be remembered while elements are processed.

    Parameters
    ----------
    error : Exception
        Raised with the frames of operators in its traceback.
    names : iterable of tuple
        Operators and their names.
    value : object
        The element that came to the first operator.
    """
    if isinstance(error, OperatorError):
        raise error
    known = {id(operator): name for operator, name in names}
    found: str | None = None
    traceback: TracebackType | None = error.__traceback__
    while traceback is not None:
        variables = traceback.tb_frame.f_locals
        owner = operator_at(traceback) or variables.get("operator", variables.get("self"))
        if id(owner) in known:
            found = known[id(owner)]
            value = variables.get("value", value)
        traceback = traceback.tb_next
    where = "an operator" if found is None else f"operator '{found}'"
    raise OperatorError(f"{where} failed at {shown(value)}: {reason(error)}") from error


def shown(value: Any) -> str:
    """The beginning of an element, and its type."""
    try:
        text = repr(value)
    except Exception:
        text = "an element without repr()"
    if len(text) > _SHOWN:
        text = f"{text[:_SHOWN]}..."
    return f"{text} of type {type(value).__name__}"


def reason(error: BaseException) -> str:
    """The class of an error, and what it says."""
    return f"{type(error).__name__}: {error}"
