"""What modules set while they are imported, kept for each task that would have imported them.

Each worker process that imports a module runs it, and finds what it sets. Here the task that
imports a module first runs it, and it is noted what the module has set. A task that begins later
begins with that, as in a worker that is reused. A task that has begun before finds the module
imported, and is given what the module has set when it imports the module, or one that has imported
it, itself. The bridge interrupts no code of this file (`interruption.cc`).
"""

from __future__ import annotations

import builtins
import contextlib
import importlib.util
import logging
import operator
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any

from pyflow.thread_mode import current_task, executor_log
from pyflow.thread_mode.current_task import CurrentTask
from pyflow.thread_mode.module_imports import on_run, on_undo

__all__ = ["ABSENT", "Changes", "NotedSetting", "Setting", "begin", "forget", "install", "note"]


class _Absent:
    """In place of a value that there is none of."""


ABSENT = _Absent()

#: Values before and after, by what they are of.
Changes = Mapping[Any, tuple[Any, Any]]


class Setting(ABC):
    """Something that modules set, with parts that they set one by one."""

    #: Whether two values are the same.
    same: Callable[[Any, Any], bool] = staticmethod(operator.eq)

    def __init__(self) -> None:
        self.initial = self.get()
        with _lock:
            _settings.append(self)

    @abstractmethod
    def get(self) -> Mapping[Any, Any]:
        """The parts that the current thread's task has, by what they are."""

    @abstractmethod
    def apply(self, changes: Changes) -> None:
        """Set for the current thread's task what a module has set."""

    def differences(self, before: Mapping[Any, Any], after: Mapping[Any, Any]) -> Changes:
        """What has been set between two calls of `get`."""
        with contextlib.suppress(Exception):  # of arrays in it, say
            if before == after:
                return {}
        changes = {}
        for part in (*after, *(each for each in before if each not in after)):
            one, other = before.get(part, ABSENT), after.get(part, ABSENT)
            if one is not other and not self._are_same(one, other):
                changes[part] = one, other
        return changes

    def _are_same(self, one: Any, other: Any) -> bool:
        try:
            return bool(self.same(one, other))
        except Exception:
            return False

    def found_in(self, module: ModuleType) -> Changes:
        """What a module that has run has set of its own variables."""
        return {}

    def forget(self, changes: Changes) -> None:  # noqa: B027  most have nothing to do
        """Forget what a module has set, which is imported anew when it is imported again."""


class NotedSetting(Setting):
    """One whose parts cannot be compared: `note` is told that a module sets it."""

    def get(self) -> Mapping[Any, Any]:
        """Nothing."""
        return {}

    def differences(self, before: Mapping[Any, Any], after: Mapping[Any, Any]) -> Changes:
        """None."""
        return {}

    def at_end(self, noted: Changes) -> Changes:
        """What a module has set, of which `note` was told, when it has run."""
        return noted


_lock = threading.Lock()
_settings: list[Setting] = []

#: The modules that the current thread runs, the outermost first: `runs`.
_thread = threading.local()


class _Module:
    """A module that has set something.

    Attributes
    ----------
    names : set of str
        Its own, and those of modules that imported it: whoever imports one of them imports it.
    origin : str or None
        The file that it is from.
    changes : dict
        What it has set, by settings.
    application : str
        The last one that has imported it. Tasks of another one have not, until they do.
    """

    def __init__(
        self, names: set[str], origin: str | None, changes: dict[Setting, Changes], application: str
    ) -> None:
        self.names = names
        self.origin = origin
        self.changes = changes
        self.application = application

    def apply(self) -> None:
        """Set for the current thread's task what the module has set."""
        for setting, changed in self.changes.items():
            try:
                setting.apply(changed)
            except Exception as error:
                executor_log.write(
                    logging.WARNING,
                    f"What a module has set could not be set for a task: {error!r}",
                )


#: By name, in the order in which they ended to run.
_modules: dict[str, _Module] = {}


