"""The environment of tasks: variables of the application, and those that modules have set."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, MutableMapping

from pyflow.thread_mode import current_task
from pyflow.thread_mode.current_task import CurrentTask
from pyflow.thread_mode.imported_settings import SetByModules, change_running_tasks
from pyflow.thread_mode.module_imports import on_import

__all__ = ["begin", "install"]

#: Variables and their values, None for those that are removed.
_Changes = dict[bytes, bytes | None]

_of_modules: SetByModules[_Changes] = SetByModules()


def install() -> None:
    """Have variables that modules set while they are imported set for all tasks."""
    on_import.append(_begin_import)


def begin(task: CurrentTask, of_application: Mapping[str, str | None]) -> None:
    """Give a task that begins its environment.

    Parameters
    ----------
    task : CurrentTask
    of_application : mapping of str to str
        Variables; None for those that the process has and the application has not.
    """
    _change(
        task.variables,
        {
            os.fsencode(name): None if value is None else os.fsencode(value)
            for name, value in of_application.items()
        },
    )
    for changes in _of_modules:
        _change(task.variables, changes)


def _begin_import() -> Callable[[], None]:
    task = current_task.current()
    if task is None:
        return lambda: None
    variables, before = task.variables, dict(task.variables)

    def end() -> None:
        if variables == before:
            return
        now = dict(variables)
        changes = {
            name: now.get(name)
            for name in now.keys() | before.keys()
            if now.get(name) != before.get(name)
        }
        _of_modules.add(changes)
        change_running_tasks(lambda: _change_unless_set(changes, before))

    return end


def _change_unless_set(changes: _Changes, before: Mapping[bytes, bytes]) -> None:
    task = current_task.current()
    if task is not None:
        unset = {
            name: value
            for name, value in changes.items()
            if task.variables.get(name) == before.get(name)
        }
        _change(task.variables, unset)


def _change(variables: MutableMapping[bytes, bytes], changes: _Changes) -> None:
    for name, value in changes.items():
        if value is None:
            variables.pop(name, None)
        else:
            variables[name] = value
