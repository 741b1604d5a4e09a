"""State that Python keeps once per process, kept once per task.

A worker process runs one task at a time, so functions may set values of the process. Here several
tasks share an interpreter, each on its own thread. A value that a task sets belongs to the task
from then on. A value that a module sets while it is imported applies to all tasks, because every
worker process that imports the module would set it.
"""

from __future__ import annotations

import contextvars
import decimal
import importlib
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any, Generic, TypeVar

from pyflow.thread_mode import current_task
from pyflow.thread_mode.imported_settings import SetByModules, change_running_tasks
from pyflow.thread_mode.module_imports import importing, on_import

__all__ = [
    "TaskValue",
    "install",
    "new_context",
    "replace_attributes",
]

T = TypeVar("T")

_UNSET = object()

_NUMBER_SETTINGS = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp", "traps")

# What `warnings.catch_warnings` changes for a while, and so for the current task only (3.14).
_WARNINGS_CONTEXT = getattr(warnings, "_warnings_context", None)


class TaskValue(Generic[T]):
    """A value of the process, and of the tasks that have set it for themselves.

    Parameters
    ----------
    process : object
        The value for tasks that have not set it.
    copy : callable, optional
        Copies a value that is changed in place.
    always_of_task : bool
        Whether a module that is being imported sets the value for its task only: the value may
        be set temporarily, which other tasks must not see.
    """

    def __init__(
        self, process: T, copy: Callable[[T], T] | None = None, *, always_of_task: bool = False
    ) -> None:
        self.process = process
        self._copy = copy
        self._always_of_task = always_of_task

    def get(self) -> T:
        """The value that the current thread's task sees."""
        task = current_task.current()
        if task is None:
            return self.process
        value: T = task.own.get(self, self.process)
        return value

    def is_own(self) -> bool:
        """Whether the current thread's task has set the value for itself."""
        task = current_task.current()
        return task is not None and self in task.own

    def set(self, value: T) -> None:
        """Set the value for the current thread's task, or for all while a module is imported."""
        task = current_task.current()
        if task is not None and value is self.process:
            task.own.pop(self, None)
        elif task is None or (importing() and not self._always_of_task):
            self.process = value
        else:
            task.own[self] = value

    def to_change(self) -> T:
        """The value, to be changed in place: for the tasks that `set` would set it for."""
        task = current_task.current()
        if task is None or (importing() and self not in task.own):
            return self.process
        if self not in task.own:
            assert self._copy is not None
            task.own.setdefault(self, self._copy(self.process))
        value: T = task.own[self]
        return value


class _Attribute:
    """A module's attribute that reads and sets a `TaskValue`."""

    def __init__(self, value: TaskValue[Any]) -> None:
        self._value = value

    def __get__(self, module: ModuleType | None, owner: type) -> Any:
        return self if module is None else self._value.get()

    def __set__(self, module: ModuleType, value: Any) -> None:
        self._value.set(value)


def replace_attributes(module: ModuleType, values: dict[str, TaskValue[Any]]) -> None:
    """Let each task have attributes of a module for itself.

    The module's own code, and C code that reads the module's dict, see the process's values.
    """

    def reduce(module: ModuleType) -> tuple[Any, ...]:
        return importlib.import_module, (module.__name__,)

    attributes = {name: _Attribute(value) for name, value in values.items()}
    module.__class__ = type("module", (type(module),), {"__reduce__": reduce, **attributes})
    _end_shortcuts_into(vars(module))


class _Key(str):
    """A key for which a dict has to look at all of its keys as at any object."""


def _end_shortcuts_into(attributes: dict[str, Any]) -> None:
    """Let code that reads a module's attribute find the descriptor in the module's class.

    From Python 3.14 on the specialised instruction of an attribute that is read often takes the
    value out of the module's dict, although the module's class has a descriptor of that name. It
    does so for dicts that never had a key other than of `str` itself.
    """
    key = _Key()
    attributes[key] = None
    del attributes[key]


def install() -> None:
    """Let what modules set while they are imported apply to all tasks."""
    on_import.append(_begin_import)


def _begin_import() -> Callable[[], None]:
    before = contextvars.copy_context(), decimal.getcontext().copy()
    return lambda: _inherit(*before)


_initial = contextvars.Context()

#: Each sets variables in the current context.
_of_modules: SetByModules[Callable[[], None]] = SetByModules()


def new_context() -> contextvars.Context:
    """The context variables of a new task."""
    context = _initial.copy()
    context.run(lambda: decimal.setcontext(decimal.getcontext().copy()))
    for set_all in _of_modules:
        context.run(set_all)
    return context


def _inherit(before: contextvars.Context, numbers_before: decimal.Context) -> None:
    """Set for all tasks the variables of the current context that a module has set."""
    numbers = decimal.getcontext()
    variables = {
        variable: value
        for variable, value in contextvars.copy_context().items()
        if variable is not _WARNINGS_CONTEXT
        and value is not numbers
        and before.get(variable, _UNSET) is not value
    }
    new_numbers = numbers.copy() if _settings(numbers) != _settings(numbers_before) else None
    if not variables and new_numbers is None:
        return

    def set_all() -> None:
        for variable, value in variables.items():
            variable.set(value)
        if new_numbers is not None:
            _set_numbers(new_numbers)

    def set_unless_set() -> None:
        now = contextvars.copy_context()
        for variable, value in variables.items():
            if now.get(variable, _UNSET) is before.get(variable, _UNSET):
                variable.set(value)
        if new_numbers is not None and _settings(decimal.getcontext()) == _settings(numbers_before):
            _set_numbers(new_numbers)

    _of_modules.add(set_all)
    change_running_tasks(set_unless_set)


def _set_numbers(numbers: decimal.Context) -> None:
    for name in _NUMBER_SETTINGS:
        setattr(decimal.getcontext(), name, getattr(numbers, name))


def _settings(numbers: decimal.Context) -> list[Any]:
    return [repr(getattr(numbers, name)) for name in _NUMBER_SETTINGS]


_initial.run(decimal.getcontext)
