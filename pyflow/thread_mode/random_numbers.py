"""One generator of random numbers per task, for ``random`` and for ``numpy.random``.

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

__all__ = ["install"]


def install() -> None:
    """Let the functions of ``random`` and of ``numpy.random`` work on the task's generator."""
    generators = _Generators(random._inst)
    _replace(random, "_inst", generators)
    random.random = _random(generators)
    after_import("numpy.random.mtrand", _replace_numpys)


class _Generators:
    """The generator of the process, and those of tasks.

    Parameters
    ----------
    process : object
        Of a type whose instances without arguments are unseeded.
    """

    def __init__(self, process: Any) -> None:
        self.process = process
        self.type: Callable[[], Any] = type(process)

    def current(self) -> Any:
        try:
            return current_task.of_thread.task.own[self]
        except (AttributeError, KeyError):
            task = current_task.current()
            return self.process if task is None else task.own.setdefault(self, self.type())

    def replace(self, generator: Any) -> None:
        """Make another generator the current thread's."""
        task = current_task.current()
        if task is None:
            self.process = generator
        else:
            task.own[self] = generator


def _random(generators: _Generators) -> Callable[[], float]:
    """``random.random()``, which programs call often."""
    of_thread = current_task.of_thread

    def random() -> float:
        try:
            value: float = of_thread.task.own[generators].random()
        except (AttributeError, KeyError):
            value = generators.current().random()
        return value

    return random


def _replace(module: ModuleType, name: str, generators: _Generators) -> None:
    """Replace a module's generator and the module's functions, which are methods of it."""
    original = generators.process
    setattr(module, name, _forwarding(generators))
    for function, method in list(vars(module).items()):
        if getattr(method, "__self__", None) is original:
            setattr(module, function, _forward(method, generators))


def _forwarding(generators: _Generators) -> Any:
    """An object of the generators' type that forwards to the current thread's generator."""
    base: Any = generators.type

    class Forwarding(base):  # type: ignore[misc]
        def __getattribute__(self, name: str) -> Any:
            return getattr(generators.current(), name)

        def __setattr__(self, name: str, value: Any) -> None:
            setattr(generators.current(), name, value)

    Forwarding.__name__ = Forwarding.__qualname__ = base.__name__
    return Forwarding()


def _forward(method: Any, generators: _Generators) -> Callable[..., Any]:
    name = method.__name__

    @functools.wraps(method)
    def forward(*args: Any, **kwargs: Any) -> Any:
        return getattr(generators.current(), name)(*args, **kwargs)

    del forward.__wrapped__  # which would keep the process's generator in what is pickled
    return forward


def _replace_numpys(mtrand: Any) -> None:
    generators = _Generators(mtrand._rand)
    _replace(mtrand, "_rand", generators)
    if hasattr(mtrand, "set_bit_generator"):  # numpy 1.24
        mtrand.get_bit_generator = lambda: generators.current()._bit_generator
        mtrand.set_bit_generator = lambda bit_generator: generators.replace(
            mtrand.RandomState(bit_generator)
        )
