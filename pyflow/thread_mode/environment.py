"""The environment of tasks: variables of the application, and those that modules have set."""

from __future__ import annotations

import os
from collections.abc import Mapping

from pyflow.thread_mode import current_task
from pyflow.thread_mode.current_task import CurrentTask
from pyflow.thread_mode.imported_settings import ABSENT, Changes, Setting

__all__ = ["begin", "install"]


def install() -> None:
    """Have variables that modules set while they are imported set for other tasks, too."""
    _Environment()


def begin(task: CurrentTask, of_application: Mapping[str, str | None]) -> None:
    """Give a task that begins variables of its application.

    Parameters
    ----------
    task : CurrentTask
    of_application : mapping of str to str
        None for those that the process has and the application has not.
    """
    for name, value in of_application.items():
        if value is None:
            task.variables.pop(os.fsencode(name), None)
        else:
            task.variables[os.fsencode(name)] = os.fsencode(value)


class _Environment(Setting):
    """Variables of the environment, by name."""

    def get(self) -> Mapping[bytes, bytes]:
        task = current_task.current()
        return {} if task is None else dict(task.variables)

    def apply(self, changes: Changes) -> None:
        """Set variables that have the same values as the module found, as by `setdefault`."""
        task = current_task.current()
        assert task is not None
        for name, (before, after) in changes.items():
            if task.variables.get(name, ABSENT) != before:
                continue
            if after is ABSENT:
                task.variables.pop(name, None)
            else:
                task.variables[name] = after
