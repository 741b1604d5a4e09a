"""PyTorch's default generator of random numbers on the CPU, kept once per task.

PyTorch's C++ code asks the bridge for the default generator (``native/src/torch_generator.cc``),
which asks here once per thread and task. `torch.manual_seed` and the like are Python.
"""

from __future__ import annotations

import logging
from typing import Any

from pyflow.thread_mode import current_task, executor_log
from pyflow.thread_mode.module_imports import after_import
from pyflow.thread_mode.random_numbers import Generators, forwarding
from pyflow.thread_mode.task_globals import replace_attributes

__all__ = ["install"]

#: The function that C code calls.
_look_up: Any = None


def install() -> None:
    """Keep the default generator once PyTorch is imported."""
    after_import("torch", _keep)


def _keep(torch: Any) -> None:
    import ctypes

    global _look_up
    # Its functions keep the GIL.
    bridge = ctypes.PyDLL(None)
    position = _position(torch, bridge)
    if position is None:
        executor_log.write(
            logging.WARNING,
            f"The default generator of PyTorch {torch.__version__} is not where PyFlow looks for "
            "it. Tasks share it: seed a torch.Generator and pass it on instead.",
        )
        return

    def unseeded() -> Any:
        generator = torch.Generator()
        generator.seed()
        return generator

    generators = Generators(torch.default_generator, unseeded)
    local = current_task.of_thread

    def look_up() -> None:
        generator = generators.get()
        bridge.pyflow_torch_set_generator(ctypes.c_void_p(id(generator) + position))
        local.torch_generator = generator  # lives as long as C code refers to it

    _look_up = ctypes.CFUNCTYPE(None)(look_up)
    bridge.pyflow_torch_set_look_up(_look_up)
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
