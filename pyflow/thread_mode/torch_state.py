"""What PyTorch keeps once per process, kept once per task.

That is the default generator of random numbers on the CPU, and the default type of tensors of
floating-point numbers. PyTorch's C++ code asks the bridge for them (``native/src/torch_state.cc``),
which has them of the current thread's task from here. `torch.manual_seed` and the like are Python.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from pyflow.thread_mode import current_task, executor_log
from pyflow.thread_mode.current_task import CurrentTask
from pyflow.thread_mode.module_imports import after_import, on_import
from pyflow.thread_mode.random_numbers import Generators, forwarding
from pyflow.thread_mode.task_globals import replace_attributes

__all__ = ["install"]

# Numbers of types, as C code has them, and what is in their place for the process's.
_HALF, _DOUBLE = 5, 7
_PROCESS = -1

#: The functions that C code calls.
_called_by_c: list[Any] = []

_default_type: _DefaultType | None = None


def install() -> None:
    """Keep what PyTorch has once it is imported."""
    after_import("torch", _keep)
    on_import.append(_begin_import)


def _keep(torch: Any) -> None:
    import ctypes

    # Its functions keep the GIL.
    bridge = ctypes.PyDLL(None)
    _keep_generator(torch, bridge)
    _keep_default_type(torch, bridge)


def _warn(torch: Any, shared: str, instead: str) -> None:
    executor_log.write(
        logging.WARNING,
        f"The default {shared} of PyTorch {torch.__version__} is not where PyFlow looks for it. "
        f"Tasks share it: {instead} instead.",
    )


def _keep_generator(torch: Any, bridge: Any) -> None:
    import ctypes

    position = _position(torch, bridge)
    if position is None:
        _warn(torch, "generator", "seed a torch.Generator and pass it on")
        return

    def unseeded() -> Any:
        generator = torch.Generator()
        generator.seed()
        return generator

    def copied(generator: Any) -> Any:
        return torch.Generator().set_state(generator.get_state())

    generators = Generators(
        torch.default_generator, unseeded, copied, frozenset({"manual_seed", "set_state"})
    )
    local = current_task.of_thread

    def look_up() -> None:
        generator = generators.get()
        bridge.pyflow_torch_set_generator(ctypes.c_void_p(id(generator) + position))
        local.torch_generator = generator  # lives as long as C code refers to it

    called = ctypes.CFUNCTYPE(None)(look_up)
    _called_by_c.append(called)
    bridge.pyflow_torch_set_look_up(called)
    current_task.on_change.append(lambda: bridge.pyflow_torch_set_generator(None))
    torch.random.default_generator = forwarding(generators)
    replace_attributes(torch, {"default_generator": generators})
    # Its default is the process's.
    torch.utils.data.dataset.random_split.__defaults__ = (None,)


def _position(torch: Any, bridge: Any) -> int | None:
    """Where a `torch.Generator` has its ``at::Generator``, which refers to the C++ object."""
    import ctypes

    of_process = bridge.pyflow_torch_generator_of_process
    of_process.restype = ctypes.c_void_p
    reference = of_process()
    if reference is None:
        return None
    referred = ctypes.c_void_p.from_address(reference).value
    for position in range(object.__basicsize__, torch.Generator.__basicsize__, 8):
        found = ctypes.c_void_p.from_address(id(torch.default_generator) + position).value
        if found == referred:
            return position
    return None


def _keep_default_type(torch: Any, bridge: Any) -> None:
    import ctypes

    global _default_type
    default_type = _DefaultType(torch, bridge)
    if not default_type.is_found():
        _warn(torch, "type of tensors", "pass `dtype` on")
        return
    _default_type = default_type
    called = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_int32)(default_type.set)
    _called_by_c.append(called)
    bridge.pyflow_torch_set_type_setter(called)
    current_task.on_change.append(default_type.show)
    current_task.on_thread_start.append(default_type.show)
    default_type.show()


class _DefaultType:
    """What `torch.set_default_dtype` sets."""

    def __init__(self, torch: Any, bridge: Any) -> None:
        import ctypes

        self._torch = torch
        self._number = ctypes.c_int32
        self._set_of_thread: Callable[[Any], None] = bridge.pyflow_torch_set_type_of_task
        self._set_of_thread.argtypes = [ctypes.POINTER(ctypes.c_int32)]
        self._local = current_task.of_thread

    def is_found(self) -> bool:
        """Whether C code finds what this sets for a thread."""
        number = self._number(_HALF)
        self._set_of_thread(number)
        try:
            found = [self._torch.get_default_dtype()]
            number.value = _DOUBLE
            found.append(self._torch.get_default_dtype())
        finally:
            self._set_of_thread(None)
        return found == [self._torch.half, self._torch.double]

    def of(self, task: CurrentTask) -> Any:
        """What the task has set: the number of a type."""
        return task.own.setdefault(self, self._number(_PROCESS))

    def show(self) -> None:
        """Have C code see that of the current thread's task."""
        task = current_task.current()
        own = None if task is None else self.of(task)
        self._set_of_thread(own)
        self._local.torch_default_type = own  # lives as long as C code refers to it

    def set(self, number: int) -> bool:
        """Set it for the current thread's task; called by C code.

        Returns
        -------
        bool
            Whether it is to be set for the process instead: there is no task.
        """
        task = current_task.current()
        if task is None or getattr(self._local, "sets_for_all", False):
            return True
        self.of(task).value = number
        self.show()
        return False

    def set_for_all(self) -> None:
        """Make the current thread's that of all tasks that have set none."""
        chosen = self._torch.get_default_dtype()
        self._local.sets_for_all = True
        try:
            self._torch.set_default_dtype(chosen)
        finally:
            self._local.sets_for_all = False


def _begin_import() -> Callable[[], None]:
    """Have the type that modules set while they are imported apply to all tasks."""
    task = current_task.current()
    if task is None:
        return lambda: None
    before = _PROCESS if _default_type is None else _default_type.of(task).value

    def end() -> None:
        if _default_type is not None and _default_type.of(task).value != before:
            _default_type.set_for_all()
            _default_type.of(task).value = _PROCESS

    return end
