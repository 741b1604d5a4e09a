"""Settings that libraries keep once per thread, kept once per task.

A worker process runs one operator on one thread. Here a function that takes its input from
another one's output has that run on its own thread, and what it has set there for a while, as by
``with torch.no_grad()``, must not reach the other. What a module sets while it is imported applies
to all tasks, not to the thread that has imported it.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from types import SimpleNamespace
from typing import Any, TypeVar

from pyflow.thread_mode import current_task
from pyflow.thread_mode.current_task import CurrentTask
from pyflow.thread_mode.imported_settings import SetByModules, change_running_tasks
from pyflow.thread_mode.module_imports import after_import, on_import

__all__ = ["install"]

T = TypeVar("T")

_settings: list[_Setting] = []


class _Setting:
    """What a library keeps for the current thread.

    Parameters
    ----------
    get : callable
        Returns it, in a form that can be compared and kept.
    set : callable
        Sets it again.
    """

    def __init__(self, get: Callable[[], T], set: Callable[[T], object]) -> None:
        self.get: Callable[[], Any] = get
        self._set: Callable[[Any], object] = set
        self._of_library = get()
        self._of_modules: SetByModules[Any] = SetByModules()

    @property
    def default(self) -> Any:
        """Of tasks that have not set it."""
        return self._of_modules.last(self._of_library)

    def switch(self, before: CurrentTask | None, after: CurrentTask) -> None:
        """Keep it for one task of the thread, and set it as another one has it."""
        now = self.get()
        if before is not None and not before.ended:
            before.own[self] = now
        wanted = after.own.get(self, self.default)
        if _differ(wanted, now):
            self._set(wanted)

    def note_import(self, before: Any) -> None:
        """Have what a module has set while it was imported apply to all tasks."""
        now = self.get()
        if _differ(now, before):
            self._of_modules.add(now)
            change_running_tasks(lambda: self._replace(before, now))

    def _replace(self, before: Any, now: Any) -> None:
        if not _differ(self.get(), before):
            self._set(now)


def install() -> None:
    """Keep the settings of libraries that are imported later."""
    current_task.on_switch.append(_switch)
    on_import.append(_begin_import)
    after_import("torch", _of_torch)
    after_import("sklearn._config", _of_scikit_learn)
    after_import("keras.src.backend.common.global_state", _of_keras)
    after_import("asyncio.events", _running_loop)


def _switch(before: CurrentTask | None, after: CurrentTask) -> None:
    for each in _settings:
        each.switch(before, after)


def _begin_import() -> Callable[[], None]:
    before = {each: each.get() for each in _settings}

    def end() -> None:
        for each in _settings:
            each.note_import(before.get(each, each.default))

    return end


def _differ(one: Any, other: Any) -> bool:
    try:
        return bool(one != other)
    except Exception:  # of arrays in it, say
        return True


def _of_torch(torch: Any) -> None:
    """Keep whether gradients are recorded, inference mode, and automatic casts."""
    devices = ("cpu", "cuda")
    local = current_task.of_thread

    def get() -> tuple[Any, ...]:
        return (
            torch.is_inference_mode_enabled(),
            torch.is_grad_enabled(),
            torch.is_autocast_cache_enabled(),
            *((torch.is_autocast_enabled(d), torch.get_autocast_dtype(d)) for d in devices),
        )

    def set(values: tuple[Any, ...]) -> None:
        inference, grad, cache, *casts = values
        if inference != torch.is_inference_mode_enabled():
            set_inference(inference)
        torch.set_grad_enabled(grad)
        torch.set_autocast_cache_enabled(cache)
        for device, (enabled, dtype) in zip(devices, casts):
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
        _settings.append(_Setting(get, set))
        _settings.append(_function_modes(torch))


def _function_modes(torch: Any) -> _Setting:
    """Keep the modes of functions: `torch.set_default_device`, and what `with` has entered."""
    c, of_device = torch._C, torch._GLOBAL_DEVICE_CONTEXT

    def get() -> tuple[Any, ...]:
        stack = (c._get_function_stack_at(n) for n in range(c._len_torch_function_stack()))
        return getattr(of_device, "device_context", None), *stack

    def set(values: tuple[Any, ...]) -> None:
        of_device.device_context, *stack = values
        while c._len_torch_function_stack():
            c._pop_torch_function_stack()
        for mode in stack:
            c._push_on_torch_function_stack(mode)

    return _Setting(get, set)


def _of_scikit_learn(config: Any) -> None:
    """Keep what `sklearn.set_config` and `sklearn.config_context` set."""
    _settings.append(_Setting(config.get_config, lambda values: config.set_config(**values)))


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
    _settings.append(_Setting(lambda: copied(vars(tracker)), set))


def _running_loop(events: Any) -> None:
    """Let an event loop run whose coroutines take their input from another task's loop."""
    _settings.append(_Setting(events._get_running_loop, events._set_running_loop))
