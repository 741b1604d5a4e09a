"""Floating-point modes of the processor that modules set while they are imported.

The bridge keeps the modes of each operator (``native/src/runtime/float_modes.h``).
"""

from __future__ import annotations

from collections.abc import Callable

from pyflow.thread_mode.imported_settings import SetByModules, change_running_tasks
from pyflow.thread_mode.module_imports import on_import

__all__ = ["begin", "install"]

_exchange: Callable[..., int]

_of_modules: SetByModules[int | None] = SetByModules()


def install(exchange: Callable[..., int]) -> None:
    """Have the modes that modules set while they are imported apply to all tasks.

    Parameters
    ----------
    exchange : callable
        Returns the modes of the current thread, and sets them to its argument if there is one.
    """
    global _exchange
    _exchange = exchange
    on_import.append(_begin_import)


def begin() -> None:
    """Set the modes of an operator that begins."""
    modes = _of_modules.last(None)
    if modes is not None:
        _exchange(modes)


def _begin_import() -> Callable[[], None]:
    before = _exchange()

    def end() -> None:
        now = _exchange()
        if now != before:
            _of_modules.add(now)
            change_running_tasks(lambda: _set(now, before))

    return end


def _set(modes: int, before: int) -> None:
    if _exchange() == before:
        _exchange(modes)