class _Run:
    """A module that runs while it is imported."""

    def __init__(self, module: ModuleType, outer: Iterable[_Run]) -> None:
        spec = getattr(module, "__spec__", None)
        self._module = module
        self._name = module.__name__
        self._origin = getattr(spec, "origin", None)
        # That import it, or of which it is a part: whoever imports one of them imports it.
        self._names: set[str] = {self._name}.union(*(each._names for each in outer))
        self.noted: dict[NotedSetting, Changes] = {}
        self._before = {each: each.get() for each in list(_settings)}

    def leave_out(self, changes: Mapping[Setting, Changes]) -> None:
        """Note that others than this module have set something."""
        for setting, changed in changes.items():
            before = self._before.get(setting, setting.initial)
            after = {part: value for part, (_, value) in changed.items()}
            self._before[setting] = {**before, **after}

    def end(self, outer: Iterable[_Run]) -> None:
        """Keep what the module has set, and give it to running tasks when they import it."""
        changes: dict[Setting, Changes] = {
            setting: setting.at_end(noted) for setting, noted in self.noted.items()
        }
        for setting in list(_settings):
            before = self._before.get(setting, setting.initial)
            changed = {
                **setting.differences(before, setting.get()),
                **setting.found_in(self._module),
            }
            if changed:
                changes[setting] = changed
        if not changes:
            return
        for run in outer:
            run.leave_out(changes)
        own = current_task.current()
        assert own is not None
        module = _Module(self._names, self._origin, changes, own.application)
        with _lock:
            _modules.pop(self._name, None)
            _modules[self._name] = module
            for task in list(current_task.live.values()):
                if task is not own:
                    task.missed = [*task.missed, module]
            _watch_imports()


def note(setting: NotedSetting, changes: Changes) -> None:
    """Note that the module which the current thread runs, if any, has set something."""
    runs = getattr(_thread, "runs", ())
    if runs:
        noted = runs[-1].noted
        noted[setting] = {**noted.get(setting, {}), **changes}


def install(and_then: Callable[[Callable[..., Any], Callable[..., None]], Any]) -> None:
    """Prepare this interpreter.

    Parameters
    ----------
    and_then : callable
        Returns a function that calls a first one, and a second one after each success.
    """
    global _import, _import_and_catch_up
    on_run.append(_begin_run)
    on_undo.append(lambda names: _forget(lambda name, _: name in names))
    bootstrap: Any = importlib._bootstrap
    for name in ("_find_and_load", "_lock_unlock_module"):  # where a task waits for another
        setattr(bootstrap, name, and_then(getattr(bootstrap, name), _catch_up))
    _import = builtins.__import__
    _import_and_catch_up = and_then(_import, _catch_up)


def begin() -> None:
    """Give the current thread's task, which begins, what modules of its application have set."""
    task = current_task.current()
    assert task is not None
    with _lock:
        known = [module for module in _modules.values() if module not in task.missed]
        own = [module for module in known if module.application == task.application]
        task.missed += [module for module in known if module not in own]
        _watch_imports()
    for module in own:
        module.apply()


def forget(is_below: Callable[[str | None], bool]) -> None:
    """Forget what modules have set which are to be imported anew.

    Parameters
    ----------
    is_below : callable
        Whether they are from a place.
    """
    _forget(lambda _, module: is_below(module.origin))


def _forget(is_gone: Callable[[str, _Module], bool]) -> None:
    with _lock:
        gone = [name for name, module in _modules.items() if is_gone(name, module)]
        for module in [_modules.pop(name) for name in gone]:
            for setting, changed in module.changes.items():
                setting.forget(changed)


def _begin_run(module: ModuleType) -> Callable[[], None]:
    if current_task.current() is None:
        return lambda: None
    runs = _thread.__dict__.setdefault("runs", [])
    run = _Run(module, runs)
    runs.append(run)

    def end() -> None:
        runs.remove(run)
        run.end(runs)

    return end


_import: Any = None
_import_and_catch_up: Any = None


def _watch_imports() -> None:
    """Watch imports of what is imported already, which take longer so, where it is needed."""
    is_needed = any(task.missed for task in list(current_task.live.values()))
    if is_needed and builtins.__import__ is _import:
        builtins.__import__ = _import_and_catch_up
    elif not is_needed and builtins.__import__ is _import_and_catch_up:
        builtins.__import__ = _import


def _catch_up(
    name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
) -> None:
    """Give the current thread's task what modules have set that it imports."""
    task: CurrentTask | None = getattr(current_task.of_thread, "task", None)
    if task is None or not task.missed or not current_task.is_main_thread():
        return
    try:
        if level:
            name = importlib.util.resolve_name("." * level + name, globals["__package__"])
    except Exception:  # the package is not known; whoever imports one of its modules by name is
        return
    if not fromlist and "." not in name and not any(name in each.names for each in task.missed):
        return
    imported = {name, *(f"{name}.{part}" for part in fromlist or ())}
    while "." in name:
        name = name.rpartition(".")[0]
        imported.add(name)
    with _lock:
        given = [module for module in task.missed if imported & module.names]
        task.missed = [module for module in task.missed if module not in given]
        if not task.missed:
            _watch_imports()
    for module in given:
        module.application = task.application
        module.apply()
        for run in getattr(_thread, "runs", ()):
            run.leave_out(module.changes)
