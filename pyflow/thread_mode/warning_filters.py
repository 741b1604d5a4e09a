"""Warning filters, and the functions that show warnings, kept once per task."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

from pyflow.thread_mode import current_task, task_globals
from pyflow.thread_mode.task_globals import TaskValue

__all__ = ["install"]

_module: Any = warnings

_uses_context: bool = getattr(_module, "_use_context", False)
_global_context: Any = _module._get_context() if _uses_context else None

_filters: TaskValue[list[Any]] = TaskValue(_module.filters, list, always_of_task=True)
_show: TaskValue[Callable[..., None]] = TaskValue(_module.showwarning)
_show_message: TaskValue[Callable[[Any], None]] = TaskValue(
    _module._showwarnmsg_impl, always_of_task=True
)
#: Which warnings a task has seen that has filters of its own, by module and file.
_seen: TaskValue[dict[Any, Any]] = TaskValue({}, dict, always_of_task=True)


def install() -> None:
    """Let ``warnings`` use the task's filters."""
    attributes: dict[str, TaskValue[Any]] = {
        "filters": _filters,
        "showwarning": _show,
        "_showwarnmsg_impl": _show_message,
    }
    task_globals.replace_attributes(warnings, attributes)
    _module._add_filter = _add_filter
    _module._showwarnmsg = _show_warning
    _module.resetwarnings = _reset
    mutated = (
        "_filters_mutated_lock_held"  # 3.14
        if hasattr(_module, "_filters_mutated_lock_held")
        else "_filters_mutated"
    )
    setattr(_module, mutated, _mutated(getattr(_module, mutated)))
    _module.warn = _warn(_module.warn)


def _context() -> Any:
    """What a task's ``catch_warnings`` has put in the place of everyone's filters.

    From 3.14 on that may be in a context variable, as it is by default without a GIL.
    """
    if not _uses_context or current_task.current() is None:
        return None
    context = _module._get_context()
    return None if context is _global_context else context


def _has_own() -> bool:
    return _filters.is_own() or _context() is not None


def _get() -> list[Any]:
    context = _context()
    found: list[Any] = _filters.get() if context is None else context._filters
    return found


def _to_change() -> list[Any]:
    context = _context()
    found: list[Any] = _filters.to_change() if context is None else context._filters
    return found


def _add_filter(*item: Any, append: bool) -> None:
    filters = _to_change()
    if append:
        if item not in filters:
            filters.append(item)
    else:
        if item in filters:
            filters.remove(item)
        filters.insert(0, item)
    _module._filters_mutated()


def _reset() -> None:
    _to_change().clear()
    _module._filters_mutated()


def _mutated(mutated: Callable[[], None]) -> Callable[[], None]:
    def filters_mutated() -> None:
        if _has_own():
            _seen.set({})
        mutated()

    return filters_mutated


def _show_warning(message: Any) -> None:
    show = _show.get()
    if show is _module._showwarning_orig:
        _show_message.get()(message)
    else:
        show(
            message.message,
            message.category,
            message.filename,
            message.lineno,
            message.file,
            message.line,
        )


def _warn(warn: Callable[..., None]) -> Callable[..., None]:
    """As C code, except for tasks with filters of their own.

    C code records shown warnings in the module that warns, for all tasks.
    """

    @functools.wraps(warn)
    def warn_task(
        message: Any,
        category: Any = None,
        stacklevel: int = 1,
        source: Any = None,
        *,
        skip_file_prefixes: tuple[str, ...] = (),
    ) -> None:
        skip = {"skip_file_prefixes": skip_file_prefixes} if skip_file_prefixes else {}
        if isinstance(message, Warning):
            category = type(message)
        elif category is None:
            category = UserWarning
        usual = isinstance(category, type) and issubclass(category, Warning)
        if usual and _has_own():
            frame = _place(sys._getframe(1), stacklevel, skip_file_prefixes)
            _warn_own(message, category, frame, source)
        else:
            warn(message, category, max(stacklevel, 1) + 1, source, **skip)

    return warn_task


def _is_skipped(frame: FrameType, prefixes: tuple[str, ...]) -> bool:
    name = frame.f_code.co_filename
    return ("importlib" in name and "_bootstrap" in name) or name.startswith(prefixes)


def _place(frame: FrameType | None, stacklevel: int, prefixes: tuple[str, ...]) -> FrameType | None:
    """The frame that a warning is about, by the rules of ``warnings.warn``."""
    assert frame is not None
    if prefixes:
        stacklevel = max(2, stacklevel)
    internal = _is_skipped(frame, ())
    for _ in range(stacklevel - 1):
        if frame is not None:
            frame = frame.f_back
        while not internal and frame is not None and _is_skipped(frame, prefixes):
            frame = frame.f_back
    return frame


def _warn_own(message: Any, category: Any, frame: FrameType | None, source: Any) -> None:
    module = "sys" if frame is None else frame.f_globals.get("__name__") or "<string>"
    file = "sys" if frame is None else frame.f_code.co_filename
    line = 0 if frame is None else frame.f_lineno
    text = str(message)
    warning = message if isinstance(message, Warning) else category(message)
    action = _action(_get(), text, category, module, line)
    if action == "ignore":
        return
    if action == "error":
        raise warning
    seen = _seen.to_change()
    if action not in ("always", "all"):
        place = {"once": (), "module": (module, file)}.get(action, (module, file, line))
        key = (text, category, place)
        if key in seen:
            return
        seen[key] = True
    _show_warning(_module.WarningMessage(warning, category, file, line, source=source))


def _action(filters: list[Any], text: str, category: Any, module: str, line: int) -> str:
    for action, message, kind, modules, number in filters:
        if (
            _matches(message, text)
            and issubclass(category, kind)
            and _matches(modules, module)
            and number in (0, line)
        ):
            found: str = action
            return found
    default: str = _module.defaultaction
    return default


def _matches(pattern: Any, text: str) -> bool:
    if pattern is None or isinstance(pattern, str):
        return pattern in (None, text)
    return pattern.match(text) is not None
