"""The precision of ``mpmath``, with which SymPy computes, too, kept once per task.

A context of mpmath has its precision for the process, and changes it for a while in many of its
functions.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from pyflow.thread_mode.module_imports import after_import
from pyflow.thread_mode.task_globals import TaskValue

__all__ = ["install"]


def install() -> None:
    """Change mpmath where it is imported later."""
    after_import("mpmath.ctx_mp_python", _own_precision)
    after_import("mpmath.ctx_iv", _own_precision_of_intervals)
    after_import("mpmath.libmp.libelefun", _keep_constants_together)


class _Precision:
    """What a context has in a list, and the decimal places that come of it, of the current task.

    Parameters
    ----------
    values : list
    places : int or None
    """

    def __init__(self, values: list[Any], places: int | None) -> None:
        self._of_task = TaskValue[list[Any]]([values, places], lambda both: [[*both[0]], both[1]])

    def __iter__(self) -> Iterator[Any]:
        return iter(self._of_task.get()[0])

    def __getitem__(self, index: int) -> Any:
        return self._of_task.get()[0][index]

    def __setitem__(self, index: int, value: Any) -> None:
        self._of_task.to_change()[0][index] = value

    def __len__(self) -> int:
        return len(self._of_task.get()[0])

    @property
    def places(self) -> int:
        """The number of decimal places."""
        places: int = self._of_task.get()[1]
        return places

    @places.setter
    def places(self, places: int) -> None:
        self._of_task.to_change()[1] = places


def _own_precision(module: Any) -> None:
    context = module.PythonMPContext
    _keep(context, "_prec_rounding")
    # Contexts set it together with the first of the values.
    context._prec = property(lambda self: self._prec_rounding[0], lambda self, bits: None)


def _own_precision_of_intervals(module: Any) -> None:
    _keep(module.MPIntervalContext, "_prec")


def _keep(context: Any, name: str) -> None:
    """Have contexts that are made from now on keep a list of theirs by task.

    Parameters
    ----------
    context : type
    name : str
        The attribute that has the list.
    """
    make = context.__init__

    @functools.wraps(make)
    def make_with_own(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        values = getattr(self, name)
        precision = _Precision(values, vars(self).pop("_dps", None))
        setattr(self, name, precision)
        for kind in {each for each in vars(self).values() if hasattr(each, "_ctxdata")}:
            kind._ctxdata = [precision if each is values else each for each in kind._ctxdata]

    def set_places(self: Any, places: int) -> None:
        precision = getattr(self, name)
        if isinstance(precision, _Precision):
            precision.places = places
        else:
            vars(self)["_dps"] = places

    context.__init__ = make_with_own
    context._dps = property(lambda self: getattr(self, name).places, set_places)


def _keep_constants_together(module: Any) -> None:
    """Have constants, which are kept as precise as they were computed, kept with that at once."""
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
