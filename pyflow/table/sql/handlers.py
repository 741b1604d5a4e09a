"""Which methods run which statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["handlers_of", "runs"]

_FORMS = "_forms_of_statements"

_F = TypeVar("_F", bound=Callable[..., Any])


def runs(*form: Any) -> Callable[[_F], _F]:
    """Mark the method that runs statements of a form.

    Parameters
    ----------
    *form : type or str
        The class of the statement, and what it is about where there are several: ``"TABLE"``.
    """

    def marked(method: _F) -> _F:
        setattr(method, _FORMS, (*getattr(method, _FORMS, ()), form))
        return method

    return marked


def handlers_of(owner: type) -> dict[tuple[Any, ...], Callable[..., Any]]:
    """Return the marked methods of a class and its bases, by form."""
    return {
        form: method
        for each in reversed(owner.__mro__)
        for method in vars(each).values()
        for form in getattr(method, _FORMS, ())
    }
