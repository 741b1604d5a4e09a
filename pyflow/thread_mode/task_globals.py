"""State that Python keeps once per process, kept once per task.

A worker process runs one task at a time, so functions may set values of the process. Here several
tasks share an interpreter, each on its own thread. A value that a task sets belongs to the task
from then on. A value that a module sets while it is imported is the process's, because every
worker process that imports the module would set it.
"""

from __future__ import annotations

import contextvars
import decimal
import importlib
import operator
import warnings
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from types import ModuleType
from typing import Any, Generic, TypeVar

from pyflow.thread_mode import current_task
from pyflow.thread_mode.imported_settings import ABSENT, Changes, NotedSetting, Setting, note
from pyflow.thread_mode.module_imports import importing

__all__ = [
    "Parts",
    "TaskMapping",
    "TaskValue",
    "install",
    "new_context",
    "replace_attributes",
    "variables_of_others",
]

T = TypeVar("T")

_UNSET = object()

_NUMBER_SETTINGS = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")

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
    has_parts : bool
        Whether a module that is being imported changes the value in place for its task only:
        `Parts` give others what it has changed.
    """

    def __init__(
        self,
        process: T,
        copy: Callable[[T], T] | None = None,
        *,
        always_of_task: bool = False,
        has_parts: bool = False,
    ) -> None:
        self.process = process
        self._copy = copy
        self._always_of_task = always_of_task
        self._has_parts = has_parts

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
        elif task is None:
            self.process = value
        elif importing() and not self._always_of_task:
            note(_values_of_process, {self: (self.process, value)})
            self.process = value
        else:
            task.own[self] = value

    def to_change(self) -> T:
        """The value, to be changed in place: for the tasks that `set` would set it for."""
        task = current_task.current()
        if task is None:
            return self.process
        if self not in task.own and importing() and not self._has_parts:
            return self.process
        if self not in task.own:
            assert self._copy is not None
            task.own.setdefault(self, self._copy(self.process))
        value: T = task.own[self]
        return value


def _set_items(values: Any, changed: Mapping[Any, Any]) -> None:
    for key, value in changed.items():
        if value is not ABSENT:
            values[key] = value
        else:
            values.pop(key, None)


class Parts(Setting):
    """A `TaskValue` that is changed in place, part by part.

    Parameters
    ----------
    value : TaskValue
        One that has parts. What a module has changed when it has been imported is given to others.
    get : callable, optional
        Returns the parts of what the value is, by what they are: its items, if it is a dict.
    set : callable, optional
        Sets some parts, and removes those that are `ABSENT`.
    """

    def __init__(
        self,
        value: TaskValue[T],
        get: Callable[[Any], Mapping[Any, Any]] = dict,
        set: Callable[[T, Mapping[Any, Any]], object] = _set_items,
    ) -> None:
        self._value = value
        self._get = get
        self._set = set
        super().__init__()

    def get(self) -> Mapping[Any, Any]:
        """Those of the current task's."""
        return self._get(self._value.get())

    def apply(self, changes: Changes) -> None:
        """Set those that have been changed."""
        self._set(self._value.to_change(), {part: after for part, (_, after) in changes.items()})


class TaskMapping(MutableMapping[Any, Any]):
    """A dict of the process, and those of tasks that have changed theirs.

    Parameters
    ----------
    process : dict
        The one for tasks that have not changed it.
    copy : callable
        Copies it.
    has_parts : bool
        As a `TaskValue` has it.
    """

    def __init__(
        self, process: Any, copy: Callable[[Any], Any], *, has_parts: bool = False
    ) -> None:
        self.of_task = TaskValue(process, copy, has_parts=has_parts)

    def __getitem__(self, key: Any) -> Any:
        return self.of_task.get()[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.of_task.to_change()[key] = value

    def __delitem__(self, key: Any) -> None:
        del self.of_task.to_change()[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.of_task.get())

    def __len__(self) -> int:
        return len(self.of_task.get())


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
    """Let what modules set while they are imported apply to other tasks, too."""
    _ContextVariables()
    _Numbers()


def new_context() -> contextvars.Context:
    """The context variables of a new task."""
    context = _initial.copy()
    context.run(lambda: decimal.setcontext(decimal.getcontext().copy()))
    return context


_initial = contextvars.Context()
_initial.run(decimal.getcontext)

#: Context variables that are not set as they are: their values are kept, or changed, otherwise.
variables_of_others: set[Any] = {_WARNINGS_CONTEXT}


class _ContextVariables(Setting):
    """Context variables, those that are dicts by their keys."""

    same = staticmethod(operator.is_)

    def get(self) -> Mapping[Any, Any]:
        values: dict[Any, Any] = {}
        for variable, value in contextvars.copy_context().items():
            if variable in variables_of_others or isinstance(value, decimal.Context):
                continue
            if type(value) is dict:
                values.update({(variable, key): each for key, each in value.items()})
            else:
                values[variable, _UNSET] = value
        return values

    def differences(self, before: Mapping[Any, Any], after: Mapping[Any, Any]) -> Changes:
        default: dict[Any, Any] = {}
        for variable in {variable for variable, _ in after} - {variable for variable, _ in before}:
            value = contextvars.Context().run(variable.get, None)
            if type(value) is dict:
                default.update({(variable, key): each for key, each in value.items()})
        return super().differences({**default, **before}, after)

    def apply(self, changes: Changes) -> None:
        of_dicts: dict[Any, dict[Any, Any]] = {}
        for (variable, key), (_, after) in changes.items():
            if key is not _UNSET:
                of_dicts.setdefault(variable, {})[key] = after
            elif after is not ABSENT:
                variable.set(after)
        for variable, changed in of_dicts.items():
            values = dict(variable.get(None) or {})
            _set_items(values, changed)
            variable.set(values)


class _Numbers(Setting):
    """The settings of the current decimal context."""

    def get(self) -> Mapping[Any, Any]:
        numbers = decimal.getcontext()
        return {
            **{name: getattr(numbers, name) for name in _NUMBER_SETTINGS},
            **numbers.traps,
        }

    def apply(self, changes: Changes) -> None:
        numbers = decimal.getcontext()
        for name, (_, after) in changes.items():
            if isinstance(name, str):
                setattr(numbers, name, after)
            else:
                numbers.traps[name] = after


class _ValuesOfProcess(NotedSetting):
    """Values that modules have set for the process: of all tasks that have none of their own."""

    def apply(self, changes: Changes) -> None:
        """Do nothing."""

    def forget(self, changes: Changes) -> None:
        """Have values again that were there before, if none has been set since."""
        for value, (before, after) in changes.items():
            if value.process is after:
                value.process = before


_values_of_process = _ValuesOfProcess()
