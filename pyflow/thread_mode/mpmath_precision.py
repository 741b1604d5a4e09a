"""The precision of ``mpmath``, with which SymPy computes, too, kept once per task.

A context of mpmath has its precision for the process, and changes it for a while in many of its
functions.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from pyflow.thread_mode import current_task
from pyflow.thread_mode.module_imports import after_import, importing
from pyflow.thread_mode.task_globals import Parts, TaskValue

__all__ = ["install"]


def install() -> None:
    """Change mpmath where it is imported later."""
    after_import("mpmath.ctx_mp_python", _own_precision)
    after_import("mpmath.ctx_iv", lambda module: _keep(module.MPIntervalContext, "_prec"))
    after_import("mpmath.libmp.libelefun", _keep_constants_together)


class _Precision:
    """What a context has in a list, and the decimal places that come of it, of the current task.

    Parameters
    ----------
    values : list
    places : int
    """

    def __init__(self, values: list[Any], places: int) -> None:
        self._of_task = TaskValue([*values, places], list, has_parts=True)
        Parts(self._of_task, lambda own: dict(enumerate(own)))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._of_task.get()[:-1])

    def __getitem__(self, index: int) -> Any:
        return self._of_task.get()[index]

    def __setitem__(self, index: int, value: Any) -> None:
        self._of_task.to_change()[index] = value

    def __len__(self) -> int:
        return len(self._of_task.get()) - 1


_PLACES = -1


def _own_precision(module: Any) -> None:
    context = module.PythonMPContext
    _keep(context, "_prec_rounding")
    # Contexts set it together with the first of the values.
    context._prec = property(lambda self: self._prec_rounding[0], lambda self, bits: None)


def _keep(context: Any, name: str) -> None:
    """Have contexts of modules keep a list of theirs by task.

    Parameters
    ----------
    context : type
    name : str
        The attribute that has the list.
    """
    make = context.__init__
    places_of = make.__globals__["prec_to_dps"]

    @functools.wraps(make)
    def make_with_own(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        if current_task.current() is not None and not importing():
            return  # a function's own
        values = getattr(self, name)
        precision = _Precision(values, places_of(values[0]))
        setattr(self, name, precision)
        for kind in {each for each in vars(self).values() if hasattr(each, "_ctxdata")}:
            kind._ctxdata = [precision if each is values else each for each in kind._ctxdata]

    def places(self: Any) -> Any:
        values = getattr(self, name)
        return values[_PLACES] if isinstance(values, _Precision) else vars(self)["_dps"]

    def set_places(self: Any, places: int) -> None:
        values = getattr(self, name)
        if isinstance(values, _Precision):
            values[_PLACES] = places
        else:
            vars(self)["_dps"] = places

    context.__init__ = make_with_own
    context._dps = property(places, set_places)


def _keep_constants_together(module: Any) -> None:
    """Have constants, which are kept as precise as they were computed, kept with that at once."""
    if not hasattr(module, "pi_fixed"):
        return
    by_mpmath = module.pi_fixed.__code__
    for value in vars(module).values():
        if isinstance(value, FunctionType) and value.__code__ is by_mpmath:
            value.__code__ = _constant_memo(value).__code__
    module.constant_memo = _constant_memo


def _constant_memo(f: Any) -> Any:
    """As mpmath's decorator of that name."""

    @functools.wraps(f)
    def constant(prec: int, **kwargs: Any) -> int:
        kept = getattr(f, "kept", None)
        if kept is None or kept[0] < prec:
            bits = int(prec * 1.05 + 10)
            kept = f.kept = bits, f(bits, **kwargs)
        value: int = kept[1] >> (kept[0] - prec)
        return value

    return constant
