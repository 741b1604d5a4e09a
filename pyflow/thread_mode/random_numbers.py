"""One generator of random numbers per task, for ``random``, ``numpy.random`` and Faker.

A task's generator begins unseeded, as in a worker process that has just been forked.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from types import ModuleType
from typing import Any

from pyflow.thread_mode import current_task
from pyflow.thread_mode.module_imports import after_import
from pyflow.thread_mode.task_globals import TaskValue

__all__ = ["Generators", "forwarding", "install"]


def install() -> None:
    """Let the functions of ``random`` and of libraries work on the task's generator."""
    generators = Generators(random._inst, random.Random)
    _replace(random, generators)
    random.random = _random(generators)
    after_import("numpy.random.mtrand", _replace_numpys)
    after_import(
        "faker.generator",
        lambda module: _replace(module, Generators(module.random, random.Random)),
    )


class Generators(TaskValue[Any]):
    """The generator of the process, and those of tasks.

    Parameters
    ----------
    process : object
    new : callable
        Makes an unseeded one.
    """

    def __init__(self, process: Any, new: Callable[[], Any]) -> None:
        super().__init__(process)
        self._new = new

    def get(self) -> Any:
        """The current thread's."""
        try:
            return current_task.of_thread.task.own[self]
        except (AttributeError, KeyError):
            task = current_task.current()
            return self.process if task is None else task.own.setdefault(self, self._new())

    def set(self, value: Any) -> None:
        """Make another generator the current thread's."""
        task = current_task.current()
        if task is None:
            self.process = value
        else:
            task.own[self] = value


def _random(generators: Generators) -> Callable[[], float]:
    """``random.random()``, which programs call often."""
    of_thread = current_task.of_thread

    def random() -> float:
        try:
            value: float = of_thread.task.own[generators].random()
        except (AttributeError, KeyError):
            value = generators.get().random()
        return value

    return random


def _replace(module: ModuleType, generators: Generators) -> None:
    """Replace a module's generator and the module's functions, which are methods of it."""
    original, forwards = generators.process, forwarding(generators)
    for name, value in list(vars(module).items()):
        if value is original:
            setattr(module, name, forwards)
        elif getattr(value, "__self__", None) is original:
            setattr(module, name, _forward(value, generators))


def forwarding(generators: Generators) -> Any:
    """An object of the generators' type that forwards to the current thread's generator."""
    base: Any = type(generators.process)

    class Forwarding(base):  # type: ignore[misc]
        def __getattribute__(self, name: str) -> Any:
            return getattr(generators.get(), name)

        def __setattr__(self, name: str, value: Any) -> None:
            setattr(generators.get(), name, value)

    Forwarding.__name__ = Forwarding.__qualname__ = base.__name__
    return Forwarding()


def _forward(method: Any, generators: Generators) -> Callable[..., Any]:
    name = method.__name__

    @functools.wraps(method)
    def forward(*args: Any, **kwargs: Any) -> Any:
        return getattr(generators.get(), name)(*args, **kwargs)

    del forward.__wrapped__  # which would keep the process's generator in what is pickled
    return forward


def _replace_numpys(mtrand: Any) -> None:
    generators = Generators(mtrand._rand, type(mtrand._rand))
    _replace(mtrand, generators)
    if hasattr(mtrand, "set_bit_generator"):  # numpy 1.24
        mtrand.get_bit_generator = lambda: generators.get()._bit_generator
        mtrand.set_bit_generator = lambda bit_generator: generators.set(
            mtrand.RandomState(bit_generator)
        )
