"""Settings that libraries keep once per thread, kept once per task.

A worker process runs one operator on one thread. Here a function that takes its input from
another one's output has that run on its own thread, and what it has set there for a while, as by
``with torch.no_grad()``, must not reach the other.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Mapping
from copy import copy, deepcopy
from types import ModuleType, SimpleNamespace
from typing import Any
from weakref import WeakSet

from pyflow.thread_mode import current_task, task_globals
from pyflow.thread_mode.current_task import CurrentTask
from pyflow.thread_mode.imported_settings import ABSENT, Changes, Setting
from pyflow.thread_mode.module_imports import after_import

__all__ = ["install"]


class _Setting(Setting):
    """What a library keeps for the current thread.

    Parameters
    ----------
    get : callable
        Returns its parts, by name, in a form that can be compared and kept.
    set : callable
        Sets all of them again.
    """

    def __init__(
        self, get: Callable[[], dict[str, Any]], set: Callable[[dict[str, Any]], object]
    ) -> None:
        self._get = get
        self._set = set
        super().__init__()
        _kept.append(self)

    def get(self) -> dict[str, Any]:
        return self._get()

    def apply(self, changes: Changes) -> None:
        values = {**self.get(), **{part: after for part, (_, after) in changes.items()}}
        self._set({part: value for part, value in values.items() if value is not ABSENT})

    def switch(self, before: CurrentTask | None, after: CurrentTask) -> None:
        """Keep it for one task of the thread, and set it as another one has it."""
        now = self.get()
        if before is not None and not before.ended:
            before.own[self] = now
        wanted = after.own.get(self, self.initial)
        if self.differences(now, wanted):
            self._set(wanted)


_kept: list[_Setting] = []


def install() -> None:
    """Keep the settings of libraries that are imported later."""
    current_task.on_switch.append(_switch)
    _ThreadLocals()
    after_import("torch", _of_torch)
    after_import("sklearn._config", _of_scikit_learn)
    after_import("keras.src.backend.common.global_state", _of_keras)
    after_import("numpy", _of_numpy)
    after_import("asyncio.events", _running_loop)


def _switch(before: CurrentTask | None, after: CurrentTask) -> None:
    for each in _kept:
        each.switch(before, after)


class _ThreadLocals(Setting):
    """Attributes that modules set of their `threading.local` objects, for the thread they run on.

    Every worker runs a module on the thread that runs its tasks. What a thread has set stays, and
    what cannot be copied is not there, as in any thread that has not run the module.
    """

    def __init__(self) -> None:
        self._known: WeakSet[threading.local] = WeakSet()
        self._changing = threading.Lock()
        super().__init__()

    def get(self) -> Mapping[Any, Any]:
        """The attributes of the objects that modules are known to have, on the current thread."""
        return _attributes(self._known)

    def differences(self, before: Mapping[Any, Any], after: Mapping[Any, Any]) -> Changes:
        return _copied(super().differences(before, after))

    def found_in(self, module: ModuleType) -> Changes:
        """The attributes of a module's objects that were not known until now.

        Those of a class with an ``__init__`` set their attributes for each thread.
        """
        found = WeakSet(each for each in list(vars(module).values()) if _is_thread_local(each))
        with self._changing:
            new = found - self._known
            self._known = self._known | new  # others iterate over what there was
        return _copied({part: (ABSENT, value) for part, value in _attributes(new).items()})

    def apply(self, changes: Changes) -> None:
        for (local, name), (_, value) in _copied(changes).items():
            found = local()
            if value is not ABSENT and found is not None:
                vars(found).setdefault(name, value)


def _attributes(locals: WeakSet[threading.local]) -> dict[Any, Any]:
    return {
        (weakref.ref(each), name): value
        for each in locals
        for name, value in list(vars(each).items())
    }


def _is_thread_local(value: Any) -> bool:
    kind = type(value)  # which a proxy does not change
    return (
        issubclass(kind, threading.local)
        and kind.__init__ is object.__init__
        and kind.__hash__ is object.__hash__
        and value is not current_task.of_thread
    )


def _copied(changes: Changes) -> Changes:
    """The changes to what can be copied, with copies."""
    copied = {}
    for part, (before, after) in changes.items():
        with contextlib.suppress(Exception):
            copied[part] = before, after if after is ABSENT else deepcopy(after)
    return copied


def _of_torch(torch: Any) -> None:
    """Keep whether gradients are recorded, inference mode, and automatic casts."""
    devices = ("cpu", "cuda")
    local = current_task.of_thread

    def get() -> dict[str, Any]:
        return {
            "inference": torch.is_inference_mode_enabled(),
            "grad": torch.is_grad_enabled(),
            "cache": torch.is_autocast_cache_enabled(),
            **{d: (torch.is_autocast_enabled(d), torch.get_autocast_dtype(d)) for d in devices},
        }

    def set(values: dict[str, Any]) -> None:
        if values["inference"] != torch.is_inference_mode_enabled():
            set_inference(values["inference"])
        torch.set_grad_enabled(values["grad"])
        torch.set_autocast_cache_enabled(values["cache"])
        for device in devices:
            enabled, dtype = values[device]
            torch.set_autocast_enabled(device, enabled)
            torch.set_autocast_dtype(device, dtype)

    def set_inference(enabled: bool) -> None:
        """Leave the mode that was entered here last, or else enter one, which is kept.

        The mode can only be entered and left, and one that is destroyed is left.
        """
        entered = local.__dict__.setdefault("inference_modes", [])
        if entered:
            entered.pop().__exit__(None, None, None)
        if torch.is_inference_mode_enabled() != enabled:
            mode = torch.inference_mode(enabled)
            mode.__enter__()
            entered.append(mode)

    if hasattr(torch, "get_autocast_dtype"):  # 2.4
        _Setting(get, set)
        _keep_function_modes(torch)


def _keep_function_modes(torch: Any) -> None:
    """Keep the modes of functions: `torch.set_default_device`, and what `with` has entered."""
    c, of_device = torch._C, torch._GLOBAL_DEVICE_CONTEXT

    def get() -> dict[str, Any]:
        stack = (c._get_function_stack_at(n) for n in range(c._len_torch_function_stack()))
        return {"device": getattr(of_device, "device_context", None), "stack": (*stack,)}

    def set(values: dict[str, Any]) -> None:
        of_device.device_context = values["device"]
        while c._len_torch_function_stack():
            c._pop_torch_function_stack()
        for mode in values["stack"]:
            c._push_on_torch_function_stack(mode)

    _Setting(get, set)


def _of_scikit_learn(config: Any) -> None:
    """Keep what `sklearn.set_config` and `sklearn.config_context` set."""
    _Setting(config.get_config, lambda values: config.set_config(**values))


def _of_keras(global_state: Any) -> None:
    """Keep policies, scopes and the numbers in names of layers."""
    tracker = global_state.GLOBAL_STATE_TRACKER

    def cleared() -> Any:
        """What `clear_session` puts in place of the tracker, for all threads."""
        vars(tracker).clear()
        return tracker

    def copied(values: dict[str, Any]) -> dict[str, Any]:
        return {
            name: copy(value) if isinstance(value, (dict, list)) else value
            for name, value in values.items()
        }

    def set(values: dict[str, Any]) -> None:
        vars(tracker).clear()
        vars(tracker).update(copied(values))

    global_state.threading = SimpleNamespace(local=cleared)
    _Setting(lambda: copied(vars(tracker)), set)


def _of_numpy(numpy: Any) -> None:
    """Keep what `numpy.seterr` and the like set; from numpy 2.0 on context variables have it."""
    variable = getattr(getattr(numpy, "_core", None), "umath", None)
    variable = getattr(variable, "_extobj_contextvar", None)

    def get() -> dict[str, Any]:
        return {**numpy.geterr(), "size": numpy.getbufsize(), "call": numpy.geterrcall()}

    def set(values: dict[str, Any]) -> None:
        numpy.seterr(**{part: values[part] for part in ("divide", "over", "under", "invalid")})
        numpy.setbufsize(values["size"])
        numpy.seterrcall(values["call"])

    setting = _Setting(get, set)
    if variable is not None:
        _kept.remove(setting)
        task_globals.variables_of_others.add(variable)


def _running_loop(events: Any) -> None:
    """Let an event loop run whose coroutines take their input from another task's loop."""
    _Setting(
        lambda: {"loop": events._get_running_loop()},
        lambda values: events._set_running_loop(values["loop"]),
    )
