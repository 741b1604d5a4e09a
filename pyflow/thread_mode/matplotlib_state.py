"""What matplotlib keeps once per process, kept once per task: its settings, and open figures."""

from __future__ import annotations

import functools
import importlib
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, ValuesView
from typing import Any

from pyflow.thread_mode.module_imports import after_import
from pyflow.thread_mode.task_globals import Parts, TaskMapping, TaskValue

__all__ = ["install"]

_PYPLOT = "matplotlib.pyplot"


def install() -> None:
    """Change matplotlib where it is imported later."""
    after_import("matplotlib", _own_settings)
    after_import("matplotlib._pylab_helpers", _own_figures)


def _own_settings(matplotlib: Any) -> None:
    """Keep `matplotlib.rcParams`, which style sheets and `rc_context` set."""
    base: Any = matplotlib.RcParams
    of_process = matplotlib.rcParams
    if not hasattr(base, "_update_raw"):  # 3.8
        return
    update_raw = base._update_raw
    of_task: TaskValue[Any] = TaskValue(_copy(of_process), _copy, has_parts=True)

    def update_raw_with_own(self: Any, other: Any) -> None:
        update_raw(self, of_task.get() if other is of_process else other)

    class RcParams(base):  # type: ignore[misc]
        """Those of the current task, but for the backend, of which a process has one."""

        def _get(self, key: str) -> Any:
            if key == "backend":
                return of_task.process._get(key)
            value = of_task.get()._get(key)
            return of_task.to_change()._get(key) if type(value) is list else value

        def _set(self, key: str, value: Any) -> None:
            (of_task.process if key == "backend" else of_task.to_change())._set(key, value)

        def _update_raw(self, other: Any) -> None:
            of_task.to_change()._update_raw(other)

        def __ior__(self, other: Any) -> Any:
            self._update_raw(other)
            return self

        def _ensure_has_backend(self) -> None:
            of_task.process._ensure_has_backend()

        def __iter__(self) -> Iterator[str]:
            return iter(of_task.get())

        def __len__(self) -> int:
            return len(of_task.get())

        def copy(self) -> Any:
            copied = of_task.get().copy()
            copied._set("backend", self._get("backend"))
            return copied

        def __reduce__(self) -> Any:
            return base.copy, (self.copy(),)

    base._update_raw = update_raw_with_own
    of_process.__class__ = RcParams
    Parts(of_task, _parts, base._update_raw)
    matplotlib.use = _after_import_of_pyplot(matplotlib.use)


def _parts(settings: Any) -> dict[str, Any]:
    return {key: _own(value) for key, value in dict.items(settings) if key != "backend"}


def _copy(settings: Any) -> Any:
    """A copy, with lists of its own, which programs change in place."""
    copied = settings.copy()
    dict.update(copied, {key: _own(value) for key, value in dict.items(copied)})
    return copied


def _own(value: Any) -> Any:
    return [*value] if type(value) is list else value


def _after_import_of_pyplot(use: Callable[..., Any]) -> Callable[..., Any]:
    """Have the backend switched when pyplot, which does that, has been imported by another task."""

    @functools.wraps(use)
    def use_when_imported(*args: Any, **kwargs: Any) -> Any:
        if _PYPLOT in sys.modules:
            importlib.import_module(_PYPLOT)
        return use(*args, **kwargs)

    return use_when_imported


def _own_figures(helpers: Any) -> None:
    """Keep the figures of `matplotlib.pyplot`, of which the last one is drawn to."""

    class Figures(TaskMapping):
        def values(self) -> ValuesView[Any]:
            return self.of_task.get().values()  # type: ignore[no-any-return]

        def move_to_end(self, number: Any) -> None:
            self.of_task.to_change().move_to_end(number)

    helpers.Gcf.figs = Figures(helpers.Gcf.figs, OrderedDict)
